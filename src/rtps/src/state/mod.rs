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
mod events;
mod gate;
mod history;
mod lane;
mod liveliness;
mod matching;
mod misfit;
mod network;
mod outbox;
mod partial;
mod participants;
mod peer;
mod positions;
mod queue;
mod readdress;
mod reader;
mod receive;
mod repair;
mod repairs;
mod room;
mod send;
mod silence;
mod snapshot;
#[cfg(test)]
mod tests;
mod watch;
mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) use network::{LocalAddr, Locals, Network, Reach, is_link_local};
pub(crate) use outbox::{Inbox, Outbox, SampleFn};

use self::arrival::{Arrival, Builtin, LocalReader, Sink};
use self::events::Events;
use self::liveliness::Assertions;
use self::misfit::Misfits;
use self::outbox::Arena;
use self::peer::Peer;
use self::positions::Positions;
use self::writer::LocalWriter;
use crate::config::Limits;
use crate::discovery::ParticipantData;
use crate::endpoint::{EndpointQos, EndpointSpec, History};
use crate::guid::Guid;
use crate::stats::Counters;
use crate::wire::{Entity, LIVELINESS_WRITER, Prefix, SEDP_PUB_WRITER, SEDP_SUB_WRITER};

/// What a core is told about its surroundings.
pub(crate) struct CoreConfig {
    /// What we announce about ourselves; the addresses in it follow `network`.
    pub(crate) data: ParticipantData,
    /// Our addresses, and whom to tell.
    pub(crate) network: Network,
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
    news: Vec<(Prefix, Builtin, Arrival)>,
    /// Remote writers to answer at the end of this batch of datagrams.
    answers: Vec<(Prefix, Entity)>,
    /// Remote writers to ask again later.
    retries: Vec<(Prefix, Entity)>,
    /// Writers with a reader that is behind.
    armed: Vec<Entity>,
    timers: Timers,
    /// When datagrams or timers were looked at last.
    ran: Instant,
    /// Number of our participant announcement; changes with its content.
    spdp_seq: i64,
    /// A participant of another host has turned up.
    heard_outside: bool,
    /// Announcements sent so far.
    announcements: u32,
    /// ACKNACKs and NACK_FRAGs sent so far; one count for all, so that it never goes back for any writer.
    acks: i32,
    positions: Positions,
    /// Writers with samples that left a lane since the last [`Core::landed`].
    flying: Vec<Entity>,
    misfits: Misfits,
    assertions: Assertions,
    /// Remote writers whose liveliness is watched.
    leased: BTreeSet<Guid>,
    events: Events,
    /// The wall clock, nanoseconds since 1970, at some moment.
    wall: Option<(Instant, i64)>,
}

/// When to do what next.
#[derive(Clone, Copy, Debug)]
struct Timers {
    announce: Instant,
    sweep: Instant,
    heartbeat: Option<Instant>,
    retry: Option<Instant>,
    send: Option<Instant>,
    /// Deadlines and leases of endpoints.
    watch: Option<Instant>,
}

/// Period of heartbeats to readers that are behind.
const HEARTBEAT_PERIOD: Duration = Duration::from_millis(50);
/// How often leases are checked.
const SWEEP_PERIOD: Duration = Duration::from_secs(1);
/// User data of one payload kept by the announcing writers.
const ANNOUNCE_HISTORY: History = History::KeepAll { bytes: usize::MAX };

impl Core {
    pub(crate) fn new(mut config: CoreConfig, counters: Arc<Counters>, now: Instant) -> Self {
        let Reach { metatraffic, user } = config.network.own.clone();
        (config.data.metatraffic, config.data.user) = (metatraffic, user);
        let builtin = EndpointSpec {
            qos: EndpointQos { transient_local: true, history: ANNOUNCE_HISTORY, ..EndpointQos::DEFAULT },
            ..EndpointSpec::default()
        };
        let mut assertions = builtin.clone();
        assertions.qos.history = History::KeepLast(2);
        let writers =
            [(SEDP_PUB_WRITER, builtin.clone()), (SEDP_SUB_WRITER, builtin), (LIVELINESS_WRITER, assertions)];
        let writers = writers.map(|(entity, spec)| (entity, LocalWriter::new(entity, spec))).into();
        let events = Events::new(counters.clone(), now);
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
                watch: None,
            },
            ran: now,
            spdp_seq: 1,
            heard_outside: false,
            announcements: 0,
            acks: 0,
            positions: Positions::default(),
            flying: Vec::new(),
            misfits: Misfits::default(),
            assertions: Assertions::new(now),
            leased: BTreeSet::new(),
            events,
            wall: None,
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

    /// Tells the wall clock, nanoseconds since 1970; lifespans are measured by it.
    pub(crate) fn set_wall(&mut self, now: Instant, wall_ns: i64) {
        self.wall = Some((now, wall_ns));
    }

    fn wall_ns(&self, now: Instant) -> Option<i64> {
        let (at, wall_ns) = self.wall?;
        let since = i64::try_from(now.saturating_duration_since(at).as_nanos()).ok()?;
        wall_ns.checked_add(since)
    }

    /// Does what is due; the outbox may hold datagrams afterwards.
    pub(crate) fn poll(&mut self, now: Instant, out: &mut Outbox, inbox: &mut Inbox) {
        self.notice_stop(now);
        self.landed();
        if now >= self.timers.announce {
            self.announce(now, out);
        }
        if now >= self.timers.sweep {
            self.timers.sweep = now + SWEEP_PERIOD;
            self.drop_expired(now, inbox);
            self.writers.values_mut().for_each(|writer| writer.expire(now));
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
        if self.assertions.due().is_some_and(|at| now >= at) {
            self.say_alive(now, out);
        }
        if self.timers.watch.is_some_and(|at| now >= at) {
            self.watch(now);
        }
        self.events.hand_over(&mut inbox.events);
    }

    /// When [`Core::poll`] is to be called next.
    pub(crate) fn poll_timeout(&self) -> Instant {
        let t = &self.timers;
        [t.heartbeat, t.retry, t.send, t.watch, self.assertions.due(), self.events.due()]
            .into_iter()
            .flatten()
            .fold(t.announce.min(t.sweep), Instant::min)
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
        self.promise(guid.entity, now);
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
        let mut reader = LocalReader::new(spec, sink);
        let matched = reader.matched.clone();
        reader.announced = self.announce_endpoint(guid, &reader.spec, false, now, out);
        self.readers.insert(guid.entity, reader);
        self.match_local_reader(guid.entity, now);
        self.add_own(guid, now, out);
        (guid, matched)
    }

    /// Withdraws a writer.
    pub(crate) fn remove_writer(&mut self, entity: Entity, now: Instant, out: &mut Outbox) {
        if let Some(writer) = self.writers.remove(&entity) {
            writer.matched.store(0, Ordering::Relaxed);
            for lane in self.peers.values_mut().flat_map(|p| &mut p.lanes) {
                lane.queue.forget_writer(entity);
            }
            self.remove_endpoint(Guid { entity, ..self.guid() }, &mut Inbox::default());
            self.withdraw_endpoint(entity, writer.announced, true, now, out);
        }
    }

    /// Withdraws a reader; returns its sink, so that the caller can drop it without a lock.
    pub(crate) fn remove_reader(&mut self, entity: Entity, now: Instant, out: &mut Outbox) -> Option<Sink> {
        let mut reader = self.readers.remove(&entity)?;
        self.unmatch_local_reader(&mut reader, entity);
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
