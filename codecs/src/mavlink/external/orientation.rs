//! Sensor orientations (`MAV_SENSOR_ORIENTATION`).

use crate::frames::Quaternion;

/// The name says the angles: degrees of roll, pitch and yaw that are not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orientation(pub(super) u8);

impl Orientation {
    /// The orientation is given by a quaternion of its own.
    pub(super) const CUSTOM: Self = Self(100);

    /// By name, in any letter case, or number; `None` for what does not exist.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let number = text.parse().ok().map(Self);
        if let Some(number) = number {
            return number.name().map(|_| number);
        }
        if text.eq_ignore_ascii_case("CUSTOM") {
            return Some(Self::CUSTOM);
        }
        let index = NAMES.iter().position(|name| name.eq_ignore_ascii_case(text))?;
        u8::try_from(index).ok().map(Self)
    }

    /// Its name; `None` for a number that has none.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::CUSTOM => Some("CUSTOM"),
            Self(number) => NAMES.get(usize::from(number)).copied(),
        }
    }

    /// The rotation; none for CUSTOM and for what is not known.
    pub(super) fn rotation(self) -> Quaternion {
        let mut angles = [0.0; 3];
        let mut words = self.name().unwrap_or_default().split('_');
        while let (Some(axis), Some(degrees)) = (words.next(), words.next()) {
            let index = match axis {
                "ROLL" => 0,
                "PITCH" => 1,
                _ => 2,
            };
            if let (Some(angle), Ok(degrees)) = (angles.get_mut(index), degrees.parse::<f64>()) {
                *angle = degrees.to_radians();
            }
        }
        let [roll, pitch, yaw] = angles;
        Quaternion::from_rpy(roll, pitch, yaw)
    }
}

/// By number.
const NAMES: [&str; 41] = [
    "NONE",
    "YAW_45",
    "YAW_90",
    "YAW_135",
    "YAW_180",
    "YAW_225",
    "YAW_270",
    "YAW_315",
    "ROLL_180",
    "ROLL_180_YAW_45",
    "ROLL_180_YAW_90",
    "ROLL_180_YAW_135",
    "PITCH_180",
    "ROLL_180_YAW_225",
    "ROLL_180_YAW_270",
    "ROLL_180_YAW_315",
    "ROLL_90",
    "ROLL_90_YAW_45",
    "ROLL_90_YAW_90",
    "ROLL_90_YAW_135",
    "ROLL_270",
    "ROLL_270_YAW_45",
    "ROLL_270_YAW_90",
    "ROLL_270_YAW_135",
    "PITCH_90",
    "PITCH_270",
    "PITCH_180_YAW_90",
    "PITCH_180_YAW_270",
    "ROLL_90_PITCH_90",
    "ROLL_180_PITCH_90",
    "ROLL_270_PITCH_90",
    "ROLL_90_PITCH_180",
    "ROLL_270_PITCH_180",
    "ROLL_90_PITCH_270",
    "ROLL_180_PITCH_270",
    "ROLL_270_PITCH_270",
    "ROLL_90_PITCH_180_YAW_90",
    "ROLL_90_YAW_270",
    "ROLL_90_PITCH_68_YAW_293",
    "PITCH_315",
    "ROLL_90_PITCH_315",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orientations_go_by_name_and_number() {
        assert_eq!(Orientation::parse("pitch_270"), Some(Orientation(25)));
        assert_eq!(Orientation::parse(" 25 "), Some(Orientation(25)));
        assert_eq!(Orientation::parse("CUSTOM"), Some(Orientation(100)));
        for unknown in ["", "41", "99", "DOWN", "-1"] {
            assert_eq!(Orientation::parse(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn names_say_the_angles() {
        let [roll, pitch, yaw] = Orientation(38).rotation().to_rpy();
        let degrees = [roll, pitch, yaw].map(f64::to_degrees);
        assert!(degrees.iter().zip([90.0, 68.0, -67.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{degrees:?}");
        let down = Orientation(25).rotation().rotate([1.0, 0.0, 0.0]);
        assert!((down[2] - 1.0).abs() < 1e-9, "{down:?}");
        assert_eq!(Orientation(0).rotation(), Quaternion::IDENTITY);
        assert_eq!(Orientation(200).rotation(), Quaternion::IDENTITY);
    }
}
