//! External position and motion, and sensors in both directions.

use super::DecodeOnly;

mod gps_input;
mod odometry;
mod pose;
mod sensor;
mod vision;

/// The codecs of this module.
pub(super) const CODECS: &[DecodeOnly] = &[
    vision::POSE,
    vision::SPEED,
    vision::MOCAP,
    odometry::CODEC,
    gps_input::CODEC,
    sensor::VIBRATION,
    sensor::RANGEFINDER,
    sensor::TERRAIN,
    sensor::CAM_IMU_SYNC,
    sensor::CAMERA,
];
