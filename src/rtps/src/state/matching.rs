//! Peers and endpoints coming and going, and which of them talk to each other.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::Instant;

use tracing::debug;

use super::arrival::{Arrival, LocalReader};
use super::outbox::{Inbox, Outbox};
use super::partial::Partials;
use super::peer::{Address, Peer, RemoteReader, RemoteWriter, choose};
use super::reader::WriterProxy;
use super::writer::{LocalWriter, ReaderProxy};
use super::{Core, at_latest};
use crate::discovery::{EndpointData, mismatches};
use crate::endpoint::EndpointSpec;
use crate::graph::{Policy, RemoteQos};
use crate::guid::Guid;
use crate::stats::add;
use crate::wire::{AckNack, Entity, Prefix, SequenceSet};

impl Core {
    /// Takes what the announcing writers of a peer said.
    pub(super) fn on_news(&mut self, now: Instant, out: &mut Outbox, inbox: &mut Inbox) {
        for (prefix, writers, arrival) in std::mem::take(&mut self.news) {
            match arrival {
                Arrival::Sample(sample) => match EndpointData::parse(&sample.payload, writers) {
                    Ok(data) if data.guid.prefix == prefix => {
                        self.on_endpoint(data, writers, now, out, inbox)
                    }
                    _ => add(&self.counters.malformed, 1),
                },
                Arrival::Disposed(Some(guid)) if guid.prefix == prefix => {
                    self.remove_endpoint(guid, inbox);
                }
                Arrival::Disposed(_) | Arrival::Irrelevant => {}
            }
        }
    }

    pub(super) fn on_endpoint(
        &mut self,
        data: EndpointData,
        is_writer: bool,
        now: Instant,
        out: &mut Outbox,
        inbox: &mut Inbox,
    ) {
        let guid = data.guid;
        let Some(peer) = self.peers.get(&guid.prefix) else { return };
        let known = if is_writer {
            peer.writers.get(&guid.entity).and_then(|w| w.data.as_ref())
        } else {
            peer.readers.get(&guid.entity).map(|r| &r.data)
        };
        if known == Some(&data) || guid.entity.ends_with(&[0xc2]) || guid.entity.ends_with(&[0xc7]) {
            return;
        }
        if known.is_some() {
            self.remove_endpoint(guid, inbox);
        }
        let Some(peer) = self.peers.get_mut(&guid.prefix) else { return };
        let full = peer.writers.len() + peer.readers.len() >= self.config.limits.endpoints_per_peer;
        if full && guid.prefix != self.config.data.guid.prefix {
            add(&self.counters.over_limit, 1);
            return;
        }
        let address = choose(&data.locators, peer.is_local, &self.config.local).unwrap_or(peer.user);
        debug!(endpoint = %guid, topic = %data.topic, "endpoint found");
        inbox.graph_changed = true;
        if is_writer {
            let remote = RemoteWriter {
                data: Some(data),
                to: address.to,
                proxies: Vec::new(),
                partials: Partials::default(),
            };
            peer.writers.insert(guid.entity, remote);
            let readers: Vec<_> = self.readers.keys().copied().collect();
            readers.into_iter().for_each(|reader| self.match_reader(reader, guid, out));
        } else {
            peer.readers.insert(guid.entity, RemoteReader { data, address });
            let writers: Vec<_> = self.writers.keys().copied().collect();
            writers.into_iter().for_each(|writer| self.match_writer(writer, guid, now, out));
        }
    }

    /// Matches a new local writer with every remote reader known.
    pub(super) fn match_local_writer(&mut self, writer: Entity, now: Instant, out: &mut Outbox) {
        let readers: Vec<_> =
            self.peers.values().flat_map(|p| p.readers.values().map(|r| r.data.guid)).collect();
        readers.into_iter().for_each(|reader| self.match_writer(writer, reader, now, out));
    }

    /// Matches a new local reader with every remote writer known.
    pub(super) fn match_local_reader(&mut self, reader: Entity, out: &mut Outbox) {
        let guids =
            |p: &Peer| p.writers.values().filter_map(|w| w.data.as_ref().map(|d| d.guid)).collect::<Vec<_>>();
        let writers: Vec<_> = self.peers.values().flat_map(guids).collect();
        writers.into_iter().for_each(|writer| self.match_reader(reader, writer, out));
    }

    fn match_writer(&mut self, writer: Entity, reader: Guid, now: Instant, out: &mut Outbox) {
        let me = self.prefix();
        let Some(local) = self.writers.get(&writer) else { return };
        let Some(remote) = self.peers.get(&reader.prefix).and_then(|p| p.readers.get(&reader.entity)) else {
            return;
        };
        let Some(reasons) = writer_mismatch(local, &remote.data) else { return };
        let (topic, address) = (&remote.data.topic, remote.address);
        if !reasons.is_empty() {
            self.reported.tell(Guid { prefix: me, entity: writer }, reader, topic, &reasons);
            return;
        }
        debug!(topic = %topic, %reader, "reader matched");
        let qos = &remote.data.qos;
        let history = qos.durability >= crate::graph::Durability::TransientLocal;
        let proxy = ReaderProxy::new(reader, address.to, address.path, qos.reliable);
        self.add_reader_proxy(writer, proxy, history, now, out);
        self.queue_repair(writer, reader, address, now);
    }

    /// Adds a reader to a writer and, when it is reliable, tells it what there is.
    pub(super) fn add_reader_proxy(
        &mut self,
        writer: Entity,
        proxy: ReaderProxy,
        history: bool,
        now: Instant,
        out: &mut Outbox,
    ) {
        let me = self.prefix();
        let Some(local) = self.writers.get_mut(&writer) else { return };
        let reliable = proxy.reliable && local.spec.qos.reliable;
        if local.add_proxy(proxy, history) && reliable {
            local.send_heartbeat(local.proxies.len() - 1, me, false, out);
            self.arm(writer, now);
        }
    }

    fn match_reader(&mut self, reader: Entity, writer: Guid, out: &mut Outbox) {
        let me = self.prefix();
        let Some(local) = self.readers.get(&reader) else { return };
        let Some(peer) = self.peers.get_mut(&writer.prefix) else { return };
        let Some(remote) = peer.writers.get_mut(&writer.entity) else { return };
        let Some(data) = &remote.data else { return };
        let Some(reasons) = reader_mismatch(local, data) else { return };
        if !reasons.is_empty() {
            self.reported.tell(Guid { prefix: me, entity: reader }, writer, &data.topic, &reasons);
            return;
        }
        if remote.proxies.iter().any(|p| p.reader == reader) {
            return;
        }
        debug!(topic = %data.topic, %writer, "writer matched");
        let reliable = local.spec.qos.reliable;
        remote.proxies.push(WriterProxy::new(reader, reliable, local.sink.clone()));
        local.matched.fetch_add(1, Ordering::Relaxed);
        if reliable {
            let address = Address { to: remote.to, path: peer.user.path };
            self.invite(writer.prefix, writer.entity, reader, address, out);
        }
    }

    /// An empty ACKNACK that asks for a heartbeat: the writer learns at once that we are here.
    pub(super) fn invite(
        &mut self,
        prefix: Prefix,
        writer: Entity,
        reader: Entity,
        address: Address,
        out: &mut Outbox,
    ) {
        self.acks = self.acks.wrapping_add(1);
        let acknack =
            AckNack { reader, writer, missing: SequenceSet::new(1), count: self.acks, is_final: false };
        out.message(address.to, self.prefix(), |e| {
            e.info_dst(prefix);
            e.acknack(&acknack);
        });
    }

    pub(super) fn remove_endpoint(&mut self, guid: Guid, inbox: &mut Inbox) {
        let Some(peer) = self.peers.get_mut(&guid.prefix) else { return };
        if guid.is_reader() {
            if peer.readers.remove(&guid.entity).is_none() {
                return;
            }
            for writer in self.writers.values_mut() {
                writer.drop_proxies(|p| p.guid == guid);
            }
        } else if peer.writers.get(&guid.entity).is_some_and(|w| w.data.is_some()) {
            if let Some(writer) = peer.writers.remove(&guid.entity) {
                self.pending_bytes -= writer.pending_bytes();
                unmatch(&self.readers, &writer);
            }
        } else {
            return;
        }
        debug!(endpoint = %guid, "endpoint gone");
        inbox.graph_changed = true;
    }

    /// Drops all matches of a local reader that goes away.
    pub(super) fn unmatch_local_reader(&mut self, reader: Entity) {
        for writer in self.peers.values_mut().flat_map(|p| p.writers.values_mut()) {
            let before = writer.pending_bytes();
            writer.proxies.retain(|p| p.reader != reader);
            if writer.proxies.is_empty() {
                writer.partials = Partials::default();
            }
            self.pending_bytes = self.pending_bytes + writer.pending_bytes() - before;
        }
    }

    /// Starts periodic heartbeats of a writer until its readers have caught up.
    pub(super) fn arm(&mut self, entity: Entity, now: Instant) {
        let Some(writer) = self.writers.get_mut(&entity) else { return };
        if !writer.armed && writer.is_behind() {
            writer.armed = true;
            self.armed.push(entity);
            at_latest(&mut self.timers.heartbeat, now + super::HEARTBEAT_PERIOD);
        }
    }
}

impl RemoteWriter {
    /// Bytes of partly received and early samples.
    pub(super) fn pending_bytes(&self) -> usize {
        self.partials.bytes() + self.proxies.iter().map(WriterProxy::held_bytes).sum::<usize>()
    }
}

pub(super) fn unmatch(readers: &BTreeMap<Entity, LocalReader>, writer: &RemoteWriter) {
    for reader in writer.proxies.iter().filter_map(|p| readers.get(&p.reader)) {
        reader.matched.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a local writer and a remote reader do not fit; `None` when they have different topics.
pub(super) fn writer_mismatch(local: &LocalWriter, remote: &EndpointData) -> Option<Vec<Policy>> {
    compare(&local.spec, remote, |ours| mismatches(ours, &remote.qos))
}

/// Why a local reader and a remote writer do not fit; `None` when they have different topics.
pub(super) fn reader_mismatch(local: &LocalReader, remote: &EndpointData) -> Option<Vec<Policy>> {
    compare(&local.spec, remote, |ours| mismatches(&remote.qos, ours))
}

fn compare(
    spec: &EndpointSpec,
    remote: &EndpointData,
    policies: impl FnOnce(&RemoteQos) -> Vec<Policy>,
) -> Option<Vec<Policy>> {
    if remote.topic != spec.topic {
        return None;
    }
    if remote.type_name != spec.type_name {
        return Some(vec![Policy::TypeName]);
    }
    Some(policies(&RemoteQos::local(spec)))
}

/// The misfits already told in the log, so that endpoints which come and go do not fill it.
#[derive(Debug, Default)]
pub(super) struct Reported(HashSet<(Guid, Guid)>);

/// Misfits told in all; the graph has the rest.
const MAX_REPORTED: usize = 256;

impl Reported {
    fn tell(&mut self, local: Guid, remote: Guid, topic: &str, policies: &[Policy]) {
        if self.0.len() < MAX_REPORTED && self.0.insert((local, remote)) {
            let names: Vec<_> = policies.iter().map(|p| p.name()).collect();
            // The adapter tells people, in their words.
            debug!(%topic, %local, %remote, policies = names.join(", "), "endpoints do not fit and will not talk");
        }
    }
}
