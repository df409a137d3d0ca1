//! Coordinate frames: NED and ENU, FRD and FLU, quaternions, covariances, geodesy.
//!
//! | frame | axes |
//! |---|---|
//! | NED, ENU | local level: x north, y east, z down; x east, y north, z up |
//! | FRD, FLU | body fixed: x forward, y right, z down; x forward, y left, z up |
//!
//! MAVLink speaks NED and FRD, ROS speaks ENU and FLU (REP-103). The newtypes keep the two apart; this is the
//! only file that converts. Angles are radians, quaternions are Hamilton, active, body to world. Axes are turned by subtraction
//! from 0, not by a minus sign: a vehicle on the ground is at height 0, not at -0.
//!
//! ```
//! use rostrans_codecs::frames::{Enu, Ned};
//! assert_eq!(Ned([10.0, 20.0, -5.0]).to_enu(), Enu([20.0, 10.0, 5.0]));
//! ```

mod cov6;

pub use cov6::Cov6;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI, TAU};

/// North, east, down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ned<T>(pub T);

/// East, north, up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Enu<T>(pub T);

/// Forward, right, down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frd<T>(pub T);

/// Forward, left, up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flu<T>(pub T);

impl Ned<[f64; 3]> {
    /// The same vector in ENU.
    pub fn to_enu(self) -> Enu<[f64; 3]> {
        let [x, y, z] = self.0;
        Enu([y, x, 0.0 - z])
    }
}

impl Enu<[f64; 3]> {
    /// The same vector in NED.
    pub fn to_ned(self) -> Ned<[f64; 3]> {
        let [x, y, z] = self.0;
        Ned([y, x, 0.0 - z])
    }
}

impl Frd<[f64; 3]> {
    /// The same vector in FLU.
    pub fn to_flu(self) -> Flu<[f64; 3]> {
        let [x, y, z] = self.0;
        Flu([x, 0.0 - y, 0.0 - z])
    }
}

impl Flu<[f64; 3]> {
    /// The same vector in FRD.
    pub fn to_frd(self) -> Frd<[f64; 3]> {
        let [x, y, z] = self.0;
        Frd([x, 0.0 - y, 0.0 - z])
    }
}

/// A symmetric 3x3 covariance, row-major.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cov3(pub [f64; 9]);

impl Cov3 {
    /// A diagonal matrix.
    pub fn diagonal(xx: f64, yy: f64, zz: f64) -> Self {
        Self([xx, 0.0, 0.0, 0.0, yy, 0.0, 0.0, 0.0, zz])
    }

    /// `diag(stdev²)`, or element 0 = -1 ("unknown" in ROS) when `stdev` is 0.
    pub fn from_stdev(stdev: f64) -> Self {
        if stdev == 0.0 {
            return Self([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        }
        let variance = stdev * stdev;
        Self::diagonal(variance, variance, variance)
    }

    /// The variances alone.
    pub fn only_diagonal(self) -> Self {
        let [xx, _, _, _, yy, _, _, _, zz] = self.0;
        Self::diagonal(xx, yy, zz)
    }

    /// NED to ENU or back: swaps the first two axes and turns the third.
    pub fn swap_level(self) -> Self {
        let [xx, xy, xz, yx, yy, yz, zx, zy, zz] = self.0;
        Self([yy, yx, -yz, xy, xx, -xz, -zy, -zx, zz])
    }

    /// World to body axes: `Rᵀ·C·R` with `R` the rotation of `attitude`.
    pub fn into_body(self, attitude: Quaternion) -> Self {
        // Rotating the columns, then the rows of the transposed result, is Rᵀ·C·R.
        let columns = self.rotate_columns(attitude).transposed();
        columns.rotate_columns(attitude).transposed()
    }

    fn rotate_columns(self, attitude: Quaternion) -> Self {
        let [a, b, c, d, e, f, g, h, i] = self.0;
        let [a, d, g] = attitude.rotate_back([a, d, g]);
        let [b, e, h] = attitude.rotate_back([b, e, h]);
        let [c, f, i] = attitude.rotate_back([c, f, i]);
        Self([a, b, c, d, e, f, g, h, i])
    }

    fn transposed(self) -> Self {
        let [a, b, c, d, e, f, g, h, i] = self.0;
        Self([a, d, g, b, e, h, c, f, i])
    }

    /// A 6x6 matrix with this as its upper left block and `lower` as its lower right one; the rest is zero.
    pub fn to_6x6(self, lower: Self) -> [f64; 36] {
        let [a, b, c, d, e, f, g, h, i] = self.0;
        let [j, k, l, m, n, o, p, q, r] = lower.0;
        let rows = [
            [a, b, c, 0.0, 0.0, 0.0],
            [d, e, f, 0.0, 0.0, 0.0],
            [g, h, i, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, j, k, l],
            [0.0, 0.0, 0.0, m, n, o],
            [0.0, 0.0, 0.0, p, q, r],
        ];
        let mut out = [0.0; 36];
        out.iter_mut().zip(rows.as_flattened()).for_each(|(to, from)| *to = *from);
        out
    }
}

/// A rotation; `w` is the scalar part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quaternion {
    /// Scalar part.
    pub w: f64,
    /// First axis.
    pub x: f64,
    /// Second axis.
    pub y: f64,
    /// Third axis.
    pub z: f64,
}

impl Quaternion {
    /// No rotation.
    pub const IDENTITY: Self = Self { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };

    /// MAVLink's order.
    pub fn from_wxyz([w, x, y, z]: [f64; 4]) -> Self {
        Self { w, x, y, z }
    }

    /// `Rz(yaw)·Ry(pitch)·Rx(roll)`.
    pub fn from_rpy(roll: f64, pitch: f64, yaw: f64) -> Self {
        let ((sr, cr), (sp, cp), (sy, cy)) =
            ((roll / 2.0).sin_cos(), (pitch / 2.0).sin_cos(), (yaw / 2.0).sin_cos());
        Self {
            w: cr * cp * cy + sr * sp * sy,
            x: sr * cp * cy - cr * sp * sy,
            y: cr * sp * cy + sr * cp * sy,
            z: cr * cp * sy - sr * sp * cy,
        }
    }

    /// Roll, pitch and yaw; pitch lies within ±π/2.
    pub fn to_rpy(self) -> [f64; 3] {
        let Self { w, x, y, z } = self;
        let roll = (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y));
        let pitch = (2.0 * (w * y - z * x)).clamp(-1.0, 1.0).asin();
        let yaw = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
        [roll, pitch, yaw]
    }

    /// FRD in NED to FLU in ENU, or back: the world and the body side both change.
    pub fn swap_attitude(self) -> Self {
        let Self { w, x, y, z } = self;
        Self {
            w: FRAC_1_SQRT_2 * (w + z),
            x: FRAC_1_SQRT_2 * (x + y),
            y: FRAC_1_SQRT_2 * (x - y),
            z: FRAC_1_SQRT_2 * (w - z),
        }
    }

    /// NED to ENU on the world side only; the body axes stay.
    pub fn swap_world(self) -> Self {
        let Self { w, x, y, z } = self;
        Self {
            w: -FRAC_1_SQRT_2 * (x + y),
            x: FRAC_1_SQRT_2 * (w + z),
            y: FRAC_1_SQRT_2 * (w - z),
            z: FRAC_1_SQRT_2 * (y - x),
        }
    }

    /// The same attitude relative to a body of the other convention, forward-left-up or forward-right-down, instead
    /// of the world.
    pub fn swap_base(self) -> Self {
        let Self { w, x, y, z } = self;
        Self { w: -x, x: w, y: -z, z: y }
    }

    /// MAVLink's order.
    pub fn to_wxyz(self) -> [f64; 4] {
        [self.w, self.x, self.y, self.z]
    }

    /// FRD to FLU or back on the body side only; the world axes stay.
    pub fn swap_body(self) -> Self {
        let Self { w, x, y, z } = self;
        Self { w: -x, x: w, y: z, z: -y }
    }

    /// A body vector in world axes.
    pub fn rotate(self, v: [f64; 3]) -> [f64; 3] {
        let Self { w, x, y, z } = self;
        let [vx, vy, vz] = v;
        let (tx, ty, tz) = (2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx));
        [vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz, vz + w * tz + x * ty - y * tx]
    }

    /// A world vector in body axes.
    pub fn rotate_back(self, v: [f64; 3]) -> [f64; 3] {
        Self { w: self.w, x: -self.x, y: -self.y, z: -self.z }.rotate(v)
    }
}

/// Yaw counted from north clockwise to yaw counted from east anticlockwise, or back; within ±π.
pub fn swap_yaw(yaw: f64) -> f64 {
    let turned = (FRAC_PI_2 - yaw).rem_euclid(TAU);
    if turned > PI { turned - TAU } else { turned }
}

/// A point on or above the WGS-84 ellipsoid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Geodetic {
    /// Degrees, north positive.
    pub latitude_deg: f64,
    /// Degrees, east positive.
    pub longitude_deg: f64,
    /// Metres above the ellipsoid.
    pub height_m: f64,
}

impl Geodetic {
    /// Earth-centred, earth-fixed coordinates in metres.
    pub fn to_ecef(self) -> [f64; 3] {
        let e2 = WGS84_F * (2.0 - WGS84_F);
        let (sin_lat, cos_lat) = self.latitude_deg.to_radians().sin_cos();
        let (sin_lon, cos_lon) = self.longitude_deg.to_radians().sin_cos();
        let normal = WGS84_A / (1.0 - e2 * sin_lat * sin_lat).sqrt();
        [
            (normal + self.height_m) * cos_lat * cos_lon,
            (normal + self.height_m) * cos_lat * sin_lon,
            (normal * (1.0 - e2) + self.height_m) * sin_lat,
        ]
    }

    /// Where this point lies as seen from `origin`, in metres.
    pub fn relative_to(self, origin: Self) -> Enu<[f64; 3]> {
        let ([x, y, z], [ox, oy, oz]) = (self.to_ecef(), origin.to_ecef());
        let (dx, dy, dz) = (x - ox, y - oy, z - oz);
        let (sin_lat, cos_lat) = origin.latitude_deg.to_radians().sin_cos();
        let (sin_lon, cos_lon) = origin.longitude_deg.to_radians().sin_cos();
        let outward = cos_lon * dx + sin_lon * dy;
        Enu([cos_lon * dy - sin_lon * dx, cos_lat * dz - sin_lat * outward, cos_lat * outward + sin_lat * dz])
    }
}

/// Equatorial radius of WGS-84 in metres.
const WGS84_A: f64 = 6_378_137.0;
/// Flattening of WGS-84.
const WGS84_F: f64 = 1.0 / 298.257_223_563;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(a: [f64; 3], b: [f64; 3], eps: f64) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < eps)
    }

    fn same_rotation(a: Quaternion, b: Quaternion) -> bool {
        ((a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z).abs() - 1.0).abs() < 1e-5
    }

    #[test]
    fn attitudes_of_the_reference_convert() {
        let cases = [
            ([0.0, 0.0, 0.0], [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2], [0.0, 0.0, FRAC_PI_2]),
            ([0.0, 0.0, FRAC_PI_2], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
            ([0.1, 0.2, 0.3], [0.796_853, 0.099_201, -0.050_735, 0.593_811], [0.1, -0.2, 1.270_796]),
            ([0.0, 0.0, -2.0], [-0.212_958, 0.0, 0.0, 0.977_061], [0.0, 0.0, -2.712_389]),
        ];
        for ([roll, pitch, yaw], wxyz, rpy) in cases {
            let q = Quaternion::from_rpy(roll, pitch, yaw).swap_attitude();
            assert!(same_rotation(q, Quaternion::from_wxyz(wxyz)), "{q:?}");
            assert!(close(q.to_rpy(), rpy, 1e-6), "{:?}", q.to_rpy());
        }
    }

    #[test]
    fn ros_pose_becomes_mavlink_attitude() {
        let q = Quaternion::from_rpy(0.05, -0.1, 1.0);
        assert!(same_rotation(q, Quaternion::from_wxyz([0.875_613, 0.045_864, -0.031_878, 0.479_773])));
        let ned = q.swap_attitude();
        assert!(same_rotation(ned, Quaternion::from_wxyz([0.958_403, 0.009_890, 0.054_971, 0.279_901])));
        assert!(close(ned.to_rpy(), [0.05, 0.1, 0.570_796], 1e-6));
    }

    #[test]
    fn velocities_of_the_reference_convert() {
        let q = Quaternion::from_rpy(0.1, 0.2, 0.3).swap_attitude();
        let velocity = Ned([1.0, 2.0, -0.5]).to_enu();
        let rates = Frd([0.01, 0.02, 0.03]).to_flu();
        assert_eq!(velocity, Enu([2.0, 1.0, 0.5]));
        assert_eq!(rates, Flu([0.01, -0.02, -0.03]));
        assert!(close(q.rotate(rates.0), [0.020_916, 0.010_412, -0.029_225], 1e-6));
        assert!(close(q.rotate_back(velocity.0), [1.614_887, -1.588_833, 0.343_149], 1e-6));
    }

    #[test]
    fn yaws_of_the_reference_convert() {
        let cases =
            [(0.0, FRAC_PI_2), (0.5, 1.070_796), (FRAC_PI_2, 0.0), (3.0, -1.429_204), (-3.0, -1.712_389)];
        for (ros, ned) in cases {
            assert!((swap_yaw(ros) - ned).abs() < 1e-6, "{ros}");
        }
    }

    #[test]
    fn geodesy_of_the_reference_converts() {
        let origin = Geodetic { latitude_deg: 47.3667, longitude_deg: 8.55, height_m: 408.0 };
        let point = Geodetic { latitude_deg: 47.3677, longitude_deg: 8.552, height_m: 420.0 };
        assert!(close(origin.to_ecef(), [4_279_959.804_2, 643_463.169_8, 4_669_772.830_1], 1e-4));
        assert!(close(point.relative_to(origin).0, [151.075_2, 111.187_3, 11.997_2], 1e-4));
    }

    #[test]
    fn world_side_alone_is_a_product_with_the_ned_to_enu_rotation() {
        let q = Quaternion::from_wxyz([0.923_879_5, 0.0, 0.0, 0.382_683_4]);
        let expected = Quaternion { w: 0.0, x: 0.923_879_5, y: 0.382_683_4, z: 0.0 };
        assert!(same_rotation(q.swap_world(), expected));
    }

    #[test]
    fn unknown_and_known_deviations_become_covariances() {
        assert_eq!(Cov3::from_stdev(0.0).0[0], -1.0);
        assert_eq!(Cov3::from_stdev(2.0), Cov3::diagonal(4.0, 4.0, 4.0));
        let six = Cov3::diagonal(1.0, 2.0, 3.0).to_6x6(Cov3::diagonal(4.0, 5.0, 6.0));
        assert_eq!([0, 7, 14, 21, 28, 35].map(|i: usize| six[i]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    proptest! {
        #[test]
        fn conversions_are_their_own_inverse(v: [f64; 3], c: [f64; 9], r in -3.0..3.0, p in -1.5..1.5, y in -3.0..3.0) {
            prop_assume!(v.iter().chain(&c).all(|x| !x.is_nan()));
            prop_assert_eq!(Ned(v).to_enu().to_ned(), Ned(v));
            prop_assert_eq!(Frd(v).to_flu().to_frd(), Frd(v));
            prop_assert_eq!(Cov3(c).swap_level().swap_level(), Cov3(c));
            let q = Quaternion::from_rpy(r, p, y);
            prop_assert!(same_rotation(q.swap_attitude().swap_attitude(), q));
            prop_assert!(close(q.to_rpy(), [r, p, y], 1e-9));
        }

        #[test]
        fn covariance_follows_its_vector(a in -9.0..9.0, b in -9.0..9.0, c in -9.0..9.0, r in -3.0..3.0, y in -3.0..3.0) {
            // The covariance v·vᵀ must turn with v.
            let outer = |[x, y, z]: [f64; 3]| [x * x, x * y, x * z, y * x, y * y, y * z, z * x, z * y, z * z];
            let q = Quaternion::from_rpy(r, 0.4, y);
            let body = Cov3(outer([a, b, c])).into_body(q).0;
            for (got, want) in body.iter().zip(outer(q.rotate_back([a, b, c]))) {
                prop_assert!((got - want).abs() < 1e-9);
            }
            let level = Cov3(outer([a, b, c])).swap_level().0;
            prop_assert_eq!(level, outer(Ned([a, b, c]).to_enu().0));
        }
    }
}
