//! Codecs between frames and ROS messages.
//!
//! A codec is one file that describes itself and one line in [`builtin`]; `docs/extending.md` walks through it.
//! Codecs hold no sockets, tasks or locks: the engine hands them frames and samples.

#![warn(clippy::indexing_slicing)]

use std::sync::Arc;

use rostrans_core::{codec::Codec, registry::CodecRegistry};

mod describe;
pub mod example;
pub mod frames;
#[doc(hidden)]
pub mod fuzzing;
mod generic;
pub mod mavlink;
mod options;
mod place;
mod rflysim;
mod ros;

/// Every codec that ships.
pub fn builtin() -> CodecRegistry {
    let own: Vec<Arc<dyn Codec>> = vec![
        // Protocols with one codec, a line each.
        Arc::new(example::my_codec::MyCodec),
    ];
    let mut registry = CodecRegistry::new();
    for codec in generic::codecs().into_iter().chain(mavlink::codecs()).chain(rflysim::codecs()).chain(own) {
        registry.register(codec).expect("invariant: the names in these lists differ");
    }
    registry
}
