//! A serialized sample with its encapsulation header.

use std::ops::Deref;

use bytes::Bytes;

/// Length of the encapsulation header in front of every CDR body, in bytes.
pub const HEADER_LEN: usize = 4;

/// One serialized message: encapsulation header and body.
///
/// **Layout**: bytes 0..2 representation id (`00 01` little-endian XCDR1), bytes 2..4 options, then the body,
/// whose alignment counts from byte 4. Clones share the buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CdrBytes(Bytes);

impl CdrBytes {
    /// Wraps bytes that already start with an encapsulation header.
    ///
    /// Returns `None` when fewer than four bytes are given. The representation id is checked by the reader.
    pub fn new(bytes: impl Into<Bytes>) -> Option<Self> {
        let bytes = bytes.into();
        (bytes.len() >= HEADER_LEN).then_some(Self(bytes))
    }

    /// The body without the encapsulation header.
    pub fn body(&self) -> &[u8] {
        self.0.get(HEADER_LEN..).unwrap_or_default()
    }

    /// The whole sample, header included.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Gives up the wrapper.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl Deref for CdrBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
