use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::endpoint::Sample;
use crate::event::Event;
use crate::wire::{Encoder, Prefix};

/// Datagrams to send, in order, in buffers that are reused.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    buf: Vec<u8>,
    items: Vec<Transmit>,
}

#[derive(Debug)]
struct Transmit {
    to: SocketAddr,
    head: Range<usize>,
    /// Sent behind `head` without being copied here.
    body: Bytes,
}

/// Buffer kept for the next use; a burst that needed more gives the rest back.
const KEEP: usize = 256 << 10;

impl Outbox {
    /// Adds one message to `to`.
    pub(crate) fn message(&mut self, to: SocketAddr, from: Prefix, write: impl FnOnce(&mut Encoder<'_>)) {
        self.gather(to, from, write, Bytes::new());
    }

    /// Adds one message whose last bytes are `body`.
    pub(crate) fn gather(
        &mut self,
        to: SocketAddr,
        from: Prefix,
        write: impl FnOnce(&mut Encoder<'_>),
        body: Bytes,
    ) {
        let start = self.buf.len();
        write(&mut Encoder::new(&mut self.buf, from));
        self.items.push(Transmit { to, head: start..self.buf.len(), body });
    }

    /// Adds the last message once more, to another address.
    pub(crate) fn repeat(&mut self, to: SocketAddr) {
        if let Some(last) = self.items.last() {
            let (head, body) = (last.head.clone(), last.body.clone());
            self.items.push(Transmit { to, head, body });
        }
    }

    /// Bytes of the last datagram.
    pub(crate) fn last_len(&self) -> usize {
        self.items.last().map_or(0, |item| item.head.len() + item.body.len())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SocketAddr, &[u8], &[u8])> {
        self.items.iter().map(|item| {
            let head = self.buf.get(item.head.clone()).unwrap_or_default();
            (item.to, head, &item.body[..])
        })
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.buf.clear();
        self.buf.shrink_to(KEEP);
    }
}

/// The callback of a reader.
pub(crate) type SampleFn = Arc<dyn Fn(Sample) + Send + Sync>;

/// What input produced for the user, to be handed over without the engine's lock.
#[derive(Default)]
pub(crate) struct Inbox {
    pub(crate) samples: Vec<(SampleFn, Sample)>,
    pub(crate) graph_changed: bool,
    pub(crate) events: Vec<Event>,
}

/// Cuts small payloads out of shared blocks, so that receiving needs no allocation per sample.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    block: BytesMut,
}

/// Size of one block; a sample kept by the user pins its block.
const BLOCK: usize = 64 << 10;

impl Arena {
    /// A copy of `bytes`; large ones get an allocation of their own.
    pub(crate) fn copy(&mut self, bytes: &[u8]) -> Bytes {
        if bytes.len() > BLOCK / 4 {
            return Bytes::copy_from_slice(bytes);
        }
        if self.block.capacity() - self.block.len() < bytes.len() {
            // Takes the old block back when every sample cut from it is gone.
            self.block.reserve(BLOCK);
        }
        self.block.extend_from_slice(bytes);
        self.block.split().freeze()
    }
}
