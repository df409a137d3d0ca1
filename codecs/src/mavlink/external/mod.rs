//! External position and motion, and sensors in both directions.

use super::DecodeOnly;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[];
