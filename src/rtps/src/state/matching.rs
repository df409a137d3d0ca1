//! Peers and endpoints coming and going, and which of them talk to each other.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tracing::debug;

use super::arrival::{Arrival, Builtin, LocalReader, Sink};
use super::misfit::{reader_mismatch, writer_mismatch};
use super::network::choose;
use super::outbox::{Inbox, Outbox};
use super::partial::Partials;
use super::peer::{RemoteReader, RemoteWriter};
use super::reader::WriterProxy;
use super::watch::Lease;
use super::writer::ReaderProxy;
use super::{Core, at_latest};
use crate::discovery::EndpointData;
use crate::graph::{Durability, Liveliness};
use crate::guid::Guid;
use crate::stats::add;
use crate::wire::{Entity, Prefix};

impl Core {
    /// Takes what the announcing writers of a peer said.
    pub(super) fn on_news(&mut self, now: Instant, out: &mut Outbox, inbox: &mut Inbox) {
        for (prefix, builtin, arrival) in std::mem::take(&mut self.news) {
            if builtin == Builtin::Liveliness {
                self.on_assertion(prefix, &arrival, now);
                continue;
            }
            let writers = builtin == Builtin::Writers;
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
        inbox.graph_changed = true;
        if known.is_some() {
            debug!(endpoint = %guid, topic = %data.topic, "endpoint changed");
            self.change_endpoint(data, is_writer, now, out);
            return;
        }
        let full = peer.writers.len() + peer.readers.len() >= self.config.limits.endpoints_per_peer;
        if full && guid.prefix != self.config.data.guid.prefix {
            add(&self.counters.over_limit, 1);
            return;
        }
        debug!(endpoint = %guid, topic = %data.topic, "endpoint found");
        self.change_endpoint(data, is_writer, now, out);
    }

    /// Puts in a new announcement of a remote endpoint and matches it with ours. What fitted and still does goes on.
    fn change_endpoint(&mut self, data: EndpointData, is_writer: bool, now: Instant, out: &mut Outbox) {
        let guid = data.guid;
        let own = guid.prefix == self.prefix();
        let topic = data.topic.clone();
        let Some(peer) = self.peers.get_mut(&guid.prefix) else { return };
        let address = choose(&data.locators, peer.origin, &self.config.network.local).unwrap_or(peer.user);
        if is_writer {
            let kind = data.qos.liveliness;
            // An engine need not doubt itself.
            let period = data.qos.liveliness_lease.filter(|_| !own || kind != Liveliness::Automatic);
            let lease = period.map(|period| Lease::new(kind, period, now));
            let fresh = RemoteWriter::new(None, address.to, None);
            let remote = peer.writers.entry(guid.entity).or_insert(fresh);
            let known = remote.data.is_some();
            (remote.data, remote.to, remote.lease) = (Some(data), address.to, lease);
            // With thousands of endpoints on both sides, only those of the topic are looked at closely; one that was
            // known may have had another.
            let near = self.readers.iter().filter(|(_, reader)| known || reader.spec.topic == topic);
            let readers: Vec<_> = near.map(|(entity, _)| *entity).collect();
            readers.into_iter().for_each(|reader| self.match_reader(reader, guid, now));
        } else {
            let known = peer.readers.insert(guid.entity, RemoteReader { data, address }).is_some();
            let near = self.writers.iter().filter(|(_, writer)| known || writer.spec.topic == topic);
            let writers: Vec<_> = near.map(|(entity, _)| *entity).collect();
            writers.into_iter().for_each(|writer| self.match_writer(writer, guid, now, out));
        }
    }

    /// Matches a new local writer with every remote reader known.
    pub(super) fn match_local_writer(&mut self, writer: Entity, now: Instant, out: &mut Outbox) {
        let Some(topic) = self.writers.get(&writer).map(|writer| &writer.spec.topic) else { return };
        let all = self.peers.values().flat_map(|p| p.readers.values().map(|r| &r.data));
        let readers: Vec<_> = all.filter(|data| data.topic == *topic).map(|data| data.guid).collect();
        readers.into_iter().for_each(|reader| self.match_writer(writer, reader, now, out));
    }

    /// Matches a new local reader with every remote writer known.
    pub(super) fn match_local_reader(&mut self, reader: Entity, now: Instant) {
        let Some(topic) = self.readers.get(&reader).map(|reader| &reader.spec.topic) else { return };
        let all = self.peers.values().flat_map(|p| p.writers.values().filter_map(|w| w.data.as_ref()));
        let writers: Vec<_> = all.filter(|data| data.topic == *topic).map(|data| data.guid).collect();
        writers.into_iter().for_each(|writer| self.match_reader(reader, writer, now));
    }

    fn match_writer(&mut self, writer: Entity, reader: Guid, now: Instant, out: &mut Outbox) {
        let me = self.prefix();
        let Some(local) = self.writers.get_mut(&writer) else { return };
        let Some(remote) = self.peers.get(&reader.prefix).and_then(|p| p.readers.get(&reader.entity)) else {
            return;
        };
        let (data, address) = (&remote.data, remote.address);
        let reasons = writer_mismatch(local, data);
        if reasons.as_ref().is_none_or(|reasons| !reasons.is_empty()) {
            local.drop_proxies(|p| p.guid == reader);
            if let Some(policies) = reasons {
                self.misfits.tell(Guid { prefix: me, entity: writer }, data, policies, &mut self.events);
            }
            return;
        }
        let reliable = data.qos.reliable;
        // One that becomes reliable, or no longer is, begins anew.
        local.drop_proxies(|p| p.guid == reader && p.reliable != reliable);
        if local.readdress(reader, address) {
            return;
        }
        debug!(topic = %data.topic, %reader, "reader matched");
        let history = data.qos.durability >= Durability::TransientLocal;
        let proxy = ReaderProxy::new(reader, address.to, address.path, reliable);
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
        local.expire(now);
        if local.add_proxy(proxy, history) && reliable {
            local.send_heartbeat(local.proxies.len() - 1, me, false, out);
            self.arm(writer, now);
        }
    }

    fn match_reader(&mut self, reader: Entity, writer: Guid, now: Instant) {
        let me = self.prefix();
        let Some(local) = self.readers.get_mut(&reader) else { return };
        let Some(peer) = self.peers.get_mut(&writer.prefix) else { return };
        let Some(remote) = peer.writers.get_mut(&writer.entity) else { return };
        let Some(data) = &remote.data else { return };
        let reasons = reader_mismatch(local, data);
        if reasons.as_ref().is_none_or(|reasons| !reasons.is_empty()) {
            if let Some(policies) = reasons {
                self.misfits.tell(Guid { prefix: me, entity: reader }, data, policies, &mut self.events);
            }
            let freed = remote.drop_proxy(reader, local);
            peer.pending -= freed;
            self.pending_bytes -= freed;
            return;
        }
        let sink = if local.is_choosy(&data.qos) { Sink::Choosy(reader) } else { local.sink.clone() };
        if let Some(lease) = &mut remote.lease {
            if remote.proxies.is_empty() {
                // Nobody listened until now.
                *lease = Lease::new(lease.kind, lease.period, now);
            }
            self.leased.insert(writer);
            at_latest(&mut self.timers.watch, now + lease.period);
        }
        if let Some(known) = remote.proxies.iter_mut().find(|p| p.reader == reader) {
            known.sink = sink;
            // Its strength may be another one now; the next sample tells.
            local.disown(writer);
            return;
        }
        debug!(topic = %data.topic, %writer, "writer matched");
        let reliable = local.spec.qos.reliable;
        let mut proxy = WriterProxy::new(reader, reliable, sink);
        if let Some(expected) = self.positions.of(writer, reader).filter(|_| reliable) {
            proxy.resume(expected);
        }
        remote.proxies.push(proxy);
        local.matched.fetch_add(1, Ordering::Relaxed);
        if reliable {
            self.invite(writer.prefix, writer.entity, false, now);
        }
    }

    /// Has a silent writer asked for a heartbeat, `again` or until one comes: it learns at once that we are here.
    pub(super) fn invite(&mut self, prefix: Prefix, writer: Entity, again: bool, now: Instant) {
        let Some(remote) = self.peers.get_mut(&prefix).and_then(|p| p.writers.get_mut(&writer)) else {
            return;
        };
        remote.proxies.iter_mut().for_each(|proxy| proxy.invite(again, now));
        at_latest(&mut self.timers.retry, now);
        Self::answer_later(&mut self.retries, prefix, writer);
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
            self.leased.remove(&guid);
            if let Some(writer) = peer.writers.remove(&guid.entity) {
                peer.pending -= writer.pending_bytes();
                self.pending_bytes -= writer.pending_bytes();
                unmatch(&mut self.readers, &writer);
            }
        } else {
            return;
        }
        debug!(endpoint = %guid, "endpoint gone");
        inbox.graph_changed = true;
    }

    /// Drops all matches of a local reader that goes away.
    pub(super) fn unmatch_local_reader(&mut self, reader: &mut LocalReader, entity: Entity) {
        for peer in self.peers.values_mut() {
            let freed =
                peer.writers.values_mut().map(|writer| writer.drop_proxy(entity, reader)).sum::<usize>();
            peer.pending -= freed;
            self.pending_bytes -= freed;
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
    /// Ends the match with a reader of ours, if there is one; returns the bytes that were pending for it alone.
    fn drop_proxy(&mut self, reader: Entity, local: &mut LocalReader) -> usize {
        let before = self.pending_bytes();
        let count = self.proxies.len();
        self.proxies.retain(|p| p.reader != reader);
        if self.proxies.len() == count {
            return 0;
        }
        if self.proxies.is_empty() {
            self.partials = Partials::default();
        }
        if let Some(data) = &self.data {
            local.unmatched(data.guid);
        }
        before - self.pending_bytes()
    }

    /// Bytes of partly received and early samples.
    pub(super) fn pending_bytes(&self) -> usize {
        self.partials.bytes() + self.proxies.iter().map(WriterProxy::held_bytes).sum::<usize>()
    }
}

/// Tells the readers of a remote writer that it is gone.
pub(super) fn unmatch(readers: &mut BTreeMap<Entity, LocalReader>, writer: &RemoteWriter) {
    for proxy in &writer.proxies {
        if let (Some(local), Some(data)) = (readers.get_mut(&proxy.reader), &writer.data) {
            local.unmatched(data.guid);
        }
    }
}
