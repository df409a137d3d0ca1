//! `mavlink.setpoint_position`, `mavlink.setpoint_velocity`, `mavlink.setpoint_accel`.

use rostrans_core::codec::{CodecError, CodecInfo, Decoder};
use rostrans_msgs::{
    geographic_msgs::msg::GeoPoseStamped,
    geometry_msgs::msg::{PoseStamped, Twist, TwistStamped, Vector3Stamped},
};

use super::frame::{MAV_FRAME, MavFrame};
use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{SetPositionTargetGlobalInt, SetPositionTargetLocalNed},
        parts::{point, rotation, xyz},
        relay::{Relay, TALKS, Wire, input},
        uas::MavContext,
        value::{boot_ms, time_boot_ms, to_e7, to_f32, zero},
        vehicle,
    },
    options::Options,
};

/// `setpoint_position/local` and `setpoint_position/global` to position targets with a yaw.
///
/// **Frame**: ENU metres from the EKF's origin and an attitude FLU in ENU; with a body `mav_frame`, FLU metres from the
/// vehicle. Latitude and longitude in degrees, altitude in metres above mean sea level, passed as it is.
///
/// Source: MAVLink common, SET_POSITION_TARGET_LOCAL_NED (84), SET_POSITION_TARGET_GLOBAL_INT (86).
pub(super) const POSITION: DecodeOnly = DecodeOnly::new(&POSITION_INFO, position);

const POSITION_INFO: CodecInfo = CodecInfo {
    name: "mavlink.setpoint_position",
    doc: "positions to fly to",
    inputs: &[input::<PoseStamped>("local", 5), input::<GeoPoseStamped>("global", 5)],
    options: &[vehicle::SYSID, MAV_FRAME],
    ..TALKS
};

fn position(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let frame = MavFrame::of(&Options::new(cx, &POSITION_INFO)?)?;
    Relay::new(cx, &POSITION_INFO)?
        .hear(move |pose: &PoseStamped, to| {
            let position = point(&pose.pose.position);
            let yaw = frame.yaw_of(rotation(&pose.pose.orientation));
            to.send(&position_target(to, time_boot_ms(&pose.header), frame, position, yaw));
            Ok(())
        })
        .hear(|pose: &GeoPoseStamped, to| {
            let (target_system, target_component) = to.target();
            let position = &pose.pose.position;
            to.send(&SetPositionTargetGlobalInt {
                time_boot_ms: time_boot_ms(&pose.header),
                target_system,
                target_component,
                coordinate_frame: GLOBAL_INT,
                type_mask: IGNORE_VELOCITY | IGNORE_ACCELERATION,
                lat_int: to_e7(position.latitude),
                lon_int: to_e7(position.longitude),
                alt: to_f32(position.altitude),
                yaw: to_f32(MavFrame::LOCAL_NED.yaw_of(rotation(&pose.pose.orientation))),
                ..zero()
            });
            Ok(())
        })
        .done()
}

/// A position and a yaw.
pub(super) fn position_target(
    to: &Wire<'_, '_>,
    time_boot_ms: u32,
    frame: MavFrame,
    position: [f64; 3],
    yaw: f64,
) -> SetPositionTargetLocalNed {
    let [x, y, z] = frame.vector(position);
    SetPositionTargetLocalNed {
        type_mask: IGNORE_VELOCITY | IGNORE_ACCELERATION | IGNORE_YAW_RATE,
        x,
        y,
        z,
        yaw: to_f32(yaw),
        ..target(to, time_boot_ms, frame)
    }
}

/// A target of nothing yet.
pub(super) fn target(to: &Wire<'_, '_>, time_boot_ms: u32, frame: MavFrame) -> SetPositionTargetLocalNed {
    let (target_system, target_component) = to.target();
    SetPositionTargetLocalNed {
        time_boot_ms,
        target_system,
        target_component,
        coordinate_frame: frame.0,
        ..zero()
    }
}

/// `setpoint_velocity/cmd_vel` and `setpoint_velocity/cmd_vel_unstamped` to velocity targets with a yaw rate.
///
/// **Frame**: ENU metres a second, or FLU with a body `mav_frame`; `angular.z` in radians a second, anticlockwise.
///
/// Source: MAVLink common, SET_POSITION_TARGET_LOCAL_NED (84).
pub(super) const VELOCITY: DecodeOnly = DecodeOnly::new(&VELOCITY_INFO, velocity);

const VELOCITY_INFO: CodecInfo = CodecInfo {
    name: "mavlink.setpoint_velocity",
    doc: "velocities to fly with",
    inputs: &[input::<TwistStamped>("cmd_vel", 5), input::<Twist>("cmd_vel_unstamped", 5)],
    options: &[vehicle::SYSID, MAV_FRAME],
    ..TALKS
};

fn velocity(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let frame = MavFrame::of(&Options::new(cx, &VELOCITY_INFO)?)?;
    Relay::new(cx, &VELOCITY_INFO)?
        .hear(move |twist: &TwistStamped, to| {
            send_velocity(&twist.twist, time_boot_ms(&twist.header), frame, to);
            Ok(())
        })
        .hear(move |twist: &Twist, to| {
            send_velocity(twist, boot_ms(to.now()), frame, to);
            Ok(())
        })
        .done()
}

fn send_velocity(twist: &Twist, time_boot_ms: u32, frame: MavFrame, to: &mut Wire<'_, '_>) {
    let [vx, vy, vz] = frame.vector(xyz(&twist.linear));
    to.send(&SetPositionTargetLocalNed {
        type_mask: IGNORE_POSITION | IGNORE_ACCELERATION | IGNORE_YAW,
        vx,
        vy,
        vz,
        yaw_rate: to_f32(-twist.angular.z),
        ..target(to, time_boot_ms, frame)
    });
}

/// `setpoint_accel/accel` to acceleration targets; with `send_force` they are forces.
///
/// **Frame**: ENU, metres a second squared or newtons.
///
/// Source: MAVLink common, SET_POSITION_TARGET_LOCAL_NED (84).
pub(super) const ACCELERATION: DecodeOnly = DecodeOnly::new(&ACCELERATION_INFO, acceleration);

const ACCELERATION_INFO: CodecInfo = CodecInfo {
    name: "mavlink.setpoint_accel",
    doc: "accelerations or forces to fly with",
    inputs: &[input::<Vector3Stamped>("accel", 5)],
    options: &[vehicle::SYSID, ("send_force", "true says that they are forces; default false")],
    ..TALKS
};

fn acceleration(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let force = if Options::new(cx, &ACCELERATION_INFO)?.flag("send_force", false)? { FORCE } else { 0 };
    Relay::new(cx, &ACCELERATION_INFO)?
        .hear(move |accel: &Vector3Stamped, to| {
            let frame = MavFrame::LOCAL_NED;
            let [afx, afy, afz] = frame.vector(xyz(&accel.vector));
            to.send(&SetPositionTargetLocalNed {
                type_mask: IGNORE_POSITION | IGNORE_VELOCITY | IGNORE_YAW | IGNORE_YAW_RATE | force,
                afx,
                afy,
                afz,
                ..target(to, time_boot_ms(&accel.header), frame)
            });
            Ok(())
        })
        .done()
}

/// `POSITION_TARGET_TYPEMASK`.
pub(super) const IGNORE_POSITION: u16 = 0x007;
pub(super) const IGNORE_VELOCITY: u16 = 0x038;
pub(super) const IGNORE_ACCELERATION: u16 = 0x1c0;
pub(super) const FORCE: u16 = 0x200;
pub(super) const IGNORE_YAW: u16 = 0x400;
pub(super) const IGNORE_YAW_RATE: u16 = 0x800;
/// `MAV_FRAME_GLOBAL_INT`.
const GLOBAL_INT: u8 = 5;
