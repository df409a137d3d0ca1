//! ROS 2 over Zenoh as `rmw_zenoh` has it, with no ROS installed.
//!
//! [`wire`] is what ROS means on Zenoh: key expressions, liveliness tokens, attachments. It knows no Zenoh library and is
//! always built. `ZenohAdapter`, on the `zenoh` crate, needs the feature `engine`.
//!
//! ```text
//! sample    0/chatter/std_msgs::msg::dds_::String_/RIHS01_df66..     payload CDR, attachment 33 bytes
//! token     @ros2_lv/0/a1b2/0/4/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/RIHS01_df66../::,10:,:,:,,
//! ```
//!
//! Not here: parameters, actions, `/rosout`, and the logging services that a full ROS node also offers.

#![warn(clippy::indexing_slicing)]

#[cfg(feature = "engine")]
mod adapter;
#[cfg(feature = "engine")]
mod client;
#[cfg(feature = "engine")]
mod config;
#[cfg(feature = "engine")]
mod context;
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "engine")]
mod graph;
#[cfg(feature = "engine")]
mod link;
#[cfg(feature = "engine")]
mod presence;
#[cfg(feature = "engine")]
mod publisher;
#[cfg(feature = "engine")]
mod server;
#[cfg(feature = "engine")]
mod stats;
#[cfg(feature = "engine")]
mod subscription;
pub mod wire;

#[cfg(feature = "engine")]
pub use adapter::ZenohAdapter;
#[cfg(feature = "engine")]
pub use config::{Mode, ZenohConfig};
#[cfg(feature = "engine")]
pub use stats::ZenohStats;
