use std::collections::VecDeque;

/// What one reader wants again, the oldest sample first: readers deliver in order.
#[derive(Debug, Default)]
pub(crate) struct Repairs(VecDeque<Repair>);

#[derive(Debug)]
struct Repair {
    seq: i64,
    /// The fragments wanted, in descending order so that the next one is at the end; `None` for all from `next` on.
    list: Option<Vec<u32>>,
    next: u32,
}

/// Samples a reader may ask for at one time.
pub(crate) const MAX_SAMPLES: usize = 256;
/// Fragments a reader may ask for by number at one time, all samples together.
pub(crate) const MAX_FRAGMENTS: usize = 2048;

impl Repairs {
    /// How many samples are wanted.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes a sample that is wanted as a whole, within bounds.
    pub(crate) fn want(&mut self, seq: i64) {
        self.open(seq, None);
    }

    /// Notes fragments that are wanted, within bounds. One of a sample that is on its way as a whole stays with that.
    pub(crate) fn want_fragments(&mut self, seq: i64, fragments: impl Iterator<Item = u32>) {
        let mut room = MAX_FRAGMENTS.saturating_sub(self.fragments());
        let Some(repair) = self.open(seq, Some(Vec::new())) else { return };
        if repair.list.is_none() && repair.next == 1 {
            repair.list = Some(Vec::new());
        }
        let Some(list) = &mut repair.list else { return };
        for fragment in fragments {
            if room > 0
                && let Err(at) = list.binary_search_by(|have| fragment.cmp(have))
            {
                list.insert(at, fragment);
                room -= 1;
            }
        }
    }

    /// The sample and fragment that come next.
    pub(crate) fn next(&mut self) -> Option<(i64, u32)> {
        loop {
            let repair = self.0.front()?;
            match &repair.list {
                None => return Some((repair.seq, repair.next)),
                Some(list) => match list.last() {
                    Some(fragment) => return Some((repair.seq, *fragment)),
                    None => drop(self.0.pop_front()),
                },
            }
        }
    }

    /// Notes that what [`Repairs::next`] said has left, and the fragment behind it, if the sample goes on.
    pub(crate) fn sent(&mut self, behind: Option<u32>) {
        let Some(repair) = self.0.front_mut() else { return };
        match (&mut repair.list, behind) {
            (Some(list), _) => drop(list.pop()),
            (None, Some(next)) => repair.next = next,
            (None, None) => self.skip(),
        }
    }

    /// Gives up the sample that is next.
    pub(crate) fn skip(&mut self) {
        self.0.pop_front();
    }

    /// Forgets samples up to `seq`, which have arrived.
    pub(crate) fn forget(&mut self, seq: i64) {
        while self.0.front().is_some_and(|repair| repair.seq <= seq) {
            self.0.pop_front();
        }
    }

    /// Fragments wanted by number.
    pub(crate) fn fragments(&self) -> usize {
        self.0.iter().filter_map(|repair| repair.list.as_ref()).map(Vec::len).sum()
    }

    /// The entry of a sample, made when there is none and there is room.
    fn open(&mut self, seq: i64, list: Option<Vec<u32>>) -> Option<&mut Repair> {
        let at = match self.0.binary_search_by_key(&seq, |repair| repair.seq) {
            Ok(at) => at,
            Err(_) if self.0.len() >= MAX_SAMPLES => return None,
            Err(at) => {
                self.0.insert(at, Repair { seq, list, next: 1 });
                at
            }
        };
        self.0.get_mut(at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sends everything; samples that are wanted whole have three fragments.
    fn drain(repairs: &mut Repairs) -> Vec<(i64, u32)> {
        let mut sent = Vec::new();
        while let Some((seq, fragment)) = repairs.next() {
            sent.push((seq, fragment));
            repairs.sent((fragment < 3).then_some(fragment + 1));
        }
        sent
    }

    #[test]
    fn fragments_of_several_samples_leave_oldest_first() {
        let mut repairs = Repairs::default();
        repairs.want_fragments(9, [1, 3].into_iter());
        repairs.want_fragments(8, [4].into_iter());
        repairs.want(7);
        repairs.want_fragments(9, [2, 3].into_iter());
        let whole = [(7, 1), (7, 2), (7, 3)];
        assert_eq!(drain(&mut repairs), [&whole[..], &[(8, 4), (9, 1), (9, 2), (9, 3)]].concat());
        assert!(repairs.is_empty());
    }

    #[test]
    fn fragments_narrow_a_whole_sample_that_has_not_begun() {
        let mut repairs = Repairs::default();
        repairs.want(1);
        repairs.want_fragments(1, [2].into_iter());
        assert_eq!(drain(&mut repairs), [(1, 2)]);
        repairs.want(1);
        repairs.sent(Some(2));
        repairs.want_fragments(1, [1].into_iter());
        assert_eq!(drain(&mut repairs), [(1, 2), (1, 3)]);
    }

    #[test]
    fn what_has_arrived_is_not_sent_again() {
        let mut repairs = Repairs::default();
        (1..=4).for_each(|seq| repairs.want(seq));
        repairs.forget(3);
        assert_eq!(repairs.next(), Some((4, 1)));
    }

    proptest! {
        #[test]
        fn wishes_are_bounded(wishes in prop::collection::vec((0..2000i64, 1..100_000u32, 0..256u32), 0..600)) {
            let mut repairs = Repairs::default();
            for (seq, first, count) in wishes {
                if count == 0 {
                    repairs.want(seq);
                } else {
                    repairs.want_fragments(seq, first..first + count);
                }
                prop_assert!(repairs.len() <= MAX_SAMPLES && repairs.fragments() <= MAX_FRAGMENTS);
            }
        }
    }
}
