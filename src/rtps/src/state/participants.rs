//! Participants coming and going.

use std::time::{Duration, Instant};

use tracing::info;

use super::Core;
use super::arrival::{Builtin, Sink};
use super::lane::Lane;
use super::matching::unmatch;
use super::outbox::{Inbox, Outbox};
use super::peer::{Address, Peer, RemoteWriter, choose};
use super::reader::WriterProxy;
use super::writer::ReaderProxy;
use crate::discovery::{EndpointData, LIVELINESS_READER_BIT, LIVELINESS_WRITER_BIT, ParticipantData};
use crate::guid::Guid;
use crate::stats::add;
use crate::wire::{
    Entity, LIVELINESS_READER, LIVELINESS_WRITER, PARTICIPANT, Prefix, SEDP_PUB_READER, SEDP_PUB_WRITER,
    SEDP_SUB_READER, SEDP_SUB_WRITER,
};

/// Longer than any process lives.
const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);
/// A participant whose address another one announces is dropped when it stays silent for this long.
const REPLACED_GRACE: Duration = Duration::from_secs(10);

impl Core {
    /// Takes a participant announcement.
    pub(super) fn on_participant(
        &mut self,
        data: ParticipantData,
        same_host: bool,
        now: Instant,
        out: &mut Outbox,
        inbox: &mut Inbox,
    ) {
        let prefix = data.guid.prefix;
        let local = &self.config.local;
        let Some(metatraffic) = choose(&data.metatraffic, same_host, local) else { return };
        let user = choose(&data.user, same_host, local).unwrap_or(metatraffic);
        if let Some(peer) = self.peers.get_mut(&prefix) {
            peer.expires = now + data.lease;
            if peer.data != data {
                (peer.data, peer.metatraffic, peer.user) = (data, metatraffic, user);
                inbox.graph_changed = true;
                self.readdress(prefix);
            }
            return;
        }
        // Probably the one we knew at this address was killed and restarted. It may still prove to be alive: the new
        // announcement could be a fake.
        for old in self.peers.values_mut().filter(|p| p.metatraffic == metatraffic) {
            old.expires = old.expires.min(now + REPLACED_GRACE);
        }
        if self.peers.len() >= self.config.limits.peers + usize::from(self.config.match_own) {
            add(&self.counters.over_limit, 1);
            return;
        }
        info!(participant = %data.guid, address = %metatraffic.to, "participant found");
        let builtin = data.builtin;
        let peer = Peer { is_local: same_host, ..Peer::new(data, metatraffic, user, now) };
        self.peers.insert(prefix, peer);
        inbox.graph_changed = true;
        self.announce_to(&[metatraffic.to], out);
        self.open_builtin(prefix, metatraffic, builtin, now, out);
    }

    /// Makes ourselves a peer, reached like any other on this host.
    pub(super) fn add_self(&mut self, now: Instant) {
        let data = self.config.data.clone();
        let Some(user) = choose(&data.user, true, &self.config.local) else { return };
        let metatraffic = choose(&data.metatraffic, true, &self.config.local).unwrap_or(user);
        let expires = now + FOR_EVER;
        let peer = Peer { expires, is_local: true, ..Peer::new(data, metatraffic, user, now) };
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
                self.invite(prefix, writer, reader, address, out);
            }
            if has_reader {
                let guid = Guid { prefix, entity: reader };
                let proxy = ReaderProxy::new(guid, address.to, address.path, true);
                self.add_reader_proxy(writer, proxy, true, now, out);
                self.push_history(writer, guid, address, now);
            }
        }
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
        expired.into_iter().for_each(|prefix| self.remove_peer(prefix, "lease ran out", inbox));
    }

    /// Uses the addresses a peer announces from now on.
    fn readdress(&mut self, prefix: Prefix) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        peer.lanes.retain(|lane: &Lane| lane.due().is_some());
        for (entity, writer) in &mut peer.writers {
            let own =
                writer.data.as_ref().and_then(|d| choose(&d.locators, peer.is_local, &self.config.local));
            let builtin = entity.ends_with(&[0xc2]);
            writer.to = own.unwrap_or(if builtin { peer.metatraffic } else { peer.user }).to;
        }
        for reader in peer.readers.values_mut() {
            reader.address =
                choose(&reader.data.locators, peer.is_local, &self.config.local).unwrap_or(peer.user);
        }
        for writer in self.writers.values_mut() {
            for proxy in writer.proxies.iter_mut().filter(|p| p.guid.prefix == prefix) {
                let address = peer.readers.get(&proxy.guid.entity).map_or(peer.metatraffic, |r| r.address);
                (proxy.to, proxy.path) = (address.to, address.path);
            }
            writer.rebuild_dests();
        }
    }
}

/// The participant a dispose notice of the participant announcer is about.
pub(super) fn disposed_participant(key: Option<Guid>, source: Prefix) -> bool {
    key.is_none_or(|guid| guid.prefix == source && guid.entity == PARTICIPANT)
}
