//! What else MAVROS bridges: GPS status and corrections, gimbals, HIL, ADS-B, ESCs, debug values, and more.

use super::DecodeOnly;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[];
