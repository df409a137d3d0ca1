//! Writing XCDR1, little endian.

use bytes::{BufMut, BytesMut};

use crate::Number;

/// Appends CDR fields to a buffer whose body starts at `origin`.
#[derive(Debug)]
pub struct CdrWriter<'a> {
    buf: &'a mut BytesMut,
    origin: usize,
}

impl<'a> CdrWriter<'a> {
    /// Starts a body at the present end of `buf`.
    pub fn new(buf: &'a mut BytesMut) -> Self {
        let origin = buf.len();
        Self { buf, origin }
    }

    /// Body length so far, in bytes.
    pub fn position(&self) -> usize {
        self.buf.len() - self.origin
    }

    /// Pads with zeros to a multiple of `align` (a power of two) counted from the body's start.
    #[inline]
    pub fn align(&mut self, align: usize) {
        let pad = self.position().wrapping_neg() & (align - 1);
        if pad > 0 {
            self.buf.put_bytes(0, pad);
        }
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.buf.extend_from_slice(bytes);
    }

    /// Appends one number.
    #[inline]
    pub fn number<T: Number>(&mut self, value: T) {
        self.align(T::SIZE);
        let value = if cfg!(target_endian = "big") { value.swapped() } else { value };
        self.bytes(bytemuck::bytes_of(&value));
    }

    /// Appends numbers in a row: one copy on a little-endian host. None adds no padding.
    #[inline]
    pub fn numbers<T: Number>(&mut self, values: &[T]) {
        if values.is_empty() {
            return;
        }
        if cfg!(target_endian = "big") {
            values.iter().for_each(|v| self.number(*v));
        } else {
            self.align(T::SIZE);
            self.bytes(bytemuck::cast_slice(values));
        }
    }

    /// Appends a `u32` length. Longer than `u32::MAX` cannot be held in memory by any message this program builds.
    #[inline]
    pub fn length(&mut self, len: usize) {
        self.number(u32::try_from(len).unwrap_or(u32::MAX));
    }

    /// Appends a string: `u32` length with the NUL counted, bytes, NUL.
    #[inline]
    pub fn string(&mut self, text: &str) {
        self.length(text.len() + 1);
        self.bytes(text.as_bytes());
        self.buf.put_u8(0);
    }

    /// Appends a wide string: `u32` count of UTF-16 units, then each unit as `u32`, no terminator.
    ///
    /// This is what Fast DDS' type support writes (compared with samples of rclpy) and what Cyclone's writes in XCDR1 on
    /// Linux (read in its source).
    pub fn wide_string(&mut self, text: &str) {
        self.length(text.encode_utf16().count());
        text.encode_utf16().for_each(|unit| self.number(u32::from(unit)));
    }
}
