//! Publishers.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, PublishError, Publisher},
    clock::RosTime,
    topic::{Durability, History, KEEP_ALL_BYTES, Reliability, TopicSpec},
};
use tracing::debug;
use zenoh::{
    Session, Wait,
    bytes::ZBytes,
    liveliness::LivelinessToken,
    matching::MatchingListener,
    pubsub::Publisher as Plain,
    qos::{CongestionControl, Reliability as Marker},
};
use zenoh_ext::{AdvancedPublisher, AdvancedPublisherBuilderExt, CacheConfig, MissDetectionConfig};

use crate::{
    context::{Context, Entity, now_ns},
    graph::Watched,
    link::Attach,
    wire::{Attachment, Gid, Kind},
};

/// A publish handle.
pub(crate) struct ZenohPublisher {
    context: Arc<Context>,
    entity: Entity,
    /// Whether the source time is the stamp of the message. A lifespan counts from when it was really published.
    stamped: bool,
    subscriptions: Watched,
    /// Whether Zenoh knows somebody to send to, with a token or not.
    reachable: Arc<AtomicBool>,
    sequence: AtomicI64,
    /// Payload bytes a transient-local publisher that keeps all has taken.
    kept: AtomicUsize,
    declared: OnceLock<Declared>,
    /// The latched samples that came before the session.
    early: Mutex<VecDeque<(i64, CdrBytes)>>,
}

/// What it is in a session. The token goes first: who sees it expects the rest.
struct Declared {
    _token: LivelinessToken,
    _listener: MatchingListener<()>,
    gid: Gid,
    session: Session,
    way: Way,
}

/// How samples go out.
enum Way {
    Volatile(Plain<'static>),
    /// With the cache that late subscriptions ask.
    Latched(Box<Latched>),
}

struct Latched {
    publisher: AdvancedPublisher<'static>,
    /// By which subscriptions find the cache, and its key. It appears after the first sample: those that are there already
    /// ask at once, and when they found nothing and missed the first samples on the way, they would never know.
    found_by: OnceLock<Option<LivelinessToken>>,
    found_key: String,
}

impl ZenohPublisher {
    /// Announces a publisher.
    pub(crate) fn new(context: &Arc<Context>, spec: &TopicSpec) -> Result<Arc<Self>, AdapterError> {
        let entity = context.topic(spec)?;
        let publisher = Arc::new(Self {
            context: Arc::clone(context),
            stamped: spec.qos.lifespan.is_none(),
            subscriptions: context.graph.watch(Kind::Subscription, &entity.endpoint),
            entity,
            reachable: Arc::default(),
            sequence: AtomicI64::new(0),
            kept: AtomicUsize::new(0),
            declared: OnceLock::new(),
            early: Mutex::default(),
        });
        context.link.add(&publisher)?;
        Ok(publisher)
    }

    /// Waits for the session with a latched sample; a volatile one is for nobody yet.
    fn keep(&self, early: &mut VecDeque<(i64, CdrBytes)>, source_time_ns: i64, msg: &CdrBytes) {
        let qos = self.entity.endpoint.qos;
        if qos.durability == Durability::Volatile {
            return;
        }
        if qos.history == History::KeepLast && early.len() >= usize::from(qos.depth.max(1)) {
            early.pop_front();
        }
        early.push_back((source_time_ns, msg.clone()));
    }

    /// Counts what a cache that forgets nothing has to hold.
    fn room(&self, len: usize) -> Result<(), PublishError> {
        let qos = self.entity.endpoint.qos;
        let bounded = qos.durability == Durability::Volatile || qos.history == History::KeepLast;
        if bounded || self.kept.fetch_add(len, Relaxed) + len <= KEEP_ALL_BYTES {
            return Ok(());
        }
        self.kept.fetch_sub(len, Relaxed);
        Err(PublishError::Full)
    }

    fn put(&self, declared: &Declared, source_time_ns: i64, msg: &CdrBytes) -> zenoh::Result<()> {
        let sequence = self.sequence.fetch_add(1, Relaxed) + 1;
        let attachment = Attachment { sequence, source_time_ns, gid: declared.gid }.to_bytes();
        let payload = ZBytes::from(msg.as_bytes().clone());
        match &declared.way {
            Way::Volatile(publisher) => publisher.put(payload).attachment(attachment.to_vec()).wait(),
            Way::Latched(latched) => {
                latched.publisher.put(payload).attachment(attachment.to_vec()).wait()?;
                latched.found_by.get_or_init(|| {
                    let token = declared.session.liveliness().declare_token(latched.found_key.clone()).wait();
                    token
                        .inspect_err(
                            |error| debug!(topic = %self.entity.endpoint.name, %error, "cache not announced"),
                        )
                        .ok()
                });
                Ok(())
            }
        }
    }

    fn early(&self) -> MutexGuard<'_, VecDeque<(i64, CdrBytes)>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attach for ZenohPublisher {
    fn name(&self) -> String {
        format!("the publisher of {}", self.entity.endpoint.name)
    }

    fn attach(&self, session: &Session) -> zenoh::Result<()> {
        let qos = self.entity.endpoint.qos;
        let reliable = qos.reliability == Reliability::Reliable;
        // Never `Block`: it would hold the caller up for seconds when a subscriber stalls.
        let builder = session
            .declare_publisher(self.entity.key.clone())
            .congestion_control(CongestionControl::Drop)
            .reliability(if reliable { Marker::Reliable } else { Marker::BestEffort });
        let way = if qos.durability == Durability::Volatile {
            Way::Volatile(builder.wait()?)
        } else {
            let depth = match qos.history {
                History::KeepLast => usize::from(qos.depth.max(1)),
                History::KeepAll => usize::MAX,
            };
            let mut builder = builder.cache(CacheConfig::default().max_samples(depth)).publisher_detection();
            if reliable {
                builder = builder
                    .sample_miss_detection(MissDetectionConfig::default().sporadic_heartbeat(HEARTBEAT));
            }
            let publisher = builder.wait()?;
            // As `publisher_detection` of the builder has it; samples without a sequence number are told apart by time.
            let id = publisher.id();
            let by = if reliable { id.eid().to_string() } else { "uhlc".to_owned() };
            let found_key = format!("{}/@adv/pub/{}/{by}/_", self.entity.key, id.zid());
            Way::Latched(Box::new(Latched { publisher, found_by: OnceLock::new(), found_key }))
        };
        let reachable = Arc::clone(&self.reachable);
        let listener = match &way {
            Way::Volatile(publisher) => publisher.matching_listener(),
            Way::Latched(latched) => latched.publisher.matching_listener(),
        };
        let listener = listener.callback(move |status| reachable.store(status.matching(), Relaxed)).wait()?;
        let (token, gid) = self.context.endpoint_token(session, Kind::Publisher, &self.entity);
        self.context.set_own(gid, true);
        let token = session.liveliness().declare_token(token).wait()?;
        let declared = Declared { _token: token, _listener: listener, gid, session: session.clone(), way };
        // Held until what is new goes the other way: samples stay in order.
        let mut early = self.early();
        for (source_time_ns, msg) in early.drain(..) {
            self.put(&declared, source_time_ns, &msg)?;
        }
        let _only_once = self.declared.set(declared);
        Ok(())
    }
}

/// How soon a subscription learns that it missed the last sample.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// Receivers take no more.
const MAX_PAYLOAD: usize = 1 << 30;

impl Publisher for ZenohPublisher {
    fn publish(&self, stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        if self.context.link.is_closed() {
            return Err(PublishError::Closed);
        }
        if msg.len() > MAX_PAYLOAD {
            return Err(PublishError::TooLarge(msg.len()));
        }
        self.room(msg.len())?;
        let source_time_ns = if self.stamped && stamp.ns > 0 { stamp.ns } else { now_ns() };
        if self.declared.get().is_none() {
            let mut early = self.early();
            if self.declared.get().is_none() {
                self.keep(&mut early, source_time_ns, msg);
                return Ok(());
            }
        }
        let Some(declared) = self.declared.get() else { return Ok(()) };
        self.put(declared, source_time_ns, msg).map_err(|_| PublishError::Closed)
    }

    fn matched(&self) -> usize {
        // Tokens tell how many; the routes, whether data get there yet, and to those without a token.
        if self.reachable.load(Relaxed) { self.subscriptions.count().max(1) } else { 0 }
    }
}

impl Drop for ZenohPublisher {
    fn drop(&mut self) {
        if let Some(declared) = self.declared.get() {
            self.context.set_own(declared.gid, false);
        }
    }
}
