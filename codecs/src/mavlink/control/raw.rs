//! `mavlink.setpoint_raw`: setpoints with every field in the sender's hand.

use rostrans_core::codec::{CodecError, CodecInfo, Decoder, EncodeError};
use rostrans_msgs::mavros_msgs::msg::{AttitudeTarget, GlobalPositionTarget, PositionTarget};

use super::frame::MavFrame;
use crate::{
    frames::Flu,
    mavlink::{
        DecodeOnly,
        dialect::{SetAttitudeTarget, SetPositionTargetGlobalInt, SetPositionTargetLocalNed},
        parts::{point, rotation, xyz},
        relay::{Relay, TALKS, input},
        uas::MavContext,
        value::{time_boot_ms, to_e7, to_f32, to_f32s, zero},
        vehicle,
    },
    options::Options,
};

/// `setpoint_raw/local`, `setpoint_raw/global` and `setpoint_raw/attitude`; `type_mask` and `coordinate_frame` go as they
/// are.
///
/// **Frame**: vectors ENU and yaw from east, or FLU and yaw from the nose in frames 8 and 9; body rates FLU, attitude FLU
/// in ENU; metres, radians, degrees of latitude and longitude. Thrust 0 to 1 after `thrust_scaling`.
///
/// Source: MAVLink common, SET_POSITION_TARGET_LOCAL_NED (84), SET_POSITION_TARGET_GLOBAL_INT (86), SET_ATTITUDE_TARGET
/// (82).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.setpoint_raw",
    doc: "setpoints with mask and frame of the sender",
    inputs: &[
        input::<PositionTarget>("local", 5),
        input::<GlobalPositionTarget>("global", 5),
        input::<AttitudeTarget>("attitude", 5),
    ],
    options: &[vehicle::SYSID, ("thrust_scaling", "factor for the thrust of attitudes; default 1")],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let scaling = to_f32(Options::new(cx, &INFO)?.number("thrust_scaling", 1.0)?);
    Relay::new(cx, &INFO)?
        .hear(|target: &PositionTarget, to| {
            let frame = MavFrame(target.coordinate_frame);
            let (target_system, target_component) = to.target();
            let [x, y, z] = frame.vector(point(&target.position));
            let [vx, vy, vz] = frame.vector(xyz(&target.velocity));
            let [afx, afy, afz] = frame.vector(xyz(&target.acceleration_or_force));
            to.send(&SetPositionTargetLocalNed {
                time_boot_ms: time_boot_ms(&target.header),
                target_system,
                target_component,
                coordinate_frame: frame.0,
                type_mask: target.type_mask,
                x,
                y,
                z,
                vx,
                vy,
                vz,
                afx,
                afy,
                afz,
                yaw: to_f32(frame.yaw(target.yaw.into())),
                yaw_rate: -target.yaw_rate,
            });
            Ok(())
        })
        .hear(|target: &GlobalPositionTarget, to| {
            let frame = MavFrame::LOCAL_NED;
            let (target_system, target_component) = to.target();
            let [vx, vy, vz] = frame.vector(xyz(&target.velocity));
            let [afx, afy, afz] = frame.vector(xyz(&target.acceleration_or_force));
            to.send(&SetPositionTargetGlobalInt {
                time_boot_ms: time_boot_ms(&target.header),
                target_system,
                target_component,
                coordinate_frame: target.coordinate_frame,
                type_mask: target.type_mask,
                lat_int: to_e7(target.latitude),
                lon_int: to_e7(target.longitude),
                alt: target.altitude,
                vx,
                vy,
                vz,
                afx,
                afy,
                afz,
                yaw: to_f32(frame.yaw(target.yaw.into())),
                yaw_rate: -target.yaw_rate,
            });
            Ok(())
        })
        .hear(move |target: &AttitudeTarget, to| {
            let thrust = target.thrust * scaling;
            if thrust.is_nan() {
                return Err(EncodeError::OutOfRange("thrust"));
            }
            let (target_system, target_component) = to.target();
            let [roll, pitch, yaw] = to_f32s(Flu(xyz(&target.body_rate)).to_frd().0);
            to.send(&SetAttitudeTarget {
                time_boot_ms: time_boot_ms(&target.header),
                target_system,
                target_component,
                type_mask: target.type_mask,
                q: rotation(&target.orientation).swap_attitude().to_wxyz().map(to_f32),
                body_roll_rate: roll,
                body_pitch_rate: pitch,
                body_yaw_rate: yaw,
                thrust: thrust.clamp(0.0, 1.0),
                ..zero()
            });
            Ok(())
        })
        .done()
}
