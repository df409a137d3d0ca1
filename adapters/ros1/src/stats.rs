//! Counters of an adapter.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use rostrans_core::throttle::LogThrottle;

use crate::lock;

/// What happened since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ros1Stats {
    /// Messages that subscribers lost because they did not read fast enough.
    pub dropped: u64,
    /// Messages and requests, from others or from rules, that do not fit their type.
    pub malformed: u64,
    /// Requests, connection headers and lengths that make no sense.
    pub bad_requests: u64,
    /// Connections refused for another type, an unknown topic or too many others.
    pub refused: u64,
    /// Times the node registered with a master.
    pub joined: u64,
}

/// The counters behind [`Ros1Stats`].
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) dropped: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) bad_requests: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) joined: AtomicU64,
    /// For log lines that strangers can cause.
    strangers: Mutex<LogThrottle>,
}

impl Counters {
    pub(crate) fn snapshot(&self) -> Ros1Stats {
        let Self { dropped, malformed, bad_requests, refused, joined, strangers: _ } = self;
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        Ros1Stats {
            dropped: read(dropped),
            malformed: read(malformed),
            bad_requests: read(bad_requests),
            refused: read(refused),
            joined: read(joined),
        }
    }

    /// Whether a line about something a stranger did may be logged: at once, then one in ten seconds.
    pub(crate) fn may_tell(&self) -> Option<u64> {
        lock(&self.strangers).event(Instant::now())
    }
}

/// One more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}
