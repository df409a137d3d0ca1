//! Participants coming and going.

use std::time::{Duration, Instant};

use tracing::info;

use super::Core;
use super::arrival::{Builtin, Sink};
use super::matching::unmatch;
use super::network::{Origin, choose};
use super::outbox::{Inbox, Outbox};
use super::peer::{Address, Peer, RemoteWriter};
use super::reader::WriterProxy;
use super::writer::ReaderProxy;
use crate::discovery::{EndpointData, LIVELINESS_READER_BIT, LIVELINESS_WRITER_BIT, ParticipantData};
use crate::guid::Guid;
use crate::wire::{
    Entity, LIVELINESS_READER, LIVELINESS_WRITER, PARTICIPANT, Prefix, SEDP_PUB_READER, SEDP_PUB_WRITER,
    SEDP_SUB_READER, SEDP_SUB_WRITER,
};

/// Longer than any process lives.
const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);
/// Silent writers of a participant are asked to speak at most this often.
const INVITE_PERIOD: Duration = Duration::from_millis(500);
/// A participant whose address another one announces is dropped when it stays silent for this long.
const REPLACED_GRACE: Duration = Duration::from_secs(10);

impl Core {
    /// Takes a participant announcement.
    pub(super) fn on_participant(
        &mut self,
        data: ParticipantData,
        origin: Origin,
        now: Instant,
        out: &mut Outbox,
        inbox: &mut Inbox,
    ) {
        let prefix = data.guid.prefix;
        let local = &self.config.network.local;
        let Some(metatraffic) = choose(&data.metatraffic, origin, local) else { return };
        let user = choose(&data.user, origin, local).unwrap_or(metatraffic);
        if let Some(peer) = self.peers.get_mut(&prefix) {
            peer.expires = now + data.lease;
            // A peer heard before we knew its address to be ours is one of this host all the same.
            if peer.data != data || (origin.same_host && !peer.origin.same_host) {
                (peer.data, peer.origin) = (data, origin);
                inbox.graph_changed = true;
                self.readdress(prefix);
            }
            self.invite_again(prefix, now);
            return;
        }
        // Probably the one we knew at this address was killed and restarted. It may still prove to be alive: the new
        // announcement could be a fake.
        for old in self.peers.values_mut().filter(|p| p.metatraffic == metatraffic) {
            old.expires = old.expires.min(now + REPLACED_GRACE);
        }
        if !self.has_room_for_peer(inbox) {
            return;
        }
        info!(participant = %data.guid, address = %metatraffic.to, "participant found");
        let builtin = data.builtin;
        let peer = Peer::new(data, (metatraffic, user), origin, now);
        self.peers.insert(prefix, peer);
        inbox.graph_changed = true;
        if !origin.same_host {
            self.open_to_outside(now, out);
        }
        self.announce_to(&[metatraffic.to], out);
        self.open_builtin(prefix, metatraffic, builtin, now, out);
    }

    /// Makes ourselves a peer, reached like any other on this host.
    pub(super) fn add_self(&mut self, now: Instant) {
        let data = self.config.data.clone();
        let Some(first) = data.user.first() else { return };
        let origin = Origin { from: *first, same_host: true };
        let local = &self.config.network.local;
        let Some(user) = choose(&data.user, origin, local) else { return };
        let metatraffic = choose(&data.metatraffic, origin, local).unwrap_or(user);
        let expires = now + FOR_EVER;
        let peer = Peer { expires, ..Peer::new(data, (metatraffic, user), origin, now) };
        self.peers.insert(self.prefix(), peer);
    }

    /// Matches a new endpoint with ours.
    pub(super) fn add_own(&mut self, guid: Guid, now: Instant, out: &mut Outbox) {
        if !self.config.match_own {
            return;
        }
        let writer = self.writers.get(&guid.entity).map(|w| &w.spec);
        let Some(spec) = writer.or_else(|| self.readers.get(&guid.entity).map(|r| &r.spec)) else { return };
        let data = EndpointData::local(guid, spec, &[]);
        self.on_endpoint(data, !guid.is_reader(), now, out, &mut Inbox::default());
    }

    /// Connects the builtin endpoints with those of a new peer, and tells it all of ours.
    fn open_builtin(
        &mut self,
        prefix: Prefix,
        address: Address,
        builtin: u32,
        now: Instant,
        out: &mut Outbox,
    ) {
        // The announcing ones are there always; an odd set would hide endpoints.
        let has = |bit| builtin & bit != 0;
        let (says, hears) = (has(LIVELINESS_WRITER_BIT), has(LIVELINESS_READER_BIT));
        for (writer, reader, builtin, has_writer, has_reader) in [
            (SEDP_PUB_WRITER, SEDP_PUB_READER, Builtin::Writers, true, true),
            (SEDP_SUB_WRITER, SEDP_SUB_READER, Builtin::Readers, true, true),
            (LIVELINESS_WRITER, LIVELINESS_READER, Builtin::Liveliness, says, hears),
        ] {
            if has_writer && let Some(peer) = self.peers.get_mut(&prefix) {
                let mut remote = RemoteWriter::new(None, address.to, None);
                remote.proxies.push(WriterProxy::new(reader, true, Sink::Builtin(builtin)));
                peer.writers.insert(writer, remote);
                self.invite(prefix, writer, false, now);
            }
            if has_reader {
                let guid = Guid { prefix, entity: reader };
                let proxy = ReaderProxy::new(guid, address.to, address.path, true);
                self.add_reader_proxy(writer, proxy, true, now, out);
                self.push_history(writer, guid, address, now);
            }
        }
    }

    /// Asks the writers that have not answered yet once more.
    ///
    /// A writer that knows the reader from before we lost sight of the participant waits for it: without this, one lost
    /// datagram would leave both waiting.
    fn invite_again(&mut self, prefix: Prefix, now: Instant) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        if now.saturating_duration_since(peer.invited) < INVITE_PERIOD {
            return;
        }
        peer.invited = now;
        let is_silent = |w: &RemoteWriter| w.proxies.iter().any(WriterProxy::is_unanswered);
        let silent: Vec<_> = peer.writers.iter().filter(|(_, w)| is_silent(w)).map(|(e, _)| *e).collect();
        silent.into_iter().for_each(|entity| self.invite(prefix, entity, true, now));
    }

    /// Queues everything a writer holds for one reader without waiting to be asked.
    fn push_history(&mut self, writer: Entity, reader: Guid, address: Address, now: Instant) {
        let Some(local) = self.writers.get_mut(&writer) else { return };
        let Some(proxy) = local.proxies.iter_mut().find(|p| p.guid == reader) else { return };
        for seq in local.history.seqs() {
            proxy.repairs.want(seq);
        }
        self.queue_repair(writer, reader, address, now);
    }

    /// Drops a participant and everything of it.
    pub(super) fn remove_peer(&mut self, prefix: Prefix, why: &'static str, inbox: &mut Inbox) {
        let Some(peer) = self.peers.remove(&prefix) else { return };
        info!(participant = %peer.data.guid, why, "participant gone");
        self.leased.retain(|writer| writer.prefix != prefix);
        for writer in peer.writers.values() {
            self.pending_bytes -= writer.pending_bytes();
            unmatch(&mut self.readers, writer);
        }
        for writer in self.writers.values_mut() {
            writer.drop_proxies(|p| p.guid.prefix == prefix);
        }
        inbox.graph_changed = true;
    }

    /// Drops participants that have not been heard of for their lease.
    pub(super) fn drop_expired(&mut self, now: Instant, inbox: &mut Inbox) {
        let expired: Vec<_> =
            self.peers.iter().filter(|(_, p)| now >= p.expires).map(|(prefix, _)| *prefix).collect();
        for prefix in expired {
            let writers = self.peers.get(&prefix).into_iter().flat_map(|p| &p.writers);
            for (entity, writer) in writers.filter(|(_, w)| w.data.is_some()) {
                self.positions.keep(Guid { prefix, entity: *entity }, writer);
            }
            self.remove_peer(prefix, "lease ran out", inbox);
        }
    }
}

/// The participant a dispose notice of the participant announcer is about.
pub(super) fn disposed_participant(key: Option<Guid>, source: Prefix) -> bool {
    key.is_none_or(|guid| guid.prefix == source && guid.entity == PARTICIPANT)
}
