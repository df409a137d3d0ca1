//! Telling others about ourselves.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::history::{Slot, Stored};
use super::{Core, Outbox};
use crate::discovery::{EndpointData, key_payload};
use crate::endpoint::EndpointSpec;
use crate::guid::Guid;
use crate::wire::{Entity, SEDP_PUB_WRITER, SEDP_SUB_WRITER, SPDP_READER, SPDP_WRITER, UNKNOWN_ENTITY};

/// Announcements at the start, one second apart.
const EAGER: u32 = 5;
/// Period at the start.
const EAGER_PERIOD: Duration = Duration::from_secs(1);
/// Period afterwards, well below the lease.
const PERIOD: Duration = Duration::from_secs(3);
/// Period at least, whatever the lease.
const SHORTEST_PERIOD: Duration = Duration::from_millis(10);

impl Core {
    /// Announces the participant everywhere.
    pub(super) fn announce(&mut self, now: Instant, out: &mut Outbox) {
        self.announcements = self.announcements.saturating_add(1);
        let period = if self.announcements < EAGER { EAGER_PERIOD } else { PERIOD };
        self.timers.announce = now + period.min(self.config.data.lease / 3).max(SHORTEST_PERIOD);
        let targets = self.announce_targets();
        self.announce_to(&targets, out);
    }

    /// The configured addresses, then peers that are at none of them.
    fn announce_targets(&self) -> Vec<SocketAddr> {
        let own = &self.config.data.metatraffic;
        let mut targets: Vec<_> =
            self.config.network.announce_to.iter().copied().filter(|to| !own.contains(to)).collect();
        for peer in self.peers.values() {
            if !targets.contains(&peer.metatraffic.to) && !own.contains(&peer.metatraffic.to) {
                targets.push(peer.metatraffic.to);
            }
        }
        targets
    }

    /// Announces the participant to these addresses.
    pub(super) fn announce_to(&self, targets: &[SocketAddr], out: &mut Outbox) {
        let Some((first, rest)) = targets.split_first() else { return };
        let payload = self.config.data.payload();
        out.message(*first, self.prefix(), |e| {
            e.data(SPDP_READER, SPDP_WRITER, self.spdp_seq, None, &payload);
        });
        rest.iter().for_each(|to| out.repeat(*to));
    }

    /// Tells everybody that this participant is gone.
    pub(super) fn withdraw_participant(&mut self, out: &mut Outbox) {
        self.spdp_seq += 1;
        let guid = self.guid();
        let payload = key_payload(guid);
        let targets = self.announce_targets();
        let Some((first, rest)) = targets.split_first() else { return };
        out.message(*first, guid.prefix, |e| {
            e.dispose(SPDP_READER, SPDP_WRITER, self.spdp_seq, guid.as_bytes(), &payload);
        });
        rest.iter().for_each(|to| out.repeat(*to));
    }

    /// Announces an endpoint to all peers, now and later; returns the number of the announcement.
    pub(super) fn announce_endpoint(
        &mut self,
        guid: Guid,
        spec: &EndpointSpec,
        is_writer: bool,
        now: Instant,
        out: &mut Outbox,
    ) -> i64 {
        let data = EndpointData::local(guid, spec, &self.config.data.user);
        self.write_builtin(sedp(is_writer), &data.payload(), None, now, out)
    }

    /// Tells all peers that an endpoint is gone.
    pub(super) fn withdraw_endpoint(
        &mut self,
        entity: Entity,
        announced: i64,
        is_writer: bool,
        now: Instant,
        out: &mut Outbox,
    ) {
        let guid = Guid { entity, ..self.guid() };
        if let Some(writer) = self.writers.get_mut(&sedp(is_writer)) {
            writer.history.remove(announced);
        }
        self.write_builtin(sedp(is_writer), &key_payload(guid), Some(guid), now, out);
        if let Some(writer) = self.writers.get_mut(&sedp(is_writer)) {
            writer.prune();
        }
    }

    /// Writes with one of the builtin writers; returns the number of the sample.
    pub(super) fn write_builtin(
        &mut self,
        entity: Entity,
        payload: &[u8],
        disposed: Option<Guid>,
        now: Instant,
        out: &mut Outbox,
    ) -> i64 {
        let me = self.prefix();
        let Some(writer) = self.writers.get_mut(&entity) else { return 0 };
        let seq = writer.next;
        writer.next += 1;
        writer.history.push(Slot {
            seq,
            payload: Stored::Shared(Bytes::copy_from_slice(payload)),
            related: None,
            only_to: None,
            source_time: 0,
            expires: None,
            disposed,
        });
        if writer.dests.is_empty() {
            return seq;
        }
        let heartbeat = writer.heartbeat(UNKNOWN_ENTITY, 1, seq, false);
        for (i, dest) in writer.dests.iter_mut().enumerate() {
            dest.sent = seq;
            if i > 0 {
                out.repeat(dest.to);
                continue;
            }
            out.message(dest.to, me, |e| {
                match disposed {
                    Some(key) => e.dispose(UNKNOWN_ENTITY, entity, seq, key.as_bytes(), payload),
                    None => e.data(UNKNOWN_ENTITY, entity, seq, None, payload),
                }
                e.heartbeat(&heartbeat);
            });
        }
        self.arm(entity, now);
        seq
    }
}

fn sedp(is_writer: bool) -> Entity {
    if is_writer { SEDP_PUB_WRITER } else { SEDP_SUB_WRITER }
}
