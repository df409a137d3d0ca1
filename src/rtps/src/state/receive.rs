//! Datagrams coming in.

use std::net::SocketAddr;
use std::time::Instant;

use super::arrival::{Arrival, Builtin, Sink};
use super::events::Events;
use super::gate::Gate;
use super::network::Origin;
use super::outbox::{Inbox, Outbox};
use super::partial::{Added, Room};
use super::participants::disposed_participant;
use super::peer::RemoteWriter;
use super::reader::{HoldRoom, Outcome, WriterProxy};
use super::{Core, at_latest};
use crate::config::Limits;
use crate::discovery::{ParticipantData, read_key};
use crate::endpoint::Sample;
use crate::graph::Liveliness;
use crate::guid::Guid;
use crate::stats::{Counters, add};
use crate::wire::{
    Data, DataFrag, Entity, Gap, Heartbeat, HeartbeatFrag, Message, Prefix, SPDP_WRITER, Submessage,
    UNKNOWN_ENTITY,
};

/// What earlier submessages of a message say about later ones.
struct Context {
    source: Prefix,
    origin: Origin,
    source_time: Option<i64>,
    for_us: bool,
    now: Instant,
    wall_ns: Option<i64>,
}

impl Core {
    /// Takes one datagram. Answers to heartbeats wait for [`Core::flush`].
    pub(crate) fn handle(
        &mut self,
        datagram: &[u8],
        from: SocketAddr,
        now: Instant,
        out: &mut Outbox,
        inbox: &mut Inbox,
    ) {
        add(&self.counters.datagrams_in, 1);
        self.notice_stop(now);
        let Ok(message) = Message::parse(datagram) else {
            add(&self.counters.malformed, 1);
            return;
        };
        if let Some(peer) = self.peers.get_mut(&message.prefix) {
            // Whatever it says, it is alive.
            peer.expires = peer.expires.max(now + peer.data.lease);
            peer.heard = now;
            if peer.lapsed {
                at_latest(&mut self.timers.watch, now);
            }
            if std::mem::take(&mut peer.silent) {
                self.end_silence(message.prefix);
            }
        }
        let origin = self.config.network.local.origin(from);
        let wall_ns = self.wall_ns(now);
        let mut cx =
            Context { source: message.prefix, origin, source_time: None, for_us: true, now, wall_ns };
        for submessage in message.submessages() {
            let Ok(submessage) = submessage else {
                add(&self.counters.malformed, 1);
                break;
            };
            match submessage {
                Submessage::InfoDestination(to) => cx.for_us = to == self.prefix() || to == [0; 12],
                Submessage::InfoTimestamp(time) => cx.source_time = time,
                Submessage::InfoSource(source) => (cx.source, cx.source_time) = (source, None),
                _ if !cx.for_us => {}
                Submessage::Data(data) if data.writer == SPDP_WRITER => {
                    self.on_spdp(&cx, &data, now, out, inbox)
                }
                Submessage::Data(data) => self.on_data(&cx, &data, now, inbox),
                Submessage::DataFrag(frag) => self.on_data_frag(&cx, &frag, now, inbox),
                Submessage::Heartbeat(heartbeat) => self.on_heartbeat(&cx, &heartbeat, now, inbox),
                Submessage::HeartbeatFrag(heartbeat) => self.on_heartbeat_frag(&cx, &heartbeat),
                Submessage::Gap(gap) => self.on_gap(&cx, &gap, inbox),
                Submessage::AckNack(acknack) => {
                    inbox.graph_changed |= self.on_acknack(cx.source, &acknack, now, out);
                }
                Submessage::NackFrag(nack) => self.on_nack_frag(cx.source, &nack, now, out),
                Submessage::Other => {}
            }
        }
        if !self.news.is_empty() {
            self.on_news(now, out, inbox);
        }
        self.events.hand_over(&mut inbox.events);
    }

    fn on_spdp(&mut self, cx: &Context, data: &Data<'_>, now: Instant, out: &mut Outbox, inbox: &mut Inbox) {
        if cx.source == self.prefix() {
            return;
        }
        if data.is_key || data.inline.status != 0 {
            let key = read_key(data.payload).or_else(|| data.inline.key_hash.map(Guid::from_bytes));
            if disposed_participant(key, cx.source) {
                self.remove_peer(cx.source, "left", inbox);
            }
            return;
        }
        match ParticipantData::parse(data.payload) {
            Ok(data) if data.guid.prefix == cx.source => {
                self.on_participant(data, cx.origin, now, out, inbox)
            }
            _ => add(&self.counters.malformed, 1),
        }
    }

    fn on_data(&mut self, cx: &Context, data: &Data<'_>, now: Instant, inbox: &mut Inbox) {
        let Some(mut sorter) = Sorter::new(self, cx, data.writer, data.reader, inbox) else { return };
        sorter.is_alive();
        if !sorter.wants(data.seq) {
            return;
        }
        let arrival = if data.has_payload && !data.is_key && data.inline.status == 0 {
            let payload = sorter.arena.copy(data.payload);
            sorter.sample(Sample {
                payload,
                writer: Guid { prefix: cx.source, entity: data.writer },
                seq: data.seq,
                related: data.inline.related,
                source_time: cx.source_time,
            })
        } else {
            let key = if data.is_key { read_key(data.payload) } else { None };
            Arrival::Disposed(key.or_else(|| data.inline.key_hash.map(Guid::from_bytes)))
        };
        sorter.progress(data.seq, now);
        sorter.offer(data.seq, arrival);
    }

    fn on_data_frag(&mut self, cx: &Context, frag: &DataFrag<'_>, now: Instant, inbox: &mut Inbox) {
        self.make_room(cx.source, frag);
        let Some(mut sorter) = Sorter::new(self, cx, frag.writer, frag.reader, inbox) else { return };
        sorter.is_alive();
        if frag.is_key || !sorter.wants(frag.seq) {
            return;
        }
        let room = Room {
            samples: sorter.limits.partial_samples,
            sample_bytes: sorter.limits.sample_bytes,
            free_bytes: sorter.free_bytes(),
            newest_wins: !sorter.remote.proxies.iter().any(|p| p.reliable),
        };
        match sorter.remote.partials.add(frag, cx.source_time, room, now) {
            Added::Stored => sorter.progress(frag.seq, now),
            Added::Malformed => add(&sorter.counters.malformed, 1),
            Added::OverLimit => add(&sorter.counters.over_limit, 1),
            // Skipped, since whatever follows would wait for it in vain.
            Added::TooBig => {
                add(&sorter.counters.over_limit, 1);
                add(&sorter.counters.lost, 1);
                sorter.offer(frag.seq, Arrival::Irrelevant);
            }
            Added::Complete(whole) => {
                let sample = Sample {
                    payload: whole.payload,
                    writer: Guid { prefix: cx.source, entity: frag.writer },
                    seq: frag.seq,
                    related: whole.related,
                    source_time: whole.source_time,
                };
                sorter.progress(frag.seq, now);
                let arrival = sorter.sample(sample);
                sorter.offer(frag.seq, arrival);
            }
        }
    }

    fn on_heartbeat(&mut self, cx: &Context, heartbeat: &Heartbeat, now: Instant, inbox: &mut Inbox) {
        let Some(mut sorter) = Sorter::new(self, cx, heartbeat.writer, heartbeat.reader, inbox) else {
            return;
        };
        if heartbeat.liveliness {
            sorter.is_alive();
        }
        sorter.each(|proxy, _, deliver, outcome| {
            proxy.heartbeat(heartbeat, now, deliver, outcome);
        });
        sorter.prune();
        let due = sorter.remote.proxies.iter().any(|p| p.answer.is_some());
        drop(sorter);
        if due {
            Self::answer_later(&mut self.answers, cx.source, heartbeat.writer);
        }
    }

    /// A sample is on its way in parts; whoever lacks some of them asks when the flow stops.
    fn on_heartbeat_frag(&mut self, cx: &Context, heartbeat: &HeartbeatFrag) {
        let Some(remote) = self.peers.get_mut(&cx.source).and_then(|p| p.writers.get_mut(&heartbeat.writer))
        else {
            return;
        };
        let lacks =
            remote.partials.get(heartbeat.seq).is_some_and(|p| !p.missing(heartbeat.last, 1).is_empty());
        for proxy in remote.proxies.iter_mut().filter(|p| lacks && p.reliable && meant(heartbeat.reader, p)) {
            proxy.announce(heartbeat.seq);
            proxy.answer.get_or_insert(false);
            Self::answer_later(&mut self.answers, cx.source, heartbeat.writer);
        }
    }

    fn on_gap(&mut self, cx: &Context, gap: &Gap, inbox: &mut Inbox) {
        let Some(mut sorter) = Sorter::new(self, cx, gap.writer, gap.reader, inbox) else { return };
        sorter.each(|proxy, room, deliver, _| proxy.gap(gap, room, deliver));
        sorter.prune();
    }
}

/// Samples counted as lost at one time: a number from nowhere must not make the counter useless.
const MAX_LOST: u64 = 10_000;

fn meant(reader: Entity, proxy: &WriterProxy) -> bool {
    reader == UNKNOWN_ENTITY || reader == proxy.reader
}

/// Sorts what one remote writer sends into the local readers, and keeps the books.
struct Sorter<'a> {
    source: Prefix,
    reader: Entity,
    remote: &'a mut RemoteWriter,
    arena: &'a mut super::outbox::Arena,
    limits: &'a Limits,
    counters: &'a Counters,
    pending_total: &'a mut usize,
    pending_peer: &'a mut usize,
    pending_before: usize,
    news: &'a mut Vec<(Prefix, Builtin, Arrival)>,
    inbox: &'a mut Inbox,
    gate: Gate<'a>,
    events: &'a mut Events,
    writer: Entity,
    me: Prefix,
    asserted: &'a mut Instant,
    lapsed: bool,
}

impl<'a> Sorter<'a> {
    /// `None` when nobody here reads the writer.
    fn new(
        core: &'a mut Core,
        cx: &Context,
        writer: Entity,
        reader: Entity,
        inbox: &'a mut Inbox,
    ) -> Option<Self> {
        let me = core.prefix();
        let peer = core.peers.get_mut(&cx.source)?;
        let remote = peer.writers.get_mut(&writer)?;
        if !remote.proxies.iter().any(|p| meant(reader, p)) {
            return None;
        }
        peer.has_spoken = true;
        let (strength, lifespan) = remote.qos().map_or((0, None), |q| (q.ownership_strength, q.lifespan));
        Some(Self {
            source: cx.source,
            reader,
            pending_before: remote.pending_bytes(),
            remote,
            arena: &mut core.arena,
            limits: &core.config.limits,
            counters: &core.counters,
            pending_total: &mut core.pending_bytes,
            pending_peer: &mut peer.pending,
            news: &mut core.news,
            inbox,
            gate: Gate {
                readers: &mut core.readers,
                watch: &mut core.timers.watch,
                counters: &core.counters,
                now: cx.now,
                wall_ns: cx.wall_ns,
                strength,
                lifespan,
            },
            events: &mut core.events,
            writer,
            me,
            asserted: &mut peer.asserted,
            lapsed: peer.lapsed_manual,
        })
    }

    /// Notes that the application wrote to the writer or asserted it.
    fn is_alive(&mut self) {
        let Some(lease) = &mut self.remote.lease else { return };
        match lease.kind {
            Liveliness::Automatic => return,
            // One writer speaks for all.
            Liveliness::ManualByParticipant => *self.asserted = self.gate.now,
            Liveliness::ManualByTopic => {}
        }
        lease.heard = self.gate.now;
        if !lease.alive || self.lapsed {
            at_latest(self.gate.watch, self.gate.now);
        }
    }

    /// A sample, or its place when it lacks even the encapsulation header.
    fn sample(&self, sample: Sample) -> Arrival {
        if sample.payload.len() < 4 {
            add(&self.counters.malformed, 1);
            return Arrival::Irrelevant;
        }
        Arrival::Sample(sample)
    }

    fn wants(&mut self, seq: i64) -> bool {
        self.remote.recount(seq, self.gate.now);
        self.remote.proxies.iter().any(|p| meant(self.reader, p) && p.wants(seq))
    }

    fn progress(&mut self, seq: i64, now: Instant) {
        self.remote.proxies.iter_mut().for_each(|proxy| proxy.progress(seq, now));
    }

    fn free_bytes(&self) -> usize {
        self.limits.pending_bytes.saturating_sub(*self.pending_total)
    }

    fn offer(&mut self, seq: i64, arrival: Arrival) {
        let mut last = Some(arrival);
        let mut left = self.remote.proxies.iter().filter(|p| meant(self.reader, p)).count();
        self.each(|proxy, room, deliver, outcome| {
            left = left.saturating_sub(1);
            // The last reader gets the original, the ones before it copies of the handle.
            let Some(arrival) = (if left == 0 { last.take() } else { last.as_ref().map(Arrival::share) })
            else {
                return;
            };
            *outcome = proxy.offer(seq, arrival, room, deliver);
        });
        self.prune();
    }

    /// Runs `f` for every reader meant, with what it needs to deliver.
    fn each(
        &mut self,
        mut f: impl FnMut(&mut WriterProxy, HoldRoom, &mut dyn FnMut(&Sink, Arrival), &mut Outcome),
    ) {
        // Early samples get half of the room at most, so that the one they wait for can always be put together.
        let free_bytes = (self.limits.pending_bytes / 2).saturating_sub(*self.pending_total);
        let room = HoldRoom { samples: self.limits.reorder_samples, free_bytes };
        let (source, counters) = (self.source, self.counters);
        let (news, samples, gate) = (&mut *self.news, &mut self.inbox.samples, &mut self.gate);
        let mut deliver = |sink: &Sink, arrival: Arrival| match (sink, arrival) {
            (Sink::User(f), Arrival::Sample(sample)) => {
                add(&counters.samples_in, 1);
                samples.push((f.clone(), sample));
            }
            (Sink::Choosy(reader), Arrival::Sample(sample)) => {
                if let Some(f) = gate.admit(*reader, &sample) {
                    add(&counters.samples_in, 1);
                    samples.push((f, sample));
                }
            }
            (Sink::Builtin(builtin), arrival) => news.push((source, *builtin, arrival)),
            (Sink::User(_) | Sink::Choosy(_), _) => {}
        };
        for proxy in self.remote.proxies.iter_mut().filter(|p| meant(self.reader, p)) {
            let mut outcome = Outcome::default();
            f(proxy, room, &mut deliver, &mut outcome);
            if outcome != Outcome::default() {
                if outcome.lost > 0 && !matches!(proxy.sink, Sink::Builtin(_)) {
                    add(&counters.lost, outcome.lost.min(MAX_LOST));
                    let reader = Guid { prefix: self.me, entity: proxy.reader };
                    let writer = Guid { prefix: source, entity: self.writer };
                    self.events.lost(reader, writer, outcome.lost);
                }
                add(&counters.over_limit, u64::from(outcome.over_limit));
            }
        }
    }

    /// Forgets partly received samples that every reader has passed.
    fn prune(&mut self) {
        if let Some(oldest) = self.remote.proxies.iter().map(WriterProxy::expected).min() {
            self.remote.partials.prune(oldest);
        }
    }
}

impl Drop for Sorter<'_> {
    fn drop(&mut self) {
        let after = self.remote.pending_bytes();
        for books in [&mut *self.pending_total, &mut *self.pending_peer] {
            *books = (*books + after).saturating_sub(self.pending_before);
        }
    }
}
