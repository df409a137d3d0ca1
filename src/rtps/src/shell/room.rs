//! Waiting for room in a keep-all history.

use std::cell::Cell;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{Shared, State, lock};
use crate::wire::Entity;

thread_local! {
    static IS_ENGINE: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as one of a participant, which never waits for room.
pub(super) fn mark_engine_thread() {
    IS_ENGINE.set(true);
}

/// A write that waits: its writer and payload size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Waiting {
    writer: Entity,
    len: usize,
}

impl Shared {
    /// Waits until `len` bytes may fit into the history of a writer, or neither that nor the participant is there any
    /// more; false when `until` came first.
    ///
    /// False at once on the threads of participants: they take the acknowledgements that make room.
    pub(crate) fn wait_for_room(&self, writer: Entity, len: usize, until: Instant) -> bool {
        if IS_ENGINE.get() {
            return false;
        }
        let me = Waiting { writer, len };
        let mut state = lock(&self.state);
        state.waiting.push(me);
        let found = loop {
            if self.closed.load(Ordering::Relaxed) || state.core.has_room(writer, len) {
                break true;
            }
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
            let Some(left) = left else { break false };
            (state, _) = self.room.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        };
        if let Some(index) = state.waiting.iter().position(|w| *w == me) {
            state.waiting.swap_remove(index);
        }
        found
    }

    /// Wakes writes that wait, if there is room for one of them; called after each step of the core.
    pub(super) fn ring(&self, state: &State) {
        if state.waiting.iter().any(|w| state.core.has_room(w.writer, w.len)) {
            self.room.notify_all();
        }
    }
}
