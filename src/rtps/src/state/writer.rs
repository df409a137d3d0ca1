use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::history::Cache;
use super::lane::Path;
use super::outbox::Outbox;
use crate::endpoint::EndpointSpec;
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
    heartbeats: i32,
    last_ask: Option<Instant>,
    /// In the list of writers with a periodic heartbeat.
    pub(crate) armed: bool,
    pub(crate) matched: Arc<AtomicUsize>,
    /// Number of its announcement, for withdrawing it.
    pub(crate) announced: i64,
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
    pub(crate) ack_count: Option<i32>,
    /// Samples to send again, ascending.
    pub(crate) requested: Vec<i64>,
    /// The sample that is being sent again in fragments.
    pub(crate) fragments: Option<FragmentRepair>,
    /// In the queue of its lane.
    pub(crate) queued: bool,
}

/// Fragments of one sample to send again.
#[derive(Debug)]
pub(crate) struct FragmentRepair {
    pub(crate) seq: i64,
    /// Which ones, in descending order so that the next one is at the end; `None` for all from `next` on.
    pub(crate) list: Option<Vec<u32>>,
    pub(crate) next: u32,
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
}

/// A heartbeat asks for an answer at most this often, so that fast topics do not cause an ACKNACK per sample.
const ASK_EVERY: Duration = Duration::from_millis(10);
/// Samples a reader may ask for at one time.
pub(crate) const MAX_REQUESTED: usize = 256;
/// Fragments a reader may ask for at one time.
pub(crate) const MAX_FRAGMENTS: usize = 2048;

impl LocalWriter {
    pub(crate) fn new(entity: Entity, spec: EndpointSpec) -> Self {
        Self {
            entity,
            history: Cache::new(spec.qos.history),
            spec,
            next: 1,
            proxies: Vec::new(),
            dests: Vec::new(),
            heartbeats: 0,
            last_ask: None,
            armed: false,
            matched: Arc::default(),
            announced: 0,
        }
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
            proxy.requested.extend(self.history.seqs().take(MAX_REQUESTED));
        }
        self.proxies.push(proxy);
        self.rebuild_dests();
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
            });
        }
        self.matched.store(self.proxies.len(), Ordering::Relaxed);
    }

    /// The highest number that has left for this reader.
    pub(crate) fn sent_to(&self, proxy: &ReaderProxy) -> i64 {
        self.dests.iter().find(|d| d.prefix == proxy.guid.prefix && d.to == proxy.to).map_or(0, |d| d.sent)
    }

    pub(crate) fn has_reliable(&self) -> bool {
        self.dests.iter().any(|d| d.reliable)
    }

    /// Whether a reliable reader has not confirmed everything that left for it.
    pub(crate) fn is_behind(&self) -> bool {
        self.proxies.iter().any(|p| p.reliable && p.acked < self.sent_to(p))
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

    /// A heartbeat for `reader` that has been sent everything up to `sent`; earlier than `start` it need not know.
    pub(crate) fn heartbeat(&mut self, reader: Entity, start: i64, sent: i64, is_final: bool) -> Heartbeat {
        self.heartbeats = self.heartbeats.wrapping_add(1);
        let first = self.history.first().unwrap_or(self.next).max(start).min(sent + 1);
        Heartbeat { reader, writer: self.entity, first, last: sent, count: self.heartbeats, is_final }
    }

    /// Sends a heartbeat to the reader at `index`.
    pub(crate) fn send_heartbeat(&mut self, index: usize, me: Prefix, is_final: bool, out: &mut Outbox) {
        let Some(proxy) = self.proxies.get(index) else { return };
        let (guid, to, start, sent) = (proxy.guid, proxy.to, proxy.start, self.sent_to(proxy));
        let heartbeat = self.heartbeat(guid.entity, start, sent, is_final);
        out.message(to, me, |e| {
            e.info_dst(guid.prefix);
            e.heartbeat(&heartbeat);
        });
    }

    /// Sends heartbeats to all readers that are behind; false when none is.
    pub(crate) fn periodic_heartbeats(&mut self, me: Prefix, out: &mut Outbox) -> bool {
        let mut any = false;
        for index in 0..self.proxies.len() {
            let behind = |p: &&ReaderProxy| p.reliable && p.acked < self.sent_to(p);
            if self.proxies.get(index).filter(behind).is_some() {
                any = true;
                self.send_heartbeat(index, me, false, out);
            }
        }
        any
    }

    /// Whether `seq` can be sent (again) to this reader.
    pub(crate) fn can_send(&self, seq: i64, proxy: &ReaderProxy) -> bool {
        seq >= proxy.start
            && self.history.get(seq).is_some_and(|slot| slot.only_to.is_none_or(|only| only == proxy.guid))
    }

    /// Tells the reader at `index` that these numbers (ascending) will not come, nor those between `from` and its
    /// start.
    pub(crate) fn send_gap(&self, index: usize, irrelevant: &[i64], from: i64, me: Prefix, out: &mut Outbox) {
        let Some(proxy) = self.proxies.get(index) else { return };
        // Numbers before the reader's start form one run, whatever of it was asked for.
        let head = (from < proxy.start).then_some((from, proxy.start));
        let rest: Vec<i64> = irrelevant.iter().copied().filter(|seq| *seq >= proxy.start).collect();
        let Some(start) = head.map(|(from, _)| from).or_else(|| rest.first().copied()) else { return };
        let mut end = head.map_or(start, |(_, end)| end);
        for seq in &rest {
            if *seq == end {
                end += 1;
            }
        }
        let mut list = SequenceSet::new(end);
        for seq in rest.into_iter().filter(|seq| *seq > end) {
            list.insert(seq);
        }
        let gap = Gap { reader: proxy.guid.entity, writer: self.entity, start: start.max(1), list };
        out.message(proxy.to, me, |e| {
            e.info_dst(proxy.guid.prefix);
            e.gap(&gap);
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
            ack_count: None,
            requested: Vec::new(),
            fragments: None,
            queued: false,
        }
    }

    /// Notes a sample to send again, within bounds.
    pub(crate) fn request(&mut self, seq: i64) {
        if let Err(at) = self.requested.binary_search(&seq)
            && self.requested.len() < MAX_REQUESTED
        {
            self.requested.insert(at, seq);
        }
    }

    /// Notes fragments to send again, within bounds and one sample at a time.
    pub(crate) fn request_fragments(&mut self, seq: i64, fragments: impl Iterator<Item = u32>) {
        let repair =
            self.fragments.get_or_insert_with(|| FragmentRepair { seq, list: Some(Vec::new()), next: 1 });
        let Some(list) = &mut repair.list else { return };
        if repair.seq != seq {
            return;
        }
        for fragment in fragments {
            if let Err(at) = list.binary_search_by(|have| fragment.cmp(have))
                && list.len() < MAX_FRAGMENTS
            {
                list.insert(at, fragment);
            }
        }
    }

    /// Whether anything is left to send again.
    pub(crate) fn wants_repair(&self) -> bool {
        self.fragments.is_some() || !self.requested.is_empty()
    }
}
