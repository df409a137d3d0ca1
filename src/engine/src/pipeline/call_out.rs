//! Frames that call services: `udp_to_rosservice`.
//!
//! ```text
//! frame -> queue -> Caller::request -> ServiceClient::call -> Caller::response -> the frame's sender
//! ```

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, ServiceClient},
    codec::{Caller, DecodeError, FrameOut},
    rate::RateLimiter,
    rule::RateLimit,
    transport::{Frame, Peer},
};
use tokio::task::{Id, JoinSet};

use super::{Env, Way, discard, now, sleep_until};
use crate::{
    ingress::{FrameQueue, Reader},
    link::{Guarded, Link, Trouble},
    supervisor::{Context, Failure},
    transports::explain,
};

/// Calls one rule has in flight at most; a slow service must not pile up calls.
const MAX_CALLS: usize = 8;

/// Refusals a link sends each second at most; a peer that sends nothing but garbage is not flooded with answers.
const MAX_REFUSALS: RateLimit = RateLimit(10.0);

/// A link that calls a service, owned by the rule's worker.
struct CallLink {
    caller: Guarded<Box<dyn Caller>>,
    client: Arc<dyn ServiceClient>,
    /// How long the service may take to answer.
    timeout: Duration,
    limiter: Option<RateLimiter>,
    refusals: RateLimiter,
    /// The link's own target, if it has one; else answers go to who asked.
    way: Option<Way>,
    source: Way,
    errors: Trouble,
    unsent: Trouble,
}

/// A call in flight: which link made it, for whom.
#[derive(Clone, Copy)]
struct Pending {
    link: usize,
    peer: Peer,
}

/// The rule's calls in flight.
#[derive(Default)]
struct Calls {
    tasks: JoinSet<Result<CdrBytes, CallError>>,
    pending: HashMap<Id, Pending>,
    /// The rule is ending: no new calls.
    closed: bool,
}

/// Attaches to the source and makes calls until told to end.
pub(super) async fn run(env: &Env, context: &Context) -> Result<(), Failure> {
    let source = env.source()?;
    let ways = env.ways().map_err(explain)?;
    let mut links = Vec::new();
    for (link, way) in env.links.iter().zip(ways) {
        let Some(service) = &link.config().service else {
            return Err(Failure::permanent(format!("link '{}' names no service", link.config().link_name)));
        };
        let client = env.adapters.service_client(env.rule.ros_version, service).await;
        let client = client.map_err(|error| error.into_failure())?;
        let source = Way { sink: source.sink.clone(), to: None };
        links.push(CallLink::new(Arc::clone(link), client, way, source)?);
    }
    let queue = FrameQueue::new(env.links.clone(), true);
    let attachment = source.attach(vec![Reader::Queue(Arc::clone(&queue))]);
    context.up();
    let mut calls = Calls::default();
    let mut out = FrameOut::new();
    loop {
        let due = links.iter().filter_map(CallLink::next_due).min();
        tokio::select! {
            () = context.cancel().cancelled() => break,
            frame = queue.frames.pop() => request(&mut links, &frame.as_frame(), &mut calls, &mut out),
            Some(ended) = calls.tasks.join_next_with_id() => {
                let (id, outcome) = match ended {
                    Ok((id, outcome)) => (id, outcome.map_err(|error| error.to_string())),
                    Err(error) => (error.id(), Err("the call failed".to_owned())),
                };
                calls.answer(id, &outcome, &mut links, &mut out);
            }
            () = sleep_until(due) => links.iter_mut().for_each(|link| link.flush(now())),
        }
    }
    drop(attachment);
    calls.closed = true;
    while let Some(frame) = queue.frames.try_pop() {
        request(&mut links, &frame.as_frame(), &mut calls, &mut out);
    }
    let left: Vec<Id> = calls.pending.keys().copied().collect();
    for id in left {
        calls.answer(id, &Err(CallError::Closed.to_string()), &mut links, &mut out);
    }
    Ok(())
}

/// Offers a frame to the links in order until one takes it. If none does, the first that refused it says why: to the
/// others' types a request for one service is wrong by nature.
fn request(links: &mut [CallLink], frame: &Frame<'_>, calls: &mut Calls, out: &mut FrameOut) {
    let mut refused = None;
    for (index, link) in links.iter_mut().enumerate() {
        match link.read(frame) {
            Ok(Some(request)) => return link.call(index, frame, request, calls, out),
            Ok(None) => {}
            Err(error) => {
                refused.get_or_insert((link, error));
            }
        }
    }
    if let Some((link, error)) = refused {
        link.refuse(frame, error, out);
    }
}

impl Calls {
    /// Starts a call, unless there are too many already or the rule is ending.
    fn start(
        &mut self,
        call: Pending,
        client: &Arc<dyn ServiceClient>,
        request: CdrBytes,
        deadline: Instant,
    ) -> Result<(), CallError> {
        if self.closed {
            return Err(CallError::Closed);
        }
        if self.tasks.len() >= MAX_CALLS {
            return Err(CallError::Busy);
        }
        let client = Arc::clone(client);
        let task = self.tasks.spawn(async move { client.call(request, deadline).await });
        self.pending.insert(task.id(), call);
        Ok(())
    }

    fn answer(
        &mut self,
        id: Id,
        outcome: &Result<CdrBytes, String>,
        links: &mut [CallLink],
        out: &mut FrameOut,
    ) {
        let Some(call) = self.pending.remove(&id) else { return };
        if let Some(link) = links.get_mut(call.link) {
            link.answer(call.peer, outcome.as_ref().map_err(String::as_str), out);
        }
    }
}

impl CallLink {
    fn new(
        link: Arc<Link>,
        client: Arc<dyn ServiceClient>,
        way: Option<Way>,
        source: Way,
    ) -> Result<Self, Failure> {
        let limiter = link.config().rate_limit.map(RateLimiter::new);
        let mut caller = Guarded::new(link, |codec, cx| codec.caller(cx))?;
        let timeout = caller.run(now(), |caller, _| caller.timeout());
        let timeout = timeout.ok_or_else(|| Failure::permanent("the codec has no time limit"))?;
        let (errors, unsent) =
            (Trouble::new("request of a peer not understood"), Trouble::new("answer not sent"));
        let refusals = RateLimiter::new(MAX_REFUSALS);
        Ok(Self { caller, client, timeout, limiter, refusals, way, source, errors, unsent })
    }

    /// The request in a frame; `None` when the frame is none, or not for this link. An error is not counted yet:
    /// another link may take the frame.
    fn read(&mut self, frame: &Frame<'_>) -> Result<Option<CdrBytes>, DecodeError> {
        let link = self.caller.link();
        if !link.wants(frame) {
            return Ok(None);
        }
        link.count_frame(frame.bytes.len(), frame.received);
        self.caller.run(frame.received, |caller, _| caller.request(frame)).unwrap_or(Ok(None))
    }

    /// Starts the call that a frame asks for.
    fn call(
        &mut self,
        index: usize,
        frame: &Frame<'_>,
        request: CdrBytes,
        calls: &mut Calls,
        out: &mut FrameOut,
    ) {
        let stats = &self.caller.link().stats;
        if self.limiter.as_mut().is_some_and(|limiter| !limiter.admit(frame.received)) {
            stats.dropped_rate.inc();
            return;
        }
        stats.messages.inc();
        let call = Pending { link: index, peer: frame.peer };
        if let Err(error) = calls.start(call, &self.client, request, now() + self.timeout) {
            self.answer(frame.peer, Err(&error.to_string()), out);
        }
    }

    /// Writes an outcome to the one who asked.
    fn answer(&mut self, peer: Peer, outcome: Result<&CdrBytes, &str>, out: &mut FrameOut) {
        let (link, now) = (Arc::clone(self.caller.link()), now());
        match outcome {
            Ok(_) => link.stats.calls.inc(),
            Err(_) => link.stats.failed_calls.inc(),
        }
        match self.caller.run(now, |caller, _| caller.response(outcome, out)) {
            Some(Ok(())) => self.send(peer, out, now),
            Some(Err(error)) => {
                link.stats.encode_errors.inc();
                self.errors.event(&link, &error, now);
            }
            None => {}
        }
        discard(out);
    }

    /// Counts a frame that no link takes and tells its sender what is wrong with it, if the codec has words for that.
    fn refuse(&mut self, frame: &Frame<'_>, error: DecodeError, out: &mut FrameOut) {
        self.caller.link().stats.decode_errors.inc();
        self.caller.told(&mut self.errors, &error, frame.received, |caller| caller.explain());
        let now = now();
        if self.refusals.admit(now) && self.caller.run(now, |caller, _| caller.refusal(out)).is_some() {
            self.send(frame.peer, out, now);
        }
        discard(out);
    }

    fn send(&mut self, peer: Peer, out: &mut FrameOut, now: Instant) {
        let link = Arc::clone(self.caller.link());
        let back = Way { to: peer.addr(), ..self.source.clone() };
        self.way.as_ref().unwrap_or(&back).send(out, &link, &mut self.unsent, now);
    }

    fn flush(&mut self, now: Instant) {
        let link = self.caller.link();
        self.errors.flush(link, now);
        self.unsent.flush(link, now);
    }

    fn next_due(&self) -> Option<Instant> {
        self.errors.next_due().into_iter().chain(self.unsent.next_due()).min()
    }
}
