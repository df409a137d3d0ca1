//! One topic: its publishers, subscriptions and record.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{Guard, PublishError, Publisher, SampleSink},
    clock::RosTime,
    codec::Sample,
    topic::{self, Durability, KEEP_ALL_BYTES, Qos, Reliability},
};
use tokio::sync::{Notify, futures::Notified};

use crate::lock;

/// Switches a test can throw, shared by all topics.
#[derive(Default)]
pub(crate) struct Switches {
    pretended: AtomicUsize,
    refusal: Mutex<Option<PublishError>>,
    published: Notify,
}

impl Switches {
    pub(crate) fn pretend(&self, subscribers: usize) {
        self.pretended.store(subscribers, Relaxed);
    }

    pub(crate) fn refuse(&self, error: Option<PublishError>) {
        *lock(&self.refusal) = error;
    }

    /// Resolves at the first publish after this call.
    pub(crate) fn progress(&self) -> Notified<'_> {
        self.published.notified()
    }
}

/// Endpoints of one name and type.
pub(crate) struct Topic {
    state: Mutex<State>,
    record_limit: usize,
    switches: Arc<Switches>,
}

#[derive(Default)]
struct State {
    /// Replaced as a whole, so that a publish copies one pointer and calls the sinks unlocked.
    subscriptions: Arc<[Arc<Subscription>]>,
    /// Histories of the live publishers.
    publishers: Vec<Weak<History>>,
    record: VecDeque<Sample>,
    count: u64,
}

struct Subscription {
    qos: Qos,
    sink: SampleSink,
    of: Of,
}

/// Whose samples a subscription gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    All,
    /// Injected ones.
    Others,
}

/// What a transient-local publisher owes to late subscribers.
struct History {
    qos: Qos,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    samples: VecDeque<Sample>,
    /// Of their payloads.
    bytes: usize,
}

impl Topic {
    pub(crate) fn new(record_limit: usize, switches: Arc<Switches>) -> Self {
        Self { state: Mutex::default(), record_limit, switches }
    }

    pub(crate) fn subscribe(topic: &Arc<Self>, qos: Qos, sink: SampleSink, of: Of) -> Guard {
        let subscription = Arc::new(Subscription { qos, sink, of });
        let owed: Vec<Sample> = {
            let mut state = lock(&topic.state);
            state.subscriptions =
                state.subscriptions.iter().cloned().chain([Arc::clone(&subscription)]).collect();
            let histories = state.publishers.iter().filter(|_| of == Of::All).filter_map(Weak::upgrade);
            histories.filter(|h| replays(h.qos, qos)).flat_map(|h| lock(&h.kept).samples.clone()).collect()
        };
        for sample in owed {
            (subscription.sink)(sample);
        }
        Guard::new(Unsubscribe { topic: Arc::clone(topic), subscription })
    }

    pub(crate) fn inject(&self, sample: &Sample) -> usize {
        let subscriptions = Arc::clone(&lock(&self.state).subscriptions);
        for subscription in subscriptions.iter() {
            (subscription.sink)(sample.clone());
        }
        subscriptions.len()
    }

    pub(crate) fn recorded(&self) -> Vec<Sample> {
        lock(&self.state).record.iter().cloned().collect()
    }

    pub(crate) fn count(&self) -> u64 {
        lock(&self.state).count
    }

    pub(crate) fn has_publisher(&self) -> bool {
        lock(&self.state).publishers.iter().any(|p| p.strong_count() > 0)
    }

    pub(crate) fn has_subscription(&self) -> bool {
        !lock(&self.state).subscriptions.is_empty()
    }

    fn publish(&self, history: &History, sample: &Sample) -> Result<(), PublishError> {
        let subscriptions = {
            let mut state = lock(&self.state);
            history.keep(sample)?;
            state.count += 1;
            if self.record_limit > 0 {
                if state.record.len() == self.record_limit {
                    state.record.pop_front();
                }
                state.record.push_back(sample.clone());
            }
            Arc::clone(&state.subscriptions)
        };
        let hear = |s: &&Arc<Subscription>| s.of == Of::All && compatible(history.qos, s.qos);
        for subscription in subscriptions.iter().filter(hear) {
            (subscription.sink)(sample.clone());
        }
        self.switches.published.notify_waiters();
        Ok(())
    }
}

struct Unsubscribe {
    topic: Arc<Topic>,
    subscription: Arc<Subscription>,
}

impl Drop for Unsubscribe {
    fn drop(&mut self) {
        let mut state = lock(&self.topic.state);
        let others = state.subscriptions.iter().filter(|s| !Arc::ptr_eq(s, &self.subscription));
        state.subscriptions = others.cloned().collect();
    }
}

impl History {
    /// Keeps a sample for late subscribers.
    ///
    /// **Errors**: [`PublishError::Full`] when it keeps all and holds as much as it may.
    fn keep(&self, sample: &Sample) -> Result<(), PublishError> {
        if self.qos.durability == Durability::Volatile {
            return Ok(());
        }
        let Kept { samples, bytes } = &mut *lock(&self.kept);
        let len = sample.payload.as_bytes().len();
        match self.qos.history {
            topic::History::KeepAll if *bytes > 0 && *bytes + len > KEEP_ALL_BYTES => {
                return Err(PublishError::Full);
            }
            topic::History::KeepLast if samples.len() >= usize::from(self.qos.depth.max(1)) => {
                *bytes -= samples.pop_front().map_or(0, |oldest| oldest.payload.as_bytes().len());
            }
            topic::History::KeepAll | topic::History::KeepLast => {}
        }
        *bytes += len;
        samples.push_back(sample.clone());
        Ok(())
    }
}

/// A publish handle; withdrawn when dropped.
pub(crate) struct MemoryPublisher {
    topic: Arc<Topic>,
    history: Arc<History>,
}

impl MemoryPublisher {
    pub(crate) fn new(topic: Arc<Topic>, qos: Qos) -> Self {
        let history = Arc::new(History { qos, kept: Mutex::default() });
        let mut state = lock(&topic.state);
        state.publishers.retain(|p| p.strong_count() > 0);
        state.publishers.push(Arc::downgrade(&history));
        drop(state);
        Self { topic, history }
    }
}

impl Publisher for MemoryPublisher {
    fn publish(&self, stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        if let Some(error) = *lock(&self.topic.switches.refusal) {
            return Err(error);
        }
        self.topic.publish(&self.history, &Sample { payload: msg.clone(), stamp })
    }

    fn matched(&self) -> usize {
        let subscriptions = Arc::clone(&lock(&self.topic.state).subscriptions);
        let real =
            subscriptions.iter().filter(|s| s.of == Of::All && compatible(self.history.qos, s.qos)).count();
        real + self.topic.switches.pretended.load(Relaxed)
    }
}

/// Whether a writer offering `offered` serves a reader asking for `requested`.
fn compatible(offered: Qos, requested: Qos) -> bool {
    let reliable =
        requested.reliability == Reliability::BestEffort || offered.reliability == Reliability::Reliable;
    let durable =
        requested.durability == Durability::Volatile || offered.durability == Durability::TransientLocal;
    reliable && durable
}

fn replays(offered: Qos, requested: Qos) -> bool {
    compatible(offered, requested) && requested.durability == Durability::TransientLocal
}
