//! The parameters that belong to no plugin, and the table of all of them.

use rostrans_core::{
    param::{ParamDef, ParamKind},
    plugin::Plugin,
};

/// Core parameters, in the order of `--help`.
pub(crate) const CORE: &[ParamDef] = &[
    ParamDef {
        key: "ros_trans_config",
        kind: ParamKind::Text,
        default: "config/ros_trans_config.yaml",
        unit: None,
        doc: "File with forward rules; the default is read if it exists.",
    },
    ParamDef {
        key: "filter_file",
        kind: ParamKind::Text,
        default: "rostrans.filter",
        unit: None,
        doc: "Topics and services to switch off; the default is read if it exists. '-f' wins over it.",
    },
    ParamDef {
        key: "plugins_config",
        kind: ParamKind::Text,
        default: "config/plugins_config.ini",
        unit: None,
        doc: "Which plugins may run, and their order; the default is read if it exists.",
    },
    ParamDef {
        key: "ros_version",
        kind: ParamKind::Choice(&["auto", "ros1", "ros2", "all"]),
        default: "auto",
        unit: None,
        doc: "ROS graphs to join; 'auto' is ROS 2, or ROS 1 where ROS_VERSION is 1.",
    },
    ParamDef {
        key: "ros2_transport",
        kind: ParamKind::Text,
        default: "auto",
        unit: None,
        doc: "How to reach ROS 2 nodes: dds (Fast DDS and Cyclone DDS nodes), zenoh, r2r, several separated by commas, or all; 'auto' is dds, or zenoh where RMW_IMPLEMENTATION names it.",
    },
    ParamDef {
        key: "ros_master_uri",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "ROS 1 master, e.g. http://robot:11311; empty takes ROS_MASTER_URI, or http://localhost:11311.",
    },
    ParamDef {
        key: "ros_hostname",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Name or address under which ROS 1 nodes reach this machine; empty takes ROS_HOSTNAME, ROS_IP, or the address on the way to the master.",
    },
    ParamDef {
        key: "dds_interfaces",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Interfaces for DDS by name or address, separated by commas; empty means all. They may appear later.",
    },
    ParamDef {
        key: "dds_ip",
        kind: ParamKind::Choice(&["auto", "v4", "v6", "both"]),
        default: "auto",
        unit: None,
        doc: "Versions of IP for DDS; 'auto' is v4, and v6 too with FASTDDS_BUILTIN_TRANSPORTS=UDPv6 or an IPv6 static peer.",
    },
    ParamDef {
        key: "dds_engine",
        kind: ParamKind::Choice(&["native", "cyclone"]),
        default: "native",
        unit: None,
        doc: "Which DDS to use: rostrans' own or Cyclone DDS, to compare; the latter only if built in.",
    },
    ParamDef {
        key: "dds_service_style",
        kind: ParamKind::Choice(&["auto", "fastdds", "cyclone"]),
        default: "auto",
        unit: None,
        doc: "How service calls find their responses over DDS; 'auto' speaks with each node as its DDS does.",
    },
    ParamDef {
        key: "zenoh_mode",
        kind: ParamKind::Choice(&["auto", "peer", "client", "router"]),
        default: "auto",
        unit: None,
        doc: "Part to play in Zenoh: peer as ROS nodes do, client of one router, or router for other nodes; 'auto' is what ZENOH_SESSION_CONFIG_URI says, else peer.",
    },
    ParamDef {
        key: "zenoh_connect",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Zenoh routers or peers to connect to, as in tcp/192.168.1.5:7447, separated by commas; empty means the configuration file's, else tcp/localhost:7447, and none for a router.",
    },
    ParamDef {
        key: "zenoh_listen",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Where to take Zenoh connections; empty means the configuration file's, else port 7447 of all interfaces for a router, localhost for a peer.",
    },
    ParamDef {
        key: "node_name",
        kind: ParamKind::Text,
        default: "rostrans",
        unit: None,
        doc: "Name of the node in the ROS graph.",
    },
    ParamDef {
        key: "node_namespace",
        kind: ParamKind::Text,
        default: "/",
        unit: None,
        doc: "Namespace of the node, in ROS 1 ROS_NAMESPACE unless given; names in rules are absolute and stay as they are.",
    },
    ParamDef {
        key: "use_sim_time",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Stamp with the simulated time of '/clock', or of the rules file's clock; ROSTRANS_USE_SIM_TIME=1 means the same. See docs/time.md.",
    },
    ParamDef {
        key: "enable_monitor",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Print a table of rates now and then.",
    },
    ParamDef {
        key: "monitor_interval",
        kind: ParamKind::Int { min: 1, max: 86_400 },
        default: "5",
        unit: Some("s"),
        doc: "How often to print it.",
    },
    ParamDef {
        key: "strict",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Exit with 69 when a port, device or adapter is not available at start, instead of waiting for it.",
    },
    ParamDef {
        key: "log_level",
        kind: ParamKind::Text,
        default: "info",
        unit: None,
        doc: "error, warn, info, debug, trace, or a filter such as 'info,rostrans_transport=debug'. RUST_LOG \
              wins over the file, the command line over both.",
    },
    ParamDef {
        key: "log_format",
        kind: ParamKind::Choice(&["plain", "json"]),
        default: "plain",
        unit: None,
        doc: "Log lines for people, or one JSON object a line.",
    },
    ParamDef {
        key: "log_dir",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Folder for rostrans.log, beside the log on standard error; empty writes no file.",
    },
];

/// Core parameters, then those of each plugin.
pub(crate) fn all(plugins: &[Box<dyn Plugin>]) -> Vec<ParamDef> {
    CORE.iter().chain(plugins.iter().flat_map(|plugin| plugin.params())).copied().collect()
}

/// The parameters as groups, for help: a title each.
pub(crate) fn groups(plugins: &[Box<dyn Plugin>]) -> Vec<(&'static str, &'static [ParamDef])> {
    let own = plugins.iter().map(|plugin| (plugin.name(), plugin.params()));
    std::iter::once(("core", CORE)).chain(own).filter(|(_, defs)| !defs.is_empty()).collect()
}

/// As [`groups`], with those that most users meet, and how many more a group has.
pub(crate) fn common(plugins: &[Box<dyn Plugin>]) -> Vec<(&'static str, &'static [ParamDef], usize)> {
    let own = plugins.iter().map(|plugin| {
        let (common, all) = (plugin.common_params(), plugin.params());
        (plugin.name(), common, all.len() - common.len())
    });
    std::iter::once(("core", CORE, 0)).chain(own).filter(|(_, defs, _)| !defs.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_key_is_defined_once_and_every_default_is_allowed() {
        let defs = all(&rostrans_plugins::all());
        let mut seen = HashSet::new();
        for def in &defs {
            assert!(seen.insert(def.key), "{} is defined twice", def.key);
            assert!(def.doc.ends_with('.') && !def.doc.contains('\n'), "{}: {}", def.key, def.doc);
            let mut given = rostrans_core::param::ParamSet::default();
            given.set(def.key, def.default, rostrans_core::diag::Origin::CommandLine);
            let mut problems = Vec::new();
            given.resolve(&defs, &mut problems);
            assert_eq!(problems, [], "{}", def.key);
        }
    }
}
