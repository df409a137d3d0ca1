//! The only place that spawns tasks.
//!
//! A supervised task is a function that makes a future. [`Supervisor::spawn`] runs it, turns a panic into a
//! failure, makes it again after a [`Backoff`] when it may be retried, and says so in one log line per change of
//! [`State`], not one per attempt.

mod crowd;
mod state;

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rostrans_core::{backoff::Backoff, stats::Counter};
use tokio::{
    sync::watch,
    task::AbortHandle,
    time::{self, Instant},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{debug, error, info, warn};

use self::crowd::Crowd;
pub use self::state::{Failure, Panicked, Problem, State};

/// A task that ran this long counts as healthy: its next failure is followed by the shortest wait again.
const HEALTHY: Duration = Duration::from_secs(60);

/// What to do when a task fails.
#[derive(Clone, Debug)]
pub enum OnExit {
    /// Make it again after a while, unless the failure is permanent.
    Restart(Backoff),
    /// Leave it; the others run on.
    Stop,
}

/// Spawns tasks under one cancellation token and ends them together.
#[derive(Debug)]
pub struct Supervisor {
    tracker: TaskTracker,
    cancel: CancellationToken,
    tasks: Mutex<Vec<(Arc<str>, AbortHandle)>>,
    /// One for the whole tree.
    crowd: Arc<Crowd>,
}

impl Supervisor {
    /// The root of a tree.
    pub fn new() -> Self {
        Self::under(CancellationToken::new(), Arc::default())
    }

    /// A supervisor whose tasks end when this one is cancelled, but can be stopped apart.
    #[must_use]
    pub fn branch(&self) -> Self {
        Self::under(self.cancel.child_token(), Arc::clone(&self.crowd))
    }

    fn under(cancel: CancellationToken, crowd: Arc<Crowd>) -> Self {
        Self { tracker: TaskTracker::new(), cancel, tasks: Mutex::default(), crowd }
    }

    /// Ends the time in which tasks of this tree that fail for one reason share a few log lines; logs how many more
    /// there were.
    pub(crate) fn start_is_over(&self) {
        for (reason, more) in self.crowd.disperse() {
            warn!(reason, "and {more} more");
        }
    }

    /// Runs the future that `make` makes until it ends well, fails for good, or is cancelled.
    ///
    /// `Ok` is an end in good order and never restarted. The future should call [`Context::up`] once it works and
    /// must end soon after [`Context::cancel`] fires. Must be called within a tokio runtime.
    pub fn spawn<M, F>(&self, name: impl Into<Arc<str>>, on_exit: OnExit, make: M) -> Task
    where
        M: FnMut(Context) -> F + Send + 'static,
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let name = name.into();
        let state = Arc::new(watch::Sender::new(State::Starting));
        let restarts = Arc::new(Counter::default());
        let task =
            Task { name: Arc::clone(&name), state: state.subscribe(), restarts: Arc::clone(&restarts) };
        let (cancel, crowd) = (self.cancel.child_token(), Arc::clone(&self.crowd));
        let context = Context { name: Arc::clone(&name), cancel, state, crowd };
        let handle = self.tracker.spawn(supervise(context, on_exit, make, restarts));
        let mut tasks = lock(&self.tasks);
        tasks.retain(|(_, handle)| !handle.is_finished());
        tasks.push((name, handle.abort_handle()));
        task
    }

    /// Tells every task, and those of all branches, to end.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Cancels, waits until `deadline`, then aborts what is left and returns its names.
    pub async fn stop(&self, deadline: Instant) -> Vec<Arc<str>> {
        self.cancel.cancel();
        self.tracker.close();
        if time::timeout_at(deadline, self.tracker.wait()).await.is_ok() {
            return Vec::new();
        }
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        let left = tasks.into_iter().filter(|(_, handle)| !handle.is_finished());
        left.map(|(name, handle)| {
            handle.abort();
            name
        })
        .collect()
    }
}

impl Default for Supervisor {
    fn default() -> Self {
        Self::new()
    }
}

/// A supervised task, seen from outside.
#[derive(Clone, Debug)]
pub struct Task {
    name: Arc<str>,
    state: watch::Receiver<State>,
    restarts: Arc<Counter>,
}

impl Task {
    /// The name it logs under.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// How it is doing.
    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// How often it was made again.
    pub fn restarts(&self) -> u64 {
        self.restarts.load()
    }

    /// Waits for the outcome of the first attempt.
    ///
    /// **Cancel safety**: keeps no state.
    pub async fn settled(&self) -> State {
        self.reaches(|state| *state != State::Starting).await
    }

    /// Waits for a state that `accepts`, or for the task's end.
    ///
    /// **Cancel safety**: keeps no state.
    pub async fn reaches(&self, accepts: impl FnMut(&State) -> bool) -> State {
        let mut state = self.state.clone();
        match state.wait_for(accepts).await {
            Ok(state) => state.clone(),
            Err(_) => self.state(),
        }
    }

    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<Problem> {
        let state = self.state();
        state.problem().is_some().then(|| Problem { name: Arc::clone(&self.name), state })
    }
}

/// What a supervised future gets.
#[derive(Clone, Debug)]
pub struct Context {
    name: Arc<str>,
    cancel: CancellationToken,
    state: Arc<watch::Sender<State>>,
    crowd: Arc<Crowd>,
}

impl Context {
    /// Fires when the task should end.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The task's name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Says that the task works.
    pub fn up(&self) {
        self.enter(State::Running, "");
    }

    /// Says that the task does not work but goes on trying.
    pub fn waiting(&self, reason: &str) {
        self.enter(State::Waiting(reason.into()), reason);
    }

    /// Enters a state; logs when it is another kind of state than before. `cause` is what its reason has in common
    /// with other tasks' reasons.
    fn enter(&self, next: State, cause: &str) {
        let kind = std::mem::discriminant(&next);
        let task = &*self.name;
        let reason = next.problem().map(str::to_owned);
        let before = self.state.send_replace(next);
        let reason = reason.as_deref();
        if std::mem::discriminant(&before) == kind {
            debug!(task, reason, "still the same state");
            return;
        }
        if reason.is_some() && !self.crowd.admits(cause) {
            debug!(task, reason, "not working, like others");
            return;
        }
        match (before, &*self.state.borrow()) {
            (State::Waiting(_), State::Running) if !self.cancel.is_cancelled() => {
                info!(task, "working again")
            }
            (_, State::Waiting(_)) => warn!(task, reason, "not working; trying again until it does"),
            (_, State::Failed(_)) => error!(task, reason, "down"),
            (_, state) => debug!(task, %state, "state"),
        }
    }
}

async fn supervise<M, F>(context: Context, mut on_exit: OnExit, mut make: M, restarts: Arc<Counter>)
where
    M: FnMut(Context) -> F,
    F: Future<Output = Result<(), Failure>>,
{
    loop {
        let started = Instant::now();
        let attempt = async { make(context.clone()).await };
        let outcome = caught(attempt).await.unwrap_or_else(|panic| Err(Failure::retry(panic)));
        let failure = match outcome {
            Err(failure) if !context.cancel.is_cancelled() => failure,
            Err(failure) => {
                warn!(task = &*context.name, %failure, "failed while stopping");
                return context.enter(State::Stopped, "");
            }
            Ok(()) => return context.enter(State::Stopped, ""),
        };
        let cause = failure.cause();
        let reason: Arc<str> = failure.to_string().into();
        match &mut on_exit {
            OnExit::Restart(backoff) if failure.may_pass() => {
                if started.elapsed() >= HEALTHY {
                    backoff.reset();
                }
                context.enter(State::Waiting(reason), &cause);
                let delay = backoff.next_delay();
                tokio::select! {
                    // At the end ports come free by the hundred; they are not for those that still wait.
                    biased;
                    () = context.cancel.cancelled() => return context.enter(State::Stopped, ""),
                    () = time::sleep(delay) => restarts.inc(),
                }
            }
            OnExit::Restart(_) | OnExit::Stop => return context.enter(State::Failed(reason), &cause),
        }
    }
}

/// Runs a future; a panic in it becomes an error.
pub(crate) async fn caught<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(future);
    // The future is dropped after a panic, so nothing sees the state the panic left behind.
    std::future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => std::task::Poll::Ready(Err(Panicked(panic_text(&*payload)))),
    })
    .await
}

/// What a panic said.
pub(crate) fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

/// Ignores poison: every critical section leaves the data whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
