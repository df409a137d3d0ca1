//! A participant of the simulated network.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use super::dialect::Dialect;
use super::link::Place;
use crate::event::Event;
use crate::state::Core;
use crate::stats::Counters;

pub(super) struct Datagram {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) bytes: Vec<u8>,
}

pub(super) struct Node {
    pub(super) core: Core,
    pub(super) counters: Arc<Counters>,
    pub(super) ports: [SocketAddr; 2],
    pub(super) place: Place,
    pub(super) dialect: Option<Dialect>,
    pub(super) alive: bool,
    /// Until then it does nothing; what comes meanwhile waits in its socket.
    pub(super) paused: Option<Instant>,
    pub(super) socket: Vec<Datagram>,
    pub(super) graph_changes: usize,
    pub(super) events: Vec<Event>,
}

/// What a socket holds for a node that does not read it, in bytes: the default of Linux.
const SOCKET_BUFFER: usize = 208 << 10;

impl Node {
    pub(super) fn wakes(&self) -> Instant {
        self.paused.unwrap_or_else(|| self.core.poll_timeout())
    }

    pub(super) fn keep(&mut self, datagram: Datagram) {
        // The kernel counts its own bookkeeping as well.
        let held: usize = self.socket.iter().map(|d| d.bytes.len() + 768).sum();
        if held + datagram.bytes.len() < SOCKET_BUFFER {
            self.socket.push(datagram);
        }
    }
}
