//! From a transport's frames to the links that want them.
//!
//! Each transport has one [`Tap`], which rules attach to and leave while it runs, and feeds one [`Dispatch`], which
//! follows the tap. Links of cheap codecs are decoded right there; the others get a copy in their rule's queue.

mod frame_queue;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bytes::BytesMut;
use rostrans_core::{
    stats::Counter,
    throttle::LogThrottle,
    transport::{ByteSink, DeviceState, Frame, Ingress, Malformed},
};
use rostrans_transport::{
    RouteStats,
    router::{Hub, StationSide, VehicleSide},
};
use tracing::warn;

pub(crate) use self::frame_queue::{FrameQueue, OwnedFrame};
use crate::{
    dispatch_table::{DispatchTable, Wish},
    due::Earliest,
    link::Link,
    pipeline::decode::{DecodeLink, DecodeSpec, Io},
    supervisor::{Context, lock},
    transports::SinkSlot,
};

/// Size of a chunk that samples are written into, in bytes.
const POOL: usize = 64 << 10;

/// How soon a transport notices rules that attach while nothing arrives.
const ATTACH_POLL: Duration = Duration::from_millis(200);

/// Counters of one transport.
#[derive(Debug, Default)]
pub(crate) struct TransportStats {
    pub(crate) frames: Counter,
    pub(crate) bytes: Counter,
    pub(crate) unwanted: Counter,
    pub(crate) skipped_bytes: Counter,
    pub(crate) bad_checksums: Counter,
    pub(crate) truncated: Counter,
}

/// An open transport, apart from its two halves.
#[derive(Clone, Default)]
pub(crate) struct OpenedAs {
    /// The address a UDP socket got.
    pub(crate) local_addr: Option<SocketAddr>,
    /// Counters of its byte route.
    pub(crate) route: Option<Arc<RouteStats>>,
}

/// Who reads a transport.
#[derive(Clone)]
pub(crate) enum Reader {
    /// Decoded in the transport's own task.
    Inline(Arc<DecodeSpec>),
    /// Copied into a rule's queue.
    Queue(Arc<FrameQueue>),
    /// Counted for links whose rule waits for its clock.
    Gated(Arc<[Arc<Link>]>),
    /// Sent on to ground stations: this is the vehicles' transport of that number.
    Vehicles(Arc<Hub>, usize),
    /// Sent on to vehicles: this is the ground stations' transport.
    Stations(Arc<Hub>),
}

/// Where rules attach to a transport.
#[derive(Default)]
pub(crate) struct Tap {
    pub(crate) stats: TransportStats,
    pub(crate) sink: Arc<SinkSlot>,
    /// What the transport is like while it is open.
    pub(crate) opened: Mutex<OpenedAs>,
    /// Counts changes of `readers`.
    version: AtomicU64,
    readers: Mutex<Vec<(u64, Reader)>>,
    next_id: AtomicU64,
    /// Rules that are planned to attach but have not yet.
    awaited: AtomicUsize,
}

impl Tap {
    /// Lends out `sink` until the returned guard is dropped, by a panic too: a socket that is held cannot be bound
    /// again.
    pub(crate) fn open(&self, sink: Arc<dyn ByteSink>, opened: OpenedAs) -> OpenTap<'_> {
        self.sink.set(Some(sink));
        *lock(&self.opened) = opened;
        OpenTap(self)
    }

    /// Announces a rule that will attach later.
    pub(crate) fn expect_rule(&self) {
        self.awaited.fetch_add(1, Relaxed);
    }

    /// Feeds `readers`, all of one rule, until the attachment is dropped.
    pub(crate) fn attach(self: &Arc<Self>, readers: Vec<Reader>) -> Attachment {
        let mut ids = Vec::new();
        let mut attached = lock(&self.readers);
        for reader in readers {
            let id = self.next_id.fetch_add(1, Relaxed);
            attached.push((id, reader));
            ids.push(id);
        }
        self.version.fetch_add(1, Relaxed);
        self.awaited.fetch_sub(1, Relaxed);
        Attachment { tap: Arc::clone(self), ids }
    }
}

/// Keeps a transport's write half in use.
pub(crate) struct OpenTap<'a>(&'a Tap);

impl Drop for OpenTap<'_> {
    fn drop(&mut self) {
        self.0.sink.set(None);
        lock(&self.0.opened).local_addr = None;
    }
}

/// Keeps a rule's links attached.
pub(crate) struct Attachment {
    tap: Arc<Tap>,
    ids: Vec<u64>,
}

impl Drop for Attachment {
    fn drop(&mut self) {
        lock(&self.tap.readers).retain(|(id, _)| !self.ids.contains(id));
        self.tap.version.fetch_add(1, Relaxed);
        self.tap.awaited.fetch_add(1, Relaxed);
    }
}

/// The links of one transport, run by its task.
pub(crate) struct Dispatch {
    tap: Arc<Tap>,
    context: Context,
    /// The tap's version that `slots` and `table` follow.
    version: u64,
    slots: Vec<Slot>,
    table: DispatchTable,
    /// When the first slot has something to do.
    due: Earliest,
    pool: BytesMut,
    /// Copies for queues come from here, so that a frame costs no allocation of its own.
    copies: BytesMut,
    malformed: LogThrottle,
    next_poll: Instant,
    /// Counted here and handed to the shared counters once per batch.
    frames: u64,
    bytes: u64,
    unwanted: u64,
}

struct Slot {
    id: u64,
    kind: SlotKind,
}

enum SlotKind {
    Inline(Box<DecodeLink>),
    Queue { queue: Arc<FrameQueue>, overflow: LogThrottle },
    Gated(Arc<[Arc<Link>]>),
    Vehicles(VehicleSide),
    Stations(StationSide),
}

impl Dispatch {
    pub(crate) fn new(tap: Arc<Tap>, context: Context, now: Instant) -> Self {
        let mut dispatch = Self {
            version: tap.version.load(Relaxed).wrapping_sub(1),
            tap,
            context,
            slots: Vec::new(),
            table: DispatchTable::default(),
            due: Earliest::default(),
            pool: BytesMut::with_capacity(POOL),
            copies: BytesMut::new(),
            malformed: LogThrottle::new(),
            next_poll: now,
            frames: 0,
            bytes: 0,
            unwanted: 0,
        };
        dispatch.follow(now);
        dispatch
    }

    /// Takes over the tap's readers if they changed.
    fn follow(&mut self, now: Instant) {
        let version = self.tap.version.load(Relaxed);
        if version != self.version {
            self.version = version;
            self.rebuild(now);
        }
    }

    /// Links that stay keep their state.
    #[cold]
    fn rebuild(&mut self, now: Instant) {
        let readers = lock(&self.tap.readers).clone();
        self.slots.retain(|slot| readers.iter().any(|(id, _)| *id == slot.id));
        for (id, reader) in readers {
            if self.slots.iter().any(|slot| slot.id == id) {
                continue;
            }
            let kind = match reader {
                Reader::Inline(spec) => match spec.open(now) {
                    Ok(link) => SlotKind::Inline(Box::new(link)),
                    Err(failure) => {
                        spec.report(&failure);
                        continue;
                    }
                },
                Reader::Queue(queue) => SlotKind::Queue { queue, overflow: LogThrottle::new() },
                Reader::Gated(links) => SlotKind::Gated(links),
                Reader::Vehicles(hub, device) => SlotKind::Vehicles(hub.vehicle_side(device)),
                Reader::Stations(hub) => SlotKind::Stations(hub.station_side()),
            };
            self.slots.push(Slot { id, kind });
        }
        self.table = DispatchTable::new(self.slots.iter().map(Slot::wishes));
        self.slots.iter().for_each(|slot| self.due.note(slot.next_due()));
    }

    fn flush_counts(&mut self) {
        let stats = &self.tap.stats;
        stats.frames.add(std::mem::take(&mut self.frames));
        stats.bytes.add(std::mem::take(&mut self.bytes));
        stats.unwanted.add(std::mem::take(&mut self.unwanted));
    }
}

impl Ingress for Dispatch {
    fn frame(&mut self, frame: &Frame<'_>) {
        self.follow(frame.received);
        self.frames += 1;
        self.bytes += frame.bytes.len() as u64;
        let readers = self.table.readers(frame);
        self.unwanted += u64::from(readers.is_empty());
        let mut io = Io { pool: &mut self.pool, sink: &*self.tap.sink };
        for &slot in readers {
            match self.slots.get_mut(usize::from(slot)).map(|slot| &mut slot.kind) {
                Some(SlotKind::Inline(link)) => {
                    link.frame(frame, &mut io);
                    self.due.note(link.next_due());
                }
                Some(SlotKind::Queue { queue, overflow }) => {
                    queue.put(overflow, frame, &mut self.copies);
                    self.due.note(overflow.next_due());
                }
                Some(SlotKind::Gated(links)) => {
                    links.iter().filter(|link| link.wants(frame)).for_each(|link| link.stats.gated.inc());
                }
                Some(SlotKind::Vehicles(side)) => side.frame(frame),
                Some(SlotKind::Stations(side)) => side.frame(frame),
                None => {}
            }
        }
    }

    fn batch_end(&mut self) {
        self.flush_counts();
    }

    fn tick(&mut self, now: Instant) {
        self.follow(now);
        self.flush_counts();
        self.next_poll = now + ATTACH_POLL;
        if let Some(count) = self.malformed.due(now) {
            warn!(transport = &**self.context.name(), count, "malformed bytes");
        }
        let mut io = Io { pool: &mut self.pool, sink: &*self.tap.sink };
        if !self.due.reached(now) {
            return;
        }
        for slot in &mut self.slots {
            match &mut slot.kind {
                SlotKind::Inline(link) => {
                    if link.next_due().is_some_and(|due| due <= now) {
                        link.tick(now, &mut io);
                    }
                }
                SlotKind::Queue { queue, overflow } => {
                    if let Some(count) = overflow.due(now) {
                        queue.tell_overflow(count);
                    }
                }
                SlotKind::Gated(_) | SlotKind::Vehicles(_) | SlotKind::Stations(_) => {}
            }
            self.due.note(slot.next_due());
        }
    }

    fn next_tick(&self) -> Option<Instant> {
        let poll = (self.tap.awaited.load(Relaxed) > 0 || self.tap.version.load(Relaxed) != self.version)
            .then_some(self.next_poll);
        self.due.get().into_iter().chain(poll).chain(self.malformed.next_due()).min()
    }

    fn idle(&self) -> bool {
        self.slots.is_empty() && self.tap.version.load(Relaxed) == self.version
    }

    fn malformed(&mut self, error: Malformed) {
        let stats = &self.tap.stats;
        match error {
            Malformed::Skipped(bytes) => stats.skipped_bytes.add(bytes as u64),
            Malformed::Checksum { .. } => stats.bad_checksums.inc(),
            Malformed::Truncated { .. } => stats.truncated.inc(),
        }
        let now = tokio::time::Instant::now().into_std();
        if let Some(count) = self.malformed.event(now) {
            warn!(transport = &**self.context.name(), %error, count, "malformed bytes");
        }
    }

    fn device(&mut self, state: DeviceState<'_>) {
        match state {
            DeviceState::Up => self.context.up(),
            DeviceState::Down(reason) => self.context.waiting(reason),
        }
    }
}

impl Drop for Dispatch {
    fn drop(&mut self) {
        self.flush_counts();
    }
}

impl Slot {
    /// The frames it reads: those that one of its links wants.
    fn wishes(&self) -> Vec<Wish> {
        match &self.kind {
            SlotKind::Inline(link) => vec![link.link().wish()],
            SlotKind::Queue { queue, .. } => queue.links.iter().map(|link| link.wish()).collect(),
            SlotKind::Gated(links) => links.iter().map(|link| link.wish()).collect(),
            SlotKind::Vehicles(_) | SlotKind::Stations(_) => vec![Wish::ALL],
        }
    }

    fn next_due(&self) -> Option<Instant> {
        match &self.kind {
            SlotKind::Inline(link) => link.next_due(),
            SlotKind::Queue { overflow, .. } => overflow.next_due(),
            SlotKind::Gated(_) | SlotKind::Vehicles(_) | SlotKind::Stations(_) => None,
        }
    }
}
