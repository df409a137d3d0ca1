//! MAVROS's own configuration files, such as `px4_config.yaml`, as parameters.
//!
//! ```yaml
//! /**/imu:                 # ROS 2            imu:                  # ROS 1
//!   ros__parameters:                            frame_id: base_link
//!     frame_id: base_link
//! ```

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::ParamSet,
    text::excerpt,
};
use rostrans_plugins::{MavrosParam, mavros_key};

use super::{
    text,
    yaml::{
        tree::{self, Entry, Kind, Node},
        value,
    },
};

/// Reads the files that the parameter `mavros_config` names. What they say counts where `params` says nothing; a later
/// file wins over an earlier one.
pub(super) fn read(params: &mut ParamSet, problems: &mut Vec<Diagnostic>) -> Vec<PathBuf> {
    let list = params.given("mavros_config").unwrap_or_default().to_owned();
    let names = list.split([',', ';']).map(str::trim).filter(|name| !name.is_empty());
    let files: Vec<PathBuf> = names.map(PathBuf::from).collect();
    let mut found = BTreeMap::new();
    for path in &files {
        let Some(text) = text::read(path, problems) else { continue };
        match tree::parse(path, &text) {
            Ok(Some(root)) => File { path, found: &mut found, problems }.root(&root),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    for (key, (value, origin)) in found {
        if params.given(key).is_none() {
            params.set(key, &value, origin);
        }
    }
    files
}

struct File<'a> {
    path: &'a Path,
    found: &'a mut BTreeMap<&'static str, (String, Origin)>,
    problems: &'a mut Vec<Diagnostic>,
}

impl File<'_> {
    fn root(&mut self, root: &Node) {
        let Kind::Map(nodes) = &root.kind else {
            let message = format!("the file holds {}, not parameters", root.describe());
            let help = "name one of MAVROS's files, such as px4_config.yaml";
            self.problems.push(Diagnostic::error(Origin::file(self.path, root.line), message, help));
            return;
        };
        for node in nodes {
            match ros2_parameters(&node.value) {
                Some(parameters) => {
                    parameters.iter().for_each(|entry| self.entry(plugin(&node.key), "", entry));
                }
                None => match &node.value.kind {
                    Kind::Map(entries) if node.key == SENSORS => self.sensors(entries, node.line),
                    Kind::Map(entries) => {
                        entries.iter().for_each(|entry| self.entry(plugin(&node.key), "", entry));
                    }
                    Kind::Scalar { .. } | Kind::List(_) => self.entry(NODE, "", node),
                },
            }
        }
    }

    /// Takes one parameter, or those of a block.
    fn entry(&mut self, plugin: &str, prefix: &str, entry: &Entry) {
        let name = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
        match &entry.value.kind {
            Kind::Map(entries) => entries.iter().for_each(|inner| self.entry(plugin, &name, inner)),
            Kind::Scalar { text, .. } if plugin == SENSORS && name == "config" => {
                match tree::parse(self.path, text).map(|root| root.map(|root| root.kind.clone())) {
                    Ok(Some(Kind::Map(sensors))) => self.sensors(&sensors, entry.line),
                    Ok(None) => {}
                    Ok(Some(Kind::Scalar { .. } | Kind::List(_))) | Err(_) => {
                        let message = "the text of 'distance_sensor: config' is no YAML block of sensors";
                        let help = "write it as in MAVROS's px4_config.yaml";
                        self.problems.push(Diagnostic::error(
                            Origin::file(self.path, entry.line),
                            message,
                            help,
                        ));
                    }
                }
            }
            Kind::Scalar { text, .. } => self.parameter(plugin, &name, text.clone(), entry.line),
            Kind::List(items) => {
                let words = items.iter().filter_map(|item| match &item.kind {
                    Kind::Scalar { text, .. } => Some(text.as_str()),
                    Kind::List(_) | Kind::Map(_) => None,
                });
                let value = words.collect::<Vec<_>>().join(", ");
                self.parameter(plugin, &name, value, entry.line);
            }
        }
    }

    /// Distance sensors are one parameter: what ROS 2 has as a text of YAML, and ROS 1 as a block, is JSON here.
    fn sensors(&mut self, sensors: &[Entry], line: u32) {
        let json = serde_json::Value::Object(value::object(sensors)).to_string();
        self.parameter(SENSORS, "config", json, line);
    }

    fn parameter(&mut self, plugin: &str, name: &str, value: String, line: u32) {
        let (plugin, name) = current(plugin, name);
        let origin = Origin::file(self.path, line);
        if let Some(key) = mavros_key(plugin, name) {
            self.found.insert(key, (value, origin));
            return;
        }
        let shown = if plugin == NODE { name.to_owned() } else { format!("{plugin}: {name}") };
        let (reason, help) = match MavrosParam::find(plugin, name) {
            // Nothing is lost.
            Some(param) if same(param.default, &value) || same(param.apm_default, &value) => return,
            Some(param) => (param.note(), "see docs/mavros-parameters.md"),
            None => ("rostrans does not know it", "delete it, or see docs/mavros-parameters.md"),
        };
        let message = format!("'{}' of MAVROS is not taken over: {reason}", excerpt(&shown));
        self.problems.push(Diagnostic::warning(origin, message, help));
    }
}

const SENSORS: &str = "distance_sensor";
/// Parameters of the node itself.
const NODE: &str = "-";

fn ros2_parameters(node: &Node) -> Option<&[Entry]> {
    let Kind::Map(entries) = &node.kind else { return None };
    match &entries.iter().find(|entry| entry.key == "ros__parameters")?.value.kind {
        Kind::Map(parameters) => Some(parameters),
        Kind::Scalar { .. } | Kind::List(_) => Some(&[]),
    }
}

/// The plugin of a node's name or pattern: `/**/imu`, `/mavros/imu`, `imu`.
fn plugin(node: &str) -> &str {
    match node.rsplit('/').next().unwrap_or(node) {
        "**" | "*" | "" | "mavros" | "mavros_node" | "mavros_router" => NODE,
        plugin => plugin,
    }
}

/// Names that MAVROS gave a parameter in another version.
fn current<'a>(plugin: &'a str, name: &'a str) -> (&'a str, &'a str) {
    match (plugin, name) {
        ("conn", "timeout") => ("sys", "conn_timeout"),
        ("conn", "heartbeat_rate") => ("sys", "heartbeat_rate"),
        ("conn", "heartbeat_mav_type") => ("sys", "heartbeat_mav_type"),
        ("conn", "timesync_rate" | "system_time_rate") => ("time", name),
        (NODE, "target_system_id") => (NODE, "tgt_system"),
        (NODE, "target_component_id") => (NODE, "tgt_component"),
        (NODE, "plugin_blacklist") => (NODE, "plugin_denylist"),
        (NODE, "plugin_whitelist") => (NODE, "plugin_allowlist"),
        other => other,
    }
}

fn same(default: &str, value: &str) -> bool {
    let equal_numbers = || default.parse::<f64>().is_ok_and(|default| value.parse() == Ok(default));
    default.eq_ignore_ascii_case(value.trim()) || equal_numbers()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(files: &[(&str, &str)], given: &[(&str, &str)]) -> (ParamSet, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            paths.push(path.to_str().unwrap().to_owned());
        }
        let mut params = ParamSet::default();
        params.set("mavros_config", &paths.join(", "), Origin::CommandLine);
        for (key, value) in given {
            params.set(key, value, Origin::CommandLine);
        }
        let mut problems = Vec::new();
        assert_eq!(read(&mut params, &mut problems).len(), files.len());
        let base = format!("{}/", folder.path().display());
        (params, problems.iter().map(|p| p.to_string().replace(&base, "")).collect())
    }

    #[test]
    fn files_of_ros_2_and_ros_1_mean_the_same() {
        let ros2 = "/**:\n  ros__parameters:\n    fcu_url: udp://:14540@\n    target_system_id: 7\n    plugin_denylist:\n      - image_pub\n      - 'vision*'\n/**/imu:\n  ros__parameters:\n    frame_id: imu_link\n    orientation_stdev: 0.5\n/mavros/local_position:\n  ros__parameters:\n    tf:\n      child_frame_id: body\n";
        let ros1 = "fcu_url: udp://:14540@\ntgt_system: 7\nplugin_blacklist: [image_pub, 'vision*']\nimu:\n  frame_id: imu_link\n  orientation_stdev: 0.5\nlocal_position: {tf: {child_frame_id: body}}\n";
        for text in [ros2, ros1] {
            let (params, problems) = run(&[("c.yaml", text)], &[]);
            assert_eq!(problems, [""; 0]);
            for (key, value) in [
                ("fcu_url", "udp://:14540@"),
                ("tgt_system", "7"),
                ("plugin_denylist", "image_pub, vision*"),
                ("mavros_imu_frame_id", "imu_link"),
                ("mavros_imu_orientation_stdev", "0.5"),
                ("mavros_local_position_tf_child_frame_id", "body"),
            ] {
                assert_eq!(params.given(key), Some(value), "{key}");
            }
        }
    }

    #[test]
    fn own_settings_win_and_later_files_over_earlier_ones() {
        let first = "imu: {frame_id: one, orientation_stdev: 1.5}";
        let second = "imu:\n  frame_id: two";
        let (params, _) =
            run(&[("a.yaml", first), ("b.yaml", second)], &[("mavros_imu_orientation_stdev", "3")]);
        assert_eq!(params.given("mavros_imu_frame_id"), Some("two"));
        assert_eq!(params.given("mavros_imu_orientation_stdev"), Some("3"));
    }

    #[test]
    fn what_is_lost_is_told_with_its_line_and_defaults_are_not() {
        let text = "/**/mount:\n  ros__parameters:\n    debounce_s: 4.0\n    err_threshold_deg: 3.0\n/**/imu:\n  ros__parameters:\n    colour: red\n/**/wheel_odometry:\n  ros__parameters:\n    wheel0: {x: 0.0, y: -0.15, radius: 0.05}\n";
        let (_, problems) = run(&[("px4.yaml", text)], &[]);
        assert_eq!(
            problems,
            [
                "px4.yaml:4: 'mount: err_threshold_deg' of MAVROS is not taken over: no diagnostics of the mount; see docs/mavros-parameters.md",
                "px4.yaml:7: 'imu: colour' of MAVROS is not taken over: rostrans does not know it; delete it, or see docs/mavros-parameters.md",
            ]
        );
        let (_, problems) = run(&[("list.yaml", "- a")], &[]);
        assert_eq!(
            problems,
            [
                "list.yaml:1: the file holds a list, not parameters; name one of MAVROS's files, such as px4_config.yaml"
            ]
        );
    }

    #[test]
    fn distance_sensors_become_json() {
        let ros2 = "/**/distance_sensor:\n  ros__parameters:\n    config: |\n      sonar:\n        id: 0\n        send_tf: true\n        sensor_position: {x: 0.0, z: -0.1}\n";
        let ros1 = "distance_sensor:\n  sonar: {id: 0, send_tf: true, sensor_position: {x: 0.0, z: -0.1}}\n";
        for text in [ros2, ros1] {
            let (params, problems) = run(&[("c.yaml", text)], &[]);
            assert_eq!(problems, [""; 0]);
            let json = r#"{"sonar":{"id":0,"send_tf":true,"sensor_position":{"x":0.0,"z":-0.1}}}"#;
            assert_eq!(params.given("mavros_distance_sensor_config"), Some(json));
        }
        let (_, problems) = run(&[("c.yaml", "/**/distance_sensor: {ros__parameters: {config: 'a'}}")], &[]);
        assert_eq!(
            problems,
            [
                "c.yaml:1: the text of 'distance_sensor: config' is no YAML block of sensors; write it as in MAVROS's px4_config.yaml"
            ]
        );
    }

    #[test]
    fn missing_file_is_an_error() {
        let mut params = ParamSet::default();
        params.set("mavros_config", "/nowhere/px4_config.yaml", Origin::CommandLine);
        let mut problems = Vec::new();
        read(&mut params, &mut problems);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].is_error());
    }
}
