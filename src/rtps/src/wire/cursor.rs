use super::entity::{Entity, Prefix};

/// The bytes are not what the specification says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed;

/// Checked reader over bytes of either byte order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    little: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], little: bool) -> Self {
        Self { rest: bytes, little }
    }

    pub(crate) fn little(&self) -> bool {
        self.little
    }

    /// What has not been read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or(Malformed)?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        let bytes = self.array()?;
        Ok(if self.little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        let bytes = self.array()?;
        Ok(if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        Ok(self.u32()?.cast_signed())
    }

    /// A sequence number: signed high word, then unsigned low word.
    pub(crate) fn seq(&mut self) -> Result<i64, Malformed> {
        let high = i64::from(self.i32()?);
        Ok((high << 32) | i64::from(self.u32()?))
    }

    pub(crate) fn prefix(&mut self) -> Result<Prefix, Malformed> {
        self.array()
    }

    pub(crate) fn entity(&mut self) -> Result<Entity, Malformed> {
        self.array()
    }

    /// A CDR string: length with its NUL, bytes.
    pub(crate) fn string(&mut self, max: usize) -> Result<&'a str, Malformed> {
        let len = usize::try_from(self.u32()?).map_err(|_| Malformed)?;
        if len > max + 1 {
            return Err(Malformed);
        }
        let bytes = self.bytes(len)?;
        let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        std::str::from_utf8(text).map_err(|_| Malformed)
    }

    /// Skips to the next multiple of four, counted in the bytes before `self` that had length `read`.
    pub(crate) fn align4(&mut self, start: &Self) -> Result<(), Malformed> {
        let read = start.rest.len() - self.rest.len();
        self.bytes(read.next_multiple_of(4) - read).map(drop)
    }
}
