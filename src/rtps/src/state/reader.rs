use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::arrival::{Arrival, Sink};
use super::partial::Partials;
use crate::wire::{Entity, Gap, Heartbeat, SequenceSet};

/// One local reader's view of one remote writer.
pub(crate) struct WriterProxy {
    pub(crate) reader: Entity,
    pub(crate) reliable: bool,
    pub(crate) sink: Sink,
    /// The next number to deliver.
    expected: i64,
    /// The highest number the writer said it has.
    last: i64,
    /// Arrived ahead of `expected`.
    held: BTreeMap<i64, Arrival>,
    held_bytes: usize,
    /// Count of the last heartbeat taken, and when it came.
    heartbeat_count: Option<(i32, Instant)>,
    /// When to ask for the first heartbeat, and how often that was done.
    invitation: Option<(Instant, u32)>,
    /// Since when heartbeats end before what we have heard of, or best-effort samples are older than that.
    short_since: Option<Instant>,
    /// Nothing has been delivered yet.
    untouched: bool,
    /// An answer is due at the end of this batch; true when it was asked for explicitly.
    pub(crate) answer: Option<bool>,
    /// Not before this time is the same thing asked for again.
    next_nack: Option<Instant>,
    /// Requests since the last progress.
    tries: u32,
    /// When the last request was made, and the first sample in it.
    asked: Option<(Instant, i64)>,
    /// How long the writer takes to answer a request.
    response: Duration,
}

/// Wait before asking again for what is still missing; doubles with each try.
const NACK_RETRY: Duration = Duration::from_millis(10);
/// An answer that took longer was held up by something else, such as a process that was stopped for a while.
const SLOWEST: Duration = Duration::from_millis(500);
/// Doublings of the wait.
const NACK_BACKOFF: u32 = 5;

/// Wait before asking again for the first heartbeat; doubles with each try.
const INVITE_RETRY: Duration = Duration::from_millis(100);
/// A writer is asked again this often; later with each announcement of its participant.
const INVITATIONS: u32 = 5;
/// So many requests without a first sample mean that the writer must be woken up.
const STALLED: u32 = 4;
/// A heartbeat whose count went back after this long is from a writer that counts anew; no datagram is that late.
const RECOUNT: Duration = Duration::from_millis(500);

/// Bounds for samples that arrived too early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldRoom {
    pub(crate) samples: usize,
    pub(crate) free_bytes: usize,
}

/// What became of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outcome {
    /// Numbers that will never be delivered.
    pub(crate) lost: u64,
    /// The arrival was refused for lack of room.
    pub(crate) over_limit: bool,
}

impl WriterProxy {
    pub(crate) fn new(reader: Entity, reliable: bool, sink: Sink) -> Self {
        Self {
            reader,
            reliable,
            sink,
            expected: 1,
            last: 0,
            held: BTreeMap::new(),
            held_bytes: 0,
            heartbeat_count: None,
            invitation: None,
            short_since: None,
            untouched: true,
            answer: None,
            next_nack: None,
            tries: 0,
            asked: None,
            response: Duration::ZERO,
        }
    }

    pub(crate) fn expected(&self) -> i64 {
        self.expected
    }

    /// Goes on at this number with a writer that was gone for a while.
    pub(crate) fn resume(&mut self, expected: i64) {
        (self.expected, self.untouched) = (expected, false);
    }

    /// Whether a reliable writer has never told what it has.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.reliable && self.heartbeat_count.is_none()
    }

    /// Has a silent writer asked for a heartbeat, some times at first and once if that was `again`.
    pub(crate) fn invite(&mut self, again: bool, now: Instant) {
        if self.is_unanswered() && self.invitation.is_none() {
            self.invitation = Some((now, if again { INVITATIONS } else { 0 }));
        }
    }

    /// Whether it is time to ask for a heartbeat; books it as done.
    ///
    /// Also when requests have remained unanswered from the start: Fast DDS takes a reader that it has not lost, while
    /// it was lost here, for one that has everything, and begins anew only when asked in this way.
    pub(crate) fn take_invitation(&mut self, now: Instant) -> bool {
        if let Some((at, tries)) = self.invitation.filter(|(at, _)| *at <= now) {
            self.invitation =
                (tries < INVITATIONS).then_some((at.max(now) + INVITE_RETRY * (1 << tries), tries + 1));
            return true;
        }
        let stalled = self.untouched && self.tries % STALLED == STALLED - 1 && self.is_missing();
        stalled && self.next_nack.is_none_or(|at| at <= now)
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Whether a sample of this number would be of use.
    pub(crate) fn wants(&self, seq: i64) -> bool {
        seq >= self.expected && !self.held.contains_key(&seq)
    }

    /// Notes the number of a best-effort sample; true when the writer counts anew, as nothing but old numbers has come
    /// for a while. Some writers have fixed ids, and begin at 1 again when their program does.
    pub(crate) fn recount(&mut self, seq: i64, now: Instant) -> bool {
        if seq >= self.expected {
            self.short_since = None;
        } else if now.saturating_duration_since(*self.short_since.get_or_insert(now)) >= RECOUNT {
            (self.expected, self.short_since) = (1, None);
            return true;
        }
        false
    }

    /// Takes an arrival; `deliver` gets what is now in order.
    pub(crate) fn offer(
        &mut self,
        seq: i64,
        arrival: Arrival,
        room: HoldRoom,
        mut deliver: impl FnMut(&Sink, Arrival),
    ) -> Outcome {
        let mut outcome = Outcome::default();
        if !self.wants(seq) {
            return outcome;
        }
        if !self.reliable {
            // The first sample heard starts the count.
            if self.expected > 1 {
                outcome.lost = seq.abs_diff(self.expected);
            }
            self.expected = seq + 1;
            deliver(&self.sink, arrival);
        } else if seq == self.expected {
            self.untouched = false;
            deliver(&self.sink, arrival);
            self.step(seq + 1);
            self.drain(&mut deliver);
        } else if self.held.len() < room.samples && arrival.bytes() <= room.free_bytes {
            self.held_bytes += arrival.bytes();
            self.held.insert(seq, arrival);
        } else {
            // It stays missing and is asked for again when there is room.
            outcome.over_limit = true;
        }
        outcome
    }

    /// Notes that something of this sample came, maybe in answer to a request.
    pub(crate) fn progress(&mut self, seq: i64, now: Instant) {
        if let Some((at, _)) = self.asked.filter(|(_, first)| *first == seq) {
            let took = now.saturating_duration_since(at).min(SLOWEST);
            self.response = (self.response * 3 + took) / 4;
            self.asked = None;
            self.tries = 0;
        }
    }

    /// Notes what the writer has; false for a repeated or overtaken heartbeat.
    pub(crate) fn heartbeat(
        &mut self,
        heartbeat: &Heartbeat,
        now: Instant,
        deliver: impl FnMut(&Sink, Arrival),
        outcome: &mut Outcome,
    ) -> bool {
        let is_stale = |(last, at): (i32, Instant)| {
            heartbeat.count.wrapping_sub(last) <= 0 && now.saturating_duration_since(at) < RECOUNT
        };
        if !self.reliable || self.heartbeat_count.is_some_and(is_stale) {
            return false;
        }
        if heartbeat.last >= self.last.max(self.expected - 1) {
            self.short_since = None;
        } else if now.saturating_duration_since(*self.short_since.get_or_insert(now)) >= RECOUNT {
            // A claim of more was a fake.
            (self.last, self.short_since) = (heartbeat.last, None);
            if heartbeat.last < self.expected - 1 {
                // We resumed, and it is another writer under the same id: some have fixed ones.
                (self.expected, self.untouched) = (1, true);
            }
        }
        // Before the first heartbeat nobody promised us the samples before its first one.
        let fresh = self.heartbeat_count.is_none() && self.expected == 1;
        self.heartbeat_count = Some((heartbeat.count, now));
        self.invitation = None;
        let lost = self.advance(heartbeat.first, deliver);
        outcome.lost += if fresh { 0 } else { lost };
        self.last = self.last.max(heartbeat.last);
        let missing = self.is_missing();
        if !heartbeat.is_final || missing {
            self.answer = Some(self.answer.unwrap_or(false) || !heartbeat.is_final);
        }
        true
    }

    /// Notes that the writer has a sample.
    pub(crate) fn announce(&mut self, seq: i64) {
        self.last = self.last.max(seq);
    }

    /// Strikes numbers that will never come.
    pub(crate) fn gap(&mut self, gap: &Gap, room: HoldRoom, mut deliver: impl FnMut(&Sink, Arrival)) {
        if !self.reliable {
            return;
        }
        if gap.start <= self.expected {
            self.advance(gap.list.base, &mut deliver);
        } else {
            let window = i64::try_from(room.samples).unwrap_or(i64::MAX);
            for seq in gap.start..gap.list.base.min(self.expected.saturating_add(window)) {
                self.offer(seq, Arrival::Irrelevant, room, &mut deliver);
            }
        }
        for seq in gap.list.iter() {
            self.offer(seq, Arrival::Irrelevant, room, &mut deliver);
        }
    }

    /// Goes on at `first`, delivering what is held before it; returns how many numbers were skipped.
    fn advance(&mut self, first: i64, mut deliver: impl FnMut(&Sink, Arrival)) -> u64 {
        let mut skipped = 0;
        while self.expected < first {
            let next = self.held.first_key_value().map_or(first, |(seq, _)| (*seq).min(first));
            skipped += next.abs_diff(self.expected);
            self.step(next);
            self.drain(&mut deliver);
        }
        skipped
    }

    fn drain(&mut self, deliver: &mut impl FnMut(&Sink, Arrival)) {
        while let Some(arrival) = self.held.remove(&self.expected) {
            self.held_bytes -= arrival.bytes();
            deliver(&self.sink, arrival);
            self.step(self.expected + 1);
        }
    }

    fn step(&mut self, expected: i64) {
        self.expected = expected;
        self.tries = 0;
        self.next_nack = None;
    }

    fn is_missing(&self) -> bool {
        // Everything up to `last` is either delivered or held when the counts agree.
        let open = self.last - self.expected + 1;
        open > 0 && self.held.range(..=self.last).count() < usize::try_from(open).unwrap_or(usize::MAX)
    }

    /// What to ask for now; `None` when the same was asked a moment ago. Whole samples are in the first part,
    /// partly received ones in the second.
    pub(crate) fn request(
        &mut self,
        partials: &Partials,
        max_partials: usize,
        now: Instant,
    ) -> Option<(SequenceSet, Vec<i64>)> {
        let mut set = SequenceSet::new(self.expected);
        if !self.is_missing() {
            return Some((set, Vec::new()));
        }
        if self.next_nack.is_some_and(|at| now < at) {
            return None;
        }
        let mut partly = Vec::new();
        let mut room = max_partials.saturating_sub(partials.len());
        for seq in (self.expected..=self.last).take(256) {
            if self.held.contains_key(&seq) {
                continue;
            }
            match partials.get(seq) {
                // A big sample is of no use while there is no room for it.
                None if partials.was_refused(seq) && room == 0 => {}
                None => {
                    room -= usize::from(partials.was_refused(seq));
                    set.insert(seq);
                }
                // Still flowing in: its missing fragments are probably on their way.
                Some(partial)
                    if (partial.asked || !partial.tail_seen())
                        && now.saturating_duration_since(partial.touched) < NACK_RETRY => {}
                Some(_) => partly.push(seq),
            }
        }
        // Only the short wait doubles: on a long way a lost repair would be asked for after many seconds otherwise.
        let wait = (NACK_RETRY * (1 << self.tries.min(NACK_BACKOFF))).max(self.response * 3 / 2);
        self.tries = self.tries.saturating_add(1);
        self.next_nack = Some(now + wait);
        if let Some(first) = partly.first().copied().into_iter().chain(set.iter().next()).min() {
            self.asked = Some((now, first));
        }
        Some((set, partly))
    }

    /// Whether it is time to ask again: nothing came for long enough, or only part of what was asked for.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let missing = self.is_missing() && self.next_nack.is_none_or(|at| at <= now);
        missing || self.invitation.is_some_and(|(at, _)| at <= now)
    }

    /// When to ask again, if anything is missing.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        let nack = if self.is_missing() { self.next_nack } else { None };
        nack.into_iter().chain(self.invitation.map(|(at, _)| at)).min()
    }
}
