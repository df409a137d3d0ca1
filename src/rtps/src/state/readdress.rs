//! Addresses that change while everything runs: ours, and those of peers.

use std::time::Instant;

use tracing::info;

use super::Core;
use super::lane::Lane;
use super::network::{Network, Reach, choose};
use super::outbox::Outbox;
use super::peer::Peer;
use crate::guid::Guid;
use crate::wire::{Entity, Prefix, SEDP_PUB_WRITER, SEDP_SUB_WRITER};

impl Core {
    /// Takes the network as it is now; tells everybody when our own addresses are others.
    pub(crate) fn set_network(&mut self, network: Network, now: Instant, out: &mut Outbox) {
        if network == self.config.network {
            return;
        }
        self.config.network = network;
        self.apply_reach(now, out);
        let peers: Vec<_> = self.peers.keys().copied().collect();
        peers.into_iter().for_each(|prefix| self.readdress(prefix));
        // Whoever has just come within reach is to hear of us soon.
        self.announcements = 0;
        self.announce(now, out);
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
