//! Positions and attitudes of ROS as the vehicle takes them.

use rostrans_msgs::geometry_msgs::msg::{Point, Quaternion as RosQuaternion, Vector3};

use crate::{
    frames::{Enu, Flu, Quaternion},
    mavlink::value::{to_f32, to_f32s},
};

/// ENU to NED.
pub(super) fn ned(v: [f64; 3]) -> [f32; 3] {
    to_f32s(Enu(v).to_ned().0)
}

/// FLU to FRD.
pub(super) fn frd(v: [f64; 3]) -> [f32; 3] {
    to_f32s(Flu(v).to_frd().0)
}

/// FLU in ENU to FRD in NED.
pub(super) fn attitude(q: &RosQuaternion) -> Quaternion {
    Quaternion { w: q.w, x: q.x, y: q.y, z: q.z }.swap_attitude()
}

/// MAVLink's order and precision.
pub(super) fn wxyz(q: Quaternion) -> [f32; 4] {
    [q.w, q.x, q.y, q.z].map(to_f32)
}

/// Components.
pub(super) fn point(p: &Point) -> [f64; 3] {
    [p.x, p.y, p.z]
}

/// Components.
pub(super) fn vector(v: &Vector3) -> [f64; 3] {
    [v.x, v.y, v.z]
}
