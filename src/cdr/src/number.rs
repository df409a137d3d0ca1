//! Fixed-size numbers and how they are laid out.

use bytemuck::Pod;

/// A number whose memory image on a little-endian host is its little-endian wire image.
pub trait Number: Pod + Default {
    /// Octets on the wire; also its alignment in XCDR1.
    const SIZE: usize = size_of::<Self>();

    /// The value with its octets reversed.
    #[must_use]
    fn swapped(self) -> Self;
}

macro_rules! number {
    ($($t:ty => $swap:expr),* $(,)?) => {$(
        impl Number for $t {
            #[inline]
            fn swapped(self) -> Self {
                let swap: fn($t) -> $t = $swap;
                swap(self)
            }
        }
    )*};
}

number! {
    u8 => |v| v,
    i8 => |v| v,
    u16 => u16::swap_bytes,
    i16 => i16::swap_bytes,
    u32 => u32::swap_bytes,
    i32 => i32::swap_bytes,
    u64 => u64::swap_bytes,
    i64 => i64::swap_bytes,
    f32 => |v| f32::from_bits(v.to_bits().swap_bytes()),
    f64 => |v| f64::from_bits(v.to_bits().swap_bytes()),
}
