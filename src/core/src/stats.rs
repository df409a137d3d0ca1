//! Per-link counters.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Counters of one link; relaxed atomics, one writer each on the hot path.
        #[derive(Debug, Default)]
        pub struct LinkStats {
            $($(#[$doc])* pub $name: Counter,)*
            /// When the link last saw a frame or a sample.
            pub last_active: LastActive,
        }

        /// The counters at one moment.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct LinkSnapshot {
            $($(#[$doc])* pub $name: u64,)*
            /// When the link last saw a frame or a sample.
            pub last_active: Option<Instant>,
        }

        impl LinkStats {
            /// Reads all counters.
            pub fn snapshot(&self) -> LinkSnapshot {
                LinkSnapshot { $($name: self.$name.load(),)* last_active: self.last_active.load() }
            }
        }
    };
}

counters! {
    /// Frames received for, or sent by, the link.
    frames,
    /// Bytes of those frames.
    bytes,
    /// ROS messages published or received.
    messages,
    /// Samples and service calls a decoder was given.
    taken,
    /// Frames a decoder sent: replies, requests and heartbeats of its own; not among `frames`.
    sent_frames,
    /// Items displaced from a full queue.
    dropped_queue,
    /// Messages over the rate limit.
    dropped_rate,
    /// Messages and frames that came while their clock had no time.
    gated,
    /// Messages from before their clock was set back.
    stale_epoch,
    /// Messages with a stamp too far from the time of receipt.
    implausible,
    /// Messages with a stamp before 0 or after 2038.
    out_of_range,
    /// Frames from another sender than the link's target while it waited for an answer.
    dropped_sender,
    /// Frames that could not be decoded.
    decode_errors,
    /// Samples that could not be encoded.
    encode_errors,
    /// Frames or samples that could not be sent or published.
    send_errors,
    /// Service calls answered.
    calls,
    /// Service calls that failed or timed out.
    failed_calls,
}

/// A relaxed counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn inc(&self) {
        self.add(1);
    }

    /// Adds `n`.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Relaxed);
    }

    /// The present value.
    pub fn load(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The instant of the latest activity, kept in one relaxed atomic.
#[derive(Debug)]
pub struct LastActive {
    base: Instant,
    /// Nanoseconds since `base`, plus one; 0 stands for never.
    after_ns: AtomicU64,
}

impl LastActive {
    /// Notes activity at `at`.
    pub fn mark(&self, at: Instant) {
        let after = at.saturating_duration_since(self.base).as_nanos();
        self.after_ns.store(u64::try_from(after).unwrap_or(u64::MAX).saturating_add(1), Relaxed);
    }

    /// The latest activity, if there was any.
    pub fn load(&self) -> Option<Instant> {
        let after = self.after_ns.load(Relaxed).checked_sub(1)?;
        Some(self.base + Duration::from_nanos(after))
    }
}

impl Default for LastActive {
    fn default() -> Self {
        Self { base: Instant::now(), after_ns: AtomicU64::new(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_activity_is_the_latest_mark() {
        let stats = LinkStats::default();
        assert_eq!(stats.snapshot().last_active, None);
        let at = Instant::now() + Duration::from_secs(3);
        stats.last_active.mark(at);
        assert_eq!(stats.snapshot().last_active, Some(at));
    }
}
