//! The state of a vehicle, whatever packet it came in.

use rostrans_core::codec::DecodeError;
use rostrans_rflysim::{
    Kind, Packet as _, Series, WireError, detect,
    estimate::{OutHilStateData, OutHilStateShort, STATE},
    truth::{NetDataShort, SOut2Simulator, SOut2SimulatorSimpleTime, SimpleTimeV0, SimpleTimeV1},
};

use crate::frames::Quaternion;

/// A vehicle's state in the simulator's frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Motion {
    pub(super) copter_id: i32,
    pub(super) vehicle_type: i32,
    /// Seconds since the simulation, or the autopilot, began; none where the packet has no time.
    pub(super) time: Option<f64>,
    /// m, NED, from the centre of the map or, in an estimate, from home.
    pub(super) position: [f64; 3],
    /// m/s, NED.
    pub(super) velocity: [f32; 3],
    /// Roll, pitch, yaw, rad.
    pub(super) euler: [f32; 3],
    /// w, x, y, z; none where it has to be made of the angles.
    pub(super) quaternion: Option<[f32; 4]>,
    /// m/s², FRD.
    pub(super) acceleration: Option<[f32; 3]>,
    /// rad/s, FRD.
    pub(super) rates: Option<[f32; 3]>,
    /// Degrees, degrees, m.
    pub(super) gps: Option<[f64; 3]>,
    pub(super) rpm: [f32; 8],
}

/// What is about a vehicle's collisions in a packet of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// It ran into this vehicle.
    Crashed(i32),
    /// The estimator has a 3D fix.
    EkfFixed,
}

impl Motion {
    /// Attitude, FRD in NED.
    pub(super) fn attitude(&self) -> Quaternion {
        match self.quaternion {
            // All zeros is what a simulator sends that does not fill it.
            Some(wxyz) if wxyz != [0.0; 4] => Quaternion::from_wxyz(wxyz.map(f64::from)),
            _ => {
                let [roll, pitch, yaw] = self.euler.map(f64::from);
                Quaternion::from_rpy(roll, pitch, yaw)
            }
        }
    }

    /// A state that is no number anywhere in its pose is none.
    fn checked(self) -> Result<Self, DecodeError> {
        let angles = self.euler.iter().chain(self.quaternion.iter().flatten());
        if !self.position.iter().all(|n| n.is_finite()) {
            return Err(DecodeError::OutOfRange("PosE"));
        }
        if !angles.chain(&self.velocity).all(|n| n.is_finite()) {
            return Err(DecodeError::OutOfRange("AngEuler, AngQuatern or VelE"));
        }
        Ok(self)
    }
}

/// A truth packet; nothing for the other packets of its port.
///
/// **Errors**: no packet of that port, or one whose pose is no number.
pub(super) fn truth(bytes: &[u8]) -> Result<Option<Motion>, DecodeError> {
    let none = Motion {
        copter_id: 0,
        vehicle_type: 0,
        time: None,
        position: [0.0; 3],
        velocity: [0.0; 3],
        euler: [0.0; 3],
        quaternion: None,
        acceleration: None,
        rates: None,
        gps: None,
        rpm: [0.0; 8],
    };
    let clock = |time: f64| Some(time).filter(|time| time.is_finite() && *time >= 0.0);
    let motion = match detect(Series::Truth, bytes) {
        Some(Kind::SOut2Simulator) => {
            let p = SOut2Simulator::decode(bytes).map_err(error)?;
            Motion {
                copter_id: p.copter_id,
                vehicle_type: p.vehicle_type,
                time: clock(p.runned_time),
                position: p.pos_e,
                velocity: p.vel_e,
                euler: p.ang_euler,
                quaternion: Some(p.ang_quatern),
                acceleration: Some(p.acc_b),
                rates: Some(p.rate_b),
                gps: Some(p.pos_gps),
                rpm: p.motor_rpms,
            }
        }
        Some(Kind::SOut2SimulatorSimpleTime) => {
            let p = SOut2SimulatorSimpleTime::decode(bytes).map_err(error)?;
            let [lat, lon, alt] = p.pos_gps_int.map(f64::from);
            Motion {
                copter_id: p.copter_id,
                vehicle_type: p.vehicle_type,
                time: clock(p.runned_time),
                position: p.pos_e,
                velocity: p.vel_e,
                euler: p.ang_euler,
                gps: Some([lat / 1e7, lon / 1e7, alt / 1e3]),
                rpm: p.motor_rpms,
                ..none
            }
        }
        Some(Kind::NetDataShort) => {
            let p = NetDataShort::decode(bytes).map_err(error)?;
            Motion {
                copter_id: p.copter_id,
                vehicle_type: p.vehicle_type,
                time: clock(p.runned_time),
                position: p.pos_e.map(f64::from),
                velocity: p.vel_e,
                euler: p.ang_euler,
                quaternion: Some(p.ang_quatern),
                acceleration: Some(p.acc_b),
                rates: Some(p.rate_b),
                gps: Some(p.pos_gps),
                rpm: p.motor_rpms,
            }
        }
        Some(Kind::SimpleTimeV1) => {
            let p = SimpleTimeV1::decode(bytes).map_err(error)?;
            Motion {
                copter_id: p.copter_id,
                vehicle_type: p.vehicle_type,
                time: clock(p.runned_time),
                position: p.pos_e,
                velocity: p.vel_e,
                euler: p.ang_euler,
                rpm: p.motor_rpms,
                ..none
            }
        }
        Some(Kind::SimpleTimeV0) => {
            let p = SimpleTimeV0::decode(bytes).map_err(error)?;
            Motion {
                copter_id: p.copter_id,
                vehicle_type: p.vehicle_type,
                time: clock(p.runned_time),
                position: p.pos_e.map(f64::from),
                velocity: p.vel_e,
                euler: p.ang_euler,
                rpm: p.motor_rpms,
                ..none
            }
        }
        Some(_) => return Ok(None),
        None => return Err(DecodeError::BadMagic),
    };
    motion.checked().map(Some)
}

/// A packet of the autopilot's estimate, with what it says of collisions and the estimator; MAVLink is neither.
///
/// **Errors**: as [`truth`].
pub(super) fn estimate(bytes: &[u8]) -> Result<(Option<Motion>, Option<Notice>), DecodeError> {
    match detect(Series::Estimate, bytes) {
        Some(Kind::OutHilStateData) => {
            let p = OutHilStateData::decode(bytes).map_err(error)?;
            let [lat, lon, alt] = p.gps_pos.map(f64::from);
            let motion = Motion {
                copter_id: i32::try_from(p.copter_id).unwrap_or_default(),
                vehicle_type: 0,
                time: Some(f64::from(p.time_boot_ms) / 1e3),
                position: p.local_pos.map(f64::from),
                velocity: p.local_vel,
                euler: p.ang_eular,
                quaternion: None,
                acceleration: None,
                rates: None,
                gps: (p.fix_type >= 2).then_some([lat / 1e7, lon / 1e7, alt / 1e3]),
                rpm: [0.0; 8],
            };
            let notice = match p.tg {
                0.. => Some(Notice::Crashed(p.tg)),
                _ if p.resrve_float > 0.5 => Some(Notice::EkfFixed),
                _ => None,
            };
            Ok((Some(motion.checked()?), notice))
        }
        Some(Kind::OutHilStateShort) => {
            let p = OutHilStateShort::decode(bytes).map_err(error)?;
            match p.checksum {
                STATE => {
                    let motion = Motion {
                        copter_id: 0,
                        vehicle_type: 0,
                        time: None,
                        position: p.local_pos.map(f64::from),
                        velocity: p.local_vel,
                        euler: p.ang_eular,
                        quaternion: None,
                        acceleration: None,
                        rates: None,
                        gps: None,
                        rpm: [0.0; 8],
                    };
                    Ok((Some(motion.checked()?), None))
                }
                rostrans_rflysim::estimate::CRASHED => Ok((None, Some(Notice::Crashed(p.gps_home[1])))),
                _ => Ok((None, Some(Notice::EkfFixed))),
            }
        }
        Some(_) => Ok((None, None)),
        None => Err(DecodeError::BadMagic),
    }
}

/// The error of the wire as the engine counts it.
pub(super) fn error(error: WireError) -> DecodeError {
    match error {
        WireError::Length { need, have, .. } => DecodeError::Truncated { need, have },
        WireError::Magic { .. } => DecodeError::BadMagic,
    }
}
