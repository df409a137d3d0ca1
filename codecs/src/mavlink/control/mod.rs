//! Topics that steer the vehicle: setpoints, RC override, manual control, actuators.
//!
//! One ROS message is one MAVLink message, sent at once; nothing is repeated and nothing invented.

use super::DecodeOnly;

mod attitude;
pub(super) mod frame;
mod manual;
mod origin;
mod position;
mod raw;
mod to_local;
mod trajectory;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[
    position::POSITION,
    position::VELOCITY,
    position::ACCELERATION,
    to_local::CODEC,
    attitude::CODEC,
    raw::CODEC,
    trajectory::CODEC,
    manual::RC_OVERRIDE,
    manual::MANUAL_CONTROL,
    manual::ACTUATOR_CONTROL,
    manual::STATUSTEXT,
    origin::GP_ORIGIN,
    origin::HOME,
];
