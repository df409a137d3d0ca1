use std::io;
use std::net::UdpSocket;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rostrans_net::{RecvBatch, readable};
use tracing::error;

use super::room::mark_engine_thread;
use super::{Shared, lock};
use crate::state::{Inbox, Outbox};

/// Datagrams taken per system call at most.
const SLOTS: usize = 64;
/// The same while only few come at a time: each slot offered costs a little.
const FEW_SLOTS: usize = 8;
/// The same while they are big: what is read must still be in the cache when it is copied into its sample.
const BIG_SLOTS: usize = 4;
/// A datagram from this size on is big.
const BIG: usize = 16 << 10;
/// Largest UDP datagram.
const SLOT_LEN: usize = 65_536;
/// System calls on one socket before the others get their turn.
const ROUNDS: usize = 8;
/// The receive thread looks around at least this often.
const LOOK_AROUND: Duration = Duration::from_millis(500);

/// Starts the threads of a participant; none when it has no sockets.
pub(crate) fn spawn(shared: &Arc<Shared>) -> io::Result<Vec<JoinHandle<()>>> {
    if shared.sockets.receive.is_empty() {
        return Ok(Vec::new());
    }
    let (a, b) = (shared.clone(), shared.clone());
    Ok(vec![
        Builder::new().name("rtps-receive".into()).spawn(move || receive(&a))?,
        Builder::new().name("rtps-send".into()).spawn(move || send(&b))?,
    ])
}

fn receive(shared: &Shared) {
    mark_engine_thread();
    let sockets: Vec<&UdpSocket> = shared.sockets.receive.iter().collect();
    let mut batch = RecvBatch::new(SLOTS, SLOT_LEN);
    let mut out = Outbox::default();
    let mut inbox = Inbox::default();
    let mut max = FEW_SLOTS;
    while !shared.closed.load(Ordering::Relaxed) {
        let ready = match readable(&sockets, Some(LOOK_AROUND)) {
            Ok(ready) => ready,
            Err(error) => {
                error!(%error, "cannot wait for the RTPS sockets");
                return;
            }
        };
        // A look that static peers cause at this moment will do.
        if let Ok(mut watch) = shared.watch.try_lock()
            && watch.is_due(Instant::now())
        {
            shared.follow_network(&mut watch, &mut out, &mut inbox);
        }
        hand_over(shared, &mut inbox);
        for socket in sockets.iter().enumerate().filter(|(n, _)| ready >> n & 1 != 0).map(|(_, s)| s) {
            for _ in 0..ROUNDS {
                // An error is "nothing there" or the echo of something we sent to a closed port.
                let Ok(count) = batch.recv_some(socket, max) else { break };
                take(shared, &batch, &mut out, &mut inbox);
                hand_over(shared, &mut inbox);
                let full = count == max;
                let big = batch.iter().any(|d| d.bytes.len() >= BIG);
                max = if big { BIG_SLOTS } else { (2 * count).clamp(FEW_SLOTS, SLOTS) };
                if !full {
                    break;
                }
            }
        }
    }
}

fn take(shared: &Shared, batch: &RecvBatch, out: &mut Outbox, inbox: &mut Inbox) {
    let wall_ns = super::wall_ns();
    shared.with(out, |core, now, out| {
        core.set_wall(now, wall_ns);
        for datagram in batch.iter() {
            if !datagram.bytes.is_empty() {
                core.handle(datagram.bytes, datagram.from, now, out, inbox);
            }
        }
        core.flush(now, out);
    });
}

/// Runs user callbacks, with no lock held.
pub(super) fn hand_over(shared: &Shared, inbox: &mut Inbox) {
    for (sink, sample) in inbox.samples.drain(..) {
        guarded(|| sink(sample));
    }
    if !inbox.events.is_empty() {
        let listeners = lock(&shared.event_listeners).clone();
        for event in inbox.events.drain(..) {
            listeners.iter().for_each(|listener| guarded(|| listener(&event)));
        }
    }
    if std::mem::take(&mut inbox.graph_changed) {
        let listeners = lock(&shared.listeners).clone();
        listeners.iter().for_each(|listener| guarded(|| listener()));
    }
}

/// A callback that panics must not silence the participant.
fn guarded(callback: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(callback)).is_err() {
        error!("a callback panicked");
    }
}

fn send(shared: &Shared) {
    mark_engine_thread();
    let mut out = Outbox::default();
    let mut inbox = Inbox::default();
    while !shared.closed.load(Ordering::Relaxed) {
        let now = Instant::now();
        let until = {
            let mut state = lock(&shared.state);
            if shared.closed.load(Ordering::Relaxed) {
                return;
            }
            state.core.poll(now, &mut out, &mut inbox);
            shared.ring(&state);
            state.sleep_until = state.core.poll_timeout();
            state.sleep_until
        };
        shared.send(&out, &shared.sockets.bulk);
        out.clear();
        let mut state = lock(&shared.state);
        if state.core.is_flying() {
            state.core.landed();
        }
        drop(state);
        hand_over(shared, &mut inbox);
        sleep(shared, until);
    }
}

/// Waits until `until` or a kick.
fn sleep(shared: &Shared, until: Instant) {
    let mut kicked = lock(&shared.wake.kicked);
    while !*kicked {
        let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) else {
            break;
        };
        let (guard, _) =
            shared.wake.bell.wait_timeout(kicked, left).unwrap_or_else(std::sync::PoisonError::into_inner);
        kicked = guard;
    }
    *kicked = false;
}
