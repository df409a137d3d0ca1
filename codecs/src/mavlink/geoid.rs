//! Height of the geoid above the ellipsoid.

use super::dialect::GpsRawInt;

/// The geoid undulation N, learned from the vehicle.
///
/// MAVLink altitudes are above mean sea level, ROS heights above the WGS-84 ellipsoid: h = alt + N. GPS_RAW_INT
/// carries both, so N is their difference; before that, and with receivers that do not send it, N is 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Geoid {
    /// N in metres.
    undulation_m: f64,
    known: bool,
    /// Its absence was told.
    told: bool,
}

impl Geoid {
    /// Learns N from a position fix; true once, when the receiver turns out not to tell it.
    pub(super) fn learn(&mut self, gps: &GpsRawInt) -> bool {
        let undulation_m = f64::from(gps.alt_ellipsoid) / 1e3 - f64::from(gps.alt) / 1e3;
        if gps.alt_ellipsoid != 0 && undulation_m.abs() <= MAX_UNDULATION_M {
            self.undulation_m = undulation_m;
            self.known = true;
        }
        let missing = !self.known && !self.told && gps.fix_type > 2;
        self.told |= missing;
        missing
    }

    /// Metres above the ellipsoid for millimetres above mean sea level.
    pub(super) fn height(&self, alt_mm: i32) -> f64 {
        f64::from(alt_mm) / 1e3 + self.undulation_m
    }
}

/// EGM96 stays within -107 m and +86 m.
const MAX_UNDULATION_M: f64 = 120.0;
