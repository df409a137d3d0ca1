//! One item of a plan, in ROS and in MAVLink.

use rostrans_msgs::mavros_msgs::msg::Waypoint;

use crate::mavlink::dialect::{MissionItem, MissionItemInt};

/// Whom an item goes to, and which place of which plan it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) system: u8,
    pub(super) component: u8,
    /// `MAV_MISSION_TYPE`.
    pub(super) plan: u8,
    pub(super) seq: u16,
}

/// MISSION_ITEM (39): coordinates are degrees or metres in single precision, about a metre for degrees.
#[expect(clippy::cast_possible_truncation, reason = "the message has single precision")]
pub(super) fn to_float(item: &Waypoint, place: Place) -> MissionItem {
    MissionItem {
        param1: item.param1,
        param2: item.param2,
        param3: item.param3,
        param4: item.param4,
        x: item.x_lat as f32,
        y: item.y_long as f32,
        z: item.z_alt as f32,
        seq: place.seq,
        command: item.command,
        target_system: place.system,
        target_component: place.component,
        frame: item.frame,
        current: item.is_current.into(),
        autocontinue: item.autocontinue.into(),
        mission_type: place.plan,
    }
}

/// MISSION_ITEM_INT (73): coordinates are whole numbers of 1e-7 degrees or 0.1 mm, rounded.
#[expect(clippy::cast_possible_truncation, reason = "the message has single precision")]
pub(super) fn to_int(item: &Waypoint, place: Place) -> MissionItemInt {
    MissionItemInt {
        param1: item.param1,
        param2: item.param2,
        param3: item.param3,
        param4: item.param4,
        x: scaled(item.x_lat, item.frame),
        y: scaled(item.y_long, item.frame),
        z: item.z_alt as f32,
        seq: place.seq,
        command: item.command,
        target_system: place.system,
        target_component: place.component,
        frame: item.frame,
        current: item.is_current.into(),
        autocontinue: item.autocontinue.into(),
        mission_type: place.plan,
    }
}

/// The item of a MISSION_ITEM.
pub(super) fn from_float(m: &MissionItem) -> Waypoint {
    Waypoint {
        frame: m.frame,
        command: m.command,
        is_current: m.current != 0,
        autocontinue: m.autocontinue != 0,
        param1: m.param1,
        param2: m.param2,
        param3: m.param3,
        param4: m.param4,
        x_lat: m.x.into(),
        y_long: m.y.into(),
        z_alt: m.z.into(),
    }
}

/// The item of a MISSION_ITEM_INT.
pub(super) fn from_int(m: &MissionItemInt) -> Waypoint {
    Waypoint {
        frame: m.frame,
        command: m.command,
        is_current: m.current != 0,
        autocontinue: m.autocontinue != 0,
        param1: m.param1,
        param2: m.param2,
        param3: m.param3,
        param4: m.param4,
        x_lat: unscaled(m.x, m.frame),
        y_long: unscaled(m.y, m.frame),
        z_alt: m.z.into(),
    }
}

/// True when a vehicle that was sent `sent` and says it has `read` has taken it: it may round coordinates and drop
/// parameters that the command does not use.
pub(super) fn is_taken(sent: &Waypoint, read: &Waypoint) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * a.abs().max(1.0) || a.is_nan() || b.is_nan();
    sent.command == read.command && near(sent.x_lat, read.x_lat) && near(sent.y_long, read.y_long)
}

fn scaled(value: f64, frame: u8) -> i32 {
    let scale = scale(frame);
    if value.is_nan() && scale > 1.0 {
        return UNKNOWN;
    }
    #[expect(clippy::cast_possible_truncation, reason = "saturates: no such place")]
    let whole = (value * scale).round() as i32;
    whole
}

fn unscaled(value: i32, frame: u8) -> f64 {
    let scale = scale(frame);
    if value == UNKNOWN && scale > 1.0 { f64::NAN } else { f64::from(value) / scale }
}

/// Steps in a degree or a metre; the frames of commands without a place, and unknown ones, carry plain numbers.
fn scale(frame: u8) -> f64 {
    match frame {
        GLOBAL
        | GLOBAL_RELATIVE_ALT
        | GLOBAL_INT
        | GLOBAL_RELATIVE_ALT_INT
        | GLOBAL_TERRAIN_ALT
        | GLOBAL_TERRAIN_ALT_INT => 1e7,
        LOCAL_NED | LOCAL_ENU | LOCAL_OFFSET_NED..=BODY_OFFSET_NED | BODY_FRD | LOCAL_FRD | LOCAL_FLU => 1e4,
        _ => 1.0,
    }
}

/// What MAVLink writes for a coordinate that is not given.
const UNKNOWN: i32 = i32::MAX;
/// `MAV_FRAME`.
const GLOBAL: u8 = 0;
const LOCAL_NED: u8 = 1;
const GLOBAL_RELATIVE_ALT: u8 = 3;
const LOCAL_ENU: u8 = 4;
const GLOBAL_INT: u8 = 5;
const GLOBAL_RELATIVE_ALT_INT: u8 = 6;
const LOCAL_OFFSET_NED: u8 = 7;
const BODY_OFFSET_NED: u8 = 9;
const GLOBAL_TERRAIN_ALT: u8 = 10;
const GLOBAL_TERRAIN_ALT_INT: u8 = 11;
const BODY_FRD: u8 = 12;
const LOCAL_FRD: u8 = 20;
const LOCAL_FLU: u8 = 21;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLACE: Place = Place { system: 1, component: 1, plan: 0, seq: 0 };

    fn at(x_lat: f64, y_long: f64, frame: u8) -> Waypoint {
        Waypoint { frame, x_lat, y_long, ..Waypoint::default() }
    }

    #[test]
    fn coordinates_are_scaled_as_their_frame_says_and_rounded() {
        let degrees = to_int(&at(47.397_742_05, -8.545_593_95, 3), PLACE);
        assert_eq!((degrees.x, degrees.y), (473_977_421, -85_455_940));
        for frame in [0, 3, 5, 6, 10, 11] {
            assert_eq!(to_int(&at(1.5, -1.5, frame), PLACE).x, 15_000_000, "{frame}");
        }
        for frame in [1, 4, 7, 8, 9, 12, 20, 21] {
            assert_eq!(to_int(&at(1.5, -1.5, frame), PLACE).y, -15_000, "{frame}");
        }
        for frame in [2, 13, 22, 255] {
            assert_eq!(to_int(&at(30.0, -7.0, frame), PLACE).y, -7, "{frame}");
        }
    }

    #[test]
    fn coordinate_that_is_not_given_stays_so() {
        let sent = to_int(&at(f64::NAN, 1.0, 3), PLACE);
        assert_eq!(sent.x, i32::MAX);
        assert!(from_int(&sent).x_lat.is_nan());
        assert_eq!(from_int(&MissionItemInt { frame: 2, ..sent }).x_lat, f64::from(i32::MAX));
    }

    proptest! {
        #[test]
        fn whole_coordinates_survive_the_way_through_ros(x: i32, y: i32, frame: u8) {
            let item = MissionItemInt { x, y, frame, ..to_int(&Waypoint::default(), PLACE) };
            prop_assert_eq!(to_int(&from_int(&item), PLACE), item);
        }

        #[test]
        fn single_precision_survives_the_way_through_ros(x: f32, y: f32, z: f32, frame: u8) {
            prop_assume!(!x.is_nan() && !y.is_nan() && !z.is_nan());
            let item = MissionItem { x, y, z, frame, ..to_float(&Waypoint::default(), PLACE) };
            prop_assert_eq!(to_float(&from_float(&item), PLACE), item);
        }
    }
}
