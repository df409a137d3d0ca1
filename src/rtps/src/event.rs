use crate::graph::Policy;
use crate::guid::Guid;

/// Something about the QoS of a local endpoint that its user may want to know.
///
/// Source: the communication statuses of DDS 1.4, 2.2.4.1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// No sample within the deadline: a writer was not written, a reader has received nothing.
    ///
    /// The deadline runs from the first sample on, for a reader while a writer is matched.
    DeadlineMissed {
        /// Our writer or reader.
        endpoint: Guid,
        /// Periods that passed since the last event or sample.
        count: u64,
    },
    /// A matched remote writer let its liveliness lease run out, or is alive again.
    ///
    /// A writer counts as alive when it is matched; one that leaves is a change of the graph, not of liveliness.
    LivelinessChanged {
        /// Our reader.
        reader: Guid,
        /// Their writer.
        writer: Guid,
        /// What it is now.
        alive: bool,
    },
    /// A writer of ours with manual liveliness was not asserted within its lease.
    LivelinessLost {
        /// Our writer.
        writer: Guid,
    },
    /// An endpoint of ours and a remote one on the same topic do not fit.
    IncompatibleQos {
        /// Our endpoint.
        endpoint: Guid,
        /// Theirs.
        remote: Guid,
        /// The topic of both.
        topic: String,
        /// What does not fit.
        policies: Vec<Policy>,
    },
    /// Samples of a writer will never reach a reader.
    SamplesLost {
        /// Our reader.
        reader: Guid,
        /// Their writer.
        writer: Guid,
        /// How many.
        count: u64,
    },
}
