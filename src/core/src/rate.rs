//! The rate limit of a link.

use std::time::{Duration, Instant};

use crate::rule::RateLimit;

/// Admits a whole number of messages in each fixed window, counted from the first message.
///
/// The window is one second for a whole limit. For another it is as long as the whole part of the limit takes, or as
/// one message takes when that part is 0: 2.5 a second is 2 in 0.8 s, 0.5 is 1 in 2 s.
#[derive(Clone, Debug)]
pub struct RateLimiter {
    limit: u32,
    window: Duration,
    window_start: Option<Instant>,
    admitted: u32,
}

impl RateLimiter {
    /// A limiter with an empty window.
    pub fn new(limit: RateLimit) -> Self {
        // A float to integer cast saturates, and makes 0 of what is no number.
        #[expect(clippy::cast_possible_truncation, reason = "only the whole part is wanted")]
        let whole = (limit.0 as u32).max(1);
        let window = Duration::try_from_secs_f64(f64::from(whole) / limit.0).unwrap_or(Duration::MAX);
        Self { limit: whole, window, window_start: None, admitted: 0 }
    }

    /// True when a message at `now` may pass.
    pub fn admit(&mut self, now: Instant) -> bool {
        let expired = self.window_start.is_none_or(|s| now.saturating_duration_since(s) >= self.window);
        if expired {
            self.window_start = Some(now);
            self.admitted = 0;
        }
        let admit = self.admitted < self.limit;
        self.admitted += u32::from(admit);
        admit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(limit: f64, times_ms: &[u64]) -> Vec<u64> {
        let mut limiter = RateLimiter::new(RateLimit(limit));
        let start = Instant::now();
        let mut admit = |ms: &u64| limiter.admit(start + Duration::from_millis(*ms));
        times_ms.iter().copied().filter(|ms| admit(ms)).collect()
    }

    #[test]
    fn fractions_stretch_the_window() {
        assert_eq!(admitted(0.5, &[0, 1000, 1999, 2000, 3999, 4000]), [0, 2000, 4000]);
        assert_eq!(admitted(2.5, &[0, 1, 2, 799, 800, 801, 802]), [0, 1, 800, 801]);
        assert_eq!(admitted(0.0, &[0, 1, 86_400_000]), [0], "no limit of 0 is planned; it must not panic");
    }

    #[test]
    fn window_admits_its_limit_then_opens_again_after_a_second() {
        assert_eq!(admitted(2.0, &[0, 1, 2, 999, 1000, 1001, 1002]), [0, 1, 1000, 1001]);
    }
}
