//! Following a simulator's clock by its samples. Pure: instants are arguments.
//!
//! ```text
//! ACQUIRING --first sample--> FOLLOWING <--> PAUSED      backward jump: new era, still FOLLOWING
//!     |                           |            |
//!     | acquire_timeout           +--silence---+--> LOST --sample--> FOLLOWING
//!     v
//!  FALLBACK
//! ```

mod rate;

use std::time::{Duration, Instant};

use self::rate::{Line, Rate};
use super::{
    RosTime,
    record::{Mode, View},
};

/// How a clock is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// How long the first sample may take before `fallback`.
    pub acquire_timeout: Duration,
    /// What to do without a first sample.
    pub fallback: Fallback,
    /// How long a clock that was there may be silent before it counts as lost.
    pub lost_after: Duration,
    /// What stamps are once it is lost.
    pub lost: Lost,
    /// How far stamps run ahead of the newest sample at most, in simulated time; two periods of a slow clock if longer.
    pub max_lead: Duration,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            acquire_timeout: Duration::from_secs(60),
            fallback: Fallback::Wall,
            lost_after: Duration::from_secs(5),
            lost: Lost::Hold,
            max_lead: Duration::from_millis(50),
        }
    }
}

/// What to do when no clock appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Wall time from then on; a clock that comes later is ignored, for tf2 cannot go back from wall time.
    Wall,
    /// Go on waiting.
    Wait,
    /// End the program.
    Exit,
}

/// What stamps are while the clock is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// There are none: nothing with a stamp is published.
    Hold,
    /// Wall time.
    Wall,
    /// The clock's time as if it had gone on.
    Extrapolate,
}

/// How a follower is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for the first sample.
    Acquiring,
    /// Samples come and go forward.
    Following,
    /// The clock stands still, or says nothing new.
    Paused,
    /// The clock is silent.
    Lost,
    /// No clock came in time.
    Fallback,
}

impl State {
    /// As a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acquiring => "acquiring",
            Self::Following => "following",
            Self::Paused => "paused",
            Self::Lost => "lost",
            Self::Fallback => "fallback",
        }
    }
}

/// What is worth a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first sample came.
    Acquired {
        /// What it said.
        now: RosTime,
    },
    /// The clock stands still.
    Paused {
        /// Where.
        now: RosTime,
    },
    /// The clock goes on after a pause or a silence.
    Resumed {
        /// Where.
        now: RosTime,
        /// How long it did not.
        after: Duration,
    },
    /// The clock went back, or more than a second further than it should have.
    Jumped {
        /// The newest sample before.
        from: RosTime,
        /// The sample after.
        to: RosTime,
    },
    /// Two publishers with different times; the one that was there first is followed.
    Conflict {
        /// The time followed.
        kept: RosTime,
        /// The time ignored.
        ignored: RosTime,
    },
    /// The clock is silent.
    Lost {
        /// Its last time.
        last: RosTime,
    },
    /// No clock came in time.
    FellBack,
    /// A clock came after all; it is ignored.
    Late,
}

/// The newest samples as they count.
#[derive(Clone, Copy, Debug)]
struct Newest {
    line: Line,
    /// When the publisher sent it, where the middleware tells.
    sent: RosTime,
    /// When the clock was last heard, be it with the same value.
    heard: Instant,
}

/// Follows one clock.
#[derive(Debug)]
pub(super) struct Follower {
    tuning: Tuning,
    /// Instants are counted from here.
    base: Instant,
    started: Instant,
    state: State,
    newest: Option<Newest>,
    rate: Rate,
    /// The line left at the latest jump, and when: if it goes on, there are two publishers.
    left: Option<(Line, Instant)>,
    /// A second publisher that is ignored.
    rival: Option<Line>,
    view: View,
    late: bool,
}

impl Follower {
    /// Waits for the first sample from `now` on. What [`Follower::view`] tells counts from `base`.
    pub(super) fn new(tuning: Tuning, base: Instant, now: Instant) -> Self {
        Self {
            tuning,
            base,
            started: now,
            state: State::Acquiring,
            newest: None,
            rate: Rate::default(),
            left: None,
            rival: None,
            view: View::NONE,
            late: false,
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
        self.newest.map(|newest| (RosTime { ns: newest.line.sim_ns }, newest.line.at))
    }

    /// When it was started.
    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// Takes a sample that came `at` and was sent at the wall time `sent` (0 where that is not known).
    pub(super) fn sample(&mut self, sim: RosTime, sent: RosTime, at: Instant) -> Option<Event> {
        if self.state == State::Fallback {
            return (!std::mem::replace(&mut self.late, true)).then_some(Event::Late);
        }
        let Some(newest) = self.newest else {
            self.follow(sim.ns, sent, at, None);
            return Some(Event::Acquired { now: sim });
        };
        if newest.is_before(sim, sent, at) {
            return None;
        }
        if sim.ns == newest.line.sim_ns {
            self.newest = Some(Newest { heard: at, ..newest });
            return self.heard_again(newest, at, State::Paused);
        }
        if let Some(event) = self.conflict(sim.ns, sent, at, &newest) {
            return event;
        }
        let step = sim.ns.saturating_sub(newest.line.sim_ns);
        if step < 0 && step >= -self.jitter_ns() && at.saturating_duration_since(newest.line.at) < PAUSED {
            // A second bridge of the same clock, a little behind.
            return None;
        }
        let jumped = step < 0 || self.view.mode != Mode::Wall && newest.line.is_left_behind(sim.ns, at);
        if jumped {
            self.left = Some((newest.line, at));
            self.rate.restart();
        }
        self.follow(sim.ns, sent, at, (step < 0).then_some(at));
        let resumed = self.heard_again(newest, at, State::Following);
        let jump = Event::Jumped { from: RosTime { ns: newest.line.sim_ns }, to: sim };
        if jumped { Some(jump) } else { resumed }
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
        self.rate.restart();
        if now >= newest.heard + self.tuning.lost_after {
            self.state = State::Lost;
            self.view.mode = match self.tuning.lost {
                Lost::Hold => Mode::Closed,
                Lost::Extrapolate => Mode::Run { lead_ns: i64::MAX },
                Lost::Wall => Mode::Wall,
            };
            if self.view.mode == Mode::Wall {
                self.new_era(None);
            }
            return Some(Event::Lost { last });
        }
        self.state = State::Paused;
        Some(Event::Paused { now: last })
    }

    /// When [`Follower::tick`] has something to do, unless samples come.
    pub(super) fn next_due(&self) -> Option<Instant> {
        match (self.state, &self.newest) {
            (State::Acquiring, _) => (self.tuning.fallback != Fallback::Wait)
                .then(|| self.started.checked_add(self.tuning.acquire_timeout))
                .flatten(),
            (State::Following, Some(newest)) => {
                Some((newest.line.at + self.paused_after()).min(newest.heard + self.tuning.lost_after))
            }
            (State::Paused, Some(newest)) => Some(newest.heard + self.tuning.lost_after),
            _ => None,
        }
    }

    /// Takes the sample as the newest; `era_from` begins a new era.
    fn follow(&mut self, sim_ns: i64, sent: RosTime, at: Instant, era_from: Option<Instant>) {
        self.rate.moved(sim_ns, at);
        let line = Line { sim_ns, at, rate: self.rate.get() };
        self.newest = Some(Newest { line, sent, heard: at });
        if era_from.is_some() {
            self.new_era(era_from);
        }
        self.run();
    }

    /// Lets readers run from the newest sample.
    fn run(&mut self) {
        let Some(Newest { line, .. }) = self.newest else { return };
        if self.view.mode == Mode::Wall {
            self.new_era(Some(line.at));
        }
        let lead_ns = nanos(self.tuning.max_lead).max(self.rate.period_ns().saturating_mul(2));
        self.view = View {
            mode: Mode::Run { lead_ns },
            mono_ns: self.mono_ns(line.at),
            sim_ns: line.sim_ns,
            rate: line.rate,
            ..self.view
        };
        self.state = State::Following;
    }

    fn new_era(&mut self, from: Option<Instant>) {
        self.view.era = self.view.era.wrapping_add(1);
        self.view.since_ns = from.map_or(i64::MIN, |from| self.mono_ns(from));
    }

    /// The clock was heard after `newest`; it is in `state` now.
    fn heard_again(&mut self, newest: Newest, at: Instant, state: State) -> Option<Event> {
        let before = self.state;
        if before == State::Lost {
            self.run();
        }
        if state == State::Paused && before == State::Following {
            // It may be a clock with coarse values; time will tell.
            return None;
        }
        self.state = state;
        let now = RosTime { ns: self.view.sim_ns };
        let after = at.saturating_duration_since(newest.line.at);
        match (before, state) {
            (State::Lost, State::Paused) => Some(Event::Paused { now }),
            _ => None,
        }
        .or((self.was_still && state == State::Following).then_some(Event::Resumed { now, after }))
    }
}
