//! `ros_trans_config.yaml` to forward rules.
//!
//! ```yaml
//! forward_rules:
//!   - rule_id: sensor
//!     direction: udp_to_rostopic
//!     udp_listen_port: 9000
//!     links:
//!       - { codec: raw_bytes, send_ros_config: { topic: /my/topic, msg_type: std_msgs/msg/UInt8MultiArray } }
//! ```
//!
//! Text becomes a tree with line numbers (`tree`), the tree becomes rules (`rule`, `link`). Every problem of
//! the file is reported, each at its own line. Nothing is opened and no codec is built here.

mod fields;
mod link;
mod rule;
pub(in crate::load) mod tree;
pub(in crate::load) mod value;

use std::path::Path;

use rostrans_core::{diag::Diagnostic, registry::CodecRegistry, rule::ForwardRule};

/// Reads the rules of one file.
///
/// `codecs` supplies what a link may leave out: the message type and QoS of a codec's port. Rules with an error are
/// left out; problems of a disabled rule are warnings. `path` only names the file in messages.
pub fn rules(
    path: &Path,
    text: &str,
    codecs: &CodecRegistry,
    problems: &mut Vec<Diagnostic>,
) -> Vec<ForwardRule> {
    match tree::parse(path, text) {
        Ok(Some(root)) => {
            let mut found = Vec::new();
            let rules = rule::rules(&root, path, codecs, &mut found);
            found.sort_by(|a, b| a.origin.cmp(&b.origin));
            problems.append(&mut found);
            rules
        }
        Ok(None) => Vec::new(),
        Err(problem) => {
            problems.push(problem);
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests;
