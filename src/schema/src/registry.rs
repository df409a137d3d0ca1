//! All types a run knows, loaded as they are asked for.

mod action;

use std::{
    collections::{BTreeSet, HashMap},
    env,
    ffi::OsStr,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use crate::{
    definition::{Arity, BaseType, Dialect, MessageDef},
    error::SchemaError,
    md5,
    message::{MessageType, Ros1Message, Ros1Service, ServiceType},
    names::{TypeKind, TypeName},
    near::nearest,
    parse::{parse_message, parse_service},
    shape::{Field, FieldType, Shape},
    source::{Definition, Source},
};

/// All interface definitions a run knows.
///
/// Definitions are looked for in the order the builder was given its places; the first that has a name wins. Each
/// type is parsed once, when first asked for. Shared between threads as an `Arc`.
///
/// ```
/// use rostrans_schema::{TypeName, TypeRegistry, rihs01_text};
/// let types = TypeRegistry::bundled();
/// let string = types.message(&TypeName::message("std_msgs/String")?)?;
/// assert!(rihs01_text(string.rihs01()).starts_with("RIHS01_df668c74"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct TypeRegistry {
    sources: Vec<Source>,
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    loaded: HashMap<(Dialect, TypeName), Loaded>,
    messages: HashMap<TypeName, Arc<MessageType>>,
    services: HashMap<TypeName, Arc<ServiceType>>,
}

/// A parsed message and what the hashes need of its text.
#[derive(Clone, Debug)]
struct Loaded {
    shape: Arc<Shape>,
    text: Arc<str>,
    md5: [u8; 16],
}

impl TypeRegistry {
    /// Starts with no definitions.
    pub fn builder() -> TypeRegistryBuilder {
        TypeRegistryBuilder::default()
    }

    /// The definitions in the program alone.
    pub fn bundled() -> Self {
        Self::builder().with_bundled().build()
    }

    /// The definitions in the program, then those of the sourced environment.
    ///
    /// Reads `AMENT_PREFIX_PATH` and `ROS_PACKAGE_PATH`. With `ROS_DISTRO=humble` the bundled definitions are those
    /// of Humble, which differ from later ones in a few messages.
    pub fn from_env() -> Self {
        let mut builder = Self::builder();
        if env::var_os("ROS_DISTRO").is_some_and(|distro| distro == "humble") {
            builder = builder.with_humble();
        }
        builder = builder.with_bundled();
        if let Some(path) = env::var_os("AMENT_PREFIX_PATH") {
            builder = builder.with_ament_path(&path);
        }
        if let Some(path) = env::var_os("ROS_PACKAGE_PATH") {
            builder = builder.with_package_path(&path);
        }
        builder.build()
    }

    /// A ROS 2 message type, or a part of a service named `pkg/srv/Type_Request`, `_Response` or `_Event`, or a message
    /// of an action: `pkg/action/Type_FeedbackMessage`, `_Goal`, `_Result`, `_Feedback` and the parts of its services.
    ///
    /// **Errors**: unknown name (with the nearest known one), or a definition that cannot be used.
    pub fn message(&self, name: &TypeName) -> Result<Arc<MessageType>, SchemaError> {
        match name.kind() {
            TypeKind::Message => {}
            TypeKind::Service => return self.service_part(name),
            TypeKind::Action => return self.action_message(name),
        }
        let mut cache = self.lock();
        if let Some(found) = cache.messages.get(name) {
            return Ok(Arc::clone(found));
        }
        let loaded = self.load(&mut cache, Dialect::Ros2, name, None, &mut Vec::new())?;
        let message = Arc::new(MessageType::new(loaded.shape));
        cache.messages.insert(name.clone(), Arc::clone(&message));
        Ok(message)
    }

    /// A ROS 2 service type, or a service of an action: `pkg/action/Type_SendGoal` and `_GetResult`.
    ///
    /// **Errors**: as [`TypeRegistry::message`].
    pub fn service(&self, name: &TypeName) -> Result<Arc<ServiceType>, SchemaError> {
        let mut cache = self.lock();
        if let Some(found) = cache.services.get(name) {
            return Ok(Arc::clone(found));
        }
        if name.kind() == TypeKind::Action {
            return self.action_service(&mut cache, name);
        }
        let [request, response] = self.load_service(&mut cache, Dialect::Ros2, name)?;
        let info = self.event_info(&mut cache, name)?;
        let service = ServiceType::new(name.clone(), request.shape, response.shape, &info);
        let service = Arc::new(service);
        cache.services.insert(name.clone(), Arc::clone(&service));
        Ok(service)
    }

    /// What every `_Event` message starts with.
    fn event_info(&self, cache: &mut Cache, needed_by: &TypeName) -> Result<Arc<Shape>, SchemaError> {
        let info =
            TypeName::message("service_msgs/msg/ServiceEventInfo").expect("invariant: a valid name literal");
        Ok(self.load(cache, Dialect::Ros2, &info, Some(needed_by), &mut Vec::new())?.shape)
    }

    fn service_part(&self, name: &TypeName) -> Result<Arc<MessageType>, SchemaError> {
        let part_of = |suffix| name.without_suffix(suffix).map(|service| self.service(&service)).transpose();
        if let Some(service) = part_of("_Request")? {
            return Ok(Arc::clone(service.request()));
        }
        if let Some(service) = part_of("_Response")? {
            return Ok(Arc::clone(service.response()));
        }
        if let Some(service) = part_of("_Event")? {
            return Ok(Arc::clone(service.event()));
        }
        Err(SchemaError::Unknown { name: name.to_string(), needed_by: None, nearest: None })
    }

    /// A ROS 1 message type.
    ///
    /// **Errors**: as [`TypeRegistry::message`].
    pub fn ros1_message(&self, name: &TypeName) -> Result<Ros1Message, SchemaError> {
        let mut cache = self.lock();
        let loaded = self.load(&mut cache, Dialect::Ros1, name, None, &mut Vec::new())?;
        let definition = full_text(&cache, &loaded);
        Ok(Ros1Message::new(loaded.shape, loaded.md5, definition.into()))
    }

    /// A ROS 1 service type.
    ///
    /// **Errors**: as [`TypeRegistry::message`].
    pub fn ros1_service(&self, name: &TypeName) -> Result<Ros1Service, SchemaError> {
        let mut cache = self.lock();
        let [request, response] = self.load_service(&mut cache, Dialect::Ros1, name)?;
        let sum = md5::sum(&[&request.text, &response.text]);
        Ok(Ros1Service::new(name.clone(), request.shape, response.shape, sum))
    }

    /// The text of a definition and of all it refers to, as `.bag` and `.mcap` files and ROS 1 connections carry it:
    /// parts separated by a line of 80 `=` and a line `MSG: package/Type`.
    ///
    /// **Errors**: as [`TypeRegistry::message`].
    pub fn definition(&self, dialect: Dialect, name: &TypeName) -> Result<String, SchemaError> {
        if (dialect, name.kind()) == (Dialect::Ros2, TypeKind::Action) {
            self.message(name)?;
        }
        let mut cache = self.lock();
        let loaded = self.load(&mut cache, dialect, name, None, &mut Vec::new())?;
        Ok(full_text(&cache, &loaded))
    }

    /// The names of all definitions, sorted.
    pub fn names(&self, dialect: Dialect, kind: TypeKind) -> Vec<String> {
        let mut names = BTreeSet::new();
        for source in self.sources.iter().filter(|s| s.dialect() == dialect) {
            source.list(kind, &mut names);
        }
        names.into_iter().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        // Entries are inserted whole, so a panic elsewhere leaves nothing half-made.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(
        &self,
        dialect: Dialect,
        name: &TypeName,
        needed_by: Option<&TypeName>,
    ) -> Result<Definition, SchemaError> {
        for source in self.sources.iter().filter(|s| s.dialect() == dialect) {
            if let Some(definition) = source.find(name)? {
                return Ok(definition);
            }
        }
        let known = self.names(dialect, name.kind());
        Err(SchemaError::Unknown {
            name: name.to_string(),
            needed_by: needed_by.map(ToString::to_string),
            nearest: nearest(name.as_str(), known.iter().map(String::as_str)).map(str::to_owned),
        })
    }

    /// Loads a message and everything it refers to. `open` holds the messages being loaded, to find loops.
    fn load(
        &self,
        cache: &mut Cache,
        dialect: Dialect,
        name: &TypeName,
        needed_by: Option<&TypeName>,
        open: &mut Vec<TypeName>,
    ) -> Result<Loaded, SchemaError> {
        let key = (dialect, name.clone());
        if let Some(found) = cache.loaded.get(&key) {
            return Ok(found.clone());
        }
        if open.contains(name) {
            return Err(SchemaError::Recursive(name.to_string()));
        }
        let definition = self.find(dialect, name, needed_by)?;
        let def = parse_message(&definition.origin, name.package(), &definition.text, dialect)?;
        open.push(name.clone());
        let loaded = self.resolve(cache, dialect, name, &def, open)?;
        open.pop();
        let md5 = md5::sum(&[&loaded.text]);
        let loaded = Loaded { text: definition.text.trim().into(), md5, ..loaded };
        cache.loaded.insert(key, loaded.clone());
        Ok(loaded)
    }

    /// Loads both parts of a service; their `text` is what the MD5 sum is taken over.
    fn load_service(
        &self,
        cache: &mut Cache,
        dialect: Dialect,
        name: &TypeName,
    ) -> Result<[Loaded; 2], SchemaError> {
        let definition = self.find(dialect, name, None)?;
        let def = parse_service(&definition.origin, name.package(), &definition.text, dialect)?;
        let mut part =
            |suffix, def| self.resolve(cache, dialect, &name.with_suffix(suffix), def, &mut Vec::new());
        Ok([part("_Request", &def.request)?, part("_Response", &def.response)?])
    }

    /// Resolves the names in `def`. `text` of the result is what its MD5 sum is taken over.
    fn resolve(
        &self,
        cache: &mut Cache,
        dialect: Dialect,
        name: &TypeName,
        def: &MessageDef,
        open: &mut Vec<TypeName>,
    ) -> Result<Loaded, SchemaError> {
        if open.len() > Shape::MAX_DEPTH {
            return Err(SchemaError::Deep(name.to_string()));
        }
        let mut sums = HashMap::new();
        let mut fields = Vec::with_capacity(def.fields.len());
        for field in &def.fields {
            let field_type = match &field.base {
                BaseType::Primitive(primitive) => FieldType::Primitive(*primitive),
                BaseType::String(bound) => FieldType::String(*bound),
                BaseType::WideString(bound) => FieldType::WideString(*bound),
                BaseType::Time => FieldType::Message(Arc::new(Shape::ros1_time())),
                BaseType::Duration => FieldType::Message(Arc::new(Shape::ros1_duration())),
                BaseType::Message { package, name: short } => {
                    let inner = TypeName::of_message(package, short);
                    let loaded = self.load(cache, dialect, &inner, Some(name), open)?;
                    sums.insert((package.as_str(), short.as_str()), loaded.md5);
                    FieldType::Message(loaded.shape)
                }
            };
            fields.push(Field {
                name: field.name.as_str().into(),
                field_type,
                arity: field.arity,
                default: field.default.clone(),
            });
        }
        let text = match dialect {
            Dialect::Ros1 => md5::canonical_text(def, |package, name| sums.get(&(package, name)).copied()),
            Dialect::Ros2 => String::new(),
        };
        let shape = Shape::checked(name.clone(), dialect, fields, def.constants.clone())?;
        Ok(Loaded { shape, text: text.into(), md5: [0; 16] })
    }
}

/// Chooses where a [`TypeRegistry`] looks, in order.
#[derive(Debug, Default)]
pub struct TypeRegistryBuilder {
    sources: Vec<Source>,
}

impl TypeRegistryBuilder {
    /// Looks at the definitions in the program next: ROS 2 (Jazzy) and ROS 1 (Noetic).
    #[must_use]
    pub fn with_bundled(mut self) -> Self {
        self.sources.push(Source::Bundled(Dialect::Ros2, "ros2"));
        self.sources.push(Source::Bundled(Dialect::Ros1, "ros1"));
        self
    }

    /// Looks at the few definitions of ROS 2 Humble that differ; give it before [`Self::with_bundled`].
    #[must_use]
    pub fn with_humble(mut self) -> Self {
        self.sources.push(Source::Bundled(Dialect::Ros2, "ros2_humble"));
        self
    }

    /// Looks next into the `share` folder of every prefix of an `AMENT_PREFIX_PATH`, for ROS 2.
    #[must_use]
    pub fn with_ament_path(mut self, path: &OsStr) -> Self {
        self.sources.extend(split(path).map(|prefix| Source::Share(prefix.join("share"))));
        self
    }

    /// Looks next into the packages below every folder of a `ROS_PACKAGE_PATH`, for ROS 1.
    #[must_use]
    pub fn with_package_path(mut self, path: &OsStr) -> Self {
        self.sources.extend(split(path).map(|root| Source::Workspace(root, OnceLock::new())));
        self
    }

    /// Done; nothing is read yet.
    pub fn build(self) -> TypeRegistry {
        TypeRegistry { sources: self.sources, cache: Mutex::default() }
    }
}

fn split(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    env::split_paths(path).filter(|p| !p.as_os_str().is_empty())
}

/// The definition and those of all it refers to, each once.
fn full_text(cache: &Cache, loaded: &Loaded) -> String {
    let separator = "=".repeat(80);
    let mut text = loaded.text.to_string();
    let mut seen = BTreeSet::new();
    let mut open: Vec<Arc<Shape>> = vec![Arc::clone(&loaded.shape)];
    while let Some(shape) = open.pop() {
        for field in shape.fields() {
            let FieldType::Message(inner) = &field.field_type else { continue };
            let key = (inner.dialect(), inner.name().clone());
            // ROS 1 `time` and `duration` are built in: they have no text.
            let Some(found) = cache.loaded.get(&key) else { continue };
            if seen.insert(key) {
                text += &format!("\n{separator}\nMSG: {}\n{}", inner.name().ros1(), found.text);
                open.push(Arc::clone(inner));
            }
        }
    }
    text
}

/// The `S_Event` field types need a bounded sequence of one.
pub(crate) const AT_MOST_ONE: Arity = Arity::Sequence(Some(1));
