//! What a reader asks of a sample beyond its order: to be fresh, and to come from the owner of the topic.
//!
//! Policies are taken from announcements. A writer may repeat them as inline QoS, which is ignored: readers of ours do
//! not ask for it, and what a writer announces is what it was matched by.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::arrival::{LocalReader, Sink};
use super::at_latest;
use super::outbox::SampleFn;
use crate::endpoint::{Ownership, Sample};
use crate::graph::RemoteQos;
use crate::guid::Guid;
use crate::stats::{Counters, add};
use crate::wire::Entity;

/// The writer whose samples a reader with exclusive ownership takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    pub(super) guid: Guid,
    pub(super) strength: i32,
}

impl Owner {
    /// The stronger one; among equals the one with the lower id, so that all readers agree.
    fn yields_to(&self, other: &Self) -> bool {
        self.guid == other.guid
            || self.strength < other.strength
            || (self.strength == other.strength && other.guid < self.guid)
    }
}

impl LocalReader {
    /// Whether each sample has to be looked at. What only the writer promises counts as well.
    pub(super) fn is_choosy(&self, remote: &RemoteQos) -> bool {
        let qos = &self.spec.qos;
        qos.deadline.is_some()
            || qos.ownership != Ownership::Shared
            || qos.lifespan.or(remote.lifespan).is_some()
    }

    /// Notes that a writer it was matched with is gone.
    pub(super) fn unmatched(&mut self, writer: Guid) {
        self.disown(writer);
        if self.matched.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.deadline.stop();
        }
    }

    /// Takes the ownership from a writer that is gone or not alive.
    pub(super) fn disown(&mut self, writer: Guid) {
        if self.owner.is_some_and(|owner| owner.guid == writer) {
            self.owner = None;
        }
    }
}

/// The readers, while samples of one remote writer come in.
pub(super) struct Gate<'a> {
    pub(super) readers: &'a mut BTreeMap<Entity, LocalReader>,
    pub(super) watch: &'a mut Option<Instant>,
    pub(super) counters: &'a Counters,
    pub(super) now: Instant,
    /// Nanoseconds since 1970, when known.
    pub(super) wall_ns: Option<i64>,
    /// The writer's.
    pub(super) strength: i32,
    pub(super) lifespan: Option<Duration>,
}

impl Gate<'_> {
    /// The user's callback if the reader takes the sample.
    pub(super) fn admit(&mut self, reader: Entity, sample: &Sample) -> Option<SampleFn> {
        let age = self.age(sample);
        let local = self.readers.get_mut(&reader)?;
        let qos = local.spec.qos;
        if let Some(lifespan) = [qos.lifespan, self.lifespan].into_iter().flatten().min()
            && age.is_some_and(|age| age >= lifespan)
        {
            add(&self.counters.expired, 1);
            return None;
        }
        if qos.ownership != Ownership::Shared {
            let writer = Owner { guid: sample.writer, strength: self.strength };
            if local.owner.is_some_and(|owner| !owner.yields_to(&writer)) {
                return None;
            }
            local.owner = Some(writer);
        }
        if let Some(period) = qos.deadline {
            at_latest(self.watch, local.deadline.met(period, self.now));
        }
        match &local.sink {
            Sink::User(f) => Some(f.clone()),
            Sink::Choosy(_) | Sink::Builtin(_) => None,
        }
    }

    /// How long ago the sample was written; `None` when that is unknown or in the future.
    fn age(&self, sample: &Sample) -> Option<Duration> {
        let age_ns = self.wall_ns?.checked_sub(sample.source_time?)?;
        u64::try_from(age_ns).ok().map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::endpoint::{EndpointQos, EndpointSpec};

    const READER: Entity = [0, 0, 1, 4];

    fn guid(writer: usize) -> Guid {
        Guid { prefix: [u8::try_from(writer).unwrap(); 12], entity: [0, 0, 1, 3] }
    }

    proptest! {
        #[test]
        fn whatever_came_before_the_strongest_writer_prevails(
            strengths in prop::collection::vec(-3..3i32, 1..6),
            before in prop::collection::vec((0..6usize, any::<bool>()), 0..40),
        ) {
            let ownership = Ownership::Exclusive { strength: 0 };
            let qos = EndpointQos { ownership, ..EndpointQos::DEFAULT };
            let spec = EndpointSpec { qos, ..EndpointSpec::default() };
            let mut readers = BTreeMap::from([(READER, LocalReader::new(spec, Arc::new(drop)))]);
            let counters = Counters::default();
            let write = |readers: &mut BTreeMap<Entity, LocalReader>, writer: usize| {
                let gate = &mut Gate {
                    readers,
                    watch: &mut None,
                    counters: &counters,
                    now: Instant::now(),
                    wall_ns: None,
                    strength: strengths[writer],
                    lifespan: None,
                };
                let payload = Bytes::new();
                let sample = Sample { payload, writer: guid(writer), seq: 1, related: None, source_time: None };
                gate.admit(READER, &sample).is_some()
            };
            for (writer, writes) in before {
                let writer = writer % strengths.len();
                if writes {
                    write(&mut readers, writer);
                } else {
                    readers.get_mut(&READER).unwrap().disown(guid(writer));
                }
            }
            let all = 0..strengths.len();
            all.clone().for_each(|writer| { write(&mut readers, writer); });
            let taken: Vec<_> = all.clone().filter(|writer| write(&mut readers, *writer)).collect();
            let strongest = all.max_by_key(|w| (strengths[*w], std::cmp::Reverse(guid(*w)))).unwrap();
            prop_assert_eq!(taken, [strongest]);
        }
    }
}
