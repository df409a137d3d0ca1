//! Why a vehicle refused a mode: MAVROS users wonder about `mode_sent: true` without effect. Time is an argument.

use std::time::{Duration, Instant};

use crate::mavlink::{
    dialect::{CommandAck, Statustext},
    value::set_text,
};

/// Listens to what the vehicle says after a mode was asked for.
#[derive(Debug, Default)]
pub(super) struct Watch {
    asked: Option<Asked>,
    /// Until when a text belongs to a mode that was refused without one.
    refused_until: Option<Instant>,
}

#[derive(Debug)]
struct Asked {
    mode: String,
    until: Instant,
    /// The last warning since, which is likely to be the reason.
    text: String,
}

/// A mode that the vehicle did not take.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    mode: String,
    /// `MAV_RESULT`.
    result: u8,
    /// What the vehicle said before; may be empty.
    reason: String,
}

impl Watch {
    /// Notes that a mode was asked for.
    pub(super) fn asked(&mut self, mode: &str, now: Instant) {
        self.refused_until = None;
        self.asked = Some(Asked { mode: mode.to_owned(), until: now + PATIENCE, text: String::new() });
    }

    /// Takes an acknowledgement for `own`, our system and component id; what it says about the mode, if it is a refusal.
    pub(super) fn acknowledged(&mut self, ack: &CommandAck, own: (u8, u8), now: Instant) -> Option<Refusal> {
        let names_us = |named: u8, ours: u8| named == 0 || named == ours;
        let for_us = names_us(ack.target_system, own.0) && names_us(ack.target_component, own.1);
        if ack.command != DO_SET_MODE || !for_us || ack.result == IN_PROGRESS {
            return None;
        }
        let Asked { mode, text: reason, .. } = self.asked.take().filter(|asked| now < asked.until)?;
        if ack.result == ACCEPTED {
            return None;
        }
        self.refused_until = reason.is_empty().then_some(now + AFTERWARDS);
        Some(Refusal { mode, result: ack.result, reason })
    }

    /// Takes a text; what it says about a mode that was refused already.
    pub(super) fn text(&mut self, message: &Statustext, now: Instant) -> Option<String> {
        if message.severity > WARNING || message.chunk_seq != 0 {
            return None;
        }
        if let Some(asked) = self.asked.as_mut().filter(|asked| now < asked.until) {
            set_text(&mut asked.text, &message.text);
            return None;
        }
        self.refused_until.take().filter(|until| now < *until)?;
        let mut reason = String::new();
        set_text(&mut reason, &message.text);
        Some(reason)
    }
}

impl Refusal {
    pub(super) fn log(&self, rule: &str) {
        let Self { mode, result, reason } = self;
        let meaning = result_name(*result);
        if reason.is_empty() {
            tracing::warn!(%rule, %mode, result, meaning, "the vehicle refused the mode");
        } else {
            tracing::warn!(%rule, %mode, result, meaning, %reason, "the vehicle refused the mode");
        }
    }
}

/// `MAV_RESULT` in words.
fn result_name(result: u8) -> &'static str {
    match result {
        1 => "temporarily rejected",
        2 => "denied",
        3 => "unsupported",
        4 => "failed",
        6 => "cancelled",
        _ => "refused",
    }
}

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long after a refusal the vehicle may say why.
const AFTERWARDS: Duration = Duration::from_secs(2);
/// `MAV_CMD_DO_SET_MODE`: what vehicles acknowledge SET_MODE as.
const DO_SET_MODE: u16 = 176;
/// `MAV_RESULT`.
const ACCEPTED: u8 = 0;
const IN_PROGRESS: u8 = 5;
/// `MAV_SEVERITY`; higher ones are less severe.
const WARNING: u8 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mavlink::value::{chars, zero};

    const OWN: (u8, u8) = (1, 191);

    fn ack(command: u16, result: u8) -> CommandAck {
        CommandAck { command, result, ..zero() }
    }

    fn warning(text: &str) -> Statustext {
        Statustext { severity: 4, text: chars(text), ..zero() }
    }

    fn asked(now: Instant) -> Watch {
        let mut watch = Watch::default();
        watch.asked("OFFBOARD", now);
        watch
    }

    #[test]
    fn text_before_a_refusal_is_its_reason() {
        let now = Instant::now();
        let mut watch = asked(now);
        assert_eq!(watch.text(&warning("no offboard signal"), now), None);
        assert_eq!(watch.text(&Statustext { severity: 6, ..warning("flying") }, now), None);
        let refusal = watch.acknowledged(&ack(176, 1), OWN, now).unwrap();
        let want = Refusal { mode: "OFFBOARD".into(), result: 1, reason: "no offboard signal".into() };
        assert_eq!(refusal, want);
        assert_eq!(watch.text(&warning("another"), now), None);
    }

    #[test]
    fn text_after_a_refusal_is_its_reason_once_and_not_for_long() {
        let now = Instant::now();
        for (later, reason) in [(1, Some("no position".to_owned())), (3, None)] {
            let mut watch = asked(now);
            assert!(watch.acknowledged(&ack(176, 2), OWN, now).is_some());
            let later = now + Duration::from_secs(later);
            assert_eq!(watch.text(&warning("no position"), later), reason);
            assert_eq!(watch.text(&warning("no position"), later), None);
        }
    }

    #[test]
    fn acknowledgements_of_others_and_success_are_no_refusals() {
        let now = Instant::now();
        let others = CommandAck { target_system: 255, target_component: 190, ..ack(176, 1) };
        let mut watch = asked(now);
        for ack in [ack(400, 2), others, ack(176, 5), ack(176, 0), ack(176, 2)] {
            assert_eq!(watch.acknowledged(&ack, OWN, now), None, "{ack:?}");
        }
        let mut watch = asked(now);
        assert_eq!(watch.acknowledged(&ack(176, 2), OWN, now + PATIENCE), None, "too late");
    }
}
