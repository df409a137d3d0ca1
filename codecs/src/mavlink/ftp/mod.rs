//! Files and logs on the vehicle.

use super::DecodeOnly;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[];
