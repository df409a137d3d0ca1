//! Generates one Rust struct for each bundled message and service part of the packages below.

use std::{collections::BTreeMap, env, error::Error, fmt::Write, fs, path::PathBuf};

use rostrans_schema::{Dialect, FieldType, Shape, TypeKind, TypeName, TypeRegistry};

mod message;

/// Packages that codecs build or read on the hot path; what they refer to comes along.
const PACKAGES: [&str; 14] = [
    "builtin_interfaces",
    "diagnostic_msgs",
    "geographic_msgs",
    "geometry_msgs",
    "mavros_msgs",
    "nav_msgs",
    "rcl_interfaces",
    "rflysim_msgs",
    "rosgraph_msgs",
    "sensor_msgs",
    "std_msgs",
    "std_srvs",
    "tf2_msgs",
    "trajectory_msgs",
];

/// Generated code.
#[derive(Default)]
struct Output {
    /// By package, folder and type.
    packages: BTreeMap<String, BTreeMap<&'static str, BTreeMap<String, String>>>,
    /// The Rust path of every message.
    paths: Vec<String>,
}

impl Output {
    fn add_message(&mut self, types: &TypeRegistry, name: &TypeName) -> Result<(), Box<dyn Error>> {
        let package = self.packages.entry(name.package().to_owned()).or_default();
        let folder = package.entry("msg").or_default();
        if folder.contains_key(name.short()) {
            return Ok(());
        }
        let message = types.message(name)?;
        folder.insert(name.short().to_owned(), message::generate(message.shape(), message.rihs01())?);
        self.paths.push(format!("{}::msg::{}", name.package(), message::ident(message.shape())));
        self.add_references(types, message.shape())
    }

    fn add_references(&mut self, types: &TypeRegistry, shape: &Shape) -> Result<(), Box<dyn Error>> {
        for field in shape.fields() {
            if let FieldType::Message(inner) = &field.field_type {
                self.add_message(types, inner.name())?;
            }
        }
        Ok(())
    }

    fn add_service(&mut self, types: &TypeRegistry, name: &TypeName) -> Result<(), Box<dyn Error>> {
        let service = types.service(name)?;
        let short = name.short();
        let mut code = format!(
            "/// Service `{name}`.\n#[derive(Clone, Copy, Debug)]\npub struct {short};\n\
             impl crate::RosService for {short} {{\n\
             const TYPE: &'static str = \"{name}\";\nconst RIHS01: [u8; 32] = {:?};\n\
             type Request = {short}Request;\ntype Response = {short}Response;\n}}\n",
            service.rihs01()
        );
        for part in [service.request(), service.response()] {
            code += &message::generate(part.shape(), part.rihs01())?;
            self.paths.push(format!("{}::srv::{}", name.package(), message::ident(part.shape())));
            self.add_references(types, part.shape())?;
        }
        let package = self.packages.entry(name.package().to_owned()).or_default();
        package.entry("srv").or_default().insert(short.to_owned(), code);
        Ok(())
    }

    /// All modules.
    fn messages(&self) -> Result<String, std::fmt::Error> {
        let mut code = String::new();
        for (package, folders) in &self.packages {
            writeln!(code, "/// Package `{package}`.\npub mod {package} {{")?;
            for (folder, types) in folders {
                let what = if *folder == "msg" { "Messages" } else { "Services" };
                writeln!(code, "/// {what} of `{package}`.\npub mod {folder} {{")?;
                writeln!(
                    code,
                    "use rostrans_cdr::{{CdrDecode, CdrEncode, CdrError, CdrReader, CdrSizer, CdrWriter}};"
                )?;
                types.values().for_each(|text| code.push_str(text));
                code.push_str("}\n");
            }
            code.push_str("}\n");
        }
        Ok(code)
    }

    /// An expression that has an `Entry` for every message; a test includes it.
    fn entries(&self) -> String {
        let entries: Vec<String> =
            self.paths.iter().map(|path| format!("Entry::of::<rostrans_msgs::{path}>()")).collect();
        format!("[{}]", entries.join(",\n"))
    }
}

#[expect(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build");
    let types = TypeRegistry::bundled();
    let mut output = Output::default();
    for name in types.names(Dialect::Ros2, TypeKind::Message) {
        let name = TypeName::message(&name)?;
        if PACKAGES.contains(&name.package()) {
            output.add_message(&types, &name)?;
        }
    }
    for name in types.names(Dialect::Ros2, TypeKind::Service) {
        let name = TypeName::service(&name)?;
        if PACKAGES.contains(&name.package()) {
            output.add_service(&types, &name)?;
        }
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(folder.join("messages.rs"), output.messages()?)?;
    fs::write(folder.join("entries.rs"), output.entries())?;
    Ok(())
}
