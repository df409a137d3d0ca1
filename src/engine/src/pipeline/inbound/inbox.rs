//! Samples of a rule's inputs on their way to its worker.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use rostrans_core::{
    codec::{Port, Sample},
    queue::{DropOldest, MAX_BYTES},
    throttle::LogThrottle,
};
use tracing::warn;

use crate::{link::Link, supervisor::lock};

/// Samples that may wait; a vehicle has dozens of inputs, whose latched samples come all at once.
const MAX_SAMPLES: usize = 256;

/// A sample on its way to the worker.
pub(super) struct Item {
    pub(super) link: usize,
    pub(super) input: Port,
    pub(super) sample: Sample,
    pub(super) at: Instant,
}

/// Shared by the adapter and the worker.
pub(super) struct Inbox {
    links: Vec<Arc<Link>>,
    pub(super) samples: DropOldest<Item>,
    overflow: Mutex<LogThrottle>,
}

impl Inbox {
    pub(super) fn new(links: Vec<Arc<Link>>) -> Self {
        Self { links, samples: DropOldest::new(MAX_SAMPLES, MAX_BYTES), overflow: Mutex::default() }
    }

    /// What the adapter calls for each sample.
    pub(super) fn put(&self, link: usize, input: Port, sample: Sample, at: Instant) {
        let bytes = sample.payload.len();
        for displaced in self.samples.push(Item { link, input, sample, at }, bytes) {
            if let Some(link) = self.links.get(displaced.link) {
                link.stats.dropped_queue.inc();
            }
            let count = lock(&self.overflow).event(at);
            if let Some(count) = count {
                self.tell_overflow(count);
            }
        }
    }

    /// Logs how many were dropped, when that is due.
    pub(super) fn flush(&self, now: Instant) {
        let dropped = lock(&self.overflow).due(now);
        if let Some(count) = dropped {
            self.tell_overflow(count);
        }
    }

    /// When [`Inbox::flush`] has something to say.
    pub(super) fn next_due(&self) -> Option<Instant> {
        lock(&self.overflow).next_due()
    }

    #[cold]
    fn tell_overflow(&self, count: u64) {
        if let Some(link) = self.links.first() {
            warn!(rule = %link.rule.rule_id, count, "queue full; oldest samples dropped");
        }
    }
}
