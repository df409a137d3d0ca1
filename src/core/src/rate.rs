//! The rate limit of a link.

use std::time::{Duration, Instant};

use crate::rule::RateLimit;

/// Admits at most `limit` messages in each fixed window of one second, counted from the first message.
#[derive(Clone, Debug)]
pub struct RateLimiter {
    limit: u32,
    window_start: Option<Instant>,
    admitted: u32,
}

impl RateLimiter {
    /// A limiter with an empty window.
    pub fn new(limit: RateLimit) -> Self {
        Self { limit: limit.0, window_start: None, admitted: 0 }
    }

    /// True when a message at `now` may pass.
    pub fn admit(&mut self, now: Instant) -> bool {
        let expired = self.window_start.is_none_or(|s| now.saturating_duration_since(s) >= WINDOW);
        if expired {
            self.window_start = Some(now);
            self.admitted = 0;
        }
        let admit = self.admitted < self.limit;
        self.admitted += u32::from(admit);
        admit
    }
}

const WINDOW: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_admits_its_limit_then_opens_again_after_a_second() {
        let mut limiter = RateLimiter::new(RateLimit(2));
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let admitted: Vec<bool> = [0, 1, 2, 999, 1000, 1001, 1002].map(|ms| limiter.admit(at(ms))).into();
        assert_eq!(admitted, [true, true, false, false, true, true, false]);
    }
}
