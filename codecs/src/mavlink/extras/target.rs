//! `mavlink.setpoint_target`: the setpoints a vehicle follows.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::mavros_msgs::msg::{
    AttitudeTarget as RosAttitudeTarget, GlobalPositionTarget, PositionTarget,
};

use crate::{
    frames::{Frd, Ned, Quaternion, swap_yaw},
    mavlink::{
        DecodeOnly,
        dialect::{AttitudeTarget, Message, PositionTargetGlobalInt, PositionTargetLocalNed},
        relay::{Relay, TELLS, copy, topic},
        ros,
        uas::MavContext,
        value::{to_f32, to_f64s},
    },
};

/// The vehicle's present setpoints to `setpoint_raw/target_local`, `target_global` and `target_attitude`.
///
/// **Frame**: positions, velocities and accelerations ENU, yaw from east, body rates FLU, attitude FLU in ENU;
/// metres, radians. `type_mask` and `coordinate_frame` are MAVLink's: what is masked out means nothing. Altitude is
/// in the frame named.
///
/// Source: MAVLink common, POSITION_TARGET_LOCAL_NED (85), POSITION_TARGET_GLOBAL_INT (87), ATTITUDE_TARGET (83).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.setpoint_target",
    doc: "the setpoints the vehicle follows",
    ports: &[
        topic::<PositionTarget>("target_local", Qos::sensor_data()),
        topic::<GlobalPositionTarget>("target_global", Qos::sensor_data()),
        topic::<RosAttitudeTarget>("target_attitude", Qos::sensor_data()),
    ],
    interest: Interest::Tags(&[PositionTargetLocalNed::ID, PositionTargetGlobalInt::ID, AttitudeTarget::ID]),
    ..TELLS
};

/// What both position targets have.
macro_rules! motion {
    ($m:expr => $target:expr, $at:expr) => {
        ros::stamp(&mut $target.header, $at.ms($m.time_boot_ms));
        copy!($m => $target; coordinate_frame, type_mask);
        $target.velocity = ros::vector3(Ned(to_f64s([$m.vx, $m.vy, $m.vz])).to_enu().0);
        $target.acceleration_or_force = ros::vector3(Ned(to_f64s([$m.afx, $m.afy, $m.afz])).to_enu().0);
        $target.yaw = to_f32(swap_yaw(f64::from($m.yaw)));
        $target.yaw_rate = -$m.yaw_rate;
    };
}

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &INFO)?
        .tell("target_local", PositionTarget::default(), |m: &PositionTargetLocalNed, target, at| {
            motion!(m => target, at);
            target.position = ros::point(Ned(to_f64s([m.x, m.y, m.z])).to_enu().0);
        })
        .tell("target_global", GlobalPositionTarget::default(), |m: &PositionTargetGlobalInt, target, at| {
            motion!(m => target, at);
            target.latitude = ros::degrees(m.lat_int);
            target.longitude = ros::degrees(m.lon_int);
            target.altitude = m.alt;
        })
        .tell("target_attitude", RosAttitudeTarget::default(), |m: &AttitudeTarget, target, at| {
            ros::stamp(&mut target.header, at.ms(m.time_boot_ms));
            let attitude = Quaternion::from_wxyz(m.q.map(f64::from)).swap_attitude();
            target.orientation = ros::quaternion(attitude);
            let rates = Frd(to_f64s([m.body_roll_rate, m.body_pitch_rate, m.body_yaw_rate])).to_flu();
            target.body_rate = ros::vector3(rates.0);
            copy!(m => target; type_mask, thrust);
        })
        .done()
}
