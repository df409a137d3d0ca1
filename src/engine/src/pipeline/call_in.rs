//! Services answered over frames: `rosservice_to_udp`.
//!
//! ```text
//! service call -> Exchange::request -> ByteSink
//! frame -> queue -> Exchange::response -> service response
//! ```
//!
//! Each service has one call in flight: a COMMAND_ACK names only the command, so overlapping calls could not be told
//! apart. Further calls wait their turn.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, ServiceHandler},
    codec::{Exchange, FrameOut, Reply, Retry},
    transport::{BoxFuture, Frame},
};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time,
};

use super::{Env, Way, discard, now, sleep_until};
use crate::{
    ingress::{FrameQueue, Reader},
    link::{Guarded, Link, Trouble},
    supervisor::{Context, Failure},
};

/// Calls that may wait for their turn, per service.
const MAX_WAITING: usize = 64;

/// How long a call waits for its turn; a command must not reach the vehicle long after it was given.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the adapter gets to pick up the answers given at the end of a run.
const HAND_OVER: Duration = Duration::from_millis(500);

/// A call on its way to the worker.
struct Call {
    link: usize,
    request: CdrBytes,
    reply: oneshot::Sender<Result<CdrBytes, CallError>>,
    /// When it is too late to start.
    deadline: Instant,
}

/// Hands calls of one service to the rule's worker.
struct Handler {
    link: usize,
    calls: mpsc::Sender<Call>,
    unanswered: Arc<Unanswered>,
}

/// Calls whose answer the adapter has not picked up yet.
#[derive(Default)]
struct Unanswered {
    count: AtomicUsize,
    none: Notify,
}

/// One service, owned by the rule's worker.
struct Lane {
    exchange: Guarded<Box<dyn Exchange>>,
    way: Way,
    waiting: VecDeque<Call>,
    open: Option<Open>,
    errors: Trouble,
    unsent: Trouble,
}

/// The call in flight.
struct Open {
    reply: oneshot::Sender<Result<CdrBytes, CallError>>,
    /// Frames received before belong to an earlier call.
    sent: Instant,
    attempt: u32,
    timeout: Instant,
}

/// Offers the rule's services and answers calls until told to end.
pub(super) async fn run(env: &Env, context: &Context) -> Result<(), Failure> {
    let source = env.source()?;
    let ways = env.ways().map_err(Failure::retry)?;
    let mut lanes = Vec::new();
    for (link, way) in env.links.iter().zip(ways) {
        let way = way.unwrap_or_else(|| Way { sink: source.sink.clone(), to: None });
        lanes.push(Lane::new(Arc::clone(link), way)?);
    }
    let queue = FrameQueue::new(env.links.clone(), false);
    let attachment = source.attach(vec![Reader::Queue(Arc::clone(&queue))]);
    let (sender, mut calls) = mpsc::channel(MAX_WAITING);
    let unanswered = Arc::new(Unanswered::default());
    let mut guards = Vec::new();
    for link in &env.links {
        let Some(service) = &link.config().service else {
            return Err(Failure::permanent(format!("link '{}' names no service", link.config().link_name)));
        };
        let (calls, unanswered) = (sender.clone(), Arc::clone(&unanswered));
        let handler = Arc::new(Handler { link: link.index, calls, unanswered });
        let guard = env.adapters.advertise_service(env.rule.ros_version, service, handler).await;
        guards.push(guard.map_err(|error| error.into_failure())?);
    }
    context.up();
    let mut out = FrameOut::new();
    loop {
        queue.set_open(lanes.iter().any(|lane| lane.open.is_some()));
        let due = lanes.iter().filter_map(Lane::next_due).min();
        tokio::select! {
            () = context.cancel().cancelled() => break,
            Some(call) = calls.recv() => {
                queue.set_open(true);
                if let Some(lane) = lanes.get_mut(call.link) {
                    lane.call(call, &mut out);
                }
            }
            frame = queue.frames.pop() => {
                for lane in &mut lanes {
                    lane.frame(&frame.as_frame(), &mut out);
                }
            }
            () = sleep_until(due) => {
                for lane in &mut lanes {
                    lane.due(now(), &mut out);
                }
            }
        }
    }
    drop(attachment);
    calls.close();
    while let Ok(call) = calls.try_recv() {
        if let Some(lane) = lanes.get_mut(call.link) {
            lane.waiting.push_back(call);
        }
    }
    for lane in &mut lanes {
        lane.close();
    }
    // The guards withdraw the services; the answers must be on their way before.
    if time::timeout(HAND_OVER, unanswered.wait_none()).await.is_err() {
        tracing::debug!(rule = %env.rule.rule_id, "answers were not picked up in time");
    }
    drop(guards);
    Ok(())
}

impl ServiceHandler for Handler {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        let picked_up = Unanswered::begin(&self.unanswered);
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let call = Call { link: self.link, request, reply, deadline: now() + TURN_TIMEOUT };
            self.calls.try_send(call).map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => CallError::Busy,
                mpsc::error::TrySendError::Closed(_) => CallError::Closed,
            })?;
            let answer = answer.await.unwrap_or(Err(CallError::Closed));
            drop(picked_up);
            answer
        })
    }
}

/// Counts one unanswered call until dropped.
struct PickedUp(Arc<Unanswered>);

impl Unanswered {
    fn begin(this: &Arc<Self>) -> PickedUp {
        this.count.fetch_add(1, SeqCst);
        PickedUp(Arc::clone(this))
    }

    async fn wait_none(&self) {
        loop {
            let none = self.none.notified();
            if self.count.load(SeqCst) == 0 {
                return;
            }
            none.await;
        }
    }
}

impl Drop for PickedUp {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, SeqCst) == 1 {
            self.0.none.notify_waiters();
        }
    }
}

impl Lane {
    fn new(link: Arc<Link>, way: Way) -> Result<Self, Failure> {
        let exchange = Guarded::new(link, |codec, cx| codec.exchange(cx))?;
        let (errors, unsent) =
            (Trouble::new("call not expressed or not understood"), Trouble::new("request not sent"));
        Ok(Self { exchange, way, waiting: VecDeque::new(), open: None, errors, unsent })
    }

    fn link(&self) -> Arc<Link> {
        Arc::clone(self.exchange.link())
    }

    /// Takes a call in: it starts at once, waits its turn, or is refused when too many wait already.
    fn call(&mut self, call: Call, out: &mut FrameOut) {
        if self.waiting.len() >= MAX_WAITING {
            return self.fail(call.reply, CallError::Busy);
        }
        self.waiting.push_back(call);
        self.start_next(out);
    }

    /// Starts the oldest waiting call, unless one is in flight.
    fn start_next(&mut self, out: &mut FrameOut) {
        let link = self.link();
        while self.open.is_none() {
            let Some(call) = self.waiting.pop_front() else { return };
            let now = now();
            if call.reply.is_closed() || call.deadline <= now {
                self.answer(call.reply, Err(CallError::Timeout));
                continue;
            }
            link.stats.messages.inc();
            link.stats.last_active.mark(now);
            match self
                .exchange
                .run(now, |exchange, _| (exchange.request(&call.request, out), exchange.timeout()))
            {
                Some((Ok(()), timeout)) => {
                    self.send(out, now);
                    self.open =
                        Some(Open { reply: call.reply, sent: now, attempt: 0, timeout: now + timeout });
                }
                Some((Err(error), _)) => {
                    link.stats.encode_errors.inc();
                    self.errors.event(&link, &error, now);
                    discard(out);
                    self.fail(call.reply, CallError::Closed);
                }
                None => {
                    discard(out);
                    self.fail(call.reply, CallError::Closed);
                }
            }
        }
    }

    /// Looks at a frame for the call in flight.
    fn frame(&mut self, frame: &Frame<'_>, out: &mut FrameOut) {
        let link = self.link();
        let Some(open) = &mut self.open else { return };
        if !link.wants(frame.tag) || frame.received < open.sent {
            return;
        }
        let now = now();
        let outcome = self.exchange.run(now, |exchange, _| (exchange.response(frame), exchange.timeout()));
        match outcome {
            Some((Ok(Reply::Unrelated), _)) => {}
            Some((Ok(Reply::Progress), timeout)) => {
                link.count_frame(frame.bytes.len(), frame.received);
                open.timeout = now + timeout;
            }
            Some((Ok(Reply::Done(response)), _)) => {
                link.count_frame(frame.bytes.len(), frame.received);
                self.finish(Ok(response));
            }
            Some((Err(error), _)) => {
                link.stats.decode_errors.inc();
                self.errors.event(&link, &error, now);
            }
            None => self.fail_open(),
        }
        self.start_next(out);
    }

    /// Handles whatever is due at `now`.
    fn due(&mut self, now: Instant, out: &mut FrameOut) {
        let link = self.link();
        self.errors.flush(&link, now);
        self.unsent.flush(&link, now);
        while self.waiting.front().is_some_and(|call| call.deadline <= now) {
            if let Some(call) = self.waiting.pop_front() {
                self.answer(call.reply, Err(CallError::Timeout));
            }
        }
        if let Some(open) = self.open.as_mut().filter(|open| open.timeout <= now) {
            open.attempt += 1;
            let attempt = open.attempt;
            match self.exchange.run(now, |exchange, _| (exchange.timed_out(attempt, out), exchange.timeout()))
            {
                Some((Retry::Again, timeout)) if !open.reply.is_closed() => {
                    open.timeout = now + timeout;
                    self.send(out, now);
                }
                Some((Retry::GiveUp(Some(response)), _)) => {
                    if let Some(open) = self.open.take() {
                        link.stats.failed_calls.inc();
                        hand_over(open.reply, Ok(response));
                    }
                }
                Some((Retry::Again | Retry::GiveUp(None), _)) => self.finish(Err(CallError::Timeout)),
                None => self.fail_open(),
            }
            discard(out);
        }
        self.start_next(out);
    }

    /// Answers everything with a failure.
    fn close(&mut self) {
        let open = self.open.take().map(|open| open.reply);
        let waiting = std::mem::take(&mut self.waiting);
        for reply in open.into_iter().chain(waiting.into_iter().map(|call| call.reply)) {
            self.fail(reply, CallError::Closed);
        }
    }

    fn send(&mut self, out: &mut FrameOut, now: Instant) {
        let link = self.link();
        self.way.send(out, &link, &mut self.unsent, now);
    }

    /// Ends the call in flight.
    fn finish(&mut self, outcome: Result<CdrBytes, CallError>) {
        if let Some(open) = self.open.take() {
            self.answer(open.reply, outcome);
        }
    }

    /// Ends the call in flight after a panic of the codec.
    fn fail_open(&mut self) {
        if let Some(open) = self.open.take() {
            self.fail(open.reply, CallError::Closed);
        }
    }

    /// Answers with the codec's word for failure, else with `error`.
    fn fail(&mut self, reply: oneshot::Sender<Result<CdrBytes, CallError>>, error: CallError) {
        self.link().stats.failed_calls.inc();
        let failure = self.exchange.run(now(), |exchange, _| exchange.failure()).flatten();
        hand_over(reply, failure.ok_or(error));
    }

    fn answer(
        &self,
        reply: oneshot::Sender<Result<CdrBytes, CallError>>,
        outcome: Result<CdrBytes, CallError>,
    ) {
        let stats = &self.exchange.link().stats;
        match outcome {
            Ok(_) => stats.calls.inc(),
            Err(_) => stats.failed_calls.inc(),
        }
        hand_over(reply, outcome);
    }

    fn next_due(&self) -> Option<Instant> {
        let timeout = self.open.as_ref().map(|open| open.timeout);
        let turn = self.waiting.front().map(|call| call.deadline);
        [timeout, turn, self.errors.next_due(), self.unsent.next_due()].into_iter().flatten().min()
    }
}

/// A caller that has gone away needs no answer.
fn hand_over(reply: oneshot::Sender<Result<CdrBytes, CallError>>, outcome: Result<CdrBytes, CallError>) {
    drop(reply.send(outcome));
}
