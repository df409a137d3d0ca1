//! How long to wait before the next attempt to open a port.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// Doubles from 0.2 s to 5 s, give or take a quarter, so that several ports do not try in step.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(crate) fn next(&mut self) -> Duration {
        let base = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        // The keys of a fresh hasher are random enough to spread attempts.
        let percent = 75 + u32::try_from(RandomState::new().hash_one(self.failures) % 51).unwrap_or(25);
        (base * percent / 100).min(LONGEST)
    }

    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_from_a_fifth_of_a_second_to_five_seconds() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..50).map(|_| backoff.next().as_millis()).collect();
        assert!((150..=250).contains(&waits[0]), "{waits:?}");
        assert!((300..=500).contains(&waits[1]), "{waits:?}");
        assert!(waits[10..].iter().all(|ms| (3750..=5000).contains(ms)), "{waits:?}");
        backoff.reset();
        assert!(backoff.next().as_millis() <= 250);
    }
}
