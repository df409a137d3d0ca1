//! When the first of many things is due, without asking all of them each time.

use std::time::Instant;

/// The earliest of the times noted since it was last reached.
///
/// A thing that is put off leaves its earlier time behind: the task then wakes once for nothing and asks all again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Earliest(Option<Instant>);

impl Earliest {
    /// Notes that something is due at `due`.
    pub(crate) fn note(&mut self, due: Option<Instant>) {
        self.0 = self.0.into_iter().chain(due).min();
    }

    /// The earliest.
    pub(crate) fn get(self) -> Option<Instant> {
        self.0
    }

    /// True when it has come; everything must then be noted anew.
    pub(crate) fn reached(&mut self, now: Instant) -> bool {
        let reached = self.0.is_some_and(|due| due <= now);
        if reached {
            self.0 = None;
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn earliest_is_kept_until_it_comes() {
        let start = Instant::now();
        let [one, two] = [1, 2].map(|s| start + Duration::from_secs(s));
        let mut due = Earliest::default();
        due.note(Some(two));
        due.note(None);
        due.note(Some(one));
        due.note(Some(two));
        assert_eq!(due.get(), Some(one));
        assert!(!due.reached(start));
        assert!(due.reached(one));
        assert_eq!(due.get(), None);
        assert!(!due.reached(two), "nothing was noted since");
    }
}
