//! One vehicle: what it was told, and how it moves.

use std::f64::consts::{PI, TAU};

use rostrans_rflysim::{
    command::{
        ARMED, FRD, Floats, HAS_ACC, HAS_ATT, HAS_POS, HAS_VEL, HAS_YAW, HAS_YAW_RATE, LAND, LOCAL, RETURN,
        TAKEOFF,
    },
    control::InOffboardShortData,
    model::PX4SILIntFloat,
    truth::SOut2Simulator,
};

/// Metres, seconds and radians in NED; positions from the centre of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct Copter {
    /// Number, from 1.
    pub id: i32,
    /// Where it stood at the start.
    pub spawn: [f64; 3],
    /// Where it is.
    pub position: [f64; 3],
    /// How fast.
    pub velocity: [f64; 3],
    /// Where it looks.
    pub yaw: f64,
    /// Motors run.
    pub armed: bool,
    /// Seconds since the start.
    pub time: f64,
    yaw_rate: f64,
    acceleration: [f64; 3],
    goal: Goal,
    /// Seconds since the last command.
    silence: f64,
}

/// What it flies after.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Goal {
    /// Stay.
    Hold([f64; 3]),
    /// Fly there, perhaps heading there.
    Position([f64; 3], Option<f64>),
    /// Fly so fast, perhaps turning or heading.
    Velocity([f64; 3], Turn),
    /// Speed up.
    Acceleration([f64; 3]),
    /// Tilt: roll, pitch, yaw.
    Attitude([f64; 3]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    Free,
    Rate(f64),
    To(f64),
}

impl Copter {
    /// A vehicle that stands still.
    pub fn new(id: i32, spawn: [f64; 3]) -> Self {
        Self {
            id,
            spawn,
            position: spawn,
            velocity: [0.0; 3],
            yaw: 0.0,
            armed: false,
            time: 0.0,
            yaw_rate: 0.0,
            acceleration: [0.0; 3],
            goal: Goal::Hold(spawn),
            silence: 0.0,
        }
    }

    /// Obeys a command to the comprehensive model. Source: rflysim spec 4.3.
    pub fn obey(&mut self, packet: &PX4SILIntFloat) {
        let [first, second, ..] = packet.in_sil_ints;
        let f = Floats::new(&packet.in_sil_floats);
        if first & 3 != 3 {
            return;
        }
        self.silence = 0.0;
        self.armed = first & ARMED != 0;
        let wide = |v: [f32; 3]| v.map(f64::from);
        let has = |bit: i32| second & bit != 0;
        let yaw = has(HAS_YAW).then_some(wide(f.attitude)[2]);
        let [px, py, pz] = wide(f.position);
        let [x, y, _] = self.position;
        self.goal = if !self.armed {
            Goal::Hold(self.position)
        } else if first & TAKEOFF != 0 {
            Goal::Position([x, y, pz], None)
        } else if first & LAND != 0 {
            Goal::Position([x, y, self.spawn[2].max(pz)], None)
        } else if first & RETURN != 0 {
            let [sx, sy, sz] = self.spawn;
            let near = (x - sx).hypot(y - sy) < 0.5;
            Goal::Position([sx, sy, if near { sz } else { pz }], None)
        } else if has(HAS_POS) {
            let [sx, sy, sz] = if has(LOCAL) { self.spawn } else { [0.0; 3] };
            Goal::Position([px + sx, py + sy, pz + sz], yaw)
        } else if has(HAS_VEL) {
            let turn = match yaw {
                _ if has(HAS_YAW_RATE) => Turn::Rate(f64::from(f.rates[2])),
                Some(yaw) => Turn::To(yaw),
                None => Turn::Free,
            };
            Goal::Velocity(if has(FRD) { self.level(wide(f.velocity)) } else { wide(f.velocity) }, turn)
        } else if has(HAS_ACC) {
            Goal::Acceleration(wide(f.acceleration))
        } else if has(HAS_ATT) {
            Goal::Attitude(wide(f.attitude))
        } else {
            Goal::Hold(self.position)
        };
    }

    /// Obeys a packet of UDP mode 1. Source: rflysim spec 4.1.
    pub fn obey_simple(&mut self, packet: &InOffboardShortData) {
        let [a, b, c, d] = packet.controls.map(f64::from);
        let [sx, sy, sz] = self.spawn;
        let free = |n: f64| (!n.is_nan()).then_some(n);
        let turn = free(d).map_or(Turn::Free, Turn::Rate);
        self.silence = 0.0;
        match packet.ctrl_mode {
            0 => self.goal = Goal::Velocity([a, b, c], turn),
            1 => self.goal = Goal::Velocity(self.level([a, b, c]), turn),
            2 => self.goal = Goal::Position([a + sx, b + sy, c + sz], free(d)),
            3 => {
                let [dx, dy, dz] = self.level([a, b, c]);
                let [x, y, z] = self.position;
                self.goal = Goal::Position([x + dx, y + dy, z + dz], None);
            }
            6 => self.goal = Goal::Acceleration([a, b, c]),
            9 => {
                self.armed = a > 0.5;
                self.goal = Goal::Hold(self.position);
            }
            11 => self.goal = Goal::Position([a + sx, b + sy, c + sz], None),
            _ => {}
        }
    }

    /// Body axes to level ones: only the heading counts.
    fn level(&self, [forward, right, down]: [f64; 3]) -> [f64; 3] {
        let (sin, cos) = self.yaw.sin_cos();
        [forward * cos - right * sin, forward * sin + right * cos, down]
    }

    /// Lets time pass.
    pub fn step(&mut self, dt: f64) {
        self.time += dt;
        self.silence += dt;
        if self.silence > TIMEOUT
            && matches!(self.goal, Goal::Velocity(..) | Goal::Acceleration(_) | Goal::Attitude(_))
        {
            self.goal = Goal::Hold(self.position);
        }
        let before = self.velocity;
        let (wanted, turn) = self.wanted();
        let turn_rate = match turn {
            Turn::Free => 0.0,
            Turn::Rate(rate) => rate,
            Turn::To(yaw) => wrap(yaw - self.yaw) * YAW_GAIN,
        };
        self.yaw_rate = turn_rate.clamp(-MAX_TURN, MAX_TURN);
        self.yaw = wrap(self.yaw + self.yaw_rate * dt);
        let follow = 1.0 - (-dt / LAG).exp();
        for ((velocity, wanted), place) in self.velocity.iter_mut().zip(wanted).zip(&mut self.position) {
            *velocity += (wanted - *velocity) * follow;
            *place += *velocity * dt;
        }
        let ground = self.spawn[2];
        if self.position[2] >= ground {
            self.position[2] = ground;
            self.velocity[2] = self.velocity[2].min(0.0);
            if !self.armed || wanted[2] >= 0.0 {
                self.velocity = [0.0; 3];
            }
        }
        if dt > 0.0 {
            let [bx, by, bz] = before;
            let [x, y, z] = self.velocity;
            self.acceleration = [(x - bx) / dt, (y - by) / dt, (z - bz) / dt];
        }
    }

    /// The velocity that leads to the goal.
    fn wanted(&self) -> ([f64; 3], Turn) {
        if !self.armed {
            // It sinks to the ground.
            return ([0.0, 0.0, MAX_CLIMB], Turn::Free);
        }
        let toward = |[gx, gy, gz]: [f64; 3]| {
            let [x, y, z] = self.position;
            let (dx, dy) = ((gx - x) * GAIN, (gy - y) * GAIN);
            let scale = (MAX_SPEED / dx.hypot(dy).max(MAX_SPEED)).min(1.0);
            [dx * scale, dy * scale, ((gz - z) * GAIN).clamp(-MAX_CLIMB, MAX_CLIMB)]
        };
        match self.goal {
            Goal::Hold(place) => (toward(place), Turn::Free),
            Goal::Position(place, yaw) => (toward(place), yaw.map_or(Turn::Free, Turn::To)),
            Goal::Velocity(velocity, turn) => (velocity, turn),
            Goal::Acceleration(acceleration) => {
                let speed = |v: f64, a: f64| (v + a * LAG).clamp(-MAX_SPEED, MAX_SPEED);
                let [vx, vy, vz] = self.velocity;
                let [ax, ay, az] = acceleration;
                ([speed(vx, ax), speed(vy, ay), speed(vz, az)], Turn::Free)
            }
            // Tilting forward (pitch down) flies forward.
            Goal::Attitude([roll, pitch, yaw]) => {
                (self.level([-pitch.sin() * MAX_SPEED, roll.sin() * MAX_SPEED, 0.0]), Turn::To(yaw))
            }
        }
    }

    /// Its state as CopterSim tells it. The map's centre is at the reference's example position.
    pub fn truth(&self) -> SOut2Simulator {
        #[expect(clippy::cast_possible_truncation, reason = "the wire has single precision")]
        let narrow = |v: [f64; 3]| v.map(|n| n as f32);
        let [north, east, down] = self.position;
        let (sin, cos) = (self.yaw / 2.0).sin_cos();
        let rpm = if self.armed { 1000.0 } else { 0.0 };
        let [ax, ay, az] = self.acceleration;
        let (heading_sin, heading_cos) = self.yaw.sin_cos();
        #[expect(clippy::cast_possible_truncation, reason = "the wire has single precision")]
        let quaternion = [cos as f32, 0.0, 0.0, sin as f32];
        SOut2Simulator {
            copter_id: self.id,
            vehicle_type: 3,
            reserv: 0,
            vel_e: narrow(self.velocity),
            ang_euler: narrow([0.0, 0.0, self.yaw]),
            ang_quatern: quaternion,
            motor_rpms: [rpm, rpm, rpm, rpm, 0.0, 0.0, 0.0, 0.0],
            // As an accelerometer feels it.
            acc_b: narrow([
                ax * heading_cos + ay * heading_sin,
                ay * heading_cos - ax * heading_sin,
                az - GRAVITY,
            ]),
            rate_b: narrow([0.0, 0.0, self.yaw_rate]),
            runned_time: self.time,
            pos_e: self.position,
            pos_gps: [
                ORIGIN[0] + north / METRES_PER_DEGREE,
                ORIGIN[1] + east / (METRES_PER_DEGREE * ORIGIN[0].to_radians().cos()),
                ORIGIN[2] - down,
            ],
        }
    }
}

fn wrap(angle: f64) -> f64 {
    let turned = angle.rem_euclid(TAU);
    if turned > PI { turned - TAU } else { turned }
}

/// Latitude, longitude and altitude of the map's centre.
pub(crate) const ORIGIN: [f64; 3] = [40.154_030_2, 116.259_368_3, 50.0];
const METRES_PER_DEGREE: f64 = 111_320.0;
const GRAVITY: f64 = 9.81;
/// Of the velocity behind its command, s.
const LAG: f64 = 0.25;
/// Velocity for a metre of distance, 1/s.
const GAIN: f64 = 1.2;
const YAW_GAIN: f64 = 2.0;
const MAX_SPEED: f64 = 5.0;
const MAX_CLIMB: f64 = 2.0;
const MAX_TURN: f64 = 2.0;
/// A vehicle without commands for so long stays where it is, s.
const TIMEOUT: f64 = 1.0;

#[cfg(test)]
mod tests {
    use rostrans_rflysim::command::Command;

    use super::*;

    fn fly(copter: &mut Copter, command: Command, seconds: f64) {
        let end = copter.time + seconds;
        while copter.time < end {
            copter.obey(&command.packet(copter.id));
            copter.step(0.02);
        }
    }

    fn near(a: [f64; 3], b: [f64; 3]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.2)
    }

    #[test]
    fn flies_where_it_is_told() {
        let mut copter = Copter::new(1, [10.0, 20.0, -0.5]);
        copter.step(1.0);
        assert!(near(copter.position, [10.0, 20.0, -0.5]) && copter.truth().motor_rpms[0] == 0.0);
        fly(&mut copter, Command::VelocityNed { velocity: [0.0, 0.0, -1.0], yaw_rate: None }, 3.0);
        assert!(copter.position[2] < -2.5, "{copter:?}");
        let position = [2.0, -1.0, -3.0];
        fly(&mut copter, Command::Position { position, yaw: Some(1.0), local: true }, 8.0);
        assert!(near(copter.position, [12.0, 19.0, -3.5]) && (copter.yaw - 1.0).abs() < 0.1, "{copter:?}");
        fly(&mut copter, Command::Position { position: [0.0; 3], yaw: None, local: false }, 1.0);
        fly(&mut copter, Command::Return { z: -3.5 }, 25.0);
        assert!(near(copter.position, copter.spawn), "{copter:?}");
        fly(&mut copter, Command::TakeOff { z: -5.5 }, 8.0);
        assert!(near(copter.position, [10.0, 20.0, -5.5]), "{copter:?}");
        fly(&mut copter, Command::Land { z: -0.5 }, 10.0);
        assert!(near(copter.position, copter.spawn) && copter.velocity == [0.0; 3], "{copter:?}");
    }

    #[test]
    fn forward_is_where_it_looks_and_silence_stops_it() {
        let mut copter = Copter::new(1, [0.0; 3]);
        fly(&mut copter, Command::TakeOff { z: -3.0 }, 6.0);
        copter.yaw = std::f64::consts::FRAC_PI_2;
        fly(&mut copter, Command::VelocityFrd { velocity: [1.0, 0.0, 0.0], yaw_rate: Some(0.0) }, 2.0);
        assert!(copter.position[1] > 1.5 && copter.position[0].abs() < 0.1, "{copter:?}");
        for _ in 0..200 {
            copter.step(0.02);
        }
        assert!(copter.velocity.iter().all(|v| v.abs() < 0.1), "{copter:?}");
    }

    #[test]
    fn simple_packets_fly_it_too() {
        let mut copter = Copter::new(1, [5.0, 0.0, 0.0]);
        let mut fly = |ctrl_mode, controls| {
            for _ in 0..400 {
                copter.obey_simple(&InOffboardShortData { ctrl_mode, controls });
                copter.step(0.02);
            }
            copter.position
        };
        fly(9, [1.0, 0.0, 0.0, 0.0]);
        assert!(near(fly(11, [0.0, 0.0, -3.0, 0.0]), [5.0, 0.0, -3.0]));
        assert!(near(fly(2, [1.0, 2.0, -3.0, f32::NAN]), [6.0, 2.0, -3.0]));
    }
}
