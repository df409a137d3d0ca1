//! From a frame to the links that want it, in two look-ups: by sender, then by tag.

use std::{collections::BTreeSet, ops::Range};

use rostrans_core::{codec::Interest, transport::Frame};

/// Tags below this find their readers by index; MAVLink's common messages are all there.
const DENSE: usize = 512;

/// Which frames a link wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) interest: Interest,
    /// Only those of this sender.
    pub(crate) sender: Option<u8>,
}

impl Wish {
    /// Every frame of everyone.
    pub(crate) const ALL: Self = Self { interest: Interest::All, sender: None };

    pub(crate) fn fits(&self, frame: &Frame<'_>) -> bool {
        let interesting = match self.interest {
            Interest::All => true,
            Interest::Tags(tags) => frame.tag.is_some_and(|tag| tags.contains(&tag)),
        };
        interesting && (self.sender.is_none() || self.sender == frame.sender)
    }
}

/// Which readers (by number, in order) want which frames.
#[derive(Debug)]
pub(crate) struct DispatchTable {
    /// For senders without readers of their own, and for frames without sender.
    others: TagTable,
    own: Vec<TagTable>,
    /// Each sender's table in `own`, plus one; 0 stands for `others`.
    by_sender: Box<[u16; 256]>,
}

/// The readers of one sender's frames.
#[derive(Debug, Default)]
struct TagTable {
    /// Lists of readers, one after the other.
    readers: Vec<u16>,
    /// Readers of frames with any tag, or none.
    all: Range<u32>,
    /// For tags below [`DENSE`]; empty when no reader names a tag.
    dense: Vec<Range<u32>>,
    /// For the other tags, sorted.
    sparse: Vec<(u32, Range<u32>)>,
}

impl DispatchTable {
    /// A table for readers numbered from 0, each with the frames it wants.
    pub(crate) fn new(readers: impl Iterator<Item = Vec<Wish>>) -> Self {
        let readers: Vec<(u16, Vec<Wish>)> = (0..).zip(readers).collect();
        let senders: BTreeSet<u8> =
            readers.iter().flat_map(|(_, wishes)| wishes).filter_map(|wish| wish.sender).collect();
        let mut table = Self {
            others: TagTable::new(&readers, None),
            own: Vec::with_capacity(senders.len()),
            by_sender: Box::new([0; 256]),
        };
        for (number, sender) in (1..).zip(senders) {
            table.own.push(TagTable::new(&readers, Some(sender)));
            table.by_sender[usize::from(sender)] = number;
        }
        table
    }

    /// Who wants this frame.
    #[inline]
    pub(crate) fn readers(&self, frame: &Frame<'_>) -> &[u16] {
        let number = frame.sender.map_or(0, |sender| self.by_sender[usize::from(sender)]);
        let own = usize::from(number).checked_sub(1).and_then(|index| self.own.get(index));
        own.unwrap_or(&self.others).readers(frame.tag)
    }
}

impl Default for DispatchTable {
    fn default() -> Self {
        Self::new(std::iter::empty())
    }
}

impl TagTable {
    /// The table for frames of `sender`.
    fn new(readers: &[(u16, Vec<Wish>)], sender: Option<u8>) -> Self {
        let heard = |wish: &&Wish| wish.sender.is_none() || wish.sender == sender;
        let interests = |wishes: &Vec<Wish>| wishes.iter().filter(heard).map(|wish| wish.interest).collect();
        let readers: Vec<(u16, Vec<Interest>)> =
            readers.iter().map(|(number, wishes)| (*number, interests(wishes))).collect();
        let mut table = Self::default();
        table.all = table.list(&readers, |interest| *interest == Interest::All);
        let tags: BTreeSet<u32> = readers
            .iter()
            .flat_map(|(_, interests)| interests)
            .flat_map(|interest| match interest {
                Interest::All => &[],
                Interest::Tags(tags) => *tags,
            })
            .copied()
            .collect();
        if !tags.is_empty() {
            table.dense = vec![table.all.clone(); DENSE];
        }
        for tag in tags {
            let range = table.list(&readers, |interest| match interest {
                Interest::All => true,
                Interest::Tags(tags) => tags.contains(&tag),
            });
            match table.dense.get_mut(tag as usize) {
                Some(entry) => *entry = range,
                None => table.sparse.push((tag, range)),
            }
        }
        table
    }

    fn readers(&self, tag: Option<u32>) -> &[u16] {
        let Range { start, end } = self.range(tag);
        self.readers.get(start as usize..end as usize).unwrap_or_default()
    }

    fn range(&self, tag: Option<u32>) -> Range<u32> {
        let Some(tag) = tag else { return self.all.clone() };
        if let Some(range) = self.dense.get(tag as usize) {
            return range.clone();
        }
        let found = self.sparse.binary_search_by_key(&tag, |(tag, _)| *tag);
        found.ok().and_then(|i| self.sparse.get(i)).map_or_else(|| self.all.clone(), |(_, r)| r.clone())
    }

    fn list(&mut self, readers: &[(u16, Vec<Interest>)], wants: impl Fn(&Interest) -> bool) -> Range<u32> {
        let end = |readers: &[u16]| u32::try_from(readers.len()).unwrap_or(u32::MAX);
        let start = end(&self.readers);
        let wanting = readers.iter().filter(|(_, interests)| interests.iter().any(&wants));
        self.readers.extend(wanting.map(|(number, _)| *number));
        start..end(&self.readers)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use rostrans_core::transport::Peer;

    use super::*;

    fn frame(sender: Option<u8>, tag: Option<u32>) -> Frame<'static> {
        Frame { bytes: b"", peer: Peer::Serial, received: Instant::now(), tag, sender }
    }

    fn wish(sender: Option<u8>, tags: &'static [u32]) -> Wish {
        Wish { interest: Interest::Tags(tags), sender }
    }

    #[test]
    fn frame_reaches_its_readers_in_order() {
        let readers =
            [vec![wish(None, &[30, 12_920])], vec![Wish::ALL], vec![wish(None, &[1]), wish(None, &[30])]];
        let table = DispatchTable::new(readers.into_iter());
        let cases: [(Option<u32>, &[u16]); 7] = [
            (Some(30), &[0, 1, 2]),
            (Some(1), &[1, 2]),
            (Some(0), &[1]),
            (Some(12_920), &[0, 1]),
            (Some(12_921), &[1]),
            (Some(u32::MAX), &[1]),
            (None, &[1]),
        ];
        for (tag, readers) in cases {
            for sender in [None, Some(0), Some(1), Some(255)] {
                assert_eq!(table.readers(&frame(sender, tag)), readers, "{sender:?} {tag:?}");
            }
        }
    }

    #[test]
    fn frames_of_each_sender_reach_its_own_readers_and_those_of_all() {
        let readers = [
            vec![wish(Some(1), &[30])],
            vec![wish(Some(2), &[30, 31])],
            vec![Wish::ALL],
            vec![wish(None, &[30]), wish(Some(2), &[31])],
            vec![Wish { sender: Some(255), ..Wish::ALL }],
        ];
        let table = DispatchTable::new(readers.clone().into_iter());
        let cases: [(Option<u8>, Option<u32>, &[u16]); 8] = [
            (Some(1), Some(30), &[0, 2, 3]),
            (Some(1), Some(31), &[2]),
            (Some(2), Some(30), &[1, 2, 3]),
            (Some(2), Some(31), &[1, 2, 3]),
            (Some(3), Some(30), &[2, 3]),
            (Some(255), Some(99_999), &[2, 4]),
            (None, Some(30), &[2, 3]),
            (None, None, &[2]),
        ];
        for (sender, tag, expected) in cases {
            let frame = frame(sender, tag);
            assert_eq!(table.readers(&frame), expected, "{sender:?} {tag:?}");
            let fitting: Vec<u16> = (0..)
                .zip(&readers)
                .filter(|(_, wishes)| wishes.iter().any(|wish| wish.fits(&frame)))
                .map(|(number, _)| number)
                .collect();
            assert_eq!(fitting, expected, "{sender:?} {tag:?}");
        }
    }

    #[test]
    fn frame_nobody_wants_has_no_readers() {
        let table = DispatchTable::new([vec![wish(None, &[30])]].into_iter());
        assert!(table.readers(&frame(None, Some(31))).is_empty());
        assert!(table.readers(&frame(None, None)).is_empty());
        assert!(DispatchTable::default().readers(&frame(Some(1), Some(0))).is_empty());
    }
}
