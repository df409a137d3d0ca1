//! A decoding link: a codec's conversation with its device, with everything it may publish and answer.
//!
//! Runs in the transport's task ([`Cost::Inline`](rostrans_core::codec::Cost)) or in the rule's worker.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, Publisher},
    clock::{Clock, SimClock, Stamped},
    codec::{CallId, Decoder, Port, Sample},
    emit::{Emit, Outlet},
    rate::RateLimiter,
    topic::Durability,
    transport::{ByteSink, Frame, Peer},
};
use tracing::error;

use super::{
    Env,
    calls::{Call, Reply},
};
use crate::{
    link::{Guarded, Link, Trouble},
    supervisor::Failure,
};

/// Calls of one link that may wait for their answers.
const MAX_OPEN: usize = 64;

/// A decoder that wants another tick at once gets it after this, so that it cannot keep its task busy for ever.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// A decoding link that can be started any number of times.
pub(crate) struct DecodeSpec {
    link: Arc<Link>,
    clock: Arc<dyn Clock>,
    /// The simulated clock that its frames tell.
    told: Option<Arc<SimClock>>,
    /// By port.
    publishers: Vec<Option<Way>>,
}

/// A topic that a link publishes.
struct Way {
    publisher: Arc<dyn Publisher>,
    stamped: Stamped,
    latched: bool,
}

/// A decoding link, owned by the task that runs it.
pub(crate) struct DecodeLink {
    decoder: Guarded<Box<dyn Decoder>>,
    clock: Arc<dyn Clock>,
    told: Option<Arc<SimClock>>,
    outlets: Vec<Option<Outlet>>,
    tick: Option<Tick>,
    /// When the decoder itself wants to tick next.
    wake: Option<Instant>,
    calls: OpenCalls,
    errors: Trouble,
    unfit: Trouble,
}

/// What a decoding link needs of its task.
pub(crate) struct Io<'a> {
    /// Where samples are written.
    pub(crate) pool: &'a mut BytesMut,
    /// Where its frames leave.
    pub(crate) sink: &'a dyn ByteSink,
}

struct Tick {
    every: Duration,
    next: Instant,
}

/// A link's calls that wait for their answers.
#[derive(Default)]
struct OpenCalls {
    next: u64,
    open: Vec<(CallId, Reply)>,
    /// What the decoder has answered in its present call.
    answers: Vec<(CallId, CdrBytes)>,
}

impl DecodeSpec {
    /// Announces the topics that the link publishes.
    pub(super) async fn advertise(env: &Env, link: Arc<Link>) -> Result<Self, Failure> {
        let config = link.config();
        let mut publishers = Vec::new();
        for (index, port) in link.info().ports.iter().enumerate() {
            let first = config.topic.as_ref().filter(|_| index == 0);
            let named = config.ports.get(port.name);
            let publisher = match first.or(named) {
                Some(topic) => Some(Way {
                    publisher: env.advertise(topic).await?,
                    stamped: Stamped::of(&link.types, &topic.msg_type),
                    latched: topic.qos.durability == Durability::TransientLocal,
                }),
                None => None,
            };
            publishers.push(publisher);
        }
        let told = env.told(&link);
        Ok(Self { link, clock: Arc::clone(&env.clock), told, publishers })
    }

    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    pub(crate) fn open(&self, now: Instant) -> Result<DecodeLink, Failure> {
        let decoder = Guarded::new(Arc::clone(&self.link), |codec, cx| codec.decoder(cx))?;
        let limiter = || self.link.config().rate_limit.map(RateLimiter::new);
        let outlet = |way: &Way| Outlet {
            publisher: Arc::clone(&way.publisher),
            stamped: way.stamped,
            latched: way.latched,
            limiter: limiter(),
        };
        let mut link = DecodeLink {
            decoder,
            clock: Arc::clone(&self.clock),
            told: self.told.clone(),
            outlets: self.publishers.iter().map(|p| p.as_ref().map(outlet)).collect(),
            tick: self.link.info().tick.map(|every| Tick { every, next: now + every }),
            wake: None,
            calls: OpenCalls::default(),
            errors: Trouble::new("frame not decoded"),
            unfit: Trouble::new("sample or service request does not fit the codec"),
        };
        link.ask_due(now);
        Ok(link)
    }

    /// Says why the link could not be opened.
    pub(crate) fn report(&self, failure: &Failure) {
        error!(rule = %self.link.rule.rule_id, %failure, "link not started");
        self.link.disabled.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

impl DecodeLink {
    pub(crate) fn link(&self) -> &Arc<Link> {
        self.decoder.link()
    }

    /// Decodes one frame that the link wants.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>, io: &mut Io<'_>) {
        if self.decoder.is_off() {
            return;
        }
        let at = frame.received;
        self.decoder.link().count_frame(frame.bytes.len(), at);
        let outcome = self.run(at, Some(frame.peer), io, |decoder, out| decoder.decode(frame, out));
        if let Some(Err(error)) = outcome {
            let Self { decoder, errors, .. } = self;
            decoder.link().stats.decode_errors.inc();
            decoder.told(errors, &error, at, |decoder| decoder.explain());
        }
    }

    /// Hands over a sample of one of its inputs.
    pub(super) fn sample(&mut self, input: Port, sample: &Sample, at: Instant, io: &mut Io<'_>) {
        let stats = &self.decoder.link().stats;
        stats.taken.inc();
        stats.last_active.mark(at);
        let outcome = self.run(at, None, io, |decoder, out| decoder.sample(input, sample, out));
        if let Some(Err(error)) = outcome {
            self.does_not_fit(&error, at);
        }
    }

    /// Hands over a call of one of its services.
    pub(super) fn call(&mut self, call: Call, at: Instant, io: &mut Io<'_>) {
        let stats = &self.decoder.link().stats;
        stats.taken.inc();
        stats.last_active.mark(at);
        let (service, request) = (call.service, call.request);
        let Some(id) = self.calls.open(call.reply, self.decoder.link()) else { return };
        let outcome = self.run(at, None, io, |decoder, out| decoder.call(service, id, &request, out));
        match outcome {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                self.does_not_fit(&error, at);
                self.calls.end(id, Err(CallError::Closed), self.decoder.link());
            }
            // After a panic all are closed already; a link that is switched off answers none.
            None => self.calls.close(self.decoder.link()),
        }
    }

    /// Runs what is due: the decoder's ticks and summaries of errors.
    pub(crate) fn tick(&mut self, now: Instant, io: &mut Io<'_>) {
        self.errors.flush(self.decoder.link(), now);
        self.unfit.flush(self.decoder.link(), now);
        let periodic = self.tick.as_mut().filter(|tick| tick.next <= now);
        if periodic.is_none() && self.wake.is_none_or(|wake| now < wake) {
            return;
        }
        if let Some(tick) = periodic {
            tick.next += tick.every;
            if tick.next <= now {
                // Late by more than one period: missed ticks are not made up for.
                tick.next = now + tick.every;
            }
        }
        self.run(now, None, io, |decoder, out| decoder.tick(now, out));
        self.wake = self.wake.map(|wake| wake.max(now + SHORTEST_WAIT));
    }

    /// Fails a call that nothing was done for.
    pub(super) fn refuse(&self, call: Call) {
        self.decoder.link().stats.failed_calls.inc();
        call.reply.send(Err(CallError::Closed));
    }

    /// Lets the decoder answer what is open, and ends the rest.
    pub(super) fn close(&mut self, now: Instant, io: &mut Io<'_>) {
        self.run(now, None, io, |decoder, out| decoder.close(out));
        self.calls.close(self.decoder.link());
    }

    /// When [`DecodeLink::tick`] has something to do; may change with each call of another method.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let tick = self.tick.as_ref().filter(|_| !self.decoder.is_off()).map(|tick| tick.next);
        let summaries = self.errors.next_due().into_iter().chain(self.unfit.next_due());
        summaries.chain(tick).chain(self.wake).min()
    }

    /// Lets `call` use the decoder; `None` when it panicked or the link is switched off.
    fn run<R>(
        &mut self,
        at: Instant,
        peer: Option<Peer>,
        io: &mut Io<'_>,
        call: impl FnOnce(&mut dyn Decoder, &mut Emit<'_>) -> R,
    ) -> Option<R> {
        let Self { decoder, outlets, calls, clock, told, .. } = self;
        let outcome = decoder.run(at, |decoder, link| {
            let mut out = Emit::new(outlets, io.pool, Some(io.sink), peer, &**clock, at, &link.stats)
                .with_stamping(link.rule.stamping)
                .with_told(told.as_deref())
                .with_answers(&mut calls.answers);
            let result = call(&mut **decoder, &mut out);
            (result, decoder.next_due())
        });
        let Some((result, wake)) = outcome else {
            // A panic may have left a sample half written; whom it was about to answer is not known any more.
            io.pool.clear();
            calls.close(decoder.link());
            self.ask_due(at);
            return None;
        };
        self.wake = wake;
        if !calls.answers.is_empty() {
            calls.hand_over(decoder.link());
        }
        Some(result)
    }

    /// Asks a new decoder when it wants to tick.
    fn ask_due(&mut self, now: Instant) {
        self.wake = self.decoder.run(now, |decoder, _| decoder.next_due()).flatten();
    }

    fn does_not_fit(&mut self, error: &dyn std::fmt::Display, at: Instant) {
        let Self { decoder, unfit, .. } = self;
        decoder.link().stats.encode_errors.inc();
        decoder.told(unfit, error, at, |decoder| decoder.explain());
    }
}

impl OpenCalls {
    /// Notes a call; `None` when there are too many already, which the caller is told.
    fn open(&mut self, reply: Reply, link: &Link) -> Option<CallId> {
        if self.open.len() >= MAX_OPEN {
            self.open.retain(|(_, reply)| !reply.is_closed());
        }
        if self.open.len() >= MAX_OPEN {
            link.stats.failed_calls.inc();
            reply.send(Err(CallError::Busy));
            return None;
        }
        let id = CallId(self.next);
        self.next += 1;
        self.open.push((id, reply));
        Some(id)
    }

    /// Ends a call, if it is open.
    fn end(&mut self, id: CallId, answer: Result<CdrBytes, CallError>, link: &Link) {
        let Some(index) = self.open.iter().position(|(open, _)| *open == id) else { return };
        match answer {
            Ok(_) => link.stats.calls.inc(),
            Err(_) => link.stats.failed_calls.inc(),
        }
        self.open.swap_remove(index).1.send(answer);
    }

    /// Hands the decoder's answers to their callers.
    fn hand_over(&mut self, link: &Link) {
        let mut answers = std::mem::take(&mut self.answers);
        for (id, answer) in answers.drain(..) {
            self.end(id, Ok(answer), link);
        }
        self.answers = answers;
    }

    /// Ends all calls without an answer.
    fn close(&mut self, link: &Link) {
        self.answers.clear();
        for (_, reply) in self.open.drain(..) {
            link.stats.failed_calls.inc();
            reply.send(Err(CallError::Closed));
        }
    }
}
