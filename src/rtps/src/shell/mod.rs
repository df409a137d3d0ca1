//! Sockets, threads and clocks around the protocol core.
//!
//! Two threads per participant: *receive* waits for all sockets, feeds the core and runs user callbacks; *send* does
//! what is due (announcements, heartbeats, paced fragments). Writes of small samples send from the calling thread.
//! The core has one lock, held for microseconds and never while sending, waiting or calling back.

mod plan;
mod ports;
mod room;
mod socket;
mod thread;
mod watch;

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rostrans_net::{Datagram, multicast_through, send_runs};
use tracing::warn;

pub(crate) use socket::open;
pub(crate) use thread::spawn;

use self::room::Waiting;
use self::socket::{Pair, Sockets};
use self::watch::Watch;
use crate::event::Event;
use crate::guid::Guid;
use crate::state::{Core, Inbox, Outbox};
use crate::stats::{Counters, add};

/// Called after the graph changed.
pub(crate) type GraphFn = Arc<dyn Fn() + Send + Sync>;

/// Called with what happened to endpoints.
pub(crate) type EventFn = Arc<dyn Fn(&Event) + Send + Sync>;

/// What handles and threads of one participant share.
pub(crate) struct Shared {
    pub(crate) guid: Guid,
    pub(crate) counters: Arc<Counters>,
    pub(crate) closed: AtomicBool,
    pub(crate) listeners: Mutex<Vec<GraphFn>>,
    pub(crate) event_listeners: Mutex<Vec<EventFn>>,
    state: Mutex<State>,
    /// Rung when writes that wait may find room; goes with `state`.
    room: Condvar,
    sockets: Sockets,
    /// The interfaces; locked before the core.
    watch: Mutex<Watch>,
    wake: Wake,
}

/// The core, and how long the send thread will sleep.
struct State {
    core: Core,
    sleep_until: Instant,
    waiting: Vec<Waiting>,
}

/// Ends the send thread's sleep.
#[derive(Default)]
struct Wake {
    kicked: Mutex<bool>,
    bell: Condvar,
}

/// Datagrams handed to the kernel at a time.
const BATCH: usize = 32;

impl Shared {
    pub(crate) fn new(
        core: Core,
        (sockets, watch): (Sockets, Watch),
        counters: Arc<Counters>,
        now: Instant,
    ) -> Self {
        Self {
            guid: core.guid(),
            counters,
            closed: AtomicBool::new(false),
            listeners: Mutex::default(),
            event_listeners: Mutex::default(),
            state: Mutex::new(State { core, sleep_until: now, waiting: Vec::new() }),
            room: Condvar::new(),
            sockets,
            watch: Mutex::new(watch),
            wake: Wake::default(),
        }
    }

    /// Runs `f` on the core, then sends what it left in `out`. `None` after the end.
    pub(crate) fn with<T>(
        &self,
        out: &mut Outbox,
        f: impl FnOnce(&mut Core, Instant, &mut Outbox) -> T,
    ) -> Option<T> {
        let now = Instant::now();
        let (result, kick) = {
            let mut state = lock(&self.state);
            if self.closed.load(Ordering::Relaxed) {
                return None;
            }
            let result = f(&mut state.core, now, out);
            self.ring(&state);
            (result, state.must_kick())
        };
        if kick {
            self.kick();
        }
        self.send(out, &self.sockets.user);
        out.clear();
        Some(result)
    }

    /// Reads from the core.
    pub(crate) fn read<T>(&self, f: impl FnOnce(&Core) -> T) -> T {
        f(&lock(&self.state).core)
    }

    /// Marks the end and runs the core's farewell; `None` when it has been said.
    pub(crate) fn finish<T>(&self, f: impl FnOnce(&mut Core, Instant, &mut Outbox) -> T) -> Option<T> {
        let mut out = Outbox::default();
        let result = {
            let mut state = lock(&self.state);
            if self.closed.swap(true, Ordering::Relaxed) {
                return None;
            }
            f(&mut state.core, Instant::now(), &mut out)
        };
        self.room.notify_all();
        self.send(&out, &self.sockets.user);
        self.kick();
        self.sockets.wake_receiver();
        Some(result)
    }

    /// Ends the send thread's sleep.
    fn kick(&self) {
        *lock(&self.wake.kicked) = true;
        self.wake.bell.notify_one();
    }

    /// Sends datagrams in order through `sockets`, multicast ones through every interface chosen.
    fn send(&self, out: &Outbox, sockets: &Pair) {
        let mut batch = [Datagram::new(&[], None); BATCH];
        let mut used = 0;
        // The socket of the datagrams in the batch.
        let mut socket = None;
        for (to, head, body) in out.iter() {
            let datagram = Datagram::gather(head, body, Some(to));
            if to.ip().is_multicast() {
                self.send_multicast(to, datagram);
                continue;
            }
            let next = sockets.of(to.ip());
            if used == BATCH || !same(socket, next) {
                self.send_all(socket, batch.get(..used).unwrap_or_default());
                (socket, used) = (next, 0);
            }
            if let Some(slot) = batch.get_mut(used) {
                *slot = datagram;
                used += 1;
            }
        }
        self.send_all(socket, batch.get(..used).unwrap_or_default());
    }

    fn send_multicast(&self, to: SocketAddr, datagram: Datagram<'_>) {
        let Some(socket) = self.sockets.multicast.of(to.ip()) else { return };
        let exits = lock(&self.sockets.exits);
        for exit in exits.iter().filter(|e| e.local.is_ipv4() == to.is_ipv4()) {
            match multicast_through(socket, exit.local, exit.index) {
                Ok(()) => self.send_all(Some(socket), &[datagram]),
                // The interface has just gone.
                Err(_) => add(&self.counters.send_errors, 1),
            }
        }
    }

    /// Adapts to the interfaces that are there now.
    fn follow_network(&self, watch: &mut Watch, out: &mut Outbox, inbox: &mut Inbox) {
        match watch.look(&self.sockets.exits) {
            Ok(Some(network)) => {
                self.with(out, |core, now, out| core.set_network(network, now, out, inbox));
            }
            Ok(None) => {}
            Err(error) => warn!(%error, "cannot list the interfaces; changes of the network go unnoticed"),
        }
    }

    /// Announces to these hosts besides those that the range says.
    pub(crate) fn set_static_peers(&self, peers: Vec<SocketAddr>) {
        let mut inbox = Inbox::default();
        {
            let mut watch = lock(&self.watch);
            watch.set_static_peers(peers);
            self.follow_network(&mut watch, &mut Outbox::default(), &mut inbox);
        }
        thread::hand_over(self, &mut inbox);
    }

    fn send_all(&self, socket: Option<&UdpSocket>, mut datagrams: &[Datagram<'_>]) {
        let Some(socket) = socket else { return };
        while !datagrams.is_empty() {
            // A refused datagram is lost like any other on the way; reliable readers will ask for it.
            let sent = match send_runs(socket, datagrams) {
                Ok(sent) => {
                    add(&self.counters.datagrams_out, u64::try_from(sent).unwrap_or(0));
                    sent.max(1)
                }
                Err(_) => {
                    add(&self.counters.send_errors, 1);
                    1
                }
            };
            datagrams = datagrams.get(sent..).unwrap_or_default();
        }
    }
}

impl State {
    /// Whether the send thread sleeps longer than the core can wait. Says so once.
    fn must_kick(&mut self) -> bool {
        let due = self.core.poll_timeout();
        let kick = due < self.sleep_until;
        if kick {
            self.sleep_until = due;
        }
        kick
    }
}

/// Whether two are the same socket, or none.
fn same(a: Option<&UdpSocket>, b: Option<&UdpSocket>) -> bool {
    a.map(std::ptr::from_ref) == b.map(std::ptr::from_ref)
}

/// Nanoseconds since 1970.
pub(crate) fn wall_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// A lock that outlives panics of other threads: the data behind it is consistent after every step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
