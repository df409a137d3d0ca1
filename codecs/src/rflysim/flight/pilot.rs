//! What a vehicle was told to do: CopterSim itself says nothing of modes and arming.

use std::time::{Duration, Instant};

use rostrans_rflysim::command::Command;

use super::{super::craft::Craft, wire::Wire};

/// The answer to a service call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Done,
    Refused(&'static str),
    Unknown(String),
}

/// Modes that are known, for messages.
pub(super) const MODES: &str =
    "known are OFFBOARD, AUTO.TAKEOFF, AUTO.LOITER, AUTO.LAND, AUTO.RTL, MANUAL, POSCTL, ALTCTL, STABILIZED";

/// Arming, mode, and the command that is being repeated.
#[derive(Debug)]
pub(super) struct Pilot {
    armed: bool,
    mode: &'static str,
    /// Sent at each tick until then.
    repeated: Option<(Command, Instant)>,
    /// Since when it has lain on the ground while landing.
    landed: Option<Instant>,
}

impl Default for Pilot {
    fn default() -> Self {
        Self { armed: false, mode: "MANUAL", repeated: None, landed: None }
    }
}

impl Pilot {
    pub(super) fn armed(&self) -> bool {
        self.armed
    }

    pub(super) fn mode(&self) -> &'static str {
        self.mode
    }

    /// Setpoints go to the vehicle.
    pub(super) fn flies_setpoints(&self) -> bool {
        self.armed && self.mode == "OFFBOARD"
    }

    pub(super) fn stop_repeating(&mut self) {
        self.repeated = None;
    }

    /// The command to send at this tick.
    pub(super) fn repeated(&mut self, now: Instant) -> Option<Command> {
        let (command, until) = self.repeated?;
        if now > until {
            self.repeated = None;
            return None;
        }
        Some(command)
    }

    fn repeat(&mut self, command: Command, now: Instant) {
        self.repeated = Some((command, now + REPEAT));
    }

    pub(super) fn arm(&mut self, value: bool, craft: &Craft, now: Instant) -> Answer {
        if !value && self.armed && !on_ground(craft) {
            return Answer::Refused("the vehicle flies; land first");
        }
        if value != self.armed {
            self.armed = value;
            self.repeat(if value { Command::Arm } else { Command::Disarm }, now);
        }
        Answer::Done
    }

    pub(super) fn take_off(&mut self, height: f32, wire: Wire, craft: &Craft, now: Instant) -> Answer {
        if !height.is_finite() || height <= 0.0 {
            return Answer::Refused("altitude is metres above the spawn point, more than 0");
        }
        if !self.armed {
            return Answer::Refused("the vehicle is not armed");
        }
        // The simple packet counts from home.
        let from = if wire == Wire::Simple { 0.0 } else { spawn_z(craft) };
        self.mode = "AUTO.TAKEOFF";
        self.repeat(Command::TakeOff { z: from - height }, now);
        Answer::Done
    }

    pub(super) fn set_mode(&mut self, name: &str, wire: Wire, craft: &Craft, now: Instant) -> Answer {
        let wanted = name.trim().to_ascii_uppercase();
        let Some(mode) = KNOWN.iter().copied().find(|known| *known == wanted) else {
            return Answer::Unknown(wanted);
        };
        let command = match mode {
            "AUTO.LAND" | "AUTO.RTL" if wire == Wire::Simple => {
                return Answer::Refused("UDP_Simple packets have no form for it; set dllmodel_ctrl=dll");
            }
            "AUTO.LAND" => Some(Command::Land { z: spawn_z(craft) }),
            "AUTO.RTL" => Some(Command::Return { z: position_z(craft) }),
            "AUTO.TAKEOFF" => {
                let from = if wire == Wire::Simple { 0.0 } else { spawn_z(craft) };
                Some(Command::TakeOff { z: from - TAKEOFF_HEIGHT })
            }
            "AUTO.LOITER" => hold(craft),
            // Setpoints come next, or a pilot's hands.
            _ => None,
        };
        if mode == "AUTO.TAKEOFF" && !self.armed {
            return Answer::Refused("the vehicle is not armed");
        }
        self.mode = mode;
        self.landed = None;
        self.repeated = None;
        if let Some(command) = command.filter(|_| self.armed) {
            self.repeat(command, now);
        }
        Answer::Done
    }

    /// Disarms a vehicle that has landed, as an autopilot does.
    pub(super) fn watch(&mut self, craft: &Craft, now: Instant) {
        if !self.armed || !matches!(self.mode, "AUTO.LAND" | "AUTO.RTL") || !on_ground(craft) {
            self.landed = None;
            return;
        }
        let since = *self.landed.get_or_insert(now);
        if now.saturating_duration_since(since) >= LANDED {
            self.armed = false;
            self.landed = None;
            self.repeat(Command::Disarm, now);
        }
    }
}

/// Not above where it was spawned, and still.
fn on_ground(craft: &Craft) -> bool {
    let still = craft.velocity().is_none_or(|v| v.iter().all(|n| n.abs() < STILL));
    still && position_z(craft) > spawn_z(craft) - GROUND
}

fn hold(craft: &Craft) -> Option<Command> {
    let ([x, y, z], [sx, sy, sz]) = craft.position().zip(craft.spawn())?;
    let position = [x - sx, y - sy, z - sz].map(narrow);
    Some(Command::Position { position, yaw: craft.yaw().map(narrow), local: true })
}

fn spawn_z(craft: &Craft) -> f32 {
    craft.spawn().map_or(0.0, |[_, _, z]| narrow(z))
}

fn position_z(craft: &Craft) -> f32 {
    craft.position().map_or(0.0, |[_, _, z]| narrow(z))
}

#[expect(clippy::cast_possible_truncation, reason = "the wire has single precision")]
fn narrow(n: f64) -> f32 {
    n as f32
}

const KNOWN: &[&str] = &[
    "OFFBOARD",
    "AUTO.TAKEOFF",
    "AUTO.LOITER",
    "AUTO.LAND",
    "AUTO.RTL",
    "MANUAL",
    "POSCTL",
    "ALTCTL",
    "STABILIZED",
];

/// How long a command is repeated: datagrams get lost.
const REPEAT: Duration = Duration::from_secs(1);
/// Height of AUTO.TAKEOFF, m; PX4's MIS_TAKEOFF_ALT.
const TAKEOFF_HEIGHT: f32 = 2.5;
/// A vehicle less than this above its spawn point is on the ground, m.
const GROUND: f32 = 0.3;
/// ... if no axis of its velocity is faster, m/s.
const STILL: f64 = 0.2;
/// How long it must have been there.
const LANDED: Duration = Duration::from_secs(2);
