//! Per-link counters.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Counters of one link; relaxed atomics, one writer each on the hot path.
        #[derive(Debug, Default)]
        pub struct LinkStats {
            $($(#[$doc])* pub $name: Counter,)*
        }

        /// The counters at one moment.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct LinkSnapshot {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl LinkStats {
            /// Reads all counters.
            pub fn snapshot(&self) -> LinkSnapshot {
                LinkSnapshot { $($name: self.$name.load(),)* }
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
    /// Items displaced from a full queue.
    dropped_queue,
    /// Messages over the rate limit.
    dropped_rate,
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
