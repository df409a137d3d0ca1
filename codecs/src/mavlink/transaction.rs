//! Commands and their acknowledgements. Pure: time is an argument, frames are written elsewhere.

use std::time::{Duration, Instant};

use super::dialect::{CommandAck, CommandInt, CommandLong};

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Accepted.
    pub(super) success: bool,
    /// `MAV_RESULT`.
    pub(super) result: u8,
}

impl Outcome {
    /// Of a command with this number's answer.
    pub(super) fn of(result: u8) -> Self {
        Self { success: result == ACCEPTED, result }
    }

    /// Of a command of which another one is still open.
    pub(super) const BUSY: Self = Self { success: false, result: TEMPORARILY_REJECTED };
    /// Of a command whose parameters make no sense.
    pub(super) const DENIED: Self = Self { success: false, result: DENIED };
    /// Of a command that nobody answered.
    pub(super) const TIMED_OUT: Self = Self { success: false, result: FAILED };
}

/// A command in either form.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command {
    Long(CommandLong),
    Int(CommandInt),
}

impl Command {
    /// `MAV_CMD`.
    pub(super) fn number(&self) -> u16 {
        match self {
            Self::Long(m) => m.command,
            Self::Int(m) => m.command,
        }
    }

    /// Whether both want the same of the vehicle, however often they were sent.
    fn asks_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Long(a), Self::Long(b)) => *a == CommandLong { confirmation: a.confirmation, ..*b },
            (a, b) => a == b,
        }
    }

    /// The same as it is sent again: the vehicle sees by the confirmation that it is no new command.
    fn again(&mut self) {
        if let Self::Long(m) = self {
            m.confirmation = m.confirmation.saturating_add(1);
        }
    }
}

/// How long and how often to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// From the last sign of life (sending, or a report of progress) to giving up.
    pub(super) timeout: Duration,
    /// How often a command that may be repeated is sent again.
    pub(super) retries: u32,
    /// A report of progress is not the answer.
    pub(super) wait_in_progress: bool,
}

/// Commands that were sent and not answered yet.
///
/// An acknowledgement names only the command's number. So there is one open command of a number; and while answers to
/// an earlier, different one of that number may still be on their way (nobody answered it in time, or it was sent more
/// than once), nothing that comes counts as the answer. A command that may be repeated is sent at once all the same
/// (disarming does not wait) and again when answers count; any other is held back until then.
#[derive(Debug)]
pub(super) struct Transactions<T> {
    patience: Patience,
    open: Vec<Open<T>>,
    /// Commands to which further answers may come, with the time from which none will.
    late: Vec<(Command, Instant)>,
}

#[derive(Debug)]
struct Open<T> {
    command: Command,
    token: T,
    /// May be sent again.
    repeat: bool,
    /// How often it was sent.
    sent: u32,
    /// From when an acknowledgement is its own.
    acks_from: Instant,
    progress: bool,
    retries_left: u32,
    /// When to send, the first time or again.
    send_at: Option<Instant>,
    due: Instant,
}

impl Default for Patience {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(5), retries: 2, wait_in_progress: true }
    }
}

/// What to do now.
#[derive(Debug, PartialEq)]
pub(super) enum Step<T> {
    Send(Command),
    Done(T, Outcome),
}

impl<T> Transactions<T> {
    pub(super) fn new(patience: Patience) -> Self {
        Self { patience, open: Vec::new(), late: Vec::new() }
    }

    /// Takes a command at `now`; [`Transactions::step`] then says when to send it.
    ///
    /// `repeat` tells that doing it twice is as good as once. **Errors**: one with this number is open.
    pub(super) fn begin(&mut self, command: Command, token: T, repeat: bool, now: Instant) -> Result<(), T> {
        let number = command.number();
        if self.open.iter().any(|open| open.command.number() == number) {
            return Err(token);
        }
        self.late.retain(|(_, until)| *until > now);
        let late =
            self.late.iter().filter(|(other, _)| other.number() == number && !other.asks_the_same(&command));
        let acks_from = late.map(|(_, until)| *until).max().unwrap_or(now);
        let retries_left = if repeat { self.patience.retries } else { 0 };
        let send_at = if retries_left > 0 { now } else { acks_from };
        let due = acks_from + self.patience.timeout;
        self.open.push(Open {
            command,
            token,
            repeat,
            sent: 0,
            acks_from,
            progress: false,
            retries_left,
            send_at: Some(send_at),
            due,
        });
        Ok(())
    }

    /// Takes an acknowledgement for `own`, our system and component id.
    pub(super) fn acknowledged(
        &mut self,
        ack: &CommandAck,
        own: (u8, u8),
        now: Instant,
    ) -> Option<(T, Outcome)> {
        let names_us = |named: u8, ours: u8| named == 0 || named == ours;
        if !names_us(ack.target_system, own.0) || !names_us(ack.target_component, own.1) {
            return None;
        }
        let is_for =
            |open: &Open<T>| open.sent > 0 && open.acks_from <= now && open.command.number() == ack.command;
        let index = self.open.iter().position(is_for)?;
        if ack.result == IN_PROGRESS && self.patience.wait_in_progress {
            if let Some(open) = self.open.get_mut(index) {
                // The vehicle has it and works on it.
                open.progress = true;
                open.send_at = None;
                open.due = now + self.patience.timeout;
            }
            return None;
        }
        let open = self.open.swap_remove(index);
        if open.sent > 1 {
            // Each of them may be answered.
            self.late.push((open.command, now + LATE));
        }
        Some((open.token, Outcome::of(ack.result)))
    }

    /// What is to be done at `now`; ask until there is nothing.
    pub(super) fn step(&mut self, now: Instant) -> Option<Step<T>> {
        if let Some(index) = self.open.iter().position(|open| open.due <= now) {
            let open = self.open.swap_remove(index);
            self.late.push((open.command, now + LATE));
            return Some(Step::Done(open.token, Outcome::TIMED_OUT));
        }
        let open = self.open.iter_mut().find(|open| open.send_at.is_some_and(|at| at <= now))?;
        if open.sent > 0 {
            open.command.again();
            open.retries_left -= 1;
        }
        open.sent += 1;
        let more = open.repeat && !open.progress && open.retries_left > 0;
        let again = if open.acks_from > now { open.acks_from } else { now + RETRY };
        open.send_at = more.then_some(again);
        Some(Step::Send(open.command.clone()))
    }

    /// When [`Transactions::step`] has something next.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.open.iter().flat_map(|open| [Some(open.due), open.send_at]).flatten().min()
    }

    /// Takes all open ones, which will not be answered any more.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.open.drain(..).map(|open| open.token)
    }
}

/// Until a command is sent again.
const RETRY: Duration = Duration::from_millis(1500);
/// How late a further answer may come to a command that was given up, or that was sent more than once.
const LATE: Duration = Duration::from_millis(1500);
/// `MAV_RESULT`.
const ACCEPTED: u8 = 0;
const TEMPORARILY_REJECTED: u8 = 1;
const DENIED: u8 = 2;
const FAILED: u8 = 4;
const IN_PROGRESS: u8 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mavlink::value::zero;

    const OWN: (u8, u8) = (1, 191);
    const PATIENCE: Patience =
        Patience { timeout: Duration::from_secs(5), retries: 2, wait_in_progress: true };
    const TIMED_OUT: Outcome = Outcome { success: false, result: 4 };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn command(number: u16, param1: f32) -> Command {
        Command::Long(CommandLong { command: number, param1, confirmation: 1, ..zero() })
    }

    fn ack(command: u16, result: u8) -> CommandAck {
        CommandAck { command, result, ..zero() }
    }

    type Sent = Vec<(u64, u8)>;
    type Ended = Vec<(u64, char, Outcome)>;

    /// Confirmations sent up to `end`, each with its time, and how it ended.
    fn run(transactions: &mut Transactions<char>, start: Instant, from: u64, end: u64) -> (Sent, Ended) {
        let (mut sent, mut done) = (Vec::new(), Vec::new());
        for at in (from..=end).step_by(100) {
            while let Some(step) = transactions.step(start + ms(at)) {
                match step {
                    Step::Send(Command::Long(m)) => sent.push((at, m.confirmation)),
                    Step::Send(Command::Int(_)) => sent.push((at, 0)),
                    Step::Done(token, outcome) => done.push((at, token, outcome)),
                }
            }
        }
        (sent, done)
    }

    #[test]
    fn silent_vehicle_is_asked_three_times_with_growing_confirmation() {
        let start = Instant::now();
        let mut transactions = Transactions::new(PATIENCE);
        transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
        assert_eq!(transactions.next_due(), Some(start));
        let (sent, done) = run(&mut transactions, start, 0, 10_000);
        assert_eq!(sent, [(0, 1), (1500, 2), (3000, 3)]);
        assert_eq!(done, [(5000, 'a', TIMED_OUT)]);
        assert_eq!(transactions.next_due(), None);
    }

    #[test]
    fn command_that_must_not_be_done_twice_is_sent_once() {
        let start = Instant::now();
        let mut transactions = Transactions::new(PATIENCE);
        transactions.begin(command(183, 1.0), 'a', false, start).unwrap();
        assert_eq!(run(&mut transactions, start, 0, 4900), (vec![(0, 1)], vec![]));
    }

    #[test]
    fn different_commands_run_beside_each_other_and_the_same_one_must_wait() {
        let start = Instant::now();
        let mut transactions = Transactions::new(PATIENCE);
        transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
        transactions.begin(command(22, 1.0), 'b', true, start).unwrap();
        assert_eq!(transactions.begin(command(400, 0.0), 'c', true, start), Err('c'));
        run(&mut transactions, start, 0, 0);
        let accepted = Outcome { success: true, result: 0 };
        assert_eq!(transactions.acknowledged(&ack(22, 0), OWN, start), Some(('b', accepted)));
        assert_eq!(transactions.acknowledged(&ack(22, 0), OWN, start), None);
        assert_eq!(transactions.acknowledged(&ack(400, 0), OWN, start), Some(('a', accepted)));
    }

    #[test]
    fn answers_to_others_are_not_ours() {
        let start = Instant::now();
        let mut transactions = Transactions::new(PATIENCE);
        transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
        assert_eq!(transactions.acknowledged(&ack(400, 0), OWN, start), None, "nothing was sent yet");
        run(&mut transactions, start, 0, 0);
        for (target_system, target_component, ours) in [(255, 190, false), (1, 190, false), (1, 191, true)] {
            let ack = CommandAck { target_system, target_component, ..ack(400, 0) };
            assert_eq!(transactions.acknowledged(&ack, OWN, start).is_some(), ours);
        }
    }

    #[test]
    fn progress_extends_the_wait_and_ends_repetition() {
        let start = Instant::now();
        let mut transactions = Transactions::new(PATIENCE);
        transactions.begin(command(22, 1.0), 'a', true, start).unwrap();
        run(&mut transactions, start, 0, 0);
        assert_eq!(transactions.acknowledged(&ack(22, IN_PROGRESS), OWN, start + ms(1000)), None);
        assert_eq!(run(&mut transactions, start, 1100, 5900), (vec![], vec![]));
        assert_eq!(run(&mut transactions, start, 6000, 6000), (vec![], vec![(6000, 'a', TIMED_OUT)]));

        let final_progress = Patience { wait_in_progress: false, ..PATIENCE };
        let mut transactions = Transactions::new(final_progress);
        transactions.begin(command(22, 1.0), 'b', true, start).unwrap();
        run(&mut transactions, start, 0, 0);
        let outcome = Outcome { success: false, result: 5 };
        assert_eq!(transactions.acknowledged(&ack(22, IN_PROGRESS), OWN, start), Some(('b', outcome)));
    }

    #[test]
    fn late_answer_does_not_complete_a_different_call() {
        let start = Instant::now();
        let mut transactions = Transactions::new(PATIENCE);
        transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
        run(&mut transactions, start, 0, 5000);
        // Disarming, right after arming was given up, goes out at once; but the answer to arming, still on its way,
        // must not stand for it. The one to its repetition does.
        transactions.begin(command(400, 0.0), 'b', true, start + ms(5100)).unwrap();
        assert_eq!(run(&mut transactions, start, 5100, 6400), (vec![(5100, 1)], vec![]));
        assert_eq!(transactions.acknowledged(&ack(400, 0), OWN, start + ms(6400)), None);
        assert_eq!(run(&mut transactions, start, 6500, 6500).0, [(6500, 2)]);
        assert!(transactions.acknowledged(&ack(400, 0), OWN, start + ms(6600)).is_some());
        // The same again may be answered by either.
        transactions.begin(command(21, 1.0), 'c', true, start + ms(7000)).unwrap();
        run(&mut transactions, start, 7000, 12_000);
        transactions.begin(command(21, 1.0), 'd', true, start + ms(12_100)).unwrap();
        assert_eq!(run(&mut transactions, start, 12_100, 12_100).0, [(12_100, 1)]);
    }

    #[test]
    fn what_must_not_be_done_twice_waits_until_late_answers_are_over() {
        let start = Instant::now();
        let mut transactions = Transactions::new(PATIENCE);
        transactions.begin(command(183, 1.0), 'a', false, start).unwrap();
        run(&mut transactions, start, 0, 5000);
        transactions.begin(command(183, 2.0), 'b', false, start + ms(5100)).unwrap();
        assert_eq!(run(&mut transactions, start, 5100, 6400), (vec![], vec![]));
        assert_eq!(transactions.acknowledged(&ack(183, 0), OWN, start + ms(6400)), None);
        assert_eq!(run(&mut transactions, start, 6500, 6500).0, [(6500, 1)]);
        assert!(transactions.acknowledged(&ack(183, 0), OWN, start + ms(6600)).is_some());
    }

    #[test]
    fn second_answer_to_a_repeated_command_does_not_complete_the_next() {
        let start = Instant::now();
        let mut transactions = Transactions::new(PATIENCE);
        transactions.begin(command(400, 1.0), 'a', true, start).unwrap();
        assert_eq!(run(&mut transactions, start, 0, 1500).0.len(), 2);
        assert!(transactions.acknowledged(&ack(400, 0), OWN, start + ms(1600)).is_some());
        transactions.begin(command(400, 0.0), 'b', true, start + ms(1700)).unwrap();
        assert_eq!(run(&mut transactions, start, 1700, 1700).0, [(1700, 1)]);
        assert_eq!(transactions.acknowledged(&ack(400, 0), OWN, start + ms(1800)), None, "that of arming");
        assert_eq!(run(&mut transactions, start, 1800, 3200).0, [(3100, 2)]);
        let denied = Outcome { success: false, result: 2 };
        assert_eq!(transactions.acknowledged(&ack(400, 2), OWN, start + ms(3300)), Some(('b', denied)));
    }
}
