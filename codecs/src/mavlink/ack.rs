//! Commands that wait for their COMMAND_ACK. Pure: time is an argument, frames are written elsewhere.

use std::time::{Duration, Instant};

use super::dialect::CommandAck;

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

/// Commands that were sent and not answered yet. At most one of a number: an answer names only that.
#[derive(Debug)]
pub(super) struct Acks<T> {
    open: Vec<Open<T>>,
    timeout: Duration,
}

#[derive(Debug)]
struct Open<T> {
    command: u16,
    due: Instant,
    token: T,
}

impl<T> Acks<T> {
    /// None yet; each has `timeout` for its answer.
    pub(super) fn new(timeout: Duration) -> Self {
        Self { open: Vec::new(), timeout }
    }

    /// Notes that a command is sent at `now`.
    ///
    /// **Errors**: one with this number is open; it must not be sent then, see [`Outcome::BUSY`].
    pub(super) fn begin(&mut self, command: u16, token: T, now: Instant) -> Result<(), T> {
        if self.open.iter().any(|open| open.command == command) {
            return Err(token);
        }
        self.open.push(Open { command, due: now + self.timeout, token });
        Ok(())
    }

    /// Takes an answer to a command of `own`, our system and component id. An answer that says "in progress" is not
    /// the last: time starts anew.
    pub(super) fn answered(&mut self, ack: &CommandAck, own: (u8, u8), now: Instant) -> Option<(T, Outcome)> {
        let names_us = |named: u8, ours: u8| named == 0 || named == ours;
        if !names_us(ack.target_system, own.0) || !names_us(ack.target_component, own.1) {
            return None;
        }
        let index = self.open.iter().position(|open| open.command == ack.command)?;
        if ack.result == IN_PROGRESS {
            if let Some(open) = self.open.get_mut(index) {
                open.due = now + self.timeout;
            }
            return None;
        }
        let open = self.open.swap_remove(index);
        Some((open.token, Outcome::of(ack.result)))
    }

    /// Takes a command whose time is over at `now`.
    pub(super) fn expired(&mut self, now: Instant) -> Option<(T, Outcome)> {
        let index = self.open.iter().position(|open| open.due <= now)?;
        Some((self.open.swap_remove(index).token, Outcome::TIMED_OUT))
    }

    /// When [`Acks::expired`] has something next.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.open.iter().map(|open| open.due).min()
    }

    /// Takes all open ones, which will not be answered any more.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (T, Outcome)> {
        self.open.drain(..).map(|open| (open.token, Outcome::TIMED_OUT))
    }
}

/// How long MAVROS waits (`command_ack_timeout`).
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
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

    fn ack(command: u16, result: u8) -> CommandAck {
        CommandAck { command, result, ..zero() }
    }

    #[test]
    fn answers_reach_the_command_they_name() {
        let start = Instant::now();
        let mut acks = Acks::new(TIMEOUT);
        acks.begin(400, 'a', start).unwrap();
        acks.begin(22, 'b', start).unwrap();
        assert_eq!(acks.answered(&ack(21, 0), OWN, start), None);
        assert_eq!(
            acks.answered(&ack(22, 2), OWN, start),
            Some(('b', Outcome { success: false, result: 2 }))
        );
        assert_eq!(
            acks.answered(&ack(400, 0), OWN, start),
            Some(('a', Outcome { success: true, result: 0 }))
        );
        assert_eq!(acks.answered(&ack(400, 0), OWN, start), None);
    }

    #[test]
    fn answers_to_others_are_not_ours() {
        let start = Instant::now();
        let mut acks = Acks::new(TIMEOUT);
        acks.begin(400, 'a', start).unwrap();
        for (target_system, target_component, ours) in [(255, 190, false), (1, 190, false), (1, 191, true)] {
            let ack = CommandAck { target_system, target_component, ..ack(400, 0) };
            assert_eq!(acks.answered(&ack, OWN, start).is_some(), ours);
        }
    }

    #[test]
    fn second_of_a_number_waits_for_the_first() {
        let start = Instant::now();
        let mut acks = Acks::new(TIMEOUT);
        acks.begin(400, 'a', start).unwrap();
        assert_eq!(acks.begin(400, 'b', start), Err('b'));
        assert!(acks.answered(&ack(400, 0), OWN, start).is_some());
        assert_eq!(acks.begin(400, 'c', start), Ok(()));
    }

    #[test]
    fn silence_fails_after_the_timeout_and_progress_extends_it() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut acks = Acks::new(TIMEOUT);
        acks.begin(400, 'a', start).unwrap();
        assert_eq!(acks.next_due(), Some(start + TIMEOUT));
        assert_eq!(acks.answered(&ack(400, IN_PROGRESS), OWN, start + 4 * second), None);
        assert_eq!(acks.expired(start + 8 * second), None);
        assert_eq!(acks.expired(start + 9 * second), Some(('a', Outcome { success: false, result: 4 })));
        assert_eq!(acks.next_due(), None);
        acks.begin(400, 'b', start).unwrap();
        assert_eq!(acks.drain().collect::<Vec<_>>(), [('b', Outcome::TIMED_OUT)]);
    }
}
