//! External position and motion, and sensors in both directions.

use super::DecodeOnly;

mod distance_sensor;
mod flow;
mod gps_input;
mod landing_target;
mod obstacle;
mod odometry;
mod orientation;
mod sensor;
mod tf_static;
mod vision;
mod wheel_odometry;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[
    vision::POSE,
    vision::SPEED,
    vision::MOCAP,
    odometry::IN,
    odometry::OUT,
    gps_input::CODEC,
    landing_target::CODEC,
    obstacle::CODEC,
    distance_sensor::CODEC,
    flow::PX4FLOW,
    flow::OPTICAL_FLOW,
    tf_static::CODEC,
    wheel_odometry::CODEC,
    sensor::VIBRATION,
    sensor::RANGEFINDER,
    sensor::TERRAIN,
    sensor::CAM_IMU_SYNC,
    sensor::CAMERA,
];
