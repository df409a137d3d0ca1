//! Commands and their acknowledgements. Pure: time is an argument, frames are written elsewhere.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    dialect::{CommandAck, CommandInt, CommandLong},
    underway::{Others, Owner, Underway},
};

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
/// (disarming does not wait) and again when answers count; any other is held back until then. The same while another
/// codec of the vehicle waits for an answer to that number; there the answer ends the wait.
#[derive(Debug)]
pub(super) struct Transactions<T> {
    patience: Patience,
    open: Vec<Open<T>>,
    /// Commands to which further answers may come, with the time from which none will.
    late: Vec<(Command, Instant)>,
    underway: Arc<Underway>,
    owner: Owner,
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
    /// The same, as far as earlier ones of ours go.
    own_acks_from: Instant,
    /// Answers that others wait for; these come first.
    others: u32,
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
    /// None yet; `underway` is that of the vehicle.
    pub(super) fn new(patience: Patience, underway: &Arc<Underway>) -> Self {
        let owner = underway.owner();
        Self { patience, open: Vec::new(), late: Vec::new(), underway: Arc::clone(underway), owner }
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
        let own_acks_from = late.map(|(_, until)| *until).max().unwrap_or(now);
        let others = self.underway.others(self.owner, number, now);
        let Others { count: others, until } = others.unwrap_or(Others { count: 0, until: now });
        let acks_from = own_acks_from.max(until);
        let retries_left = if repeat { self.patience.retries } else { 0 };
        let send_at = if retries_left > 0 { now } else { acks_from };
        let due = acks_from + self.patience.timeout;
        self.underway.enter(self.owner, number, due);
        self.open.push(Open {
            command,
            token,
            repeat,
            sent: 0,
            acks_from,
            own_acks_from,
            others,
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
        if self.is_for_others(ack, now) {
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
                self.underway.enter(self.owner, ack.command, open.due);
            }
            return None;
        }
        let open = self.open.swap_remove(index);
        if open.sent > 1 {
            // Each of them may be answered.
            self.expect_late(open.command, now);
        } else {
            self.underway.leave(self.owner, ack.command, now);
        }
        Some((open.token, Outcome::of(ack.result)))
    }

    /// Whether it answers a command that another codec sent before ours; the last such answer makes way for ours.
    fn is_for_others(&mut self, ack: &CommandAck, now: Instant) -> bool {
        let waits = |open: &&mut Open<T>| {
            open.command.number() == ack.command && open.others > 0 && open.acks_from > now
        };
        let Some(open) = self.open.iter_mut().find(waits) else { return false };
        if ack.result != IN_PROGRESS {
            open.others -= 1;
        }
        if open.others == 0 {
            open.acks_from = open.own_acks_from.max(now);
            if open.sent == 0 {
                open.send_at = Some(open.acks_from);
            }
        }
        true
    }

    /// Further answers to it may come.
    fn expect_late(&mut self, command: Command, now: Instant) {
        self.underway.enter(self.owner, command.number(), now + LATE);
        self.late.push((command, now + LATE));
    }

    /// What is to be done at `now`; ask until there is nothing.
    pub(super) fn step(&mut self, now: Instant) -> Option<Step<T>> {
        if let Some(index) = self.open.iter().position(|open| open.due <= now) {
            let open = self.open.swap_remove(index);
            self.expect_late(open.command, now);
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
mod tests;
