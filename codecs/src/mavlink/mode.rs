//! Names of flight modes, as MAVROS shows and accepts them.
//!
//! Source: PX4 `custom_mode` = main << 16 | sub << 24; ArduPilot's mode numbers per vehicle class.

use std::fmt::Write as _;

/// `MAV_AUTOPILOT_ARDUPILOTMEGA`.
pub const ARDUPILOT: u8 = 3;
/// `MAV_AUTOPILOT_PX4`.
pub const PX4: u8 = 12;
/// `base_mode` bit: `custom_mode` holds the mode.
pub const CUSTOM_MODE_ENABLED: u8 = 1;

/// Replaces `out` by the name of a mode.
///
/// `kind` is the `MAV_TYPE`. Without the custom bit the text is `MODE(0x51)`, for an unknown number
/// `CMODE(<number>)`.
pub fn write_name(out: &mut String, autopilot: u8, kind: u8, base_mode: u8, custom_mode: u32) {
    out.clear();
    if base_mode & CUSTOM_MODE_ENABLED == 0 {
        write!(out, "MODE(0x{base_mode:2X})").unwrap_or_default();
        return;
    }
    let mode = if autopilot == PX4 { px4_significant(custom_mode) } else { custom_mode };
    match name(autopilot, kind, mode) {
        Some(name) => out.push_str(name),
        None => write!(out, "CMODE({mode})").unwrap_or_default(),
    }
}

/// The name of a custom mode, if it has one.
pub fn name(autopilot: u8, kind: u8, custom_mode: u32) -> Option<&'static str> {
    match autopilot {
        PX4 => find(PX4_MODES, px4_significant(custom_mode)),
        ARDUPILOT => find(ardupilot_modes(kind)?, custom_mode),
        _ => None,
    }
}

/// The custom mode of that name; upper and lower case are the same.
pub fn number(autopilot: u8, kind: u8, name: &str) -> Option<u32> {
    let table = match autopilot {
        PX4 => PX4_MODES,
        ARDUPILOT => ardupilot_modes(kind)?,
        _ => return None,
    };
    table.iter().find(|(_, n)| n.eq_ignore_ascii_case(name)).map(|(mode, _)| *mode)
}

/// Whether the modes of such a vehicle have names.
pub(super) fn is_known(autopilot: u8, kind: u8) -> bool {
    autopilot == PX4 || (autopilot == ARDUPILOT && ardupilot_modes(kind).is_some())
}

/// Clears the reserved low half, and the sub mode of everything but AUTO.
fn px4_significant(custom_mode: u32) -> u32 {
    match custom_mode >> 16 & 0xff {
        4 => custom_mode & 0xffff_0000,
        _ => custom_mode & 0x00ff_0000,
    }
}

fn ardupilot_modes(kind: u8) -> Option<&'static [(u32, &'static str)]> {
    match kind {
        2..=4 | 13..=15 | 29 | 35 => Some(COPTER_MODES),
        1 | 19..=25 => Some(PLANE_MODES),
        10 | 11 => Some(ROVER_MODES),
        12 => Some(SUB_MODES),
        5 => Some(TRACKER_MODES),
        _ => None,
    }
}

fn find(table: &[(u32, &'static str)], mode: u32) -> Option<&'static str> {
    table.iter().find(|(number, _)| *number == mode).map(|(_, name)| *name)
}

const fn px4(main: u32, sub: u32) -> u32 {
    main << 16 | sub << 24
}

const PX4_MODES: &[(u32, &str)] = &[
    (px4(1, 0), "MANUAL"),
    (px4(2, 0), "ALTCTL"),
    (px4(3, 0), "POSCTL"),
    (px4(4, 1), "AUTO.READY"),
    (px4(4, 2), "AUTO.TAKEOFF"),
    (px4(4, 3), "AUTO.LOITER"),
    (px4(4, 4), "AUTO.MISSION"),
    (px4(4, 5), "AUTO.RTL"),
    (px4(4, 6), "AUTO.LAND"),
    (px4(4, 7), "AUTO.RTGS"),
    (px4(4, 8), "AUTO.FOLLOW_TARGET"),
    (px4(4, 9), "AUTO.PRECLAND"),
    (px4(4, 10), "AUTO.VTOL_TAKEOFF"),
    (px4(5, 0), "ACRO"),
    (px4(6, 0), "OFFBOARD"),
    (px4(7, 0), "STABILIZED"),
    (px4(8, 0), "RATTITUDE"),
    (px4(9, 0), "SIMPLE"),
    (px4(10, 0), "TERMINATION"),
    (px4(11, 0), "ALTITUDE_CRUISE"),
];

const COPTER_MODES: &[(u32, &str)] = &[
    (0, "STABILIZE"),
    (1, "ACRO"),
    (2, "ALT_HOLD"),
    (3, "AUTO"),
    (4, "GUIDED"),
    (5, "LOITER"),
    (6, "RTL"),
    (7, "CIRCLE"),
    (8, "POSITION"),
    (9, "LAND"),
    (10, "OF_LOITER"),
    (11, "DRIFT"),
    (13, "SPORT"),
    (14, "FLIP"),
    (15, "AUTOTUNE"),
    (16, "POSHOLD"),
    (17, "BRAKE"),
    (18, "THROW"),
    (19, "AVOID_ADSB"),
    (20, "GUIDED_NOGPS"),
    (21, "SMART_RTL"),
    (22, "FLOWHOLD"),
    (23, "FOLLOW"),
    (24, "ZIGZAG"),
    (25, "SYSTEMID"),
    (26, "AUTOROTATE"),
    (27, "AUTO_RTL"),
    (28, "TURTLE"),
];

const PLANE_MODES: &[(u32, &str)] = &[
    (0, "MANUAL"),
    (1, "CIRCLE"),
    (2, "STABILIZE"),
    (3, "TRAINING"),
    (4, "ACRO"),
    (5, "FBWA"),
    (6, "FBWB"),
    (7, "CRUISE"),
    (8, "AUTOTUNE"),
    (10, "AUTO"),
    (11, "RTL"),
    (12, "LOITER"),
    (13, "TAKEOFF"),
    (14, "AVOID_ADSB"),
    (15, "GUIDED"),
    (16, "INITIALISING"),
    (17, "QSTABILIZE"),
    (18, "QHOVER"),
    (19, "QLOITER"),
    (20, "QLAND"),
    (21, "QRTL"),
    (22, "QAUTOTUNE"),
    (23, "QACRO"),
    (24, "THERMAL"),
    (25, "LOITER_ALT_QLAND"),
    (26, "AUTOLAND"),
];

const ROVER_MODES: &[(u32, &str)] = &[
    (0, "MANUAL"),
    (1, "ACRO"),
    (3, "STEERING"),
    (4, "HOLD"),
    (5, "LOITER"),
    (6, "FOLLOW"),
    (7, "SIMPLE"),
    (8, "DOCK"),
    (9, "CIRCLE"),
    (10, "AUTO"),
    (11, "RTL"),
    (12, "SMART_RTL"),
    (15, "GUIDED"),
    (16, "INITIALISING"),
];

const SUB_MODES: &[(u32, &str)] = &[
    (0, "STABILIZE"),
    (1, "ACRO"),
    (2, "ALT_HOLD"),
    (3, "AUTO"),
    (4, "GUIDED"),
    (5, "VELHOLD"),
    (6, "RTL"),
    (7, "CIRCLE"),
    (9, "SURFACE"),
    (10, "OF_LOITER"),
    (11, "DRIFT"),
    (13, "TRANSECT"),
    (14, "FLIP"),
    (15, "AUTOTUNE"),
    (16, "POSHOLD"),
    (17, "BRAKE"),
    (18, "THROW"),
    (19, "MANUAL"),
    (20, "MOTORDETECT"),
    (21, "SURFTRAK"),
];

const TRACKER_MODES: &[(u32, &str)] = &[
    (0, "MANUAL"),
    (1, "STOP"),
    (2, "SCAN"),
    (3, "SERVO_TEST"),
    (4, "GUIDED"),
    (10, "AUTO"),
    (16, "INITIALISING"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(autopilot: u8, kind: u8, base_mode: u8, custom_mode: u32) -> String {
        let mut text = "stale".to_owned();
        write_name(&mut text, autopilot, kind, base_mode, custom_mode);
        text
    }

    #[test]
    fn modes_show_as_in_mavros() {
        assert_eq!(shown(PX4, 2, 81, 393_216), "OFFBOARD");
        assert_eq!(shown(PX4, 2, 81, 50_593_792), "AUTO.LOITER");
        assert_eq!(shown(PX4, 2, 81, 393_216 | 0x1234), "OFFBOARD", "reserved bits are ignored");
        assert_eq!(shown(PX4, 2, 81, 0x0706_0000), "OFFBOARD", "sub modes belong to AUTO");
        assert_eq!(shown(PX4, 2, 81, 0x00ff_0000), "CMODE(16711680)");
        assert_eq!(shown(PX4, 2, 0x50, 393_216), "MODE(0x50)");
        assert_eq!(shown(PX4, 2, 0, 393_216), "MODE(0x 0)");
        assert_eq!(shown(ARDUPILOT, 2, 1, 16), "POSHOLD");
        assert_eq!(shown(ARDUPILOT, 1, 1, 16), "INITIALISING");
        assert_eq!(shown(ARDUPILOT, 200, 1, 16), "CMODE(16)");
        assert_eq!(shown(0, 2, 1, 7), "CMODE(7)");
    }

    #[test]
    fn every_name_leads_back_to_its_number() {
        for (autopilot, kind, table) in [
            (PX4, 2, PX4_MODES),
            (ARDUPILOT, 2, COPTER_MODES),
            (ARDUPILOT, 1, PLANE_MODES),
            (ARDUPILOT, 10, ROVER_MODES),
            (ARDUPILOT, 12, SUB_MODES),
            (ARDUPILOT, 5, TRACKER_MODES),
        ] {
            for (mode, name) in table {
                assert_eq!(super::name(autopilot, kind, *mode), Some(*name));
                assert_eq!(number(autopilot, kind, &name.to_ascii_lowercase()), Some(*mode));
            }
        }
    }
}
