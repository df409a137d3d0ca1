//! `mavlink.rc_override`, `mavlink.manual_control_send`, `mavlink.actuator_control`, `mavlink.statustext_send`.

use rostrans_core::codec::{CodecError, CodecInfo, Decoder};
use rostrans_msgs::mavros_msgs::msg::{
    ActuatorControl, ManualControl as RosManualControl, OverrideRCIn, StatusText,
};

use crate::mavlink::{
    DecodeOnly,
    dialect::{ManualControl, RcChannelsOverride, SetActuatorControlTarget, Statustext},
    relay::{Relay, TALKS, copy, input},
    uas::MavContext,
    value::{chars_nul, time_usec, zero},
};

/// `rc/override`: 18 channels in microseconds. Channels 1 to 8: 0 gives the channel back, 65535 leaves it; 9 to 18: 0 or
/// 65535 leaves it, 65534 gives it back. Vehicles drop an override that is not repeated.
///
/// Source: MAVLink common, RC_CHANNELS_OVERRIDE (70).
pub(super) const RC_OVERRIDE: DecodeOnly = DecodeOnly::new(&RC_INFO, rc_override);

const RC_INFO: CodecInfo = CodecInfo {
    name: "mavlink.rc_override",
    doc: "remote control channels in place of the transmitter's",
    inputs: &[input::<OverrideRCIn>("override", 10)],
    ..TALKS
};

fn rc_override(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &RC_INFO)?
        .hear(|ros: &OverrideRCIn, to| {
            let (target_system, target_component) = to.target();
            let [
                chan1_raw,
                chan2_raw,
                chan3_raw,
                chan4_raw,
                chan5_raw,
                chan6_raw,
                chan7_raw,
                chan8_raw,
                chan9_raw,
                chan10_raw,
                chan11_raw,
                chan12_raw,
                chan13_raw,
                chan14_raw,
                chan15_raw,
                chan16_raw,
                chan17_raw,
                chan18_raw,
            ] = ros.channels;
            to.send(&RcChannelsOverride {
                target_system,
                target_component,
                chan1_raw,
                chan2_raw,
                chan3_raw,
                chan4_raw,
                chan5_raw,
                chan6_raw,
                chan7_raw,
                chan8_raw,
                chan9_raw,
                chan10_raw,
                chan11_raw,
                chan12_raw,
                chan13_raw,
                chan14_raw,
                chan15_raw,
                chan16_raw,
                chan17_raw,
                chan18_raw,
            });
            Ok(())
        })
        .done()
}

/// `manual_control/send`: stick positions -1000 to 1000, thrust `z` 0 to 1000, as MAVLink has them; the fraction is cut.
///
/// Source: MAVLink common, MANUAL_CONTROL (69).
pub(super) const MANUAL_CONTROL: DecodeOnly = DecodeOnly::new(&MANUAL_INFO, manual_control);

const MANUAL_INFO: CodecInfo = CodecInfo {
    name: "mavlink.manual_control_send",
    doc: "stick positions of a joystick",
    inputs: &[input::<RosManualControl>("send", 10)],
    ..TALKS
};

fn manual_control(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &MANUAL_INFO)?
        .hear(|ros: &RosManualControl, to| {
            let (target, _) = to.target();
            let mut m = ManualControl { target, ..zero() };
            copy!(ros => m; buttons, buttons2, enabled_extensions);
            [m.x, m.y, m.z, m.r, m.s, m.t] = [ros.x, ros.y, ros.z, ros.r, ros.s, ros.t].map(cut);
            [m.aux1, m.aux2, m.aux3] = [ros.aux1, ros.aux2, ros.aux3].map(cut);
            [m.aux4, m.aux5, m.aux6] = [ros.aux4, ros.aux5, ros.aux6].map(cut);
            to.send(&m);
            Ok(())
        })
        .done()
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and NaN is 0")]
fn cut(value: f32) -> i16 {
    value as i16
}

/// `actuator_control`: eight numbers, -1 to 1, for a group of actuators.
///
/// Source: MAVLink common, SET_ACTUATOR_CONTROL_TARGET (139).
pub(super) const ACTUATOR_CONTROL: DecodeOnly = DecodeOnly::new(&ACTUATOR_INFO, actuator_control);

const ACTUATOR_INFO: CodecInfo = CodecInfo {
    name: "mavlink.actuator_control",
    doc: "numbers for a group of actuators",
    inputs: &[input::<ActuatorControl>("actuator_control", 5)],
    ..TALKS
};

fn actuator_control(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &ACTUATOR_INFO)?
        .hear(|ros: &ActuatorControl, to| {
            let (target_system, target_component) = to.target();
            to.send(&SetActuatorControlTarget {
                time_usec: time_usec(&ros.header),
                controls: ros.controls,
                group_mlx: ros.group_mix,
                target_system,
                target_component,
            });
            Ok(())
        })
        .done()
}

/// `statustext/send`: 49 bytes of text at most, cut between characters.
///
/// Source: MAVLink common, STATUSTEXT (253).
pub(super) const STATUSTEXT: DecodeOnly = DecodeOnly::new(&STATUSTEXT_INFO, statustext);

const STATUSTEXT_INFO: CodecInfo = CodecInfo {
    name: "mavlink.statustext_send",
    doc: "texts for the vehicle and its ground station",
    inputs: &[input::<StatusText>("send", 5)],
    ..TALKS
};

fn statustext(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &STATUSTEXT_INFO)?
        .hear(|ros: &StatusText, to| {
            to.send(&Statustext { severity: ros.severity, text: chars_nul(&ros.text), ..zero() });
            Ok(())
        })
        .done()
}
