//! Topics of one graph to others: `rostopic_to_rostopic`.
//!
//! ```text
//! subscription (without our own samples) -> limit -> publishers of the other graphs
//! ```
//!
//! A sample is published where it was received, without a queue. What our publishers in a graph say is left out by our
//! subscriptions there, so that nothing goes round.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rostrans_core::{
    adapter::{Guard, Publisher, RosAdapter, RosVersion},
    codec::{Codec, CodecInfo, Cost, Interest, Sample},
    rate::RateLimiter,
    topic::{Durability, Qos, Reliability, TopicSpec},
    transport::Framing,
};
use tracing::info;

use super::{Env, now};
use crate::{
    adapters::EndpointError,
    link::{Link, Trouble},
    supervisor::{Context, Failure, lock},
};

/// How often publishers are looked at: while none is known, and later on.
const LOOK: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];

/// Messages that wait for a slow subscriber, at least.
const DEPTH: u16 = 10;

/// Stands for a codec where messages pass as they are.
pub(crate) struct Unchanged;

impl Codec for Unchanged {
    fn info(&self) -> &'static CodecInfo {
        static INFO: CodecInfo = CodecInfo {
            name: "",
            doc: "",
            roles: &[],
            ports: &[],
            inputs: &[],
            services: &[],
            framing: Framing::Datagram,
            interest: Interest::All,
            cost: Cost::Inline,
            tick: None,
            options: &[],
        };
        &INFO
    }
}

/// Carries until told to end.
pub(super) async fn run(env: &Env, context: &Context) -> Result<(), Failure> {
    let mut lanes = lanes(env);
    if lanes.is_empty() {
        return Err(Failure::permanent("no two graphs to carry between run"));
    }
    loop {
        for lane in &mut lanes {
            lane.follow().await.map_err(EndpointError::into_failure)?;
        }
        context.up();
        let look = LOOK[usize::from(lanes.iter().all(|lane| lane.open.is_some()))];
        tokio::select! {
            () = context.cancel().cancelled() => return Ok(()),
            () = tokio::time::sleep(look) => {}
        }
        let now = now();
        lanes.iter().for_each(|lane| lane.flush(now));
    }
}

/// A lane for each link and each graph that messages come from.
fn lanes(env: &Env) -> Vec<Lane> {
    let from: Vec<_> = env.adapters.selected(env.rule.ends.from).collect();
    let to: Vec<_> = env.adapters.selected(env.rule.ends.to).collect();
    let mut lanes = Vec::new();
    for link in &env.links {
        let config = link.config();
        let Some(topic) = &config.topic else { continue };
        for source in &from {
            let others = to.iter().filter(|other| !Arc::ptr_eq(other, source));
            let targets: Vec<_> = others.map(|other| Arc::clone(other)).collect();
            if targets.is_empty() {
                continue;
            }
            let there = config.to_topic.clone().unwrap_or_else(|| topic.name.clone());
            lanes.push(Lane {
                link: Arc::clone(link),
                source: Arc::clone(source),
                targets,
                given: (!config.qos_as_offered).then_some(topic.qos),
                topic: topic.clone(),
                there: TopicSpec { name: there, ..topic.clone() },
                open: None,
            });
        }
    }
    lanes
}

/// One topic on its way from one graph to others.
struct Lane {
    link: Arc<Link>,
    source: Arc<dyn RosAdapter>,
    targets: Vec<Arc<dyn RosAdapter>>,
    /// The QoS that the user wrote.
    given: Option<Qos>,
    topic: TopicSpec,
    there: TopicSpec,
    open: Option<Open>,
}

/// A lane that carries.
struct Open {
    qos: Qos,
    way: Arc<Way>,
    _subscription: Guard,
}

/// What the subscription's sink works with.
struct Way {
    link: Arc<Link>,
    to: Vec<To>,
    lane: Mutex<Traffic>,
}

struct To {
    publisher: Arc<dyn Publisher>,
    /// Whether a message without a subscriber is of no use.
    volatile: bool,
}

struct Traffic {
    limiter: Option<RateLimiter>,
    unsent: Trouble,
}

impl Lane {
    /// Opens the lane, or opens it anew where its publishers offer something else by now.
    ///
    /// **Errors**: an adapter refused.
    async fn follow(&mut self) -> Result<(), EndpointError> {
        let offers = self.source.offers(&self.topic.name);
        let current = self.open.as_ref().map(|open| open.qos);
        let wanted = match (self.given, offers) {
            (Some(given), _) => Some(given),
            (None, Some(offers)) => agreed(&offers).or(current),
            // Only a subscription can tell; this one gets something from every publisher.
            (None, None) => current.or_else(|| {
                Some(match self.source.info().version {
                    RosVersion::Ros1 => Qos::reliable(),
                    RosVersion::Ros2 => Qos::sensor_data().with_depth(DEPTH),
                })
            }),
        };
        let Some(wanted) = wanted.filter(|wanted| !current.is_some_and(|qos| serves(qos, *wanted))) else {
            return Ok(());
        };
        let unknown = self.given.is_none() && self.source.offers(&self.topic.name).is_none();
        // Subscribers there find somebody who is reliable, unless the publishers here are known not to be.
        let there = if unknown { Qos::reliable() } else { wanted };
        let mut to = Vec::new();
        for target in &self.targets {
            let spec = TopicSpec { qos: there, ..self.there.clone() };
            let publisher = target.advertise(&spec).await;
            let publisher = publisher.map_err(|source| refused(target, &spec, source))?;
            to.push(To { publisher, volatile: there.durability == Durability::Volatile });
        }
        let limiter = self.link.config().rate_limit.map(RateLimiter::new);
        let traffic = Traffic { limiter, unsent: Trouble::new("message not carried") };
        let way = Arc::new(Way { link: Arc::clone(&self.link), to, lane: Mutex::new(traffic) });
        // The old subscription ends first: no message twice.
        self.open = None;
        let sink = Arc::clone(&way);
        let spec = TopicSpec { qos: wanted, ..self.topic.clone() };
        let subscription = self.source.subscribe_remote(&spec, Arc::new(move |sample| sink.carry(&sample)));
        let subscription = subscription.await.map_err(|source| refused(&self.source, &spec, source))?;
        let names: Vec<_> = self.targets.iter().map(|target| target.info().name).collect();
        info!(
            rule = %self.link.rule.rule_id,
            topic = %self.topic.name,
            from = self.source.info().name,
            to = names.join(","),
            reliable = there.reliability == Reliability::Reliable,
            latched = there.durability == Durability::TransientLocal,
            "carrying"
        );
        self.open = Some(Open { qos: wanted, way, _subscription: subscription });
        Ok(())
    }

    fn flush(&self, now: Instant) {
        if let Some(open) = &self.open {
            lock(&open.way.lane).unsent.flush(&self.link, now);
        }
    }
}

fn refused(
    adapter: &Arc<dyn RosAdapter>,
    spec: &TopicSpec,
    source: rostrans_core::adapter::AdapterError,
) -> EndpointError {
    EndpointError::Refused { adapter: adapter.info().name, endpoint: spec.name.to_string(), source }
}

/// The most that all publishers offer, which is what a subscription must ask for to hear them all.
fn agreed(offers: &[Qos]) -> Option<Qos> {
    let all = |good: fn(&Qos) -> bool| !offers.is_empty() && offers.iter().all(good);
    let reliable = all(|qos| qos.reliability == Reliability::Reliable);
    let latched = all(|qos| qos.durability == Durability::TransientLocal);
    let depth = offers.iter().map(|qos| qos.depth.max(1)).fold(0, u16::saturating_add);
    let qos = match (reliable, latched) {
        // One publisher stands for all of them there, and owes what each has kept.
        (true, true) => Qos::latched(depth),
        (false, true) => Qos::new(Reliability::BestEffort, Durability::TransientLocal, depth),
        (true, false) => Qos::reliable().with_depth(depth.max(DEPTH)),
        (false, false) => Qos::sensor_data().with_depth(depth.max(DEPTH)),
    };
    (!offers.is_empty()).then_some(qos)
}

/// Whether what is open with `qos` does for `wanted`.
fn serves(qos: Qos, wanted: Qos) -> bool {
    qos == wanted || (Qos { depth: wanted.depth, ..qos } == wanted && qos.depth >= wanted.depth)
}

impl Way {
    /// Publishes a sample in the other graphs; called where it was received.
    fn carry(&self, sample: &Sample) {
        let at = now();
        let stats = &self.link.stats;
        stats.messages.inc();
        stats.last_active.mark(at);
        let mut traffic = lock(&self.lane);
        if traffic.limiter.as_mut().is_some_and(|limiter| !limiter.admit(at)) {
            stats.dropped_rate.inc();
            return;
        }
        for to in &self.to {
            if to.volatile && to.publisher.matched() == 0 {
                continue;
            }
            match to.publisher.publish(sample.stamp, &sample.payload) {
                Ok(()) => self.link.count_frame(sample.payload.as_bytes().len(), at),
                Err(error) => {
                    stats.send_errors.inc();
                    traffic.unsent.event(&self.link, &error, at);
                }
            }
        }
    }
}
