//! Rules to plan to running pipelines.
//!
//! ```text
//! rules -> plan -> Topology -> running::start -> Running
//! ```
//!
//! A [`topology::Topology`] is plain data. [`running::start`] opens its transports, binds its rules to codecs and
//! adapters, and supervises them until [`running::Running::shutdown`]. The engine names no concrete codec, plugin
//! or adapter.

pub mod adapters;
mod clocks;
mod dispatch_table;
mod due;
mod ingress;
mod link;
pub mod monitor;
mod pipeline;
pub mod plan;
pub mod running;
pub mod supervisor;
pub mod topology;
pub mod transports;
