use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::config::ParticipantConfig;
use crate::discovery::{BUILTIN_ENDPOINTS, ParticipantData};
use crate::endpoint::{EndpointSpec, Sample, WriteOptions};
use crate::error::{RtpsError, WriteError};
use crate::event::Event;
use crate::graph::{GraphSnapshot, RemoteEndpoint};
use crate::guid::{Guid, VENDOR_ID};
use crate::shell::{self, Shared, lock};
use crate::state::{Core, CoreConfig, Outbox};
use crate::stats::{Counters, ParticipantStats};
use crate::wire::PARTICIPANT;

/// One DDS participant: its sockets, threads and everything it knows about others.
///
/// Clones share the participant; it closes when the last one is dropped. Its writers and readers do not keep it open.
/// Endpoints of one participant talk to each other only with [`ParticipantConfig::match_own`].
#[derive(Clone)]
pub struct Participant(Arc<Owner>);

/// Ends the participant when it goes.
struct Owner {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Participant {
    /// Opens the sockets, starts the threads and begins to announce.
    ///
    /// **Errors**: bad domain, a lease of zero, no free participant id, socket or thread failure.
    pub fn new(config: ParticipantConfig) -> Result<Self, RtpsError> {
        if !is_possible(config.lease) {
            return Err(RtpsError::Period("participant lease"));
        }
        let (sockets, watch, network) = shell::open(&config)?;
        let now = Instant::now();
        let counters = Arc::<Counters>::default();
        let core = CoreConfig {
            data: ParticipantData {
                guid: new_guid(),
                metatraffic: Vec::new(),
                user: Vec::new(),
                lease: config.lease,
                builtin: BUILTIN_ENDPOINTS,
                user_data: config.user_data,
                receive_buffer: sockets.receive_buffer,
            },
            network,
            match_own: config.match_own,
            limits: config.limits,
            pace_bytes_per_s: config.pace_bytes_per_s,
        };
        let shared =
            Arc::new(Shared::new(Core::new(core, counters.clone(), now), (sockets, watch), counters, now));
        // Made first, so that its end stops the thread that did start when the other cannot.
        let owner = Owner { shared, threads: Mutex::default() };
        let threads = shell::spawn(&owner.shared).map_err(RtpsError::Thread)?;
        *lock(&owner.threads) = threads;
        Ok(Self(Arc::new(owner)))
    }

    /// The id of this participant.
    pub fn guid(&self) -> Guid {
        self.0.shared.guid
    }

    /// Adds a writer and announces it; possible at any time.
    ///
    /// **Errors**: invalid names or partitions, user data too long, a period of zero, participant closed.
    pub fn create_writer(&self, spec: EndpointSpec) -> Result<Writer, RtpsError> {
        check(&spec)?;
        let shared = &self.0.shared;
        let max_blocking = spec.qos.max_blocking;
        let made = shared.with(&mut Outbox::default(), |core, now, out| core.create_writer(spec, now, out));
        let (guid, matched) = made.ok_or(RtpsError::Closed)?;
        Ok(Writer { shared: shared.clone(), guid, matched, max_blocking, out: Mutex::default() })
    }

    /// Adds a reader and announces it; possible at any time.
    ///
    /// `sink` runs on the receive thread with no engine lock held: it may write, but must not block.
    ///
    /// **Errors**: as for [`Participant::create_writer`].
    pub fn create_reader(
        &self,
        spec: EndpointSpec,
        sink: Arc<dyn Fn(Sample) + Send + Sync>,
    ) -> Result<Reader, RtpsError> {
        check(&spec)?;
        let shared = &self.0.shared;
        let made =
            shared.with(&mut Outbox::default(), |core, now, out| core.create_reader(spec, sink, now, out));
        let (guid, matched) = made.ok_or(RtpsError::Closed)?;
        Ok(Reader { shared: shared.clone(), guid, matched })
    }

    /// Announces to these hosts in addition from now on, instead of those of [`ParticipantConfig::static_peers`]; for
    /// names whose addresses are found out later or change.
    pub fn set_static_peers(&self, peers: Vec<SocketAddr>) {
        self.0.shared.set_static_peers(peers);
    }

    /// Remote participants and endpoints known now.
    pub fn discovered(&self) -> GraphSnapshot {
        self.0.shared.read(Core::snapshot)
    }

    /// Other participants' writers of a topic (its DDS name).
    pub fn discovered_writers(&self, topic: &str) -> Vec<RemoteEndpoint> {
        self.0.shared.read(|core| core.writers_of(topic))
    }

    /// The writers a reader of this participant is matched with; none when it is not one.
    pub fn matched_writers(&self, reader: Guid) -> Vec<Guid> {
        self.0.shared.read(|core| core.matched_writers(reader.entity))
    }

    /// Has `f` called (on an engine thread, no lock held) after each change of what [`Participant::discovered`] says
    /// and of which readers a writer is matched with.
    pub fn on_graph_change(&self, f: Arc<dyn Fn() + Send + Sync>) {
        lock(&self.0.shared.listeners).push(f);
    }

    /// Has `f` called (on an engine thread, no lock held) with what happens to endpoints of this participant from now on.
    ///
    /// At most 256 events wait for their turn; further ones are counted as over the limit.
    pub fn on_event(&self, f: Arc<dyn Fn(&Event) + Send + Sync>) {
        lock(&self.0.shared.event_listeners).push(f);
    }

    /// Says that the application is alive, for the writers with [`Liveliness::ManualByParticipant`].
    ///
    /// Writing with one of them says the same for all.
    ///
    /// [`Liveliness::ManualByParticipant`]: crate::Liveliness::ManualByParticipant
    pub fn assert_liveliness(&self) {
        self.0.shared.with(&mut Outbox::default(), |core, now, out| core.assert_participant(now, out));
    }

    /// Counters since the start.
    pub fn stats(&self) -> ParticipantStats {
        self.0.shared.counters.snapshot()
    }

    /// Withdraws all endpoints and the participant, and ends the threads. Handles stay valid and refuse to work.
    ///
    /// Returns when the threads have ended, except on one of them (from a callback), where that cannot be, and when
    /// another thread is closing it already.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Owner {
    fn close(&self) {
        // What the user put into callbacks is dropped here, with no lock held.
        drop(self.shared.finish(|core, now, out| core.close(now, out)));
        let listeners = std::mem::take(&mut *lock(&self.shared.listeners));
        let event_listeners = std::mem::take(&mut *lock(&self.shared.event_listeners));
        drop((listeners, event_listeners));
        let threads = std::mem::take(&mut *lock(&self.threads));
        let me = std::thread::current().id();
        for thread in threads.into_iter().filter(|t| t.thread().id() != me) {
            if thread.join().is_err() {
                tracing::error!("an RTPS thread panicked");
            }
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.close();
    }
}

/// Longer than any process lives.
const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

/// Writes samples of one topic; dropping it withdraws the endpoint.
pub struct Writer {
    shared: Arc<Shared>,
    guid: Guid,
    matched: Arc<AtomicUsize>,
    max_blocking: Duration,
    /// Buffers of this writer's datagrams; the lock keeps them in order from here to the socket.
    out: Mutex<Outbox>,
}

impl Writer {
    /// The id of this writer.
    pub fn guid(&self) -> Guid {
        self.guid
    }

    /// Sends one sample (encapsulation header and body) to every matched reader; returns its sequence number.
    ///
    /// Payloads up to 8 KiB are copied and sent before the call returns; larger ones are kept as a clone of the
    /// `Bytes`, and those beyond 60 kB leave from the send thread.
    ///
    /// With a keep-all history that is full it waits for [`EndpointQos::max_blocking`](crate::EndpointQos) at most, until
    /// readers have acknowledged or are gone. It never waits in a callback of a participant: there the acknowledgements
    /// would wait for it.
    ///
    /// **Errors**: payload too short or long, keep-all history full, participant closed.
    pub fn write(&self, payload: &Bytes) -> Result<i64, WriteError> {
        self.write_with(payload, WriteOptions::default())
    }

    /// [`Writer::write`] with a related identity, a single destination or a source time.
    ///
    /// **Errors**: as for `write`; also when the reader in `only_to` is not matched.
    pub fn write_with(&self, payload: &Bytes, options: WriteOptions) -> Result<i64, WriteError> {
        let (entity, wall_ns) = (self.guid.entity, shell::wall_ns());
        let mut until = None;
        loop {
            // Not locked while waiting: a callback of the engine may have to write as well.
            let mut out = lock(&self.out);
            let written = self
                .shared
                .with(&mut out, |core, now, out| core.write(entity, payload, options, wall_ns, now, out));
            drop(out);
            let result = written.ok_or(WriteError::Closed)?;
            if result != Err(WriteError::HistoryFull) || self.max_blocking.is_zero() {
                return result;
            }
            let now = Instant::now();
            let until =
                *until.get_or_insert_with(|| now.checked_add(self.max_blocking).unwrap_or(now + FOR_EVER));
            if !self.shared.wait_for_room(entity, payload.len(), until) {
                return result;
            }
        }
    }

    /// Says that this writer is alive, without a sample; nothing to do with automatic liveliness.
    ///
    /// Reliable readers hear it for certain; best-effort ones of other implementations may ignore it.
    ///
    /// **Errors**: participant closed.
    pub fn assert_liveliness(&self) -> Result<(), WriteError> {
        let mut out = lock(&self.out);
        self.shared
            .with(&mut out, |core, now, out| core.assert_writer(self.guid.entity, now, out))
            .ok_or(WriteError::Closed)?
    }

    /// How many readers are matched; one atomic load.
    ///
    /// A reliable reader counts from when it has said that it knows this writer: what is written from then on reaches it.
    pub fn matched(&self) -> usize {
        self.matched.load(Ordering::Relaxed)
    }

    /// The matched readers, counted as by [`Writer::matched`].
    pub fn matched_readers(&self) -> Vec<Guid> {
        self.shared.read(|core| core.matched_readers(self.guid.entity))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut out = Outbox::default();
        self.shared.with(&mut out, |core, now, out| core.remove_writer(self.guid.entity, now, out));
    }
}

/// Keeps a subscription alive; dropping it withdraws the endpoint.
///
/// A sample that is being delivered at that moment still reaches the sink.
pub struct Reader {
    shared: Arc<Shared>,
    guid: Guid,
    matched: Arc<AtomicUsize>,
}

impl Reader {
    /// The id of this reader.
    pub fn guid(&self) -> Guid {
        self.guid
    }

    /// How many writers are matched; one atomic load.
    pub fn matched(&self) -> usize {
        self.matched.load(Ordering::Relaxed)
    }

    /// The matched writers.
    pub fn matched_writers(&self) -> Vec<Guid> {
        self.shared.read(|core| core.matched_writers(self.guid.entity))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut out = Outbox::default();
        // The sink comes back and is dropped here, with no lock held.
        drop(self.shared.with(&mut out, |core, now, out| core.remove_reader(self.guid.entity, now, out)));
    }
}

/// Durations have 31 bits for the seconds, and the largest means infinite.
const LONGEST_PERIOD_S: u64 = (1 << 31) - 1;

fn check(spec: &EndpointSpec) -> Result<(), RtpsError> {
    for (what, name) in [("topic", &spec.topic), ("type", &spec.type_name)] {
        if name.is_empty() || name.len() > 255 || name.contains('\0') {
            return Err(RtpsError::Name { what, name: name.clone() });
        }
    }
    if spec.user_data.len() > 8192 {
        return Err(RtpsError::UserData(spec.user_data.len()));
    }
    if spec.partitions.len() > 64 || spec.partitions.iter().any(|p| p.len() > 255 || p.contains('\0')) {
        return Err(RtpsError::Partitions);
    }
    let qos = &spec.qos;
    let periods =
        [("deadline", qos.deadline), ("lifespan", qos.lifespan), ("liveliness lease", qos.liveliness_lease)];
    if let Some((what, _)) = periods.iter().find(|(_, period)| !period.is_none_or(is_possible)) {
        return Err(RtpsError::Period(what));
    }
    Ok(())
}

fn is_possible(period: Duration) -> bool {
    !period.is_zero() && period.as_secs() < LONGEST_PERIOD_S
}

/// A new participant id: vendor, random bytes, process id.
fn new_guid() -> Guid {
    // Every `RandomState` has fresh keys, so the empty hash is a random number.
    let random = RandomState::new().build_hasher().finish().to_le_bytes();
    let [.., p0, p1] = std::process::id().to_be_bytes();
    let mut prefix = [0; 12];
    let bytes = VENDOR_ID.into_iter().chain(random).chain([p0, p1]);
    prefix.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    Guid { prefix, entity: PARTICIPANT }
}
