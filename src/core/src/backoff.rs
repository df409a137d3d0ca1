//! How long to wait before trying again.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

/// Waits that double from 0.2 s to 5 s or another longest wait, each shortened at random by up to a quarter.
///
/// The jitter keeps tasks that failed together from trying together for ever.
#[derive(Clone, Debug)]
pub struct Backoff {
    attempt: u32,
    longest: Duration,
    /// State of a xorshift generator; never 0.
    random: u64,
}

impl Backoff {
    /// One with its own random seed.
    pub fn new() -> Self {
        Self::seeded(RandomState::new().build_hasher().finish())
    }

    /// One whose jitter follows from `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self { attempt: 0, longest: LONGEST, random: seed | 1 }
    }

    /// The same with another longest wait; one below 0.2 s counts as 0.2 s.
    #[must_use]
    pub fn up_to(self, longest: Duration) -> Self {
        Self { longest: longest.max(FIRST), ..self }
    }

    /// The next wait; each is longer than the one before until [`Backoff::reset`].
    pub fn next_delay(&mut self) -> Duration {
        let full = self.longest.min(FIRST.saturating_mul(1 << self.attempt.min(16)));
        self.attempt = self.attempt.saturating_add(1);
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let cut = full / 4 * u32::from(self.random.to_le_bytes()[7]) / 256;
        FIRST.max(full - cut)
    }

    /// Starts again from the shortest wait.
    pub fn reset(&mut self) {
        self.attempt = 0;
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_to_the_longest_within_their_jitter() {
        for seed in 0..200 {
            let mut backoff = Backoff::seeded(seed);
            for full_ms in [200, 400, 800, 1600, 3200, 5000, 5000, 5000] {
                let delay = backoff.next_delay();
                let shortest = FIRST.max(Duration::from_millis(full_ms * 3 / 4));
                assert!(delay >= shortest && delay <= Duration::from_millis(full_ms), "{delay:?} {full_ms}");
            }
        }
    }

    #[test]
    fn longest_delay_can_be_another() {
        let mut backoff = Backoff::new().up_to(Duration::from_secs(1));
        let longest = (0..50).map(|_| backoff.next_delay()).max().unwrap();
        assert!(longest > Duration::from_millis(750) && longest <= Duration::from_secs(1), "{longest:?}");
    }

    #[test]
    fn reset_starts_from_the_first_delay() {
        let mut backoff = Backoff::new();
        for _ in 0..100 {
            assert!(backoff.next_delay() <= LONGEST);
        }
        backoff.reset();
        assert_eq!(backoff.next_delay(), FIRST);
    }
}
