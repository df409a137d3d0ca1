//! Saying that our writers are alive, and hearing that of others.
//!
//! A writer with automatic liveliness is alive as long as anything comes from its participant, one with manual
//! liveliness as long as its application does something: any of its writers (by participant) or this one (by topic) is
//! written to or asserted.

use std::time::{Duration, Instant};

use super::arrival::Arrival;
use super::outbox::Outbox;
use super::{Core, at_latest};
use crate::discovery::ParticipantMessage;
use crate::error::WriteError;
use crate::graph::Liveliness;
use crate::stats::add;
use crate::wire::{Entity, LIVELINESS_WRITER, Prefix};

/// What is asserted for the participant as a whole.
#[derive(Debug)]
pub(super) struct Assertions {
    /// When the application did something last.
    pub(super) manual: Instant,
    /// A writer of ours is not alive.
    pub(super) lapsed: bool,
    /// When others were told of the application last, and when to tell them next.
    told: Option<Instant>,
    manual_due: Option<Instant>,
    /// When to say next that the participant is alive.
    automatic_due: Option<Instant>,
}

/// Messages per lease, so that losing one does no harm.
const PER_LEASE: u32 = 3;
/// Shortest time between two messages, whatever the lease.
const MIN_PERIOD: Duration = Duration::from_millis(5);

impl Assertions {
    pub(super) fn new(now: Instant) -> Self {
        Self { manual: now, lapsed: false, told: None, manual_due: None, automatic_due: None }
    }

    /// When [`Core::say_alive`] is to be called.
    pub(super) fn due(&self) -> Option<Instant> {
        [self.manual_due, self.automatic_due].into_iter().flatten().min()
    }
}

impl Core {
    /// Asserts the writers of ours whose liveliness is manual by participant.
    pub(crate) fn assert_participant(&mut self, now: Instant, out: &mut Outbox) {
        let Some(lease) = self.shortest_lease(Liveliness::ManualByParticipant) else { return };
        self.assertions.manual = now;
        self.look_at_lapsed(now);
        self.heard_manual(self.prefix(), now);
        // A fast writer asserts with each sample; a few messages per lease tell as much.
        let next = self.assertions.told.map_or(now, |told| told + message_period(lease));
        if next > now {
            at_latest(&mut self.assertions.manual_due, next);
        } else {
            self.tell_manual(now, out);
        }
    }

    /// Asserts one writer of ours.
    ///
    /// **Errors**: no such writer.
    pub(crate) fn assert_writer(
        &mut self,
        entity: Entity,
        now: Instant,
        out: &mut Outbox,
    ) -> Result<(), WriteError> {
        let me = self.prefix();
        let writer = self.writers.get_mut(&entity).ok_or(WriteError::Closed)?;
        match writer.spec.qos.liveliness {
            Liveliness::Automatic => {}
            Liveliness::ManualByParticipant => self.assert_participant(now, out),
            Liveliness::ManualByTopic => {
                writer.asserted = Some(now);
                writer.send_alive(me, out);
                self.look_at_lapsed(now);
            }
        }
        Ok(())
    }

    /// Starts what a new writer promises.
    pub(super) fn promise(&mut self, entity: Entity, now: Instant) {
        let Some(writer) = self.writers.get_mut(&entity) else { return };
        let Some(lease) = writer.spec.qos.liveliness_lease else { return };
        writer.asserted = Some(now);
        if writer.spec.qos.liveliness == Liveliness::Automatic {
            at_latest(&mut self.assertions.automatic_due, now);
        } else {
            at_latest(&mut self.timers.watch, now + lease);
        }
    }

    /// Says what is due about our writers.
    pub(super) fn say_alive(&mut self, now: Instant, out: &mut Outbox) {
        if self.assertions.manual_due.is_some_and(|at| now >= at) {
            self.tell_manual(now, out);
        }
        if self.assertions.automatic_due.is_some_and(|at| now >= at) {
            let lease = self.shortest_lease(Liveliness::Automatic);
            self.assertions.automatic_due = lease.map(|lease| now + message_period(lease));
            if lease.is_some() {
                self.tell(Liveliness::Automatic, now, out);
            }
        }
    }

    fn tell_manual(&mut self, now: Instant, out: &mut Outbox) {
        self.assertions.manual_due = None;
        self.assertions.told = Some(now);
        self.tell(Liveliness::ManualByParticipant, now, out);
    }

    fn tell(&mut self, kind: Liveliness, now: Instant, out: &mut Outbox) {
        let payload = ParticipantMessage { prefix: self.prefix(), kind }.payload();
        self.write_builtin(LIVELINESS_WRITER, &payload, None, now, out);
    }

    /// The shortest finite lease among our writers of a kind.
    fn shortest_lease(&self, kind: Liveliness) -> Option<Duration> {
        let qos = self.writers.values().map(|w| &w.spec.qos);
        qos.filter(|q| q.liveliness == kind).filter_map(|q| q.liveliness_lease).min()
    }

    /// Takes what a participant says about its writers.
    pub(super) fn on_assertion(&mut self, prefix: Prefix, arrival: &Arrival, now: Instant) {
        let Arrival::Sample(sample) = arrival else { return };
        match ParticipantMessage::parse(&sample.payload) {
            Ok(None) => {}
            Ok(Some(message)) if message.prefix == prefix => {
                // That its automatic writers are alive was clear from the datagram itself.
                if message.kind == Liveliness::ManualByParticipant {
                    self.heard_manual(prefix, now);
                }
            }
            _ => add(&self.counters.malformed, 1),
        }
    }

    /// The application of a participant did something.
    fn heard_manual(&mut self, prefix: Prefix, now: Instant) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        peer.asserted = now;
        if peer.lapsed_manual {
            at_latest(&mut self.timers.watch, now);
        }
    }
}

fn message_period(lease: Duration) -> Duration {
    (lease / PER_LEASE).max(MIN_PERIOD)
}
