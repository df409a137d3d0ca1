//! What is known about others, for people.

use super::Core;
use super::events::MAX_EVENTS;
use super::misfit::{reader_mismatch, writer_mismatch};
use super::peer::{MAX_LANES, Peer, RemoteWriter};
use super::repairs::{MAX_FRAGMENTS, MAX_SAMPLES};
use crate::discovery::EndpointData;
use crate::graph::{GraphSnapshot, Incompatible, Policy, RemoteEndpoint, RemoteParticipant};
use crate::guid::Guid;
use crate::wire::{Entity, PARTICIPANT};

impl Core {
    /// Everything discovered so far.
    pub(crate) fn snapshot(&self) -> GraphSnapshot {
        let mut graph = GraphSnapshot { own: self.own_endpoints(), ..GraphSnapshot::default() };
        for peer in self.peers.values().filter(|p| p.data.guid != self.guid()) {
            graph.participants.push(RemoteParticipant {
                guid: peer.data.guid,
                user_data: peer.data.user_data.clone(),
                locators: peer.data.user.clone(),
            });
            for data in peer.writers.values().filter_map(|w| w.data.as_ref()) {
                graph.endpoints.push(endpoint(data, true));
                for (entity, reader) in &self.readers {
                    graph.incompatible.extend(self.misfit(*entity, data, reader_mismatch(reader, data)));
                }
            }
            for data in peer.readers.values().map(|r| &r.data) {
                graph.endpoints.push(endpoint(data, false));
                for (entity, writer) in &self.writers {
                    graph.incompatible.extend(self.misfit(*entity, data, writer_mismatch(writer, data)));
                }
            }
        }
        graph
    }

    /// Other participants' writers of a topic.
    pub(crate) fn writers_of(&self, topic: &str) -> Vec<RemoteEndpoint> {
        let others = self.peers.values().filter(|p| p.data.guid != self.guid());
        let writers = others.flat_map(|peer| peer.writers.values()).filter_map(|w| w.data.as_ref());
        writers.filter(|data| data.topic == topic).map(|data| endpoint(data, true)).collect()
    }

    fn own_endpoints(&self) -> Vec<RemoteEndpoint> {
        let of = |entity: &Entity, spec, is_writer| {
            let guid = Guid { entity: *entity, ..self.guid() };
            endpoint(&EndpointData::local(guid, spec, &[]), is_writer)
        };
        let writers = self.writers.iter().filter(|(entity, _)| is_user(**entity));
        let writers = writers.map(|(entity, writer)| of(entity, &writer.spec, true));
        writers.chain(self.readers.iter().map(|(entity, reader)| of(entity, &reader.spec, false))).collect()
    }

    /// Whether everything that input can create is within its limits and the books agree.
    pub(crate) fn is_bounded(&self) -> bool {
        let limits = &self.config.limits;
        let of = |peer: &Peer| peer.writers.values().map(RemoteWriter::pending_bytes).sum::<usize>();
        let pending: usize = self.peers.values().map(of).sum();
        let proxies = self.writers.values().flat_map(|w| &w.proxies);
        let others = || self.peers.values().filter(|p| p.data.guid != self.guid());
        others().count() <= limits.peers
            && others().all(|p| p.writers.len() + p.readers.len() <= limits.endpoints_per_peer)
            && pending == self.pending_bytes
            && self.positions.is_bounded()
            && self.peers.values().all(|p| p.pending == of(p))
            && pending <= limits.pending_bytes
            && proxies
                .into_iter()
                .all(|p| p.repairs.len() <= MAX_SAMPLES && p.repairs.fragments() <= MAX_FRAGMENTS)
            && self.events.len() <= MAX_EVENTS
            && self.peers.values().all(|p| p.lanes.iter().filter(|l| l.due().is_none()).count() <= MAX_LANES)
            && self.leased.iter().all(|guid| {
                self.peers.get(&guid.prefix).is_some_and(|p| p.writers.contains_key(&guid.entity))
            })
            && self.answers.len() + self.retries.len() <= 2 * limits.peers * limits.endpoints_per_peer
    }

    /// The readers a local writer is matched with, and which know it.
    pub(crate) fn matched_readers(&self, writer: Entity) -> Vec<Guid> {
        let Some(writer) = self.writers.get(&writer) else { return Vec::new() };
        writer.proxies.iter().filter(|p| p.knows_us()).map(|p| p.guid).collect()
    }

    /// The writers a local reader is matched with.
    pub(crate) fn matched_writers(&self, reader: Entity) -> Vec<Guid> {
        let writers = self.peers.values().flat_map(|p| p.writers.values());
        writers
            .filter(|w| w.proxies.iter().any(|p| p.reader == reader))
            .filter_map(|w| w.data.as_ref().map(|d| d.guid))
            .collect()
    }

    fn misfit(
        &self,
        local: Entity,
        remote: &EndpointData,
        policies: Option<Vec<Policy>>,
    ) -> Option<Incompatible> {
        let policies = policies.filter(|p| !p.is_empty())?;
        let local = Guid { entity: local, ..self.guid() };
        Some(Incompatible { local, remote: remote.guid, topic: remote.topic.clone(), policies })
    }
}

/// Whether the entity is none of those that exchange announcements.
fn is_user([.., kind]: Entity) -> bool {
    kind & 0xc0 == 0
}

fn endpoint(data: &EndpointData, is_writer: bool) -> RemoteEndpoint {
    RemoteEndpoint {
        guid: data.guid,
        participant: Guid { entity: PARTICIPANT, ..data.guid },
        topic: data.topic.clone(),
        type_name: data.type_name.clone(),
        qos: data.qos.clone(),
        user_data: data.user_data.clone(),
        is_writer,
    }
}
