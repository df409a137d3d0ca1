//! ROS 2 through the libraries of a sourced ROS, with whatever RMW it uses: shared memory, security, vendors' DDS.
//!
//! `R2rAdapter` needs the feature `engine`, and a sourced ROS 2 when it is built: `build.rs` reads its headers. Nothing is
//! linked. `librcl.so` and the type support of each type are opened when they are needed, so a program with this adapter
//! starts without ROS, and any type that the sourced workspaces have works by its name.
//!
//! ```text
//! topic     rcl_publish_serialized_message, rcl_take_serialized_message       CDR as it is, no conversion
//! service   rmw_deserialize to the C structure, rcl_send_request;  rcl_take_response, rmw_serialize
//! type      libstd_msgs__rosidl_typesupport_c.so, its RIHS01 compared with that of the registry (from Iron on)
//! ```
//!
//! One thread waits for all of a node. Humble and later; the crates named r2r are not used (see ARCHITECTURE.md).
//!
//! # Known gaps
//!
//! | what | why | what happens |
//! |---|---|---|
//! | source time | `rcl` has no call that takes it | samples carry when they were published, not their stamp |
//! | never waiting | it is the RMW that publishes | one whose queue is full may wait (Fast DDS: 100 ms), then the sample is refused |
//! | loaned messages | samples are serialized already | shared memory is used where the RMW has it for serialized data |
//! | counters, reports of misfits and missed deadlines | those of the RMW are not read | the RMW logs to standard error |
//! | asking one server among several | `rcl` asks all | every server works on each call; the first response counts |

#![cfg_attr(
    feature = "engine",
    expect(unsafe_code, reason = "calls C libraries; each block says why it is sound")
)]
#![warn(clippy::indexing_slicing)]

#[cfg(feature = "engine")]
mod adapter;
#[cfg(feature = "engine")]
mod ffi;
#[cfg(feature = "engine")]
mod handle;
#[cfg(feature = "engine")]
mod library;
#[cfg(feature = "engine")]
mod node;
#[cfg(feature = "engine")]
mod qos;
#[cfg(feature = "engine")]
mod service;
#[cfg(feature = "engine")]
mod topic;
#[cfg(feature = "engine")]
mod types;
#[cfg(feature = "engine")]
mod waiter;

#[cfg(feature = "engine")]
pub use adapter::{R2rAdapter, R2rConfig};
#[cfg(feature = "engine")]
pub use library::check;
