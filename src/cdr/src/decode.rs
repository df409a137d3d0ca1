//! Messages that read themselves.

use crate::{CdrError, CdrReader};

/// A value that can be read from a CDR body.
pub trait CdrDecode: Sized {
    /// The fewest octets a value takes on the wire, padding not counted; bounds allocations for sequences.
    const MIN_SIZE: usize;

    /// Numbers and `bool`: collections of them have no byte count in PLAIN_CDR2.
    const PRIMITIVE: bool = false;

    /// Takes one value.
    ///
    /// **Errors**: any [`CdrError`].
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError>;

    /// Takes `count` values into a vector; `count` was checked against what is left.
    ///
    /// **Errors**: any [`CdrError`].
    fn decode_vec(reader: &mut CdrReader<'_>, count: usize) -> Result<Vec<Self>, CdrError> {
        let mut out = Vec::with_capacity(count);
        for _ in 0..count {
            out.push(Self::decode(reader)?);
        }
        Ok(out)
    }

    /// Takes values into all of `out`.
    ///
    /// **Errors**: any [`CdrError`].
    fn decode_into(reader: &mut CdrReader<'_>, out: &mut [Self]) -> Result<(), CdrError> {
        for item in out {
            *item = Self::decode(reader)?;
        }
        Ok(())
    }
}

/// Reads one message from a sample (header and body); bytes after its last field are ignored.
///
/// **Errors**: any [`CdrError`].
pub fn from_cdr<M: CdrDecode>(sample: &[u8]) -> Result<M, CdrError> {
    M::decode(&mut CdrReader::new(sample)?)
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl CdrDecode for $t {
            const MIN_SIZE: usize = size_of::<$t>();
            const PRIMITIVE: bool = true;

            #[inline]
            fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
                reader.number()
            }

            #[inline]
            fn decode_vec(reader: &mut CdrReader<'_>, count: usize) -> Result<Vec<Self>, CdrError> {
                reader.number_vec(count)
            }

            #[inline]
            fn decode_into(reader: &mut CdrReader<'_>, out: &mut [Self]) -> Result<(), CdrError> {
                reader.numbers(out)
            }
        }
    )*};
}
number!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl CdrDecode for bool {
    const MIN_SIZE: usize = 1;
    const PRIMITIVE: Self = true;

    #[inline]
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        reader.bool()
    }
}

impl CdrDecode for String {
    const MIN_SIZE: usize = 4;

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        reader.str().map(str::to_owned)
    }
}

impl<T: CdrDecode> CdrDecode for Vec<T> {
    const MIN_SIZE: usize = 4;

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        if !T::PRIMITIVE {
            reader.collection_header()?;
        }
        let count = reader.sequence_len(T::MIN_SIZE)?;
        T::decode_vec(reader, count)
    }
}

impl<T: CdrDecode + Default, const N: usize> CdrDecode for [T; N] {
    const MIN_SIZE: usize = N * T::MIN_SIZE;

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        if !T::PRIMITIVE {
            reader.collection_header()?;
        }
        let mut out = std::array::from_fn(|_| T::default());
        T::decode_into(reader, &mut out)?;
        Ok(out)
    }
}
