//! Small conversions into ROS message parts.

use rostrans_core::clock::RosTime;
use rostrans_msgs::{
    geometry_msgs::msg::{Point, Quaternion as RosQuaternion, Vector3},
    std_msgs::msg::Header,
};

use crate::frames::Quaternion;

/// A header that keeps its frame; the stamp is set for each message.
pub(crate) fn header(frame_id: &str) -> Header {
    Header { frame_id: frame_id.to_owned(), ..Header::default() }
}

/// Sets the stamp.
pub(crate) fn stamp(header: &mut Header, at: RosTime) {
    header.stamp.sec = at.sec();
    header.stamp.nanosec = at.nanosec();
}

pub(crate) fn vector3([x, y, z]: [f64; 3]) -> Vector3 {
    Vector3 { x, y, z }
}

pub(crate) fn point([x, y, z]: [f64; 3]) -> Point {
    Point { x, y, z }
}

pub(crate) fn quaternion(q: Quaternion) -> RosQuaternion {
    RosQuaternion { x: q.x, y: q.y, z: q.z, w: q.w }
}
