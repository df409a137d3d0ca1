//! Entry points for fuzzers: each takes any text and must return.

use std::path::Path;

use rostrans_core::registry::CodecRegistry;

use crate::load::{ini::PluginOrder, yaml};

/// `ros_trans_config.yaml`.
pub fn yaml(text: &str) {
    yaml::rules(Path::new("f"), text, &CodecRegistry::new(), &mut Vec::new());
}

/// `plugins_config.ini`.
pub fn ini(text: &str) {
    PluginOrder::parse(Path::new("f"), text, &["mavros", "router"], &mut Vec::new());
}
