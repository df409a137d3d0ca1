//! Writers answering what readers lack.

use std::time::Instant;

use super::Core;
use super::lane::Path;
use super::outbox::Outbox;
use super::peer::Address;
use super::queue::Turn;
use super::send::send_slot;
use super::writer::LocalWriter;
use crate::guid::Guid;
use crate::wire::{AckNack, Entity, NackFrag, Prefix};

impl Core {
    /// A reader says what it has and what it lacks; true when that is how we learn that it knows us.
    pub(super) fn on_acknack(
        &mut self,
        source: Prefix,
        acknack: &AckNack,
        now: Instant,
        out: &mut Outbox,
    ) -> bool {
        let me = self.prefix();
        let guid = Guid { prefix: source, entity: acknack.reader };
        let Some(writer) = self.writers.get_mut(&acknack.writer) else { return false };
        writer.expire(now);
        let Some(index) = writer.proxies.iter().position(|p| p.guid == guid && p.reliable) else {
            return false;
        };
        let newest = writer.next - 1;
        let Some(proxy) = writer.proxies.get_mut(index) else { return false };
        let met = proxy.knows_us();
        if !proxy.takes(acknack.count, now) {
            return false;
        }
        let before = proxy.acked;
        proxy.acked = (acknack.missing.base - 1).clamp(0, newest);
        if proxy.acked < before && !writer.spec.qos.transient_local {
            // It has begun anew, as one does that lost us for a while; what it has had is not for it again.
            proxy.start = before + 1;
        }
        proxy.repairs.forget(proxy.acked);
        let (acked, address) = (proxy.acked, Address { to: proxy.to, path: proxy.path });
        let (asked_before, waiting) = (proxy.asked, !proxy.repairs.is_empty());
        let answer = writer.answer(index, acknack);
        if let Some(proxy) = writer.proxies.get_mut(index) {
            answer.wanted.iter().for_each(|seq| proxy.repairs.want(*seq));
            proxy.asked = answer.wanted.last().copied().unwrap_or(0).max(asked_before);
        }
        writer.send_gaps(index, &answer.never, me, out);
        if answer.given_up || (answer.wanted.is_empty() && !acknack.is_final) {
            writer.send_heartbeat(index, me, acked >= answer.sent && !answer.given_up, out);
        }
        if !met {
            writer.count_matched();
        }
        let big = |len: usize| len > address.path.whole();
        let again = |seq: &i64| {
            *seq <= asked_before && writer.history.get(*seq).is_some_and(|s| big(s.payload.as_slice().len()))
        };
        let all_lost = !waiting && answer.wanted.iter().any(again);
        let arrived =
            acked > before && writer.history.get(acked).is_some_and(|s| big(s.payload.as_slice().len()));
        writer.prune();
        if (arrived || all_lost)
            && let Some(peer) = self.peers.get_mut(&source)
        {
            let lane = peer.lane(address, self.config.pace_bytes_per_s, now);
            // Nothing of a big sample came although it was sent again: too fast, or somebody's greed.
            if all_lost { lane.lost(1.0, now) } else { lane.arrived(now) }
        }
        if acked > before {
            self.go_on(acknack.writer, source, address, now);
        }
        self.queue_repair(acknack.writer, guid, address, now);
        self.arm(acknack.writer, now);
        !met
    }

    /// A reader lacks parts of a sample.
    pub(super) fn on_nack_frag(&mut self, source: Prefix, nack: &NackFrag, now: Instant, out: &mut Outbox) {
        let me = self.prefix();
        let guid = Guid { prefix: source, entity: nack.reader };
        let Some(writer) = self.writers.get_mut(&nack.writer) else { return };
        writer.expire(now);
        let Some(index) = writer.proxies.iter().position(|p| p.guid == guid && p.reliable) else { return };
        let Some(proxy) = writer.proxies.get(index) else { return };
        if nack.seq > writer.sent_to(proxy) {
            return;
        }
        let address = Address { to: proxy.to, path: proxy.path };
        if !writer.can_send(nack.seq, proxy) {
            if nack.seq < writer.first_for(proxy.start) {
                // Given up meanwhile: a heartbeat says so, one for all the samples a reader may ask for at a time. If it
                // was lost, the periodic ones repeat it, unless all is well as far as we know.
                if proxy.told <= nack.seq || proxy.acked >= writer.sent_to(proxy) {
                    writer.send_heartbeat(index, me, false, out);
                }
            } else {
                // Meant for another reader, whose fragments this one saw: its own were none.
                writer.send_gaps(index, &[(nack.seq, nack.seq + 1)], me, out);
            }
            self.arm(nack.writer, now);
            return;
        }
        let size = writer.history.get(nack.seq).map_or(0, |slot| slot.payload.as_slice().len());
        let fragments = size.div_ceil(usize::from(address.path.fragment())).max(1);
        #[expect(clippy::cast_precision_loss, reason = "both are small numbers")]
        let part = nack.missing.iter().count() as f64 / fragments as f64;
        if let Some(proxy) = writer.proxies.get_mut(index) {
            proxy.repairs.want_fragments(nack.seq, nack.missing.iter());
        }
        if let Some(peer) = self.peers.get_mut(&source) {
            peer.lane(address, self.config.pace_bytes_per_s, now).lost(part, now);
        }
        self.queue_repair(nack.writer, guid, address, now);
    }
}

/// What to do about an ACKNACK.
struct Answer {
    /// The highest number that has left for the reader.
    sent: i64,
    /// Numbers to send again.
    wanted: Vec<i64>,
    /// Ranges that were never meant for the reader, ends excluded.
    never: Vec<(i64, i64)>,
    /// It asks for what the history has given up.
    given_up: bool,
}

impl LocalWriter {
    /// Sorts what the reader at `index` lacks.
    fn answer(&self, index: usize, acknack: &AckNack) -> Answer {
        let mut answer = Answer { sent: 0, wanted: Vec::new(), never: Vec::new(), given_up: false };
        let Some(proxy) = self.proxies.get(index) else { return answer };
        answer.sent = self.sent_to(proxy);
        let (base, start) = (acknack.missing.base.max(1), proxy.start);
        if base < start && !acknack.missing.is_empty() {
            // Parts of what was sent before it came may have reached it together with another reader's.
            if base > self.last_fragmented {
                answer.never.push((base, start));
            } else {
                answer.given_up = true;
            }
        }
        let first = self.first_for(start);
        for seq in acknack.missing.iter().filter(|seq| *seq >= start && *seq <= answer.sent) {
            if self.can_send(seq, proxy) {
                answer.wanted.push(seq);
            } else if seq < first {
                answer.given_up = true;
            } else if let Some((_, end)) = answer.never.last_mut().filter(|(_, end)| *end == seq) {
                *end += 1;
            } else {
                answer.never.push((seq, seq + 1));
            }
        }
        answer
    }

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
        while let Some((seq, fragment)) = proxy.repairs.next() {
            // What a keep-last history has given up since is skipped.
            let slot = self.history.get(seq).filter(|s| s.is_for(reader));
            if let Some(slot) = slot {
                let whole = repair_whole(entity, lane.path);
                if slot.payload.as_slice().len() > whole {
                    self.last_fragmented = self.last_fragmented.max(seq);
                }
                let next =
                    send_slot(slot, entity, reader.entity, reader.prefix, fragment, lane, whole, me, out);
                proxy.repairs.sent(next);
                return (out.last_len(), Some(Turn::Repair(entity, reader)));
            }
            proxy.repairs.skip();
        }
        // All done: let the reader check.
        proxy.queued = false;
        if proxy.reliable {
            self.send_heartbeat(index, me, false, out);
        }
        (0, None)
    }
}

/// Up to which size a sample is sent again in one piece.
///
/// What was lost on a network goes in fragments that the IP layer need not split: some networks drop such parts always,
/// and where each may be lost, a sample in one piece is lost that many times as often.
fn repair_whole(writer: Entity, path: Path) -> usize {
    let builtin = writer.ends_with(&[0xc2]);
    if builtin { path.whole() } else { path.whole().min(usize::from(path.fragment())) }
}
