//! The time offset between our clock and the vehicle's: requests, replies, filter. Pure: times are arguments.
//!
//! A request carries our time `ts1`, the reply the vehicle's time `tc1` beside it. With the round trip halved,
//! `ts1 + rtt/2 - tc1` is an observation of our time minus the vehicle's. A smoothed estimate of level and skew is
//! used once it has converged.
//!
//! Unlike MAVROS: only replies to open requests count, each once; round trips are measured on the monotonic clock; on a
//! link whose quickest round trips are above the limit, the limit is twice the quickest; a vehicle whose clock goes
//! back starts anew at once; when our own clock is set, the estimate moves with it.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Parameters of MAVROS's filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Weight of an observation, at first and once converged.
    pub(super) alpha: [f64; 2],
    /// Weight of a change in the skew, at first and once converged.
    pub(super) beta: [f64; 2],
    /// Observations until it has converged.
    pub(super) window: u32,
    /// Round trips from this on are not used.
    pub(super) max_rtt: Duration,
    /// Observations this far from the estimate are not used.
    pub(super) max_deviation: Duration,
    /// So many unused ones in a row are worth a word.
    pub(super) max_high_rtt: u32,
    /// So many unused ones in a row start the filter anew.
    pub(super) max_high_deviation: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            alpha: [0.05, 0.003],
            beta: [0.05, 0.003],
            window: 500,
            max_rtt: Duration::from_millis(10),
            max_deviation: Duration::from_millis(10),
            max_high_rtt: 10,
            max_high_deviation: 10,
        }
    }
}

/// What is worth a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The estimate is good enough to be used.
    Converged,
    /// The link is slow at all times; round trips up to this are used from now on.
    SlowLink(Duration),
    /// Many round trips in a row were too long.
    HighRtt,
    /// The observations moved away; the filter starts anew.
    Deviated,
    /// The vehicle's clock went back; the filter started anew.
    Restarted,
}

/// A reply to one of our requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observation {
    /// Our time minus the vehicle's by this reply, nanoseconds.
    pub(super) offset_ns: i64,
    /// The estimate after it, nanoseconds.
    pub(super) estimate_ns: i64,
    pub(super) rtt: Duration,
    pub(super) event: Option<Event>,
}

/// The exchange with one vehicle.
#[derive(Debug)]
pub(super) struct TimeSync {
    tuning: Tuning,
    /// Requests without a reply: our time and when.
    open: VecDeque<(i64, Instant)>,
    /// The latest request that was answered, and the vehicle's time then.
    latest: Option<(Instant, i64)>,
    /// Round trips of late.
    rtts: VecDeque<Duration>,
    slow: bool,
    /// The first observation; `level` and `skew` count from it, for a float does not hold nanoseconds since 1970.
    base_ns: i64,
    level: f64,
    skew: f64,
    samples: u32,
    high_rtt: u32,
    high_deviation: u32,
}

impl TimeSync {
    pub(super) fn new(tuning: Tuning) -> Self {
        Self {
            tuning,
            open: VecDeque::with_capacity(OPEN),
            latest: None,
            rtts: VecDeque::with_capacity(RTTS),
            slow: false,
            base_ns: 0,
            level: 0.0,
            skew: 0.0,
            samples: 0,
            high_rtt: 0,
            high_deviation: 0,
        }
    }

    /// Notes a request with our time `own_ns` sent at `at`.
    pub(super) fn requested(&mut self, own_ns: i64, at: Instant) {
        if self.open.len() >= OPEN {
            self.open.pop_front();
        }
        self.open.push_back((own_ns, at));
    }

    /// Takes a reply received at `at`; `None` when it answers no open request of ours.
    pub(super) fn replied(&mut self, ts1: i64, tc1: i64, at: Instant) -> Option<Observation> {
        let index = self.open.iter().position(|(own, _)| *own == ts1)?;
        let (_, sent) = self.open.remove(index)?;
        let rtt = at.saturating_duration_since(sent);
        let mut event = None;
        if let Some((latest, remote)) = self.latest
            && sent > latest
            && tc1 < remote
        {
            self.restart();
            event = Some(Event::Restarted);
        }
        if self.latest.is_none_or(|(latest, _)| sent > latest) {
            self.latest = Some((sent, tc1));
        }
        let half = i64::try_from(rtt.as_nanos() / 2).unwrap_or(i64::MAX);
        let offset_ns = ts1.saturating_add(half).saturating_sub(tc1);
        let happened = self.observe(offset_ns, rtt);
        Some(Observation { offset_ns, estimate_ns: self.estimate_ns(), rtt, event: event.or(happened) })
    }

    /// Takes an observation that took `rtt`.
    pub(super) fn observe(&mut self, offset_ns: i64, rtt: Duration) -> Option<Event> {
        if self.rtts.len() >= RTTS {
            self.rtts.pop_front();
        }
        self.rtts.push_back(rtt);
        let (limit, told) = self.rtt_limit();
        let deviation = Duration::from_nanos(offset_ns.saturating_sub(self.estimate_ns()).unsigned_abs());
        let converged = self.is_converged();
        if rtt >= limit {
            self.high_rtt += 1;
            let many = self.high_rtt > self.tuning.max_high_rtt;
            if many {
                self.high_rtt = 0;
            }
            return told.or_else(|| many.then_some(Event::HighRtt));
        }
        // What a round trip hides in its halves is no deviation of the clocks.
        let allowed =
            if self.slow { self.tuning.max_deviation.max(limit / 2) } else { self.tuning.max_deviation };
        if converged && deviation > allowed {
            self.high_deviation += 1;
            if self.high_deviation <= self.tuning.max_high_deviation {
                return told;
            }
            self.restart();
            return Some(Event::Deviated);
        }
        self.update(offset_ns);
        told.or_else(|| (!converged && self.is_converged()).then_some(Event::Converged))
    }

    /// Our time minus the vehicle's in nanoseconds, once it is known well.
    pub(super) fn offset_ns(&self) -> Option<i64> {
        (self.samples > 0 && self.is_converged()).then(|| self.estimate_ns())
    }

    /// Our clock was set forward by `by_ns` (back if negative): the estimate goes with it.
    pub(super) fn own_clock_set(&mut self, by_ns: i64) {
        self.open.clear();
        self.base_ns = self.base_ns.saturating_add(by_ns);
    }

    /// The vehicle is gone, or has restarted: all is forgotten, only the link is as slow as it was.
    pub(super) fn restart(&mut self) {
        self.latest = None;
        (self.base_ns, self.level, self.skew, self.samples) = (0, 0.0, 0.0, 0);
        (self.high_rtt, self.high_deviation) = (0, 0);
    }

    fn is_converged(&self) -> bool {
        self.samples >= self.tuning.window
    }

    fn estimate_ns(&self) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "saturates; the level is small beside the base")]
        self.base_ns.saturating_add(self.level.round() as i64)
    }

    fn update(&mut self, offset_ns: i64) {
        let [alpha, beta] = [self.tuning.alpha, self.tuning.beta].map(|[first, last]| {
            if self.is_converged() {
                return last;
            }
            let x = f64::from(self.samples) / f64::from(self.tuning.window);
            let p = 1.0 - (0.5 * (1.0 - 1.0 / (1.0 - x))).exp();
            p * last + (1.0 - p) * first
        });
        if self.samples == 0 {
            (self.base_ns, self.level, self.skew) = (offset_ns, 0.0, 0.0);
        } else {
            #[expect(clippy::cast_precision_loss, reason = "the difference of two observations is small")]
            let offset = offset_ns.saturating_sub(self.base_ns) as f64;
            let before = self.level;
            self.level = alpha * offset + (1.0 - alpha) * (before + self.skew);
            self.skew = beta * (self.level - before) + (1.0 - beta) * self.skew;
        }
        self.samples = self.samples.saturating_add(1);
        (self.high_rtt, self.high_deviation) = (0, 0);
    }

    /// Round trips below this are used, and whether that has changed.
    fn rtt_limit(&mut self) -> (Duration, Option<Event>) {
        let base = self.tuning.max_rtt;
        let enough =
            self.rtts.len() > usize::try_from(self.tuning.max_high_rtt).unwrap_or(usize::MAX).min(RTTS - 1);
        let quickest = self.rtts.iter().min().copied().unwrap_or_default();
        let slow = enough && quickest >= base;
        let limit = if slow { quickest * 2 } else { base };
        let told = (slow && !self.slow).then_some(Event::SlowLink(limit));
        self.slow = slow;
        (limit, told)
    }
}

/// Requests that may be under way: 6 s at 10 Hz.
const OPEN: usize = 64;
/// Round trips among which the quickest is looked for: 20 s at 10 Hz, so that a burst of long ones changes nothing.
const RTTS: usize = 200;

#[cfg(test)]
mod tests;
