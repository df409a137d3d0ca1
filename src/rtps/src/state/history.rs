use std::collections::VecDeque;
use std::time::Instant;

use bytes::Bytes;

use crate::endpoint::History;
use crate::guid::{Guid, SampleIdentity};
use crate::wire::UNKNOWN_ENTITY;

/// Payloads up to this size are copied into slots that are used again and again.
pub(crate) const COPY_MAX: usize = 8 << 10;

/// One sample a writer holds.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) seq: i64,
    pub(crate) payload: Stored,
    pub(crate) related: Option<SampleIdentity>,
    pub(crate) only_to: Option<Guid>,
    pub(crate) source_time: i64,
    /// When it is of no use any more.
    pub(crate) expires: Option<Instant>,
    /// Set for a dispose notice of the builtin writers: the key of what is gone.
    pub(crate) disposed: Option<Guid>,
}

impl Slot {
    /// Whether the sample is meant for this reader.
    pub(crate) fn is_for(&self, reader: Guid) -> bool {
        self.only_to.is_none_or(|only| covers(only, reader))
    }
}

/// Whether `only`, a reader or all readers of a participant, includes `reader`.
pub(crate) fn covers(only: Guid, reader: Guid) -> bool {
    only.prefix == reader.prefix && (only.entity == reader.entity || only.entity == UNKNOWN_ENTITY)
}

/// A payload, copied or shared.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    Copied(Vec<u8>),
    Shared(Bytes),
}

impl Stored {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Copied(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }

    /// Part of the payload as its own `Bytes`; shared payloads are not copied.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Bytes {
        match self {
            Self::Copied(bytes) => Bytes::copy_from_slice(bytes.get(start..end).unwrap_or_default()),
            Self::Shared(bytes) if start <= end && end <= bytes.len() => bytes.slice(start..end),
            Self::Shared(_) => Bytes::new(),
        }
    }
}

/// The samples of a writer in ascending order of their numbers; numbers may be missing.
#[derive(Debug)]
pub(crate) struct Cache {
    slots: VecDeque<Slot>,
    kind: History,
    bytes: usize,
    spare: Vec<Vec<u8>>,
}

/// Dispose notices kept although everybody has them: a participant that we lost sight of, but which still sees us,
/// would otherwise never hear of what went away meanwhile.
pub(crate) const NOTICES: usize = 64;
/// Buffers kept for reuse.
const SPARE_MAX: usize = 64;

impl Cache {
    pub(crate) fn new(kind: History) -> Self {
        Self { slots: VecDeque::new(), kind, bytes: 0, spare: Vec::new() }
    }

    /// Whether a payload of `len` bytes may be added now (keep-last always makes room).
    pub(crate) fn has_room(&self, len: usize) -> bool {
        match self.kind {
            History::KeepLast(_) => true,
            History::KeepAll { bytes } => self.bytes == 0 || self.bytes.saturating_add(len) <= bytes,
        }
    }

    /// Whether a keep-all history is half full, so that acknowledgements are needed soon.
    pub(crate) fn is_filling(&self) -> bool {
        matches!(self.kind, History::KeepAll { bytes } if self.bytes > bytes / 2)
    }

    /// Makes the stored form of `payload`.
    pub(crate) fn store(&mut self, payload: &Bytes) -> Stored {
        if payload.len() > COPY_MAX {
            return Stored::Shared(payload.clone());
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.extend_from_slice(payload);
        Stored::Copied(copy)
    }

    /// Adds the newest sample; keep-last gives up the oldest for it.
    pub(crate) fn push(&mut self, slot: Slot) {
        if let History::KeepLast(depth) = self.kind {
            while self.slots.len() >= usize::try_from(depth.max(1)).unwrap_or(usize::MAX) {
                self.pop_front();
            }
        }
        self.bytes += slot.payload.as_slice().len();
        self.slots.push_back(slot);
    }

    /// The oldest number held.
    pub(crate) fn first(&self) -> Option<i64> {
        self.slots.front().map(|slot| slot.seq)
    }

    pub(crate) fn get(&self, seq: i64) -> Option<&Slot> {
        let index = self.index(seq)?;
        self.slots.get(index)
    }

    pub(crate) fn seqs(&self) -> impl Iterator<Item = i64> + '_ {
        self.slots.iter().map(|slot| slot.seq)
    }

    /// Drops everything up to and including `seq`.
    pub(crate) fn prune(&mut self, seq: i64) {
        while self.first().is_some_and(|first| first <= seq) {
            self.pop_front();
        }
    }

    pub(crate) fn remove(&mut self, seq: i64) {
        if let Some(slot) = self.index(seq).and_then(|index| self.slots.remove(index)) {
            self.recycle(slot);
        }
    }

    /// Drops what is of no use any more, the oldest first: a hole would have to be told by a GAP, which Fast DDS does
    /// not survive for a sample it has half of. Samples with descending source times stay a little longer.
    pub(crate) fn expire(&mut self, now: Instant) {
        while self.slots.front().and_then(|slot| slot.expires).is_some_and(|at| at <= now) {
            self.pop_front();
        }
    }

    /// Drops dispose notices up to `seq`, but for the newest [`NOTICES`].
    pub(crate) fn prune_disposed(&mut self, seq: i64) {
        let notices = self.slots.iter().filter(|slot| slot.disposed.is_some()).count();
        let mut surplus = notices.saturating_sub(NOTICES);
        self.slots.retain(|slot| {
            let goes = surplus > 0 && slot.disposed.is_some() && slot.seq <= seq;
            surplus -= usize::from(goes);
            !goes
        });
    }

    fn index(&self, seq: i64) -> Option<usize> {
        // Without holes the place follows from the number.
        let guess = usize::try_from(seq - self.first()?).ok()?;
        if self.slots.get(guess).is_some_and(|slot| slot.seq == seq) {
            return Some(guess);
        }
        self.slots.binary_search_by_key(&seq, |slot| slot.seq).ok()
    }

    fn pop_front(&mut self) {
        if let Some(slot) = self.slots.pop_front() {
            self.recycle(slot);
        }
    }

    fn recycle(&mut self, slot: Slot) {
        self.bytes = self.bytes.saturating_sub(slot.payload.as_slice().len());
        if let Stored::Copied(mut copy) = slot.payload
            && self.spare.len() < SPARE_MAX
        {
            copy.clear();
            self.spare.push(copy);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn push(cache: &mut Cache, seq: i64, len: usize) {
        let payload = cache.store(&Bytes::from(vec![0; len]));
        let expires = None;
        cache.push(Slot {
            seq,
            payload,
            related: None,
            only_to: None,
            source_time: 0,
            expires,
            disposed: None,
        });
    }

    #[test]
    fn what_is_over_goes_in_order() {
        let now = Instant::now();
        let mut cache = Cache::new(History::KeepAll { bytes: 1000 });
        for (seq, ms) in [(1, Some(5)), (2, Some(9)), (3, Some(50)), (4, Some(10)), (5, None)] {
            push(&mut cache, seq, 8);
            cache.slots.back_mut().unwrap().expires = ms.map(|ms| now + Duration::from_millis(ms));
        }
        cache.expire(now + Duration::from_millis(9));
        assert!(cache.seqs().eq(3..=5));
        cache.expire(now + Duration::from_millis(50));
        assert!(cache.seqs().eq([5]));
    }

    #[test]
    fn keep_last_gives_up_the_oldest() {
        let mut cache = Cache::new(History::KeepLast(3));
        (1..=5).for_each(|seq| push(&mut cache, seq, 8));
        assert!(cache.seqs().eq(3..=5));
        assert!(cache.get(2).is_none());
        assert_eq!(cache.get(4).unwrap().seq, 4);
    }

    #[test]
    fn keep_all_fills_up_and_recovers() {
        let mut cache = Cache::new(History::KeepAll { bytes: 100 });
        push(&mut cache, 1, 60);
        assert!(!cache.has_room(60));
        cache.prune(1);
        assert!(cache.has_room(60));
    }

    #[test]
    fn holes_do_not_hide_samples() {
        let mut cache = Cache::new(History::KeepAll { bytes: 1000 });
        (1..=5).for_each(|seq| push(&mut cache, seq, 8));
        cache.remove(2);
        assert!(cache.get(2).is_none());
        assert_eq!(cache.get(5).unwrap().seq, 5);
    }
}
