//! The protocol engine without sockets and clocks.
//!
//! [`Core`] is fed with datagrams, user calls and the time, and puts what is to be sent into an [`Outbox`] and what
//! the user is to hear into an [`Inbox`]. The same inputs give the same outputs, so tests run whole networks
//! of participants over a simulated link, each run from a seed.
//!
//! ```text
//! handle(datagram) --> peers > remote writers > WriterProxy --> Inbox (samples)
//!                 \--> announcements --> matching
//! write(payload)  --> LocalWriter > Cache --> Outbox, or a Lane when the payload is big
//! poll(now)       --> announcements, leases, heartbeats, repeated requests, lanes --> Outbox
//! ```
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod announce;
mod answer;
mod arrival;
mod history;
mod lane;
mod matching;
mod outbox;
mod partial;
mod participants;
mod peer;
mod reader;
mod receive;
mod repair;
mod repairs;
mod send;
mod snapshot;
#[cfg(test)]
mod tests;
mod writer;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) use outbox::{Inbox, Outbox, SampleFn};

use self::arrival::{Arrival, LocalReader, Sink};
use self::matching::Reported;
use self::outbox::Arena;
use self::peer::Peer;
use self::writer::LocalWriter;
use crate::config::Limits;
use crate::discovery::ParticipantData;
use crate::endpoint::{EndpointQos, EndpointSpec, History};
use crate::guid::Guid;
use crate::stats::Counters;
use crate::wire::{Entity, Prefix, SEDP_PUB_WRITER, SEDP_SUB_WRITER};

/// What a core is told about its surroundings.
pub(crate) struct CoreConfig {
    /// What we announce about ourselves.
    pub(crate) data: ParticipantData,
    /// Where announcements go, besides to known peers.
    pub(crate) announce_to: Vec<SocketAddr>,
    /// Addresses of this host.
    pub(crate) local: Vec<IpAddr>,
    /// Treat ourselves as a peer.
    pub(crate) match_own: bool,
    pub(crate) limits: Limits,
    pub(crate) pace_bytes_per_s: u64,
}

/// One participant's protocol state.
pub(crate) struct Core {
    config: CoreConfig,
    counters: Arc<Counters>,
    peers: BTreeMap<Prefix, Peer>,
    writers: BTreeMap<Entity, LocalWriter>,
    readers: BTreeMap<Entity, LocalReader>,
    next_entity: u32,
    arena: Arena,
    /// Bytes of partly received and early samples of all peers.
    pending_bytes: usize,
    /// Announcements of endpoints to work on after the current datagram.
    news: Vec<(Prefix, bool, Arrival)>,
    /// Remote writers to answer at the end of this batch of datagrams.
    answers: Vec<(Prefix, Entity)>,
    /// Remote writers to ask again later.
    retries: Vec<(Prefix, Entity)>,
    /// Writers with a reader that is behind.
    armed: Vec<Entity>,
    timers: Timers,
    /// Number of our participant announcement; changes with its content.
    spdp_seq: i64,
    /// Announcements sent so far.
    announcements: u32,
    /// ACKNACKs and NACK_FRAGs sent so far; one count for all, so that it never goes back for any writer.
    acks: i32,
    reported: Reported,
}

/// When to do what next.
#[derive(Clone, Copy, Debug)]
struct Timers {
    announce: Instant,
    sweep: Instant,
    heartbeat: Option<Instant>,
    retry: Option<Instant>,
    send: Option<Instant>,
}

/// Period of heartbeats to readers that are behind.
const HEARTBEAT_PERIOD: Duration = Duration::from_millis(50);
/// How often leases are checked.
const SWEEP_PERIOD: Duration = Duration::from_secs(1);
/// User data of one payload kept by the announcing writers.
const ANNOUNCE_HISTORY: History = History::KeepAll { bytes: usize::MAX };

impl Core {
    pub(crate) fn new(config: CoreConfig, counters: Arc<Counters>, now: Instant) -> Self {
        let builtin = EndpointSpec {
            qos: EndpointQos { transient_local: true, history: ANNOUNCE_HISTORY, ..EndpointQos::DEFAULT },
            ..EndpointSpec::default()
        };
        let writers = [SEDP_PUB_WRITER, SEDP_SUB_WRITER]
            .into_iter()
            .map(|entity| (entity, LocalWriter::new(entity, builtin.clone())))
            .collect();
        let mut core = Self {
            config,
            counters,
            peers: BTreeMap::new(),
            writers,
            readers: BTreeMap::new(),
            next_entity: 1,
            arena: Arena::default(),
            pending_bytes: 0,
            news: Vec::new(),
            answers: Vec::new(),
            retries: Vec::new(),
            armed: Vec::new(),
            timers: Timers {
                announce: now,
                sweep: now + SWEEP_PERIOD,
                heartbeat: None,
                retry: None,
                send: None,
            },
            spdp_seq: 1,
            announcements: 0,
            acks: 0,
            reported: Reported::default(),
        };
        if core.config.match_own {
            core.add_self(now);
        }
        core
    }

    /// The participant's id.
    pub(crate) fn guid(&self) -> Guid {
        self.config.data.guid
    }

    fn prefix(&self) -> Prefix {
        self.config.data.guid.prefix
    }

    /// Does what is due; the outbox may hold datagrams afterwards.
    pub(crate) fn poll(&mut self, now: Instant, out: &mut Outbox, inbox: &mut Inbox) {
        if now >= self.timers.announce {
            self.announce(now, out);
        }
        if now >= self.timers.sweep {
            self.timers.sweep = now + SWEEP_PERIOD;
            self.drop_expired(now, inbox);
        }
        if self.timers.heartbeat.is_some_and(|at| now >= at) {
            self.send_heartbeats(now, out);
        }
        if self.timers.retry.is_some_and(|at| now >= at) {
            self.retry(now);
            self.flush(now, out);
        }
        if self.timers.send.is_some_and(|at| now >= at) {
            self.run_lanes(now, out);
        }
    }

    /// When [`Core::poll`] is to be called next.
    pub(crate) fn poll_timeout(&self) -> Instant {
        let t = &self.timers;
        [t.heartbeat, t.retry, t.send].into_iter().flatten().fold(t.announce.min(t.sweep), Instant::min)
    }

    /// Adds a writer and announces it.
    pub(crate) fn create_writer(
        &mut self,
        spec: EndpointSpec,
        now: Instant,
        out: &mut Outbox,
    ) -> (Guid, Arc<AtomicUsize>) {
        let guid = self.new_guid(0x03);
        let mut writer = LocalWriter::new(guid.entity, spec);
        let matched = writer.matched.clone();
        writer.announced = self.announce_endpoint(guid, &writer.spec, true, now, out);
        self.writers.insert(guid.entity, writer);
        self.match_local_writer(guid.entity, now, out);
        self.add_own(guid, now, out);
        (guid, matched)
    }

    /// Adds a reader and announces it.
    pub(crate) fn create_reader(
        &mut self,
        spec: EndpointSpec,
        sink: SampleFn,
        now: Instant,
        out: &mut Outbox,
    ) -> (Guid, Arc<AtomicUsize>) {
        let guid = self.new_guid(0x04);
        let matched = Arc::<AtomicUsize>::default();
        let announced = self.announce_endpoint(guid, &spec, false, now, out);
        let reader = LocalReader { spec, sink: Sink::User(sink), matched: matched.clone(), announced };
        self.readers.insert(guid.entity, reader);
        self.match_local_reader(guid.entity, out);
        self.add_own(guid, now, out);
        (guid, matched)
    }

    /// Withdraws a writer.
    pub(crate) fn remove_writer(&mut self, entity: Entity, now: Instant, out: &mut Outbox) {
        if let Some(writer) = self.writers.remove(&entity) {
            writer.matched.store(0, Ordering::Relaxed);
            for lane in self.peers.values_mut().flat_map(|p| &mut p.lanes) {
                lane.forget_writer(entity);
            }
            self.remove_endpoint(Guid { entity, ..self.guid() }, &mut Inbox::default());
            self.withdraw_endpoint(entity, writer.announced, true, now, out);
        }
    }

    /// Withdraws a reader; returns its sink, so that the caller can drop it without a lock.
    pub(crate) fn remove_reader(&mut self, entity: Entity, now: Instant, out: &mut Outbox) -> Option<Sink> {
        let reader = self.readers.remove(&entity)?;
        reader.matched.store(0, Ordering::Relaxed);
        self.unmatch_local_reader(entity);
        self.remove_endpoint(Guid { entity, ..self.guid() }, &mut Inbox::default());
        self.withdraw_endpoint(entity, reader.announced, false, now, out);
        Some(reader.sink)
    }

    /// Withdraws everything, at the end; returns the sinks of all readers.
    pub(crate) fn close(&mut self, now: Instant, out: &mut Outbox) -> Vec<Sink> {
        let user = |entity: &Entity| !matches!(entity, [.., 0xc2 | 0xc7]);
        let writers: Vec<_> = self.writers.keys().copied().filter(|e| user(e)).collect();
        let readers: Vec<_> = self.readers.keys().copied().collect();
        writers.into_iter().for_each(|entity| self.remove_writer(entity, now, out));
        let sinks = readers.into_iter().filter_map(|entity| self.remove_reader(entity, now, out)).collect();
        self.withdraw_participant(out);
        self.peers.clear();
        sinks
    }

    fn new_guid(&mut self, kind: u8) -> Guid {
        let [_, a, b, c] = self.next_entity.to_be_bytes();
        self.next_entity += 1;
        Guid { prefix: self.prefix(), entity: [a, b, c, kind] }
    }
}

/// Moves a timer forward to `at`.
fn at_latest(timer: &mut Option<Instant>, at: Instant) {
    *timer = Some(timer.map_or(at, |set| set.min(at)));
}
