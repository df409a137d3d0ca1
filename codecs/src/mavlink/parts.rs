//! Parts of ROS messages as the vehicle takes them.

use rostrans_msgs::geometry_msgs::msg::{Point, Quaternion as RosQuaternion, Vector3};

use super::value::{to_f32, to_f32s};
use crate::frames::{Enu, Flu, Quaternion};

/// ENU to NED.
pub(super) fn ned(v: [f64; 3]) -> [f32; 3] {
    to_f32s(Enu(v).to_ned().0)
}

/// FLU to FRD.
pub(super) fn frd(v: [f64; 3]) -> [f32; 3] {
    to_f32s(Flu(v).to_frd().0)
}

/// A rotation as it is.
pub(super) fn rotation(q: &RosQuaternion) -> Quaternion {
    Quaternion { w: q.w, x: q.x, y: q.y, z: q.z }
}

/// FLU in ENU to FRD in NED.
pub(super) fn attitude(q: &RosQuaternion) -> Quaternion {
    rotation(q).swap_attitude()
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
pub(super) fn xyz(v: &Vector3) -> [f64; 3] {
    [v.x, v.y, v.z]
}
