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
    heartbeat_count: Option<i32>,
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
/// Doublings of the wait.
const NACK_BACKOFF: u32 = 5;

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

    /// Whether a reliable writer has never told what it has.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.reliable && self.heartbeat_count.is_none()
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Whether a sample of this number would be of use.
    pub(crate) fn wants(&self, seq: i64) -> bool {
        seq >= self.expected && !self.held.contains_key(&seq)
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
            self.response = (self.response * 3 + now.saturating_duration_since(at)) / 4;
            self.asked = None;
            self.tries = 0;
        }
    }

    /// Notes what the writer has; false for a repeated or overtaken heartbeat.
    pub(crate) fn heartbeat(
        &mut self,
        heartbeat: &Heartbeat,
        deliver: impl FnMut(&Sink, Arrival),
        outcome: &mut Outcome,
    ) -> bool {
        if !self.reliable || self.heartbeat_count.is_some_and(|c| heartbeat.count.wrapping_sub(c) <= 0) {
            return false;
        }
        // Before the first heartbeat nobody promised us the samples before its first one.
        let fresh = self.heartbeat_count.is_none() && self.expected == 1;
        self.heartbeat_count = Some(heartbeat.count);
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
        let wait = NACK_RETRY.max(self.response * 3 / 2) * (1 << self.tries.min(NACK_BACKOFF));
        self.tries = self.tries.saturating_add(1);
        self.next_nack = Some(now + wait);
        if let Some(first) = partly.first().copied().into_iter().chain(set.iter().next()).min() {
            self.asked = Some((now, first));
        }
        Some((set, partly))
    }

    /// Whether it is time to ask again: nothing came for long enough, or only part of what was asked for.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.is_missing() && self.next_nack.is_none_or(|at| at <= now)
    }

    /// When to ask again, if anything is missing.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        if self.is_missing() { self.next_nack } else { None }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::endpoint::Sample;
    use crate::guid::Guid;
    use crate::state::arrival::Builtin;

    const ROOM: HoldRoom = HoldRoom { samples: 8, free_bytes: 1000 };

    fn sample(seq: i64) -> Arrival {
        Arrival::Sample(Sample {
            payload: Bytes::from_static(&[0; 10]),
            writer: Guid::UNKNOWN,
            seq,
            related: None,
            source_time: None,
        })
    }

    struct Bench {
        proxy: WriterProxy,
        got: Vec<i64>,
    }

    impl Bench {
        fn new(reliable: bool) -> Self {
            Self {
                proxy: WriterProxy::new([0; 4], reliable, Sink::Builtin(Builtin::Writers)),
                got: Vec::new(),
            }
        }

        fn offer(&mut self, seq: i64) -> Outcome {
            let got = &mut self.got;
            self.proxy.offer(seq, sample(seq), ROOM, |_, arrival| record(got, &arrival))
        }

        fn heartbeat(&mut self, first: i64, last: i64, count: i32) -> (bool, Outcome) {
            let got = &mut self.got;
            let hb = Heartbeat {
                reader: [0; 4],
                writer: [0; 4],
                first,
                last,
                count,
                is_final: true,
                liveliness: false,
            };
            let mut outcome = Outcome::default();
            let news = self.proxy.heartbeat(&hb, |_, arrival| record(got, &arrival), &mut outcome);
            (news, outcome)
        }
    }

    fn record(got: &mut Vec<i64>, arrival: &Arrival) {
        if let Arrival::Sample(sample) = arrival {
            got.push(sample.seq);
        }
    }

    #[test]
    fn reliable_delivers_in_order_once() {
        let mut b = Bench::new(true);
        for seq in [2, 1, 1, 3, 2] {
            b.offer(seq);
        }
        assert_eq!(b.got, [1, 2, 3]);
    }

    #[test]
    fn best_effort_drops_what_is_late() {
        let mut b = Bench::new(false);
        let lost: Vec<_> = [5, 4, 7, 7].into_iter().map(|seq| b.offer(seq).lost).collect();
        assert_eq!(b.got, [5, 7]);
        assert_eq!(lost, [0, 0, 1, 0]);
    }

    #[test]
    fn a_heartbeat_reveals_what_is_missing() {
        let mut b = Bench::new(true);
        b.offer(1);
        b.offer(3);
        b.heartbeat(1, 4, 1);
        let (set, _) = b.proxy.request(&Partials::default(), 4, Instant::now()).unwrap();
        assert!(set.iter().eq([2, 4]));
        assert!(b.proxy.request(&Partials::default(), 4, Instant::now()).is_none(), "asked again at once");
    }

    #[test]
    fn a_writer_that_gave_samples_up_is_followed() {
        let mut b = Bench::new(true);
        b.offer(1);
        b.offer(4);
        b.heartbeat(1, 4, 1);
        let (_, outcome) = b.heartbeat(6, 9, 2);
        assert_eq!((b.got.clone(), outcome.lost), (vec![1, 4], 3));
        b.offer(6);
        assert_eq!(b.got, [1, 4, 6]);
    }

    #[test]
    fn an_overtaken_heartbeat_is_ignored() {
        let mut b = Bench::new(true);
        assert!(b.heartbeat(1, 4, 7).0);
        assert!(!b.heartbeat(1, 2, 6).0);
        assert!(!b.heartbeat(1, 4, 7).0);
    }

    #[test]
    fn gaps_release_what_waits_behind_them() {
        let mut b = Bench::new(true);
        b.offer(5);
        let mut list = SequenceSet::new(3);
        list.insert(4);
        let gap = Gap { reader: [0; 4], writer: [0; 4], start: 1, list };
        let got = &mut b.got;
        b.proxy.gap(&gap, ROOM, |_, arrival| record(got, &arrival));
        assert_eq!(b.got, []);
        b.offer(3);
        assert_eq!(b.got, [3, 5]);
    }

    #[test]
    fn early_samples_are_bounded() {
        let mut b = Bench::new(true);
        let refused = (2..30).filter(|seq| b.offer(*seq).over_limit).count();
        assert_eq!(refused, 20);
        b.offer(1);
        assert_eq!(b.got, (1..=9).collect::<Vec<_>>());
    }
}
