//! MAVLink messages as plain structs, generated from `config/interfaces/mavlink_fields.tsv`.
//!
//! Decoding is lenient on purpose: missing bytes read as zero (MAVLink 2 cuts trailing zeros, MAVLink 1 has no
//! extensions), further bytes are ignored (a newer dialect), enum and flag fields stay plain numbers. A valid
//! frame is never refused.
//!
//! ```
//! use rostrans_codecs::mavlink::dialect::{Heartbeat, Message};
//! let heartbeat = Heartbeat::decode(&[0, 0, 6, 0, 2, 12, 129]);
//! assert_eq!((heartbeat.custom_mode, heartbeat.autopilot, heartbeat.system_status), (393_216, 12, 0));
//! ```

use bytes::BytesMut;

/// A MAVLink message of known layout.
pub trait Message: Sized {
    /// Message id.
    const ID: u32;
    /// Last byte that enters the checksum; stands for the layout.
    const CRC_EXTRA: u8;
    /// Payload length without extensions, in bytes: all that MAVLink 1 carries.
    const BASE_LEN: usize;
    /// Payload length with all known extensions, in bytes.
    const FULL_LEN: usize;

    /// Reads a payload of any length.
    fn decode(payload: &[u8]) -> Self;

    /// Appends the full payload, extensions included.
    fn encode(&self, out: &mut BytesMut);
}

include!(concat!(env!("OUT_DIR"), "/dialect.rs"));

fn padded<const N: usize>(payload: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    for (to, from) in bytes.iter_mut().zip(payload) {
        *to = *from;
    }
    bytes
}

fn at<const W: usize>(bytes: &[u8], offset: usize) -> [u8; W] {
    let field = bytes.get(offset..).and_then(|tail| tail.first_chunk());
    field.copied().unwrap_or([0; W])
}

fn put<const W: usize>(bytes: &mut [u8], offset: usize, value: [u8; W]) {
    if let Some(field) = bytes.get_mut(offset..).and_then(|tail| tail.first_chunk_mut()) {
        *field = value;
    }
}

fn array<T, const W: usize, const N: usize>(bytes: &[u8], offset: usize, read: fn([u8; W]) -> T) -> [T; N] {
    std::array::from_fn(|i| read(at(bytes, offset + W * i)))
}

fn put_array<T, const W: usize, const N: usize>(
    bytes: &mut [u8],
    offset: usize,
    values: [T; N],
    write: fn(T) -> [u8; W],
) {
    for (i, value) in values.into_iter().enumerate() {
        put(bytes, offset + W * i, write(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_payload_round_trips() {
        let gps = GpsRawInt {
            time_usec: 600_000_000,
            lat: 473_977_420,
            lon: -85_455_940,
            alt: -488_150,
            eph: 121,
            epv: 65_535,
            vel: 523,
            cog: 12_345,
            fix_type: 250,
            satellites_visible: 14,
            alt_ellipsoid: 535_400,
            h_acc: 850,
            v_acc: 1200,
            vel_acc: 150,
            hdg_acc: 2_500_000,
            yaw: 17_000,
        };
        let mut payload = BytesMut::new();
        gps.encode(&mut payload);
        assert_eq!(payload.len(), GpsRawInt::FULL_LEN);
        assert_eq!(GpsRawInt::decode(&payload), gps);
    }

    #[test]
    fn cut_payload_reads_as_zeros_and_surplus_is_ignored() {
        let payload = [0x0a, 0x0b, 0x0c];
        assert_eq!(Heartbeat::decode(&payload).custom_mode, 0x000c_0b0a);
        assert_eq!(Heartbeat::decode(&[0; 0]).kind, 0);
        let long = [1_u8; 300];
        assert_eq!(Heartbeat::decode(&long).mavlink_version, 1);
    }
}
