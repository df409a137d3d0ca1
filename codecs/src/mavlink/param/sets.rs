//! Setting parameters: no input or output, time is given.
//!
//! A PARAM_SET is sent up to four times, a second apart, until the vehicle tells the wanted value. Another value
//! may be an old one on its way; when it comes again after a second PARAM_SET, the vehicle does not want to.
//!
//! Memory: 1,024 settings at most.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::value::{Kind, Value};

/// A parameter that shall get a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting<T> {
    /// Who wants it.
    pub(super) tag: T,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The float field.
    pub(super) field: f32,
    /// What the vehicle is expected to tell.
    pub(super) want: Value,
}

/// What follows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step<T> {
    Send {
        name: String,
        kind: Kind,
        field: f32,
    },
    /// The vehicle told `told`; `None`: nothing.
    Done {
        tag: T,
        success: bool,
        told: Option<Value>,
    },
}

/// All settings of one vehicle.
#[derive(Debug)]
pub(super) struct Sets<T> {
    waiting: VecDeque<Setting<T>>,
    flying: Vec<Flying<T>>,
}

#[derive(Debug)]
struct Flying<T> {
    setting: Setting<T>,
    sends: u32,
    due: Instant,
    /// Another value than the wanted one, since the first and since the latest PARAM_SET.
    told: Option<Value>,
    told_now: bool,
}

impl<T> Default for Sets<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), flying: Vec::new() }
    }
}

impl<T> Sets<T> {
    /// How many more can wait.
    pub(super) fn room(&self) -> usize {
        MAX.saturating_sub(self.waiting.len() + self.flying.len())
    }

    /// Puts one at the end; [`Sets::tick`] sends it.
    pub(super) fn push(&mut self, setting: Setting<T>) {
        self.waiting.push_back(setting);
    }

    /// When [`Sets::tick`] has something to do.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.flying.iter().map(|flying| flying.due).min()
    }

    /// The vehicle has told a value.
    pub(super) fn heard(&mut self, name: &str, value: Value, now: Instant, steps: &mut Vec<Step<T>>) {
        let Some(index) = self.flying.iter().position(|flying| flying.setting.name == name) else { return };
        let Some(flying) = self.flying.get_mut(index) else { return };
        let wanted = value == flying.setting.want;
        if wanted || (flying.sends > 1 && flying.told.is_some() && !flying.told_now) {
            let tag = self.flying.swap_remove(index).setting.tag;
            steps.push(Step::Done { tag, success: wanted, told: Some(value) });
            return self.tick(now, steps);
        }
        (flying.told, flying.told_now) = (Some(value), true);
    }

    /// Sends what waits, and again what had no answer.
    pub(super) fn tick(&mut self, now: Instant, steps: &mut Vec<Step<T>>) {
        for flying in self.flying.extract_if(.., |flying| flying.due <= now && flying.sends >= SENDS) {
            let success = flying.told == Some(flying.setting.want);
            steps.push(Step::Done { tag: flying.setting.tag, success, told: flying.told });
        }
        for flying in self.flying.iter_mut().filter(|flying| flying.due <= now) {
            flying.sends += 1;
            flying.due = now + WAIT;
            flying.told_now = false;
            steps.push(flying.setting.message());
        }
        while self.flying.len() < WINDOW {
            let Some(setting) = self.waiting.front() else { return };
            if self.flying.iter().any(|flying| flying.setting.name == setting.name) {
                // One after the other, or the first one's answer would be taken for the second one's.
                return;
            }
            steps.push(setting.message());
            let Some(setting) = self.waiting.pop_front() else { return };
            self.flying.push(Flying { setting, sends: 1, due: now + WAIT, told: None, told_now: false });
        }
    }

    /// The vehicle is gone: all fail.
    pub(super) fn cancel(&mut self, steps: &mut Vec<Step<T>>) {
        let flying = self.flying.drain(..).map(|flying| flying.setting);
        for setting in flying.chain(self.waiting.drain(..)) {
            steps.push(Step::Done { tag: setting.tag, success: false, told: None });
        }
    }
}

impl<T> Setting<T> {
    fn message<U>(&self) -> Step<U> {
        Step::Send { name: self.name.clone(), kind: self.kind, field: self.field }
    }
}

/// Of MAVROS.
const WAIT: Duration = Duration::from_secs(1);
/// Of MAVROS.
const SENDS: u32 = 4;
/// Settings on their way at the same time.
const WINDOW: usize = 8;
const MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(tag: u32, name: &str, value: i64) -> Setting<u32> {
        let want = Value::Integer(value);
        Setting { tag, name: name.into(), kind: Kind::I32, field: 0.0, want }
    }

    struct Run {
        sets: Sets<u32>,
        now: Instant,
        sent: usize,
        done: Vec<(u32, bool, Option<Value>)>,
    }

    impl Run {
        fn new(settings: impl IntoIterator<Item = Setting<u32>>) -> Self {
            let mut run = Self { sets: Sets::default(), now: Instant::now(), sent: 0, done: Vec::new() };
            settings.into_iter().for_each(|setting| run.sets.push(setting));
            run.after(0);
            run
        }

        fn note(&mut self, steps: Vec<Step<u32>>) {
            for step in steps {
                match step {
                    Step::Send { .. } => self.sent += 1,
                    Step::Done { tag, success, told } => self.done.push((tag, success, told)),
                }
            }
        }

        fn after(&mut self, ms: u64) {
            self.now += Duration::from_millis(ms);
            let mut steps = Vec::new();
            self.sets.tick(self.now, &mut steps);
            self.note(steps);
        }

        fn hear(&mut self, name: &str, value: i64) {
            let mut steps = Vec::new();
            self.sets.heard(name, Value::Integer(value), self.now, &mut steps);
            self.note(steps);
        }
    }

    #[test]
    fn silent_vehicle_is_told_four_times() {
        let mut run = Run::new([setting(1, "A", 5)]);
        for sent in 1..=4 {
            assert_eq!((run.sent, run.done.len()), (sent, 0));
            run.after(1000);
        }
        assert_eq!(run.done, [(1, false, None)]);
    }

    #[test]
    fn old_value_on_its_way_is_not_the_answer() {
        let mut run = Run::new([setting(1, "A", 5)]);
        run.hear("A", 3);
        run.hear("A", 3);
        run.hear("B", 5);
        assert_eq!(run.done, []);
        run.hear("A", 5);
        assert_eq!(run.done, [(1, true, Some(Value::Integer(5)))]);
    }

    #[test]
    fn vehicle_that_insists_on_another_value_fails_it_soon() {
        let mut run = Run::new([setting(1, "A", 5)]);
        run.hear("A", 3);
        run.after(1000);
        run.hear("A", 3);
        assert_eq!((run.sent, run.done), (2, vec![(1, false, Some(Value::Integer(3)))]));
    }

    #[test]
    fn eight_at_a_time_and_one_name_after_the_other() {
        let names: Vec<String> = (0..20).map(|i| format!("P{i}")).collect();
        let mut run = Run::new(names.iter().zip(0..).map(|(name, tag)| setting(tag, name, 1)));
        assert_eq!(run.sent, 8);
        names.iter().for_each(|name| run.hear(name, 1));
        assert_eq!((run.sent, run.done.len()), (20, 20));

        let mut run = Run::new([setting(1, "A", 1), setting(2, "A", 2), setting(3, "B", 3)]);
        assert_eq!(run.sent, 1);
        run.hear("A", 1);
        assert_eq!(run.sent, 3);
        run.hear("B", 3);
        run.hear("A", 2);
        assert_eq!(run.done.iter().map(|(tag, ..)| *tag).collect::<Vec<_>>(), [1, 3, 2]);
        assert_eq!(run.sets.room(), MAX);
    }

    #[test]
    fn all_fail_when_the_vehicle_goes() {
        let mut run = Run::new((0..10).map(|tag| setting(tag, &tag.to_string(), 1)));
        let mut steps = Vec::new();
        run.sets.cancel(&mut steps);
        run.note(steps);
        assert_eq!(run.done.len(), 10);
        assert!(run.done.iter().all(|(_, success, told)| !success && told.is_none()));
        assert_eq!(run.sets.next_due(), None);
    }
}
