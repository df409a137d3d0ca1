//! Why bytes are not a message.

use thiserror::Error;

/// Why a sample could not be read. Small and `Copy`: an error on the hot path allocates nothing.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum CdrError {
    /// A field reaches past the end.
    #[error("truncated: need {need} bytes at offset {at}, have {have}")]
    Truncated {
        /// Offset of the field in the body.
        at: usize,
        /// Bytes the field takes.
        need: usize,
        /// Bytes left.
        have: usize,
    },
    /// Fewer bytes than an encapsulation header.
    #[error("sample of {0} bytes is shorter than its 4-byte header")]
    NoHeader(usize),
    /// An encapsulation other than CDR and PLAIN_CDR2, which are all a final ROS type can have.
    #[error("representation id {0:#06x} is not plain CDR")]
    Representation(u16),
    /// A sequence or string says it is longer than what is left of the sample.
    #[error("length {len} at offset {at} is more than the sample holds")]
    Length {
        /// Offset of the length in the body.
        at: usize,
        /// The length.
        len: u32,
    },
    /// A `bool` other than 0 and 1.
    #[error("bool at offset {at} has value {value}")]
    Bool {
        /// Offset in the body.
        at: usize,
        /// The octet.
        value: u8,
    },
    /// A string that does not end in NUL.
    #[error("string at offset {at} has no terminating NUL")]
    NoNul {
        /// Offset of the string's length in the body.
        at: usize,
    },
    /// A string that is not UTF-8, or a wide string that is not UTF-16.
    #[error("string at offset {at} is not valid text")]
    Text {
        /// Offset of the string's length in the body.
        at: usize,
    },
    /// More elements or characters than the type's bound.
    #[error("{len} elements at offset {at} exceed the bound {bound}")]
    Bound {
        /// Offset of the length in the body.
        at: usize,
        /// The length.
        len: u32,
        /// The bound.
        bound: u32,
    },
    /// Bytes after the last field that are not padding.
    #[error("{0} bytes follow the last field")]
    Trailing(usize),
}
