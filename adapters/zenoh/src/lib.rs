//! ROS 2 over Zenoh as `rmw_zenoh` has it, with no ROS installed.
//!
//! [`wire`] is what ROS means on Zenoh: key expressions, liveliness tokens, attachments. It knows no Zenoh library and is
//! always built.
//!
//! ```text
//! sample    0/chatter/std_msgs::msg::dds_::String_/RIHS01_df66..     payload CDR, attachment 33 bytes
//! token     @ros2_lv/0/a1b2/0/4/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/RIHS01_df66../::,10:,:,:,,
//! ```
//!
//! Not here: parameters, actions, `/rosout`, and the logging services that a full ROS node also offers.

#![warn(clippy::indexing_slicing)]

#[doc(hidden)]
pub mod fuzzing;
pub mod wire;
