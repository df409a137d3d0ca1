//! Codecs between frames and ROS messages.
//!
//! A codec is one file that describes itself and one line in [`builtin`]; `docs/extending.md` walks through it.
//! Codecs hold no sockets, tasks or locks: the engine hands them frames and samples.

#![warn(clippy::indexing_slicing)]

use std::sync::Arc;

use rostrans_core::{codec::Codec, registry::CodecRegistry};

pub mod frames;
pub mod mavlink;

/// Every codec that ships.
pub fn builtin() -> CodecRegistry {
    let codecs: [Arc<dyn Codec>; 0] = [];
    let mut registry = CodecRegistry::new();
    for codec in codecs {
        registry.register(codec).expect("invariant: the names in this list differ");
    }
    registry
}
