//! Whether a stream of setpoints goes to the vehicle. PX4 flies OFFBOARD only while one does.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use super::dialect::{Message, SetAttitudeTarget, SetPositionTargetGlobalInt, SetPositionTargetLocalNed};

/// Whether a message is a setpoint that keeps OFFBOARD alive.
pub(super) const fn is_setpoint(msgid: u32) -> bool {
    matches!(msgid, SetAttitudeTarget::ID | SetPositionTargetLocalNed::ID | SetPositionTargetGlobalInt::ID)
}

/// When setpoints were sent.
///
/// They are sent by the rule's worker task alone; the atomics only make it part of what codecs share.
#[derive(Debug)]
pub(super) struct Setpoints {
    epoch: Instant,
    /// Milliseconds from the epoch to the beginning of the stream.
    began: AtomicU64,
    /// Milliseconds from the epoch to the latest setpoint; [`NEVER`] before the first.
    last: AtomicU64,
}

impl Default for Setpoints {
    fn default() -> Self {
        Self { epoch: Instant::now(), began: AtomicU64::new(0), last: AtomicU64::new(NEVER) }
    }
}

impl Setpoints {
    /// Notes a setpoint.
    pub(super) fn sent(&self, at: Instant) {
        let at_ms = self.ms(at);
        if !is_fresh(self.last.swap(at_ms, Relaxed), at_ms) {
            self.began.store(at_ms, Relaxed);
        }
    }

    /// For how long they have been coming without a [`GAP`]; `None` when there is one now.
    pub(super) fn streaming(&self, now: Instant) -> Option<Duration> {
        let last = self.last.load(Relaxed);
        let stream = last.saturating_sub(self.began.load(Relaxed));
        is_fresh(last, self.ms(now)).then(|| Duration::from_millis(stream))
    }

    fn ms(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.epoch).as_millis()).unwrap_or(NEVER - 1)
    }
}

fn is_fresh(last_ms: u64, now_ms: u64) -> bool {
    last_ms != NEVER && now_ms.saturating_sub(last_ms) <= GAP
}

const NEVER: u64 = u64::MAX;
/// Milliseconds between setpoints at the rate that PX4 wants at least, 2 Hz.
const GAP: u64 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_lasts_until_a_gap_and_begins_anew_after_it() {
        let setpoints = Setpoints::default();
        let at = |ms| setpoints.epoch + Duration::from_millis(ms);
        assert_eq!(setpoints.streaming(at(0)), None);
        for ms in (0..=2000).step_by(500) {
            setpoints.sent(at(ms));
        }
        assert_eq!(setpoints.streaming(at(2500)), Some(Duration::from_secs(2)));
        assert_eq!(setpoints.streaming(at(2501)), None);
        setpoints.sent(at(3000));
        assert_eq!(setpoints.streaming(at(3000)), Some(Duration::ZERO));
    }
}
