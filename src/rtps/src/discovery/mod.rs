//! Discovery announcements: what participants and endpoints say about themselves, and whether two endpoints fit.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod endpoint;
mod fit;
mod message;
mod participant;
mod qos;

pub(crate) use endpoint::{EndpointData, key_payload, read_key};
pub(crate) use fit::mismatches;
pub(crate) use message::ParticipantMessage;
pub(crate) use participant::{
    BUILTIN_ENDPOINTS, LIVELINESS_READER_BIT, LIVELINESS_WRITER_BIT, ParticipantData,
};

use std::time::Duration;

use crate::wire::{Cursor, Malformed};

/// Locators taken from one announcement.
const MAX_LOCATORS: usize = 16;
/// Longest topic, type or partition name taken from the network.
const MAX_NAME: usize = 1024;
/// Longest user data kept of an announcement.
const MAX_USER_DATA: usize = 8192;

/// A duration of seconds and a 32-bit fraction; `None` when infinite.
fn read_duration(value: &mut Cursor<'_>) -> Result<Option<Duration>, Malformed> {
    let (seconds, fraction) = (value.i32()?, value.u32()?);
    if seconds == i32::MAX {
        return Ok(None);
    }
    let seconds = u64::try_from(seconds).map_err(|_| Malformed)?;
    // Rounded, so that whole nanoseconds come back as they were: deadlines of both sides are compared.
    let nanos = (u64::from(fraction) * 1_000_000_000 + (1 << 31)) >> 32;
    Ok(Some(Duration::from_secs(seconds) + Duration::from_nanos(nanos)))
}

/// The 8 bytes of a duration, little endian; `None` is infinite.
fn write_duration(duration: Option<Duration>) -> [u8; 8] {
    let Some(duration) = duration else { return [0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff] };
    let seconds = i32::try_from(duration.as_secs()).unwrap_or(i32::MAX - 1);
    // Rounded up: Fast DDS and Cyclone DDS cut off what is less than a nanosecond, and would find a deadline of 200 ms
    // shorter than their own otherwise.
    let fraction = (u64::from(duration.subsec_nanos()) << 32).div_ceil(1_000_000_000);
    let fraction = u32::try_from(fraction).unwrap_or(u32::MAX);
    let [a, b, c, d] = seconds.to_le_bytes();
    let [e, f, g, h] = fraction.to_le_bytes();
    [a, b, c, d, e, f, g, h]
}

/// A sequence of octets such as USER_DATA; what exceeds the limit is refused.
fn read_octets(value: &mut Cursor<'_>) -> Result<Vec<u8>, Malformed> {
    let len = usize::try_from(value.u32()?).map_err(|_| Malformed)?;
    if len > MAX_USER_DATA {
        return Err(Malformed);
    }
    Ok(value.bytes(len)?.to_vec())
}
