//! Log lines for events that may come thousands of times a second.

use std::time::{Duration, Instant};

/// The summary interval of [`LogThrottle`].
pub const SUMMARY_INTERVAL: Duration = Duration::from_secs(10);

/// Lets the first event be logged at once and later ones as one summary per [`SUMMARY_INTERVAL`].
///
/// It only decides; the caller logs. Time is an argument.
///
/// ```
/// use std::time::{Duration, Instant};
/// let mut throttle = rostrans_core::throttle::LogThrottle::new();
/// let start = Instant::now();
/// assert_eq!(throttle.event(start), Some(1));
/// assert_eq!(throttle.event(start), None);
/// assert_eq!(throttle.due(start + Duration::from_secs(10)), Some(1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct LogThrottle {
    /// When the last line was let through.
    logged: Option<Instant>,
    /// Events since then.
    held_back: u64,
}

impl LogThrottle {
    /// One that lets the first event through.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes an event; `Some(count)` asks for a log line about this one and the `count - 1` held back before it.
    pub fn event(&mut self, now: Instant) -> Option<u64> {
        self.held_back += 1;
        if self.logged.is_some_and(|at| now.saturating_duration_since(at) < SUMMARY_INTERVAL) {
            return None;
        }
        self.let_through(now)
    }

    /// `Some(count)` asks for the summary of events whose stream has since dried up.
    pub fn due(&mut self, now: Instant) -> Option<u64> {
        if now < self.next_due()? {
            return None;
        }
        self.let_through(now)
    }

    /// When [`LogThrottle::due`] has something to say; `None` while nothing is held back.
    pub fn next_due(&self) -> Option<Instant> {
        let logged = self.logged.filter(|_| self.held_back > 0)?;
        Some(logged + SUMMARY_INTERVAL)
    }

    fn let_through(&mut self, now: Instant) -> Option<u64> {
        self.logged = Some(now);
        Some(std::mem::take(&mut self.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_event_passes_then_one_summary_per_interval() {
        let mut throttle = LogThrottle::new();
        let start = Instant::now();
        let lines: Vec<(u64, u64)> = (0..25_000)
            .filter_map(|ms| Some((ms, throttle.event(start + Duration::from_millis(ms))?)))
            .collect();
        assert_eq!(lines, [(0, 1), (10_000, 10_000), (20_000, 10_000)]);
    }

    #[test]
    fn dried_up_stream_still_gets_its_summary() {
        let mut throttle = LogThrottle::new();
        let start = Instant::now();
        assert_eq!(throttle.event(start), Some(1));
        assert_eq!(throttle.next_due(), None);
        assert_eq!(throttle.event(start), None);
        assert_eq!(throttle.next_due(), Some(start + SUMMARY_INTERVAL));
        assert_eq!(throttle.due(start + Duration::from_secs(9)), None);
        assert_eq!(throttle.due(start + Duration::from_secs(11)), Some(1));
        assert_eq!(throttle.due(start + Duration::from_secs(30)), None);
    }

    #[test]
    fn event_after_a_quiet_time_passes_at_once() {
        let mut throttle = LogThrottle::new();
        let start = Instant::now();
        assert_eq!(throttle.event(start), Some(1));
        assert_eq!(throttle.event(start + Duration::from_secs(60)), Some(1));
    }
}
