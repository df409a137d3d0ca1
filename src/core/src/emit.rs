//! What a decoder publishes through.

mod stamper;

use std::{net::SocketAddr, sync::Arc, time::Instant};

use bytes::BytesMut;
use rostrans_cdr::{CdrBytes, CdrEncode, encode_cdr, to_cdr};

use self::stamper::Stamper;

use crate::{
    adapter::Publisher,
    clock::{Clock, NoTime, RosTime, SimClock, Stamped, Stamping},
    codec::{CallId, Port},
    rate::RateLimiter,
    stats::LinkStats,
    transport::{ByteSink, Peer},
};

/// One codec port bound to a topic.
pub struct Outlet {
    /// The publish handle.
    pub publisher: Arc<dyn Publisher>,
    /// Where stamps of its messages are.
    pub stamped: Stamped,
    /// Latched topics are published even when nobody listens yet.
    pub latched: bool,
    /// The link's rate limit, if any; each port has its own window.
    pub limiter: Option<RateLimiter>,
}

/// Output of one decoder call: topics, and frames back to the sender.
pub struct Emit<'a> {
    outlets: &'a mut [Option<Outlet>],
    pool: &'a mut BytesMut,
    sink: Option<&'a dyn ByteSink>,
    peer: Option<Peer>,
    stamper: Stamper<'a>,
    /// The simulated clock that this link's frames tell.
    told: Option<&'a SimClock>,
    stats: &'a LinkStats,
    answers: Option<&'a mut Vec<(CallId, CdrBytes)>>,
}

impl<'a> Emit<'a> {
    /// Binds the outputs of one link for one frame (or tick) at `at`.
    ///
    /// `outlets` is indexed by port; `sink` and `peer` carry replies.
    pub fn new(
        outlets: &'a mut [Option<Outlet>],
        pool: &'a mut BytesMut,
        sink: Option<&'a dyn ByteSink>,
        peer: Option<Peer>,
        clock: &'a dyn Clock,
        at: Instant,
        stats: &'a LinkStats,
    ) -> Self {
        let stamper = Stamper::new(clock, at, stats);
        Self { outlets, pool, sink, peer, stamper, told: None, stats, answers: None }
    }

    /// Stamps messages so; without this, codecs' stamps stay as they are.
    #[must_use]
    pub fn with_stamping(mut self, stamping: Stamping) -> Self {
        self.stamper.stamping = stamping;
        self
    }

    /// Hands times of the simulator to `clock`; without this they are nobody's.
    #[must_use]
    pub fn with_told(self, clock: Option<&'a SimClock>) -> Self {
        Self { told: clock, ..self }
    }

    /// Takes answers to service calls into `answers`; without this they are lost.
    #[must_use]
    pub fn with_answers(self, answers: &'a mut Vec<(CallId, CdrBytes)>) -> Self {
        Self { answers: Some(answers), ..self }
    }

    /// Answers a service call. A call is answered once; what is not open any more is ignored.
    pub fn answer<M: CdrEncode + ?Sized>(&mut self, call: CallId, response: &M) {
        if let Some(answers) = &mut self.answers {
            answers.push((call, to_cdr(response, self.pool)));
        }
    }

    /// The stamp of this call: when the frame was received (or the tick ran), on the ROS clock.
    ///
    /// 0 while the clock has no time; what is published then is dropped and counted. What is to be made of times other
    /// than a stamp asks [`Emit::time`].
    pub fn stamp(&self) -> RosTime {
        self.time().unwrap_or_default()
    }

    /// When the frame was received (or the tick ran), on the ROS clock.
    ///
    /// **Errors**: a simulated clock has no time for it.
    pub fn time(&self) -> Result<RosTime, NoTime> {
        self.stamper.time()
    }

    /// Counts how often the ROS clock was set; `None` for one that runs with the computer's.
    pub fn epoch(&self) -> Option<u32> {
        self.stamper.clock.epoch()
    }

    /// Tells the simulator's time in this frame, before anything of the frame is published.
    ///
    /// Where the link is the source of a clock, it is a sample of that clock, and with the policy
    /// [`Source`](crate::clock::StampPolicy::Source) the stamp of this call, to the nanosecond.
    pub fn simulated(&mut self, time: RosTime) {
        if let Some(clock) = self.told {
            let counts = clock.sample(time, RosTime::default(), self.stamper.at);
            self.stamper.simulated(time, counts);
        }
    }

    /// When the frame was received.
    pub fn received(&self) -> Instant {
        self.stamper.at
    }

    /// True when publishing on `port` would reach someone: bound, and matched or latched.
    pub fn wants(&self, port: Port) -> bool {
        matches!(self.outlet(port), Some(o) if o.latched || o.publisher.matched() > 0)
    }

    /// Serializes and publishes `msg` if the port is wanted and within its rate limit.
    pub fn publish<M: CdrEncode + ?Sized>(&mut self, port: Port, stamp: RosTime, msg: &M) {
        if !self.wants(port) || !self.stamper.admits(stamp) || !self.admit(port) {
            return;
        }
        encode_cdr(msg, self.pool);
        let stamp = self.stamper.restamp(self.stamped(port), stamp, self.pool);
        let sample = CdrBytes::new(self.pool.split().freeze());
        if let (Some(stamp), Some(sample)) = (stamp, sample) {
            self.send(port, stamp, &sample);
        }
    }

    /// Publishes a sample that is CDR already; no copy unless its stamp changes.
    pub fn forward(&mut self, port: Port, stamp: RosTime, sample: &CdrBytes) {
        if !self.wants(port) || !self.stamper.admits(stamp) || !self.admit(port) {
            return;
        }
        let stamped = self.stamped(port);
        if !self.stamper.changes(stamped, sample) {
            return self.send(port, stamp, sample);
        }
        self.pool.extend_from_slice(sample);
        let stamp = self.stamper.restamp(stamped, stamp, self.pool);
        let sample = CdrBytes::new(self.pool.split().freeze());
        if let (Some(stamp), Some(sample)) = (stamp, sample) {
            self.send(port, stamp, &sample);
        }
    }

    /// Sends a frame back: to the frame's sender, or in a tick to the source's own target.
    ///
    /// Counted as a sent frame; a failure as a send error.
    pub fn reply(&mut self, frame: &[u8]) {
        self.send_to(frame, self.peer.and_then(Peer::addr));
    }

    /// Sends a frame to `to`; `None` stands for the source's own target.
    ///
    /// Counted as a sent frame; a failure as a send error.
    pub fn send_to(&mut self, frame: &[u8], to: Option<SocketAddr>) {
        let sent = self.sink.map(|sink| sink.try_send(frame, to));
        match sent {
            Some(Ok(())) => self.stats.sent_frames.inc(),
            Some(Err(_)) | None => self.stats.send_errors.inc(),
        }
    }

    fn outlet(&self, port: Port) -> Option<&Outlet> {
        self.outlets.get(usize::from(port.0)).and_then(Option::as_ref)
    }

    fn stamped(&self, port: Port) -> Stamped {
        self.outlet(port).map_or(Stamped::No, |outlet| outlet.stamped)
    }

    fn admit(&mut self, port: Port) -> bool {
        let at = self.stamper.at;
        let outlet = self.outlets.get_mut(usize::from(port.0)).and_then(Option::as_mut);
        let admitted = outlet.and_then(|o| o.limiter.as_mut()).is_none_or(|l| l.admit(at));
        if !admitted {
            self.stats.dropped_rate.inc();
        }
        admitted
    }

    fn send(&self, port: Port, stamp: RosTime, sample: &CdrBytes) {
        let Some(outlet) = self.outlet(port) else { return };
        match outlet.publisher.publish(stamp, sample) {
            Ok(()) => self.stats.messages.inc(),
            Err(_) => self.stats.send_errors.inc(),
        }
    }
}
