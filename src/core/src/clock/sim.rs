//! A simulator's clock, shared by everything that follows it.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::sync::{Notify, watch};

use super::{
    Clock, ClockName, Event, NoTime, RosTime, State, SystemClock, Tuning,
    follower::Follower,
    record::{Mode, Record},
};

/// A simulator's clock.
///
/// Samples go in from one side, on whatever thread they arrive; times come out on the other, without locks. Somebody
/// has to call [`SimClock::tick`] when [`SimClock::next_due`] says so and to take the events.
#[derive(Debug)]
pub struct SimClock {
    name: ClockName,
    base: Instant,
    record: Record,
    writer: Mutex<Writer>,
    open: watch::Sender<bool>,
    changed: Notify,
    /// Whether each new time is a change.
    wake: AtomicBool,
    samples: AtomicU64,
}

#[derive(Debug)]
struct Writer {
    follower: Follower,
    events: VecDeque<Event>,
}

/// A clock at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockSnapshot {
    /// Its name.
    pub name: ClockName,
    /// How its follower is doing.
    pub state: State,
    /// What the newest sample said.
    pub sim: Option<RosTime>,
    /// How long ago it came.
    pub age: Option<Duration>,
    /// Simulated minus monotonic time at the newest sample, nanoseconds; monotonic time counts from the program's start.
    pub offset_ns: Option<i64>,
    /// Simulated seconds for each real one.
    pub rate: f64,
    /// How often the clock was set.
    pub epoch: u32,
    /// Samples heard.
    pub samples: u64,
}

impl SimClock {
    /// A clock whose first sample is awaited from `now` on.
    pub fn new(name: ClockName, tuning: Tuning, now: Instant) -> Self {
        let follower = Follower::new(tuning, now);
        Self {
            name,
            base: now,
            record: Record::new(follower.view()),
            writer: Mutex::new(Writer { follower, events: VecDeque::new() }),
            open: watch::Sender::new(false),
            changed: Notify::new(),
            wake: AtomicBool::new(false),
            samples: AtomicU64::new(0),
        }
    }

    /// Its name.
    pub fn name(&self) -> &ClockName {
        &self.name
    }

    /// Takes a sample that came `at`, sent at the wall time `sent` where that is known (else 0). Tells whether it counts:
    /// duplicates do, reordered ones and those of a second publisher do not.
    pub fn sample(&self, sim: RosTime, sent: RosTime, at: Instant) -> bool {
        self.samples.fetch_add(1, Relaxed);
        self.write(|follower| {
            let taken = follower.sample(sim, sent, at);
            (taken.event, taken.counts)
        })
    }

    /// Notes that time has passed.
    pub fn tick(&self, now: Instant) {
        self.write(|follower| (follower.tick(now), ()));
    }

    /// When [`SimClock::tick`] has something to do, unless samples come.
    pub fn next_due(&self) -> Option<Instant> {
        self.lock().follower.next_due()
    }

    /// The oldest event that was not taken yet.
    pub fn take_event(&self) -> Option<Event> {
        self.lock().events.pop_front()
    }

    /// What the newest sample said that counts.
    pub fn newest(&self) -> Option<RosTime> {
        Some(self.lock().follower.newest()?.0)
    }

    /// How its follower is doing.
    pub fn state(&self) -> State {
        self.lock().follower.state()
    }

    /// Wakes [`SimClock::changed`] for each new time, too.
    pub fn wake_on_samples(&self) {
        self.wake.store(true, Relaxed);
    }

    /// Waits until there are events, or [`SimClock::next_due`] has changed.
    ///
    /// **Cancel safety**: a wake-up that nobody takes is kept.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Whether there is a time now.
    pub fn is_open(&self) -> bool {
        *self.open.borrow()
    }

    /// Waits until there is a time.
    ///
    /// **Cancel safety**: keeps no state.
    pub async fn opened(&self) {
        let mut open = self.open.subscribe();
        // The sender is `self`: it cannot be gone.
        let _opened = open.wait_for(|open| *open).await;
    }

    /// State and figures at `now`.
    pub fn snapshot(&self, now: Instant) -> ClockSnapshot {
        let writer = self.lock();
        let newest = writer.follower.newest();
        let since_base = |at: Instant| nanos_between(self.base, at);
        ClockSnapshot {
            name: self.name.clone(),
            state: writer.follower.state(),
            sim: newest.map(|(sim, _)| sim),
            age: newest.map(|(_, at)| now.saturating_duration_since(at)),
            offset_ns: newest.map(|(sim, at)| sim.ns.saturating_sub(since_base(at))),
            rate: writer.follower.rate(),
            epoch: writer.follower.view().epoch,
            samples: self.samples.load(Relaxed),
        }
    }

    fn write<T>(&self, change: impl FnOnce(&mut Follower) -> (Option<Event>, T)) -> T {
        let mut writer = self.lock();
        let before = (*writer.follower.view(), writer.follower.state());
        let (event, result) = change(&mut writer.follower);
        let view = *writer.follower.view();
        if view != before.0 {
            self.record.write(&view);
        }
        if let Some(event) = event {
            // Nobody takes them: the latest ones tell more.
            if writer.events.len() >= MAX_EVENTS {
                writer.events.pop_front();
            }
            writer.events.push_back(event);
        }
        let moved = view.sim_ns != before.0.sim_ns && self.wake.load(Relaxed);
        let woken = event.is_some() || writer.follower.state() != before.1 || moved;
        drop(writer);
        let open = view.mode != Mode::Closed;
        self.open.send_if_modified(|was| std::mem::replace(was, open) != open);
        if woken {
            self.changed.notify_one();
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SimClock {
    fn time(&self, at: Instant) -> Result<RosTime, NoTime> {
        let view = self.record.read();
        match view.mode {
            Mode::Closed => Err(NoTime::Closed),
            Mode::Wall => Ok(SystemClock::wall(at)),
            Mode::Run { .. } => {
                let time = view.time(nanos_between(self.base, at)).ok_or(NoTime::Stale)?;
                if time.fits() { Ok(time) } else { Err(NoTime::OutOfRange) }
            }
        }
    }

    fn epoch(&self) -> Option<u32> {
        Some(self.record.read().epoch)
    }
}

/// Events that wait for somebody to log them.
const MAX_EVENTS: usize = 16;

/// From `base` to `at`, negative when `at` is earlier.
pub(super) fn nanos_between(base: Instant, at: Instant) -> i64 {
    let after = |earlier: Instant, later: Instant| {
        i64::try_from(later.saturating_duration_since(earlier).as_nanos()).unwrap_or(i64::MAX)
    };
    if at >= base { after(base, at) } else { -after(at, base) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn clock() -> (SimClock, Instant) {
        let now = Instant::now();
        (SimClock::new("sim".into(), Tuning::default(), now), now)
    }

    fn sim(ms: i64) -> RosTime {
        RosTime { ns: ms * 1_000_000 }
    }

    #[test]
    fn no_time_before_the_first_sample() {
        let (clock, start) = clock();
        assert_eq!(clock.time(start), Err(NoTime::Closed));
        assert!(!clock.is_open());
        assert!(clock.sample(sim(12_500), RosTime::default(), start + 98 * MS));
        assert!(clock.is_open());
        assert_eq!(clock.time(start + 98 * MS), Ok(sim(12_500)));
        assert_eq!(clock.time(start + 68 * MS), Ok(sim(12_470)), "a capture from before the sample");
        assert_eq!(clock.take_event(), Some(Event::Acquired { now: sim(12_500) }));
        assert_eq!(clock.take_event(), None);
    }

    #[test]
    fn what_came_before_a_reset_has_no_time() {
        let (clock, start) = clock();
        clock.sample(sim(12_500), RosTime::default(), start + 98 * MS);
        clock.sample(sim(10), RosTime::default(), start + 1098 * MS);
        assert_eq!(clock.time(start + 1078 * MS), Err(NoTime::Stale));
        assert_eq!(clock.time(start + 1098 * MS), Ok(sim(10)));
        assert_eq!(clock.epoch(), Some(1));
        let snapshot = clock.snapshot(start + 1100 * MS);
        assert_eq!((snapshot.epoch, snapshot.samples, snapshot.age), (1, 2, Some(2 * MS)));
        assert_eq!(snapshot.offset_ns, Some(-1_088_000_000));
    }

    #[test]
    fn times_that_no_ros_can_express_are_none() {
        let (clock, start) = clock();
        clock.sample(sim(10), RosTime::default(), start + 98 * MS);
        assert_eq!(clock.time(start + 78 * MS), Err(NoTime::OutOfRange), "10 ms before 0");
        let last = RosTime { ns: i64::MAX };
        clock.sample(last, RosTime::default(), start + 99 * MS);
        assert_eq!(clock.time(start + 99 * MS), Err(NoTime::OutOfRange), "the year 2262");
    }

    #[test]
    fn readers_that_wait_are_woken_by_the_first_sample() {
        let (clock, start) = clock();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut opened = std::pin::pin!(clock.opened());
            let waited =
                tokio::select! { biased; () = &mut opened => false, () = std::future::ready(()) => true };
            assert!(waited);
            clock.sample(sim(0), RosTime::default(), start);
            opened.await;
        });
        assert_eq!(clock.time(start), Ok(sim(0)), "0 is a time like any other");
    }
}
