//! Subscriptions.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, SampleSink},
    clock::RosTime,
    codec,
    text::excerpt,
    throttle::LogThrottle,
    topic::{Durability, History, Reliability, TopicSpec},
};
use tracing::warn;
use zenoh::{
    Session, Wait,
    bytes::ZBytes,
    liveliness::LivelinessToken,
    pubsub::Subscriber,
    sample::{Sample, SampleKind},
};
use zenoh_ext::{AdvancedSubscriber, AdvancedSubscriberBuilderExt, HistoryConfig, RecoveryConfig};

use crate::{
    context::{Context, Entity, now_ns},
    link::Attach,
    stats::count,
    wire::{Attachment, AttachmentError, Kind, NO_HASH, ros_type, subscription_key, type_of_key},
};

/// Hands the samples of one topic to a sink until it is dropped.
pub(crate) struct Subscription {
    context: Arc<Context>,
    entity: Entity,
    /// Any type and hash of the topic.
    key: String,
    receiver: Arc<Receiver>,
    declared: OnceLock<(LivelinessToken, Source)>,
}

/// What it is in a session.
enum Source {
    Volatile(#[expect(dead_code, reason = "held for its Drop")] Subscriber<()>),
    /// Asks publishers for what they keep.
    Latched(#[expect(dead_code, reason = "held for its Drop")] Box<AdvancedSubscriber<()>>),
}

impl Subscription {
    /// Subscribes; with `others_only` our own publishers are not heard.
    pub(crate) fn new(
        context: &Arc<Context>,
        spec: &TopicSpec,
        sink: SampleSink,
        others_only: bool,
    ) -> Result<Arc<Self>, AdapterError> {
        let entity = context.topic(spec)?;
        let receiver = Arc::new(Receiver {
            context: Arc::clone(context),
            entity: entity.clone(),
            sink,
            others_only,
            complaints: Mutex::default(),
        });
        let key = subscription_key(context.domain, &spec.name);
        let subscription =
            Arc::new(Self { context: Arc::clone(context), entity, key, receiver, declared: OnceLock::new() });
        context.link.add(&subscription)?;
        Ok(subscription)
    }
}

impl Attach for Subscription {
    fn name(&self) -> String {
        format!("the subscription to {}", self.entity.endpoint.name)
    }

    fn attach(&self, session: &Session) -> zenoh::Result<()> {
        let qos = self.entity.endpoint.qos;
        let receiver = Arc::clone(&self.receiver);
        let builder =
            session.declare_subscriber(self.key.clone()).callback(move |sample| receiver.take(&sample));
        let source = if qos.durability == Durability::Volatile {
            Source::Volatile(builder.wait()?)
        } else {
            let mut history = HistoryConfig::default().detect_late_publishers();
            if qos.history == History::KeepLast {
                history = history.max_samples(qos.depth.max(1).into());
            }
            let mut builder = builder.history(history).subscriber_detection();
            if qos.reliability == Reliability::Reliable {
                builder = builder.recovery(RecoveryConfig::default().heartbeat());
            }
            Source::Latched(Box::new(builder.wait()?))
        };
        let (token, _) = self.context.endpoint_token(session, Kind::Subscription, &self.entity);
        let token = session.liveliness().declare_token(token).wait()?;
        let _only_once = self.declared.set((token, source));
        Ok(())
    }
}

/// The side that Zenoh's threads run.
struct Receiver {
    context: Arc<Context>,
    entity: Entity,
    sink: SampleSink,
    others_only: bool,
    complaints: Mutex<Complaints>,
}

#[derive(Default)]
struct Complaints {
    malformed: LogThrottle,
    /// Types and hashes that were complained about.
    told: HashSet<String>,
}

impl Receiver {
    fn take(&self, sample: &Sample) {
        if sample.kind() != SampleKind::Put || !self.fits(sample.key_expr().as_str()) {
            return;
        }
        match open(sample.attachment(), sample.payload()) {
            Ok((attachment, payload)) => {
                if self.others_only && self.context.is_own(attachment.gid) {
                    return;
                }
                count(&self.context.counters.received);
                let ns = if attachment.source_time_ns > 0 { attachment.source_time_ns } else { now_ns() };
                (self.sink)(codec::Sample { payload, stamp: RosTime { ns } });
            }
            Err(reason) => {
                count(&self.context.counters.malformed);
                let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(count) = complaints.malformed.event(Instant::now()) {
                    warn!(topic = %self.entity.endpoint.name, %reason, count, "sample refused");
                }
            }
        }
    }

    /// Whether the type in the key is ours. Another hash is another definition, perhaps only another spelling of it: the
    /// sample is taken, and the difference said once.
    fn fits(&self, key: &str) -> bool {
        let ours = &self.entity.endpoint;
        let Some(theirs) = type_of_key(key) else { return false };
        let same_type = theirs.type_name == ours.type_name;
        if same_type && (theirs.hash == ours.hash || theirs.hash == NO_HASH || ours.hash == NO_HASH) {
            return true;
        }
        if !same_type {
            count(&self.context.counters.wrong_type);
        }
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        if complaints.told.len() < MAX_TOLD && complaints.told.insert(key.to_owned()) {
            let (topic, theirs_is) = (&ours.name, excerpt(&ros_type(theirs.type_name)));
            if same_type {
                warn!(%topic, theirs = %excerpt(theirs.hash), ours = %ours.hash, "another definition of {theirs_is} is published");
            } else {
                warn!(%topic, theirs = %theirs_is, ours = %ros_type(&ours.type_name), "another type is published; refused");
            }
        }
        same_type
    }
}

const MAX_TOLD: usize = 16;

/// Attachment and CDR of a sample, request or response; or why not.
pub(crate) fn open(attachment: Option<&ZBytes>, payload: &ZBytes) -> Result<(Attachment, CdrBytes), Refusal> {
    let attachment = attachment.ok_or(AttachmentError::Missing)?;
    let attachment = Attachment::parse(&attachment.to_bytes())?;
    // Big payloads come in fragments, so that this is the one copy; small ones would keep a whole batch alive.
    let payload = payload.to_bytes().into_owned();
    let len = payload.len();
    Ok((attachment, CdrBytes::new(payload).ok_or(Refusal::Payload(len))?))
}

/// Why a sample, request or response is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Attachment(#[from] AttachmentError),
    #[error("payload of {0} bytes is no CDR")]
    Payload(usize),
    #[error("no payload")]
    Empty,
}
