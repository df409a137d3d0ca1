//! The pieces without system calls, for this crate's benches.
#![doc(hidden)]

use std::{net::SocketAddr, time::Instant};

use rostrans_core::transport::{Framing, Ingress, Peer};

use crate::{
    framing::cut_datagram,
    router::{Learner, Origin},
};

/// Cuts one datagram.
pub fn cut(framing: Framing, datagram: &[u8], from: SocketAddr, now: Instant, ingress: &mut dyn Ingress) {
    cut_datagram(framing, datagram, Peer::Udp(from), now, ingress);
}

/// The router's knowledge of senders.
pub struct Router(Learner);

impl Router {
    /// Knows endpoints only.
    pub fn new(endpoints: &[SocketAddr]) -> Self {
        Self(Learner::new("bench".into(), endpoints))
    }

    /// Learns from a datagram; true when a vehicle sent it.
    pub fn is_vehicle(&mut self, from: SocketAddr, datagram: &[u8], now: Instant) -> bool {
        self.0.classify(from, datagram, now) == Origin::Vehicle
    }

    /// How many vehicles a datagram of an endpoint goes to.
    pub fn targets(&self, datagram: &[u8], now: Instant) -> usize {
        let mut count = 0;
        self.0.upstream(datagram, now, |_| count += 1);
        count
    }
}
