//! Reading XCDR1 and XCDR2, both byte orders.

use crate::{CdrError, HEADER_LEN, Number};

/// Takes CDR fields off a sample, front to back.
///
/// Every access is checked against what is left, and lengths are checked before anything is allocated for them.
///
/// Representations read (DDSI-RTPS 2.5 table 10.3 and XTypes 1.3 table 60): `00 00`/`00 01` CDR and `00 06`/`00 07`
/// PLAIN_CDR2, big and little endian. PLAIN_CDR2 aligns 8-octet numbers to 4 and puts a byte count in front of
/// arrays and sequences whose elements are not primitive.
#[derive(Clone, Debug)]
pub struct CdrReader<'a> {
    body: &'a [u8],
    pos: usize,
    swap: bool,
    xcdr2: bool,
}

impl<'a> CdrReader<'a> {
    /// Opens a sample that starts with its encapsulation header.
    ///
    /// **Errors**: [`CdrError::NoHeader`]; [`CdrError::Representation`] for parameter lists and delimited encodings,
    /// which no plain ROS type uses.
    pub fn new(sample: &'a [u8]) -> Result<Self, CdrError> {
        let Some((&[high, low, _, _], body)) = sample.split_first_chunk::<HEADER_LEN>() else {
            return Err(CdrError::NoHeader(sample.len()));
        };
        let id = u16::from_be_bytes([high, low]);
        let (big, xcdr2) = match id {
            0x0000 => (true, false),
            0x0001 => (false, false),
            0x0006 => (true, true),
            0x0007 => (false, true),
            _ => return Err(CdrError::Representation(id)),
        };
        Ok(Self { body, pos: 0, swap: big != cfg!(target_endian = "big"), xcdr2 })
    }

    /// Opens a body without header, little-endian XCDR1.
    pub fn xcdr1_le(body: &'a [u8]) -> Self {
        Self { body, pos: 0, swap: cfg!(target_endian = "big"), xcdr2: false }
    }

    /// Offset of the next octet in the body.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Octets not yet read.
    pub fn remaining(&self) -> usize {
        self.body.len().saturating_sub(self.pos)
    }

    /// True when numbers lie in the body as in this host's memory with XCDR1 alignment, so that ranges may be copied.
    pub fn is_native_xcdr1(&self) -> bool {
        !self.swap && !self.xcdr2
    }

    /// True when numbers lie in the body with their lowest octet first.
    pub fn is_little_endian(&self) -> bool {
        self.swap == cfg!(target_endian = "big")
    }

    /// Skips padding before a value of `align` octets (a power of two).
    #[inline]
    pub fn align(&mut self, align: usize) {
        let align = if self.xcdr2 { align.min(4) } else { align };
        // May point past the end; the next access reports it.
        self.pos = (self.pos + align - 1) & !(align - 1);
    }

    /// Takes `len` octets as they are.
    ///
    /// **Errors**: [`CdrError::Truncated`].
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], CdrError> {
        let rest = self.body.get(self.pos..).unwrap_or_default();
        let Some(taken) = rest.get(..len) else {
            return Err(CdrError::Truncated { at: self.pos, need: len, have: rest.len() });
        };
        self.pos += len;
        Ok(taken)
    }

    /// Takes one number.
    ///
    /// **Errors**: [`CdrError::Truncated`].
    #[inline]
    pub fn number<T: Number>(&mut self) -> Result<T, CdrError> {
        self.align(T::SIZE);
        let value: T = bytemuck::pod_read_unaligned(self.bytes(T::SIZE)?);
        Ok(if self.swap { value.swapped() } else { value })
    }

    /// Fills `out` with numbers: one copy when the byte order is the host's.
    ///
    /// **Errors**: [`CdrError::Truncated`].
    pub fn numbers<T: Number>(&mut self, out: &mut [T]) -> Result<(), CdrError> {
        if out.is_empty() {
            return Ok(());
        }
        self.align(T::SIZE);
        let bytes = self.bytes(size_of_val(out))?;
        bytemuck::cast_slice_mut(out).copy_from_slice(bytes);
        if self.swap {
            out.iter_mut().for_each(|v| *v = v.swapped());
        }
        Ok(())
    }

    /// Takes `count` numbers into a new vector.
    ///
    /// **Errors**: [`CdrError::Truncated`], before anything is allocated.
    pub fn number_vec<T: Number>(&mut self, count: usize) -> Result<Vec<T>, CdrError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        self.align(T::SIZE);
        let need = count.saturating_mul(T::SIZE);
        if self.remaining() < need {
            return Err(CdrError::Truncated { at: self.pos, need, have: self.remaining() });
        }
        let mut out = vec![T::default(); count];
        self.numbers(&mut out)?;
        Ok(out)
    }

    /// Takes a `bool`.
    ///
    /// **Errors**: [`CdrError::Truncated`], [`CdrError::Bool`].
    #[inline]
    pub fn bool(&mut self) -> Result<bool, CdrError> {
        let at = self.pos;
        match self.number::<u8>()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(CdrError::Bool { at, value }),
        }
    }

    /// Takes a sequence length and checks that so many elements of at least `min_size` octets can follow.
    ///
    /// `min_size` 0 counts as 1, so the result never exceeds the octets left.
    ///
    /// **Errors**: [`CdrError::Truncated`], [`CdrError::Length`].
    #[inline]
    pub fn sequence_len(&mut self, min_size: usize) -> Result<usize, CdrError> {
        let len = self.number::<u32>()?;
        let count = len as usize;
        if count.saturating_mul(min_size.max(1)) > self.remaining() {
            return Err(CdrError::Length { at: self.pos - 4, len });
        }
        Ok(count)
    }

    /// Skips the byte count that PLAIN_CDR2 puts in front of an array or sequence of non-primitive elements.
    ///
    /// For a sequence it comes before the length. Does nothing for XCDR1.
    ///
    /// **Errors**: [`CdrError::Truncated`], [`CdrError::Length`].
    #[inline]
    pub fn collection_header(&mut self) -> Result<(), CdrError> {
        if self.xcdr2 {
            self.sequence_len(1)?;
        }
        Ok(())
    }

    /// Takes a string. Zero length, which some writers send for an empty string, is accepted.
    ///
    /// **Errors**: [`CdrError::Truncated`], [`CdrError::Length`], [`CdrError::NoNul`], [`CdrError::Text`].
    pub fn str(&mut self) -> Result<&'a str, CdrError> {
        let len = self.sequence_len(1)?;
        let at = self.pos - 4;
        if len == 0 {
            return Ok("");
        }
        let Some((0, text)) = self.bytes(len)?.split_last() else {
            return Err(CdrError::NoNul { at });
        };
        std::str::from_utf8(text).map_err(|_| CdrError::Text { at })
    }

    /// Takes a wide string.
    ///
    /// **Layout**: XCDR1 as both ROS 2 DDS middlewares write it on Linux: `u32` count of UTF-16 units, then each
    /// unit as `u32`, no terminator. XCDR2 as XTypes 1.3 has it: `u32` count of octets, then UTF-16 units.
    ///
    /// **Errors**: [`CdrError::Truncated`], [`CdrError::Length`], [`CdrError::Text`].
    pub fn wide_string(&mut self) -> Result<String, CdrError> {
        let unit_size = if self.xcdr2 { 1 } else { 4 };
        let len = self.sequence_len(unit_size)?;
        let at = self.pos - 4;
        let bad = |_| CdrError::Text { at };
        let units: Vec<u16> = if self.xcdr2 {
            self.number_vec(len / 2)?
        } else {
            let wide: Vec<u32> = self.number_vec(len)?;
            wide.into_iter().map(u16::try_from).collect::<Result<_, _>>().map_err(bad)?
        };
        String::from_utf16(&units).map_err(|_| CdrError::Text { at })
    }

    /// Checks that nothing but up to 3 octets of padding follows.
    ///
    /// **Errors**: [`CdrError::Trailing`].
    pub fn finish(&self) -> Result<(), CdrError> {
        match self.remaining() {
            0..=3 => Ok(()),
            more => Err(CdrError::Trailing(more)),
        }
    }
}
