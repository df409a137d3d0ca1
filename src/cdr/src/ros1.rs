//! The ROS 1 wire form: little endian, unaligned, strings without NUL.

use bytes::{BufMut, BytesMut};

use crate::{CdrError, Number};

/// Takes ROS 1 fields off a message body, front to back.
#[derive(Clone, Debug)]
pub struct Ros1Reader<'a> {
    body: &'a [u8],
    pos: usize,
}

impl<'a> Ros1Reader<'a> {
    /// Opens a message body (without the frame length in front).
    pub fn new(body: &'a [u8]) -> Self {
        Self { body, pos: 0 }
    }

    /// Offset of the next octet.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Octets not yet read.
    pub fn remaining(&self) -> usize {
        self.body.len() - self.pos
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
        let value: T = bytemuck::pod_read_unaligned(self.bytes(T::SIZE)?);
        Ok(if cfg!(target_endian = "big") { value.swapped() } else { value })
    }

    /// Takes a length and checks that so many elements of at least `min_size` octets can follow.
    ///
    /// `min_size` 0 counts as 1, so the result never exceeds the octets left.
    ///
    /// **Errors**: [`CdrError::Truncated`], [`CdrError::Length`].
    pub fn length(&mut self, min_size: usize) -> Result<usize, CdrError> {
        let len = self.number::<u32>()?;
        let count = len as usize;
        if count.saturating_mul(min_size.max(1)) > self.remaining() {
            return Err(CdrError::Length { at: self.pos - 4, len });
        }
        Ok(count)
    }

    /// Takes a string.
    ///
    /// **Errors**: [`CdrError::Truncated`], [`CdrError::Length`], [`CdrError::Text`].
    pub fn str(&mut self) -> Result<&'a str, CdrError> {
        let len = self.length(1)?;
        let at = self.pos - 4;
        std::str::from_utf8(self.bytes(len)?).map_err(|_| CdrError::Text { at })
    }

    /// Checks that nothing follows.
    ///
    /// **Errors**: [`CdrError::Trailing`].
    pub fn finish(&self) -> Result<(), CdrError> {
        match self.remaining() {
            0 => Ok(()),
            more => Err(CdrError::Trailing(more)),
        }
    }
}

/// Appends ROS 1 fields to a buffer.
#[derive(Debug)]
pub struct Ros1Writer<'a> {
    buf: &'a mut BytesMut,
}

impl<'a> Ros1Writer<'a> {
    /// Starts a message at the present end of `buf`.
    pub fn new(buf: &'a mut BytesMut) -> Self {
        Self { buf }
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.buf.put_slice(bytes);
    }

    /// Appends one number.
    #[inline]
    pub fn number<T: Number>(&mut self, value: T) {
        let value = if cfg!(target_endian = "big") { value.swapped() } else { value };
        self.bytes(bytemuck::bytes_of(&value));
    }

    /// Appends a `u32` length.
    pub fn length(&mut self, len: usize) {
        self.number(u32::try_from(len).unwrap_or(u32::MAX));
    }

    /// Appends a string: `u32` length and bytes.
    pub fn string(&mut self, text: &str) {
        self.length(text.len());
        self.bytes(text.as_bytes());
    }
}
