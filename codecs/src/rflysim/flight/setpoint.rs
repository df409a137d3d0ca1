//! Setpoints of ROS as commands in the simulator's frames.

use rostrans_core::codec::EncodeError;
use rostrans_msgs::{
    geometry_msgs::msg::{PoseStamped, Twist},
    mavros_msgs::msg::{AttitudeTarget, PositionTarget},
};
use rostrans_rflysim::command::Command;

use super::super::craft::Craft;
use crate::frames::{self, Enu, Flu, Quaternion};

/// How the settings want setpoints to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Yaw is taken as it is, not turned from ENU to NED.
    pub(super) yaw_is_ned: bool,
    /// A velocity with a yaw becomes one with a yaw rate, for models that ignore the yaw.
    pub(super) turn_by_rate: bool,
}

/// `PositionTarget`: ENU in frame 1, FLU in frames 8 and 9, ENU from where the vehicle is in frame 7.
///
/// **Errors**: a frame or a mixture of fields that cannot be expressed.
pub(super) fn raw_local(
    target: &PositionTarget,
    reading: Reading,
    craft: &Craft,
) -> Result<Command, EncodeError> {
    let ignored = |bits: u16| target.type_mask & bits == bits;
    let (position, velocity, acceleration) = (!ignored(7), !ignored(56), !ignored(448));
    let whole = |bits: u16, used: bool| !used || target.type_mask & bits == 0;
    if !whole(7, position) || !whole(56, velocity) || !whole(448, acceleration) {
        return Err(EncodeError::OutOfRange("type_mask: single axes cannot be ignored"));
    }
    if acceleration && target.type_mask & 512 != 0 {
        return Err(EncodeError::OutOfRange("type_mask: forces cannot be set"));
    }
    let body = match target.coordinate_frame {
        LOCAL_NED | LOCAL_OFFSET_NED => false,
        BODY_NED | BODY_OFFSET_NED => true,
        _ => return Err(EncodeError::OutOfRange("coordinate_frame: only 1, 7, 8 and 9 are known")),
    };
    let yaw = (!ignored(1024)).then_some(f64::from(target.yaw));
    let yaw_rate = (!ignored(2048)).then_some(-target.yaw_rate);
    // Numbers that do not count may be anything.
    if position {
        let p = &target.position;
        let offset = if body {
            let heading = craft.yaw().map(frames::swap_yaw).unwrap_or_default();
            Quaternion::from_rpy(0.0, 0.0, heading).rotate([p.x, p.y, p.z])
        } else {
            [p.x, p.y, p.z]
        };
        let from = match target.coordinate_frame {
            LOCAL_NED => [0.0; 3],
            _ => here(craft)?,
        };
        let [x, y, z] = Enu(offset).to_ned().0;
        let [fx, fy, fz] = from;
        let yaw = match (yaw, body) {
            // Relative to the heading, as position is.
            (Some(yaw), true) => craft.yaw().map(|heading| narrow(heading - yaw)),
            (Some(yaw), false) => Some(to_ned(yaw, reading)),
            (None, _) => None,
        };
        return checked(Command::Position { position: narrow3([x + fx, y + fy, z + fz]), yaw, local: true });
    }
    if velocity {
        let v = &target.velocity;
        let enu_or_flu = [v.x, v.y, v.z];
        if body {
            let velocity = narrow3(Flu(enu_or_flu).to_frd().0);
            return checked(Command::VelocityFrd { velocity, yaw_rate });
        }
        let velocity = narrow3(Enu(enu_or_flu).to_ned().0);
        return checked(match yaw {
            Some(yaw) if yaw_rate.is_none() => with_yaw(velocity, to_ned(yaw, reading), reading, craft)?,
            _ => Command::VelocityNed { velocity, yaw_rate },
        });
    }
    if acceleration {
        let a = &target.acceleration_or_force;
        let enu_or_flu = [a.x, a.y, a.z];
        let enu = if body {
            let heading = craft.yaw().map(frames::swap_yaw).unwrap_or_default();
            Quaternion::from_rpy(0.0, 0.0, heading).rotate(enu_or_flu)
        } else {
            enu_or_flu
        };
        return checked(Command::Acceleration { acceleration: narrow3(Enu(enu).to_ned().0) });
    }
    Err(EncodeError::OutOfRange("type_mask: everything is ignored"))
}

/// Velocity and heading; a yaw rate towards the heading for models that know no other.
fn with_yaw(velocity: [f32; 3], yaw: f32, reading: Reading, craft: &Craft) -> Result<Command, EncodeError> {
    if !reading.turn_by_rate {
        return Ok(Command::VelocityYaw { velocity, yaw });
    }
    let heading =
        craft.yaw().ok_or(EncodeError::OutOfRange("yaw: the vehicle's heading is not known yet"))?;
    let turn = (f64::from(yaw) - heading).rem_euclid(std::f64::consts::TAU);
    let turn = if turn > std::f64::consts::PI { turn - std::f64::consts::TAU } else { turn };
    Ok(Command::VelocityNed { velocity, yaw_rate: Some(narrow(turn * YAW_GAIN)) })
}

/// Yaw rate for a radian of wrong heading, 1/s.
const YAW_GAIN: f64 = 1.0;

/// `AttitudeTarget`: attitude FLU in ENU or body rates in FLU, with or without thrust.
///
/// **Errors**: neither attitude nor all rates count.
pub(super) fn raw_attitude(target: &AttitudeTarget) -> Result<Command, EncodeError> {
    let thrust = (target.type_mask & 64 == 0).then_some(target.thrust);
    if target.type_mask & 128 == 0 {
        let o = &target.orientation;
        let [roll, pitch, yaw] = Quaternion::from_wxyz([o.w, o.x, o.y, o.z]).swap_attitude().to_rpy();
        return checked(Command::Attitude { attitude: narrow3([roll, pitch, yaw]), thrust });
    }
    if target.type_mask & 7 == 0 {
        let r = &target.body_rate;
        return checked(Command::Rates { rates: narrow3(Flu([r.x, r.y, r.z]).to_frd().0), thrust });
    }
    Err(EncodeError::OutOfRange("type_mask: attitude or all three rates must count"))
}

/// `setpoint_position/local`.
pub(super) fn pose(pose: &PoseStamped, reading: Reading) -> Result<Command, EncodeError> {
    let (p, o) = (&pose.pose.position, &pose.pose.orientation);
    let [.., yaw] = Quaternion::from_wxyz([o.w, o.x, o.y, o.z]).to_rpy();
    let position = narrow3(Enu([p.x, p.y, p.z]).to_ned().0);
    checked(Command::Position { position, yaw: Some(to_ned(yaw, reading)), local: true })
}

/// `setpoint_velocity/cmd_vel`.
pub(super) fn twist(twist: &Twist) -> Result<Command, EncodeError> {
    let v = &twist.linear;
    let velocity = narrow3(Enu([v.x, v.y, v.z]).to_ned().0);
    checked(Command::VelocityNed { velocity, yaw_rate: Some(narrow(-twist.angular.z)) })
}

/// `setpoint_attitude/cmd_vel`: body rates.
pub(super) fn rates(twist: &Twist) -> Result<Command, EncodeError> {
    let r = &twist.angular;
    checked(Command::Rates { rates: narrow3(Flu([r.x, r.y, r.z]).to_frd().0), thrust: None })
}

/// Where the vehicle is: m, NED, from where it was spawned.
fn here(craft: &Craft) -> Result<[f64; 3], EncodeError> {
    let place = craft.position().zip(craft.spawn());
    let ([x, y, z], [sx, sy, sz]) =
        place.ok_or(EncodeError::OutOfRange("coordinate_frame: the vehicle's place is not known yet"))?;
    Ok([x - sx, y - sy, z - sz])
}

fn to_ned(yaw: f64, reading: Reading) -> f32 {
    narrow(if reading.yaw_is_ned { yaw } else { frames::swap_yaw(yaw) })
}

/// A setpoint that is no number must not reach a vehicle.
fn checked(command: Command) -> Result<Command, EncodeError> {
    let numbers = command.packet(1).in_sil_floats;
    if numbers.iter().all(|n| n.is_finite()) {
        Ok(command)
    } else {
        Err(EncodeError::OutOfRange("setpoint: not a number"))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the wire has single precision; what is too large becomes infinite"
)]
fn narrow(n: f64) -> f32 {
    n as f32
}

fn narrow3(v: [f64; 3]) -> [f32; 3] {
    v.map(narrow)
}

/// `MAV_FRAME`.
const LOCAL_NED: u8 = 1;
const LOCAL_OFFSET_NED: u8 = 7;
const BODY_NED: u8 = 8;
const BODY_OFFSET_NED: u8 = 9;
