//! Two autopilots that use one system id.

use std::{
    fmt,
    net::SocketAddr,
    time::{Duration, Instant},
};

use rostrans_core::throttle::LogThrottle;

/// Notices that heartbeats of one system id come from two origins in turn.
///
/// An autopilot that restarts elsewhere, or with another firmware, changes its origin once; only two of them come back
/// to the one before.
#[derive(Debug, Default)]
pub(super) struct Twins {
    /// Of the latest heartbeat, and of the latest with another origin.
    latest: Option<(Origin, Instant)>,
    other: Option<(Origin, Instant)>,
    /// When they last took turns.
    turned: Option<Instant>,
    lines: LogThrottle,
}

/// What tells autopilots of one system id apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The UDP address.
    pub(super) peer: Option<SocketAddr>,
    /// `MAV_AUTOPILOT`.
    pub(super) autopilot: u8,
    /// `MAV_TYPE`.
    pub(super) kind: u8,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(peer) = self.peer {
            write!(f, "{peer}, ")?;
        }
        write!(f, "autopilot {}, type {}", self.autopilot, self.kind)
    }
}

impl Twins {
    /// Takes the origin of a heartbeat; returns the other one and how often they took turns, when that is worth a
    /// log line.
    pub(super) fn heartbeat(&mut self, origin: Origin, now: Instant) -> Option<(Origin, u64)> {
        let (latest, at) = self.latest.replace((origin, now))?;
        if latest == origin {
            return None;
        }
        let before = self.other.replace((latest, at));
        let back = before
            .is_some_and(|(other, seen)| other == origin && now.saturating_duration_since(seen) < WITHIN);
        if !back {
            return None;
        }
        self.turned = Some(now);
        self.lines.event(now).map(|times| (latest, times))
    }

    /// Whether there are two now, so that clocks and states that change say nothing.
    pub(super) fn are_two(&self, now: Instant) -> bool {
        self.turned.is_some_and(|at| now.saturating_duration_since(at) < WITHIN)
    }
}

/// Heartbeats come once a second; some may be lost.
const WITHIN: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(port: u16) -> Origin {
        Origin { peer: Some(SocketAddr::from(([127, 0, 0, 1], port))), autopilot: 12, kind: 2 }
    }

    /// What each heartbeat, one a second, gives.
    fn after(ports: &[u16]) -> (Vec<bool>, Twins, Instant) {
        let (mut twins, mut now) = (Twins::default(), Instant::now());
        let lines = ports
            .iter()
            .map(|port| {
                now += Duration::from_secs(1);
                twins.heartbeat(origin(*port), now).is_some()
            })
            .collect();
        (lines, twins, now)
    }

    #[test]
    fn autopilot_that_moves_once_is_one() {
        let (lines, twins, now) = after(&[1, 1, 2, 2, 2]);
        assert_eq!(lines, [false; 5]);
        assert!(!twins.are_two(now));
    }

    #[test]
    fn two_that_take_turns_are_told_once_in_a_while() {
        let (lines, twins, now) = after(&[1, 2, 1, 2, 1]);
        assert_eq!(lines, [false, false, true, false, false]);
        assert!(twins.are_two(now));
        assert!(!twins.are_two(now + WITHIN), "one of them is gone");
    }
}
