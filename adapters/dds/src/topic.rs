//! Publishers and subscriptions.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{PublishError, Publisher, SampleSink},
    clock::RosTime,
    codec,
    topic::{self, Durability, KEEP_ALL_BYTES, Liveliness, Qos, Reliability},
};
use rostrans_rtps::{
    EndpointQos, Guid, History, Ownership, RemoteQos, Sample, WriteError, WriteOptions, Writer,
};

use crate::{complaint::Watched, node::Entry};

/// A publish handle: the RTPS writer and its place in the node list.
pub(crate) struct DdsPublisher {
    pub(crate) writer: Writer,
    /// Whether the source time is the stamp of the message. A lifespan counts from when it was really published.
    pub(crate) stamped: bool,
    pub(crate) _entry: Entry,
    pub(crate) _watched: Watched,
}

impl Publisher for DdsPublisher {
    fn publish(&self, stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        let source_time = (self.stamped && stamp.ns > 0).then_some(stamp.ns);
        let options = WriteOptions { source_time, ..WriteOptions::default() };
        match self.writer.write_with(msg.as_bytes(), options) {
            Ok(_) => Ok(()),
            Err(WriteError::TooLong { have, .. }) => Err(PublishError::TooLarge(have)),
            Err(WriteError::HistoryFull) => Err(PublishError::Full),
            // The other two cannot occur: CdrBytes has its header, and no single reader is addressed.
            Err(WriteError::Closed | WriteError::TooShort { .. } | WriteError::NotMatched) => {
                Err(PublishError::Closed)
            }
        }
    }

    fn matched(&self) -> usize {
        self.writer.matched()
    }
}

/// Turns the engine's samples into ours; leaves out those of the participant `but`.
pub(crate) fn receiver(sink: SampleSink, but: Option<Guid>) -> Arc<dyn Fn(Sample) + Send + Sync> {
    Arc::new(move |sample| {
        if but.is_some_and(|own| own.prefix == sample.writer.prefix) {
            return;
        }
        if let Some(payload) = CdrBytes::new(sample.payload) {
            let ns = sample.source_time.unwrap_or_else(now_ns);
            sink(codec::Sample { payload, stamp: RosTime { ns } });
        }
    })
}

/// The engine's form of a QoS.
pub(crate) fn endpoint_qos(qos: Qos) -> EndpointQos {
    EndpointQos {
        reliable: qos.reliability == Reliability::Reliable,
        transient_local: qos.durability == Durability::TransientLocal,
        history: match qos.history {
            topic::History::KeepLast => History::KeepLast(u32::from(qos.depth.max(1))),
            topic::History::KeepAll => History::KeepAll { bytes: KEEP_ALL_BYTES },
        },
        // Publishing runs on the tasks that receive: they drop, they never wait.
        max_blocking: Duration::ZERO,
        deadline: qos.deadline,
        lifespan: qos.lifespan,
        liveliness: match qos.liveliness {
            Liveliness::Automatic => rostrans_rtps::Liveliness::Automatic,
            Liveliness::ManualByTopic => rostrans_rtps::Liveliness::ManualByTopic,
        },
        liveliness_lease: qos.liveliness_lease,
        ownership: Ownership::Shared,
    }
}

/// What a foreign writer offers, as far as a subscription chooses by it.
pub(crate) fn offered_qos(qos: &RemoteQos) -> Qos {
    let reliability = if qos.reliable { Reliability::Reliable } else { Reliability::BestEffort };
    let durability = if qos.durability >= rostrans_rtps::Durability::TransientLocal {
        Durability::TransientLocal
    } else {
        Durability::Volatile
    };
    let depth = qos.depth.filter(|_| qos.depth_announced).and_then(|depth| u16::try_from(depth).ok());
    Qos::new(reliability, durability, depth.unwrap_or(0))
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}
