//! The size pass: how long a message will be.

/// Adds up the length of a CDR body, padding included.
#[derive(Clone, Copy, Debug, Default)]
pub struct CdrSizer {
    len: usize,
}

impl CdrSizer {
    /// Starts at the beginning of a body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Body length so far, in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True before the first field.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Pads to a multiple of `align` (a power of two).
    #[inline]
    pub fn align(&mut self, align: usize) {
        self.len = (self.len + align - 1) & !(align - 1);
    }

    /// Counts one primitive of `size` bytes, aligned to its size.
    #[inline]
    pub fn primitive(&mut self, size: usize) {
        self.align(size);
        self.len += size;
    }

    /// Counts `count` primitives of `size` bytes in a row; none adds no padding.
    #[inline]
    pub fn primitives(&mut self, count: usize, size: usize) {
        if count > 0 {
            self.align(size);
            self.len += count * size;
        }
    }

    /// Counts a string: `u32` length, bytes, terminating NUL.
    #[inline]
    pub fn string(&mut self, text: &str) {
        self.primitive(4);
        self.len += text.len() + 1;
    }

    /// Counts a wide string: `u32` count, then each UTF-16 unit as `u32`.
    pub fn wide_string(&mut self, text: &str) {
        self.primitive(4);
        self.len += 4 * text.encode_utf16().count();
    }
}
