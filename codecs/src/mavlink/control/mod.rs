//! Topics that steer the vehicle: setpoints, RC override, manual control, actuators.

use super::DecodeOnly;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[];
