//! From a frame's tag to the links that want it, in one look-up.

use std::{collections::BTreeSet, ops::Range};

use rostrans_core::codec::Interest;

/// Tags below this find their readers by index; MAVLink's common messages are all there.
const DENSE: usize = 512;

/// Which readers (by number, in order) want which tags.
#[derive(Debug, Default)]
pub(crate) struct DispatchTable {
    /// Lists of readers, one after the other.
    readers: Vec<u16>,
    /// Readers of frames with any tag, or none.
    all: Range<usize>,
    /// For tags below [`DENSE`]; empty when no reader names a tag.
    dense: Vec<Range<usize>>,
    /// For the other tags, sorted.
    sparse: Vec<(u32, Range<usize>)>,
}

impl DispatchTable {
    /// A table for readers numbered from 0, each wanting the union of its interests.
    pub(crate) fn new(readers: impl Iterator<Item = Vec<Interest>>) -> Self {
        let readers: Vec<(u16, Vec<Interest>)> = (0..).zip(readers).collect();
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

    /// Who wants a frame with this tag.
    pub(crate) fn readers(&self, tag: Option<u32>) -> &[u16] {
        self.readers.get(self.range(tag)).unwrap_or_default()
    }

    fn range(&self, tag: Option<u32>) -> Range<usize> {
        let Some(tag) = tag else { return self.all.clone() };
        if let Some(range) = self.dense.get(tag as usize) {
            return range.clone();
        }
        let found = self.sparse.binary_search_by_key(&tag, |(tag, _)| *tag);
        found.ok().and_then(|i| self.sparse.get(i)).map_or_else(|| self.all.clone(), |(_, r)| r.clone())
    }

    fn list(&mut self, readers: &[(u16, Vec<Interest>)], wants: impl Fn(&Interest) -> bool) -> Range<usize> {
        let start = self.readers.len();
        let wanting = readers.iter().filter(|(_, interests)| interests.iter().any(&wants));
        self.readers.extend(wanting.map(|(number, _)| *number));
        start..self.readers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_reaches_its_readers_in_order() {
        let readers = [
            vec![Interest::Tags(&[30, 12_920])],
            vec![Interest::All],
            vec![Interest::Tags(&[1]), Interest::Tags(&[30])],
        ];
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
            assert_eq!(table.readers(tag), readers, "{tag:?}");
        }
    }

    #[test]
    fn frame_nobody_wants_has_no_readers() {
        let table = DispatchTable::new([vec![Interest::Tags(&[30])]].into_iter());
        assert!(table.readers(Some(31)).is_empty());
        assert!(table.readers(None).is_empty());
        assert!(DispatchTable::default().readers(Some(0)).is_empty());
    }
}
