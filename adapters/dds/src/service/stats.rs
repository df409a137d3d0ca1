//! What happened to calls.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of all services of an adapter since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceStats {
    /// Requests that reached a service we offer.
    pub requests: u64,
    /// Of these, the ones that could not be read.
    pub malformed: u64,
    /// Of these, the ones dropped because too many were being answered.
    pub overload: u64,
    /// Replies sent.
    pub replies: u64,
    /// Replies dropped: the caller is gone, its reply reader was not matched in time, or the writer refused.
    pub replies_dropped: u64,
    /// Calls sent.
    pub calls: u64,
    /// Responses that came for calls nobody waits for any more.
    pub late: u64,
}

/// The live form of [`ServiceStats`]; relaxed, because each value stands alone.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) overload: AtomicU64,
    pub(crate) replies: AtomicU64,
    pub(crate) replies_dropped: AtomicU64,
    pub(crate) calls: AtomicU64,
    pub(crate) late: AtomicU64,
}

impl Counters {
    pub(crate) fn snapshot(&self) -> ServiceStats {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        ServiceStats {
            requests: get(&self.requests),
            malformed: get(&self.malformed),
            overload: get(&self.overload),
            replies: get(&self.replies),
            replies_dropped: get(&self.replies_dropped),
            calls: get(&self.calls),
            late: get(&self.late),
        }
    }
}

/// Counts one.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}
