//! CDR, the byte form of every ROS 2 message, and the ROS 1 wire form.
//!
//! A sample travels through rostrans as [`CdrBytes`]: the 4-byte encapsulation header followed by the body.
//! Typed messages implement [`CdrEncode`]: a size pass computes the exact length, then one pass writes it.
//!
//! ```
//! use bytes::BytesMut;
//! let mut pool = BytesMut::new();
//! let sample = rostrans_cdr::to_cdr(&7_u32, &mut pool);
//! assert_eq!(&sample[..], [0, 1, 0, 0, 7, 0, 0, 0]);
//! ```
//!
//! This crate does no I/O and knows no schema.

mod sample;
mod size;
mod write;

pub use sample::{CdrBytes, HEADER_LEN};
pub use size::CdrSizer;
pub use write::{CdrEncode, CdrWriter, to_cdr};
