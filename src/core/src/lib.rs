//! The rule model and every trait of rostrans.
//!
//! Everything rostrans does is a [`rule::ForwardRule`]. A rule is planned once into a pipeline that binds a
//! transport ([`transport`]), a codec ([`codec`]) and a ROS adapter ([`adapter`]); this crate holds the types and
//! traits those parts meet at, plus the small mechanisms they share. It opens no socket and knows no protocol.

pub mod adapter;
pub mod backoff;
pub mod clock;
pub mod codec;
pub mod diag;
pub mod emit;
pub mod filter;
#[doc(hidden)]
pub mod fuzzing;
pub mod jobs;
pub mod param;
pub mod plugin;
pub mod queue;
pub mod rate;
pub mod registry;
pub mod rule;
pub mod stats;
pub mod suggest;
pub mod text;
pub mod throttle;
pub mod topic;
pub mod transport;
