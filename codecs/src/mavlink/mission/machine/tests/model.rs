//! A vehicle that has plans, and a bad link to it.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rostrans_core::codec::CallId;
use rostrans_msgs::mavros_msgs::msg::Waypoint;

use super::super::{
    super::task::{Answer, Caller, Effect, Heard, Job, Say},
    ACCEPTED, Choices, INVALID_SEQUENCE, Machine,
};

const MS: Duration = Duration::from_millis(1);

/// Numbers that are the same for the same seed (splitmix64).
pub(super) struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }
}

/// An autopilot's side: asks for items again each second, answers what comes twice as ArduPilot does.
#[derive(Default)]
pub(super) struct Vehicle {
    pub(super) plan: Vec<Waypoint>,
    pub(super) current: u16,
    pub(super) receiving: Option<(Vec<Waypoint>, u16, Instant)>,
    /// Has MISSION_ITEM_INT.
    pub(super) int: bool,
    /// Says ACCEPTED again when the last item comes again, as PX4 does.
    pub(super) repeats_ack: bool,
    pub(super) gone: bool,
}

impl Vehicle {
    pub(super) fn take(&mut self, say: Say, now: Instant) -> Option<Heard> {
        if self.gone {
            return None;
        }
        match say {
            Say::RequestList => Some(Heard::Count(u16::try_from(self.plan.len()).unwrap())),
            Say::Request { int: true, .. } | Say::Item { int: true, .. } if !self.int => None,
            Say::Request { seq, int } => {
                let item = self.plan.get(usize::from(seq)).cloned()?;
                Some(Heard::Item { seq, item, int })
            }
            Say::Count(n) => {
                self.receiving = Some((Vec::new(), n, now));
                self.ask(now)
            }
            Say::WritePartialList { start, end } => {
                self.receiving = Some((self.plan[..usize::from(start)].to_vec(), end + 1, now));
                self.ask(now)
            }
            Say::Item { seq, item, .. } => {
                let Some((items, count, _)) = &mut self.receiving else {
                    let last = usize::from(seq) + 1 == self.plan.len();
                    return (self.repeats_ack && last).then_some(Heard::Ack(ACCEPTED));
                };
                if usize::from(seq) != items.len() {
                    return Some(Heard::Ack(INVALID_SEQUENCE));
                }
                items.push(item);
                if items.len() < usize::from(*count) {
                    return self.ask(now);
                }
                self.plan = self.receiving.take().unwrap().0;
                Some(Heard::Ack(ACCEPTED))
            }
            Say::ClearAll => {
                self.plan.clear();
                Some(Heard::Ack(ACCEPTED))
            }
            Say::SetCurrent(seq) => {
                if usize::from(seq) < self.plan.len() {
                    self.current = seq;
                }
                Some(Heard::Current(self.current))
            }
            Say::Ack(_) => None,
        }
    }

    pub(super) fn ask(&mut self, now: Instant) -> Option<Heard> {
        let (items, _, asked) = self.receiving.as_mut()?;
        *asked = now;
        Some(Heard::Request { seq: u16::try_from(items.len()).unwrap(), int: self.int })
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.receiving.as_ref().filter(|_| !self.gone).map(|(.., asked)| *asked + Duration::from_secs(1))
    }
}

/// What a link does to messages, in percent and milliseconds.
#[derive(Clone, Copy)]
pub(super) struct Weather {
    pub(super) loss: u64,
    pub(super) twice: u64,
    pub(super) latency: u64,
    pub(super) jitter: u64,
}

pub(super) const FINE: Weather = Weather { loss: 0, twice: 0, latency: 5, jitter: 0 };

pub(super) enum Mail {
    ToVehicle(Say),
    ToUs(Heard),
}

/// Both sides and the link between them.
pub(super) struct World {
    pub(super) machine: Machine,
    pub(super) vehicle: Vehicle,
    pub(super) weather: Weather,
    pub(super) dice: Dice,
    pub(super) mail: BTreeMap<(Instant, u64), Mail>,
    pub(super) posted: u64,
    pub(super) now: Instant,
    pub(super) said: Vec<Say>,
    pub(super) answers: Vec<(Answer, bool, u32)>,
    pub(super) published: usize,
}

impl World {
    pub(super) fn new(vehicle: Vehicle, weather: Weather, seed: u64) -> Self {
        let mut machine = Machine::new(&"r".into(), "mission", Choices { int: true, pull_after_gcs: true });
        let now = Instant::now();
        machine.connected(now);
        Self {
            machine,
            vehicle,
            weather,
            dice: Dice(seed),
            mail: BTreeMap::new(),
            posted: 0,
            now,
            said: Vec::new(),
            answers: Vec::new(),
            published: 0,
        }
    }

    fn post(&mut self, mail: impl Fn() -> Mail) {
        let copies = 1 + u64::from(self.dice.percent(self.weather.twice));
        for _ in 0..copies {
            if !self.dice.percent(self.weather.loss) {
                let delay = self.weather.latency + self.dice.roll(self.weather.jitter + 1);
                self.posted += 1;
                self.mail.insert((self.now + MS * u32::try_from(delay).unwrap(), self.posted), mail());
            }
        }
    }

    pub(super) fn carry_out(&mut self) {
        for effect in self.machine.effects() {
            match effect {
                Effect::Say(say) => {
                    self.said.push(say.clone());
                    self.post(|| Mail::ToVehicle(say.clone()));
                }
                Effect::Publish => self.published += 1,
                Effect::Answer { caller, success, count } => {
                    self.answers.push((caller.answer, success, count))
                }
            }
        }
    }

    /// Runs a job to its end; what it answered.
    pub(super) fn run(&mut self, job: Job) -> (bool, u32) {
        let answer = match &job {
            Job::Pull => Answer::Pull,
            Job::Push { .. } => Answer::Push,
            Job::Clear => Answer::Clear,
            Job::SetCurrent(_) => Answer::SetCurrent,
        };
        self.machine.start(job, Some(Caller { call: CallId(7), answer }), self.now);
        self.carry_out();
        let begun = self.now;
        while self.machine.is_active() {
            self.step();
            assert!(self.now - begun < Duration::from_secs(3600), "it never ends");
        }
        assert_eq!(self.answers.len(), 1, "one answer");
        let (kind, success, count) = self.answers.remove(0);
        assert_eq!(kind, answer);
        (success, count)
    }

    /// The next thing that happens.
    pub(super) fn step(&mut self) {
        let mail = self.mail.keys().next().map(|(at, _)| *at);
        let due = [mail, self.machine.next_due(), self.vehicle.due()];
        self.now = self.now.max(due.into_iter().flatten().min().unwrap());
        if mail.is_some_and(|at| at <= self.now) {
            match self.mail.pop_first().unwrap().1 {
                Mail::ToVehicle(say) => {
                    if let Some(heard) = self.vehicle.take(say, self.now) {
                        self.post(|| Mail::ToUs(heard.clone()));
                    }
                }
                Mail::ToUs(heard) => self.machine.hear(heard, self.now),
            }
        } else if self.vehicle.due().is_some_and(|at| at <= self.now)
            && let Some(heard) = self.vehicle.ask(self.now)
        {
            self.post(|| Mail::ToUs(heard.clone()));
        }
        self.machine.tick(self.now);
        self.carry_out();
    }
}
