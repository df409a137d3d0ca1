use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one participant since its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ParticipantStats {
    /// Datagrams received.
    pub datagrams_in: u64,
    /// Datagrams handed to the kernel.
    pub datagrams_out: u64,
    /// Datagrams the kernel refused.
    pub send_errors: u64,
    /// Datagrams or submessages that were not valid RTPS.
    pub malformed: u64,
    /// Samples given to readers.
    pub samples_in: u64,
    /// Samples written.
    pub samples_out: u64,
    /// Samples or fragments sent again on request.
    pub repairs: u64,
    /// Samples a reader never got: given up by their writer or crowded out by a limit.
    pub lost: u64,
    /// Samples not given to a reader because their lifespan was over.
    pub expired: u64,
    /// Deadlines that readers and writers of ours missed.
    pub deadlines_missed: u64,
    /// How often a writer, ours or one we read, was not alive any more.
    pub liveliness_lost: u64,
    /// State refused because a limit was reached.
    pub over_limit: u64,
}

/// The live form of [`ParticipantStats`]; relaxed, because each value stands alone.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) datagrams_in: AtomicU64,
    pub(crate) datagrams_out: AtomicU64,
    pub(crate) send_errors: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) samples_in: AtomicU64,
    pub(crate) samples_out: AtomicU64,
    pub(crate) repairs: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) deadlines_missed: AtomicU64,
    pub(crate) liveliness_lost: AtomicU64,
    pub(crate) over_limit: AtomicU64,
}

impl Counters {
    pub(crate) fn snapshot(&self) -> ParticipantStats {
        let get = |c: &AtomicU64| c.load(Ordering::Relaxed);
        ParticipantStats {
            datagrams_in: get(&self.datagrams_in),
            datagrams_out: get(&self.datagrams_out),
            send_errors: get(&self.send_errors),
            malformed: get(&self.malformed),
            samples_in: get(&self.samples_in),
            samples_out: get(&self.samples_out),
            repairs: get(&self.repairs),
            lost: get(&self.lost),
            expired: get(&self.expired),
            deadlines_missed: get(&self.deadlines_missed),
            liveliness_lost: get(&self.liveliness_lost),
            over_limit: get(&self.over_limit),
        }
    }
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}
