//! The commands that look at the ROS network instead of running rules: `rostrans graph` and `rostrans doctor`.
//!
//! Both join the domain as a silent participant: they are in nobody's list of nodes and topics.

mod doctor;
mod graph;
pub(crate) mod options;
mod settle;

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _},
};

use rostrans_adapter_dds::Discovery;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::exit::Exit;

/// One of the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// `rostrans graph`.
    Graph,
    /// `rostrans doctor`.
    Doctor,
}

impl Tool {
    /// The command of that name.
    pub(crate) fn named(word: &OsString) -> Option<Self> {
        match word.to_str() {
            Some("graph") => Some(Self::Graph),
            Some("doctor") => Some(Self::Doctor),
            _ => None,
        }
    }
}

/// Runs a command; `words` are the arguments behind its name.
pub(crate) fn main(tool: Tool, words: impl Iterator<Item = OsString>) -> Exit {
    // The doctor tells by itself what would be warned of.
    let level = if tool == Tool::Doctor { LevelFilter::ERROR } else { LevelFilter::WARN };
    let log = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    // A second start in one process keeps the first.
    let _already_set = tracing_subscriber::fmt()
        .with_env_filter(log)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .without_time()
        .try_init();
    match tool {
        Tool::Graph => graph::main(words),
        Tool::Doctor => doctor::main(words),
    }
}

/// `domain 7, range SUBNET`.
fn place(discovery: &Discovery) -> String {
    format!("domain {}, range {}", discovery.domain, discovery.range_name())
}

/// First and last UDP port that participants of a domain use.
///
/// Source: DDSI-RTPS 2.5, 9.6.1.1, for 32 participants on a host.
fn ports(domain: u16) -> (u32, u32) {
    let base = 7400 + 250 * u32::from(domain);
    (base, base + 11 + 2 * 31)
}
