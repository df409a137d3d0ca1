//! Why a codec could not use what it was given.

use thiserror::Error;

/// Why a frame was not decoded. Small and `Copy`: the hot path allocates nothing for an error.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// Too short.
    #[error("truncated: need {need} bytes, have {have}")]
    Truncated {
        /// Bytes needed.
        need: usize,
        /// Bytes there were.
        have: usize,
    },
    /// Not this protocol.
    #[error("bad magic number")]
    BadMagic,
    /// Checksum mismatch.
    #[error("bad checksum")]
    Checksum,
    /// Not signed with the key that frames must be signed with.
    #[error("refused: {0}")]
    Signature(&'static str),
    /// Somebody else sends this already.
    #[error("from a second sender")]
    SecondSender,
    /// A field holds an impossible value.
    #[error("field '{0}' out of range")]
    OutOfRange(&'static str),
    /// Not valid text (UTF-8, JSON) where text is expected.
    #[error("not valid {0}")]
    Text(&'static str),
    /// Does not fit the ROS type.
    #[error("does not fit the message type: {0}")]
    Schema(&'static str),
}

/// Why a sample was not encoded.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EncodeError {
    /// The CDR is malformed.
    #[error("malformed CDR: {0}")]
    Cdr(&'static str),
    /// A field cannot be expressed on the wire.
    #[error("field '{0}' out of range")]
    OutOfRange(&'static str),
    /// The frame would be larger than a datagram.
    #[error("frame of {0} bytes is too large")]
    TooLarge(usize),
}
