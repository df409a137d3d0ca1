//! Writing XCDR1, little endian.

use bytes::{BufMut, BytesMut};

use crate::{CdrBytes, CdrSizer, HEADER_LEN};

/// A message that can write itself as a CDR body.
///
/// `size` and `encode` must visit the same fields in the same order.
pub trait CdrEncode {
    /// Adds the length of this value to the size pass.
    fn size(&self, sizer: &mut CdrSizer);

    /// Appends this value.
    fn encode(&self, writer: &mut CdrWriter<'_>);
}

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

    /// Pads with zeros to a multiple of `align` (a power of two) counted from the body's start.
    pub fn align(&mut self, align: usize) {
        let pad = (self.buf.len() - self.origin).wrapping_neg() & (align - 1);
        self.buf.put_bytes(0, pad);
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.buf.put_slice(bytes);
    }

    /// Appends a string: `u32` length with the NUL counted, bytes, NUL.
    pub fn string(&mut self, text: &str) {
        u32::try_from(text.len() + 1).unwrap_or(u32::MAX).encode(self);
        self.buf.put_slice(text.as_bytes());
        self.buf.put_u8(0);
    }
}

macro_rules! primitive {
    ($($t:ty),*) => {$(
        impl CdrEncode for $t {
            fn size(&self, sizer: &mut CdrSizer) {
                sizer.primitive(size_of::<$t>());
            }

            fn encode(&self, writer: &mut CdrWriter<'_>) {
                writer.align(size_of::<$t>());
                writer.bytes(&self.to_le_bytes());
            }
        }
    )*};
}
primitive!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl CdrEncode for bool {
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.primitive(1);
    }

    fn encode(&self, writer: &mut CdrWriter<'_>) {
        writer.bytes(&[u8::from(*self)]);
    }
}

impl CdrEncode for str {
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.string(self);
    }

    fn encode(&self, writer: &mut CdrWriter<'_>) {
        writer.string(self);
    }
}

impl CdrEncode for String {
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.string(self);
    }

    fn encode(&self, writer: &mut CdrWriter<'_>) {
        writer.string(self);
    }
}

/// Serializes `msg` into space split off `pool`.
///
/// The pool keeps its chunk: once every sample split from it was dropped, its space is used again, so a steady
/// stream whose samples are not kept allocates nothing.
pub fn to_cdr<M: CdrEncode + ?Sized>(msg: &M, pool: &mut BytesMut) -> CdrBytes {
    let mut sizer = CdrSizer::new();
    msg.size(&mut sizer);
    pool.reserve(HEADER_LEN + sizer.len());
    pool.put_slice(&[0, 1, 0, 0]);
    msg.encode(&mut CdrWriter::new(pool));
    debug_assert_eq!(pool.len(), HEADER_LEN + sizer.len(), "size pass and write pass differ");
    CdrBytes::new(pool.split().freeze()).unwrap_or_default()
}
