//! What a rule does while it runs; one file for each shape.

pub(crate) mod bridge;
pub(crate) mod call_in;
pub(crate) mod call_out;
mod calls;
pub(crate) mod decode;
mod gate;
pub(crate) mod inbound;
pub(crate) mod outbound;

use std::{net::SocketAddr, sync::Arc, time::Instant};

use rostrans_core::{
    adapter::Publisher,
    clock::{Clock, SimClock},
    codec::FrameOut,
    rule::{Direction, ForwardRule},
    topic::TopicSpec,
    transport::{ByteSink, TransportError},
};
use tokio::time;

use crate::{
    adapters::AdapterSet,
    clocks::Clocks,
    ingress::Tap,
    link::{Link, Trouble},
    supervisor::{Context, Failure},
    transports::TransportFactory,
};

/// What a running rule stands on.
pub(crate) struct Env {
    pub(crate) rule: Arc<ForwardRule>,
    pub(crate) links: Vec<Arc<Link>>,
    /// The transport its frames come from.
    pub(crate) source: Option<Arc<Tap>>,
    /// Where each link's frames go.
    pub(crate) targets: Vec<Target>,
    pub(crate) adapters: AdapterSet,
    /// The clock of its stamps.
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) clocks: Clocks,
    pub(crate) transports: Arc<dyn TransportFactory>,
}

/// Where a link's frames go.
#[derive(Clone)]
pub(crate) enum Target {
    /// Out of a running transport, to this address or the transport's own target.
    Transport(Arc<Tap>, Option<SocketAddr>),
    /// Out of a socket of the rule's own.
    Socket(SocketAddr),
    /// Nowhere; the rule sends nothing.
    None,
}

impl Env {
    /// Runs the rule until it is told to end or cannot go on.
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        match self.rule.direction {
            Direction::UdpToRostopic | Direction::SerialToRos => {
                if gate::opened(self, context).await? {
                    inbound::run(self, context).await?;
                }
                Ok(())
            }
            Direction::RostopicToUdp | Direction::RosToSerial => outbound::run(self, context).await,
            Direction::RosserviceToUdp => call_in::run(self, context).await,
            Direction::UdpToRosservice => call_out::run(self, context).await,
            Direction::RostopicToRostopic => bridge::run(self, context).await,
            // The planner makes no pipeline of these.
            Direction::MemToRostopic | Direction::BytesRoute => {
                Err(Failure::permanent(format!("direction '{}' has no pipeline", self.rule.direction)))
            }
        }
    }

    fn source(&self) -> Result<&Arc<Tap>, Failure> {
        self.source.as_ref().ok_or_else(|| Failure::permanent("the rule has no source of frames"))
    }

    /// The simulated clock that frames of a link tell.
    fn told(&self, link: &Link) -> Option<Arc<SimClock>> {
        self.clocks.told_by(link).map(|followed| Arc::clone(&followed.clock))
    }

    async fn advertise(&self, topic: &TopicSpec) -> Result<Arc<dyn Publisher>, Failure> {
        let publisher = self.adapters.advertise(self.rule.ros_version, topic).await;
        publisher.map_err(|error| error.into_failure())
    }

    /// Opens the way out of each link; links to addresses of one family share a socket.
    fn ways(&self) -> Result<Vec<Option<Way>>, TransportError> {
        let mut own: [Option<Arc<dyn ByteSink>>; 2] = [None, None];
        let mut way = |target: &Target| match target {
            Target::None => Ok(None),
            Target::Transport(tap, to) => Ok(Some(Way { sink: tap.sink.clone(), to: *to })),
            Target::Socket(to) => {
                let own = if to.is_ipv4() { &mut own[0] } else { &mut own[1] };
                let sink = match own {
                    Some(sink) => Arc::clone(sink),
                    None => Arc::clone(own.insert(self.transports.sender(*to)?)),
                };
                Ok(Some(Way { sink, to: Some(*to) }))
            }
        };
        self.targets.iter().map(&mut way).collect()
    }
}

/// The way out of a link.
#[derive(Clone)]
struct Way {
    sink: Arc<dyn ByteSink>,
    to: Option<SocketAddr>,
}

impl Way {
    /// Sends and empties `out`.
    fn send(&self, out: &mut FrameOut, link: &Link, trouble: &mut Trouble, now: Instant) {
        out.drain(|frame| match self.sink.try_send(frame, self.to) {
            Ok(()) => link.count_frame(frame.len(), now),
            Err(error) => {
                link.stats.send_errors.inc();
                trouble.event(link, &error, now);
            }
        });
    }
}

/// Empties `out` without sending: what a failed codec call left in it.
fn discard(out: &mut FrameOut) {
    out.drain(|_| {});
}

/// The present, on the clock that tokio's timers follow.
pub(crate) fn now() -> Instant {
    time::Instant::now().into_std()
}

/// Sleeps until `due`, or for ever.
pub(crate) async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
