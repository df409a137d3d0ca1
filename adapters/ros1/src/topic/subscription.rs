//! What one topic of this node receives.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use rostrans_core::{
    adapter::{AdapterError, Guard, SampleSink},
    codec::Sample,
    topic::{Qos, TopicSpec},
};

use crate::{
    graph::{Graph, two_types},
    lock,
    node::Node,
    types::TopicType,
    xmlrpc::{Address, Value},
};

/// Publishers of one topic that are connected to; more are a mistake or an attack.
const MAX_PUBLISHERS: usize = 1024;

/// A topic with at least one subscriber in this node.
pub(crate) struct Subscription {
    pub(crate) topic: String,
    pub(crate) kind: TopicType,
    /// Counts the subscriptions of a node.
    pub(crate) number: u64,
    sinks: Mutex<Sinks>,
    publishers: Mutex<Publishers>,
}

struct Sinks {
    /// Replaced as a whole, so that a sample copies one pointer and the sinks run unlocked.
    all: Arc<[Sink]>,
    /// The last sample of each latched publisher by its URI: a later sink is owed it, and it is not sent again.
    latched: BTreeMap<String, Sample>,
}

/// Where samples go.
#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) take: SampleSink,
    /// Whether samples of this node's own publishers are wanted.
    pub(crate) own: bool,
}

#[derive(Default)]
struct Publishers {
    /// Node API URIs.
    uris: Vec<String>,
    /// How often they were set.
    updates: u64,
    /// Those that are connected to.
    links: BTreeMap<String, Arc<LinkState>>,
}

/// One way in, for `getBusInfo` and `getBusStats`.
#[derive(Default)]
pub(super) struct LinkState {
    pub(super) id: i32,
    pub(super) connected: AtomicBool,
    /// The publisher is latched.
    pub(super) latching: AtomicBool,
    pub(super) bytes: AtomicU64,
}

impl Subscription {
    /// Adds a sink to the topic's subscription, making it if it is the first. The samples that latched publishers owe
    /// come back, to be delivered when nothing is locked.
    ///
    /// **Errors**: another type under the same name.
    pub(crate) fn subscribe(
        graph: &mut Graph,
        spec: &TopicSpec,
        kind: &TopicType,
        sink: Sink,
    ) -> Result<(Arc<Self>, Vec<Sample>), AdapterError> {
        let topic = spec.name.as_str();
        let publication = graph.publications.get(topic).map(|shared| &shared.it);
        if let Some(publication) = publication.filter(|p| p.kind.name != kind.name) {
            return Err(two_types(topic, publication.kind.name.as_str(), kind.name.as_str()));
        }
        let subscribed = &mut graph.subscribed;
        let subscription = graph.subscriptions.entry(topic.to_owned()).or_insert_with(|| {
            *subscribed += 1;
            let (topic, kind, number) = (topic.to_owned(), kind.clone(), *subscribed);
            let sinks = Mutex::new(Sinks { all: Arc::new([]), latched: BTreeMap::new() });
            Arc::new(Self { topic, kind, number, sinks, publishers: Mutex::default() })
        });
        if subscription.kind.name != kind.name {
            return Err(two_types(topic, subscription.kind.name.as_str(), kind.name.as_str()));
        }
        let mut sinks = lock(&subscription.sinks);
        let own = sink.own;
        sinks.all = sinks.all.iter().cloned().chain([sink]).collect();
        let mut owed: Vec<Sample> = sinks.latched.values().cloned().collect();
        drop(sinks);
        let ours = publication.map(|p| p.set_local(Some(Arc::clone(subscription))));
        owed.extend(ours.into_iter().flatten().filter(|_| own));
        Ok((Arc::clone(subscription), owed))
    }

    /// Withdraws a sink when dropped; with the last one the subscription ends.
    pub(crate) fn guard(node: Arc<Node>, subscription: Arc<Self>, sink: Sink) -> Guard {
        Guard::new(Withdraw { node, subscription, sink })
    }

    /// Hands a sample to every sink.
    pub(crate) fn deliver(&self, sample: &Sample) {
        let sinks = Arc::clone(&lock(&self.sinks).all);
        sinks.iter().for_each(|sink| (sink.take)(sample.clone()));
    }

    /// Hands a sample of this node's own publisher to every sink that wants it.
    pub(super) fn deliver_own(&self, sample: &Sample) {
        let sinks = Arc::clone(&lock(&self.sinks).all);
        sinks.iter().filter(|sink| sink.own).for_each(|sink| (sink.take)(sample.clone()));
    }

    /// Hands a sample of a latched publisher elsewhere to every sink, and keeps it for later ones.
    pub(super) fn deliver_latched(&self, uri: &str, sample: &Sample) {
        let sinks = {
            let mut sinks = lock(&self.sinks);
            sinks.latched.insert(uri.to_owned(), sample.clone());
            Arc::clone(&sinks.all)
        };
        sinks.iter().for_each(|sink| (sink.take)(sample.clone()));
    }

    /// How many want what this node publishes.
    pub(crate) fn own_sinks(&self) -> usize {
        lock(&self.sinks).all.iter().filter(|sink| sink.own).count()
    }

    /// How often the publishers were set.
    pub(crate) fn updates(&self) -> u64 {
        lock(&self.publishers).updates
    }

    /// Takes over what the master says about who publishes.
    pub(crate) fn set_publishers(&self, uris: &Value) {
        let uris = uris.as_array().unwrap_or_default().iter().filter_map(Value::as_str);
        let mut uris: Vec<String> =
            uris.filter(|uri| Address::parse(uri, "http").is_some()).map(str::to_owned).collect();
        uris.sort();
        uris.dedup();
        uris.truncate(MAX_PUBLISHERS);
        let mut publishers = lock(&self.publishers);
        publishers.uris = uris;
        publishers.updates += 1;
    }

    /// Who publishes.
    pub(super) fn publishers(&self) -> Vec<String> {
        lock(&self.publishers).uris.clone()
    }

    /// Notes a way in.
    pub(super) fn linked(&self, uri: &str, state: Option<Arc<LinkState>>) {
        if state.is_none() {
            lock(&self.sinks).latched.remove(uri);
        }
        let links = &mut lock(&self.publishers).links;
        match state {
            Some(state) => links.insert(uri.to_owned(), state),
            None => links.remove(uri),
        };
    }

    /// What the publishers offer that are connected to; `None` while there are none.
    pub(crate) fn offers(&self) -> Option<Vec<Qos>> {
        let publishers = lock(&self.publishers);
        let connected = publishers.links.values().filter(|link| link.connected.load(Relaxed));
        let qos = |link: &Arc<LinkState>| {
            if link.latching.load(Relaxed) { Qos::latched(1) } else { Qos::reliable() }
        };
        Some(connected.map(qos).collect::<Vec<_>>()).filter(|offers| !offers.is_empty())
    }

    /// `[id, publisher URI, "i", "TCPROS", topic, connected]` for each publisher.
    pub(crate) fn bus_info(&self) -> Vec<Value> {
        let entry = |(uri, link): (&String, &Arc<LinkState>)| {
            let connected = i32::from(link.connected.load(Relaxed)).into();
            let (uri, topic) = (uri.as_str().into(), self.topic.as_str().into());
            Value::Array(vec![link.id.into(), uri, "i".into(), "TCPROS".into(), topic, connected])
        };
        lock(&self.publishers).links.iter().map(entry).collect()
    }

    /// `[topic, [[id, bytes, lost, connected], ...]]`; TCP loses nothing, -1 says that nobody counts.
    pub(crate) fn bus_stats(&self) -> Value {
        let entry = |link: &Arc<LinkState>| {
            let bytes = i32::try_from(link.bytes.load(Relaxed)).unwrap_or(i32::MAX);
            let connected = i32::from(link.connected.load(Relaxed));
            Value::Array([link.id, bytes, -1, connected].map(Value::Int).to_vec())
        };
        let links = Value::Array(lock(&self.publishers).links.values().map(entry).collect());
        Value::Array(vec![self.topic.as_str().into(), links])
    }
}

impl Sink {
    fn is(&self, other: &Self) -> bool {
        self.own == other.own && Arc::ptr_eq(&self.take, &other.take)
    }
}

/// Takes a sink away when dropped.
struct Withdraw {
    node: Arc<Node>,
    subscription: Arc<Subscription>,
    sink: Sink,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        self.node.withdraw(|graph| {
            let subscription = &self.subscription;
            // Unlocked before the publication is asked, which asks back for its subscription while it is locked.
            let unused = {
                let mut sinks = lock(&subscription.sinks);
                let mut gone = false;
                // The same sink may be subscribed twice: one of them goes.
                let stays = |sink: &&Sink| {
                    let is_it = !gone && sink.is(&self.sink);
                    gone |= is_it;
                    !is_it
                };
                let others: Arc<[Sink]> = sinks.all.iter().filter(stays).cloned().collect();
                sinks.all = others;
                sinks.all.is_empty()
            };
            if unused {
                graph.subscriptions.remove(&subscription.topic);
                if let Some(publication) = graph.publications.get(&subscription.topic) {
                    publication.it.set_local(None);
                }
            }
        });
    }
}
