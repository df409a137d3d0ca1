//! Positions and attitudes between ROS and RflySim3D.

use rostrans_core::codec::{CodecContext, CodecError};
use rostrans_msgs::geometry_msgs::msg::{Point, Pose, Quaternion as RosQuaternion, Vector3};

use super::Refusal;
use crate::{
    frames::{Enu, Ned, Quaternion},
    options::Options,
    ros,
};

/// A pose in ENU as position in NED (m) and roll, pitch, yaw of FRD in NED (rad).
///
/// A quaternion of nothing but zeros, which is what ROS 1 messages begin with, stands for no rotation.
///
/// **Errors**: a value that is not finite.
pub(super) fn to_ned(pose: &Pose) -> Result<([f64; 3], [f64; 3]), Refusal> {
    let Point { x, y, z } = pose.position;
    let RosQuaternion { x: qx, y: qy, z: qz, w: qw } = pose.orientation;
    if ![x, y, z, qx, qy, qz, qw].iter().all(|value| value.is_finite()) {
        return Err(Refusal::Field("a pose has a value that is not finite"));
    }
    let length = (qw * qw + qx * qx + qy * qy + qz * qz).sqrt();
    let attitude = if length > TINY {
        Quaternion { w: qw / length, x: qx / length, y: qy / length, z: qz / length }
    } else {
        Quaternion::IDENTITY
    };
    Ok((Enu([x, y, z]).to_ned().0, attitude.swap_attitude().to_rpy()))
}

/// Shorter quaternions are no rotations.
const TINY: f64 = 1e-6;

/// Single precision, as the wire has it.
#[expect(clippy::cast_possible_truncation, reason = "the wire has single precision")]
pub(super) fn single(values: [f64; 3]) -> [f32; 3] {
    values.map(|value| value as f32)
}

/// How positions and angles in reports are to be read; it is not documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Metres and radians in NED, as in all other packets.
    Ned,
    /// Unreal's own: centimetres, x north, y east, z up; degrees.
    Ue,
}

/// The option that says so.
pub(super) const FRAME: (&str, &str) =
    ("frame", "how reports give positions: ned (m and rad, default) or ue (cm and degrees, z up)");

impl Frame {
    /// **Errors**: another word.
    pub(super) fn from_options(
        cx: &CodecContext<'_>,
        info: &rostrans_core::codec::CodecInfo,
    ) -> Result<Self, CodecError> {
        let options = Options::new(cx, info)?;
        Ok(options.choice("frame", &[("ned", Self::Ned), ("ue", Self::Ue)])?.unwrap_or(Self::Ned))
    }

    fn ned(self, [x, y, z]: [f32; 3]) -> Ned<[f64; 3]> {
        match self {
            Self::Ned => Ned([x.into(), y.into(), z.into()]),
            Self::Ue => Ned([f64::from(x) / 100.0, f64::from(y) / 100.0, 0.0 - f64::from(z) / 100.0]),
        }
    }

    /// A position, ENU, m.
    pub(super) fn point(self, position: [f32; 3]) -> Point {
        ros::point(self.ned(position).to_enu().0)
    }

    /// Half a box's size along east, north, up, m.
    pub(super) fn extent(self, extent: [f32; 3]) -> Vector3 {
        ros::vector3(self.ned(extent).to_enu().0.map(f64::abs))
    }

    /// A pose, FLU in ENU. A quaternion of zeros, or none, leaves it to the angles.
    pub(super) fn pose(self, position: [f32; 3], angles: [f32; 3], quaternion: Option<[f32; 4]>) -> Pose {
        let given = quaternion.map(|q| Quaternion::from_wxyz(q.map(f64::from)));
        let attitude = match (self, given.filter(|q| q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > 0.5)) {
            (Self::Ned, Some(quaternion)) => quaternion,
            (Self::Ned, None) => {
                let [roll, pitch, yaw] = angles.map(f64::from);
                Quaternion::from_rpy(roll, pitch, yaw)
            }
            // Unreal counts roll and pitch as NED does, and its axes are left-handed: the quaternion is not used.
            (Self::Ue, _) => {
                let [roll, pitch, yaw] = angles.map(|angle| f64::from(angle).to_radians());
                Quaternion::from_rpy(roll, pitch, yaw)
            }
        };
        Pose { position: self.point(position), orientation: ros::quaternion(attitude.swap_attitude()) }
    }
}
