//! What is counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of an adapter since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZenohStats {
    /// Samples taken.
    pub received: u64,
    /// Samples, requests and responses refused: no attachment, a malformed one, or no CDR.
    pub malformed: u64,
    /// Samples refused because their key names another type.
    pub wrong_type: u64,
    /// Liveliness tokens refused.
    pub malformed_tokens: u64,
    /// Requests refused because too many wait.
    pub overload: u64,
}

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) received: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) wrong_type: AtomicU64,
    pub(crate) malformed_tokens: AtomicU64,
    pub(crate) overload: AtomicU64,
}

impl Counters {
    pub(crate) fn snapshot(&self) -> ZenohStats {
        ZenohStats {
            received: self.received.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            wrong_type: self.wrong_type.load(Relaxed),
            malformed_tokens: self.malformed_tokens.load(Relaxed),
            overload: self.overload.load(Relaxed),
        }
    }
}

/// One more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}
