//! Service calls on their way from an adapter to a rule's worker, and their answers on the way back.

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
    codec::Port,
    rule::RuleId,
    transport::BoxFuture,
};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time,
};

use super::now;

/// Calls on their way to the worker.
const MAX_HANDED: usize = 64;

/// How long a call waits for its turn; a command must not reach the vehicle long after it was given.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the adapter gets to pick up the answers given at the end of a run.
const HAND_OVER: Duration = Duration::from_millis(500);

/// A call on its way to the worker.
pub(super) struct Call {
    /// The link it is for, as the handler was told.
    pub(super) link: usize,
    /// Which of the codec's services.
    pub(super) service: Port,
    pub(super) request: CdrBytes,
    pub(super) reply: Reply,
    /// When it is too late to start.
    pub(super) deadline: Instant,
}

/// Where the answer to a call goes.
pub(super) struct Reply(oneshot::Sender<Result<CdrBytes, CallError>>);

impl Reply {
    /// Hands the answer over; a caller that has gone away needs none.
    pub(super) fn send(self, answer: Result<CdrBytes, CallError>) {
        drop(self.0.send(answer));
    }

    /// True once nobody waits for the answer.
    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// Makes the handlers of a rule's services.
pub(super) struct CallBox {
    calls: mpsc::Sender<Call>,
    unanswered: Arc<Unanswered>,
}

impl CallBox {
    /// The handlers' end, and the worker's.
    pub(super) fn new() -> (Self, mpsc::Receiver<Call>) {
        let (calls, received) = mpsc::channel(MAX_HANDED);
        (Self { calls, unanswered: Arc::default() }, received)
    }

    /// A handler that hands the calls of one service to the worker.
    pub(super) fn handler(&self, link: usize, service: Port) -> Arc<dyn ServiceHandler> {
        let (calls, unanswered) = (self.calls.clone(), Arc::clone(&self.unanswered));
        Arc::new(Handler { link, service, calls, unanswered })
    }

    /// Waits until the adapter has picked up all answers, or not for long. Guards withdraw services, so they must be
    /// held until then.
    pub(super) async fn picked_up(&self, rule: &RuleId) {
        if time::timeout(HAND_OVER, self.unanswered.wait_none()).await.is_err() {
            tracing::debug!(%rule, "answers were not picked up in time");
        }
    }
}

/// Hands calls of one service to the rule's worker.
struct Handler {
    link: usize,
    service: Port,
    calls: mpsc::Sender<Call>,
    unanswered: Arc<Unanswered>,
}

impl ServiceHandler for Handler {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        let picked_up = Unanswered::begin(&self.unanswered);
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let (link, service, deadline) = (self.link, self.service, now() + TURN_TIMEOUT);
            let call = Call { link, service, request, reply: Reply(reply), deadline };
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

/// Calls whose answer the adapter has not picked up yet.
#[derive(Default)]
struct Unanswered {
    count: AtomicUsize,
    none: Notify,
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
