use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::history::Cache;
use super::lane::Path;
use super::outbox::Outbox;
use super::peer::Address;
use super::repairs::Repairs;
use super::watch::Deadline;
use crate::endpoint::EndpointSpec;
use crate::graph::Liveliness;
use crate::guid::Guid;
use crate::wire::{Entity, Gap, Heartbeat, Prefix, SequenceSet, UNKNOWN_ENTITY};

/// A writer of this participant, user made or one of the two that announce endpoints.
pub(crate) struct LocalWriter {
    pub(crate) entity: Entity,
    pub(crate) spec: EndpointSpec,
    pub(crate) history: Cache,
    /// Number of the next sample.
    pub(crate) next: i64,
    pub(crate) proxies: Vec<ReaderProxy>,
    /// Addresses of the matched readers, one entry for all readers of a participant at one address.
    pub(crate) dests: Vec<Dest>,
    /// The newest sample that went to anybody in fragments.
    pub(crate) last_fragmented: i64,
    heartbeats: i32,
    last_ask: Option<Instant>,
    /// In the list of writers with a periodic heartbeat.
    pub(crate) armed: bool,
    pub(crate) matched: Arc<AtomicUsize>,
    /// Number of its announcement, for withdrawing it.
    pub(crate) announced: i64,
    pub(crate) deadline: Deadline,
    /// When the application wrote or asserted it last, with manual liveliness by topic; else when it was made.
    pub(crate) asserted: Option<Instant>,
    /// It has kept its promise of liveliness so far.
    pub(crate) alive: bool,
}

/// A writer's view of one remote reader.
#[derive(Debug)]
pub(crate) struct ReaderProxy {
    pub(crate) guid: Guid,
    pub(crate) to: SocketAddr,
    pub(crate) path: Path,
    pub(crate) reliable: bool,
    /// First number meant for this reader.
    pub(crate) start: i64,
    /// Everything up to here has arrived.
    pub(crate) acked: i64,
    /// Highest number it asked for as a whole.
    pub(crate) asked: i64,
    /// Count of the last ACKNACK taken, and when it came.
    pub(crate) ack_count: Option<(i32, Instant)>,
    /// The oldest sample the last heartbeat to this reader alone offered.
    pub(crate) told: i64,
    /// What to send again.
    pub(crate) repairs: Repairs,
    /// In the queue of its lane.
    pub(crate) queued: bool,
}

/// Where samples of a writer go.
#[derive(Debug)]
pub(crate) struct Dest {
    pub(crate) prefix: Prefix,
    pub(crate) to: SocketAddr,
    pub(crate) path: Path,
    /// The reader meant, or all of them.
    pub(crate) reader: Entity,
    pub(crate) reliable: bool,
    /// Highest number that left completely.
    pub(crate) sent: i64,
    /// Samples waiting in the lane.
    pub(crate) queued: u32,
    /// The end of one that left the lane may not be at the socket yet: what is sent directly would overtake it.
    pub(crate) flying: bool,
    /// Since when heartbeats have got no answer.
    pub(crate) asked: Option<Instant>,
    /// Gets no fresh samples until its participant is heard again.
    pub(crate) silent: bool,
}

/// A heartbeat asks for an answer at most this often, so that fast topics do not cause an ACKNACK per sample.
const ASK_EVERY: Duration = Duration::from_millis(10);
/// A writer that is full asks again after this long at the earliest.
const HURRY: Duration = Duration::from_millis(1);
/// An ACKNACK whose count went back after this long comes from a reader that began to count anew, as some do when they
/// find us again; no datagram is that late.
const RECOUNT: Duration = Duration::from_millis(500);

impl LocalWriter {
    pub(crate) fn new(entity: Entity, spec: EndpointSpec) -> Self {
        Self {
            entity,
            history: Cache::new(spec.qos.history),
            spec,
            next: 1,
            proxies: Vec::new(),
            dests: Vec::new(),
            last_fragmented: 0,
            heartbeats: 0,
            last_ask: None,
            armed: false,
            matched: Arc::default(),
            announced: 0,
            deadline: Deadline::default(),
            asserted: None,
            alive: true,
        }
    }

    /// Drops samples whose lifespan is over, so that they are neither replayed nor repaired.
    pub(crate) fn expire(&mut self, now: Instant) {
        if self.spec.qos.lifespan.is_some() {
            self.history.expire(now);
        }
    }

    /// Whether each write keeps a promise.
    pub(crate) fn has_promised(&self) -> bool {
        self.spec.qos.deadline.is_some() || self.spec.qos.liveliness != Liveliness::Automatic
    }

    /// Adds a matched reader; false when it is there already.
    pub(crate) fn add_proxy(&mut self, mut proxy: ReaderProxy, wants_history: bool) -> bool {
        if self.proxies.iter().any(|p| p.guid == proxy.guid) {
            return false;
        }
        let replay = wants_history && self.spec.qos.transient_local;
        proxy.start = if replay { self.history.first().unwrap_or(self.next) } else { self.next };
        proxy.acked = proxy.start - 1;
        if replay && !proxy.reliable {
            self.history.seqs().for_each(|seq| proxy.repairs.want(seq));
        }
        self.proxies.push(proxy);
        self.rebuild_dests();
        true
    }

    /// Sends to a matched reader at this address from now on; false when it is not matched.
    pub(crate) fn readdress(&mut self, reader: Guid, address: Address) -> bool {
        let Some(proxy) = self.proxies.iter_mut().find(|p| p.guid == reader) else { return false };
        if (proxy.to, proxy.path) != (address.to, address.path) {
            (proxy.to, proxy.path) = (address.to, address.path);
            self.rebuild_dests();
        }
        true
    }

    /// Drops the readers for which `gone` holds; true when there were any.
    pub(crate) fn drop_proxies(&mut self, gone: impl Fn(&ReaderProxy) -> bool) -> bool {
        let before = self.proxies.len();
        self.proxies.retain(|p| !gone(p));
        let changed = self.proxies.len() != before;
        if changed {
            self.rebuild_dests();
            self.prune();
        }
        changed
    }

    /// Derives the addresses from the proxies, keeping what is known of those that stay.
    pub(crate) fn rebuild_dests(&mut self) {
        let old = std::mem::take(&mut self.dests);
        for proxy in &self.proxies {
            let same = |d: &&mut Dest| d.prefix == proxy.guid.prefix && d.to == proxy.to;
            if let Some(dest) = self.dests.iter_mut().find(same) {
                dest.reader = UNKNOWN_ENTITY;
                dest.reliable |= proxy.reliable;
                continue;
            }
            let known = old.iter().find(|d| d.prefix == proxy.guid.prefix && d.to == proxy.to);
            self.dests.push(Dest {
                prefix: proxy.guid.prefix,
                to: proxy.to,
                path: proxy.path,
                reader: proxy.guid.entity,
                reliable: proxy.reliable,
                sent: known.map_or(self.next - 1, |d| d.sent),
                queued: known.map_or(0, |d| d.queued),
                flying: known.is_some_and(|d| d.flying),
                asked: known.and_then(|d| d.asked),
                silent: known.is_some_and(|d| d.silent),
            });
        }
        self.count_matched();
    }

    /// Counts the readers that know us.
    pub(crate) fn count_matched(&self) {
        self.matched.store(self.proxies.iter().filter(|p| p.knows_us()).count(), Ordering::Relaxed);
    }

    /// The highest number that has left for this reader.
    pub(crate) fn sent_to(&self, proxy: &ReaderProxy) -> i64 {
        self.dests.iter().find(|d| d.prefix == proxy.guid.prefix && d.to == proxy.to).map_or(0, |d| d.sent)
    }

    pub(crate) fn has_reliable(&self) -> bool {
        self.dests.iter().any(|d| d.reliable)
    }

    /// Whether a reliable reader has not confirmed everything that left for it, or not even that it knows us.
    pub(crate) fn is_behind(&self) -> bool {
        self.proxies.iter().any(|p| self.lacks(p))
    }

    fn lacks(&self, proxy: &ReaderProxy) -> bool {
        proxy.reliable && (proxy.acked < self.sent_to(proxy) || !proxy.knows_us())
    }

    /// Drops what nobody can ask for any more.
    pub(crate) fn prune(&mut self) {
        let acked = self.proxies.iter().filter(|p| p.reliable).map(|p| p.acked);
        let queued = self.dests.iter().filter(|d| d.queued > 0).map(|d| d.sent);
        let floor = acked.chain(queued).min().unwrap_or(self.next - 1);
        if !self.spec.qos.transient_local {
            self.history.prune(floor);
        } else if self.entity.ends_with(&[0xc2]) {
            self.history.prune_disposed(floor);
        }
    }

    /// Whether this sample's heartbeat should ask for an answer.
    pub(crate) fn ask(&mut self, big: bool, now: Instant) -> bool {
        let old = self.last_ask.is_none_or(|at| now.saturating_duration_since(at) >= ASK_EVERY);
        let ask = big || old || (self.history.is_filling() && self.next % 32 == 0);
        if ask {
            self.last_ask = Some(now);
        }
        ask
    }

    /// Asks the readers that are behind for an answer at once, since a write has found no room.
    pub(crate) fn hurry(&mut self, me: Prefix, now: Instant, out: &mut Outbox) {
        if self.last_ask.is_none_or(|at| now.saturating_duration_since(at) >= HURRY) {
            self.last_ask = Some(now);
            self.periodic_heartbeats(me, out);
        }
    }

    /// A heartbeat for `reader` that has been sent everything up to `sent`; earlier than `start` it need not know.
    pub(crate) fn heartbeat(&mut self, reader: Entity, start: i64, sent: i64, is_final: bool) -> Heartbeat {
        self.heartbeats = self.heartbeats.wrapping_add(1);
        let first = self.first_for(start).min(sent + 1);
        Heartbeat {
            reader,
            writer: self.entity,
            first,
            last: sent,
            count: self.heartbeats,
            is_final,
            liveliness: false,
        }
    }

    /// The oldest sample a reader from `start` on can have.
    pub(crate) fn first_for(&self, start: i64) -> i64 {
        self.history.first().unwrap_or(self.next).max(start)
    }

    /// Sends a heartbeat to the reader at `index`.
    pub(crate) fn send_heartbeat(&mut self, index: usize, me: Prefix, is_final: bool, out: &mut Outbox) {
        let Some(proxy) = self.proxies.get(index) else { return };
        let (guid, to, start, sent) = (proxy.guid, proxy.to, proxy.start, self.sent_to(proxy));
        let heartbeat = self.heartbeat(guid.entity, start, sent, is_final);
        if let Some(proxy) = self.proxies.get_mut(index) {
            proxy.told = heartbeat.first;
        }
        out.message(to, me, |e| {
            e.info_dst(guid.prefix);
            e.heartbeat(&heartbeat);
        });
    }

    /// Tells all readers that this writer is alive.
    pub(crate) fn send_alive(&mut self, me: Prefix, out: &mut Outbox) {
        for index in 0..self.dests.len() {
            let Some(dest) = self.dests.get(index) else { return };
            let (prefix, to, reader, sent) = (dest.prefix, dest.to, dest.reader, dest.sent);
            let heartbeat = Heartbeat { liveliness: true, ..self.heartbeat(reader, 1, sent, true) };
            out.message(to, me, |e| {
                e.info_dst(prefix);
                e.heartbeat(&heartbeat);
            });
        }
    }

    /// Sends heartbeats to all readers that are behind; false when none is.
    pub(crate) fn periodic_heartbeats(&mut self, me: Prefix, out: &mut Outbox) -> bool {
        let mut any = false;
        for index in 0..self.proxies.len() {
            if self.proxies.get(index).is_some_and(|p| self.lacks(p)) {
                any = true;
                self.send_heartbeat(index, me, false, out);
            }
        }
        any
    }

    /// Whether `seq` can be sent (again) to this reader.
    pub(crate) fn can_send(&self, seq: i64, proxy: &ReaderProxy) -> bool {
        seq >= proxy.start && self.history.get(seq).is_some_and(|slot| slot.is_for(proxy.guid))
    }

    /// Tells the reader at `index` that the numbers in these ranges, ends excluded, are not for it.
    ///
    /// Only for numbers of which nothing was ever sent to that reader. Fast DDS (2.14 to 3.6) keeps a half-received
    /// sample in two places and a GAP removes it from one: the next take spins for ever. What a keep-last history has
    /// given up is told by the first number of a heartbeat instead. For the same reason there is a GAP for each range
    /// and none has a list: with one, Fast DDS drops what it has of the sample at the base of the list.
    pub(crate) fn send_gaps(&self, index: usize, ranges: &[(i64, i64)], me: Prefix, out: &mut Outbox) {
        let Some(proxy) = self.proxies.get(index).filter(|_| !ranges.is_empty()) else { return };
        out.message(proxy.to, me, |e| {
            e.info_dst(proxy.guid.prefix);
            for (start, end) in ranges {
                let list = SequenceSet::new(*end);
                e.gap(&Gap { reader: proxy.guid.entity, writer: self.entity, start: *start, list });
            }
        });
    }
}

impl ReaderProxy {
    pub(crate) fn new(guid: Guid, to: SocketAddr, path: Path, reliable: bool) -> Self {
        Self {
            guid,
            to,
            path,
            reliable,
            start: 1,
            acked: 0,
            asked: 0,
            ack_count: None,
            told: 0,
            repairs: Repairs::default(),
            queued: false,
        }
    }

    /// Whether the reader has matched us as well. A reliable one says so with an ACKNACK, which our heartbeats ask for;
    /// what is sent before may be lost for good: Cyclone DDS counts all up to the first heartbeat it sees as past.
    pub(crate) fn knows_us(&self) -> bool {
        !self.reliable || self.ack_count.is_some()
    }

    /// Whether an ACKNACK is news rather than repeated or overtaken.
    pub(crate) fn takes(&mut self, count: i32, now: Instant) -> bool {
        let stale = self.ack_count.is_some_and(|(last, at)| {
            count.wrapping_sub(last) <= 0 && now.saturating_duration_since(at) < RECOUNT
        });
        if !stale {
            self.ack_count = Some((count, now));
        }
        !stale
    }
}
