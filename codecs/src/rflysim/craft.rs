//! What the codecs of one vehicle share.

use std::{
    net::SocketAddr,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use crate::place::Place;

/// One vehicle. The telemetry codec writes it, the one that flies reads it.
#[derive(Debug, Default)]
pub(super) struct Craft {
    /// Where it was spawned: m, NED, from the centre of the map.
    spawn: Place,
    /// Where it is: m, NED, from the centre of the map.
    position: Place,
    /// Its velocity: m/s, NED.
    velocity: Place,
    /// Yaw, rad, NED, in the first number.
    yaw: Place,
    /// Starts of the simulation that were seen, to learn of a restart.
    starts: AtomicU32,
    /// When a state was last heard: microseconds since `base`, 0 for never.
    heard: AtomicI64,
    base: OnceLock<Instant>,
    /// A spawn point from the settings stays.
    spawn_is_set: AtomicBool,
    /// Who sends its states; written only when it changes.
    sender: Mutex<Option<SocketAddr>>,
}

/// A state as it is told to the others.
pub(super) struct Seen {
    pub(super) at: Instant,
    /// m, NED, from the centre of the map.
    pub(super) position: [f64; 3],
    /// m/s, NED.
    pub(super) velocity: [f64; 3],
    /// rad, NED.
    pub(super) yaw: f64,
}

impl Craft {
    /// Takes a spawn point from the settings; what is heard does not change it any more.
    pub(super) fn spawned_at(&self, position: [f64; 3]) {
        self.spawn_is_set.store(true, Relaxed);
        self.spawn.set(position);
    }

    /// A state came. `fresh` tells that the simulation has started anew, so that the vehicle stands where it was spawned.
    pub(super) fn saw(&self, seen: &Seen, fresh: bool) {
        if fresh {
            self.starts.fetch_add(1, Relaxed);
        }
        if !self.spawn_is_set.load(Relaxed) && (fresh || self.spawn.get().is_none()) {
            self.spawn.set(seen.position);
        }
        self.position.set(seen.position);
        self.velocity.set(seen.velocity);
        self.yaw.set([seen.yaw, 0.0, 0.0]);
        let since = seen.at.saturating_duration_since(*self.base.get_or_init(|| seen.at));
        self.heard.store(i64::try_from(since.as_micros()).unwrap_or(i64::MAX).max(1), Relaxed);
    }

    /// Whether a state was heard within `timeout` before `now`.
    pub(super) fn is_connected(&self, now: Instant, timeout: Duration) -> bool {
        let (Some(base), heard @ 1..) = (self.base.get(), self.heard.load(Relaxed)) else { return false };
        let at = *base + Duration::from_micros(heard.unsigned_abs());
        now.saturating_duration_since(at) < timeout
    }

    /// How often the simulation has started; changes when it starts anew.
    pub(super) fn starts(&self) -> u32 {
        self.starts.load(Relaxed)
    }

    /// Somebody else sends its states from now on.
    pub(super) fn sent_by(&self, sender: SocketAddr) {
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
    }

    /// Who sends its states.
    pub(super) fn sender(&self) -> Option<SocketAddr> {
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it was spawned: m, NED, from the centre of the map.
    pub(super) fn spawn(&self) -> Option<[f64; 3]> {
        self.spawn.get()
    }

    /// Where it is: m, NED, from the centre of the map.
    pub(super) fn position(&self) -> Option<[f64; 3]> {
        self.position.get()
    }

    /// m/s, NED.
    pub(super) fn velocity(&self) -> Option<[f64; 3]> {
        self.velocity.get()
    }

    /// rad, NED.
    pub(super) fn yaw(&self) -> Option<f64> {
        self.yaw.get().map(|[yaw, ..]| yaw)
    }
}
