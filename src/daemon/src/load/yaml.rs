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
//! Text becomes a tree with line numbers (`tree`), the tree becomes rules (`rule`, `link`, `clock`). Every problem of
//! the file is reported, each at its own line. Nothing is opened and no codec is built here.

mod clock;
mod fields;
mod link;
mod rule;
pub(in crate::load) mod tree;
pub(in crate::load) mod value;

use std::path::Path;

use rostrans_core::{diag::Diagnostic, registry::CodecRegistry, rule::ForwardRule};

use super::clocks::Said;

/// What one file says.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) rules: Vec<ForwardRule>,
    pub(super) clocks: Said,
}

/// Reads the rules of one file.
///
/// `codecs` supplies what a link may leave out: the message type and QoS of a codec's port. Rules with an error are
/// left out; problems of a disabled rule are warnings. `path` only names the file in messages. Clocks that rules name
/// are not looked up.
pub fn rules(
    path: &Path,
    text: &str,
    codecs: &CodecRegistry,
    problems: &mut Vec<Diagnostic>,
) -> Vec<ForwardRule> {
    read(path, text, codecs, problems).rules
}

/// Reads one file, its clocks included.
pub(super) fn read(path: &Path, text: &str, codecs: &CodecRegistry, problems: &mut Vec<Diagnostic>) -> File {
    match tree::parse(path, text) {
        Ok(Some(root)) => {
            let mut found = Vec::new();
            let file = rule::file(&root, path, codecs, &mut found);
            found.sort_by(|a, b| a.origin.cmp(&b.origin));
            problems.append(&mut found);
            file
        }
        Ok(None) => File::default(),
        Err(problem) => {
            problems.push(problem);
            File::default()
        }
    }
}

#[cfg(test)]
mod tests;
