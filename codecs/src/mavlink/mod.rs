//! MAVLink: messages, flight modes and the codecs between MAVLink and MAVROS topics.

pub mod dialect;
pub mod mode;
