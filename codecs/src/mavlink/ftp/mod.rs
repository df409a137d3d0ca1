//! Files and logs on the vehicle.

use super::DecodeOnly;

mod client;
mod files;
mod log;
mod read;
mod task;
mod wire;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[files::CODEC, log::CODEC];
