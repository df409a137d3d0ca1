use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::guid::SampleIdentity;
use crate::wire::{DataFrag, FragmentSet};

/// Samples of one writer of which only some fragments have arrived.
#[derive(Debug, Default)]
pub(crate) struct Partials {
    items: Vec<Partial>,
    /// Samples known to be big for which there was no room, the newest ones.
    refused: VecDeque<i64>,
}

/// Fragments of one sample; a writer that cuts finer would have us look through millions of flags.
const MAX_PARTS: usize = 1 << 17;

/// A sample of which nothing new has come for this long is begun anew when pieces of another size come: its writer sends
/// it another way now, or what we have is a fake.
const CONTRADICTED: Duration = Duration::from_millis(500);

/// Refused samples remembered.
const REFUSED: usize = 64;

/// One sample under reassembly.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) seq: i64,
    /// What has arrived, up to the last byte of it: it grows with each fragment, since zeros in advance would cost as
    /// much as the copy.
    buf: Vec<u8>,
    /// Bytes of the whole sample; `buf` has room for them.
    total: usize,
    fragment_size: usize,
    /// One flag per fragment.
    have: Vec<bool>,
    missing: usize,
    related: Option<SampleIdentity>,
    source_time: Option<i64>,
    /// When the last new fragment came.
    pub(crate) touched: Instant,
    /// Its missing fragments have been asked for.
    pub(crate) asked: bool,
}

/// A sample that is complete.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) payload: Bytes,
    pub(crate) related: Option<SampleIdentity>,
    pub(crate) source_time: Option<i64>,
}

/// Room for partly received samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) samples: usize,
    pub(crate) sample_bytes: usize,
    /// Bytes the whole engine may still set aside.
    pub(crate) free_bytes: usize,
    /// Newer samples are worth more than older ones, instead of the other way round.
    pub(crate) newest_wins: bool,
}

/// What became of a fragment.
#[derive(Debug)]
pub(crate) enum Added {
    /// Stored, or a duplicate.
    Stored,
    /// The last one: here is the sample.
    Complete(Whole),
    /// It contradicts itself or what came before.
    Malformed,
    /// There is no room now.
    OverLimit,
    /// There will never be room.
    TooBig,
}

impl Partials {
    /// Bytes set aside.
    pub(crate) fn bytes(&self) -> usize {
        self.items.iter().map(|item| item.total).sum()
    }

    /// Bytes of the largest one.
    pub(crate) fn largest(&self) -> usize {
        self.items.iter().map(|item| item.total).max().unwrap_or(0)
    }

    /// Gives up the largest one; returns its size. A reliable reader asks for it again when there is room.
    pub(crate) fn give_up_largest(&mut self) -> Option<usize> {
        let (index, item) = self.items.iter().enumerate().max_by_key(|(_, item)| item.total)?;
        let (seq, size) = (item.seq, item.total);
        self.items.swap_remove(index);
        self.refuse(seq);
        Some(size)
    }

    /// How many samples there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether fragments of this sample found no room.
    pub(crate) fn was_refused(&self, seq: i64) -> bool {
        self.refused.contains(&seq)
    }

    fn refuse(&mut self, seq: i64) {
        if !self.was_refused(seq) {
            self.refused.truncate(REFUSED - 1);
            self.refused.push_front(seq);
        }
    }

    /// Notes that missing fragments of a sample were asked for.
    pub(crate) fn mark_asked(&mut self, seq: i64) {
        if let Some(item) = self.items.iter_mut().find(|item| item.seq == seq) {
            item.asked = true;
        }
    }

    pub(crate) fn get(&self, seq: i64) -> Option<&Partial> {
        self.items.iter().find(|item| item.seq == seq)
    }

    /// Forgets samples before `seq`; returns how many.
    pub(crate) fn prune(&mut self, seq: i64) -> usize {
        let before = self.items.len();
        self.items.retain(|item| item.seq >= seq);
        before - self.items.len()
    }

    pub(crate) fn add(&mut self, frag: &DataFrag<'_>, time: Option<i64>, room: Room, now: Instant) -> Added {
        let (Ok(total), size) = (usize::try_from(frag.sample_size), usize::from(frag.fragment_size)) else {
            return Added::TooBig;
        };
        if total > room.sample_bytes || total.div_ceil(size) > MAX_PARTS {
            return Added::TooBig;
        }
        let known = self.items.iter().position(|item| item.seq == frag.seq);
        let stale = |item: &Partial| {
            (item.total, item.fragment_size) != (total, size)
                && now.saturating_duration_since(item.touched) >= CONTRADICTED
        };
        let index = match known {
            Some(index) if self.items.get(index).is_some_and(stale) => {
                self.items.swap_remove(index);
                None
            }
            known => known,
        };
        let index = match index {
            Some(index) => index,
            None => match self.open(frag, total, size, time, room, now) {
                Some(index) => index,
                None => {
                    self.refuse(frag.seq);
                    return Added::OverLimit;
                }
            },
        };
        let Some(item) = self.items.get_mut(index) else { return Added::Malformed };
        if item.total != total || item.fragment_size != size || !item.fill(frag, now) {
            return Added::Malformed;
        }
        if item.missing > 0 {
            return Added::Stored;
        }
        let done = self.items.swap_remove(index);
        Added::Complete(Whole {
            payload: Bytes::from(done.buf),
            related: done.related,
            source_time: done.source_time,
        })
    }

    fn open(
        &mut self,
        frag: &DataFrag<'_>,
        total: usize,
        size: usize,
        time: Option<i64>,
        room: Room,
        now: Instant,
    ) -> Option<usize> {
        let fragments = total.div_ceil(size);
        // Checked before the allocation: the first fragment must lie in the sample it claims.
        if usize::try_from(frag.first).map_or(true, |first| first > fragments) {
            return None;
        }
        if self.items.len() >= room.samples {
            // Best effort gives up the oldest for a newer one; reliable the newest, since the oldest is needed first.
            let worth = |seq: i64| if room.newest_wins { seq } else { -seq };
            let least = self.items.iter().enumerate().min_by_key(|(_, item)| worth(item.seq));
            match least.map(|(index, item)| (index, item.seq)) {
                Some((index, seq)) if worth(seq) < worth(frag.seq) => {
                    self.items.swap_remove(index);
                    self.refuse(seq);
                }
                _ => return None,
            }
        }
        if total > room.free_bytes {
            return None;
        }
        self.items.push(Partial {
            seq: frag.seq,
            buf: Vec::with_capacity(total),
            total,
            fragment_size: size,
            have: vec![false; fragments],
            missing: fragments,
            related: frag.inline.related,
            source_time: time,
            touched: now,
            asked: false,
        });
        Some(self.items.len() - 1)
    }
}

impl Partial {
    /// Copies the fragments in; false when they do not fit.
    fn fill(&mut self, frag: &DataFrag<'_>, now: Instant) -> bool {
        let Some(first) = usize::try_from(frag.first).ok().and_then(|n| n.checked_sub(1)) else {
            return false;
        };
        let mut rest = frag.payload;
        for index in first..first.saturating_add(usize::from(frag.count)) {
            let start = index.saturating_mul(self.fragment_size);
            let end = (start.saturating_add(self.fragment_size)).min(self.total);
            let (Some(have), Some(len)) = (self.have.get_mut(index), end.checked_sub(start)) else {
                return false;
            };
            let Some((bytes, after)) = rest.split_at_checked(len) else { return false };
            rest = after;
            if !*have {
                if self.buf.len() <= start {
                    self.buf.resize(start, 0);
                    self.buf.extend_from_slice(bytes);
                } else if let Some(hole) = self.buf.get_mut(start..end) {
                    hole.copy_from_slice(bytes);
                }
                *have = true;
                self.missing -= 1;
                self.touched = now;
            }
        }
        self.related = self.related.or(frag.inline.related);
        true
    }

    /// Whether the writer has come to the end of the sample, so that what is missing is lost rather than late.
    pub(crate) fn tail_seen(&self) -> bool {
        self.have.last() == Some(&true)
    }

    /// The missing fragments up to number `last`, as sets of 256 each, at most `sets` of them.
    pub(crate) fn missing(&self, last: u32, sets: usize) -> Vec<FragmentSet> {
        let mut found: Vec<FragmentSet> = Vec::new();
        for (number, _) in (1..=last).zip(&self.have).filter(|(_, have)| !**have) {
            if found.last_mut().is_some_and(|set| set.insert(number)) {
                continue;
            }
            if found.len() == sets {
                break;
            }
            let mut set = FragmentSet::new(number);
            set.insert(number);
            found.push(set);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::InlineQos;

    const ROOM: Room = Room { samples: 4, sample_bytes: 1 << 20, free_bytes: 1 << 20, newest_wins: false };

    fn frag(seq: i64, first: u32, sample_size: u32, payload: &[u8]) -> DataFrag<'_> {
        DataFrag {
            reader: [0; 4],
            writer: [0; 4],
            seq,
            first,
            count: 1,
            fragment_size: 100,
            sample_size,
            inline: InlineQos::default(),
            payload,
            is_key: false,
        }
    }

    #[test]
    fn fragments_in_any_order_make_the_sample() {
        let sample: Vec<u8> = (0..=249).collect();
        let mut partials = Partials::default();
        let now = Instant::now();
        let mut add = |first: u32, bytes: &[u8]| partials.add(&frag(1, first, 250, bytes), None, ROOM, now);
        assert!(matches!(add(3, &sample[200..]), Added::Stored));
        assert!(matches!(add(1, &sample[..100]), Added::Stored));
        assert!(matches!(add(1, &sample[..100]), Added::Stored));
        let Added::Complete(whole) = add(2, &sample[100..200]) else { panic!("not complete") };
        assert_eq!(whole.payload, sample);
        assert_eq!(partials.bytes(), 0);
    }

    #[test]
    fn too_many_fragments_are_refused() {
        let tiny = DataFrag { fragment_size: 1, ..frag(1, 1, 1 << 18, &[0]) };
        assert!(matches!(Partials::default().add(&tiny, None, ROOM, Instant::now()), Added::TooBig));
        let small = DataFrag { sample_size: 1 << 17, ..tiny };
        assert!(matches!(Partials::default().add(&small, None, ROOM, Instant::now()), Added::Stored));
    }

    #[test]
    fn missing_fragments_are_listed_in_sets() {
        let mut partials = Partials::default();
        partials.add(&frag(1, 2, 60_000, &[0; 100]), None, ROOM, Instant::now());
        let sets = partials.get(1).unwrap().missing(u32::MAX, 8);
        let all: Vec<_> = sets.iter().flat_map(FragmentSet::iter).collect();
        assert_eq!(all.len(), 599);
        assert!(!all.contains(&2));
        assert!(partials.get(1).unwrap().missing(1, 8)[0].iter().eq([1]));
    }

    #[test]
    fn reliable_keeps_the_oldest_and_best_effort_the_newest() {
        for newest_wins in [false, true] {
            let mut partials = Partials::default();
            let room = Room { newest_wins, ..ROOM };
            for seq in 1..=5 {
                partials.add(&frag(seq, 1, 250, &[0; 100]), None, room, Instant::now());
            }
            assert_eq!(partials.get(1).is_some(), !newest_wins);
            assert_eq!(partials.get(5).is_some(), newest_wins);
        }
    }

    #[test]
    fn a_sample_that_comes_in_other_pieces_later_is_begun_anew() {
        let mut partials = Partials::default();
        let now = Instant::now();
        let mut add = |first, total, ms| {
            let bytes = [1; 100];
            let frag = frag(1, first, total, &bytes);
            partials.add(&frag, None, ROOM, now + Duration::from_millis(ms))
        };
        assert!(matches!(add(1, 900, 0), Added::Stored));
        assert!(matches!(add(1, 200, 50), Added::Malformed), "it is still flowing in");
        assert!(matches!(add(1, 200, 600), Added::Stored));
        assert!(matches!(add(2, 200, 601), Added::Complete(_)));
    }

    proptest! {
        #[test]
        fn contradictions_stay_bounded(frags in prop::collection::vec(
            (1..8i64, any::<u32>(), any::<u16>(), 1..=u16::MAX, any::<u32>(), 0..300usize), 0..60,
        )) {
            let payload = [1; 300];
            let mut partials = Partials::default();
            for (seq, first, count, fragment_size, sample_size, len) in frags {
                let free_bytes = (1 << 20) - partials.bytes();
                let frag = DataFrag { count, fragment_size, ..frag(seq, first, sample_size, &payload[..len]) };
                partials.add(&frag, None, Room { free_bytes, newest_wins: seq % 2 == 0, ..ROOM }, Instant::now());
                prop_assert!(partials.bytes() <= 1 << 20 && partials.items.len() <= 4);
            }
        }
    }
}
