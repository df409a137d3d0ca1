//! Deadlines, and the leases of our writers and of others.
//!
//! One timer serves all of them. It is set to the earliest and moved lazily: a sample only notes when it came, and what
//! is not due when the timer fires is looked at again later.

use std::time::{Duration, Instant};

use super::outbox::Outbox;
use super::{Core, at_latest};
use crate::event::Event;
use crate::graph::Liveliness;
use crate::guid::Guid;
use crate::wire::Entity;

/// A deadline; it runs from the first sample on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deadline {
    /// When the next sample has to be there.
    at: Option<Instant>,
    /// Periods that a sample ended too late, before anybody looked.
    untold: u64,
}

/// A remote writer's promise to be alive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(super) kind: Liveliness,
    pub(super) period: Duration,
    /// When the writer itself was last heard to be alive.
    pub(super) heard: Instant,
    /// What readers have been told.
    pub(super) alive: bool,
}

/// Nothing is looked at more often than this, however short its period.
const MIN_PERIOD: Duration = Duration::from_millis(1);

/// A timer that fires so late shows that this process was stopped; a busy host may hold it up for less.
const STOPPED: Duration = Duration::from_millis(100);

/// A remote writer that promises more than this would be lost and regained with every datagram.
const MIN_LEASE: Duration = Duration::from_millis(10);

impl Deadline {
    /// Notes a sample; returns when to look next.
    pub(super) fn met(&mut self, period: Duration, now: Instant) -> Instant {
        self.untold = self.missed(Some(period), now);
        let next = *self.at.insert(now + period);
        if self.untold > 0 { now } else { next }
    }

    /// Waits for a first sample again.
    pub(super) fn stop(&mut self) {
        *self = Self::default();
    }

    /// How many periods ended without a sample since the last call.
    fn missed(&mut self, period: Option<Duration>, now: Instant) -> u64 {
        let untold = std::mem::take(&mut self.untold);
        let (Some(at), Some(period)) = (self.at, period) else { return untold };
        let Some(late) = now.checked_duration_since(at) else { return untold };
        // The period may be shorter than the time between two looks.
        let (late, period) = (late.as_nanos(), period.as_nanos().max(1));
        let next = u64::try_from(period - late % period).unwrap_or(u64::MAX);
        self.at = now.checked_add(Duration::from_nanos(next));
        u64::try_from(late / period).unwrap_or(u64::MAX).saturating_add(1).saturating_add(untold)
    }
}

impl Core {
    /// Time in which this process was stopped is not held against others: what they said meanwhile may wait in the
    /// sockets still. To be called before datagrams or timers are looked at.
    ///
    /// What our own writers have promised was not kept, whatever the reason.
    pub(super) fn notice_stop(&mut self, now: Instant) {
        let away = now.saturating_duration_since(self.ran);
        // The first spares nearly every datagram the second.
        let stopped = away > STOPPED && now.saturating_duration_since(self.poll_timeout()) > STOPPED;
        self.ran = self.ran.max(now);
        if !stopped {
            return;
        }
        let later = |at: Instant| (at + away).min(now);
        for peer in self.peers.values_mut() {
            peer.expires += away;
            (peer.heard, peer.asserted) = (later(peer.heard), later(peer.asserted));
            let leases = peer.writers.values_mut().filter_map(|w| w.lease.as_mut());
            leases.for_each(|lease| lease.heard = later(lease.heard));
        }
        for at in self.readers.values_mut().filter_map(|r| r.deadline.at.as_mut()) {
            *at += away;
        }
    }

    /// Looks at everything that may be due.
    pub(super) fn watch(&mut self, now: Instant) {
        self.timers.watch = None;
        self.watch_writers(now);
        self.watch_readers(now);
        self.watch_remote(now);
    }

    fn look_again(timer: &mut Option<Instant>, at: Instant, now: Instant) {
        at_latest(timer, at.max(now + MIN_PERIOD));
    }

    /// Offered deadlines and the liveliness of our writers.
    fn watch_writers(&mut self, now: Instant) {
        let (me, manual) = (self.prefix(), self.assertions.manual);
        self.assertions.lapsed = false;
        for (entity, writer) in &mut self.writers {
            let (guid, qos) = (Guid { prefix: me, entity: *entity }, writer.spec.qos);
            let count = writer.deadline.missed(qos.deadline, now);
            if count > 0 {
                self.events.push(Event::DeadlineMissed { endpoint: guid, count });
            }
            if let Some(at) = writer.deadline.at {
                Self::look_again(&mut self.timers.watch, at, now);
            }
            let Some(lease) = qos.liveliness_lease else { continue };
            let asserted = match qos.liveliness {
                Liveliness::Automatic => continue,
                Liveliness::ManualByParticipant => writer.asserted.max(Some(manual)),
                Liveliness::ManualByTopic => writer.asserted,
            };
            let until = asserted.map_or(now, |at| at + lease);
            if writer.alive && until <= now {
                self.events.push(Event::LivelinessLost { writer: guid });
            }
            writer.alive = until > now;
            if writer.alive {
                Self::look_again(&mut self.timers.watch, until, now);
            }
            self.assertions.lapsed |= !writer.alive;
        }
    }

    /// Requested deadlines. All writers of a topic together meet them, since it has one instance.
    fn watch_readers(&mut self, now: Instant) {
        let me = self.prefix();
        for (entity, reader) in &mut self.readers {
            let count = reader.deadline.missed(reader.spec.qos.deadline, now);
            if count > 0 {
                // An owner that misses the deadline makes room for a weaker writer that does not.
                reader.owner = None;
                let endpoint = Guid { prefix: me, entity: *entity };
                self.events.push(Event::DeadlineMissed { endpoint, count });
            }
            if let Some(at) = reader.deadline.at {
                Self::look_again(&mut self.timers.watch, at, now);
            }
        }
    }

    /// Liveliness of remote writers.
    fn watch_remote(&mut self, now: Instant) {
        let me = self.prefix();
        for guid in &self.leased {
            if let Some(peer) = self.peers.get_mut(&guid.prefix) {
                (peer.lapsed, peer.lapsed_manual) = (false, false);
            }
        }
        self.leased.retain(|guid| {
            let Some(peer) = self.peers.get_mut(&guid.prefix) else { return false };
            let Some(remote) = peer.writers.get_mut(&guid.entity) else { return false };
            let Some(lease) = remote.lease.as_mut().filter(|_| !remote.proxies.is_empty()) else {
                return false;
            };
            let heard = match lease.kind {
                Liveliness::Automatic => lease.heard.max(peer.heard),
                Liveliness::ManualByParticipant => lease.heard.max(peer.asserted),
                Liveliness::ManualByTopic => lease.heard,
            };
            let until = heard + lease.period;
            let alive = until > now;
            match lease.kind {
                Liveliness::Automatic => peer.lapsed |= !alive,
                Liveliness::ManualByParticipant => peer.lapsed_manual |= !alive,
                Liveliness::ManualByTopic => {}
            }
            if alive {
                Self::look_again(&mut self.timers.watch, until, now);
            }
            if lease.alive == alive {
                return true;
            }
            lease.alive = alive;
            for proxy in &remote.proxies {
                let reader = Guid { prefix: me, entity: proxy.reader };
                self.events.push(Event::LivelinessChanged { reader, writer: *guid, alive });
                if let Some(local) = self.readers.get_mut(&proxy.reader).filter(|_| !alive) {
                    local.disown(*guid);
                }
            }
            true
        });
    }

    /// Notes that the application wrote to a writer that has promised something.
    pub(super) fn keep_promise(&mut self, entity: Entity, now: Instant, out: &mut Outbox) {
        let Some(writer) = self.writers.get_mut(&entity) else { return };
        if let Some(period) = writer.spec.qos.deadline {
            at_latest(&mut self.timers.watch, writer.deadline.met(period, now));
        }
        match writer.spec.qos.liveliness {
            Liveliness::Automatic => {}
            Liveliness::ManualByParticipant => self.assert_participant(now, out),
            Liveliness::ManualByTopic => {
                writer.asserted = Some(now);
                self.look_at_lapsed(now);
            }
        }
    }

    /// A writer that was not alive may be now.
    pub(super) fn look_at_lapsed(&mut self, now: Instant) {
        if self.assertions.lapsed {
            at_latest(&mut self.timers.watch, now);
        }
    }
}

impl Lease {
    pub(super) fn new(kind: Liveliness, period: Duration, now: Instant) -> Self {
        Self { kind, period: period.max(MIN_LEASE), heard: now, alive: true }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn periods_without_a_sample_are_counted_once() {
        let now = Instant::now();
        let ms = |n| now + Duration::from_millis(n);
        let period = Some(Duration::from_millis(10));
        let mut deadline = Deadline::default();
        assert_eq!(deadline.missed(period, ms(100)), 0, "runs before the first sample");
        deadline.met(Duration::from_millis(10), ms(100));
        let counts: Vec<_> = [109, 110, 111, 119, 120, 155, 160]
            .into_iter()
            .map(|at| deadline.missed(period, ms(at)))
            .collect();
        assert_eq!(counts, [0, 1, 0, 0, 1, 3, 1]);
        deadline.stop();
        assert_eq!(deadline.missed(period, ms(500)), 0);
    }

    proptest! {
        #[test]
        fn misses_do_not_depend_on_when_one_looks(
            period in 1..50u64,
            samples in prop::collection::vec(0..1000u64, 1..20),
            looks in prop::collection::vec(0..1000u64, 0..20),
        ) {
            let start = Instant::now();
            let at = |ms| start + Duration::from_millis(ms);
            let duration = Duration::from_millis(period);
            let mut moments: Vec<(u64, bool)> = samples.iter().map(|ms| (*ms, true)).collect();
            moments.extend(looks.iter().map(|ms| (*ms, false)));
            moments.push((1000, false));
            moments.sort_unstable();
            let (mut deadline, mut missed) = (Deadline::default(), 0);
            for (ms, is_sample) in moments {
                if is_sample {
                    deadline.met(duration, at(ms));
                } else {
                    missed += deadline.missed(Some(duration), at(ms));
                }
            }
            let mut ends = samples;
            ends.push(1000);
            ends.sort_unstable();
            let expected: u64 = ends.windows(2).map(|gap| (gap[1] - gap[0]) / period).sum();
            prop_assert_eq!(missed, expected);
        }
    }
}
