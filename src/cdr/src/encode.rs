//! Messages that write themselves.

use bytes::{BufMut, BytesMut};

use crate::{CdrBytes, CdrSizer, CdrWriter, HEADER_LEN};

/// A message that can write itself as a CDR body.
///
/// `size` and `encode` must visit the same fields in the same order.
pub trait CdrEncode {
    /// Adds the length of this value to the size pass.
    fn size(&self, sizer: &mut CdrSizer);

    /// Appends this value.
    fn encode(&self, writer: &mut CdrWriter<'_>);

    /// Adds the length of `items` in a row, without a length field.
    fn size_all(items: &[Self], sizer: &mut CdrSizer)
    where
        Self: Sized,
    {
        items.iter().for_each(|item| item.size(sizer));
    }

    /// Appends `items` in a row, without a length field; numbers override it with one copy.
    fn encode_all(items: &[Self], writer: &mut CdrWriter<'_>)
    where
        Self: Sized,
    {
        items.iter().for_each(|item| item.encode(writer));
    }
}

/// Serializes `msg` into space split off `pool`.
///
/// The pool keeps its chunk: once every sample split from it was dropped, its space is used again, so a steady
/// stream whose samples are not kept allocates nothing.
pub fn to_cdr<M: CdrEncode + ?Sized>(msg: &M, pool: &mut BytesMut) -> CdrBytes {
    encode_cdr(msg, pool);
    CdrBytes::new(pool.split().freeze()).unwrap_or_default()
}

/// Serializes a message into an empty pool, where it may still be changed.
pub fn encode_cdr<M: CdrEncode + ?Sized>(msg: &M, pool: &mut BytesMut) {
    let mut sizer = CdrSizer::new();
    msg.size(&mut sizer);
    pool.reserve(HEADER_LEN + sizer.len());
    pool.put_slice(&[0, 1, 0, 0]);
    msg.encode(&mut CdrWriter::new(pool));
    debug_assert_eq!(pool.len(), HEADER_LEN + sizer.len(), "size pass and write pass differ");
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl CdrEncode for $t {
            #[inline]
            fn size(&self, sizer: &mut CdrSizer) {
                sizer.primitive(size_of::<Self>());
            }

            #[inline]
            fn encode(&self, writer: &mut CdrWriter<'_>) {
                writer.number(*self);
            }

            #[inline]
            fn size_all(items: &[Self], sizer: &mut CdrSizer) {
                sizer.primitives(items.len(), size_of::<Self>());
            }

            #[inline]
            fn encode_all(items: &[Self], writer: &mut CdrWriter<'_>) {
                writer.numbers(items);
            }
        }
    )*};
}
number!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl CdrEncode for bool {
    #[inline]
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.primitive(1);
    }

    #[inline]
    fn encode(&self, writer: &mut CdrWriter<'_>) {
        writer.number(u8::from(*self));
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
    #[inline]
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.string(self);
    }

    #[inline]
    fn encode(&self, writer: &mut CdrWriter<'_>) {
        writer.string(self);
    }
}

impl<T: CdrEncode> CdrEncode for [T] {
    #[inline]
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.primitive(4);
        T::size_all(self, sizer);
    }

    #[inline]
    fn encode(&self, writer: &mut CdrWriter<'_>) {
        writer.length(self.len());
        T::encode_all(self, writer);
    }
}

impl<T: CdrEncode> CdrEncode for Vec<T> {
    #[inline]
    fn size(&self, sizer: &mut CdrSizer) {
        self.as_slice().size(sizer);
    }

    #[inline]
    fn encode(&self, writer: &mut CdrWriter<'_>) {
        self.as_slice().encode(writer);
    }
}

impl<T: CdrEncode, const N: usize> CdrEncode for [T; N] {
    #[inline]
    fn size(&self, sizer: &mut CdrSizer) {
        T::size_all(self, sizer);
    }

    #[inline]
    fn encode(&self, writer: &mut CdrWriter<'_>) {
        T::encode_all(self, writer);
    }
}
