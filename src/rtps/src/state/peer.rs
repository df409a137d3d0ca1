use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;

use super::lane::{Lane, Path};
use super::network::Origin;
use super::partial::Partials;
use super::reader::WriterProxy;
use super::watch::Lease;
use crate::discovery::{EndpointData, ParticipantData};
use crate::graph::{Durability, RemoteQos};
use crate::wire::Entity;

/// Queues without work that a peer keeps: a few addresses are real, hundreds are made up.
pub(crate) const MAX_LANES: usize = 16;

/// A remote participant.
pub(crate) struct Peer {
    pub(crate) data: ParticipantData,
    pub(crate) expires: Instant,
    /// When the last datagram came from it.
    pub(crate) heard: Instant,
    /// Some of its readers left heartbeats unanswered.
    pub(crate) silent: bool,
    /// When its application last asserted its writers.
    pub(crate) asserted: Instant,
    /// A writer with automatic liveliness that is read here is not alive.
    pub(crate) lapsed: bool,
    /// The same of liveliness manual by participant.
    pub(crate) lapsed_manual: bool,
    /// When it was first heard of.
    pub(crate) found: Instant,
    /// It has said more than its name: its writers sent something.
    pub(crate) has_spoken: bool,
    /// Bytes of partly received and early samples of its writers.
    pub(crate) pending: usize,
    /// When its silent writers were last asked to speak.
    pub(crate) invited: Instant,
    /// Where discovery traffic goes.
    pub(crate) metatraffic: Address,
    /// Where samples go unless an endpoint says otherwise.
    pub(crate) user: Address,
    pub(crate) writers: BTreeMap<Entity, RemoteWriter>,
    pub(crate) readers: BTreeMap<Entity, RemoteReader>,
    /// Queues for the addresses in use.
    pub(crate) lanes: Vec<Lane>,
    /// Where its announcement came from.
    pub(crate) origin: Origin,
}

/// An address and how to get there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    pub(crate) to: SocketAddr,
    pub(crate) path: Path,
}

/// A remote writer, and our readers of it.
pub(crate) struct RemoteWriter {
    /// `None` for the builtin ones.
    pub(crate) data: Option<EndpointData>,
    pub(crate) to: SocketAddr,
    pub(crate) proxies: Vec<WriterProxy>,
    /// Shared by the proxies, so that a sample is put together once.
    pub(crate) partials: Partials,
    /// Its promise to be alive, when that is limited in time.
    pub(crate) lease: Option<Lease>,
}

/// A remote reader. The writers matched to it keep its state.
pub(crate) struct RemoteReader {
    pub(crate) data: EndpointData,
    pub(crate) address: Address,
}

impl RemoteWriter {
    pub(crate) fn new(data: Option<EndpointData>, to: SocketAddr, lease: Option<Lease>) -> Self {
        Self { data, to, proxies: Vec::new(), partials: Partials::default(), lease }
    }

    /// Notes the number of a sample that came: a best-effort writer may count anew.
    pub(crate) fn recount(&mut self, seq: i64, now: Instant) {
        // Heartbeats tell a reliable reader, and what is repaired for it is old to the others. A history may be replayed.
        let replays = self.qos().is_none_or(|qos| qos.durability != Durability::Volatile);
        if replays || self.proxies.iter().any(|p| p.reliable) {
            return;
        }
        let mut anew = false;
        for proxy in &mut self.proxies {
            anew |= proxy.recount(seq, now);
        }
        if anew {
            self.partials = Partials::default();
        }
    }

    /// Its policies; the builtin ones have none worth mentioning.
    pub(crate) fn qos(&self) -> Option<&RemoteQos> {
        self.data.as_ref().map(|data| &data.qos)
    }
}

impl Peer {
    /// Who was just found.
    pub(crate) fn new(
        data: ParticipantData,
        (metatraffic, user): (Address, Address),
        origin: Origin,
        now: Instant,
    ) -> Self {
        Self {
            expires: now + data.lease,
            heard: now,
            silent: false,
            asserted: now,
            lapsed: false,
            lapsed_manual: false,
            found: now,
            has_spoken: false,
            pending: 0,
            invited: now,
            data,
            metatraffic,
            user,
            writers: BTreeMap::new(),
            readers: BTreeMap::new(),
            lanes: Vec::new(),
            origin,
        }
    }

    /// The lane to an address, opened when there is none.
    pub(crate) fn lane(&mut self, address: Address, bytes_per_s: u64, now: Instant) -> &mut Lane {
        let index = self.lanes.iter().position(|lane| lane.to == address.to).unwrap_or_else(|| {
            if self.lanes.len() >= MAX_LANES {
                self.lanes.retain(|lane| lane.due().is_some());
            }
            let buffer = self.data.receive_buffer;
            self.lanes.push(Lane::new(address.to, address.path, bytes_per_s, buffer, now));
            self.lanes.len() - 1
        });
        self.lanes.get_mut(index).expect("invariant: found or pushed above")
    }
}
