//! The last attitude, for codecs that need it beside their own messages.

use rostrans_mavlink::Packet;

use super::dialect::{Attitude, AttitudeQuaternion, Message};
use crate::frames::{Flu, Frd, Quaternion};

/// Attitude and body rates as `imu/data` shows them.
///
/// ATTITUDE_QUATERNION is preferred: once it was seen, ATTITUDE is ignored.
#[derive(Clone, Debug)]
pub(super) struct AttitudeTracker {
    quaternion_seen: bool,
    /// FLU in ENU; identity before the first message.
    pub(super) orientation: Quaternion,
    /// rad/s; zero before the first message.
    pub(super) rates: Flu<[f64; 3]>,
    /// When it was measured, since the vehicle's boot.
    pub(super) time_boot_ms: u32,
}

impl AttitudeTracker {
    pub(super) fn new() -> Self {
        Self {
            quaternion_seen: false,
            orientation: Quaternion::IDENTITY,
            rates: Flu([0.0; 3]),
            time_boot_ms: 0,
        }
    }

    /// Takes a message; false when it is no attitude or one to be ignored.
    pub(super) fn update(&mut self, packet: &Packet<'_>) -> bool {
        let (orientation, rates, time_boot_ms) = match packet.msgid {
            AttitudeQuaternion::ID => {
                let m = AttitudeQuaternion::decode(packet.payload);
                self.quaternion_seen = true;
                let q = Quaternion::from_wxyz([m.q1, m.q2, m.q3, m.q4].map(f64::from));
                (q, [m.rollspeed, m.pitchspeed, m.yawspeed], m.time_boot_ms)
            }
            Attitude::ID if !self.quaternion_seen => {
                let m = Attitude::decode(packet.payload);
                let q = Quaternion::from_rpy(m.roll.into(), m.pitch.into(), m.yaw.into());
                (q, [m.rollspeed, m.pitchspeed, m.yawspeed], m.time_boot_ms)
            }
            _ => return false,
        };
        self.orientation = orientation.swap_attitude();
        self.rates = Frd(rates.map(f64::from)).to_flu();
        self.time_boot_ms = time_boot_ms;
        true
    }

    /// Takes ATTITUDE again; the last attitude stays.
    pub(super) fn forget_source(&mut self) {
        self.quaternion_seen = false;
    }
}
