//! The one place where messages get their stamps.

use std::{cell::Cell, time::Instant};

use crate::{
    clock::{
        Clock, Implausible, NoTime, RosTime, StampPolicy, Stamped, Stamping,
        stamping::{self, Fix, Judged},
    },
    stats::LinkStats,
};

/// Stamps what one decoder call publishes.
pub(super) struct Stamper<'a> {
    pub(super) clock: &'a dyn Clock,
    pub(super) at: Instant,
    pub(super) stamping: Stamping,
    stats: &'a LinkStats,
    /// The clock is asked once: all messages of a call have one stamp.
    time: Cell<Option<Result<RosTime, NoTime>>>,
}

impl<'a> Stamper<'a> {
    pub(super) fn new(clock: &'a dyn Clock, at: Instant, stats: &'a LinkStats) -> Self {
        Self { clock, at, stamping: Stamping::AS_IS, stats, time: Cell::new(None) }
    }

    /// The time of receipt.
    pub(super) fn time(&self) -> Result<RosTime, NoTime> {
        let time = self.time.get().unwrap_or_else(|| self.clock.time(self.at));
        self.time.set(Some(time));
        time
    }

    /// The clock has just been told a time.
    pub(super) fn simulated(&mut self, time: RosTime, counts: bool) {
        let exact = counts && self.stamping.policy == StampPolicy::Source;
        let asked = self.clock.time(self.at);
        self.time.set(Some(if exact { asked.map(|_| time) } else { asked }));
    }

    /// Whether a message with this stamp may leave; one that may not is counted.
    pub(super) fn admits(&self, stamp: RosTime) -> bool {
        let reason = match self.time() {
            Err(reason) if self.stamping.is_gated() => reason,
            _ if !stamp.fits() => NoTime::OutOfRange,
            _ => return true,
        };
        match reason {
            NoTime::Closed => self.stats.gated.inc(),
            NoTime::Stale => self.stats.stale_epoch.inc(),
            NoTime::OutOfRange => self.stats.out_of_range.inc(),
        }
        false
    }

    /// Whether [`Stamper::restamp`] would change a sample, or drop it.
    pub(super) fn changes(&self, stamped: Stamped, sample: &[u8]) -> bool {
        let Some(fix) = self.fix(stamped) else { return false };
        let mut sites = stamped.sites(sample);
        while let Some(at) = sites.next(sample) {
            let stamp = stamping::read(sample, at);
            match fix.judge(stamp) {
                Judged::Keep => {}
                Judged::Set if stamp == fix.to => {}
                Judged::Set | Judged::Implausible(_) => return true,
            }
        }
        false
    }

    /// Gives a sample its stamps; returns the message's, `None` when it is to be dropped.
    pub(super) fn restamp(&self, stamped: Stamped, stamp: RosTime, sample: &mut [u8]) -> Option<RosTime> {
        let Some(fix) = self.fix(stamped) else { return Some(stamp) };
        let (mut changed, mut implausible, mut dropped) = (false, false, false);
        let mut sites = stamped.sites(sample);
        while let Some(at) = sites.next(sample) {
            let judged = fix.judge(stamping::read(sample, at));
            implausible |= matches!(judged, Judged::Implausible(_));
            match judged {
                Judged::Keep | Judged::Implausible(Implausible::Keep) => {}
                Judged::Implausible(Implausible::Drop) => dropped = true,
                Judged::Set | Judged::Implausible(Implausible::Receive) => {
                    changed = true;
                    stamping::write(sample, at, fix.to);
                }
            }
        }
        if implausible {
            self.stats.implausible.inc();
        }
        let stamp = if changed { fix.to } else { stamp };
        (!dropped).then_some(stamp)
    }

    fn fix(&self, stamped: Stamped) -> Option<Fix> {
        if stamped == Stamped::No || self.stamping == Stamping::AS_IS {
            return None;
        }
        let received = self.time().unwrap_or_default();
        self.stamping.fix(received, || self.clock.time(Instant::now()).unwrap_or(received))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::{SimClock, Tuning};

    const MS: Duration = Duration::from_millis(1);

    fn counts(stats: &LinkStats) -> [u64; 3] {
        [stats.gated.load(), stats.stale_epoch.load(), stats.out_of_range.load()]
    }

    #[test]
    fn messages_without_a_time_are_dropped_and_counted_by_reason() {
        let start = Instant::now();
        let clock = SimClock::new("sim".into(), Tuning::default(), start);
        let sample = |ms: i64, after: u32| {
            clock.sample(RosTime { ns: ms * 1_000_000 }, RosTime::default(), start + after * MS)
        };
        let stats = LinkStats::default();
        let admits = |after: u32, policy| {
            let mut stamper = Stamper::new(&clock, start + after * MS, &stats);
            stamper.stamping = Stamping::new(policy);
            stamper.admits(stamper.time().unwrap_or_default())
        };
        let source = StampPolicy::Source;
        assert!(!admits(0, source) && admits(0, StampPolicy::None) && admits(0, StampPolicy::Passthrough));
        assert_eq!(counts(&stats), [1, 0, 0]);
        sample(100_000, 10);
        assert!(admits(10, source));
        sample(2_000, 2_000);
        assert!(!admits(1_999, source), "it waited in a queue while the simulation was reset");
        assert!(admits(2_000, source));
        assert_eq!(counts(&stats), [1, 1, 0]);
        sample(-500, 4_000);
        assert!(!admits(4_001, source), "half a second before the beginning");
        assert_eq!(counts(&stats), [1, 1, 1]);
    }

    #[test]
    fn no_stamp_but_the_clocks_leaves_while_its_first_sample_comes_in() {
        let start = Instant::now();
        let clocks: Vec<_> =
            (0..10_000).map(|_| SimClock::new("sim".into(), Tuning::default(), start)).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for clock in &clocks {
                    clock.sample(RosTime::new(7, 0), RosTime::default(), start);
                }
            });
            let stats = LinkStats::default();
            for clock in &clocks {
                loop {
                    let stamper = Stamper::new(clock, start, &stats);
                    let stamp = stamper.time().unwrap_or_default();
                    if stamper.admits(stamp) {
                        assert_eq!(stamp, RosTime::new(7, 0));
                        break;
                    }
                    std::thread::yield_now();
                }
            }
        });
    }

    #[test]
    fn stamps_beyond_2038_are_dropped_and_counted() {
        let stats = LinkStats::default();
        let stamper = Stamper::new(&crate::clock::SystemClock, Instant::now(), &stats);
        assert!(!stamper.admits(RosTime { ns: i64::MAX }));
        assert_eq!(counts(&stats), [0, 0, 1]);
    }
}
