//! Small conversions from MAVLink's units, and those into ROS message parts.

pub(super) use crate::ros::{header, point, quaternion, stamp, vector3};

/// MAVLink degrees times 1e7 as degrees.
pub(super) fn degrees(e7: i32) -> f64 {
    f64::from(e7) / 1e7
}

/// MAVLink millimetres as metres.
pub(super) fn metres(mm: i32) -> f64 {
    f64::from(mm) / 1e3
}
