//! One package, and the files that make it one.

use std::{collections::BTreeSet, fmt::Write as _};

use rostrans_schema::{Bundled, Dialect, bundled_definitions};

/// In `package.xml`: by it a folder of an earlier run is known.
pub(super) const MARK: &str = "written by 'rostrans interfaces'";

/// Definitions of one package, for one ROS.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) dialect: Dialect,
    pub(super) definitions: Vec<Bundled>,
}

/// The folder of a dialect.
pub(super) fn folder(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Ros1 => "ros1",
        Dialect::Ros2 => "ros2",
    }
}

/// All packages of one ROS, by name.
pub(super) fn all(dialect: Dialect) -> Vec<Package> {
    let mut packages: Vec<Package> = Vec::new();
    for definition in bundled_definitions(dialect) {
        match packages.last_mut() {
            Some(last) if last.name == definition.package => last.definitions.push(definition),
            _ => packages.push(Package { name: definition.package, dialect, definitions: vec![definition] }),
        }
    }
    packages
}

impl Package {
    /// Every file with its path below the package's folder.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        let own = self.definitions.iter().map(|d| (format!("{}/{}", d.folder, d.file), d.text.to_owned()));
        let (xml, cmake) = match self.dialect {
            Dialect::Ros2 => (self.xml_ros2(), self.cmake_ros2()),
            Dialect::Ros1 => (self.xml_ros1(), self.cmake_ros1()),
        };
        own.chain([("package.xml".to_owned(), xml), ("CMakeLists.txt".to_owned(), cmake)]).collect()
    }

    /// Packages whose messages are fields here.
    pub(super) fn depends(&self) -> BTreeSet<&'static str> {
        let lines = self.definitions.iter().flat_map(|definition| definition.text.lines());
        let types = lines.filter_map(|line| line.split(['#', '=']).next()?.split_whitespace().next());
        let mut found: BTreeSet<&'static str> = types
            .filter_map(|kind| match kind.split_once('/') {
                Some((package, _)) => Some(package),
                None if self.dialect == Dialect::Ros1 && kind.split('[').next() == Some("Header") => {
                    Some("std_msgs")
                }
                None => None,
            })
            .collect();
        found.remove(self.name);
        if self.has("action") {
            // What the generators put around goals, results and feedback.
            found.insert(if self.dialect == Dialect::Ros2 { "action_msgs" } else { "actionlib_msgs" });
        }
        found
    }

    fn has(&self, folder: &str) -> bool {
        self.definitions.iter().any(|definition| definition.folder == folder)
    }

    fn xml_ros2(&self) -> String {
        let mut body = String::from(
            "  <buildtool_depend>ament_cmake</buildtool_depend>\n  \
             <buildtool_depend>rosidl_default_generators</buildtool_depend>\n",
        );
        self.depend_tags(&mut body, "depend");
        body.push_str(
            "  <exec_depend>rosidl_default_runtime</exec_depend>\n  \
             <member_of_group>rosidl_interface_packages</member_of_group>\n  \
             <export>\n    <build_type>ament_cmake</build_type>\n  </export>\n",
        );
        self.xml(3, &body)
    }

    fn xml_ros1(&self) -> String {
        let mut body = String::from(
            "  <buildtool_depend>catkin</buildtool_depend>\n  <build_depend>message_generation</build_depend>\n",
        );
        self.depend_tags(&mut body, "depend");
        body.push_str("  <exec_depend>message_runtime</exec_depend>\n");
        self.xml(2, &body)
    }

    fn depend_tags(&self, body: &mut String, tag: &str) {
        for package in self.depends() {
            let _never_fails = writeln!(body, "  <{tag}>{package}</{tag}>");
        }
    }

    fn xml(&self, format: u8, body: &str) -> String {
        let (name, version) = (self.name, env!("CARGO_PKG_VERSION"));
        let licence = licence(self.name, self.dialect);
        format!(
            "<?xml version=\"1.0\"?>\n<!-- {MARK}; writing again replaces it -->\n<package format=\"{format}\">\n  \
             <name>{name}</name>\n  <version>{version}</version>\n  \
             <description>The definitions of {name} that are built into rostrans.</description>\n  \
             <maintainer email=\"rostrans@localhost.localdomain\">rostrans</maintainer>\n  \
             <license>{licence}</license>\n{body}</package>\n"
        )
    }

    fn cmake_ros2(&self) -> String {
        let depends = self.depends();
        let mut text = format!(
            "# {MARK}\ncmake_minimum_required(VERSION 3.8)\nproject({})\n\nfind_package(ament_cmake REQUIRED)\n\
             find_package(rosidl_default_generators REQUIRED)\n",
            self.name
        );
        for package in &depends {
            let _never_fails = writeln!(text, "find_package({package} REQUIRED)");
        }
        text.push_str("\nrosidl_generate_interfaces(${PROJECT_NAME}\n");
        for definition in &self.definitions {
            let _never_fails = writeln!(text, "  {}/{}", definition.folder, definition.file);
        }
        if !depends.is_empty() {
            let _never_fails = writeln!(text, "  DEPENDENCIES {}", joined(&depends));
        }
        text.push_str(")\n\nament_export_dependencies(rosidl_default_runtime)\nament_package()\n");
        text
    }

    fn cmake_ros1(&self) -> String {
        let depends = joined(&self.depends());
        let mut text = format!(
            "# {MARK}\ncmake_minimum_required(VERSION 3.0.2)\nproject({})\n\n\
             find_package(catkin REQUIRED COMPONENTS message_generation {depends})\n\n",
            self.name
        );
        for (folder, rule) in
            [("msg", "add_message_files"), ("srv", "add_service_files"), ("action", "add_action_files")]
        {
            if self.has(folder) {
                let _never_fails = writeln!(text, "{rule}(DIRECTORY {folder} FILES");
                for definition in self.definitions.iter().filter(|definition| definition.folder == folder) {
                    let _never_fails = writeln!(text, "  {}", definition.file);
                }
                text.push_str(")\n");
            }
        }
        let _never_fails = write!(
            text,
            "generate_messages(DEPENDENCIES {depends})\n\ncatkin_package(CATKIN_DEPENDS message_runtime {depends})\n"
        );
        text
    }
}

fn joined(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(" ")
}

/// As `config/interfaces/README.md` has it.
fn licence(package: &str, dialect: Dialect) -> &'static str {
    match (package, dialect) {
        ("rflysim_msgs", _) => "MIT OR Apache-2.0",
        ("mavros_msgs" | "geographic_msgs" | "tf2_msgs" | "unique_identifier_msgs" | "uuid_msgs", _) => {
            "BSD-3-Clause"
        }
        ("vision_msgs", _) | (_, Dialect::Ros2) => "Apache-2.0",
        (_, Dialect::Ros1) => "BSD-3-Clause",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str, dialect: Dialect) -> Package {
        all(dialect).into_iter().find(|package| package.name == name).unwrap()
    }

    #[test]
    fn every_package_depends_on_packages_that_are_there_too() {
        for dialect in [Dialect::Ros1, Dialect::Ros2] {
            let packages = all(dialect);
            for package in &packages {
                for depend in package.depends() {
                    assert!(
                        packages.iter().any(|other| other.name == depend),
                        "{} needs {depend}",
                        package.name
                    );
                }
            }
        }
    }

    #[test]
    fn dependencies_are_those_of_fields() {
        let depends = |name, dialect| joined(&find(name, dialect).depends());
        assert_eq!(depends("rflysim_msgs", Dialect::Ros2), "geometry_msgs std_msgs");
        assert_eq!(depends("rflysim_msgs", Dialect::Ros1), "geometry_msgs std_msgs");
        assert_eq!(depends("geometry_msgs", Dialect::Ros1), "std_msgs");
        assert_eq!(depends("std_msgs", Dialect::Ros1), "");
        assert!(depends("tf2_msgs", Dialect::Ros2).contains("action_msgs"));
    }
}
