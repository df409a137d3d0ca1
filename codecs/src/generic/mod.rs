//! Codecs for any peer: bytes, text, JSON, CDR.

use std::sync::Arc;

use rostrans_core::codec::{Codec, EncodeError};

mod cdr;
mod json;
mod raw_bytes;
mod string;
mod types;

/// All codecs of this module.
pub(crate) fn codecs() -> [Arc<dyn Codec>; 4] {
    [
        Arc::new(raw_bytes::RawBytesCodec),
        Arc::new(string::StringCodec),
        Arc::new(json::JsonCodec),
        Arc::new(cdr::CdrCodec),
    ]
}

/// Any CDR reading error, as far as an encoder's caller cares.
fn malformed(what: &'static str) -> impl Fn(rostrans_cdr::CdrError) -> EncodeError {
    move |_| EncodeError::Cdr(what)
}
