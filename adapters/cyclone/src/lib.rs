//! ROS 2 over DDS on Cyclone DDS, to check the RTPS engine of `rostrans-adapter-dds` against.
//!
//! `CycloneAdapter` does what `DdsAdapter` does, on an engine that others wrote and the ROS world runs on: when both
//! pass the same tests and talk to each other, a mistake of one is not the mistake of both. It needs cmake, a C
//! compiler and libclang to build, so it is behind the feature `engine`, and nothing by default uses it.
//!
//! # Known gaps
//!
//! | what | why | what happens |
//! |---|---|---|
//! | services with Fast DDS, Connext and other vendors' nodes | their convention needs inline QoS parameters, which the API of Cyclone DDS can neither send nor read | calls end with "no server", requests stay unanswered; both are logged |
//! | several settings for one domain in one process | Cyclone DDS configures a domain once per process | the second adapter is refused |
//! | asking one server among several | the API writes to all readers | every server works on each call; the first response counts |
//! | counters, graph, reports of misfits, missed deadlines and dead publishers | only the native engine has them | Cyclone DDS logs to standard error |

#![cfg_attr(
    feature = "engine",
    expect(unsafe_code, reason = "calls a C library; each block says why it is sound")
)]
#![warn(clippy::indexing_slicing)]

#[cfg(feature = "engine")]
mod adapter;
#[cfg(feature = "engine")]
mod domain;
#[cfg(feature = "engine")]
mod endpoint;
#[cfg(feature = "engine")]
mod entity;
#[cfg(feature = "engine")]
mod qos;
#[cfg(feature = "engine")]
mod sample;
#[cfg(feature = "engine")]
mod service;

#[cfg(feature = "engine")]
pub use adapter::CycloneAdapter;
