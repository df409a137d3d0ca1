//! The mission protocol for one plan: no input or output, time is given.
//!
//! One job at a time: pull, push, clear or set current. What is heard goes in through [`Machine::hear`], what
//! follows comes out as [`Effect`]s. Every message is sent again until its answer comes ([`Patience`]); answers
//! that come twice or late do no harm.
//!
//! Memory: two lists of at most 65,535 items (64 octets each), grown as items come.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_msgs::mavros_msgs::msg::WaypointList;

use list::len;

use super::task::{
    Active, Caller, Effect, Heard, Job, LONGEST_WAIT, Patience, RoundTrip, Say, Step, Task, Upload,
};

/// What users choose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    /// Send and ask for MISSION_ITEM_INT unless the vehicle says that it has none.
    pub(super) int: bool,
    /// Read the plan again when somebody else has changed it.
    pub(super) pull_after_gcs: bool,
}

/// The protocol's state for one plan of one vehicle.
#[derive(Debug)]
pub(super) struct Machine {
    /// For log lines.
    rule: Arc<str>,
    name: &'static str,
    choices: Choices,
    /// The plan as the vehicle is known to have it, and the current item.
    pub(super) list: WaypointList,
    int: bool,
    /// The vehicle is known to have, or not to have, MISSION_ITEM_INT.
    int_certain: bool,
    /// The vehicle has spoken the protocol since it connected.
    answered: bool,
    round_trip: RoundTrip,
    active: Option<Active>,
    /// When to read the plan unasked, and how often that may fail.
    next_pull: Option<Instant>,
    tries: u32,
    /// The vehicle's number for the present plan; 0 when it gives none.
    plan_id: u32,
    effects: Vec<Effect>,
}

impl Machine {
    pub(super) fn new(rule: &Arc<str>, name: &'static str, choices: Choices) -> Self {
        Self {
            rule: Arc::clone(rule),
            name,
            choices,
            list: WaypointList::default(),
            int: choices.int,
            int_certain: false,
            answered: false,
            round_trip: RoundTrip::default(),
            active: None,
            next_pull: None,
            tries: 0,
            plan_id: 0,
            effects: Vec::new(),
        }
    }

    /// What is to be done now; empty afterwards.
    pub(super) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub(super) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// True while somebody waits for the present job.
    pub(super) fn is_called(&self) -> bool {
        self.active.as_ref().is_some_and(|active| active.caller.is_some())
    }

    /// When [`Machine::tick`] has something to do.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.active.as_ref().map(|active| active.step.due)
    }

    /// When the plan shall be read unasked.
    pub(super) fn next_pull(&self) -> Option<Instant> {
        self.next_pull
    }

    /// The vehicle is there.
    pub(super) fn connected(&mut self, now: Instant) {
        (self.int, self.int_certain, self.answered) = (self.choices.int, false, false);
        self.round_trip = RoundTrip::default();
        self.plan_id = 0;
        self.tries = PULL_TRIES;
        self.next_pull = Some(now + FIRST_PULL);
    }

    /// The vehicle is gone: the job fails, and nothing is asked of it.
    pub(super) fn disconnected(&mut self, now: Instant) {
        self.finish(false, now);
        self.next_pull = None;
    }

    /// The vehicle says whether it has MISSION_ITEM_INT.
    pub(super) fn set_int_support(&mut self, int: bool) {
        (self.int, self.int_certain) = (int, true);
    }

    /// Starts a job. Only when none is active.
    pub(super) fn start(&mut self, job: Job, caller: Option<Caller>, now: Instant) {
        let task = match job {
            Job::Pull => {
                self.next_pull = None;
                Task::Pull { count: None, got: Vec::new(), check: None }
            }
            Job::Push { start, items } => match self.upload(start, items) {
                Some(upload) => Task::Push(upload),
                None => return self.answer(caller, false, 0),
            },
            Job::Clear => Task::Clear,
            Job::SetCurrent(seq) => Task::SetCurrent(seq),
        };
        let step = Step::new(now, LONGEST_WAIT);
        self.active = Some(Active { task, caller, step, moved: now });
        self.new_step(now);
    }

    /// Lets a call take part in the pull that nobody waits for yet.
    pub(super) fn join(&mut self, caller: Caller) -> bool {
        match &mut self.active {
            Some(Active { task: Task::Pull { check: None, .. }, caller: none @ None, .. }) => {
                *none = Some(caller);
                true
            }
            _ => false,
        }
    }

    /// Ends a job that nobody waits for, to make way; the plan is read later.
    pub(super) fn make_way(&mut self, now: Instant) {
        if self.active.as_ref().is_some_and(|active| active.caller.is_none()) {
            self.active = None;
            self.say(Say::Ack(CANCELLED));
            self.next_pull = Some(now + AGAIN);
        }
    }

    /// Somebody else may have changed the plan.
    pub(super) fn changed(&mut self, now: Instant) {
        if self.choices.pull_after_gcs && self.active.is_none() {
            self.tries = PULL_TRIES;
            self.next_pull = Some(now + AGAIN);
        }
    }

    /// The vehicle's number for its plan, 0 if it has none.
    pub(super) fn note_plan_id(&mut self, id: u32, now: Instant) {
        if self.plan_id != 0 && id != self.plan_id {
            self.changed(now);
        }
        self.plan_id = id;
    }

    /// Handles a message of the vehicle.
    pub(super) fn hear(&mut self, heard: Heard, now: Instant) {
        if let Heard::Current(seq) = heard {
            return self.set_current(seq, now);
        }
        let Some(active) = &mut self.active else { return };
        self.answered = true;
        match (&mut active.task, heard) {
            (Task::Pull { count: count @ None, .. }, Heard::Count(n)) => {
                *count = Some(n);
                self.step_done(now);
            }
            (Task::Pull { count: Some(n), got, .. }, Heard::Item { seq, item, int })
                if usize::from(seq) == got.len() && got.len() < usize::from(*n) =>
            {
                got.push(item);
                if int {
                    (self.int, self.int_certain) = (true, true);
                }
                self.step_done(now);
            }
            (Task::Pull { .. }, Heard::Ack(UNSUPPORTED)) if self.int && !self.int_certain => {
                self.fall_back(now);
            }
            (Task::Push(upload), Heard::Request { seq, int }) => {
                if int {
                    (self.int, self.int_certain) = (true, true);
                }
                // Above the end too: ArduPilot asks for one item more than are announced to change.
                if seq >= upload.first && usize::from(seq) < upload.list.len() {
                    let further = seq >= upload.reached;
                    upload.sent = Some(seq);
                    upload.reached = upload.reached.max(seq + 1);
                    if further {
                        self.step_done(now);
                    } else {
                        self.send_step();
                    }
                }
            }
            (Task::Push(upload), Heard::Ack(ACCEPTED)) if upload.is_all_sent() => self.finish(true, now),
            // An item came twice, perhaps in an earlier transfer: the vehicle asks for the one it wants. An earlier
            // transfer's success may come late.
            (_, Heard::Ack(INVALID_SEQUENCE)) | (Task::Pull { .. } | Task::Push(_), Heard::Ack(ACCEPTED)) => {
            }
            (Task::Push(upload), Heard::Ack(_)) if upload.is_all_sent() && active.step.sends > 1 => {
                // The last item was sent again, perhaps to a vehicle that was content already.
                self.read_back(now);
            }
            (Task::Clear, Heard::Ack(ACCEPTED)) => self.finish(true, now),
            (_, Heard::Ack(result)) => {
                tracing::warn!(rule = %self.rule, plan = self.name, result, "the vehicle refuses the transfer");
                self.finish(false, now);
            }
            _ => {}
        }
    }

    /// Does what is due.
    pub(super) fn tick(&mut self, now: Instant) {
        let Some(active) = &mut self.active else { return };
        if now < active.step.due {
            return;
        }
        let patience = match &active.task {
            Task::Pull { count: Some(_), .. } | Task::Push(Upload { sent: Some(_), .. })
                if self.int_certain || !self.int =>
            {
                Patience::AMID
            }
            Task::Pull { .. } | Task::Push(_) | Task::Clear if self.answered => Patience::KNOWN,
            // A vehicle that does not like the number says nothing in this protocol.
            _ => Patience::FIRST,
        };
        if active.step.is_hopeless(patience, now) || now.saturating_duration_since(active.moved) > STALLED {
            return self.give_up(now);
        }
        active.step.sends += 1;
        active.step.due = now + active.task.wait(self.round_trip);
        self.send_step();
    }

    /// The present message had no answer.
    fn give_up(&mut self, now: Instant) {
        let Some(active) = &self.active else { return };
        let amid = match &active.task {
            Task::Pull { count, .. } => count.is_some(),
            Task::Push(upload) => upload.sent.is_some(),
            Task::Clear | Task::SetCurrent(_) => false,
        };
        match &active.task {
            Task::Push(upload) if upload.is_all_sent() && (self.int_certain || !self.int) => {
                self.read_back(now)
            }
            _ if amid && self.int && !self.int_certain => self.fall_back(now),
            _ => {
                tracing::warn!(rule = %self.rule, plan = self.name, "the vehicle does not answer; the transfer fails");
                self.finish(false, now);
            }
        }
    }

    /// Goes on with items in single precision.
    fn fall_back(&mut self, now: Instant) {
        tracing::warn!(rule = %self.rule, plan = self.name, "the vehicle seems to have no MISSION_ITEM_INT; using MISSION_ITEM");
        self.int = false;
        self.new_step(now);
    }

    /// Reads the list to see whether it is the one that was sent.
    fn read_back(&mut self, now: Instant) {
        let Some(active) = &mut self.active else { return };
        let pull = Task::Pull { count: None, got: Vec::new(), check: None };
        let task = std::mem::replace(&mut active.task, pull);
        if let (Task::Push(upload), Task::Pull { check, .. }) = (task, &mut active.task) {
            *check = Some(upload);
        }
        active.moved = now;
        self.new_step(now);
    }

    /// The answer to the present message has come: on to the next one.
    fn step_done(&mut self, now: Instant) {
        let Some(active) = &mut self.active else { return };
        self.round_trip.learn(&active.step, now);
        active.moved = now;
        match &active.task {
            Task::Pull { count: Some(n), got, .. } if got.len() >= usize::from(*n) => {
                self.say(Say::Ack(ACCEPTED));
                self.finish(true, now);
            }
            _ => self.new_step(now),
        }
    }

    fn new_step(&mut self, now: Instant) {
        if let Some(active) = &mut self.active {
            active.step = Step::new(now, active.task.wait(self.round_trip));
            self.send_step();
        }
    }

    fn send_step(&mut self) {
        let Some(active) = &self.active else { return };
        let say = match &active.task {
            Task::Pull { count: None, .. } => Say::RequestList,
            Task::Pull { got, .. } => match u16::try_from(got.len()) {
                Ok(seq) => Say::Request { seq, int: self.int },
                Err(_) => return,
            },
            Task::Push(upload) => match upload.sent {
                Some(seq) => match upload.list.get(usize::from(seq)) {
                    Some(item) => Say::Item { seq, item: item.clone(), int: self.int },
                    None => return,
                },
                None if upload.first == 0 => Say::Count(upload.end),
                None => Say::WritePartialList { start: upload.first, end: upload.end },
            },
            Task::Clear => Say::ClearAll,
            Task::SetCurrent(seq) => Say::SetCurrent(*seq),
        };
        self.say(say);
    }

    /// Ends the present job.
    fn finish(&mut self, success: bool, now: Instant) {
        let Some(Active { task, caller, .. }) = self.active.take() else { return };
        let (success, count) = match task {
            Task::Pull { got, check, .. } if success => self.pulled(got, check),
            Task::Pull { check: Some(upload), .. } => (false, upload.count()),
            Task::Pull { got, .. } => (false, len(&got)),
            Task::Push(upload) => {
                let count = upload.count();
                if success {
                    tracing::info!(rule = %self.rule, plan = self.name, count, "written to the vehicle");
                    self.set_list(upload.list);
                }
                (success, count)
            }
            Task::Clear => {
                if success {
                    tracing::info!(rule = %self.rule, plan = self.name, "cleared");
                    self.set_list(Vec::new());
                }
                (success, 0)
            }
            Task::SetCurrent(_) => (success, 0),
        };
        if !success && !self.int_certain {
            self.int = self.choices.int;
        }
        if !success && caller.is_none() && self.answered && self.tries > 1 {
            self.tries -= 1;
            self.next_pull = Some(now + AGAIN);
        }
        self.answer(caller, success, count);
    }

    fn say(&mut self, say: Say) {
        self.effects.push(Effect::Say(say));
    }

    fn answer(&mut self, caller: Option<Caller>, success: bool, count: u32) {
        if let Some(caller) = caller {
            self.effects.push(Effect::Answer { caller, success, count });
        }
    }
}

/// From the connection to the first reading: MAVROS leaves the vehicle time to boot.
const FIRST_PULL: Duration = Duration::from_secs(15);
/// From a change by somebody else, or a failure, to the next reading.
const AGAIN: Duration = Duration::from_secs(5);
/// How often a reading that nobody asked for is tried.
const PULL_TRIES: u32 = 3;
/// A transfer that comes no further for so long has failed.
const STALLED: Duration = Duration::from_secs(30);
/// `MAV_MISSION_RESULT`.
const ACCEPTED: u8 = 0;
const UNSUPPORTED: u8 = 3;
const INVALID_SEQUENCE: u8 = 13;
const CANCELLED: u8 = 15;

mod list;
#[cfg(test)]
mod tests;
