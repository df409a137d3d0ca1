use super::cursor::{Cursor, Malformed};

/// Bits a set can have.
pub(crate) const MAX_BITS: u32 = 256;

/// Up to 256 numbers from a base on; bit 0 of the wire is the highest bit of the first word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bits {
    len: u32,
    words: [u32; 8],
}

impl Bits {
    const EMPTY: Self = Self { len: 0, words: [0; 8] };

    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let len = cursor.u32()?;
        if len > MAX_BITS {
            return Err(Malformed);
        }
        let mut bits = Self { len, words: [0; 8] };
        for word in bits.words.iter_mut().take(words_of(len)) {
            *word = cursor.u32()?;
        }
        Ok(bits)
    }

    fn insert(&mut self, at: u32) {
        let word = usize::try_from(at / 32).unwrap_or(usize::MAX);
        if let Some(word) = self.words.get_mut(word) {
            *word |= 0x8000_0000 >> (at % 32);
            self.len = self.len.max(at + 1);
        }
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..8u32).zip(self.words).flat_map(move |(i, word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.leading_zeros();
                (bit < 32).then(|| {
                    left &= !(0x8000_0000 >> bit);
                    i * 32 + bit
                })
            })
            .filter(move |&bit| bit < self.len)
        })
    }

    fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().copied().take(words_of(self.len))
    }
}

fn words_of(bits: u32) -> usize {
    usize::try_from(bits.div_ceil(32)).unwrap_or(0)
}

/// A set of sequence numbers `base..base + 256`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SequenceSet {
    pub(crate) base: i64,
    bits: Bits,
}

impl SequenceSet {
    pub(crate) fn new(base: i64) -> Self {
        Self { base, bits: Bits::EMPTY }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let base = cursor.seq()?;
        // The upper bound keeps `base + 256` and later arithmetic far from overflow.
        if !(0..=i64::MAX / 2).contains(&base) {
            return Err(Malformed);
        }
        Ok(Self { base, bits: Bits::read(cursor)? })
    }

    /// Adds a number; false when it is outside of what the set can hold.
    pub(crate) fn insert(&mut self, seq: i64) -> bool {
        match u32::try_from(seq - self.base) {
            Ok(at) if at < MAX_BITS => {
                self.bits.insert(at);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        self.bits.iter().map(|bit| self.base + i64::from(bit))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    pub(crate) fn num_bits(&self) -> u32 {
        self.bits.len
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.bits.words()
    }
}

/// A set of fragment numbers `base..base + 256`; fragments count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FragmentSet {
    pub(crate) base: u32,
    bits: Bits,
}

impl FragmentSet {
    pub(crate) fn new(base: u32) -> Self {
        Self { base, bits: Bits::EMPTY }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let base = cursor.u32()?;
        if base > u32::MAX - MAX_BITS {
            return Err(Malformed);
        }
        Ok(Self { base, bits: Bits::read(cursor)? })
    }

    /// Adds a number; false when it is outside of what the set can hold.
    pub(crate) fn insert(&mut self, fragment: u32) -> bool {
        match fragment.checked_sub(self.base) {
            Some(at) if at < MAX_BITS => {
                self.bits.insert(at);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.bits.iter().map(|bit| self.base + bit)
    }

    pub(crate) fn num_bits(&self) -> u32 {
        self.bits.len
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.bits.words()
    }
}
