//! One service of a rule: its waiting calls and the one in flight.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::CallError,
    codec::{self, DecodeError, Exchange, FrameOut, Retry},
    transport::{Frame, Peer},
};

use super::sender::Sender;
use crate::{
    link::{Guarded, Link, Trouble},
    pipeline::{
        Way,
        calls::{Call, Reply},
        discard, now,
    },
    supervisor::Failure,
};

/// Calls that may wait for their turn, per service.
const MAX_WAITING: usize = 64;

/// The longest pause after a call that timed out; it is as long as the peer was waited for, at most this.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// One service, owned by the rule's worker.
pub(super) struct Lane {
    exchange: Guarded<Box<dyn Exchange>>,
    way: Way,
    /// Whose frames can answer.
    pub(super) sender: Sender,
    /// Answers name their call.
    pub(super) correlates: bool,
    waiting: VecDeque<Call>,
    open: Option<Open>,
    /// Until then, an answer to a call that was given up may arrive.
    pause_until: Option<Instant>,
    unfit: Trouble,
    errors: Trouble,
    strangers: Trouble,
    unsent: Trouble,
}

/// The call in flight.
struct Open {
    reply: Reply,
    /// Frames received before belong to an earlier call.
    sent: Instant,
    attempt: u32,
    timeout: Instant,
    /// How long to pause if it is given up.
    pause: Duration,
}

/// What became of a frame.
pub(super) enum Taken {
    Yes,
    No,
    /// No valid answer.
    Malformed(DecodeError),
}

impl Lane {
    pub(super) fn new(link: Arc<Link>, way: Way) -> Result<Self, Failure> {
        let mut exchange = Guarded::new(link, |codec, cx| codec.exchange(cx))?;
        let correlates = exchange.run(now(), |exchange, _| exchange.correlates()).unwrap_or_default();
        Ok(Self {
            exchange,
            sender: Sender::answering(way.to),
            way,
            correlates,
            waiting: VecDeque::new(),
            open: None,
            pause_until: None,
            unfit: Trouble::new("service request does not fit the codec; call failed"),
            errors: Trouble::new("peer's answer to a service call not understood"),
            strangers: Trouble::new("answer dropped; not from the link's target address"),
            unsent: Trouble::new("request not sent"),
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// True while an answer to one of its calls may arrive.
    pub(super) fn is_busy(&self, now: Instant) -> bool {
        self.is_open() || self.pause_until.is_some_and(|until| now < until)
    }

    /// When the call that is next in turn is too late to start.
    pub(super) fn first_deadline(&self) -> Option<Instant> {
        self.waiting.front().map(|call| call.deadline)
    }

    /// Lets a call wait its turn, or refuses it when too many wait already.
    pub(super) fn call(&mut self, call: Call) {
        if self.waiting.len() >= MAX_WAITING {
            self.fail(call.reply, CallError::Busy);
        } else {
            self.waiting.push_back(call);
        }
    }

    /// Starts the oldest waiting call; there is none in flight.
    pub(super) fn start(&mut self, out: &mut FrameOut) {
        let Some(call) = self.waiting.pop_front() else { return };
        let (link, now) = (self.link(), now());
        if call.reply.is_closed() || call.deadline <= now {
            return self.answer(call.reply, Err(CallError::Timeout));
        }
        link.stats.messages.inc();
        link.stats.last_active.mark(now);
        match self.exchange.run(now, |exchange, _| (exchange.request(&call.request, out), exchange.timeout()))
        {
            Some((Ok(()), wait)) => {
                self.send(out, now);
                let pause = if self.correlates { Duration::ZERO } else { wait.min(MAX_PAUSE) };
                let (reply, timeout) = (call.reply, now + wait);
                self.open = Some(Open { reply, sent: now, attempt: 0, timeout, pause });
            }
            Some((Err(error), _)) => {
                link.stats.encode_errors.inc();
                self.unfit.event(&link, &error, now);
                discard(out);
                self.fail(call.reply, CallError::Closed);
            }
            None => {
                discard(out);
                self.fail(call.reply, CallError::Closed);
            }
        }
    }

    /// True when the frame may be an answer to the call in flight, if it has the right sender.
    pub(super) fn awaits(&self, frame: &Frame<'_>) -> bool {
        let in_time = self.open.as_ref().is_some_and(|open| frame.received >= open.sent);
        in_time && self.exchange.link().wants(frame)
    }

    /// Looks at a frame for the call in flight.
    pub(super) fn frame(&mut self, frame: &Frame<'_>) -> Taken {
        let (link, now) = (self.link(), now());
        let outcome = self.exchange.run(now, |exchange, _| (exchange.response(frame), exchange.timeout()));
        match outcome {
            Some((Ok(codec::Reply::Unrelated), _)) => return Taken::No,
            Some((Ok(codec::Reply::Progress), timeout)) => {
                link.count_frame(frame.bytes.len(), frame.received);
                if let Some(open) = &mut self.open {
                    open.timeout = now + timeout;
                }
            }
            Some((Ok(codec::Reply::Done(response)), _)) => {
                link.count_frame(frame.bytes.len(), frame.received);
                self.finish(Ok(response));
            }
            Some((Err(error), _)) => return Taken::Malformed(error),
            None => self.fail_open(now),
        }
        Taken::Yes
    }

    /// Notes a frame that was no valid answer.
    pub(super) fn malformed(&mut self, error: DecodeError) {
        self.exchange.link().stats.decode_errors.inc();
        self.exchange.told(&mut self.errors, &error, now(), |exchange| exchange.explain());
    }

    /// Notes a frame from someone who was not asked.
    pub(super) fn stranger(&mut self, peer: Peer) {
        let (link, sender) = (self.link(), self.sender);
        link.stats.dropped_sender.inc();
        self.strangers.event(&link, &Stranger { peer, sender }, now());
    }

    /// Handles whatever is due at `now`.
    pub(super) fn due(&mut self, now: Instant, out: &mut FrameOut) {
        let link = self.link();
        for trouble in [&mut self.unfit, &mut self.errors, &mut self.strangers, &mut self.unsent] {
            trouble.flush(&link, now);
        }
        self.pause_until.take_if(|until| *until <= now);
        while self.waiting.front().is_some_and(|call| call.deadline <= now) {
            if let Some(call) = self.waiting.pop_front() {
                self.answer(call.reply, Err(CallError::Timeout));
            }
        }
        let Some(open) = self.open.as_mut().filter(|open| open.timeout <= now) else { return };
        open.attempt += 1;
        let attempt = open.attempt;
        match self.exchange.run(now, |exchange, _| (exchange.timed_out(attempt, out), exchange.timeout())) {
            Some((Retry::Again, timeout)) if !open.reply.is_closed() => {
                open.timeout = now + timeout;
                self.send(out, now);
            }
            Some((Retry::GiveUp(Some(response)), _)) => {
                if let Some(open) = self.give_up(now) {
                    link.stats.failed_calls.inc();
                    open.reply.send(Ok(response));
                }
            }
            Some((Retry::Again | Retry::GiveUp(None), _)) => {
                if let Some(open) = self.give_up(now) {
                    self.answer(open.reply, Err(CallError::Timeout));
                }
            }
            None => self.fail_open(now),
        }
        discard(out);
    }

    /// Answers everything with a failure.
    pub(super) fn close(&mut self) {
        let open = self.open.take().map(|open| open.reply);
        let waiting = std::mem::take(&mut self.waiting);
        for reply in open.into_iter().chain(waiting.into_iter().map(|call| call.reply)) {
            self.fail(reply, CallError::Closed);
        }
    }

    /// Answers a call with a failure that nothing was done for.
    pub(super) fn fail_call(&mut self, call: Call) {
        self.fail(call.reply, CallError::Closed);
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        let timeout = self.open.as_ref().map(|open| open.timeout);
        let troubles = [&self.unfit, &self.errors, &self.strangers, &self.unsent];
        let summaries = troubles.into_iter().filter_map(Trouble::next_due);
        summaries.chain(timeout).chain(self.first_deadline()).chain(self.pause_until).min()
    }

    fn link(&self) -> Arc<Link> {
        Arc::clone(self.exchange.link())
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

    /// Ends the call in flight without an answer of the peer, which may come yet.
    fn give_up(&mut self, now: Instant) -> Option<Open> {
        let open = self.open.take()?;
        self.pause_until = Some(now + open.pause);
        Some(open)
    }

    /// Ends the call in flight after a panic of the codec.
    fn fail_open(&mut self, now: Instant) {
        if let Some(open) = self.give_up(now) {
            self.fail(open.reply, CallError::Closed);
        }
    }

    /// Answers with the codec's word for failure, else with `error`.
    fn fail(&mut self, reply: Reply, error: CallError) {
        self.link().stats.failed_calls.inc();
        let failure = self.exchange.run(now(), |exchange, _| exchange.failure()).flatten();
        reply.send(failure.ok_or(error));
    }

    fn answer(&self, reply: Reply, outcome: Result<CdrBytes, CallError>) {
        let stats = &self.exchange.link().stats;
        match outcome {
            Ok(_) => stats.calls.inc(),
            Err(_) => stats.failed_calls.inc(),
        }
        reply.send(outcome);
    }
}

/// Who sent a frame, and who should have.
struct Stranger {
    peer: Peer,
    sender: Sender,
}

impl std::fmt::Display for Stranger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.peer, self.sender) {
            (Peer::Udp(from), Sender::Only(target)) => write!(f, "came from {from}, asked was {target}"),
            (peer, _) => write!(f, "came from {peer:?}"),
        }
    }
}
