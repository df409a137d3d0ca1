//! Readers answering heartbeats and asking again.

use std::time::Instant;

use super::outbox::Outbox;
use super::reader::WriterProxy;
use super::{Core, at_latest};
use crate::wire::{AckNack, Entity, NackFrag, Prefix, SequenceSet};

/// Sets of 256 fragments asked for at one time.
const FRAGMENT_SETS: usize = 8;

impl Core {
    /// Sends the answers that the datagrams since the last call made due, one per writer and reader.
    pub(crate) fn flush(&mut self, now: Instant, out: &mut Outbox) {
        // Taken out and put back, so that the list keeps its memory.
        let mut due = std::mem::take(&mut self.answers);
        for (prefix, entity) in due.drain(..) {
            self.answer(prefix, entity, now, out);
        }
        self.answers = due;
    }

    /// Notes that a remote writer has to be answered.
    pub(super) fn answer_later(answers: &mut Vec<(Prefix, Entity)>, prefix: Prefix, entity: Entity) {
        if !answers.contains(&(prefix, entity)) {
            answers.push((prefix, entity));
        }
    }

    fn answer(&mut self, prefix: Prefix, entity: Entity, now: Instant, out: &mut Outbox) {
        let (me, max_partials) = (self.prefix(), self.config.limits.partial_samples);
        let Some(remote) = self.peers.get_mut(&prefix).and_then(|p| p.writers.get_mut(&entity)) else {
            return;
        };
        let mut retry = None;
        for proxy in &mut remote.proxies {
            let Some(asked) = proxy.answer.take() else { continue };
            let mut count = || {
                self.acks = self.acks.wrapping_add(1);
                self.acks
            };
            let reader = proxy.reader;
            if proxy.take_invitation(now) {
                let missing = SequenceSet::new(invitation_base(prefix));
                let ack = AckNack { reader, writer: entity, missing, count: count(), is_final: false };
                out.message(remote.to, me, |e| {
                    e.info_dst(prefix);
                    e.acknack(&ack);
                });
            }
            let request = proxy.request(&remote.partials, max_partials, now);
            if let Some(at) = proxy.retry_at() {
                at_latest(&mut retry, at);
            }
            let (missing, partly) = match request {
                Some(request) => request,
                None if asked => (SequenceSet::new(proxy.expected()), Vec::new()),
                None => continue,
            };
            let is_final = missing.is_empty();
            let ack = AckNack { reader, writer: entity, missing, count: count(), is_final };
            let mut nacks = Vec::new();
            for seq in partly {
                remote.partials.mark_asked(seq);
                let room = FRAGMENT_SETS.saturating_sub(nacks.len());
                let sets = remote.partials.get(seq).map(|p| p.missing(u32::MAX, room));
                let nack = |missing| NackFrag { reader, writer: entity, seq, missing, count: count() };
                nacks.extend(sets.into_iter().flatten().map(nack));
            }
            if is_final && nacks.is_empty() && !asked {
                continue;
            }
            out.message(remote.to, me, |e| {
                e.info_dst(prefix);
                e.acknack(&ack);
                nacks.iter().for_each(|nack| e.nack_frag(nack));
            });
        }
        if let Some(at) = retry {
            at_latest(&mut self.timers.retry, at);
            Self::answer_later(&mut self.retries, prefix, entity);
        }
    }

    /// Makes answers due for writers that have not sent what they were asked for.
    pub(super) fn retry(&mut self, now: Instant) {
        self.timers.retry = None;
        for (prefix, entity) in std::mem::take(&mut self.retries) {
            let Some(remote) = self.peers.get_mut(&prefix).and_then(|p| p.writers.get_mut(&entity)) else {
                continue;
            };
            for proxy in remote.proxies.iter_mut().filter(|p| p.is_due(now)) {
                proxy.answer.get_or_insert(false);
                Self::answer_later(&mut self.answers, prefix, entity);
            }
            let later = remote.proxies.iter().filter_map(WriterProxy::retry_at).filter(|at| *at > now).min();
            if let Some(at) = later {
                at_latest(&mut self.timers.retry, at);
                Self::answer_later(&mut self.retries, prefix, entity);
            }
        }
    }
}

/// The number an invitation to a writer of this participant begins with.
///
/// A set cannot begin with 0, so that Fast DDS takes it for what it is and answers with a heartbeat at once; its
/// transient-local writers, the announcing ones among them, forget that we ever had anything. From 1 on it is an
/// acknowledgement of nothing to it, which puts its next heartbeat off for 3 s.
fn invitation_base([a, b, ..]: Prefix) -> i64 {
    let is_fast_dds = [a, b] == [0x01, 0x0f];
    if is_fast_dds { 0 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invitations_are_as_each_implementation_understands_them() {
        let of = |vendor: u8| invitation_base([1, vendor, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((of(0x0f), of(0x10), of(0x7e)), (0, 1, 1));
    }
}
