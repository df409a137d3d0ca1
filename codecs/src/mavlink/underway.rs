//! Commands on their way to one vehicle, whichever of its codecs sent them.
//!
//! A COMMAND_ACK names the number of a command and nothing more, and every codec of the vehicle sees it. So each tells
//! here what it waits for, and takes into account what the others do. Touched when a command is sent or answered.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Instant,
};

/// Commands that may be answered yet.
#[derive(Debug, Default)]
pub(super) struct Underway {
    entries: Mutex<Vec<Entry>>,
    owners: AtomicU32,
}

/// Who sends commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(u32);

#[derive(Debug)]
struct Entry {
    owner: Owner,
    /// `MAV_CMD`.
    number: u16,
    /// From when no answer comes.
    until: Instant,
}

/// Other owners' commands of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Others {
    pub(super) count: u32,
    /// From when none of them is answered any more.
    pub(super) until: Instant,
}

impl Underway {
    /// A new sender.
    pub(super) fn owner(&self) -> Owner {
        Owner(self.owners.fetch_add(1, Relaxed))
    }

    /// Notes a command that may be answered until then, in place of what was noted of it before.
    pub(super) fn enter(&self, owner: Owner, number: u16, until: Instant) {
        let mut entries = self.entries();
        match entries.iter_mut().find(|e| e.owner == owner && e.number == number) {
            Some(entry) => entry.until = until,
            None => entries.push(Entry { owner, number, until }),
        }
    }

    /// Notes that a command was answered; false when none was open at `now`.
    pub(super) fn leave(&self, owner: Owner, number: u16, now: Instant) -> bool {
        let mut entries = self.entries();
        let found = entries.iter().position(|e| e.owner == owner && e.number == number);
        found.is_some_and(|index| entries.swap_remove(index).until > now)
    }

    /// What others wait for.
    pub(super) fn others(&self, owner: Owner, number: u16, now: Instant) -> Option<Others> {
        let mut entries = self.entries();
        entries.retain(|e| e.until > now);
        let of_others = entries.iter().filter(|e| e.owner != owner && e.number == number);
        of_others.fold(None, |others: Option<Others>, entry| {
            let Others { count, until } = others.unwrap_or(Others { count: 0, until: entry.until });
            Some(Others { count: count + 1, until: until.max(entry.until) })
        })
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
