//! QoS policies in announcements.

use std::time::Duration;

use super::{MAX_NAME, read_duration, write_duration};
use crate::endpoint::{EndpointSpec, History, Ownership};
use crate::graph::{Durability, Liveliness, RemoteQos};
use crate::wire::{Cursor, Malformed, ParamWriter, pid};

/// Partitions and data representations taken from one announcement.
const MAX_ITEMS: usize = 64;

impl RemoteQos {
    /// What an endpoint has that announces nothing: readers best effort, writers reliable, all else permissive.
    pub(crate) fn dds_default(is_writer: bool) -> Self {
        Self {
            reliable: is_writer,
            max_blocking: Some(Duration::from_millis(100)),
            durability: Durability::Volatile,
            depth: Some(1),
            depth_announced: false,
            deadline: None,
            lifespan: None,
            liveliness: Liveliness::Automatic,
            liveliness_lease: None,
            exclusive_ownership: false,
            ownership_strength: 0,
            partitions: Vec::new(),
            representations: Vec::new(),
        }
    }

    /// What we announce for an endpoint of ours.
    pub(crate) fn local(spec: &EndpointSpec) -> Self {
        let qos = &spec.qos;
        let (exclusive_ownership, ownership_strength) = match qos.ownership {
            Ownership::Shared => (false, 0),
            Ownership::Exclusive { strength } => (true, strength),
        };
        Self {
            reliable: qos.reliable,
            max_blocking: Some(qos.max_blocking),
            durability: if qos.transient_local { Durability::TransientLocal } else { Durability::Volatile },
            depth: match qos.history {
                History::KeepLast(depth) => Some(depth.max(1)),
                History::KeepAll { .. } => None,
            },
            depth_announced: true,
            deadline: qos.deadline,
            lifespan: qos.lifespan,
            liveliness: qos.liveliness,
            liveliness_lease: qos.liveliness_lease,
            exclusive_ownership,
            ownership_strength,
            partitions: spec.partitions.clone(),
            representations: Vec::new(),
        }
    }

    /// Takes one parameter of an announcement; others than policies are ignored.
    pub(super) fn read(&mut self, id: u16, value: &mut Cursor<'_>) -> Result<(), Malformed> {
        match id {
            pid::RELIABILITY => {
                self.reliable = value.u32()? >= 2;
                // Nobody depends on it, so nobody is refused for it.
                if let Ok(max_blocking) = read_duration(value) {
                    self.max_blocking = max_blocking;
                }
            }
            pid::DURABILITY => {
                self.durability = match value.u32()? {
                    0 => Durability::Volatile,
                    1 => Durability::TransientLocal,
                    2 => Durability::Transient,
                    3 => Durability::Persistent,
                    _ => return Err(Malformed),
                };
            }
            pid::HISTORY => {
                let (kind, depth) = (value.u32()?, value.u32()?);
                self.depth = (kind == 0).then_some(depth);
                self.depth_announced = true;
            }
            pid::DEADLINE => self.deadline = read_duration(value)?,
            pid::LIFESPAN => self.lifespan = read_duration(value)?,
            pid::LIVELINESS => {
                self.liveliness = match value.u32()? {
                    0 => Liveliness::Automatic,
                    1 => Liveliness::ManualByParticipant,
                    2 => Liveliness::ManualByTopic,
                    _ => return Err(Malformed),
                };
                self.liveliness_lease = read_duration(value)?;
            }
            pid::OWNERSHIP => self.exclusive_ownership = value.u32()? == 1,
            pid::OWNERSHIP_STRENGTH => self.ownership_strength = value.i32()?,
            pid::PARTITION => self.partitions = read_names(value)?,
            pid::DATA_REPRESENTATION => {
                let count = usize::try_from(value.u32()?).unwrap_or(usize::MAX);
                for _ in 0..count.min(MAX_ITEMS) {
                    self.representations.push(value.u16()?.cast_signed());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the policies. Those every ROS peer sends or whose default differs between readers and writers are always
    /// there, the others when they are not the default, as Cyclone DDS does.
    pub(super) fn write(&self, params: &mut ParamWriter<'_>) {
        params.put(pid::RELIABILITY, &reliability(self.reliable, self.max_blocking));
        params.put(pid::DURABILITY, &[u8::from(self.durability != Durability::Volatile), 0, 0, 0]);
        params.put(pid::HISTORY, &history(self.depth));
        if self.deadline.is_some() {
            params.put(pid::DEADLINE, &write_duration(self.deadline));
        }
        if self.lifespan.is_some() {
            params.put(pid::LIFESPAN, &write_duration(self.lifespan));
        }
        if self.liveliness != Liveliness::Automatic || self.liveliness_lease.is_some() {
            params.put(pid::LIVELINESS, &liveliness(self.liveliness, self.liveliness_lease));
        }
        if self.exclusive_ownership {
            params.put(pid::OWNERSHIP, &[1, 0, 0, 0]);
            params.put(pid::OWNERSHIP_STRENGTH, &self.ownership_strength.to_le_bytes());
        }
        if !self.partitions.is_empty() {
            params.strings(pid::PARTITION, &self.partitions);
        }
    }
}

fn read_names(value: &mut Cursor<'_>) -> Result<Vec<String>, Malformed> {
    let count = usize::try_from(value.u32()?).unwrap_or(usize::MAX);
    let mut names = Vec::new();
    for _ in 0..count.min(MAX_ITEMS) {
        let start = *value;
        names.push(value.string(MAX_NAME)?.to_owned());
        if !value.rest().is_empty() {
            value.align4(&start)?;
        }
    }
    Ok(names)
}

/// Kind (1 best effort, 2 reliable) and the maximum blocking time.
fn reliability(reliable: bool, max_blocking: Option<Duration>) -> [u8; 12] {
    let [a, b, c, d, e, f, g, h] = write_duration(max_blocking);
    [if reliable { 2 } else { 1 }, 0, 0, 0, a, b, c, d, e, f, g, h]
}

/// Kind (0 keep last, 1 keep all) and depth.
fn history(depth: Option<u32>) -> [u8; 8] {
    let [a, b, c, d] = depth.unwrap_or(0).to_le_bytes();
    [u8::from(depth.is_none()), 0, 0, 0, a, b, c, d]
}

/// Kind and lease.
fn liveliness(kind: Liveliness, lease: Option<Duration>) -> [u8; 12] {
    let kind = match kind {
        Liveliness::Automatic => 0,
        Liveliness::ManualByParticipant => 1,
        Liveliness::ManualByTopic => 2,
    };
    let [a, b, c, d, e, f, g, h] = write_duration(lease);
    [kind, 0, 0, 0, a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::endpoint::EndpointQos;
    use crate::wire::Params;

    fn written(qos: &RemoteQos) -> Vec<u8> {
        let mut buf = Vec::new();
        let mut params = ParamWriter::encapsulated(&mut buf);
        qos.write(&mut params);
        params.end();
        buf
    }

    fn ids(qos: &RemoteQos) -> Vec<u16> {
        Params::encapsulated(&written(qos)).unwrap().map(|p| p.unwrap().0).collect()
    }

    #[test]
    fn default_policies_are_left_out() {
        let always = [pid::RELIABILITY, pid::DURABILITY, pid::HISTORY];
        assert_eq!(ids(&RemoteQos::dds_default(true)), always);
        let leased =
            RemoteQos { liveliness_lease: Some(Duration::from_secs(1)), ..RemoteQos::dds_default(true) };
        assert_eq!(ids(&leased), [always[0], always[1], always[2], pid::LIVELINESS]);
    }

    #[test]
    fn whole_nanoseconds_survive_the_wire() {
        for nanos in [1, 3, 100_000_000, 333_333_333, 999_999_999, 1_000_000_001] {
            let deadline = Some(Duration::from_nanos(nanos));
            let qos = RemoteQos { deadline, depth_announced: true, ..RemoteQos::dds_default(true) };
            let mut read = RemoteQos::dds_default(true);
            for param in Params::encapsulated(&written(&qos)).unwrap() {
                let (id, mut value) = param.unwrap();
                read.read(id, &mut value).unwrap();
            }
            assert_eq!(read, qos);
            let [.., a, b, c, d] = write_duration(qos.deadline);
            let cut_off = (u64::from(u32::from_le_bytes([a, b, c, d])) * 1_000_000_000) >> 32;
            assert_eq!(cut_off, nanos % 1_000_000_000, "as Fast DDS reads it");
        }
    }

    fn period() -> impl Strategy<Value = Option<Duration>> {
        prop::option::of((0..(1u64 << 31) - 1, 0..1_000_000_000u32).prop_map(|(s, ns)| Duration::new(s, ns)))
    }

    proptest! {
        #[test]
        fn any_policies_round_trip(
            (reliable, transient_local, exclusive) in any::<(bool, bool, bool)>(),
            depth in prop::option::of(1..u32::MAX),
            (deadline, lifespan, lease) in (period(), period(), period()),
            max_blocking in period().prop_map(Option::unwrap_or_default),
            kind in 0..3usize,
            strength in any::<i32>(),
            partitions in prop::collection::vec("[a-z*?]{0,20}", 0..8),
        ) {
            let kinds = [Liveliness::Automatic, Liveliness::ManualByParticipant, Liveliness::ManualByTopic];
            let spec = EndpointSpec {
                qos: EndpointQos {
                    reliable,
                    transient_local,
                    history: depth.map_or(History::KeepAll { bytes: 1 }, History::KeepLast),
                    max_blocking,
                    deadline,
                    lifespan,
                    liveliness: kinds[kind],
                    liveliness_lease: lease,
                    ownership: if exclusive { Ownership::Exclusive { strength } } else { Ownership::Shared },
                },
                partitions,
                ..EndpointSpec::default()
            };
            let qos = RemoteQos::local(&spec);
            let mut read = RemoteQos::dds_default(false);
            for param in Params::encapsulated(&written(&qos)).unwrap() {
                let (id, mut value) = param.unwrap();
                read.read(id, &mut value).unwrap();
            }
            prop_assert_eq!(read, qos);
        }
    }
}
