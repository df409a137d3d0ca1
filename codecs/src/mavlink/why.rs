//! Why no data flows: what a vehicle should do and does not. Pure: time is an argument, lines are written elsewhere.

use std::time::{Duration, Instant};

/// Something that does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    /// Packets of the vehicle's system, such as this one, but no heartbeat of its autopilot.
    NoHeartbeat { compid: u8, msgid: u32 },
    /// Connected and asked for, but no attitude; with the autopilot's refusal, a `MAV_RESULT`, if there was one.
    NoAttitude { refusal: Option<u8> },
}

/// Watches one vehicle; each complaint comes once, until the thing came and went again.
#[derive(Debug, Default)]
pub(super) struct Why {
    /// A packet while no autopilot was connected: when, and which.
    stray: Option<(Instant, u8, u32)>,
    stray_told: bool,
    connected: Option<Instant>,
    refusal: Option<u8>,
    /// The attitude came, or its absence was told.
    attitude_settled: bool,
}

impl Why {
    /// A packet of the vehicle's system that is no heartbeat of its autopilot.
    pub(super) fn packet(&mut self, compid: u8, msgid: u32, at: Instant) {
        if self.connected.is_none() && self.stray.is_none() {
            self.stray = Some((at, compid, msgid));
        }
    }

    /// The autopilot is connected. `asked` tells that it is asked for its attitude now.
    pub(super) fn connected(&mut self, asked: bool, at: Instant) {
        *self = Self { connected: Some(at), attitude_settled: !asked, ..Self::default() };
    }

    /// The autopilot is gone.
    pub(super) fn lost(&mut self) {
        *self = Self::default();
    }

    pub(super) fn attitude(&mut self) {
        self.attitude_settled = true;
    }

    /// The autopilot's answer, a `MAV_RESULT`, to the request for its attitude.
    pub(super) fn answered(&mut self, result: u8) {
        self.refusal = match result {
            ACCEPTED => None,
            TEMPORARILY_REJECTED | IN_PROGRESS => self.refusal,
            refused => Some(refused),
        };
    }

    /// What is to be told at `now`.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Complaint> {
        let long = |since: Instant| now.saturating_duration_since(since) >= PATIENCE;
        match (self.connected, self.stray) {
            (Some(since), _) if !self.attitude_settled && long(since) => {
                self.attitude_settled = true;
                Some(Complaint::NoAttitude { refusal: self.refusal })
            }
            (None, Some((since, compid, msgid))) if !self.stray_told && long(since) => {
                self.stray_told = true;
                Some(Complaint::NoHeartbeat { compid, msgid })
            }
            _ => None,
        }
    }
}

/// `MAV_RESULT`.
const ACCEPTED: u8 = 0;
const TEMPORARILY_REJECTED: u8 = 1;
const IN_PROGRESS: u8 = 5;
/// How long a thing may take before its absence is told.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(start: Instant, s: u64) -> Instant {
        start + Duration::from_secs(s)
    }

    #[test]
    fn packets_without_heartbeat_are_told_once() {
        let start = Instant::now();
        let mut why = Why::default();
        assert_eq!(why.poll(seconds(start, 60)), None, "nothing came");
        why.packet(1, 30, start);
        why.packet(191, 2, seconds(start, 1));
        assert_eq!(why.poll(seconds(start, 9)), None);
        assert_eq!(why.poll(seconds(start, 10)), Some(Complaint::NoHeartbeat { compid: 1, msgid: 30 }));
        assert_eq!(why.poll(seconds(start, 100)), None);
        why.connected(true, seconds(start, 101));
        why.attitude();
        why.packet(1, 30, seconds(start, 102));
        assert_eq!(why.poll(seconds(start, 200)), None);
    }

    #[test]
    fn missing_attitude_is_told_with_the_autopilots_refusal() {
        let start = Instant::now();
        let mut why = Why::default();
        why.connected(true, start);
        why.answered(3);
        why.answered(1);
        assert_eq!(why.poll(seconds(start, 9)), None);
        assert_eq!(why.poll(seconds(start, 10)), Some(Complaint::NoAttitude { refusal: Some(3) }));
        assert_eq!(why.poll(seconds(start, 20)), None);
        why.lost();
        why.connected(true, seconds(start, 30));
        why.attitude();
        assert_eq!(why.poll(seconds(start, 60)), None);
        why.connected(false, seconds(start, 70));
        assert_eq!(why.poll(seconds(start, 90)), None, "nobody asked for it");
    }
}
