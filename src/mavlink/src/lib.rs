//! MAVLink 1 and 2 on the wire, without I/O and without message types.
//!
//! ```text
//! bytes --Stream / frames()--> Packet { msgid, payload, .. } --Fields--> numbers
//!                                       numbers --write_v2()--> bytes
//! ```
//!
//! - [`Stream`] cuts a byte stream (a serial line) into packets and finds back into step after garbage; [`frames`]
//!   does the same for one datagram.
//! - [`message`] knows name, length and checksum seed of every message of the `all` dialect. Messages it does not
//!   know pass unchecked, so a router or a user dialect works without a rebuild.
//! - [`write_v2`] and [`write_v1`] produce frames; [`Fields`] reads numbers out of a payload.
//!
//! - [`Signing`] signs frames and checks signatures.
//!
//! It does not decode messages or keep sequence numbers.
//!
//! Source: <https://mavlink.io/en/guide/serialization.html>.

#![warn(clippy::indexing_slicing)]

mod crc;
mod fields;
mod framer;
pub mod fuzzing;
mod messages;
mod packet;
mod sign;
mod table;
mod write;

pub use self::{
    crc::{crc, crc_with_extra},
    fields::Fields,
    framer::{Event, Fault, Frames, Piece, Pieces, Stream, frames},
    packet::{Packet, Version},
    sign::{Key, Refusal, SignTime, Signing},
    table::{MessageInfo, message, message_named},
    write::{Sender, WriteError, write_v1, write_v2, write_v2_signed},
};

/// First byte of a MAVLink 1 frame.
pub const STX_V1: u8 = 0xFE;
/// First byte of a MAVLink 2 frame.
pub const STX_V2: u8 = 0xFD;
/// Bytes of a MAVLink 1 header, start marker included.
pub const HEADER_V1: usize = 6;
/// Bytes of a MAVLink 2 header, start marker included.
pub const HEADER_V2: usize = 10;
/// Bytes of the checksum behind the payload.
pub const CHECKSUM: usize = 2;
/// Bytes of the signature behind the checksum of a signed MAVLink 2 frame.
pub const SIGNATURE: usize = 13;
/// Most bytes a payload can have.
pub const MAX_PAYLOAD: usize = 255;
/// Most bytes a frame can have: a signed MAVLink 2 frame with a full payload.
pub const MAX_FRAME: usize = HEADER_V2 + MAX_PAYLOAD + CHECKSUM + SIGNATURE;
/// The one incompatibility flag that is defined: the frame is signed.
pub const FLAG_SIGNED: u8 = 0x01;
