//! What late subscribers are owed.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use rostrans_core::{
    adapter::PublishError,
    codec::Sample,
    topic::{Durability, History, KEEP_ALL_BYTES, Qos},
};
use rostrans_schema::TypeName;

/// The last messages of a topic's latched publishers, each for itself.
#[derive(Default)]
pub(super) struct Latches(BTreeMap<usize, Latch>);

struct Latch {
    /// `None` keeps all.
    limit: Option<usize>,
    kept: VecDeque<Kept>,
    /// Of the bodies.
    bytes: usize,
}

struct Kept {
    seq: u32,
    sample: Sample,
    body: Bytes,
}

impl Latches {
    /// Adds a publisher, if it is a latched one.
    ///
    /// Who joins late in ROS 1 expects the last message and nothing older, whatever the depth: the first that
    /// `rospy.wait_for_message` gives is what holds now. Static transforms are pieces of a whole instead.
    pub(super) fn add(&mut self, publisher: usize, qos: &Qos, kind: &TypeName) {
        if qos.durability != Durability::TransientLocal {
            return;
        }
        let limit = match qos.history {
            History::KeepAll => None,
            History::KeepLast if kind.as_str() == TRANSFORMS => Some(usize::from(qos.depth.max(1))),
            History::KeepLast => Some(1),
        };
        self.0.insert(publisher, Latch { limit, kept: VecDeque::new(), bytes: 0 });
    }

    /// Forgets a publisher and what it has sent.
    pub(super) fn remove(&mut self, publisher: usize) {
        self.0.remove(&publisher);
    }

    /// Whether no publisher is a latched one.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps a message for late subscribers, if its publisher is a latched one.
    ///
    /// **Errors**: [`PublishError::Full`] when all are to be kept and there is no more room.
    pub(super) fn keep(
        &mut self,
        publisher: usize,
        seq: u32,
        sample: &Sample,
        body: &Bytes,
    ) -> Result<(), PublishError> {
        let Some(latch) = self.0.get_mut(&publisher) else { return Ok(()) };
        let Some(limit) = latch.limit else {
            if latch.bytes > 0 && latch.bytes + body.len() > KEEP_ALL_BYTES {
                return Err(PublishError::Full);
            }
            latch.push(Kept { seq, sample: sample.clone(), body: body.clone() });
            return Ok(());
        };
        while latch.kept.len() >= limit {
            latch.bytes -= latch.kept.pop_front().map_or(0, |oldest| oldest.body.len());
        }
        latch.push(Kept { seq, sample: sample.clone(), body: body.clone() });
        Ok(())
    }

    /// What is kept, as samples, in the order in which they were published.
    pub(super) fn samples(&self) -> Vec<Sample> {
        self.in_order().into_iter().map(|kept| kept.sample.clone()).collect()
    }

    /// What is kept, as message bodies, in the order in which they were published.
    pub(super) fn bodies(&self) -> VecDeque<Bytes> {
        self.in_order().into_iter().map(|kept| kept.body.clone()).collect()
    }

    fn in_order(&self) -> Vec<&Kept> {
        let mut all: Vec<_> = self.0.values().flat_map(|latch| &latch.kept).collect();
        all.sort_by_key(|kept| kept.seq);
        all
    }
}

/// The type of `/tf_static`.
const TRANSFORMS: &str = "tf2_msgs/msg/TFMessage";

impl Latch {
    fn push(&mut self, kept: Kept) {
        self.bytes += kept.body.len();
        self.kept.push_back(kept);
    }
}
