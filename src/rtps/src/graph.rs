use std::net::SocketAddr;
use std::time::Duration;

use crate::discovery::mismatches;
use crate::guid::Guid;

/// What is known about other participants at one moment.
#[derive(Clone, Debug, Default)]
pub struct GraphSnapshot {
    /// Remote participants.
    pub participants: Vec<RemoteParticipant>,
    /// Their endpoints.
    pub endpoints: Vec<RemoteEndpoint>,
    /// Our own endpoints, as others see them.
    pub own: Vec<RemoteEndpoint>,
    /// Pairs on one topic that do not talk to each other, and why.
    pub incompatible: Vec<Incompatible>,
}

/// A remote participant.
#[derive(Clone, Debug)]
pub struct RemoteParticipant {
    /// Its id; the entity part is that of the participant.
    pub guid: Guid,
    /// Its USER_DATA, `enclave=/;` for ROS.
    pub user_data: Vec<u8>,
    /// Where its samples are sent.
    pub locators: Vec<SocketAddr>,
}

/// A writer or reader of a remote participant.
#[derive(Clone, Debug)]
pub struct RemoteEndpoint {
    /// Its id.
    pub guid: Guid,
    /// The id of its participant.
    pub participant: Guid,
    /// DDS topic name.
    pub topic: String,
    /// DDS type name.
    pub type_name: String,
    /// Announced QoS.
    pub qos: RemoteQos,
    /// Its USER_DATA, for ROS `typehash=RIHS01_..;`.
    pub user_data: Vec<u8>,
    /// Writer or reader.
    pub is_writer: bool,
}

/// The QoS policies a remote endpoint announces; what it leaves out has the DDS default.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RemoteQos {
    /// Reliable or best effort.
    pub reliable: bool,
    /// How long a write of a writer may block; `None` for ever. It is no promise to readers.
    pub max_blocking: Option<Duration>,
    /// How much of the past late readers get.
    pub durability: Durability,
    /// Keep-last depth; `None` for keep-all.
    pub depth: Option<u32>,
    /// Whether the depth was announced; else it is the DDS default, and likely not true: Fast DDS keeps its own secret.
    pub depth_announced: bool,
    /// Longest gap between samples; `None` for infinite.
    pub deadline: Option<Duration>,
    /// How long a sample stays valid; `None` for infinite.
    pub lifespan: Option<Duration>,
    /// Who asserts liveliness.
    pub liveliness: Liveliness,
    /// Liveliness lease; `None` for infinite.
    pub liveliness_lease: Option<Duration>,
    /// One writer owns an instance instead of all sharing it.
    pub exclusive_ownership: bool,
    /// Strength of a writer with exclusive ownership.
    pub ownership_strength: i32,
    /// Partitions; empty is the default partition.
    pub partitions: Vec<String>,
    /// Data representations accepted (reader) or offered (writer): 0 XCDR1, 1 XML, 2 XCDR2; empty means XCDR1.
    pub representations: Vec<i16>,
}

impl RemoteQos {
    /// What keeps a writer that offers `self` and a reader that asks for `requested` apart; empty when they fit.
    ///
    /// Both may be of other participants. A reader that announces no data representation takes XCDR1 only.
    ///
    /// Source: DDS 1.4, 2.2.3, the RxO column; DDS-XTypes 1.3, 7.6.3.1.1.
    pub fn misfits(&self, requested: &Self) -> Vec<Policy> {
        let mut found = mismatches(self, requested);
        let offers_other = self.representations.first().is_some_and(|first| *first != 0);
        let told = found.contains(&Policy::Representation);
        if requested.representations.is_empty() && offers_other && !told {
            found.push(Policy::Representation);
        }
        found
    }
}

impl Default for RemoteQos {
    /// What a writer has that announces nothing.
    fn default() -> Self {
        Self::dds_default(true)
    }
}

/// Durability kinds in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Durability {
    /// Only samples written after matching.
    Volatile,
    /// The history a live writer holds.
    TransientLocal,
    /// History held by a service.
    Transient,
    /// History held on disk.
    Persistent,
}

/// Liveliness kinds in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Liveliness {
    /// The middleware asserts.
    Automatic,
    /// The application asserts per participant.
    ManualByParticipant,
    /// The application asserts per topic.
    ManualByTopic,
}

/// A local and a remote endpoint on one topic whose QoS or types keep them apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incompatible {
    /// Our endpoint.
    pub local: Guid,
    /// Their endpoint.
    pub remote: Guid,
    /// The topic of both.
    pub topic: String,
    /// What does not fit.
    pub policies: Vec<Policy>,
}

/// A reason for two endpoints on one topic not to match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Policy {
    /// Type names differ.
    TypeName,
    /// The reader wants reliable, the writer offers best effort.
    Reliability,
    /// The reader wants more history than the writer offers.
    Durability,
    /// The reader wants a shorter deadline.
    Deadline,
    /// The reader wants stricter liveliness.
    Liveliness,
    /// Shared against exclusive.
    Ownership,
    /// No common partition.
    Partition,
    /// The reader does not take XCDR1.
    Representation,
}

impl Policy {
    /// The name to show to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TypeName => "type",
            Self::Reliability => "reliability",
            Self::Durability => "durability",
            Self::Deadline => "deadline",
            Self::Liveliness => "liveliness",
            Self::Ownership => "ownership",
            Self::Partition => "partition",
            Self::Representation => "data representation",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_need_a_common_representation() {
        let plain = RemoteQos::dds_default(true);
        let with = |kinds: &[i16]| RemoteQos { representations: kinds.to_vec(), ..plain.clone() };
        for (offered, requested, fits) in [
            (with(&[]), with(&[]), true),
            (with(&[0]), with(&[]), true),
            (with(&[2]), with(&[]), false),
            (with(&[2]), with(&[0, 2]), true),
            (with(&[]), with(&[2]), false),
        ] {
            let found = offered.misfits(&requested);
            let expected: &[Policy] = if fits { &[] } else { &[Policy::Representation] };
            assert_eq!(found, expected, "{offered:?} {requested:?}");
        }
    }
}
