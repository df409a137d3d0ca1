//! Entry points for fuzzers: each takes any text and must return.

use std::path::Path;

use rostrans_core::registry::CodecRegistry;

/// `ros_trans_config.yaml`.
pub fn yaml(text: &str) {
    crate::load::yaml::rules(Path::new("f"), text, &CodecRegistry::new(), &mut Vec::new());
}
