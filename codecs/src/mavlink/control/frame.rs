//! The frame that setpoints are given in (`mav_frame`).

use rostrans_core::codec::CodecError;

use crate::{
    frames::{Enu, Flu, Quaternion, swap_yaw},
    mavlink::value::to_f32s,
    options::Options,
};

/// Option of codecs whose frame is a parameter.
pub(super) const MAV_FRAME: (&str, &str) =
    ("mav_frame", "MAV_FRAME of the setpoints, e.g. LOCAL_NED, BODY_NED; default LOCAL_NED");

/// A `MAV_FRAME`, as a setpoint names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MavFrame(pub(super) u8);

impl MavFrame {
    pub(super) const LOCAL_NED: Self = Self(1);

    /// The option `mav_frame`.
    pub(super) fn of(options: &Options<'_>) -> Result<Self, CodecError> {
        Ok(options.choice("mav_frame", NAMES)?.map_or(Self::LOCAL_NED, Self))
    }

    /// Body frames: vectors are FLU on the ROS side and FRD on the vehicle's; in all others ENU and NED.
    pub(super) fn is_body(self) -> bool {
        matches!(self.0, 8 | 9)
    }

    /// A vector as the vehicle takes it.
    pub(super) fn vector(self, v: [f64; 3]) -> [f32; 3] {
        to_f32s(if self.is_body() { Flu(v).to_frd().0 } else { Enu(v).to_ned().0 })
    }

    /// A yaw as the vehicle takes it, within ±π in local frames.
    pub(super) fn yaw(self, yaw: f64) -> f64 {
        if self.is_body() { -yaw } else { swap_yaw(yaw) }
    }

    /// The yaw of an attitude as the vehicle takes it.
    pub(super) fn yaw_of(self, q: Quaternion) -> f64 {
        let [.., yaw] = if self.is_body() { q.swap_base() } else { q.swap_attitude() }.to_rpy();
        yaw
    }
}

/// Names of `MAV_FRAME`; the first is the default.
pub(in crate::mavlink) const NAMES: &[(&str, u8)] = &[
    ("LOCAL_NED", 1),
    ("GLOBAL", 0),
    ("MISSION", 2),
    ("GLOBAL_RELATIVE_ALT", 3),
    ("LOCAL_ENU", 4),
    ("GLOBAL_INT", 5),
    ("GLOBAL_RELATIVE_ALT_INT", 6),
    ("LOCAL_OFFSET_NED", 7),
    ("BODY_NED", 8),
    ("BODY_OFFSET_NED", 9),
    ("GLOBAL_TERRAIN_ALT", 10),
    ("GLOBAL_TERRAIN_ALT_INT", 11),
    ("BODY_FRD", 12),
    ("LOCAL_FRD", 20),
    ("LOCAL_FLU", 21),
];
