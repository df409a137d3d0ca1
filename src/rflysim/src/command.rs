//! The integers and floats of [`PX4SILIntFloat`] for the comprehensive model (a DLL without PX4).
//!
//! Source: rflysim spec 4.3. A command is repeated, 30 to 50 times a second; single ones for about a second, because
//! packets may get lost. Positions are NED metres, z down.
//!
//! ```
//! use rostrans_rflysim::command::Command;
//! let packet = Command::VelocityNed { velocity: [1.0, 0.0, -0.5], yaw_rate: Some(0.1) }.packet(1);
//! assert_eq!((packet.in_sil_ints[0], packet.in_sil_ints[1]), (7, 18));
//! ```

use crate::model::PX4SILIntFloat;

/// `inSILInts[0]`: apply this packet.
pub const CMD_EN: i32 = 1;
/// `inSILInts[0]`: software in the loop; set in every packet.
pub const CMD_SIL: i32 = 1 << 1;
/// `inSILInts[0]`: motors run.
pub const ARMED: i32 = 1 << 2;
/// `inSILInts[0]`: take off to the height in float 2.
pub const TAKEOFF: i32 = 1 << 8;
/// `inSILInts[0]`: go to, or hold, a position.
pub const POSITION: i32 = 1 << 9;
/// `inSILInts[0]`: land.
pub const LAND: i32 = 1 << 10;
/// `inSILInts[0]`: return home.
pub const RETURN: i32 = 1 << 11;

/// `inSILInts[1]`: floats 0 to 2 are a position.
pub const HAS_POS: i32 = 1;
/// `inSILInts[1]`: floats 3 to 5 are a velocity.
pub const HAS_VEL: i32 = 1 << 1;
/// `inSILInts[1]`: floats 6 to 8 are an acceleration.
pub const HAS_ACC: i32 = 1 << 2;
/// `inSILInts[1]`: float 11 is a yaw.
pub const HAS_YAW: i32 = 1 << 3;
/// `inSILInts[1]`: float 14 is a yaw rate.
pub const HAS_YAW_RATE: i32 = 1 << 4;
/// `inSILInts[1]`: floats 9 to 11 are an attitude.
pub const HAS_ATT: i32 = 1 << 8;
/// `inSILInts[1]`: float 12 is a roll rate.
pub const HAS_ROLL_RATE: i32 = 1 << 9;
/// `inSILInts[1]`: float 13 is a pitch rate.
pub const HAS_PITCH_RATE: i32 = 1 << 10;
/// `inSILInts[1]`: float 15 is a thrust.
pub const HAS_THRUST: i32 = 1 << 11;
/// `inSILInts[1]`: vectors are forward, right, down.
pub const FRD: i32 = 1 << 12;
/// `inSILInts[1]`: positions count from where the vehicle was spawned; without it from the centre of the map.
pub const LOCAL: i32 = 1 << 13;

/// A command to one vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Motors off.
    Disarm,
    /// Motors on, nothing else.
    Arm,
    /// Fly there.
    Position {
        /// m, NED.
        position: [f32; 3],
        /// rad; none leaves it free.
        yaw: Option<f32>,
        /// From the spawn point instead of the centre of the map.
        local: bool,
    },
    /// Fly with this velocity.
    VelocityNed {
        /// m/s, NED.
        velocity: [f32; 3],
        /// rad/s.
        yaw_rate: Option<f32>,
    },
    /// Fly with this velocity and heading. The vendor's programs never send it, a model may ignore the yaw.
    VelocityYaw {
        /// m/s, NED.
        velocity: [f32; 3],
        /// rad.
        yaw: f32,
    },
    /// Fly with this velocity seen from the vehicle.
    VelocityFrd {
        /// m/s, FRD.
        velocity: [f32; 3],
        /// rad/s.
        yaw_rate: Option<f32>,
    },
    /// Accelerate.
    Acceleration {
        /// m/s², NED.
        acceleration: [f32; 3],
    },
    /// Hold an attitude.
    Attitude {
        /// Roll, pitch, yaw, rad.
        attitude: [f32; 3],
        /// 0 to 1.
        thrust: Option<f32>,
    },
    /// Turn.
    Rates {
        /// Roll, pitch, yaw rate, rad/s, FRD.
        rates: [f32; 3],
        /// 0 to 1.
        thrust: Option<f32>,
    },
    /// Take off to this z, NED, so negative.
    TakeOff {
        /// m.
        z: f32,
    },
    /// Land at this z.
    Land {
        /// m.
        z: f32,
    },
    /// Return home at this z.
    Return {
        /// m.
        z: f32,
    },
}

impl Command {
    /// The packet for a vehicle.
    pub fn packet(&self, copter_id: i32) -> PX4SILIntFloat {
        let base = CMD_EN | CMD_SIL;
        let flying = base | ARMED;
        let mut f = Floats::default();
        let (first, second) = match *self {
            Self::Disarm => (base, 0),
            Self::Arm => (flying, 0),
            Self::Position { position, yaw, local } => {
                f.position = position;
                let frame = if local { LOCAL } else { 0 };
                (flying | POSITION, HAS_POS | frame | some(yaw, &mut f.attitude[2], HAS_YAW))
            }
            Self::VelocityNed { velocity, yaw_rate } => {
                f.velocity = velocity;
                (flying, HAS_VEL | some(yaw_rate, &mut f.rates[2], HAS_YAW_RATE))
            }
            Self::VelocityYaw { velocity, yaw } => {
                f.velocity = velocity;
                (flying, HAS_VEL | some(Some(yaw), &mut f.attitude[2], HAS_YAW))
            }
            Self::VelocityFrd { velocity, yaw_rate } => {
                f.velocity = velocity;
                (flying, HAS_VEL | FRD | some(yaw_rate, &mut f.rates[2], HAS_YAW_RATE))
            }
            Self::Acceleration { acceleration } => {
                f.acceleration = acceleration;
                (flying, HAS_ACC)
            }
            Self::Attitude { attitude, thrust } => {
                f.attitude = attitude;
                (flying, HAS_ATT | some(thrust, &mut f.thrust, HAS_THRUST))
            }
            Self::Rates { rates, thrust } => {
                f.rates = rates;
                let bits = HAS_ROLL_RATE | HAS_PITCH_RATE | HAS_YAW_RATE;
                (flying, bits | some(thrust, &mut f.thrust, HAS_THRUST))
            }
            Self::TakeOff { z } => {
                f.position[2] = z;
                (flying | TAKEOFF, 0)
            }
            Self::Land { z } => {
                f.position[2] = z;
                (flying | LAND, 0)
            }
            Self::Return { z } => {
                f.position[2] = z;
                (flying | RETURN, 0)
            }
        };
        PX4SILIntFloat { copter_id, in_sil_ints: [first, second, 0, 0, 0, 0, 0, 0], in_sil_floats: f.wire() }
    }
}

/// Stores a value that is there and gives its bit.
fn some(value: Option<f32>, place: &mut f32, bit: i32) -> i32 {
    match value {
        Some(value) => {
            *place = value;
            bit
        }
        None => 0,
    }
}

/// `inSILFloats` by meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Floats {
    /// 0 to 2, m.
    pub position: [f32; 3],
    /// 3 to 5, m/s.
    pub velocity: [f32; 3],
    /// 6 to 8, m/s².
    pub acceleration: [f32; 3],
    /// 9 to 11: roll, pitch, yaw, rad.
    pub attitude: [f32; 3],
    /// 12 to 14: body rates, rad/s.
    pub rates: [f32; 3],
    /// 15.
    pub thrust: f32,
}

impl Floats {
    /// From the wire; floats 16 to 19 have no known meaning.
    pub fn new(floats: &[f32; 20]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, thrust, ..] = *floats;
        Self {
            position: [a, b, c],
            velocity: [d, e, f],
            acceleration: [g, h, i],
            attitude: [j, k, l],
            rates: [m, n, o],
            thrust,
        }
    }

    fn wire(&self) -> [f32; 20] {
        let [a, b, c] = self.position;
        let [d, e, f] = self.velocity;
        let [g, h, i] = self.acceleration;
        let [j, k, l] = self.attitude;
        let [m, n, o] = self.rates;
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, self.thrust, 0.0, 0.0, 0.0, 0.0]
    }
}
