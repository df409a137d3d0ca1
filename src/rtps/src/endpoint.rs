use bytes::Bytes;

use crate::guid::{Guid, SampleIdentity};

/// What a new writer or reader is.
#[derive(Clone, Debug, Default)]
pub struct EndpointSpec {
    /// DDS topic name, for ROS `rt/chatter`; matched byte for byte.
    pub topic: String,
    /// DDS type name, for ROS `std_msgs::msg::dds_::String_`; matched byte for byte.
    pub type_name: String,
    /// Reliability, durability, history.
    pub qos: EndpointQos,
    /// USER_DATA announced with the endpoint, for ROS `typehash=RIHS01_..;`.
    pub user_data: Vec<u8>,
}

/// QoS of a local endpoint. Policies not listed have their DDS default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndpointQos {
    /// Lost samples are repaired.
    pub reliable: bool,
    /// A writer replays its history to late readers; a reader asks for that.
    pub transient_local: bool,
    /// How much a writer keeps for repairs and late readers.
    pub history: History,
}

impl Default for EndpointQos {
    fn default() -> Self {
        Self { reliable: true, transient_local: false, history: History::KeepLast(10) }
    }
}

/// History kept by a writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum History {
    /// The newest `n` samples (at least 1); older ones are given up even when a reader still wants them. One that is
    /// being sent in fragments still leaves whole.
    KeepLast(u32),
    /// Every sample until all readers have it; a write fails when this many payload bytes are held. A transient-local
    /// writer keeps them for late readers as well, so it is full for good after that many bytes.
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
    /// Send to this one matched reader; others are told that the sample is not for them.
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
