//! Samples going out.

use std::ops::Range;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::history::{COPY_MAX, Cache, Slot, covers};
use super::lane::{BURST, Lane};
use super::outbox::Outbox;
use super::peer::Address;
use super::queue::{Job, Turn};
use super::writer::{Dest, LocalWriter};
use super::{Core, at_latest};
use crate::endpoint::WriteOptions;
use crate::error::WriteError;
use crate::guid::Guid;
use crate::stats::add;
use crate::wire::{DataFrag, Encoder, Entity, Gap, InlineQos, Prefix, SequenceSet, UNKNOWN_ENTITY};

/// Largest payload: the size field of a fragment has 32 bits.
const MAX_PAYLOAD: usize = u32::MAX as usize;

impl Core {
    /// Writes one sample. Small ones are in `out` afterwards, big ones leave with later calls of [`Core::poll`].
    pub(crate) fn write(
        &mut self,
        entity: Entity,
        payload: &Bytes,
        options: WriteOptions,
        wall_ns: i64,
        now: Instant,
        out: &mut Outbox,
    ) -> Result<i64, WriteError> {
        let me = self.prefix();
        let writer = self.writers.get_mut(&entity).ok_or(WriteError::Closed)?;
        if let Err(error) = check(writer, payload, options.only_to, now) {
            if error == WriteError::HistoryFull {
                writer.hurry(me, now, out);
            }
            return Err(error);
        }
        let seq = writer.next;
        writer.next += 1;
        add(&self.counters.samples_out, 1);
        let source_time = options.source_time.unwrap_or(wall_ns);
        let expires = writer.spec.qos.lifespan.map(|lifespan| now + left(lifespan, source_time, wall_ns));

        if writer.dests.iter().any(|d| payload.len() > d.path.whole()) {
            writer.last_fragmented = seq;
        }
        let direct = |d: &Dest| d.queued == 0 && !d.flying && payload.len() <= d.path.whole();
        let is_target = |d: &Dest| options.only_to.is_none_or(|only| only.prefix == d.prefix);
        let all_direct = writer.dests.iter().filter(|d| is_target(d)).all(direct);
        if writer.spec.qos.transient_local || writer.has_reliable() || !all_direct {
            let stored = writer.history.store(payload);
            writer.history.push(Slot {
                seq,
                payload: stored,
                related: options.related,
                only_to: options.only_to,
                source_time,
                expires,
                disposed: None,
            });
        }
        let heartbeat = writer.has_reliable().then(|| {
            let ask = writer.ask(payload.len() > COPY_MAX, now);
            writer.heartbeat(UNKNOWN_ENTITY, 1, seq, !ask)
        });
        let reader = options.only_to.map_or(UNKNOWN_ENTITY, |only| only.entity);
        let mut encoded = false;
        for dest in &mut writer.dests {
            if dest.silent {
                dest.skip(seq);
            } else if !is_target(dest) {
                if dest.reliable && dest.queued == 0 {
                    strike(entity, seq..seq + 1, dest, me, out);
                    dest.sent = seq;
                }
            } else if !direct(dest) {
                dest.queued += 1;
                if let Some(peer) = self.peers.get_mut(&dest.prefix) {
                    let address = Address { to: dest.to, path: dest.path };
                    let lane = peer.lane(address, self.config.pace_bytes_per_s, now);
                    lane.queue.push(Job::new(entity, seq, payload.len()));
                    at_latest(&mut self.timers.send, lane.due().unwrap_or(now));
                }
            } else {
                dest.sent = seq;
                if encoded {
                    out.repeat(dest.to);
                    continue;
                }
                encoded = options.only_to.is_none();
                out.message(dest.to, me, |e| {
                    if options.only_to.is_some() {
                        // A restarted peer may have the address and the same reader ids.
                        e.info_dst(dest.prefix);
                    }
                    e.info_ts(source_time);
                    e.data(reader, entity, seq, options.related, payload);
                    if let Some(heartbeat) = &heartbeat {
                        e.heartbeat(heartbeat);
                    }
                });
            }
        }
        let has_promised = writer.has_promised();
        if heartbeat.is_some() {
            self.arm(entity, now);
        }
        if has_promised {
            self.keep_promise(entity, now, out);
        }
        Ok(seq)
    }

    /// Notes that all datagrams so far have been handed to the sockets.
    pub(crate) fn landed(&mut self) {
        for entity in self.flying.drain(..) {
            let dests = self.writers.get_mut(&entity).map(|writer| &mut writer.dests);
            dests.into_iter().flatten().for_each(|dest| dest.flying = false);
        }
    }

    /// Whether [`Core::landed`] has something to do.
    pub(crate) fn is_flying(&self) -> bool {
        !self.flying.is_empty()
    }

    /// Sends what the lanes may send now.
    pub(super) fn run_lanes(&mut self, now: Instant, out: &mut Outbox) {
        self.timers.send = None;
        let me = self.prefix();
        let mut touched = Vec::new();
        for (prefix, peer) in &mut self.peers {
            for lane in &mut peer.lanes {
                let runs = lane.due().is_some_and(|at| at <= now);
                if runs {
                    lane.wake(now);
                }
                while runs && lane.may_send(now) && !lane.queue.is_empty() {
                    let mut spent = 0;
                    while spent < BURST {
                        let Some(turn) = lane.queue.take() else { break };
                        let (Turn::Fresh(Job { writer: entity, .. }) | Turn::Repair(entity, _)) = &turn;
                        let entity = *entity;
                        let Some(writer) = self.writers.get_mut(&entity) else { continue };
                        writer.expire(now);
                        let (bytes, again) = match turn {
                            Turn::Fresh(job) if writer.must_wait(&job, *prefix, lane) => {
                                lane.block(job, now);
                                continue;
                            }
                            Turn::Fresh(job) => fresh(writer, job, *prefix, lane, me, now, out),
                            Turn::Repair(_, reader) => {
                                let (bytes, again) = writer.repair(reader, lane, me, out);
                                add(&self.counters.repairs, u64::from(bytes > 0));
                                (bytes, again)
                            }
                        };
                        match again {
                            Some(turn) => lane.queue.put_back(turn, bytes),
                            None => touched.push(entity),
                        }
                        spent += bytes;
                    }
                    lane.spent(spent, now);
                }
                if runs {
                    lane.pause(now);
                }
                if let Some(at) = lane.due() {
                    at_latest(&mut self.timers.send, at);
                }
            }
        }
        self.flying.extend(&touched);
        for entity in touched {
            if let Some(writer) = self.writers.get_mut(&entity) {
                writer.prune();
            }
            self.arm(entity, now);
        }
    }

    /// Whether a writer can take a payload of this size; also when it is not there, which a write will tell.
    pub(crate) fn has_room(&self, writer: Entity, len: usize) -> bool {
        self.writers.get(&writer).is_none_or(|writer| writer.history.has_room(len))
    }

    /// Queues the repairs a reader waits for, unless they are queued already.
    pub(super) fn queue_repair(&mut self, writer: Entity, reader: Guid, address: Address, now: Instant) {
        let Some(local) = self.writers.get_mut(&writer) else { return };
        let Some(proxy) = local.proxies.iter_mut().find(|p| p.guid == reader) else { return };
        let Some(peer) = self.peers.get_mut(&reader.prefix) else { return };
        if proxy.queued || proxy.repairs.is_empty() {
            return;
        }
        proxy.queued = true;
        let lane = peer.lane(address, self.config.pace_bytes_per_s, now);
        lane.queue.push_repair(writer, reader);
        at_latest(&mut self.timers.send, lane.due().unwrap_or(now));
    }

    /// Heartbeats to readers that are behind; writers that have none of them are left alone from now on.
    pub(super) fn send_heartbeats(&mut self, now: Instant, out: &mut Outbox) {
        let me = self.prefix();
        let mut armed = std::mem::take(&mut self.armed);
        armed.iter().for_each(|entity| self.notice_silence(*entity, now));
        armed.retain(|entity| {
            let Some(writer) = self.writers.get_mut(entity) else { return false };
            writer.armed = writer.periodic_heartbeats(me, out);
            writer.armed
        });
        self.armed = armed;
        self.timers.heartbeat = (!self.armed.is_empty()).then(|| now + super::HEARTBEAT_PERIOD);
    }
}

/// What is left of the lifespan of a sample; source times in the future count as now.
fn left(lifespan: Duration, source_time: i64, wall_ns: i64) -> Duration {
    let age = u64::try_from(wall_ns.saturating_sub(source_time)).unwrap_or(0);
    lifespan.saturating_sub(Duration::from_nanos(age))
}

fn check(
    writer: &mut LocalWriter,
    payload: &Bytes,
    only_to: Option<Guid>,
    now: Instant,
) -> Result<(), WriteError> {
    let have = payload.len();
    if have < 4 {
        return Err(WriteError::TooShort { have });
    }
    if have > MAX_PAYLOAD {
        return Err(WriteError::TooLong { have, max: MAX_PAYLOAD });
    }
    if only_to.is_some_and(|only| !writer.proxies.iter().any(|p| covers(only, p.guid))) {
        return Err(WriteError::NotMatched);
    }
    if !writer.history.has_room(have) {
        writer.history.expire(now);
        writer.prune();
        if !writer.history.has_room(have) {
            return Err(WriteError::HistoryFull);
        }
    }
    Ok(())
}

/// Tells all readers at `dest` that these numbers are not for them.
fn strike(writer: Entity, seqs: Range<i64>, dest: &Dest, me: Prefix, out: &mut Outbox) {
    let gap = Gap { reader: UNKNOWN_ENTITY, writer, start: seqs.start, list: SequenceSet::new(seqs.end) };
    out.message(dest.to, me, |e| {
        // For this participant only: another one may use the address by now.
        e.info_dst(dest.prefix);
        e.gap(&gap);
    });
}

/// After the last queued sample: what was written behind it for others only, which could not be told before.
fn strike_rest(history: &Cache, next: i64, writer: Entity, dest: &mut Dest, me: Prefix, out: &mut Outbox) {
    let first = dest.sent + 1;
    if dest.queued > 0 || first == next {
        return;
    }
    let is_foreign = |slot: &Slot| slot.only_to.is_some_and(|only| only.prefix != dest.prefix);
    if (first..next).filter_map(|seq| history.get(seq)).all(is_foreign) {
        if dest.reliable {
            strike(writer, first..next, dest, me, out);
        }
        dest.sent = next - 1;
    }
}

/// Sends the next part of a fresh sample; returns its size and the job when there is more of it.
fn fresh(
    writer: &mut LocalWriter,
    mut job: Job,
    prefix: Prefix,
    lane: &Lane,
    me: Prefix,
    now: Instant,
    out: &mut Outbox,
) -> (usize, Option<Turn>) {
    let entity = writer.entity;
    let Some(dest) = writer.dests.iter_mut().find(|d| d.prefix == prefix && d.to == lane.to) else {
        return (0, None);
    };
    let Some(slot) = job.begun.as_deref().or_else(|| writer.history.get(job.seq)) else {
        // Given up by a keep-last history; the next heartbeat tells.
        dest.left(job.seq);
        strike_rest(&writer.history, writer.next, entity, dest, me, out);
        return (0, None);
    };
    let reader = slot.only_to.map_or(dest.reader, |only| only.entity);
    let whole = lane.path.whole();
    let next = send_slot(slot, entity, reader, prefix, job.fragment, lane, whole, me, out);
    let bytes = out.last_len();
    if let Some(fragment) = next {
        job.fragment = fragment;
        job.begun = job.begun.take().or_else(|| writer.history.get(job.seq).map(|s| Box::new(s.clone())));
        return (bytes, Some(Turn::Fresh(job)));
    }
    dest.left(job.seq);
    dest.flying = true;
    strike_rest(&writer.history, writer.next, entity, dest, me, out);
    let (reliable, sent, reader) = (dest.reliable, dest.sent, dest.reader);
    if reliable {
        let big = bytes > COPY_MAX;
        let ask = writer.ask(big, now);
        let heartbeat = writer.heartbeat(reader, 1, sent, !ask);
        out.message(lane.to, me, |e| {
            e.info_dst(prefix);
            e.heartbeat(&heartbeat);
        });
    }
    (bytes, None)
}

/// Sends a held sample from `fragment` on to one address; returns the number of the fragment that is next.
#[expect(clippy::too_many_arguments, reason = "everything that goes into one datagram")]
pub(super) fn send_slot(
    slot: &Slot,
    writer: Entity,
    reader: Entity,
    prefix: Prefix,
    fragment: u32,
    lane: &Lane,
    whole: usize,
    me: Prefix,
    out: &mut Outbox,
) -> Option<u32> {
    let payload = slot.payload.as_slice();
    let head = |e: &mut Encoder<'_>| {
        e.info_dst(prefix);
        e.info_ts(slot.source_time);
    };
    if let Some(key) = slot.disposed {
        out.message(lane.to, me, |e| {
            head(e);
            e.dispose(reader, writer, slot.seq, key.as_bytes(), payload);
        });
        return None;
    }
    if payload.len() <= whole {
        out.message(lane.to, me, |e| {
            head(e);
            e.data(reader, writer, slot.seq, slot.related, payload);
        });
        return None;
    }
    let fragment_size = lane.path.fragment();
    let size = usize::from(fragment_size);
    let start = usize::try_from(fragment.max(1) - 1).unwrap_or(usize::MAX).saturating_mul(size);
    if start >= payload.len() {
        return None;
    }
    let end = (start + size).min(payload.len());
    let frag = DataFrag {
        reader,
        writer,
        seq: slot.seq,
        first: fragment,
        count: 1,
        fragment_size,
        sample_size: u32::try_from(payload.len()).unwrap_or(u32::MAX),
        inline: InlineQos { related: slot.related, ..InlineQos::default() },
        payload: &[],
        is_key: false,
    };
    let body = slot.payload.slice(start, end);
    if body.len().is_multiple_of(4) {
        out.gather(
            lane.to,
            me,
            |e| {
                head(e);
                e.data_frag_head(&frag, end - start);
            },
            body,
        );
    } else {
        // Submessages are padded to four bytes, which only a copy can do.
        out.message(lane.to, me, |e| {
            head(e);
            e.data_frag(&frag, &body);
        });
    }
    (end < payload.len()).then_some(fragment + 1)
}
