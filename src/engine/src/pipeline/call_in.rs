//! Services answered over frames: `rosservice_to_udp`.
//!
//! ```text
//! service call -> Exchange::request -> ByteSink
//! frame -> queue -> Exchange::response -> service response
//! ```
//!
//! Each service has one call in flight: a COMMAND_ACK names only the command, so overlapping calls could not be told
//! apart. Further calls wait their turn. Whose answer a frame can be is in [`lanes`].

mod lane;
mod lanes;
mod sender;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, ServiceHandler},
    codec::FrameOut,
    transport::BoxFuture,
};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time,
};

use self::{lane::Lane, lanes::Lanes};
use super::{Env, Way, now, sleep_until};
use crate::{
    ingress::{FrameQueue, Reader},
    supervisor::{Context, Failure},
    transports::explain,
};

/// Calls on their way to the worker.
const MAX_HANDED: usize = 64;

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

/// Offers the rule's services and answers calls until told to end.
pub(super) async fn run(env: &Env, context: &Context) -> Result<(), Failure> {
    let source = env.source()?;
    let ways = env.ways().map_err(explain)?;
    let mut lanes = Vec::new();
    for (link, way) in env.links.iter().zip(ways) {
        let way = way.unwrap_or_else(|| Way { sink: source.sink.clone(), to: None });
        lanes.push(Lane::new(Arc::clone(link), way)?);
    }
    let mut lanes = Lanes::new(lanes);
    let queue = FrameQueue::new(env.links.clone(), false);
    let attachment = source.attach(vec![Reader::Queue(Arc::clone(&queue))]);
    let (sender, mut calls) = mpsc::channel(MAX_HANDED);
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
        queue.set_open(lanes.are_open());
        let due = lanes.next_due();
        tokio::select! {
            () = context.cancel().cancelled() => break,
            Some(call) = calls.recv() => {
                queue.set_open(true);
                lanes.call(call, &mut out);
            }
            frame = queue.frames.pop() => lanes.frame(&frame.as_frame(), &mut out),
            () = sleep_until(due) => lanes.due(now(), &mut out),
        }
    }
    drop(attachment);
    calls.close();
    lanes.close(std::iter::from_fn(|| calls.try_recv().ok()));
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
