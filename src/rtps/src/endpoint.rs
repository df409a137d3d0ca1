use std::time::Duration;

use bytes::Bytes;

use crate::graph::Liveliness;
use crate::guid::{Guid, SampleIdentity};

/// What a new writer or reader is.
#[derive(Clone, Debug, Default)]
pub struct EndpointSpec {
    /// DDS topic name, for ROS `rt/chatter`; matched byte for byte.
    pub topic: String,
    /// DDS type name, for ROS `std_msgs::msg::dds_::String_`; matched byte for byte.
    pub type_name: String,
    /// All policies but the partitions.
    pub qos: EndpointQos,
    /// Only endpoints with a partition in common talk to each other; names may have the wildcards `*` and `?`. Empty is
    /// the default partition, which is the one with the empty name.
    pub partitions: Vec<String>,
    /// USER_DATA announced with the endpoint, for ROS `typehash=RIHS01_..;`.
    pub user_data: Vec<u8>,
}

/// QoS of a local endpoint. Policies not listed have their DDS default.
///
/// Source: DDS 1.4, 2.2.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndpointQos {
    /// Lost samples are repaired.
    pub reliable: bool,
    /// A writer replays its history to late readers; a reader asks for that.
    pub transient_local: bool,
    /// How much a writer keeps for repairs and late readers.
    pub history: History,
    /// How long a write to a full keep-all history waits for room; zero to fail at once. A reader has none.
    pub max_blocking: Duration,
    /// A writer promises, a reader expects a sample at least this often; `None` for no promise.
    pub deadline: Option<Duration>,
    /// How long after its source time a sample is of use; `None` for ever. Of a writer's and a reader's the shorter
    /// counts; the clocks of their hosts must agree.
    pub lifespan: Option<Duration>,
    /// Who asserts that a writer is alive.
    pub liveliness: Liveliness,
    /// A writer that is not asserted for this long is not alive; `None` for never.
    pub liveliness_lease: Option<Duration>,
    /// Whether readers take the samples of all writers or of the strongest alone.
    pub ownership: Ownership,
}

impl EndpointQos {
    /// Reliable, volatile, keep last 10, everything else as DDS has it: the ROS 2 default.
    pub const DEFAULT: Self = Self {
        reliable: true,
        transient_local: false,
        history: History::KeepLast(10),
        max_blocking: Duration::from_millis(100),
        deadline: None,
        lifespan: None,
        liveliness: Liveliness::Automatic,
        liveliness_lease: None,
        ownership: Ownership::Shared,
    };
}

impl Default for EndpointQos {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Who may publish a topic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ownership {
    /// Readers take the samples of every writer.
    Shared,
    /// Readers take the samples of the strongest writer that is alive; among equals, of the one with the lowest id.
    Exclusive {
        /// Strength of a writer; a reader's means nothing.
        strength: i32,
    },
}

/// History kept by a writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum History {
    /// The newest `n` samples (at least 1); older ones are given up even when a reader still wants them. One that is
    /// being sent in fragments still leaves whole.
    KeepLast(u32),
    /// Every sample until all readers have it; a write waits or fails when this many payload bytes are held. A
    /// transient-local writer keeps them for late readers as well, so it is full for good after that many bytes.
    KeepAll {
        /// Payload bytes held at most.
        bytes: usize,
    },
}

/// Additions to one write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// Related sample identity, sent as inline QoS.
    pub related: Option<SampleIdentity>,
    /// Send to this one matched reader, or, with an entity of zeros, to all matched readers of that participant; others
    /// are told that the sample is not for them. Cyclone DDS takes what one of its readers is told for all of them, so
    /// several on one topic must get the same.
    pub only_to: Option<Guid>,
    /// Source timestamp, nanoseconds since 1970; `None` takes the wall clock.
    pub source_time: Option<i64>,
}

/// One received sample.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Encapsulation header and body; up to three bytes of padding may follow the body.
    ///
    /// Small payloads share a 64 KiB block with their neighbours: copy out what is kept for long.
    pub payload: Bytes,
    /// Who wrote it.
    pub writer: Guid,
    /// Its sequence number.
    pub seq: i64,
    /// Related sample identity, when the writer sent one.
    pub related: Option<SampleIdentity>,
    /// Source timestamp, nanoseconds since 1970, when the writer sent one.
    pub source_time: Option<i64>,
}
