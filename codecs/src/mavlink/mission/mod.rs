//! Missions, geofences and rally points.
//!
//! Three plans, one protocol: [`machine`] is the protocol for one plan without any input or output, [`codec`] is
//! the three of them on a link, [`item`] converts items. What one transfer waits for and how long is in [`task`].

use super::DecodeOnly;

mod codec;
mod item;
mod machine;
mod say;
mod service;
mod task;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[codec::CODEC];
