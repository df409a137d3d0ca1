//! Receiving the whole list: no input or output, time is given.
//!
//! The list is asked for up to four times, a second apart. What has not come a second after the last value is asked
//! for by its place, a few at a time, in passes over all that is missing. A vehicle that answers nothing in ten passes
//! is taken to have no more (at 30 % loss in both directions, one list of 1,000 ends too early).
//!
//! Memory: a bit for each place, 8 KiB at most.

use std::time::{Duration, Instant};

use super::table::NO_INDEX;

/// What is to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    List,
    Place(u16),
}

/// A list that is being received.
#[derive(Debug)]
pub(super) struct Listing {
    begun: Instant,
    /// When to ask again.
    due: Instant,
    /// How often the list was asked for, or how many passes in a row brought nothing.
    tries: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The list was asked for.
    Asked,
    /// Values come by themselves; `None`: the vehicle does not know how many.
    Coming(Option<Missing>),
    /// Missing ones are asked for.
    Filling { missing: Missing, pass: Pass },
}

#[derive(Clone, Copy, Debug)]
struct Pass {
    /// The next place to ask for.
    next: u16,
    /// Values that came.
    came: u32,
    /// Asked for since the last wait.
    asked_at: Instant,
    wait: Duration,
}

/// How a list ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All there is has come.
    Whole,
    /// So many places stayed empty.
    Missing(u32),
    /// Nothing came at all.
    Silence,
}

impl Listing {
    /// The list is to be asked for now.
    pub(super) fn new(now: Instant, asks: &mut Vec<Ask>) -> Self {
        asks.push(Ask::List);
        Self { begun: now, due: now + WAIT, tries: 1, state: State::Asked }
    }

    /// When [`Listing::tick`] has something to do.
    pub(super) fn next_due(&self) -> Instant {
        self.due
    }

    /// A value has come, with its place and the number of places.
    pub(super) fn heard(&mut self, index: u16, count: u16, now: Instant, asks: &mut Vec<Ask>) -> Option<End> {
        if let State::Asked = self.state {
            self.state = State::Coming((count != NO_INDEX).then(|| Missing::new(count)));
            self.tries = 0;
        }
        match &mut self.state {
            State::Asked => {}
            State::Coming(missing) => {
                self.due = now + WAIT;
                let missing = missing.as_mut()?;
                missing.take(index);
                if missing.left == 0 {
                    return Some(End::Whole);
                }
            }
            State::Filling { missing, pass } => {
                if missing.take(index) {
                    pass.came += 1;
                    pass.wait =
                        pass.wait.min((now.saturating_duration_since(pass.asked_at) * 4).max(SHORTEST_WAIT));
                    self.due = now + pass.wait;
                    if missing.left == 0 {
                        return Some(End::Whole);
                    }
                    // One more for each that comes keeps a slow link full, but not choked.
                    pass.ask(missing, 1, asks);
                }
            }
        }
        None
    }

    /// Asks for what has not come.
    pub(super) fn tick(&mut self, now: Instant, asks: &mut Vec<Ask>) -> Option<End> {
        if now < self.due {
            return None;
        }
        self.due = now + WAIT;
        let late = now.saturating_duration_since(self.begun) >= LONGEST;
        match &mut self.state {
            State::Asked => {
                if self.tries >= LIST_TRIES {
                    return Some(End::Silence);
                }
                self.tries += 1;
                asks.push(Ask::List);
            }
            State::Coming(None) => return Some(End::Whole),
            State::Coming(Some(missing)) => {
                let missing = std::mem::take(missing);
                let pass = Pass { next: 0, came: 0, asked_at: now, wait: WAIT };
                self.state = State::Filling { missing, pass };
                return self.go_on(now, asks);
            }
            State::Filling { missing, .. } if late => return Some(End::Missing(missing.left)),
            State::Filling { .. } => return self.go_on(now, asks),
        }
        None
    }

    /// The next few places, or the next pass.
    fn go_on(&mut self, now: Instant, asks: &mut Vec<Ask>) -> Option<End> {
        let State::Filling { missing, pass } = &mut self.state else { return None };
        if missing.from(pass.next).is_none() && pass.next > 0 {
            self.tries = if pass.came > 0 { 0 } else { self.tries + 1 };
            if self.tries >= EMPTY_PASSES {
                return Some(End::Missing(missing.left));
            }
            (pass.next, pass.came) = (0, 0);
        }
        // After passes that brought nothing the link may be slower than it was.
        let wait = if self.tries > 2 { WAIT } else { pass.wait };
        pass.asked_at = now;
        self.due = now + wait;
        pass.ask(missing, WINDOW, asks);
        None
    }
}

impl Pass {
    fn ask(&mut self, missing: &Missing, places: u32, asks: &mut Vec<Ask>) {
        for _ in 0..places {
            let Some(place) = missing.from(self.next) else {
                self.next = self.next.max(1);
                return;
            };
            asks.push(Ask::Place(place));
            self.next = place.saturating_add(1);
        }
    }
}

/// The places that have not come.
#[derive(Debug, Default)]
struct Missing {
    bits: Vec<u64>,
    left: u32,
}

impl Missing {
    fn new(count: u16) -> Self {
        let mut bits = vec![u64::MAX; usize::from(count.div_ceil(64))];
        if let (Some(last), rest @ 1..) = (bits.last_mut(), count % 64) {
            *last = (1 << rest) - 1;
        }
        Self { bits, left: count.into() }
    }

    /// True when the place was missing.
    fn take(&mut self, place: u16) -> bool {
        let Some(word) = self.bits.get_mut(usize::from(place / 64)) else { return false };
        let bit = 1 << (place % 64);
        let was = *word & bit != 0;
        *word &= !bit;
        self.left -= u32::from(was);
        was
    }

    /// The first missing place from `place` on.
    fn from(&self, place: u16) -> Option<u16> {
        let first = usize::from(place / 64);
        let mut mask = u64::MAX << (place % 64);
        for (index, word) in self.bits.iter().enumerate().skip(first) {
            let word = word & mask;
            if word != 0 {
                return u16::try_from(index * 64 + word.trailing_zeros() as usize).ok();
            }
            mask = u64::MAX;
        }
        None
    }
}

/// Of MAVROS.
const WAIT: Duration = Duration::from_secs(1);
/// Of MAVROS.
const LIST_TRIES: u32 = 4;
const EMPTY_PASSES: u32 = 10;
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
/// Places asked for at once: 320 octets there and 300 back, a tenth of a second of a radio with 57,600 bit/s.
const WINDOW: u32 = 8;
/// A list that is not there by then ends.
const LONGEST: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests;
