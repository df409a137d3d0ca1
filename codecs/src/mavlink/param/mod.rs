//! The vehicle's parameters.

use super::DecodeOnly;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[];
