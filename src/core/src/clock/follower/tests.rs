//! The tables of states and edge cases, on instants of our own.

use proptest::prelude::*;

use super::*;

const MS: i64 = 1_000_000;
const HOUR_MS: i64 = 3_600_000;

/// A follower and its instants, in milliseconds from the start.
struct Bench {
    follower: Follower,
    base: Instant,
}

impl Bench {
    fn new(tuning: Tuning) -> Self {
        let base = Instant::now();
        Self { follower: Follower::new(tuning, base), base }
    }

    /// One that has followed a 250 Hz clock for two seconds, at `sim_ms` when `at_ms`.
    fn following(tuning: Tuning, sim_ms: i64, at_ms: i64) -> Self {
        let mut bench = Self::new(tuning);
        for back in (0..=500).rev() {
            bench.sample(sim_ms - back * 4, at_ms - back * 4);
        }
        assert_eq!(bench.follower.state(), State::Following);
        bench
    }

    fn at(&self, ms: i64) -> Instant {
        self.base + Duration::from_millis(u64::try_from(ms).unwrap())
    }

    /// A sample without a sequence.
    fn sample(&mut self, sim_ms: i64, at_ms: i64) -> Taken {
        self.sent(sim_ms, 0, at_ms)
    }

    fn sent(&mut self, sim_ms: i64, sent_ms: i64, at_ms: i64) -> Taken {
        let at = self.at(at_ms);
        self.follower.sample(RosTime { ns: sim_ms * MS }, RosTime { ns: sent_ms * MS }, at)
    }

    /// Runs what is due until then.
    fn until(&mut self, at_ms: i64) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(due) = self.follower.next_due().filter(|due| *due <= self.at(at_ms)) {
            events.extend(self.follower.tick(due));
        }
        events
    }

    /// The time at an instant in milliseconds, or why there is none.
    fn time(&self, at_ms: i64) -> Result<i64, &'static str> {
        match self.follower.view().mode {
            Mode::Closed => Err("closed"),
            Mode::Wall => Err("wall"),
            Mode::Run { .. } => self.follower.view().time(at_ms * MS).map(|time| time.ns / MS).ok_or("stale"),
        }
    }
}

fn time(ms: i64) -> RosTime {
    RosTime { ns: ms * MS }
}

fn counted(event: Option<Event>) -> Taken {
    Taken { counts: true, event }
}

#[test]
fn numbers_of_an_offset_clock() {
    let mut bench = Bench::new(Tuning { acquire_timeout: Duration::MAX, ..Tuning::default() });
    assert_eq!(bench.sample(12_500, 98_000), counted(Some(Event::Acquired { now: time(12_500) })));
    assert_eq!(bench.time(98_000), Ok(12_500));
    assert_eq!(bench.time(97_970), Ok(12_470), "a capture 30 ms before");
    assert_eq!(bench.time(98_040), Ok(12_540), "and 40 ms after");
    let jumped = Event::Jumped { from: time(12_500), to: time(10) };
    assert_eq!(bench.sample(10, 99_000), counted(Some(jumped)));
    assert_eq!(bench.time(98_980), Err("stale"), "the capture belongs to the previous epoch");
    assert_eq!((bench.time(99_000), bench.follower.view().epoch), (Ok(10), 1));
}

#[test]
fn first_sample_in_time_opens_and_one_too_late_is_ignored() {
    let mut bench = Bench::new(Tuning::default());
    assert_eq!(bench.until(59_900), []);
    assert_eq!(bench.time(59_900), Err("closed"));
    assert!(bench.sample(0, 59_900).counts, "0 is a time");
    assert_eq!(bench.time(59_900), Ok(0));

    let mut bench = Bench::new(Tuning::default());
    assert_eq!(bench.until(60_100), [Event::FellBack]);
    assert_eq!((bench.follower.state(), bench.time(60_100)), (State::Fallback, Err("wall")));
    assert_eq!(bench.sample(5_000, 60_200).event, Some(Event::Late));
    assert_eq!(bench.sample(5_004, 60_204), Taken::IGNORED, "told once");
    assert_eq!(bench.time(60_300), Err("wall"), "for good");

    // A late sample that comes before anybody has looked at the watch.
    let mut bench = Bench::new(Tuning::default());
    assert_eq!(bench.sample(5_000, 60_100), Taken { counts: false, event: Some(Event::FellBack) });
}

#[test]
fn who_waits_or_gives_up_has_no_time() {
    let mut bench = Bench::new(Tuning { fallback: Fallback::Wait, ..Tuning::default() });
    assert_eq!(bench.until(100 * HOUR_MS), []);
    assert_eq!(bench.sample(1, 100 * HOUR_MS).event, Some(Event::Acquired { now: time(1) }));
    let mut bench = Bench::new(Tuning { fallback: Fallback::Exit, ..Tuning::default() });
    assert_eq!(bench.until(HOUR_MS), [Event::FellBack]);
    assert_eq!(bench.time(HOUR_MS), Err("closed"));
}

#[test]
fn pause_holds_stamps_and_resume_goes_on() {
    let mut bench = Bench::following(Tuning::default(), 10_000, 20_000);
    assert_eq!(bench.until(20_199), []);
    assert_eq!(bench.until(20_200), [Event::Paused { now: time(10_000) }]);
    // Gazebo repeats the value while it is paused.
    for at in (20_250..20_000 + HOUR_MS).step_by(1000) {
        assert_eq!(bench.sample(10_000, at), counted(None));
        assert_eq!(bench.until(at + 999), []);
        assert_eq!(bench.time(at), Ok(10_050), "no further than max_lead");
    }
    assert_eq!(bench.follower.state(), State::Paused);
    let resumed = bench.sample(10_004, 20_000 + HOUR_MS);
    let after = Duration::from_millis(u64::try_from(HOUR_MS).unwrap());
    assert_eq!(resumed.event, Some(Event::Resumed { now: time(10_004), after }));
    assert_eq!(bench.time(20_002 + HOUR_MS), Ok(10_006));
    assert_eq!(bench.follower.view().epoch, 0);
}

#[test]
fn lost_clock_holds_runs_on_or_gives_way() {
    for (lost, then) in
        [(Lost::Hold, Err("closed")), (Lost::Extrapolate, Ok(16_000)), (Lost::Wall, Err("wall"))]
    {
        let mut bench = Bench::following(Tuning { lost, ..Tuning::default() }, 10_000, 20_000);
        let events = bench.until(25_000);
        assert_eq!(events, [Event::Paused { now: time(10_000) }, Event::Lost { last: time(10_000) }]);
        assert_eq!(bench.time(26_000), then, "{lost:?}");
        let back = bench.sample(10_500, 27_000);
        let after = Duration::from_secs(7);
        assert_eq!(back.event, Some(Event::Resumed { now: time(10_500), after }), "{lost:?}");
        assert_eq!(bench.time(27_000), Ok(10_500));
        let epochs = if lost == Lost::Wall { 2 } else { 0 };
        assert_eq!(bench.follower.view().epoch, epochs, "{lost:?}");
    }
}

#[test]
fn lost_clock_that_stands_still_is_back_as_a_pause() {
    let mut bench = Bench::following(Tuning::default(), 10_000, 20_000);
    bench.until(30_000);
    assert_eq!(bench.sample(10_000, 31_000), counted(Some(Event::Paused { now: time(10_000) })));
    assert_eq!((bench.follower.state(), bench.time(31_000)), (State::Paused, Ok(10_050)));
    assert_eq!(bench.until(36_000), [Event::Lost { last: time(10_000) }]);
}

#[test]
fn jump_back_begins_an_era_and_jump_forward_does_not() {
    let mut bench = Bench::following(Tuning::default(), 10_000, 20_000);
    let back = bench.sample(4_000, 20_004);
    assert_eq!(back.event, Some(Event::Jumped { from: time(10_000), to: time(4_000) }));
    assert_eq!((bench.time(20_000), bench.time(20_004)), (Err("stale"), Ok(4_000)));
    let mut bench = Bench::following(Tuning::default(), 10_000, 20_000);
    let forward = bench.sample(500_000, 20_004);
    assert_eq!(forward.event, Some(Event::Jumped { from: time(10_000), to: time(500_000) }));
    assert_eq!((bench.follower.view().epoch, bench.time(20_005)), (0, Ok(500_001)));
    let mut bench = Bench::following(Tuning::default(), 10_000, 20_000);
    assert_eq!(bench.sample(10_900, 20_004), counted(None), "less than a second is no jump");
}

#[test]
fn samples_that_were_overtaken_are_ignored() {
    let mut bench = Bench::new(Tuning::default());
    bench.sent(1_000, 50_000, 1_000);
    bench.sent(1_100, 50_100, 1_100);
    assert_eq!(bench.sent(1_050, 50_050, 1_101), Taken::IGNORED);
    assert_eq!(bench.sent(1_150, 50_150, 1_150), counted(None));
    assert_eq!(bench.sent(1_135, 50_160, 1_160).event, None, "15 ms back: a second bridge");
    let reset = bench.sent(0, 50_170, 1_170);
    assert_eq!(reset.event, Some(Event::Jumped { from: time(1_150), to: time(0) }));
    assert_eq!(bench.sent(1_160, 50_165, 1_171), Taken::IGNORED, "the last one of before the reset");
    assert_eq!(bench.sent(4, 50_174, 1_174), counted(None));
    assert_eq!(bench.follower.view().epoch, 1);
}

#[test]
fn publisher_whose_wall_clock_was_set_back_is_still_followed() {
    let mut bench = Bench::new(Tuning::default());
    bench.sent(1_000, 50_000, 1_000);
    assert_eq!(bench.sent(1_010, 20_000, 1_010), counted(None));
}

#[test]
fn of_two_publishers_the_first_is_kept_until_it_is_silent() {
    for other in [3_000, 70_000] {
        let mut bench = Bench::following(Tuning::default(), 10_000, 20_000);
        let mut conflicts = 0;
        for step in 1..=400 {
            let at = 20_000 + step * 4;
            let first = bench.sample(10_000 + step * 4, at);
            bench.sample(other + step * 4, at + 1);
            conflicts += i32::from(matches!(first.event, Some(Event::Conflict { .. })));
            if step > 3 {
                assert_eq!(bench.time(at + 1), Ok(10_001 + step * 4), "step {step} beside {other}");
            }
        }
        assert_eq!(conflicts, 1, "beside {other}");
        let epoch = bench.follower.view().epoch;
        // The first one ends; the other is taken a second later.
        let followed = (401..=1000)
            .find(|step| bench.sample(other + step * 4, 20_001 + step * 4).counts)
            .expect("the other is taken");
        assert_eq!(followed, 650);
        assert_eq!(bench.time(20_001 + followed * 4), Ok(other + followed * 4));
        assert_eq!(bench.follower.view().epoch, epoch + u32::from(other < 10_000));
    }
}

#[test]
fn rates_are_measured_and_used_where_asked_for() {
    for (factor, per_sample_ms) in [(0.05, 1), (1.0, 20), (20.0, 400)] {
        let mut bench = Bench::new(Tuning { project: Project::Rate, ..Tuning::default() });
        for step in 0..=500 {
            assert!(bench.sample(step * per_sample_ms, 1_000 + step * 20).counts);
        }
        let rate = bench.follower.rate();
        assert!((rate - factor).abs() < 0.01 * factor, "{rate} for {factor}");
        #[expect(clippy::cast_possible_truncation, reason = "small")]
        let passed = (10.0 * factor) as i64;
        assert_eq!(bench.time(11_010), Ok(500 * per_sample_ms + passed), "{factor}");
    }
}

#[test]
fn slow_clock_of_a_slow_simulation_is_worth_one_word() {
    let mut bench = Bench::new(Tuning::default());
    let events: Vec<_> = (0..20).filter_map(|step| bench.sample(step * 100, step * 200).event).collect();
    let imprecise = Event::Imprecise { error: Duration::from_millis(100) };
    assert_eq!(events, [Event::Acquired { now: time(0) }, imprecise]);
    let mut bench = Bench::new(Tuning::default());
    let events = (0..20).filter_map(|step| bench.sample(step * 1000, step * 1000).event).count();
    assert_eq!(events, 1, "1 Hz at the speed of time is precise");
    assert_eq!(bench.time(19_900), Ok(19_900), "and stamps run on between samples");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Sample { sim: i64, sent: i64 },
    On(i64),
    Tick,
}

fn step() -> impl Strategy<Value = Step> {
    let sims = prop_oneof![-1000..100_000_i64, any::<i64>().prop_map(|ns| ns / MS)];
    prop_oneof![
        4 => (sims, prop_oneof![Just(0), 1..1_000_000_i64]).prop_map(|(sim, sent)| Step::Sample { sim, sent }),
        4 => (0..3_000_i64).prop_map(|sim| Step::Sample { sim, sent: 0 }),
        8 => (0..400_i64).prop_map(Step::On),
        1 => (0..20_000_i64).prop_map(Step::On),
        4 => Just(Step::Tick),
    ]
}

proptest! {
    #[test]
    fn whatever_comes_times_stay_near_the_newest_sample(
        steps in prop::collection::vec(step(), 0..200),
        lost in prop_oneof![Just(Lost::Hold), Just(Lost::Wall)],
        project in prop_oneof![Just(Project::Offset), Just(Project::Rate)],
    ) {
        let mut bench = Bench::new(Tuning { lost, project, ..Tuning::default() });
        let (mut now, mut epoch) = (0_i64, 0);
        for step in steps {
            match step {
                Step::On(ms) => now += ms,
                Step::Tick => drop(bench.until(now)),
                Step::Sample { sim, sent } => {
                    let counts = bench.sent(sim, sent, now).counts;
                    // A repeated value is as old as its first sample.
                    let first = bench.follower.view().mono_ns == now * MS;
                    if counts && first {
                        prop_assert_eq!(bench.time(now), Ok(sim), "a sample's time is what it says");
                    }
                }
            }
            let view = *bench.follower.view();
            prop_assert!(view.epoch >= epoch);
            epoch = view.epoch;
            if let Mode::Run { lead_ns } = view.mode {
                prop_assert!(lead_ns >= 50 * MS);
                let later = view.time(i64::MAX).unwrap();
                prop_assert!(later.ns <= view.sim_ns.saturating_add(lead_ns));
                prop_assert_eq!(view.time(view.since_ns.saturating_sub(1)).is_none(), view.since_ns > i64::MIN);
            }
            prop_assert_eq!(bench.follower.state() == State::Acquiring, bench.follower.newest().is_none()
                && bench.follower.state() != State::Fallback);
        }
    }
}
