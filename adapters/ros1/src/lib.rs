//! ROS 1 without ROS: the master and node APIs over XML-RPC, topics and services over TCPROS.
//!
//! One [`Ros1Adapter`] is one node of a ROS 1 graph. Rules speak CDR; messages are converted by the compiled
//! transcoders of `rostrans-schema`, once for each publish and once for each received message.
//!
//! ```text
//! Publisher --CDR--> Publication --ROS 1 body--> connection queues --> subscribers
//!                        \--CDR--> own subscriptions, also without a master
//! registrar --register, look up once a second--> master --publisherUpdate--> node API --> links --> publishers
//! ```
//!
//! - Latching is transient-local durability. A late subscriber gets the last message of each publisher, as ROS 1 has it,
//!   and of static transforms the last `depth`.
//! - Each connection to a subscriber has a queue of `depth` messages and 64 MiB that gives up its oldest.
//! - `Header.seq` counts the messages of a topic from 1. ROS 1 carries no source time: samples are stamped on receipt.
//! - Deadline, lifespan and liveliness do not exist in ROS 1 and are ignored.
//! - Not here: UDPROS, IPv6, parameters other than `/use_sim_time`, `/rosout`, actions (they are plain topics in ROS 1).

#![warn(clippy::indexing_slicing)]

mod adapter;
mod api;
mod config;
#[doc(hidden)]
pub mod fuzzing;
mod graph;
mod node;
mod registrar;
mod server;
mod service;
mod stats;
#[cfg(test)]
mod tests;
mod topic;
mod types;
mod wire;
mod xmlrpc;

pub use adapter::Ros1Adapter;
pub use config::{ConfigError, Ros1Config};
pub use stats::Ros1Stats;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What another program gives as its reason, for people: printable and not endless.
fn reason(text: &str) -> String {
    // Those of rospy and roscpp name two types and two sums.
    const MAX: usize = 300;
    let short: String = text.chars().take(MAX).collect();
    rostrans_core::text::printable(short.trim()).into_owned()
}

/// Locks, ignoring poison: every critical section here leaves the data whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
