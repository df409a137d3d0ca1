//! Frames to topics: `udp_to_rostopic`, `serial_to_ros`.
//!
//! ```text
//! frame -> interest -> decode -> limit -> Publisher     inline, in the transport's task
//! frame -> interest -> queue -> decode -> ...           queued, in the rule's worker
//! ```

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use rostrans_core::{
    adapter::Publisher,
    clock::Clock,
    codec::{Cost, Decoder},
    emit::{Emit, Outlet},
    rate::RateLimiter,
    topic::Durability,
    transport::{ByteSink, Frame},
};
use tracing::error;

use super::{Env, now, sleep_until};
use crate::{
    ingress::{FrameQueue, Reader},
    link::{Guarded, Link, Trouble},
    supervisor::{Context, Failure},
};

/// A decoding link that can be started any number of times.
pub(crate) struct DecodeSpec {
    link: Arc<Link>,
    /// By port.
    publishers: Vec<Option<(Arc<dyn Publisher>, Durability)>>,
}

/// A decoding link, owned by the task that runs it.
pub(crate) struct DecodeLink {
    decoder: Guarded<Box<dyn Decoder>>,
    outlets: Vec<Option<Outlet>>,
    tick: Option<Tick>,
    errors: Trouble,
}

struct Tick {
    every: Duration,
    next: Instant,
}

/// Announces the rule's topics, attaches its links, and works off its queue until told to end.
pub(super) async fn run(env: &Env, context: &Context) -> Result<(), Failure> {
    let mut inline = Vec::new();
    let mut queued = Vec::new();
    for link in &env.links {
        let spec = Arc::new(DecodeSpec::advertise(env, Arc::clone(link)).await?);
        match link.info().cost {
            Cost::Inline => inline.push(Reader::Inline(spec)),
            Cost::Queued => queued.push(spec),
        }
    }
    let source = env.source()?;
    let queue = FrameQueue::new(queued.iter().map(|spec| Arc::clone(&spec.link)).collect(), true);
    let mut links = queued.iter().map(|spec| spec.open(now())).collect::<Result<Vec<_>, _>>()?;
    let mut readers = inline;
    if !links.is_empty() {
        readers.push(Reader::Queue(Arc::clone(&queue)));
    }
    let attachment = source.attach(readers);
    context.up();
    let mut pool = BytesMut::new();
    let sink: &dyn ByteSink = &*source.sink;
    loop {
        let due = links.iter().filter_map(DecodeLink::next_due).min();
        let frame = tokio::select! {
            () = context.cancel().cancelled() => break,
            frame = queue.frames.pop() => Some(frame),
            () = sleep_until(due) => None,
        };
        let now = now();
        for link in &mut links {
            match &frame {
                Some(frame) if link.link().wants(frame.as_frame().tag) => {
                    link.frame(&frame.as_frame(), &mut pool, Some(sink), &*env.clock);
                }
                _ => {}
            }
            if link.next_due().is_some_and(|due| due <= now) {
                link.tick(now, &mut pool, Some(sink), &*env.clock);
            }
        }
    }
    drop(attachment);
    while let Some(frame) = queue.frames.try_pop() {
        for link in links.iter_mut().filter(|link| link.link().wants(frame.as_frame().tag)) {
            link.frame(&frame.as_frame(), &mut pool, Some(sink), &*env.clock);
        }
    }
    Ok(())
}

impl DecodeSpec {
    /// Announces the link's topics.
    async fn advertise(env: &Env, link: Arc<Link>) -> Result<Self, Failure> {
        let config = link.config();
        let mut publishers = Vec::new();
        for (index, port) in link.info().ports.iter().enumerate() {
            let first = config.topic.as_ref().filter(|_| index == 0);
            let named = config.ports.iter().find(|(name, _)| name.as_str() == port.name);
            let publisher = match first.or_else(|| Some(named?.1)) {
                Some(topic) => Some((env.advertise(topic).await?, topic.qos.durability)),
                None => None,
            };
            publishers.push(publisher);
        }
        Ok(Self { link, publishers })
    }

    pub(crate) fn open(&self, now: Instant) -> Result<DecodeLink, Failure> {
        let decoder = Guarded::new(Arc::clone(&self.link), |codec, cx| codec.decoder(cx))?;
        let limiter = || self.link.config().rate_limit.map(RateLimiter::new);
        let outlet = |(publisher, durability): &(Arc<dyn Publisher>, Durability)| Outlet {
            publisher: Arc::clone(publisher),
            latched: *durability == Durability::TransientLocal,
            limiter: limiter(),
        };
        Ok(DecodeLink {
            decoder,
            outlets: self.publishers.iter().map(|p| p.as_ref().map(outlet)).collect(),
            tick: self.link.info().tick.map(|every| Tick { every, next: now + every }),
            errors: Trouble::new("frame not decoded"),
        })
    }

    /// Says why the link could not be opened.
    pub(crate) fn report(&self, failure: &Failure) {
        error!(rule = %self.link.rule.rule_id, %failure, "link not started");
        self.link.disabled.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

impl DecodeLink {
    pub(crate) fn link(&self) -> &Link {
        self.decoder.link()
    }

    /// Decodes one frame that the link wants.
    pub(crate) fn frame(
        &mut self,
        frame: &Frame<'_>,
        pool: &mut BytesMut,
        sink: Option<&dyn ByteSink>,
        clock: &dyn Clock,
    ) {
        let Self { decoder, outlets, errors, .. } = self;
        let at = frame.received;
        let outcome = decoder.run(at, |decoder, link| {
            link.count_frame(frame.bytes.len(), at);
            let mut out = Emit::new(outlets, pool, sink, Some(frame.peer), clock, at, &link.stats);
            decoder.decode(frame, &mut out)
        });
        match outcome {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                decoder.link().stats.decode_errors.inc();
                decoder.told(errors, &error, at, |decoder| decoder.explain());
            }
            // A panic may have left a sample half written.
            None => pool.clear(),
        }
    }

    /// Runs what is due: the decoder's own tick and summaries of errors.
    pub(crate) fn tick(
        &mut self,
        now: Instant,
        pool: &mut BytesMut,
        sink: Option<&dyn ByteSink>,
        clock: &dyn Clock,
    ) {
        let Self { decoder, outlets, tick, errors } = self;
        errors.flush(decoder.link(), now);
        let Some(tick) = tick.as_mut().filter(|tick| tick.next <= now) else { return };
        tick.next += tick.every;
        if tick.next <= now {
            // Late by more than one period: missed ticks are not made up for.
            tick.next = now + tick.every;
        }
        let outcome = decoder.run(now, |decoder, link| {
            let mut out = Emit::new(outlets, pool, sink, None, clock, now, &link.stats);
            decoder.tick(now, &mut out);
        });
        if outcome.is_none() {
            pool.clear();
        }
    }

    /// When [`DecodeLink::tick`] has something to do.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let tick = self.tick.as_ref().filter(|_| !self.decoder.is_off()).map(|tick| tick.next);
        tick.into_iter().chain(self.errors.next_due()).min()
    }
}
