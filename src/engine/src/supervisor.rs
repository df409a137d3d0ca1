//! The only place that spawns tasks.
//!
//! A supervised task is a function that makes a future. [`Supervisor::spawn`] runs it, turns a panic into a
//! failure, makes it again after a [`Backoff`] when it may be retried, and says so in one log line per change of
//! [`State`], not one per attempt.

use std::{
    error::Error,
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rostrans_core::stats::Counter;
use thiserror::Error;
use tokio::{
    sync::watch,
    task::AbortHandle,
    time::{self, Instant},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{debug, error, info, warn};

use crate::backoff::{Backoff, HEALTHY};

/// What to do when a task fails.
#[derive(Clone, Debug)]
pub enum OnExit {
    /// Make it again after a while, unless the failure is permanent.
    Restart(Backoff),
    /// Leave it; the others run on.
    Stop,
    /// End the whole run.
    Abort,
}

/// How a task is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Its first attempt is under way.
    Starting,
    /// Works.
    Running,
    /// Does not work, for this reason; tried again until it does.
    Waiting(Arc<str>),
    /// Down for good, for this reason.
    Failed(Arc<str>),
    /// Ended in good order.
    Stopped,
}

impl State {
    /// Why it does not work, if it does not.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Waiting(reason) | Self::Failed(reason) => Some(reason),
            Self::Starting | Self::Running | Self::Stopped => None,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Waiting(_) => "waiting",
            Self::Failed(_) => "failed",
            Self::Stopped => "stopped",
        })
    }
}

/// Why a task ended before it was told to.
///
/// Prints the whole error chain, then the remedy: `cannot listen on 0.0.0.0:9: Permission denied; use a port ...`.
#[derive(Debug)]
pub struct Failure {
    error: Box<dyn Error + Send + Sync>,
    remedy: String,
    retry: bool,
}

impl Failure {
    /// One that may pass.
    pub fn retry(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { error: error.into(), remedy: String::new(), retry: true }
    }

    /// One that trying again does not cure.
    pub fn permanent(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { error: error.into(), remedy: String::new(), retry: false }
    }

    /// Adds what a person can do about it.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// True when trying again may help.
    pub fn may_pass(&self) -> bool {
        self.retry
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)?;
        let mut source = self.error.source();
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

/// A caught panic.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("panicked: {0}")]
pub struct Panicked(pub String);

/// Spawns tasks under one cancellation token and ends them together.
#[derive(Debug)]
pub struct Supervisor {
    tracker: TaskTracker,
    cancel: CancellationToken,
    tasks: Mutex<Vec<(Arc<str>, AbortHandle)>>,
    /// Shared by all branches: the task whose failure ends the run, with its reason.
    fatal: Arc<watch::Sender<Option<Problem>>>,
}

/// A task or device that does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its name, as in the log.
    pub name: Arc<str>,
    /// [`State::Waiting`] or [`State::Failed`].
    pub state: State,
}

impl Supervisor {
    /// The root of a tree.
    pub fn new() -> Self {
        Self::under(CancellationToken::new(), Arc::new(watch::Sender::new(None)))
    }

    /// A supervisor whose tasks end when this one is cancelled, but can be stopped apart.
    #[must_use]
    pub fn branch(&self) -> Self {
        Self::under(self.cancel.child_token(), Arc::clone(&self.fatal))
    }

    fn under(cancel: CancellationToken, fatal: Arc<watch::Sender<Option<Problem>>>) -> Self {
        Self { tracker: TaskTracker::new(), cancel, tasks: Mutex::default(), fatal }
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
        let context = Context { name: Arc::clone(&name), cancel: self.cancel.child_token(), state };
        let fatal = Arc::clone(&self.fatal);
        let handle = self.tracker.spawn(supervise(context, on_exit, make, restarts, fatal));
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

    /// Waits for the failure of a task under [`OnExit::Abort`], in this supervisor or any branch of its tree.
    ///
    /// **Cancel safety**: keeps no state.
    pub async fn fatal(&self) -> Problem {
        let mut fatal = self.fatal.subscribe();
        loop {
            if let Some(problem) = fatal.borrow_and_update().clone() {
                return problem;
            }
            if fatal.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
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
        self.enter(State::Running);
    }

    /// Says that the task does not work but goes on trying.
    pub fn waiting(&self, reason: &str) {
        self.enter(State::Waiting(reason.into()));
    }

    /// Enters a state; logs when it is another kind of state than before.
    fn enter(&self, next: State) {
        let kind = std::mem::discriminant(&next);
        let task = &*self.name;
        let reason = next.problem().map(str::to_owned);
        let before = self.state.send_replace(next);
        let reason = reason.as_deref();
        if std::mem::discriminant(&before) == kind {
            debug!(task, reason, "still the same state");
            return;
        }
        match (before, &*self.state.borrow()) {
            (State::Waiting(_), State::Running) => info!(task, "working again"),
            (_, State::Waiting(_)) => warn!(task, reason, "not working; trying again until it does"),
            (_, State::Failed(_)) => error!(task, reason, "down"),
            (_, state) => debug!(task, %state, "state"),
        }
    }
}

async fn supervise<M, F>(
    context: Context,
    mut on_exit: OnExit,
    mut make: M,
    restarts: Arc<Counter>,
    fatal: Arc<watch::Sender<Option<Problem>>>,
) where
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
                return context.enter(State::Stopped);
            }
            Ok(()) => return context.enter(State::Stopped),
        };
        let reason: Arc<str> = failure.to_string().into();
        match &mut on_exit {
            OnExit::Restart(backoff) if failure.retry => {
                if started.elapsed() >= HEALTHY {
                    backoff.reset();
                }
                context.enter(State::Waiting(reason));
                let delay = backoff.next_delay();
                tokio::select! {
                    () = context.cancel.cancelled() => return context.enter(State::Stopped),
                    () = time::sleep(delay) => restarts.inc(),
                }
            }
            OnExit::Restart(_) | OnExit::Stop => return context.enter(State::Failed(reason)),
            OnExit::Abort => {
                let state = State::Failed(reason);
                context.enter(state.clone());
                fatal.send_replace(Some(Problem { name: context.name, state }));
                return;
            }
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
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering::SeqCst},
        time::Duration,
    };

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(3)
    }

    /// Fails `failures` times in the given way, then runs until cancelled; counts its attempts.
    fn flaky(
        supervisor: &Supervisor,
        failures: u32,
        fail: impl Fn() -> Result<(), Failure> + Clone + Send + Sync + 'static,
    ) -> (Task, Arc<AtomicU32>) {
        let attempts = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&attempts);
        let task = supervisor.spawn("flaky", OnExit::Restart(Backoff::seeded(1)), move |context| {
            let attempt = counted.fetch_add(1, SeqCst);
            let fail = fail.clone();
            async move {
                if attempt < failures {
                    return fail();
                }
                context.up();
                context.cancel().cancelled().await;
                Ok(())
            }
        });
        (task, attempts)
    }

    #[tokio::test(start_paused = true)]
    async fn failed_task_is_made_again_until_it_works() {
        let supervisor = Supervisor::new();
        let (task, attempts) = flaky(&supervisor, 3, || Err(Failure::retry("port in use")));
        assert_eq!(task.settled().await, State::Waiting("port in use".into()));
        assert_eq!(task.reaches(|state| *state == State::Running).await, State::Running);
        assert_eq!((task.restarts(), attempts.load(SeqCst)), (3, 4));
        assert_eq!(supervisor.stop(soon()).await, Vec::<Arc<str>>::new());
        assert_eq!(task.state(), State::Stopped);
    }

    #[tokio::test(start_paused = true)]
    async fn panic_is_a_failure_like_any_other() {
        let supervisor = Supervisor::new();
        let (task, _) = flaky(&supervisor, 1, || panic!("at the disco"));
        assert_eq!(task.settled().await, State::Waiting("panicked: at the disco".into()));
        assert_eq!(task.reaches(|state| *state == State::Running).await, State::Running);
    }

    #[tokio::test(start_paused = true)]
    async fn permanent_failure_is_not_tried_again() {
        let supervisor = Supervisor::new();
        let (task, attempts) =
            flaky(&supervisor, 9, || Err(Failure::permanent("no such type").with_remedy("define it")));
        assert_eq!(task.settled().await, State::Failed("no such type; define it".into()));
        assert_eq!(supervisor.stop(soon()).await, Vec::<Arc<str>>::new());
        assert_eq!(attempts.load(SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_and_start_over_after_a_healthy_minute() {
        let supervisor = Supervisor::new();
        let starts = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&starts);
        let run_for = [0, 0, 0, 0, 120, 0].map(Duration::from_secs);
        supervisor.spawn("unsteady", OnExit::Restart(Backoff::seeded(7)), move |_| {
            let attempt = lock(&log).len();
            lock(&log).push(Instant::now());
            let alive = run_for.get(attempt).copied();
            async move {
                match alive {
                    Some(alive) => time::sleep(alive).await,
                    None => return Ok(()),
                }
                Err(Failure::retry("again"))
            }
        });
        supervisor.tracker.close();
        supervisor.tracker.wait().await;
        let starts = lock(&starts).clone();
        let gaps: Vec<Duration> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let ms = Duration::from_millis;
        assert_eq!(gaps[0], ms(200));
        assert!(gaps[1] >= ms(300) && gaps[1] <= ms(400), "{gaps:?}");
        assert!(gaps[3] >= ms(1200) && gaps[3] <= ms(1600), "{gaps:?}");
        assert!(gaps[4] <= Duration::from_secs(120) + ms(202), "the minute resets the wait: {gaps:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn abort_ends_the_run_and_stop_does_not() {
        let supervisor = Supervisor::new();
        let branch = supervisor.branch();
        let fail = |_| std::future::ready(Err(Failure::retry("broken")));
        let stopped = branch.spawn("optional", OnExit::Stop, fail);
        assert_eq!(stopped.settled().await, State::Failed("broken".into()));
        assert!(supervisor.fatal.borrow().is_none());
        branch.spawn("vital", OnExit::Abort, fail);
        let problem = supervisor.fatal().await;
        assert_eq!((&*problem.name, problem.state), ("vital", State::Failed("broken".into())));
    }

    #[tokio::test(start_paused = true)]
    async fn task_that_does_not_end_in_time_is_aborted_and_named() {
        let supervisor = Supervisor::new();
        let (_, attempts) = flaky(&supervisor, 0, || Ok(()));
        supervisor.spawn("stubborn", OnExit::Stop, |_| std::future::pending());
        let before = Instant::now();
        let aborted = supervisor.stop(before + Duration::from_secs(3)).await;
        assert_eq!(aborted, ["stubborn".into()]);
        assert_eq!((before.elapsed(), attempts.load(SeqCst)), (Duration::from_secs(3), 1));
    }

    #[tokio::test(start_paused = true)]
    async fn cancelling_the_root_ends_the_branches() {
        let root = Supervisor::new();
        let branch = root.branch();
        let (task, _) = flaky(&branch, 0, || Ok(()));
        task.settled().await;
        root.cancel();
        assert_eq!(task.reaches(|state| *state == State::Stopped).await, State::Stopped);
    }

    #[test]
    fn failure_prints_its_chain_and_remedy() {
        let source = std::io::Error::from(std::io::ErrorKind::AddrInUse);
        let addr = ([127, 0, 0, 1], 14_550).into();
        let error = rostrans_core::transport::TransportError::Bind { addr, source };
        let failure = Failure::retry(error).with_remedy("stop the other program");
        assert_eq!(
            failure.to_string(),
            "cannot listen on 127.0.0.1:14550: address in use; stop the other program"
        );
    }
}
