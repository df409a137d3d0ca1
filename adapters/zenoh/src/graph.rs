//! The ROS graph, as its liveliness tokens tell it.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use rostrans_core::{text::excerpt, throttle::LogThrottle, topic::Qos};
use tracing::{info, warn};

use crate::{
    stats::{Counters, count},
    wire::{Endpoint, Kind, Token, ros_type},
};

/// Every node and endpoint that is alive, our own included.
#[derive(Default)]
pub(crate) struct Graph {
    inner: Mutex<Inner>,
    counters: Arc<Counters>,
}

#[derive(Default)]
struct Inner {
    /// By liveliness key.
    tokens: HashMap<String, Token>,
    /// Bytes of their keys.
    key_bytes: usize,
    watches: HashMap<u64, Watch>,
    next_watch: u64,
    malformed: LogThrottle,
    overflow: LogThrottle,
}

/// More tokens than this are not kept; a big fleet has some thousands, of about 250 bytes.
const MAX_TOKENS: usize = 65_536;

/// Nor more bytes of keys. What is kept is about three times that.
const MAX_KEY_BYTES: usize = 32 << 20;

/// One of our endpoints, and how many of its counterparts there are.
struct Watch {
    /// What it meets: subscriptions for a publisher.
    meets: Kind,
    name: String,
    type_name: String,
    hash: String,
    count: Arc<AtomicUsize>,
    /// Tokens that were complained about, gone ones too.
    told: HashSet<String>,
}

/// Counts counterparts until it is dropped.
pub(crate) struct Watched {
    graph: Arc<Graph>,
    id: u64,
    count: Arc<AtomicUsize>,
}

impl Graph {
    pub(crate) fn new(counters: Arc<Counters>) -> Self {
        Self { inner: Mutex::default(), counters }
    }

    /// A token appeared.
    pub(crate) fn put(&self, key: &str) {
        let inner = &mut *self.inner();
        let token = match Token::parse(key) {
            Ok(token) => token,
            Err(error) => {
                count(&self.counters.malformed_tokens);
                if let Some(count) = inner.malformed.event(Instant::now()) {
                    warn!(key = %excerpt(key), %error, count, "malformed liveliness token ignored");
                }
                return;
            }
        };
        if inner.tokens.contains_key(key) {
            return;
        }
        if inner.tokens.len() >= MAX_TOKENS || inner.key_bytes + key.len() > MAX_KEY_BYTES {
            count(&self.counters.malformed_tokens);
            if let Some(count) = inner.overflow.event(Instant::now()) {
                warn!(count, kept = inner.tokens.len(), "too many nodes and endpoints; the rest is ignored");
            }
            return;
        }
        inner.key_bytes += key.len();
        inner.tokens.insert(key.to_owned(), token.clone());
        for watch in inner.watches.values_mut() {
            watch.appeared(key, &token);
        }
    }

    /// A token is gone.
    pub(crate) fn delete(&self, key: &str) {
        let inner = &mut *self.inner();
        let Some(token) = inner.tokens.remove(key) else { return };
        inner.key_bytes -= key.len();
        for watch in inner.watches.values() {
            if watch.meets(&token) {
                watch.count.fetch_sub(1, Relaxed);
            }
        }
    }

    /// Starts to count the counterparts of one of our endpoints, and to complain about those it cannot talk with.
    pub(crate) fn watch(self: &Arc<Self>, meets: Kind, endpoint: &Endpoint) -> Watched {
        let inner = &mut *self.inner();
        let count = Arc::<AtomicUsize>::default();
        let mut watch = Watch {
            meets,
            name: endpoint.name.clone(),
            type_name: endpoint.type_name.clone(),
            hash: endpoint.hash.clone(),
            count: Arc::clone(&count),
            told: HashSet::new(),
        };
        for (key, token) in &inner.tokens {
            watch.appeared(key, token);
        }
        let id = inner.next_watch;
        inner.next_watch += 1;
        inner.watches.insert(id, watch);
        Watched { graph: Arc::clone(self), id, count }
    }

    /// What the publishers of a topic offer, but for those of our own session.
    pub(crate) fn offers(&self, topic: &str, own_session: &str) -> Vec<Qos> {
        let inner = self.inner();
        let others = inner.tokens.values().filter(|t| t.kind == Kind::Publisher && t.session != own_session);
        others.filter_map(|t| t.endpoint.as_ref()).filter(|e| e.name == topic).map(|e| e.qos).collect()
    }

    /// All tokens, in no order.
    pub(crate) fn tokens(&self) -> Vec<Token> {
        self.inner().tokens.values().cloned().collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// How many counterparts there are.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Relaxed)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.graph.inner().watches.remove(&self.id);
    }
}

impl Watch {
    fn meets(&self, token: &Token) -> bool {
        let same = |e: &Endpoint| e.name == self.name && e.type_name == self.type_name && self.fits(&e.hash);
        token.kind == self.meets && token.endpoint.as_ref().is_some_and(same)
    }

    /// Whether data reach an endpoint with this hash: we subscribe to all of them, others to theirs alone.
    fn fits(&self, hash: &str) -> bool {
        self.meets == Kind::Publisher || hash == self.hash
    }

    fn appeared(&mut self, key: &str, token: &Token) {
        if self.meets(token) {
            self.count.fetch_add(1, Relaxed);
            return;
        }
        let Some(other) = token.endpoint.as_ref().filter(|e| token.kind == self.meets && e.name == self.name)
        else {
            return;
        };
        // One that comes and goes is no news the second time; a storm of them is cut off.
        if self.told.len() >= MAX_TOLD || !self.told.insert(key.to_owned()) {
            return;
        }
        let (node, theirs) = (excerpt(&token.node_name()), token.kind);
        if other.type_name == self.type_name {
            warn!(
                name = %self.name, %node, theirs = %excerpt(&other.hash), ours = %self.hash,
                "the {theirs} has another definition of {}; nothing is exchanged with it", ros_type(&self.type_name)
            );
        } else {
            info!(
                name = %self.name, %node, theirs = %excerpt(&ros_type(&other.type_name)), ours = %ros_type(&self.type_name),
                "the {theirs} has another type; nothing is exchanged with it"
            );
        }
    }
}

const MAX_TOLD: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const STRING: &str = "std_msgs::msg::dds_::String_";

    fn endpoint(type_name: &str, hash: &str) -> Endpoint {
        Endpoint {
            name: "/chatter".to_owned(),
            type_name: type_name.to_owned(),
            hash: hash.to_owned(),
            qos: Qos::reliable(),
        }
    }

    fn key(session: &str, kind: Kind, endpoint: &Endpoint) -> String {
        Token {
            domain: 0,
            session: session.to_owned(),
            node_id: 0,
            entity_id: 1,
            kind,
            enclave: "/".to_owned(),
            namespace: "/".to_owned(),
            node: "other".to_owned(),
            endpoint: Some(endpoint.clone()),
        }
        .to_key()
    }

    #[test]
    fn counterparts_of_the_same_type_are_counted() {
        let graph = Arc::new(Graph::default());
        let ours = endpoint(STRING, "h1");
        let before = key("a", Kind::Subscription, &ours);
        graph.put(&before);
        let watched = graph.watch(Kind::Subscription, &ours);
        assert_eq!(watched.count(), 1);
        for (session, kind, type_name, hash) in [
            ("b", Kind::Publisher, STRING, "h1"),
            ("c", Kind::Subscription, "a::msg::dds_::B_", "h1"),
            ("d", Kind::Subscription, STRING, "h2"),
        ] {
            graph.put(&key(session, kind, &endpoint(type_name, hash)));
        }
        assert_eq!(watched.count(), 1);
        let after = key("e", Kind::Subscription, &ours);
        graph.put(&after);
        graph.put(&after);
        assert_eq!(watched.count(), 2);
        graph.delete(&before);
        graph.delete(&before);
        assert_eq!(watched.count(), 1);
    }

    #[test]
    fn publishers_count_whatever_their_hash() {
        let graph = Arc::new(Graph::default());
        let watched = graph.watch(Kind::Publisher, &endpoint(STRING, "h1"));
        graph.put(&key("a", Kind::Publisher, &endpoint(STRING, "h2")));
        assert_eq!(watched.count(), 1);
    }

    #[test]
    fn offers_leave_our_own_out() {
        let graph = Graph::default();
        graph.put(&key("a", Kind::Publisher, &endpoint(STRING, "h")));
        graph.put(&key("b", Kind::Publisher, &Endpoint { qos: Qos::latched(1), ..endpoint(STRING, "h") }));
        assert_eq!(graph.offers("/chatter", "a"), [Qos::latched(1)]);
        assert_eq!(graph.offers("/other", "a"), []);
    }

    #[test]
    fn keys_are_kept_up_to_a_number_of_bytes() {
        let graph = Graph::default();
        let long = "n".repeat(1800);
        let nodes: Vec<_> = (0..20_000).map(|n| format!("@ros2_lv/0/a/0/{n}/NN/%/%/{long}")).collect();
        nodes.iter().for_each(|key| graph.put(key));
        let kept = graph.tokens().len();
        assert!((17_000..19_000).contains(&kept), "{kept}");
        assert_eq!(graph.counters.snapshot().malformed_tokens, 20_000 - kept as u64);
        nodes.iter().for_each(|key| graph.delete(key));
        graph.put(&nodes[19_999]);
        assert_eq!((graph.tokens().len(), graph.inner().key_bytes), (1, nodes[19_999].len()));
    }

    #[test]
    fn one_that_comes_and_goes_is_told_once_and_a_storm_is_cut_off() {
        let graph = Arc::new(Graph::default());
        let watched = graph.watch(Kind::Subscription, &endpoint(STRING, "h1"));
        let told = || graph.inner().watches[&watched.id].told.len();
        let other = key("a", Kind::Subscription, &endpoint(STRING, "h2"));
        for _ in 0..3 {
            graph.put(&other);
            graph.delete(&other);
            assert_eq!(told(), 1);
        }
        for session in 0..100 {
            graph.put(&key(&format!("b{session}"), Kind::Subscription, &endpoint(STRING, "h2")));
        }
        assert_eq!((told(), watched.count()), (MAX_TOLD, 0));
    }

    #[test]
    fn malformed_tokens_are_counted_and_the_rest_stays() {
        let graph = Graph::default();
        graph.put(&key("a", Kind::Publisher, &endpoint(STRING, "h")));
        for bad in ["@ros2_lv/0/zz", "", "@ros2_lv/0/a/0/0/XX/%/%/n"] {
            graph.put(bad);
            graph.delete(bad);
        }
        assert_eq!((graph.tokens().len(), graph.counters.snapshot().malformed_tokens), (1, 3));
    }
}
