//! Frames on their way to a rule's worker.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use bytes::{Bytes, BytesMut};
use rostrans_core::{
    queue::{DropOldest, MAX_BYTES, MAX_ITEMS},
    throttle::LogThrottle,
    transport::{Frame, Peer},
};
use tracing::warn;

use crate::link::Link;

/// Frames that may wait for the decoders of a conversation: a vehicle sends its 1,000 parameters in one burst, beside
/// its telemetry.
const MAX_TALK: usize = 4096;

/// Copies are cut from chunks of this many bytes.
const CHUNK: usize = 64 << 10;

/// A frame that outlives the transport's buffer.
#[derive(Clone, Debug)]
pub(crate) struct OwnedFrame {
    bytes: Bytes,
    peer: Peer,
    received: Instant,
    tag: Option<u32>,
    sender: Option<u8>,
}

impl OwnedFrame {
    pub(crate) fn as_frame(&self) -> Frame<'_> {
        let Self { ref bytes, peer, received, tag, sender } = *self;
        Frame { bytes, peer, received, tag, sender }
    }
}

/// Frames on their way to a rule's worker.
pub(crate) struct FrameQueue {
    /// The links that read from it.
    pub(crate) links: Vec<Arc<Link>>,
    pub(crate) frames: DropOldest<OwnedFrame>,
    /// While false, frames are not even queued.
    open: AtomicBool,
}

impl FrameQueue {
    pub(crate) fn new(links: Vec<Arc<Link>>, open: bool) -> Arc<Self> {
        Arc::new(Self { links, frames: DropOldest::default(), open: AtomicBool::new(open) })
    }

    /// For decoders; those that answer services or read topics hold conversations, of which no frame may get lost.
    pub(crate) fn of_decoders(links: Vec<Arc<Link>>) -> Arc<Self> {
        let talks = links.iter().any(|link| {
            let info = link.info();
            !info.inputs.is_empty() || !info.services.is_empty()
        });
        let max_items = if talks { MAX_TALK } else { MAX_ITEMS };
        let frames = DropOldest::new(max_items, MAX_BYTES);
        Arc::new(Self { links, frames, open: AtomicBool::new(true) })
    }

    /// Queues a copy of a frame, made in `copies`; counts what had to go for it.
    pub(super) fn put(&self, overflow: &mut LogThrottle, frame: &Frame<'_>, copies: &mut BytesMut) {
        if !self.open.load(Relaxed) {
            return;
        }
        if copies.capacity() < frame.bytes.len() {
            copies.reserve(CHUNK.max(frame.bytes.len()));
        }
        copies.extend_from_slice(frame.bytes);
        let bytes = copies.split().freeze();
        let Frame { peer, received, tag, sender, .. } = *frame;
        let owned = OwnedFrame { bytes, peer, received, tag, sender };
        for displaced in self.frames.push(owned, frame.bytes.len()) {
            for link in self.links.iter().filter(|link| link.wants(&displaced.as_frame())) {
                link.stats.dropped_queue.inc();
            }
            if let Some(count) = overflow.event(frame.received) {
                self.tell_overflow(count);
            }
        }
    }

    /// Logs that frames were dropped.
    #[cold]
    pub(super) fn tell_overflow(&self, count: u64) {
        if let Some(link) = self.links.first() {
            warn!(rule = %link.rule.rule_id, count, "queue full; oldest frames dropped");
        }
    }

    /// Lets frames in, or keeps them out.
    pub(crate) fn set_open(&self, open: bool) {
        self.open.store(open, Relaxed);
    }
}
