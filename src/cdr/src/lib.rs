//! CDR, the byte form of every ROS 2 message, and the ROS 1 wire form.
//!
//! A sample travels through rostrans as [`CdrBytes`]: the 4-byte encapsulation header followed by the body.
//! Typed messages implement [`CdrEncode`]: a size pass computes the exact length, then one pass writes it.
//! [`CdrDecode`] reads them back from any representation a plain (final) ROS type can have on the wire.
//!
//! ```
//! use bytes::BytesMut;
//! let mut pool = BytesMut::new();
//! let sample = rostrans_cdr::to_cdr(&7_u32, &mut pool);
//! assert_eq!(&sample[..], [0, 1, 0, 0, 7, 0, 0, 0]);
//! assert_eq!(rostrans_cdr::from_cdr::<u32>(&sample), Ok(7));
//! ```
//!
//! This crate does no I/O and knows no schema.

#![warn(clippy::indexing_slicing)]

mod decode;
mod encode;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod number;
mod read;
mod ros1;
mod sample;
mod size;
mod write;

pub use decode::{CdrDecode, from_cdr};
pub use encode::{CdrEncode, encode_cdr, to_cdr};
pub use error::CdrError;
pub use number::Number;
pub use read::CdrReader;
pub use ros1::{Ros1Reader, Ros1Writer};
pub use sample::{CdrBytes, HEADER_LEN};
pub use size::CdrSizer;
pub use write::CdrWriter;
