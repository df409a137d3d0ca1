//! ROS time and where stamps come from.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A ROS stamp: nanoseconds since the epoch of its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RosTime {
    /// Nanoseconds since the epoch.
    pub ns: i64,
}

impl RosTime {
    /// Whole seconds, as in `builtin_interfaces/msg/Time`.
    pub fn sec(self) -> i32 {
        i32::try_from(self.ns.div_euclid(1_000_000_000)).unwrap_or(i32::MAX)
    }

    /// Nanoseconds within the second, 0..1e9.
    pub fn nanosec(self) -> u32 {
        u32::try_from(self.ns.rem_euclid(1_000_000_000)).unwrap_or(0)
    }
}

/// Turns the monotonic instant at which bytes arrived into a ROS stamp.
pub trait Clock: Send + Sync {
    /// The ROS time at `at`.
    fn stamp(&self, at: Instant) -> RosTime;
}

/// Wall-clock time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn stamp(&self, at: Instant) -> RosTime {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ns = now.saturating_sub(at.elapsed()).as_nanos();
        RosTime { ns: i64::try_from(ns).unwrap_or(i64::MAX) }
    }
}
