//! What readers of a simulated clock see, exchanged as a whole without locks.

use std::sync::atomic::{
    AtomicI64, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use super::{RosTime, follower::scaled};

/// How times are to be worked out from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// There is no time.
    Closed,
    /// From the newest sample; at most this many simulated nanoseconds beyond it.
    Run { lead_ns: i64 },
    /// As the wall clock has it.
    Wall,
}

/// One consistent view of a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    pub(super) mode: Mode,
    /// When the newest sample came, monotonic nanoseconds.
    pub(super) mono_ns: i64,
    /// What it said, simulated nanoseconds.
    pub(super) sim_ns: i64,
    /// Simulated nanoseconds for each monotonic one.
    pub(super) rate: f64,
    /// Times before this monotonic moment belong to an earlier epoch.
    pub(super) since_ns: i64,
    pub(super) epoch: u32,
}

impl View {
    /// Before anything is known.
    pub(super) const NONE: Self =
        Self { mode: Mode::Closed, mono_ns: 0, sim_ns: 0, rate: 1.0, since_ns: i64::MIN, epoch: 0 };
}

impl View {
    /// The time at a monotonic moment, in mode [`Mode::Run`]; `None` for one of an earlier epoch.
    pub(super) fn time(&self, mono_ns: i64) -> Option<RosTime> {
        let Mode::Run { lead_ns } = self.mode else { return None };
        if mono_ns < self.since_ns {
            return None;
        }
        let passed = scaled(mono_ns.saturating_sub(self.mono_ns), self.rate);
        Some(RosTime { ns: self.sim_ns.saturating_add(passed.min(lead_ns)) })
    }
}

/// The latest [`View`]: one writer, any number of readers.
///
/// Two slots take turns. The writer fills the one that readers do not look at, then points them to it, so a writer that
/// is interrupted half way holds up nobody; a reader looks again only if it was overtaken by a whole update.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// How many views were written; the lowest bit is the slot of the latest.
    version: AtomicU64,
    slots: [Slot; 2],
}

#[derive(Debug, Default)]
struct Slot {
    mono_ns: AtomicI64,
    sim_ns: AtomicI64,
    rate: AtomicU64,
    since_ns: AtomicI64,
    /// [`CLOSED`], [`WALL`], or the lead.
    mode: AtomicI64,
    epoch: AtomicU32,
}

const CLOSED: i64 = -1;
const WALL: i64 = -2;

impl Record {
    /// One that shows `view`.
    pub(super) fn new(view: &View) -> Self {
        let record = Self::default();
        record.write(view);
        record
    }

    /// Replaces the view. Only one thread may do so at a time.
    pub(super) fn write(&self, view: &View) {
        let next = self.version.load(Relaxed).wrapping_add(1);
        let slot = self.slot(next);
        // Who sees anything of what follows sees the present version, too, and not the one before it, whose slot this is.
        fence(Release);
        slot.mono_ns.store(view.mono_ns, Relaxed);
        slot.sim_ns.store(view.sim_ns, Relaxed);
        slot.rate.store(view.rate.to_bits(), Relaxed);
        slot.since_ns.store(view.since_ns, Relaxed);
        slot.mode.store(
            match view.mode {
                Mode::Closed => CLOSED,
                Mode::Wall => WALL,
                Mode::Run { lead_ns } => lead_ns.max(0),
            },
            Relaxed,
        );
        slot.epoch.store(view.epoch, Relaxed);
        self.version.store(next, Release);
    }

    /// The latest view.
    pub(super) fn read(&self) -> View {
        loop {
            let version = self.version.load(Acquire);
            let slot = self.slot(version);
            let view = View {
                mode: match slot.mode.load(Relaxed) {
                    CLOSED => Mode::Closed,
                    WALL => Mode::Wall,
                    lead_ns => Mode::Run { lead_ns },
                },
                mono_ns: slot.mono_ns.load(Relaxed),
                sim_ns: slot.sim_ns.load(Relaxed),
                rate: f64::from_bits(slot.rate.load(Relaxed)),
                since_ns: slot.since_ns.load(Relaxed),
                epoch: slot.epoch.load(Relaxed),
            };
            fence(Acquire);
            if self.version.load(Relaxed) == version {
                return view;
            }
        }
    }

    fn slot(&self, version: u64) -> &Slot {
        let [even, odd] = &self.slots;
        if version & 1 == 0 { even } else { odd }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, atomic::AtomicBool},
        thread,
    };

    use super::*;

    fn view(n: i64) -> View {
        let mode = match n % 3 {
            0 => Mode::Closed,
            1 => Mode::Wall,
            _ => Mode::Run { lead_ns: n },
        };
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let rate = n as f64;
        View { mode, mono_ns: n, sim_ns: -n, rate, since_ns: n * 7, epoch: u32::try_from(n).unwrap() }
    }

    #[test]
    fn readers_never_see_half_of_an_update() {
        let record = Arc::new(Record::new(&view(0)));
        let done = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let (record, done) = (Arc::clone(&record), Arc::clone(&done));
                thread::spawn(move || {
                    let (mut latest, mut seen) = (0, 0_u64);
                    while !done.load(Acquire) {
                        let read = record.read();
                        assert_eq!(read, view(read.mono_ns));
                        assert!(read.mono_ns >= latest, "went back");
                        seen += u64::from(read.mono_ns > latest);
                        latest = read.mono_ns;
                    }
                    seen
                })
            })
            .collect();
        for n in 1..=200_000 {
            record.write(&view(n));
        }
        done.store(true, Release);
        for reader in readers {
            assert!(reader.join().unwrap() <= 200_000);
        }
        assert_eq!(record.read(), view(200_000));
    }
}
