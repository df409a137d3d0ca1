//! Following a simulator's clock by its samples. Pure: instants are arguments.
//!
//! ```text
//! ACQUIRING --first sample--> FOLLOWING <--> PAUSED      backward jump: new epoch, still FOLLOWING
//!     |                           |            |
//!     | acquire_timeout           +--silence---+--> LOST --sample--> FOLLOWING
//!     v
//!  FALLBACK
//! ```

mod rate;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use self::rate::Rate;
use super::{
    Event, Fallback, Lost, Project, RosTime, State, Tuning,
    record::{Mode, View},
    sim::nanos_between,
};

/// A moment on both clocks, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Line {
    sim_ns: i64,
    mono_ns: i64,
}

impl Line {
    /// How far `sim_ns` is from where a clock that runs at `rate`, or stands still, can be at `mono_ns`.
    fn distance(&self, sim_ns: i64, mono_ns: i64, rate: f64) -> i64 {
        let furthest = self.sim_ns.saturating_add(scaled(mono_ns.saturating_sub(self.mono_ns), rate));
        let (from, to) = (self.sim_ns.min(furthest), self.sim_ns.max(furthest));
        sim_ns.saturating_sub(to).max(from.saturating_sub(sim_ns)).max(0)
    }
}

/// The newest sample that counts.
#[derive(Clone, Copy, Debug)]
struct Newest {
    line: Line,
    /// When the publisher sent it, where the middleware tells; else 0.
    sent: RosTime,
    /// When the clock was last heard, be it with the same value.
    heard_ns: i64,
}

/// Where the clock was before its latest jump: if it goes on there, there are two publishers.
#[derive(Clone, Copy, Debug)]
struct Left {
    line: Line,
    jumped_ns: i64,
    hits: u32,
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// It is the clock's time now.
    pub(super) counts: bool,
    pub(super) event: Option<Event>,
}

impl Taken {
    const IGNORED: Self = Self { counts: false, event: None };
}

/// Follows one clock.
#[derive(Debug)]
pub(super) struct Follower {
    tuning: Tuning,
    /// Monotonic nanoseconds are counted from here; the first sample is awaited from here on.
    base: Instant,
    state: State,
    newest: Option<Newest>,
    rate: Rate,
    left: Option<Left>,
    /// A second publisher that is ignored.
    rival: Option<Line>,
    view: View,
    told_late: bool,
    told_imprecise: bool,
}

impl Follower {
    /// Waits for the first sample from `base` on. What [`Follower::view`] tells counts from there.
    pub(super) fn new(tuning: Tuning, base: Instant) -> Self {
        Self {
            tuning,
            base,
            state: State::Acquiring,
            newest: None,
            rate: Rate::default(),
            left: None,
            rival: None,
            view: View::NONE,
            told_late: false,
            told_imprecise: false,
        }
    }

    /// How it is doing.
    pub(super) fn state(&self) -> State {
        self.state
    }

    /// What readers shall see.
    pub(super) fn view(&self) -> &View {
        &self.view
    }

    /// What the newest sample said and when it came.
    pub(super) fn newest(&self) -> Option<(RosTime, Instant)> {
        let line = self.newest?.line;
        Some((RosTime { ns: line.sim_ns }, self.instant(line.mono_ns)?))
    }

    /// Simulated seconds for each real one.
    pub(super) fn rate(&self) -> f64 {
        self.rate.get()
    }

    /// Takes a sample that came `at` and was sent at the wall time `sent` (0 where that is not known).
    pub(super) fn sample(&mut self, sim: RosTime, sent: RosTime, at: Instant) -> Taken {
        if self.state == State::Acquiring
            && let Some(event) = self.tick(at)
        {
            return Taken { counts: false, event: Some(event) };
        }
        if self.state == State::Fallback {
            let first = !std::mem::replace(&mut self.told_late, true);
            return Taken { counts: false, event: first.then_some(Event::Late) };
        }
        let mono_ns = nanos_between(self.base, at);
        let line = Line { sim_ns: sim.ns, mono_ns };
        let Some(newest) = self.newest else {
            self.follow(line, sent);
            return Taken { counts: true, event: Some(Event::Acquired { now: sim }) };
        };
        // Threads may overtake each other on their way here.
        let line = Line { mono_ns: mono_ns.max(newest.heard_ns), ..line };
        if sim.ns == newest.line.sim_ns {
            return self.heard_again(newest, sent, line.mono_ns);
        }
        if let Some(taken) = self.second_publisher(line, sent, &newest) {
            return taken;
        }
        let step = sim.ns.saturating_sub(newest.line.sim_ns);
        let since = line.mono_ns.saturating_sub(newest.line.mono_ns);
        let jitter = (-JITTER_NS..0).contains(&step) && since < PAUSED_NS;
        if is_older(sent, newest.sent) || jitter {
            // Overtaken on the way, or a second bridge of the same clock that is a little behind.
            return Taken::IGNORED;
        }
        let off = newest.line.distance(sim.ns, line.mono_ns, self.rate.get());
        if step < 0 || off > LEFT_NS {
            self.left = Some(Left { line: newest.line, jumped_ns: line.mono_ns, hits: 0 });
        }
        let was = self.state;
        let jumped = step < 0 || off > JUMP_NS;
        if jumped || was != State::Following {
            self.rate.restart();
        }
        if step < 0 {
            self.new_epoch(Some(line.mono_ns));
        }
        self.follow(line, sent);
        let event = if jumped {
            Some(Event::Jumped { from: RosTime { ns: newest.line.sim_ns }, to: sim })
        } else if was == State::Following {
            self.imprecise()
        } else {
            Some(Event::Resumed { now: sim, after: duration(since) })
        };
        Taken { counts: true, event }
    }

    /// Notes that time has passed.
    pub(super) fn tick(&mut self, now: Instant) -> Option<Event> {
        if now < self.next_due()? {
            return None;
        }
        let Some(newest) = self.newest else {
            self.state = State::Fallback;
            self.view.mode = if self.tuning.fallback == Fallback::Wall { Mode::Wall } else { Mode::Closed };
            return Some(Event::FellBack);
        };
        let last = RosTime { ns: newest.line.sim_ns };
        if nanos_between(self.base, now).saturating_sub(newest.heard_ns) < nanos(self.tuning.lost_after) {
            self.state = State::Paused;
            return Some(Event::Paused { now: last });
        }
        self.state = State::Lost;
        self.view.mode = match self.tuning.lost {
            Lost::Hold => Mode::Closed,
            Lost::Extrapolate => Mode::Run { lead_ns: i64::MAX },
            Lost::Wall => Mode::Wall,
        };
        if self.view.mode == Mode::Wall {
            self.new_epoch(None);
        }
        Some(Event::Lost { last })
    }

    /// When [`Follower::tick`] has something to do, unless samples come.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let lost = |newest: &Newest| newest.heard_ns.saturating_add(nanos(self.tuning.lost_after));
        let due = match (self.state, &self.newest) {
            (State::Acquiring, _) if self.tuning.fallback != Fallback::Wait => {
                nanos(self.tuning.acquire_timeout)
            }
            (State::Following, Some(newest)) => {
                newest.line.mono_ns.saturating_add(self.paused_after()).min(lost(newest))
            }
            (State::Paused, Some(newest)) => lost(newest),
            _ => return None,
        };
        self.instant(due)
    }

    /// Takes the sample as the newest and lets readers run from it.
    fn follow(&mut self, line: Line, sent: RosTime) {
        self.rate.moved(line.sim_ns, line.mono_ns);
        self.newest = Some(Newest { line, sent, heard_ns: line.mono_ns });
        self.run(line);
        self.state = State::Following;
    }

    fn run(&mut self, line: Line) {
        if self.view.mode == Mode::Wall {
            self.new_epoch(Some(line.mono_ns));
        }
        let period_ns = scaled(self.rate.period_ns().unwrap_or(0), self.rate.get());
        let lead_ns = nanos(self.tuning.max_lead).max(period_ns.saturating_mul(2));
        let rate = match self.tuning.project {
            Project::Offset => 1.0,
            Project::Rate => self.rate.get(),
        };
        let Line { sim_ns, mono_ns } = line;
        self.view = View { mode: Mode::Run { lead_ns }, mono_ns, sim_ns, rate, ..self.view };
    }

    /// Times of the previous epoch are no longer comparable; what came before `from` belongs to it.
    fn new_epoch(&mut self, from: Option<i64>) {
        self.view.epoch = self.view.epoch.wrapping_add(1);
        self.view.since_ns = from.unwrap_or(i64::MIN);
    }

    /// The clock says the same as before: it stands still, or its values are coarse; time will tell.
    fn heard_again(&mut self, newest: Newest, sent: RosTime, mono_ns: i64) -> Taken {
        self.newest = Some(Newest { heard_ns: mono_ns, sent, ..newest });
        let mut event = None;
        if self.state == State::Lost {
            self.run(newest.line);
            self.state = State::Paused;
            event = Some(Event::Paused { now: RosTime { ns: newest.line.sim_ns } });
        }
        Taken { counts: true, event }
    }

    /// Samples of a second publisher are ignored; after a jump it takes some to find out that there are two.
    fn second_publisher(&mut self, line: Line, sent: RosTime, newest: &Newest) -> Option<Taken> {
        let rate = self.rate.get();
        let kept = newest.line.distance(line.sim_ns, line.mono_ns, rate);
        if let Some(rival) = &mut self.rival {
            if line.mono_ns.saturating_sub(newest.heard_ns) >= SILENT_NS {
                self.rival = None;
            } else if rival.distance(line.sim_ns, line.mono_ns, rate) < kept {
                *rival = line;
                return Some(Taken::IGNORED);
            }
        }
        let left = self.left.as_mut()?;
        if line.mono_ns.saturating_sub(left.jumped_ns) > SILENT_NS {
            self.left = None;
            return None;
        }
        let there = left.line.distance(line.sim_ns, line.mono_ns, rate);
        if there >= kept || there > LEFT_NS || line.sim_ns <= left.line.sim_ns {
            return None;
        }
        left.hits += 1;
        // A single one was overtaken by the sample after the jump; the clocks of two publishers may differ, too.
        if left.hits < if is_older(sent, newest.sent) { 5 } else { 2 } {
            return Some(Taken::IGNORED);
        }
        self.left = None;
        self.rival = Some(newest.line);
        self.new_epoch(Some(line.mono_ns));
        self.rate.restart();
        self.follow(line, sent);
        let ignored = RosTime { ns: newest.line.sim_ns };
        let event = Event::Conflict { kept: RosTime { ns: line.sim_ns }, ignored };
        Some(Taken { counts: true, event: Some(event) })
    }

    /// Says once when `project: offset` does not suit the clock.
    fn imprecise(&mut self) -> Option<Event> {
        let period_ns = self.rate.period_ns()?;
        let error = duration(scaled(period_ns, self.rate.measured()? - 1.0).abs());
        let worth_a_word = self.tuning.project == Project::Offset && error > IMPRECISE;
        let first = worth_a_word && !std::mem::replace(&mut self.told_imprecise, true);
        first.then_some(Event::Imprecise { error })
    }

    /// How long after a new value the clock counts as standing still.
    fn paused_after(&self) -> i64 {
        self.rate.period_ns().map_or(UNKNOWN_NS, |period| period.saturating_mul(5).max(PAUSED_NS))
    }

    fn instant(&self, mono_ns: i64) -> Option<Instant> {
        self.base.checked_add(duration(mono_ns))
    }
}

/// Whether the publisher sent a sample before the newest one. More than a second is not a matter of overtaking: the
/// publisher's wall clock was set.
fn is_older(sent: RosTime, newest: RosTime) -> bool {
    let by = newest.ns.saturating_sub(sent.ns);
    sent.ns != 0 && newest.ns != 0 && (1..SILENT_NS).contains(&by)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "saturates; a span has no more than 53 bits worth of nanoseconds for 104 days"
)]
pub(super) fn scaled(ns: i64, rate: f64) -> i64 {
    if rate == 1.0 { ns } else { (ns as f64 * rate) as i64 }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

fn duration(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}

/// A clock whose period is known stands still after this, or five periods.
const PAUSED_NS: i64 = 200_000_000;
/// One that has spoken once.
const UNKNOWN_NS: i64 = 1_000_000_000;
/// A step back of less is no reset.
const JITTER_NS: i64 = 20_000_000;
/// A step forward of more, beyond what was to be expected, is a jump.
const JUMP_NS: i64 = 1_000_000_000;
/// A step of more, beyond what was to be expected, may be another publisher's.
const LEFT_NS: i64 = 100_000_000;
/// Who is silent for so long gives way to another publisher.
const SILENT_NS: i64 = 1_000_000_000;
/// Errors between samples beyond this are worth a word.
const IMPRECISE: Duration = Duration::from_millis(20);
