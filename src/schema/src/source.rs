//! Where definitions come from: the program itself, then installed packages.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::{
    definition::Dialect,
    error::SchemaError,
    names::{TypeKind, TypeName},
};

/// All bundled files one after another, and `(path, start, end)` of each, sorted by path.
static BUNDLE_TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/bundle.txt"));
static BUNDLE_INDEX: &[(&str, usize, usize)] = include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

/// How deep `ROS_PACKAGE_PATH` folders are searched for packages: workspace, stack, metapackage, package.
const MAX_CRAWL_DEPTH: usize = 4;

/// A definition file.
pub(crate) struct Definition {
    /// File name for errors.
    pub(crate) origin: String,
    /// Its text.
    pub(crate) text: Cow<'static, str>,
}

/// One place to look for definitions.
#[derive(Debug)]
pub(crate) enum Source {
    /// A set of the bundle: `ros1`, `ros2` or `ros2_humble`.
    Bundled(Dialect, &'static str),
    /// `<root>/<package>/{msg,srv,action}`: the `share` folder of an ament prefix.
    Share(PathBuf),
    /// A `ROS_PACKAGE_PATH` folder: packages are marked by a `package.xml`, at any depth.
    Workspace(PathBuf, OnceLock<BTreeMap<String, PathBuf>>),
}

impl Source {
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Bundled(dialect, _) => *dialect,
            Self::Share(_) => Dialect::Ros2,
            Self::Workspace(..) => Dialect::Ros1,
        }
    }

    /// The definition of `name`, if this place has one.
    ///
    /// **Errors**: the file exists but cannot be read.
    pub(crate) fn find(&self, name: &TypeName) -> Result<Option<Definition>, SchemaError> {
        let folder = name.kind().folder();
        match self {
            Self::Bundled(_, set) => Ok(bundled(&format!("{set}/{}.{folder}", name.as_str()))),
            Self::Share(root) => read(&root.join(format!("{}.{folder}", name.as_str()))),
            Self::Workspace(root, packages) => {
                match packages.get_or_init(|| crawl(root)).get(name.package()) {
                    Some(package) => read(&package.join(folder).join(format!("{}.{folder}", name.short()))),
                    None => Ok(None),
                }
            }
        }
    }

    /// Adds the names of all definitions of `kind`.
    pub(crate) fn list(&self, kind: TypeKind, into: &mut BTreeSet<String>) {
        let folder = kind.folder();
        match self {
            Self::Bundled(_, set) => into.extend(bundled_names(set, folder)),
            Self::Share(root) => {
                for (name, path) in folders(root) {
                    list_package(&name, &path, folder, into);
                }
            }
            Self::Workspace(root, packages) => {
                for (name, path) in packages.get_or_init(|| crawl(root)) {
                    list_package(name, path, folder, into);
                }
            }
        }
    }
}

/// A definition in the program.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// `rflysim_msgs`.
    pub package: &'static str,
    /// `msg`, `srv` or `action`.
    pub folder: &'static str,
    /// `UePose.msg`.
    pub file: &'static str,
    /// The file.
    pub text: &'static str,
}

/// The definitions in the program, sorted by package, folder and file.
///
/// ```
/// use rostrans_schema::{Dialect, bundled_definitions};
/// assert!(bundled_definitions(Dialect::Ros1).any(|d| (d.package, d.file) == ("std_msgs", "String.msg")));
/// ```
pub fn bundled_definitions(dialect: Dialect) -> impl Iterator<Item = Bundled> {
    let set = match dialect {
        Dialect::Ros1 => "ros1",
        Dialect::Ros2 => "ros2",
    };
    BUNDLE_INDEX.iter().filter_map(move |(path, start, end)| {
        let mut parts = path.strip_prefix(set)?.strip_prefix('/')?.split('/');
        let (package, folder, file) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Bundled { package, folder, file, text: BUNDLE_TEXT.get(*start..*end)? })
    })
}

fn bundled(path: &str) -> Option<Definition> {
    let at = BUNDLE_INDEX.binary_search_by(|(other, _, _)| (*other).cmp(path)).ok()?;
    let (path, start, end) = BUNDLE_INDEX.get(at)?;
    Some(Definition {
        origin: format!("config/interfaces/{path}"),
        text: Cow::Borrowed(BUNDLE_TEXT.get(*start..*end)?),
    })
}

/// The names `pkg/<folder>/Type` of one set.
fn bundled_names(set: &str, folder: &str) -> impl Iterator<Item = String> {
    let middle = format!("/{folder}/");
    let suffix = format!(".{folder}");
    BUNDLE_INDEX.iter().filter_map(move |(path, _, _)| {
        let name = path.strip_prefix(set)?.strip_prefix('/')?.strip_suffix(suffix.as_str())?;
        name.contains(middle.as_str()).then(|| name.to_owned())
    })
}

fn read(path: &Path) -> Result<Option<Definition>, SchemaError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(Definition { origin: path.display().to_string(), text: Cow::Owned(text) })),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(SchemaError::Read { path: path.display().to_string(), source }),
    }
}

/// Packages below `root` by name. Unreadable folders are passed over: they cannot be told from absent ones.
fn crawl(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        if folder.join("package.xml").is_file() {
            if let Some(name) = folder.file_name().and_then(|n| n.to_str()) {
                found.entry(name.to_owned()).or_insert(folder);
            }
        } else if depth < MAX_CRAWL_DEPTH {
            open.extend(folders(&folder).map(|(_, path)| (path, depth + 1)));
        }
    }
    found
}

fn folders(root: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    fs::read_dir(root).into_iter().flatten().flatten().filter_map(|entry| {
        let path = entry.path();
        let name = entry.file_name().into_string().ok()?;
        path.is_dir().then_some((name, path))
    })
}

fn list_package(package: &str, path: &Path, folder: &str, into: &mut BTreeSet<String>) {
    let suffix = format!(".{folder}");
    for entry in fs::read_dir(path.join(folder)).into_iter().flatten().flatten() {
        if let Some(name) = entry.file_name().to_str().and_then(|n| n.strip_suffix(suffix.as_str())) {
            into.insert(format!("{package}/{folder}/{name}"));
        }
    }
}
