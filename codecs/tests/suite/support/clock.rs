//! The clock of a test.

use std::time::Instant;

use rostrans_core::clock::{Clock, NoTime, RosTime};

use super::START_NS;

pub(super) struct TestClock {
    pub(super) start: Instant,
    /// Nanoseconds by which it was set.
    pub(super) set_ns: i64,
    /// Of a simulated clock: how often it was set, if it has a time.
    pub(super) epoch: Option<Option<u32>>,
}

impl Clock for TestClock {
    fn time(&self, at: Instant) -> Result<RosTime, NoTime> {
        if self.epoch == Some(None) {
            return Err(NoTime::Closed);
        }
        let passed = at.saturating_duration_since(self.start).as_nanos();
        Ok(RosTime { ns: START_NS + self.set_ns + i64::try_from(passed).unwrap() })
    }

    fn epoch(&self) -> Option<u32> {
        self.epoch.map(Option::unwrap_or_default)
    }
}
