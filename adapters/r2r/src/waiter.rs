//! The thread that waits for everything of a node and takes what came.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rostrans_core::{adapter::AdapterError, throttle::LogThrottle};
use tracing::warn;

use crate::{
    ffi::{self, rcl_client_t, rcl_service_t, rcl_subscription_t},
    handle::Buffer,
    library::{checked, reason, refusal},
    node::{Node, exclusive},
};

/// What can be waited for.
pub(crate) enum Waited {
    Subscription(*const rcl_subscription_t),
    Client(*const rcl_client_t),
    Service(*const rcl_service_t),
}

/// Something that receives.
pub(crate) trait Receiver: Send + Sync {
    /// What to wait for; the pointer is good as long as the receiver lives.
    fn waited(&self) -> Waited;

    /// Takes what came, or a good part of it; called on the waiting thread alone.
    fn take(&self, buffer: &mut Buffer);

    /// Nothing will be taken any more.
    fn close(&self) {}
}

/// At most this often in a row from one receiver, so that others have their turn.
pub(crate) const TURN: usize = 64;

/// Longer than this it never waits, should a wake be lost.
const LONGEST: Duration = Duration::from_secs(1);

/// The waiting thread of a node; it ends with this.
pub(crate) struct Waiter {
    node: Arc<Node>,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared(Mutex<List>);

#[derive(Default)]
struct List {
    receivers: Vec<Arc<dyn Receiver>>,
    /// Grows with every change.
    version: u64,
}

/// Takes a receiver off the list when dropped.
pub(crate) struct Waiting {
    receiver: Weak<dyn Receiver>,
    shared: Weak<Shared>,
    node: Arc<Node>,
}

impl Waiter {
    pub(crate) fn new(node: &Arc<Node>) -> Result<Self, AdapterError> {
        let shared = Arc::<Shared>::default();
        let buffers = Buffers { samples: Buffer::new(node.rcl())?, messages: Buffer::new(node.rcl())? };
        let turns = Turns { node: Arc::clone(node), shared: Arc::clone(&shared), buffers };
        let thread = thread::Builder::new()
            .name("r2r-wait".to_owned())
            .spawn(move || turns.run())
            .map_err(|error| refusal("cannot start the thread that waits for ROS".to_owned(), error))?;
        Ok(Self { node: Arc::clone(node), shared, thread: Mutex::new(Some(thread)) })
    }

    /// From now on the receiver takes.
    pub(crate) fn add(&self, receiver: Arc<dyn Receiver>) -> Waiting {
        let waiting = Waiting {
            receiver: Arc::downgrade(&receiver),
            shared: Arc::downgrade(&self.shared),
            node: Arc::clone(&self.node),
        };
        let mut list = self.shared.list();
        list.receivers.push(receiver);
        list.version += 1;
        drop(list);
        self.node.wake();
        waiting
    }

    /// Ends the thread, and waits until it has ended.
    pub(crate) fn end(&self) {
        self.node.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.thread().id() != thread::current().id()
            && thread.join().is_err()
        {
            warn!("the thread that waits for ROS failed");
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.end();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let mut list = shared.list();
        let gone: Vec<_> = list
            .receivers
            .extract_if(.., |r| std::ptr::addr_eq(Arc::as_ptr(r), self.receiver.as_ptr()))
            .collect();
        list.version += 1;
        drop(list);
        // Without the lock: the last owner ends the endpoint.
        drop(gone);
        self.node.wake();
    }
}

impl Shared {
    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread has.
struct Turns {
    node: Arc<Node>,
    shared: Arc<Shared>,
    buffers: Buffers,
}

/// Each grows to the largest it had: images here, requests and responses there.
struct Buffers {
    samples: Buffer,
    messages: Buffer,
}

impl Turns {
    fn run(mut self) {
        let mut set = WaitSet::new(&self.node);
        let mut trouble = LogThrottle::new();
        let mut known = None;
        while !self.node.is_closed() {
            if let Err(error) = self.turn(&mut set, &mut known) {
                if let Some(count) = trouble.event(Instant::now()) {
                    warn!(count, reason = io::Error::other(error).to_string(), "waiting for ROS failed");
                }
                // Not as fast as it can.
                thread::park_timeout(Duration::from_millis(100));
                known = None;
            }
        }
        drop(set);
        let mut list = self.shared.list();
        let receivers = std::mem::take(&mut list.receivers);
        drop(list);
        for receiver in receivers {
            receiver.close();
        }
    }

    /// Waits once and takes; `known` is the version of the list that the set has.
    fn turn(&mut self, set: &mut WaitSet, known: &mut Option<u64>) -> Result<(), AdapterError> {
        let changed = {
            let list = self.shared.list();
            let changed = (*known != Some(list.version)).then(|| list.receivers.clone());
            *known = Some(list.version);
            changed
        };
        if let Some(receivers) = changed {
            set.set(receivers)?;
        }
        set.wait()?;
        set.take(&mut self.buffers);
        Ok(())
    }
}

/// What rcl waits with, and what it waits for.
struct WaitSet {
    node: Arc<Node>,
    raw: ffi::rcl_wait_set_t,
    made: bool,
    receivers: Vec<Arc<dyn Receiver>>,
    /// Of each receiver, its place among those of its kind.
    places: Vec<usize>,
}

impl WaitSet {
    fn new(node: &Arc<Node>) -> Self {
        // SAFETY: gives a structure by value.
        let raw = unsafe { node.rcl().rcl_get_zero_initialized_wait_set() };
        Self { node: Arc::clone(node), raw, made: false, receivers: Vec::new(), places: Vec::new() }
    }

    /// Waits for these from now on.
    fn set(&mut self, receivers: Vec<Arc<dyn Receiver>>) -> Result<(), AdapterError> {
        self.end();
        let count = |is: fn(&Waited) -> bool| receivers.iter().filter(|r| is(&r.waited())).count();
        let subscriptions = count(|waited| matches!(waited, Waited::Subscription(_)));
        let clients = count(|waited| matches!(waited, Waited::Client(_)));
        let services = count(|waited| matches!(waited, Waited::Service(_)));
        let _exclusive = exclusive();
        let rcl = self.node.rcl();
        // SAFETY: the set is zero, as `end` leaves it; the context lives in the node.
        let ret = unsafe {
            let allocator = rcl.rcutils_get_default_allocator();
            let set = &raw mut self.raw;
            rcl.rcl_wait_set_init(
                set,
                subscriptions,
                1,
                0,
                clients,
                services,
                0,
                self.node.context(),
                allocator,
            )
        };
        checked(rcl, ret, || "cannot make a wait set".to_owned())?;
        self.made = true;
        self.places = vec![0; receivers.len()];
        // Those of before are dropped here, and with the last owner an endpoint ends, which takes the lock.
        drop(_exclusive);
        self.receivers = receivers;
        Ok(())
    }

    /// Until something came, the node is woken, or [`LONGEST`].
    fn wait(&mut self) -> Result<(), AdapterError> {
        let rcl = self.node.rcl();
        let set = &raw mut self.raw;
        let what = || "cannot wait".to_owned();
        // SAFETY: the set is made, with room for exactly these; all of them live as long as `receivers` and `node`.
        let ret = unsafe {
            checked(rcl, rcl.rcl_wait_set_clear(set), what)?;
            let wake = self.node.wake_condition();
            checked(rcl, rcl.rcl_wait_set_add_guard_condition(set, wake, std::ptr::null_mut()), what)?;
            for (receiver, place) in self.receivers.iter().zip(&mut self.places) {
                let place = &raw mut *place;
                let ret = match receiver.waited() {
                    Waited::Subscription(at) => rcl.rcl_wait_set_add_subscription(set, at, place),
                    Waited::Client(at) => rcl.rcl_wait_set_add_client(set, at, place),
                    Waited::Service(at) => rcl.rcl_wait_set_add_service(set, at, place),
                };
                checked(rcl, ret, what)?;
            }
            rcl.rcl_wait(set, i64::try_from(LONGEST.as_nanos()).unwrap_or(i64::MAX))
        };
        if ret == ffi::TIMEOUT {
            // Leaves a text behind; the places are empty then.
            reason(rcl, ret);
            return Ok(());
        }
        checked(rcl, ret, what)
    }

    /// Takes from those that have something.
    fn take(&self, buffers: &mut Buffers) {
        for (receiver, place) in self.receivers.iter().zip(&self.places) {
            // SAFETY: rcl gave this place in an array of that kind, and set it to null if there is nothing.
            let (ready, buffer) = unsafe {
                match receiver.waited() {
                    Waited::Subscription(_) => {
                        (!(*self.raw.subscriptions.add(*place)).is_null(), &mut buffers.samples)
                    }
                    Waited::Client(_) => (!(*self.raw.clients.add(*place)).is_null(), &mut buffers.messages),
                    Waited::Service(_) => {
                        (!(*self.raw.services.add(*place)).is_null(), &mut buffers.messages)
                    }
                }
            };
            if ready {
                receiver.take(buffer);
            }
        }
    }

    fn end(&mut self) {
        if !std::mem::take(&mut self.made) {
            return;
        }
        let _exclusive = exclusive();
        let rcl = self.node.rcl();
        // SAFETY: the set is made; afterwards it is zero again.
        let ret = unsafe {
            let ret = rcl.rcl_wait_set_fini(&raw mut self.raw);
            self.raw = rcl.rcl_get_zero_initialized_wait_set();
            ret
        };
        if ret != ffi::OK {
            warn!(reason = reason(rcl, ret), "a wait set did not end cleanly");
        }
    }
}

impl Drop for WaitSet {
    fn drop(&mut self) {
        self.end();
    }
}
