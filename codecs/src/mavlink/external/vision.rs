//! `mavlink.vision_pose`, `mavlink.vision_speed` and `mavlink.mocap`: where cameras see the vehicle.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use rostrans_core::codec::{CodecError, CodecInfo, Decoder};
use rostrans_msgs::{
    geometry_msgs::msg::{
        Pose, PoseStamped, PoseWithCovarianceStamped, TransformStamped, TwistStamped,
        TwistWithCovarianceStamped, Vector3, Vector3Stamped,
    },
    std_msgs::msg::Header,
};

use crate::{
    frames::{Cov3, Cov6},
    mavlink::{
        DecodeOnly,
        dialect::{AttPosMocap, VisionPositionEstimate, VisionSpeedEstimate},
        parts::{attitude, ned, point, wxyz, xyz},
        relay::{Relay, TALKS, Wire, input},
        uas::MavContext,
        value::{time_usec, to_f32, to_f32s, zero},
    },
};

/// `vision_pose/pose` and `vision_pose/pose_cov` to VISION_POSITION_ESTIMATE.
///
/// **Frame**: ENU on the ROS side; `frame_id` is not looked at. A pose with the stamp of the one before is the same
/// once more and left out.
///
/// Source: MAVLink common, VISION_POSITION_ESTIMATE (102).
pub(super) const POSE: DecodeOnly = DecodeOnly::new(&POSE_INFO, pose);

const POSE_INFO: CodecInfo = CodecInfo {
    name: "mavlink.vision_pose",
    doc: "poses that cameras see, to the vehicle",
    inputs: &[input::<PoseStamped>("pose", 10), input::<PoseWithCovarianceStamped>("pose_cov", 10)],
    ..TALKS
};

fn pose(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    // The stamp of the last pose; both topics count.
    let last = Arc::new(AtomicU64::new(u64::MAX));
    let last_cov = Arc::clone(&last);
    Relay::new(cx, &POSE_INFO)?
        .hear(move |m: &PoseStamped, to| {
            send_pose(&m.header, &m.pose, [0.0; 36], &last, to);
            Ok(())
        })
        .hear(move |m: &PoseWithCovarianceStamped, to| {
            send_pose(&m.header, &m.pose.pose, m.pose.covariance, &last_cov, to);
            Ok(())
        })
        .done()
}

fn send_pose(header: &Header, pose: &Pose, covariance: [f64; 36], last: &AtomicU64, to: &mut Wire<'_, '_>) {
    let usec = time_usec(header);
    if last.swap(usec, Relaxed) == usec {
        return;
    }
    let [x, y, z] = ned(point(&pose.position));
    let [roll, pitch, yaw] = to_f32s(attitude(&pose.orientation).to_rpy());
    let covariance = Cov6(covariance).swap_level().to_upper();
    to.send(&VisionPositionEstimate { usec, x, y, z, roll, pitch, yaw, covariance, reset_counter: 0 });
}

/// `vision_speed/speed_twist`, `speed_twist_cov` and `speed_vector` to VISION_SPEED_ESTIMATE.
///
/// **Frame**: ENU on the ROS side, m/s. MAVROS reads one of the three topics, which a parameter chooses.
///
/// Source: MAVLink common, VISION_SPEED_ESTIMATE (103).
pub(super) const SPEED: DecodeOnly = DecodeOnly::new(&SPEED_INFO, speed);

const SPEED_INFO: CodecInfo = CodecInfo {
    name: "mavlink.vision_speed",
    doc: "velocities that cameras see, to the vehicle",
    inputs: &[
        input::<TwistStamped>("speed_twist", 10),
        input::<TwistWithCovarianceStamped>("speed_twist_cov", 10),
        input::<Vector3Stamped>("speed_vector", 10),
    ],
    ..TALKS
};

fn speed(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    const UNKNOWN: Cov3 = Cov3([0.0; 9]);
    Relay::new(cx, &SPEED_INFO)?
        .hear(|m: &TwistStamped, to| {
            send_speed(&m.header, &m.twist.linear, UNKNOWN, to);
            Ok(())
        })
        .hear(|m: &TwistWithCovarianceStamped, to| {
            let full = &m.twist.covariance;
            let linear = std::array::from_fn(|i| full.get(i / 3 * 6 + i % 3).copied().unwrap_or(0.0));
            send_speed(&m.header, &m.twist.twist.linear, Cov3(linear), to);
            Ok(())
        })
        .hear(|m: &Vector3Stamped, to| {
            send_speed(&m.header, &m.vector, UNKNOWN, to);
            Ok(())
        })
        .done()
}

fn send_speed(header: &Header, velocity: &Vector3, covariance: Cov3, to: &mut Wire<'_, '_>) {
    let [x, y, z] = ned(xyz(velocity));
    let covariance = covariance.swap_level().0.map(to_f32);
    to.send(&VisionSpeedEstimate { usec: time_usec(header), x, y, z, covariance, reset_counter: 0 });
}

/// `mocap/pose` and `mocap/tf` to ATT_POS_MOCAP.
///
/// **Frame**: ENU on the ROS side.
///
/// Source: MAVLink common, ATT_POS_MOCAP (138).
pub(super) const MOCAP: DecodeOnly = DecodeOnly::new(&MOCAP_INFO, mocap);

const MOCAP_INFO: CodecInfo = CodecInfo {
    name: "mavlink.mocap",
    doc: "poses of a motion capture system, to the vehicle",
    inputs: &[input::<PoseStamped>("pose", 1), input::<TransformStamped>("tf", 1)],
    ..TALKS
};

fn mocap(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &MOCAP_INFO)?
        .hear(|m: &PoseStamped, to| {
            let ([x, y, z], q) = (ned(point(&m.pose.position)), wxyz(attitude(&m.pose.orientation)));
            to.send(&AttPosMocap { time_usec: time_usec(&m.header), q, x, y, z, ..zero() });
            Ok(())
        })
        .hear(|m: &TransformStamped, to| {
            let t = &m.transform;
            let ([x, y, z], q) = (ned(xyz(&t.translation)), wxyz(attitude(&t.rotation)));
            to.send(&AttPosMocap { time_usec: time_usec(&m.header), q, x, y, z, ..zero() });
            Ok(())
        })
        .done()
}
