//! Writers answering what readers lack.

use std::time::Instant;

use super::Core;
use super::lane::Turn;
use super::outbox::Outbox;
use super::peer::Address;
use super::send::send_slot;
use super::writer::{FragmentRepair, LocalWriter};
use crate::guid::Guid;
use crate::wire::{AckNack, NackFrag, Prefix};

impl Core {
    /// A reader says what it has and what it lacks.
    pub(super) fn on_acknack(&mut self, source: Prefix, acknack: &AckNack, now: Instant, out: &mut Outbox) {
        let me = self.prefix();
        let guid = Guid { prefix: source, entity: acknack.reader };
        let Some(writer) = self.writers.get_mut(&acknack.writer) else { return };
        let Some(index) = writer.proxies.iter().position(|p| p.guid == guid && p.reliable) else { return };
        let (newest, mut irrelevant) = (writer.next - 1, Vec::new());
        let Some(proxy) = writer.proxies.get(index) else { return };
        if proxy.ack_count.is_some_and(|count| acknack.count.wrapping_sub(count) <= 0) {
            return;
        }
        let sent = writer.sent_to(proxy);
        let acked = (acknack.missing.base - 1).clamp(proxy.acked, newest.max(proxy.acked));
        let big = acked > proxy.acked
            && writer.history.get(acked).is_some_and(|s| s.payload.as_slice().len() > proxy.path.whole());
        let mut wanted = Vec::new();
        for seq in acknack.missing.iter().filter(|seq| *seq <= sent) {
            if writer.can_send(seq, proxy) { wanted.push(seq) } else { irrelevant.push(seq) }
        }
        let from = if acknack.missing.is_empty() { i64::MAX } else { acknack.missing.base };
        let address = Address { to: proxy.to, path: proxy.path };
        if let Some(proxy) = writer.proxies.get_mut(index) {
            proxy.acked = acked;
            proxy.ack_count = Some(acknack.count);
            wanted.iter().for_each(|seq| proxy.request(*seq));
        }
        writer.send_gap(index, &irrelevant, from, me, out);
        if wanted.is_empty() && !acknack.is_final {
            writer.send_heartbeat(index, me, acked >= sent, out);
        }
        writer.prune();
        if big && let Some(peer) = self.peers.get_mut(&source) {
            peer.lane(address, self.config.pace_bytes_per_s, now).arrived(now);
        }
        self.queue_repair(acknack.writer, guid, address, now);
        self.arm(acknack.writer, now);
    }

    /// A reader lacks parts of a sample.
    pub(super) fn on_nack_frag(&mut self, source: Prefix, nack: &NackFrag, now: Instant, out: &mut Outbox) {
        let me = self.prefix();
        let guid = Guid { prefix: source, entity: nack.reader };
        let Some(writer) = self.writers.get_mut(&nack.writer) else { return };
        let Some(index) = writer.proxies.iter().position(|p| p.guid == guid && p.reliable) else { return };
        let Some(proxy) = writer.proxies.get(index) else { return };
        if nack.seq > writer.sent_to(proxy) {
            return;
        }
        let address = Address { to: proxy.to, path: proxy.path };
        if !writer.can_send(nack.seq, proxy) {
            writer.send_gap(index, &[nack.seq], i64::MAX, me, out);
            return;
        }
        let size = writer.history.get(nack.seq).map_or(0, |slot| slot.payload.as_slice().len());
        let fragments = size.div_ceil(usize::from(address.path.fragment())).max(1);
        #[expect(clippy::cast_precision_loss, reason = "both are small numbers")]
        let part = nack.missing.iter().count() as f64 / fragments as f64;
        if let Some(proxy) = writer.proxies.get_mut(index) {
            proxy.request_fragments(nack.seq, nack.missing.iter());
        }
        if let Some(peer) = self.peers.get_mut(&source) {
            peer.lane(address, self.config.pace_bytes_per_s, now).lost(part, now);
        }
        self.queue_repair(nack.writer, guid, address, now);
    }
}

impl LocalWriter {
    /// Sends the next datagram a reader waits for; returns its size and the turn when more is wanted.
    pub(super) fn repair(
        &mut self,
        reader: Guid,
        lane: &super::lane::Lane,
        me: Prefix,
        out: &mut Outbox,
    ) -> (usize, Option<Turn>) {
        let entity = self.entity;
        let Some(index) = self.proxies.iter().position(|p| p.guid == reader) else { return (0, None) };
        let Some(proxy) = self.proxies.get_mut(index) else { return (0, None) };
        if proxy.fragments.is_none() && !proxy.requested.is_empty() {
            let seq = proxy.requested.remove(0);
            proxy.fragments = Some(FragmentRepair { seq, list: None, next: 1 });
        }
        let Some(repair) = &mut proxy.fragments else {
            // All done: let the reader check.
            proxy.queued = false;
            if proxy.reliable {
                self.send_heartbeat(index, me, false, out);
            }
            return (0, None);
        };
        let number = match &mut repair.list {
            Some(list) => list.pop(),
            None => Some(repair.next),
        };
        let sent = number.and_then(|number| {
            let slot = self.history.get(repair.seq)?;
            let next = send_slot(slot, entity, reader.entity, reader.prefix, number, lane, me, out);
            Some((out.last_len(), next))
        });
        let more = match (&mut repair.list, sent) {
            (Some(list), Some(_)) => !list.is_empty(),
            (None, Some((_, Some(next)))) => {
                repair.next = next;
                true
            }
            _ => false,
        };
        if !more {
            proxy.fragments = None;
        }
        (sent.map_or(0, |(bytes, _)| bytes), Some(Turn::Repair(entity, reader)))
    }
}
