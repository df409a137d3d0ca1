//! What else MAVROS bridges: GPS status and corrections, gimbals, HIL, ADS-B, ESCs, debug values, and more.
//!
//! Most of it copies fields between messages; `relay` has what these codecs share.

use super::DecodeOnly;

mod adsb;
mod companion;
mod debug_value;
mod esc;
mod gimbal;
mod gps;
mod hil;
mod mag_calibration;
mod mount;
mod open_drone_id;
mod sink;
mod target;
mod telemetry;
mod trajectory;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[
    telemetry::WIND,
    telemetry::NAV_CONTROLLER_OUTPUT,
    telemetry::RADIO,
    telemetry::STATUS_EVENT,
    telemetry::MANUAL_CONTROL,
    telemetry::ACTUATOR_TARGET,
    target::CODEC,
    gps::STATUS,
    gps::RTK,
    mount::CODEC,
    gimbal::CODEC,
    esc::STATUS,
    esc::TELEMETRY,
    debug_value::CODEC,
    adsb::CODEC,
    hil::CODEC,
    trajectory::CODEC,
    mag_calibration::CODEC,
    open_drone_id::CODEC,
    companion::PROCESS,
    companion::COMPUTER,
    companion::CELLULAR,
    companion::TUNE,
    companion::TUNNEL,
    sink::CODEC,
];
