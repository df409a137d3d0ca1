//! TCPROS: connection headers and frames.
//!
//! Everything on a TCPROS connection is a little-endian `u32` length and so many bytes: first a connection header each
//! way, then messages.
//!
//! Source: <https://wiki.ros.org/ROS/TCPROS>, <https://wiki.ros.org/ROS/Connection%20Header>.

mod frames;
mod header;

pub(crate) use frames::{FrameError, Frames};
pub(crate) use header::{Header, HeaderError, MAX_HEADER};
