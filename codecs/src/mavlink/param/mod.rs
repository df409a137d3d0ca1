//! The vehicle's parameters.
//!
//! [`table`] is what the vehicle has told, [`list`] receives the whole list, [`sets`] sets single ones; all three without
//! input and output. [`codec`] puts them on a link with the services of [`service`] and [`setting`] and the topics of [`event`]; [`value`]
//! converts.

use super::DecodeOnly;

mod codec;
mod event;
mod list;
mod service;
mod sets;
mod setting;
mod table;
mod value;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[codec::CODEC];
