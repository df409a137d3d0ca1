//! ROS time: what a stamp is, and the clocks it comes from.
//!
//! ```text
//! instant of receipt --Clock--> ROS time --Stamping, in Emit--> header.stamp
//!                        ^
//!          SystemClock --+-- SimClock <-- Follower <-- /clock, or the packets of a simulator
//! ```
//!
//! A clock is asked for the ROS time of an [`Instant`], the computer's monotonic clock. [`SystemClock`] answers with
//! wall time. [`SimClock`] answers with the time of a simulator, as far as its follower knows it; where it does not,
//! there is no time, and nothing is published. Timeouts, rates and watchdogs never ask a clock.

mod event;
mod follower;
mod record;
mod sim;
mod spec;
pub(crate) mod stamping;
mod tuning;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use rostrans_cdr::{CdrBytes, HEADER_LEN};
use thiserror::Error;

pub use self::{
    event::{Event, State},
    sim::{ClockSnapshot, SimClock},
    spec::{Authority, ClockName, ClockOutput, ClockSource, ClockSpec},
    stamping::{Implausible, StampPolicy, Stamped, Stamping, Window},
    tuning::{Fallback, Lost, Project, Tuning},
};

/// A ROS stamp: nanoseconds since the zero of its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RosTime {
    /// Nanoseconds since the zero of its clock; before it when negative.
    pub ns: i64,
}

impl RosTime {
    /// The time `sec` seconds and `nanosec` nanoseconds after zero, as in `builtin_interfaces/msg/Time`.
    pub fn new(sec: i32, nanosec: u32) -> Self {
        Self { ns: i64::from(sec) * SECOND + i64::from(nanosec) }
    }

    /// A time in seconds, to the nearest nanosecond; `None` for what is no number or beyond 64-bit nanoseconds.
    pub fn from_secs_f64(secs: f64) -> Option<Self> {
        // The whole part goes apart: a double has no room for nanoseconds since 1970.
        let whole = secs.trunc();
        #[expect(clippy::cast_precision_loss, reason = "a bound, far from any time")]
        let bounds = -((i64::MAX / SECOND) as f64)..(i64::MAX / SECOND) as f64;
        if !bounds.contains(&whole) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole, and in range as checked above")]
        let (whole, rest) = (whole as i64, ((secs - whole) * 1e9).round() as i64);
        Some(Self { ns: whole * SECOND + rest })
    }

    /// Whole seconds, as in `builtin_interfaces/msg/Time`; rounded down, so that `nanosec` counts forward.
    ///
    /// Saturates beyond what [`RosTime::fits`].
    pub fn sec(self) -> i32 {
        let sec = self.ns.div_euclid(SECOND);
        i32::try_from(sec).unwrap_or(if sec < 0 { i32::MIN } else { i32::MAX })
    }

    /// Nanoseconds within the second, 0..1e9.
    pub fn nanosec(self) -> u32 {
        u32::try_from(self.ns.rem_euclid(SECOND)).unwrap_or(0)
    }

    /// The time in a `rosgraph_msgs/msg/Clock` sample; `None` where it is cut short or no XCDR1.
    pub fn from_clock(sample: &CdrBytes) -> Option<Self> {
        let at = Stamped::Header.sites(sample).next(sample)?;
        Some(stamping::read(sample, at))
    }

    /// A `rosgraph_msgs/msg/Clock` sample.
    pub fn to_clock(self) -> CdrBytes {
        let mut sample = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        stamping::write(&mut sample, HEADER_LEN, self);
        CdrBytes::new(Bytes::copy_from_slice(&sample)).unwrap_or_default()
    }

    /// The time with this many nanoseconds after zero, saturating.
    pub(crate) fn of_ns(ns: u128) -> Self {
        Self { ns: i64::try_from(ns).unwrap_or(i64::MAX) }
    }

    /// Whether both ROS 1 and ROS 2 can express it: from 0 to 2^31 s (January 2038).
    pub fn fits(self) -> bool {
        (0..=LAST).contains(&self.ns)
    }
}

/// Why a clock has no time for an instant.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NoTime {
    /// The simulator's clock has not come, or is gone.
    #[error("the clock has no time")]
    Closed,
    /// The instant is from before the clock was set back.
    #[error("from before the clock was set back")]
    Stale,
    /// The time is before 0 or after 2038: see [`RosTime::fits`].
    #[error("time out of range")]
    OutOfRange,
}

/// Turns the monotonic instant at which bytes arrived into a ROS stamp.
pub trait Clock: Send + Sync {
    /// The ROS time at `at`.
    ///
    /// Called for every message: takes no lock and allocates nothing.
    ///
    /// **Errors**: there is none; nothing that has a stamp may leave then.
    fn time(&self, at: Instant) -> Result<RosTime, NoTime>;

    /// Counts how often this clock was set: times of one epoch can be compared, those of two cannot. `None` for a clock
    /// that runs with the computer's, and jumps when that is set.
    fn epoch(&self) -> Option<u32> {
        None
    }
}

/// Wall-clock time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// The wall time at `at`.
    pub fn wall(at: Instant) -> RosTime {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        RosTime::of_ns(now.saturating_sub(at.elapsed()).as_nanos())
    }
}

impl Clock for SystemClock {
    fn time(&self, at: Instant) -> Result<RosTime, NoTime> {
        Ok(Self::wall(at))
    }
}

const SECOND: i64 = 1_000_000_000;

/// The last stamp with seconds in 32 signed bits.
const LAST: i64 = (i32::MAX as i64) * SECOND + SECOND - 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seconds_are_rounded_down() {
        let times = [
            (12_470_000_000, 12, 470_000_000),
            (-10_000_000, -1, 990_000_000),
            (-1_000_000_000, -1, 0),
            (0, 0, 0),
            (LAST, i32::MAX, 999_999_999),
        ];
        for (ns, sec, nanosec) in times {
            let time = RosTime { ns };
            assert_eq!((time.sec(), time.nanosec()), (sec, nanosec), "{ns}");
        }
    }

    #[test]
    fn stamps_end_in_2038_and_begin_at_0() {
        assert!(RosTime { ns: LAST }.fits() && RosTime { ns: 0 }.fits());
        assert!(!RosTime { ns: LAST + 1 }.fits() && !RosTime { ns: -1 }.fits());
        assert_eq!(RosTime { ns: i64::MIN }.sec(), i32::MIN);
    }

    #[test]
    fn seconds_in_a_float_carry_into_the_next() {
        let ns = |secs| RosTime::from_secs_f64(secs).map(|time| time.ns);
        assert_eq!(ns(1.999_999_999_9), Some(2_000_000_000));
        assert_eq!(ns(12.5), Some(12_500_000_000));
        assert_eq!(ns(-0.01), Some(-10_000_000));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e10] {
            assert_eq!(ns(bad), None, "{bad}");
        }
    }

    #[test]
    fn clock_samples_are_seconds_and_nanoseconds() {
        let sample = RosTime::new(12, 470_000_000).to_clock();
        assert_eq!(&sample[..], [0, 1, 0, 0, 12, 0, 0, 0, 0x80, 0xa1, 0x03, 0x1c]);
        assert_eq!(RosTime::from_clock(&sample), Some(RosTime::new(12, 470_000_000)));
        let short = CdrBytes::new(sample.as_bytes().slice(..11)).unwrap();
        assert_eq!(RosTime::from_clock(&short), None);
    }

    proptest! {
        #[test]
        fn every_time_with_32_bit_seconds_reads_back(sec in any::<i32>(), nanosec in 0..1_000_000_000_u32) {
            let time = RosTime::new(sec, nanosec);
            prop_assert_eq!((time.sec(), time.nanosec()), (sec, nanosec));
        }

        #[test]
        fn no_float_panics(secs in any::<f64>()) {
            let _time = RosTime::from_secs_f64(secs);
        }
    }
}
