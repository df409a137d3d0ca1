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
