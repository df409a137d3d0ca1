//! Commands, modes and rates: the services under `cmd/`, `set_mode`, `set_stream_rate`, `set_message_interval`.

use super::DecodeOnly;

mod cmd;
mod refusal;
mod requests;
mod set_mode;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[cmd::CODEC, set_mode::CODEC];
