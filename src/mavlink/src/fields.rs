//! Reading numbers out of a payload.

/// A payload that reads as zero past its end, as MAVLink 2 leaves trailing zeros out.
///
/// Offsets are those of the message's wire layout: fields sorted by size, extensions last. A field the sender does
/// not know (an extension added later) reads as zero too, which is what MAVLink asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// `N` bytes from `offset`.
    pub fn array<const N: usize>(self, offset: usize) -> [u8; N] {
        let there = self.0.get(offset..).unwrap_or_default();
        if let Some(whole) = there.first_chunk::<N>() {
            return *whole;
        }
        let mut padded = [0; N];
        padded.iter_mut().zip(there).for_each(|(to, &from)| *to = from);
        padded
    }

    /// The text of a `char[len]` field: up to its first zero.
    pub fn text(self, offset: usize, len: usize) -> &'a [u8] {
        let there = self.0.get(offset..).unwrap_or_default();
        let field = there.get(..len).unwrap_or(there);
        field.split(|&b| b == 0).next().unwrap_or_default()
    }
}

macro_rules! numbers {
    ($($t:ident),*) => {
        impl Fields<'_> {
            $(
                #[doc = concat!("The little-endian `", stringify!($t), "` at `offset`.")]
                pub fn $t(self, offset: usize) -> $t {
                    $t::from_le_bytes(self.array(offset))
                }
            )*
        }
    };
}
numbers!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian_and_zero_past_the_end() {
        let f = Fields(&[0x01, 0x02, 0x03, 0xFF, 0x80]);
        assert_eq!((f.u8(0), f.u16(0), f.i8(3), f.i16(3)), (1, 0x0201, -1, -32513));
        assert_eq!(f.u32(3), 0x80FF, "half of it was truncated");
        assert_eq!((f.u64(5), f.f32(usize::MAX)), (0, 0.0));
        assert_eq!(Fields(&1.5_f64.to_le_bytes()).f64(0), 1.5);
    }

    #[test]
    fn text_ends_at_zero_at_its_length_or_at_the_payload() {
        let f = Fields(b"ab\0cdef");
        assert_eq!(f.text(0, 7), b"ab");
        assert_eq!(f.text(3, 2), b"cd");
        assert_eq!(f.text(3, 50), b"cdef");
        assert_eq!(f.text(90, 5), b"");
    }
}
