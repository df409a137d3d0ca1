//! Values between ROS and MAVLink: texts of fixed length, numbers that lose digits, times.

use std::time::Duration;

use rostrans_core::clock::RosTime;
use rostrans_msgs::{
    builtin_interfaces::msg::{Duration as RosDuration, Time},
    std_msgs::msg::Header,
};

use super::dialect::Message;

/// A message whose fields are all zero.
pub(super) fn zero<M: Message>() -> M {
    M::decode(&[])
}

/// Takes over a text: up to its first NUL, what is no UTF-8 replaced.
pub(super) fn set_text(to: &mut String, from: &[u8]) {
    let text = from.split(|byte| *byte == 0).next().unwrap_or_default();
    to.clear();
    to.push_str(&String::from_utf8_lossy(text));
}

/// The beginning of a text, cut between characters and filled with NULs; at least `ends` of them.
fn cut<const N: usize>(text: &str, ends: usize) -> [u8; N] {
    let room = N.saturating_sub(ends).min(text.len());
    let fits = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let mut bytes = [0; N];
    bytes.iter_mut().zip(text.bytes().take(fits)).for_each(|(to, from)| *to = from);
    bytes
}

/// A text that may fill its field.
pub(super) fn chars<const N: usize>(text: &str) -> [u8; N] {
    cut(text, 0)
}

/// A text that ends with a NUL.
pub(super) fn chars_nul<const N: usize>(text: &str) -> [u8; N] {
    cut(text, 1)
}

macro_rules! rounded {
    ($($name:ident -> $t:ty),+) => {$(
        #[doc = concat!("Rounded to the nearest `", stringify!($t), "`; NaN is 0.")]
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        pub(super) fn $name(value: f64) -> $t {
            value.round() as $t
        }
    )+};
}

rounded!(to_u8 -> u8, to_u16 -> u16, to_i16 -> i16, to_i32 -> i32);

/// The nearest `f32`.
#[expect(clippy::cast_possible_truncation, reason = "MAVLink has single precision only")]
pub(super) fn to_f32(value: f64) -> f32 {
    value as f32
}

/// Three numbers in single precision.
pub(super) fn to_f32s(values: [f64; 3]) -> [f32; 3] {
    values.map(to_f32)
}

/// Three numbers in double precision.
pub(super) fn to_f64s(values: [f32; 3]) -> [f64; 3] {
    values.map(f64::from)
}

/// A stamp as `time_usec`; times before 1970 are 0.
pub(super) fn time_usec(header: &Header) -> u64 {
    nanoseconds(&header.stamp) / 1000
}

/// A stamp as `time_boot_ms`, of which MAVROS sends the low 32 bits.
pub(super) fn time_boot_ms(header: &Header) -> u32 {
    let ms = nanoseconds(&header.stamp) / 1_000_000;
    u32::try_from(ms & u64::from(u32::MAX)).unwrap_or_default()
}

/// The same of a time.
pub(super) fn boot_ms(time: RosTime) -> u32 {
    ms_of(time.ns)
}

/// The same of nanoseconds.
pub(super) fn ms_of(ns: i64) -> u32 {
    let ms = u64::try_from(ns).unwrap_or_default() / 1_000_000;
    u32::try_from(ms & u64::from(u32::MAX)).unwrap_or_default()
}

/// A stamp in nanoseconds.
pub(super) fn stamp_ns(header: &Header) -> i64 {
    i64::from(header.stamp.sec) * 1_000_000_000 + i64::from(header.stamp.nanosec)
}

/// A duration; negative ones are none.
pub(super) fn duration(ros: &RosDuration) -> Duration {
    let sec = u64::try_from(ros.sec).unwrap_or_default();
    Duration::from_secs(sec) + Duration::from_nanos(ros.nanosec.into())
}

/// Degrees as MAVLink's degrees times 1e7.
pub(super) fn to_e7(degrees: f64) -> i32 {
    to_i32(degrees * 1e7)
}

fn nanoseconds(stamp: &Time) -> u64 {
    u64::try_from(stamp.sec).unwrap_or_default() * 1_000_000_000 + u64::from(stamp.nanosec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters_and_end_with_a_nul_where_they_must() {
        assert_eq!(chars::<4>("abcdef"), *b"abcd");
        assert_eq!(chars_nul::<4>("abcdef"), *b"abc\0");
        assert_eq!(chars_nul::<4>("ab"), *b"ab\0\0");
        assert_eq!(chars::<4>("ab\u{e9}\u{e9}"), [b'a', b'b', 0xc3, 0xa9]);
        assert_eq!(chars_nul::<4>("ab\u{e9}"), *b"ab\0\0", "half a character is left out");
        assert_eq!(chars::<4>(""), [0; 4]);
    }

    #[test]
    fn texts_from_the_vehicle_end_at_the_first_nul_and_are_always_utf8() {
        let mut text = "old".to_owned();
        set_text(&mut text, b"new\0rest");
        assert_eq!(text, "new");
        set_text(&mut text, &[b'a', 0xff, b'b']);
        assert_eq!(text, "a\u{fffd}b");
    }

    #[test]
    fn numbers_out_of_range_are_the_nearest_there_is() {
        assert_eq!((to_u16(-3.0), to_u16(1e9), to_u16(2.5)), (0, u16::MAX, 3));
        assert_eq!((to_i16(-4e4), to_i32(1e12), to_i32(f64::NAN)), (i16::MIN, i32::MAX, 0));
    }

    #[test]
    fn stamps_of_the_reference_become_times() {
        let stamp = Time { sec: 1_700_000_000, nanosec: 123_456_789 };
        let header = Header { stamp, ..Header::default() };
        assert_eq!(time_boot_ms(&header), 3_487_918_203);
        assert_eq!(time_usec(&header), 1_700_000_000_123_456);
        let early = Header { stamp: Time { sec: -1, nanosec: 5 }, ..Header::default() };
        assert_eq!(time_usec(&early), 0);
    }
}
