//! How structs are read from and written to bytes.

use thiserror::Error;

/// Why bytes are not a packet of some kind.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum WireError {
    /// Packets of this kind have one length.
    #[error("{have} bytes, not the {need} of {packet}")]
    Length {
        /// Its name.
        packet: &'static str,
        /// Bytes it has.
        need: usize,
        /// Bytes there are.
        have: usize,
    },
    /// The first field has another value.
    #[error("first field is {have}, which is not {packet}")]
    Magic {
        /// Its name.
        packet: &'static str,
        /// The value.
        have: u32,
    },
}

/// A packet of fixed length.
pub trait Packet: Sized {
    /// The vendor's name.
    const NAME: &'static str;
    /// Bytes on the wire.
    const LEN: usize;
    /// What the first field may be; empty when it has no fixed value.
    const MAGIC: &'static [u32];

    /// Reads a packet.
    ///
    /// **Errors**: another length, or another first field.
    fn decode(bytes: &[u8]) -> Result<Self, WireError>;

    /// Writes into a buffer of [`Packet::LEN`] bytes; a longer one keeps its tail, a shorter one loses the end.
    fn write(&self, bytes: &mut [u8]);

    /// As a datagram.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; Self::LEN];
        self.write(&mut bytes);
        bytes
    }
}

/// A value with a fixed place on the wire.
pub(crate) trait Field: Sized {
    /// Bytes it takes.
    const LEN: usize;
    /// All bits zero.
    const ZERO: Self;
    /// Takes it off the front; what is missing is zero.
    fn take(bytes: &mut &[u8]) -> Self;
    /// Writes it to the front.
    fn put(&self, bytes: &mut &mut [u8]);
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Field for $t {
            const LEN: usize = size_of::<$t>();
            const ZERO: Self = 0 as $t;
            fn take(bytes: &mut &[u8]) -> Self {
                match bytes.split_first_chunk() {
                    Some((own, rest)) => {
                        *bytes = rest;
                        Self::from_le_bytes(*own)
                    }
                    None => Self::ZERO,
                }
            }
            fn put(&self, bytes: &mut &mut [u8]) {
                if let Some((own, rest)) = std::mem::take(bytes).split_first_chunk_mut() {
                    *own = self.to_le_bytes();
                    *bytes = rest;
                }
            }
        }
    )*};
}
numbers!(u8 i8 u16 i32 u32 i64 u64 f32 f64);

impl<T: Field, const N: usize> Field for [T; N] {
    const LEN: usize = N * T::LEN;
    const ZERO: Self = [const { T::ZERO }; N];
    fn take(bytes: &mut &[u8]) -> Self {
        std::array::from_fn(|_| T::take(bytes))
    }
    fn put(&self, bytes: &mut &mut [u8]) {
        for item in self {
            item.put(bytes);
        }
    }
}

/// Bytes that a C compiler puts between fields; written as zeros, ignored when read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pad<const N: usize>;

impl<const N: usize> Field for Pad<N> {
    const LEN: usize = N;
    const ZERO: Self = Self;
    fn take(bytes: &mut &[u8]) -> Self {
        *bytes = bytes.get(N..).unwrap_or_default();
        Self
    }
    fn put(&self, bytes: &mut &mut [u8]) {
        if let Some((own, rest)) = std::mem::take(bytes).split_first_chunk_mut::<N>() {
            own.fill(0);
            *bytes = rest;
        }
    }
}

/// Whether the first field is one of those allowed.
pub(crate) fn check<P: Packet>(bytes: &[u8]) -> Result<(), WireError> {
    if bytes.len() != P::LEN {
        return Err(WireError::Length { packet: P::NAME, need: P::LEN, have: bytes.len() });
    }
    let have = u32::take(&mut { bytes });
    // The sensor packets have a number of two bytes.
    let known = |magic: &u32| have == *magic || (*magic <= 0xFFFF && have & 0xFFFF == *magic);
    if P::MAGIC.is_empty() || P::MAGIC.iter().any(known) {
        Ok(())
    } else {
        Err(WireError::Magic { packet: P::NAME, have })
    }
}

/// Defines a packet: documentation, name, length in bytes, magic numbers, fields in wire order.
///
/// With one magic number the struct has no field for it; with several (`any of`) or none it is the first field.
macro_rules! packet {
    ($(#[$doc:meta])* $name:ident: $len:literal bytes, magic $magic:literal as $t:ty; $(
        $(#[$fdoc:meta])* $field:ident: $ft:ty,
    )*) => {
        packet!(@body [$(#[$doc])*] $name $len [$magic] $t; [$magic]; $( $(#[$fdoc])* $field: $ft, )*);
    };
    ($(#[$doc:meta])* $name:ident: $len:literal bytes, any of [$($magic:literal),* $(,)?]; $(
        $(#[$fdoc:meta])* $field:ident: $ft:ty,
    )*) => {
        packet!(@body [$(#[$doc])*] $name $len []; [$($magic),*]; $( $(#[$fdoc])* $field: $ft, )*);
    };
    (@body [$(#[$doc:meta])*] $name:ident $len:literal [$($fixed:literal)?] $($t:ty)?; [$($magic:literal),*]; $(
        $(#[$fdoc:meta])* $field:ident: $ft:ty,
    )*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name { $( $(#[$fdoc])* pub $field: $ft, )* }

        // The length is stated as the specification has it; fields and padding must add up to it.
        const _: () = assert!(
            0 $( + <$ft as crate::wire::Field>::LEN )* $( + size_of::<$t>() )? == $len
        );

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: <$ft as crate::wire::Field>::ZERO, )* }
            }
        }

        impl crate::wire::Packet for $name {
            const NAME: &'static str = stringify!($name);
            const LEN: usize = $len;
            const MAGIC: &'static [u32] = &[$($magic),*];

            fn decode(bytes: &[u8]) -> Result<Self, crate::wire::WireError> {
                crate::wire::check::<Self>(bytes)?;
                let rest = &mut { bytes };
                $( let _magic = <$t as crate::wire::Field>::take(rest); )?
                Ok(Self { $( $field: crate::wire::Field::take(rest), )* })
            }

            fn write(&self, mut bytes: &mut [u8]) {
                let rest = &mut bytes;
                $( const FIXED: $t = $fixed; crate::wire::Field::put(&FIXED, rest); )?
                $( crate::wire::Field::put(&self.$field, rest); )*
            }
        }
    };
}
