//! Missions, geofences and rally points.

use super::DecodeOnly;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[];
