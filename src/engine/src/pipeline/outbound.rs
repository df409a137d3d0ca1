//! Topics to frames: `rostopic_to_udp`, `ros_to_serial`.
//!
//! ```text
//! subscription -> queue -> limit -> encode -> ByteSink
//! ```

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use rostrans_core::{
    codec::{Encoder, FrameOut, Sample},
    queue::DropOldest,
    rate::RateLimiter,
    throttle::LogThrottle,
};
use tracing::warn;

use super::{Env, Way, discard, now, sleep_until};
use crate::{
    link::{Guarded, Link, Trouble},
    supervisor::{Context, Failure, lock},
    transports::explain,
};

/// A sample on its way to the worker.
struct Item {
    link: usize,
    sample: Sample,
    at: Instant,
}

/// Samples of a rule's links, shared by the adapter and the worker.
#[derive(Default)]
struct Inbox {
    links: Vec<Arc<Link>>,
    queue: DropOldest<Item>,
    overflow: Mutex<LogThrottle>,
}

/// A link that encodes, owned by the rule's worker.
struct EncodeLink {
    encoder: Guarded<Box<dyn Encoder>>,
    way: Way,
    limiter: Option<RateLimiter>,
    errors: Trouble,
    unsent: Trouble,
}

/// Subscribes, then encodes and sends until told to end.
pub(super) async fn run(env: &Env, context: &Context) -> Result<(), Failure> {
    let ways = env.ways().map_err(explain)?;
    let inbox = Arc::new(Inbox { links: env.links.clone(), ..Inbox::default() });
    let mut links = Vec::new();
    let mut guards = Vec::new();
    let back = env.source.as_ref().map(|source| Way { sink: source.sink.clone(), to: None });
    for (link, way) in env.links.iter().zip(ways) {
        let Some(way) = way.or_else(|| back.clone()) else {
            return Err(Failure::permanent(format!("link '{}' has no target", link.config().link_name)));
        };
        links.push(EncodeLink::new(Arc::clone(link), way)?);
    }
    for link in &env.links {
        let Some(topic) = &link.config().topic else { continue };
        let (index, inbox) = (link.index, Arc::clone(&inbox));
        let sink = Arc::new(move |sample: Sample| inbox.put(index, sample));
        let guard = env.adapters.subscribe(env.rule.ros_version, topic, sink).await;
        guards.push(guard.map_err(|error| error.into_failure())?);
    }
    context.up();
    let mut out = FrameOut::new();
    loop {
        let due = links.iter().filter_map(EncodeLink::next_due).chain(lock(&inbox.overflow).next_due()).min();
        tokio::select! {
            () = context.cancel().cancelled() => break,
            item = inbox.queue.pop() => encode(&mut links, &item, &mut out),
            () = sleep_until(due) => {
                links.iter_mut().for_each(|link| link.flush(now()));
                let dropped = lock(&inbox.overflow).due(now());
                if let Some(count) = dropped {
                    inbox.tell_overflow(count);
                }
            }
        }
    }
    drop(guards);
    while let Some(item) = inbox.queue.try_pop() {
        encode(&mut links, &item, &mut out);
    }
    Ok(())
}

impl Inbox {
    /// What the adapter calls for each sample.
    fn put(&self, link: usize, sample: Sample) {
        let (at, bytes) = (now(), sample.payload.len());
        for displaced in self.queue.push(Item { link, sample, at }, bytes) {
            if let Some(link) = self.links.get(displaced.link) {
                link.stats.dropped_queue.inc();
            }
            let count = lock(&self.overflow).event(at);
            if let Some(count) = count {
                self.tell_overflow(count);
            }
        }
    }

    #[cold]
    fn tell_overflow(&self, count: u64) {
        if let Some(link) = self.links.first() {
            warn!(rule = %link.rule.rule_id, count, "queue full; oldest samples dropped");
        }
    }
}

fn encode(links: &mut [EncodeLink], item: &Item, out: &mut FrameOut) {
    if let Some(link) = links.get_mut(item.link) {
        link.sample(&item.sample, item.at, out);
    }
}

impl EncodeLink {
    fn new(link: Arc<Link>, way: Way) -> Result<Self, Failure> {
        let limiter = link.config().rate_limit.map(RateLimiter::new);
        let encoder = Guarded::new(link, |codec, cx| codec.encoder(cx))?;
        let (errors, unsent) = (Trouble::new("sample not encoded"), Trouble::new("frame not sent"));
        Ok(Self { encoder, way, limiter, errors, unsent })
    }

    fn sample(&mut self, sample: &Sample, at: Instant, out: &mut FrameOut) {
        let link = Arc::clone(self.encoder.link());
        if self.limiter.as_mut().is_some_and(|limiter| !limiter.admit(at)) {
            link.stats.dropped_rate.inc();
            return;
        }
        link.stats.messages.inc();
        link.stats.last_active.mark(at);
        match self.encoder.run(at, |encoder, _| encoder.encode(sample, out)) {
            Some(Ok(())) => {
                self.way.send(out, &link, &mut self.unsent, at);
            }
            Some(Err(error)) => {
                link.stats.encode_errors.inc();
                self.errors.event(&link, &error, at);
            }
            None => {}
        }
        discard(out);
    }

    fn flush(&mut self, now: Instant) {
        let link = self.encoder.link();
        self.errors.flush(link, now);
        self.unsent.flush(link, now);
    }

    fn next_due(&self) -> Option<Instant> {
        self.errors.next_due().into_iter().chain(self.unsent.next_due()).min()
    }
}
