//! Addresses that change while everything runs: ours, and those of peers.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tracing::info;

use super::Core;
use super::lane::Lane;
use super::network::{Network, Reach, choose};
use super::outbox::{Inbox, Outbox};
use super::peer::Peer;
use crate::discovery::key_payload;
use crate::guid::{Guid, VENDOR_ID};
use crate::wire::{Entity, Prefix, SEDP_PUB_WRITER, SEDP_SUB_WRITER, SPDP_READER, SPDP_WRITER};

/// Vendor id of Fast DDS, which reaches everything on its own host over loopback.
const FAST_DDS: [u8; 2] = [0x01, 0x0f];

/// Between a goodbye and the next announcement: Fast DDS takes both on different threads, and the later one for both.
const FAREWELL: Duration = Duration::from_millis(300);

impl Core {
    /// Takes the network as it is now; tells everybody when our own addresses are others.
    pub(crate) fn set_network(
        &mut self,
        network: Network,
        now: Instant,
        out: &mut Outbox,
        inbox: &mut Inbox,
    ) {
        if network == self.config.network {
            return;
        }
        self.config.network = network;
        let before = self.config.data.metatraffic.clone();
        self.apply_reach(now, out);
        let left = self.leave_stuck(&before, out, inbox);
        let peers: Vec<_> = self.peers.keys().copied().collect();
        peers.into_iter().for_each(|prefix| self.readdress(prefix));
        // Whoever has just come within reach is to hear of us soon.
        self.announcements = 0;
        if left {
            self.timers.announce = now + FAREWELL;
        } else {
            self.announce(now, out);
        }
    }

    /// A participant of another host has turned up: from now on we can be reached from outside.
    pub(super) fn open_to_outside(&mut self, now: Instant, out: &mut Outbox) {
        if !self.heard_outside {
            self.heard_outside = true;
            self.apply_reach(now, out);
        }
    }

    /// Announces the addresses that count now, in case they are others than before.
    fn apply_reach(&mut self, now: Instant, out: &mut Outbox) {
        let network = &self.config.network;
        let outside = network.outside.as_ref().filter(|_| self.heard_outside);
        let Reach { metatraffic, user } = outside.unwrap_or(&network.own).clone();
        let data = &mut self.config.data;
        // Who has lost every network cannot be reached at other addresses either; the old ones may well come back.
        if is_loopback(&user) && !is_loopback(&data.user) {
            info!(addresses = ?data.user, "no network; the RTPS participant keeps its addresses until there is one");
            return;
        }
        if data.metatraffic == metatraffic && data.user == user {
            return;
        }
        info!(addresses = ?user, "RTPS participant has other addresses now");
        let moved = data.user != user;
        (data.metatraffic, data.user) = (metatraffic, user);
        self.spdp_seq += 1;
        let prefix = self.prefix();
        if let Some(own) = self.peers.get_mut(&prefix) {
            own.data = self.config.data.clone();
            self.readdress(prefix);
        }
        if moved {
            self.announce_endpoints_again(now, out);
        }
    }

    /// Says goodbye to peers that know us by a discovery address that is gone, so that they meet us anew.
    ///
    /// Other implementations take a participant's new addresses for samples, but for discovery they keep those of the
    /// first announcement: endpoints they make later would never be heard of. Seen with Fast DDS 2.14 and 3.2.
    /// True when there were such peers.
    fn leave_stuck(&mut self, before: &[SocketAddr], out: &mut Outbox, inbox: &mut Inbox) -> bool {
        let now = &self.config.data.metatraffic;
        if before.iter().all(|old| old.ip().is_loopback() || now.contains(old)) {
            return false;
        }
        let kept: Vec<_> = before.iter().filter(|old| now.contains(old)).copied().collect();
        let local = &self.config.network.local;
        let finds_us = |peer: &Peer| {
            let vendor = peer.data.guid.vendor();
            vendor == VENDOR_ID
                // It talks to us over loopback.
                || (peer.origin.same_host && vendor == FAST_DDS)
                || kept.iter().any(|ours| local.share_net(ours.ip(), peer.metatraffic.to.ip()))
        };
        let stuck: Vec<_> =
            self.peers.iter().filter(|(_, p)| !finds_us(p)).map(|(k, p)| (*k, p.metatraffic.to)).collect();
        let guid = self.guid();
        let payload = key_payload(guid);
        let left = !stuck.is_empty();
        for (prefix, to) in stuck {
            out.message(to, guid.prefix, |e| {
                e.dispose(SPDP_READER, SPDP_WRITER, self.spdp_seq, guid.as_bytes(), &payload);
            });
            self.remove_peer(prefix, "it is to meet us anew at another address", inbox);
        }
        self.spdp_seq += 1;
        left
    }

    /// Replaces the announcement of every endpoint by one with the present addresses.
    fn announce_endpoints_again(&mut self, now: Instant, out: &mut Outbox) {
        let user = |entity: &Entity| !matches!(entity, [.., 0xc2 | 0xc7]);
        let writers = self.writers.iter().map(|(e, w)| (*e, w.spec.clone(), true, w.announced));
        let readers = self.readers.iter().map(|(e, r)| (*e, r.spec.clone(), false, r.announced));
        let all: Vec<_> = writers.chain(readers).filter(|(entity, ..)| user(entity)).collect();
        for (entity, spec, is_writer, old) in all {
            let announcer = if is_writer { SEDP_PUB_WRITER } else { SEDP_SUB_WRITER };
            if let Some(writer) = self.writers.get_mut(&announcer) {
                writer.history.remove(old);
            }
            let guid = Guid { entity, ..self.guid() };
            let announced = self.announce_endpoint(guid, &spec, is_writer, now, out);
            if is_writer {
                self.writers.entry(entity).and_modify(|w| w.announced = announced);
            } else {
                self.readers.entry(entity).and_modify(|r| r.announced = announced);
            }
        }
    }

    /// Chooses again among the addresses a peer announces. One that has none of use any more keeps its old ones until
    /// its lease runs out.
    pub(super) fn readdress(&mut self, prefix: Prefix) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        let local = &self.config.network.local;
        if let Some(metatraffic) = choose(&peer.data.metatraffic, peer.origin, local) {
            peer.metatraffic = metatraffic;
            peer.user = choose(&peer.data.user, peer.origin, local).unwrap_or(metatraffic);
        }
        peer.lanes.retain(|lane: &Lane| lane.due().is_some());
        let Peer { writers, readers, origin, metatraffic, user, .. } = peer;
        for (entity, writer) in writers {
            let own = writer.data.as_ref().and_then(|d| choose(&d.locators, *origin, local));
            let builtin = entity.ends_with(&[0xc2]);
            writer.to = own.unwrap_or(if builtin { *metatraffic } else { *user }).to;
        }
        for reader in readers.values_mut() {
            reader.address = choose(&reader.data.locators, *origin, local).unwrap_or(*user);
        }
        for writer in self.writers.values_mut() {
            for proxy in writer.proxies.iter_mut().filter(|p| p.guid.prefix == prefix) {
                let address = readers.get(&proxy.guid.entity).map_or(*metatraffic, |r| r.address);
                (proxy.to, proxy.path) = (address.to, address.path);
            }
            writer.rebuild_dests();
        }
    }
}

fn is_loopback(addresses: &[SocketAddr]) -> bool {
    addresses.iter().all(|a| a.ip().is_loopback())
}
