//! Writing frames.

use bytes::BufMut;
use thiserror::Error;

use crate::{
    CHECKSUM, FLAG_SIGNED, HEADER_V1, HEADER_V2, MAX_PAYLOAD, SIGNATURE, STX_V1, STX_V2, SignTime, Signing,
    crc::crc_of_parts,
};

/// Who a frame is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sender {
    /// Sequence number; the sender adds one for each frame and wraps.
    pub seq: u8,
    /// System id, 1..=255.
    pub sysid: u8,
    /// Component id.
    pub compid: u8,
}

/// Why a frame cannot be written.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum WriteError {
    /// The payload is longer than its length byte can say.
    #[error("payload of {0} bytes; a MAVLink payload has at most 255")]
    Payload(usize),
    /// The message id does not fit the header.
    #[error("message id {0} does not fit the header")]
    MessageId(u32),
}

/// Appends an unsigned MAVLink 2 frame to `out` and returns its length.
///
/// `payload` is the full payload; its trailing zeros are left out, but never its first byte.
///
/// **Errors**: a payload over 255 bytes, a message id over 24 bits. Nothing is written then.
///
/// **Panics**: when `out` cannot grow and has no room (a slice).
pub fn write_v2<B: BufMut>(
    out: &mut B,
    from: Sender,
    msgid: u32,
    payload: &[u8],
    crc_extra: u8,
) -> Result<usize, WriteError> {
    let payload = without_trailing_zeros(payload);
    let len = u8::try_from(payload.len()).map_err(|_| WriteError::Payload(payload.len()))?;
    let [m0, m1, m2, 0] = msgid.to_le_bytes() else { return Err(WriteError::MessageId(msgid)) };
    let head: [u8; HEADER_V2 - 1] = [len, 0, 0, from.seq, from.sysid, from.compid, m0, m1, m2];
    out.put_u8(STX_V2);
    finish(out, &head, payload, crc_extra);
    Ok(HEADER_V2 + payload.len() + CHECKSUM)
}

/// Appends a signed MAVLink 2 frame to `out` and returns its length; see [`write_v2`] and [`Signing::sign`].
///
/// **Errors**: as [`write_v2`].
pub fn write_v2_signed(
    out: &mut Vec<u8>,
    from: Sender,
    msgid: u32,
    payload: &[u8],
    crc_extra: u8,
    signing: &mut Signing,
    now: SignTime,
) -> Result<usize, WriteError> {
    let payload = without_trailing_zeros(payload);
    let len = u8::try_from(payload.len()).map_err(|_| WriteError::Payload(payload.len()))?;
    let [m0, m1, m2, 0] = msgid.to_le_bytes() else { return Err(WriteError::MessageId(msgid)) };
    let head: [u8; HEADER_V2 - 1] = [len, FLAG_SIGNED, 0, from.seq, from.sysid, from.compid, m0, m1, m2];
    let start = out.len();
    out.put_u8(STX_V2);
    finish(out, &head, payload, crc_extra);
    let signature = signing.sign(out.get(start..).unwrap_or_default(), now);
    out.put_slice(&signature);
    Ok(HEADER_V2 + payload.len() + CHECKSUM + SIGNATURE)
}

/// Appends a MAVLink 1 frame to `out` and returns its length.
///
/// `payload` is the payload without MAVLink 2 extension fields; it is written whole.
///
/// **Errors**: a payload over 255 bytes, a message id over 255. Nothing is written then.
///
/// **Panics**: when `out` cannot grow and has no room (a slice).
pub fn write_v1<B: BufMut>(
    out: &mut B,
    from: Sender,
    msgid: u32,
    payload: &[u8],
    crc_extra: u8,
) -> Result<usize, WriteError> {
    let len = u8::try_from(payload.len()).map_err(|_| WriteError::Payload(payload.len()))?;
    let msgid = u8::try_from(msgid).map_err(|_| WriteError::MessageId(msgid))?;
    let head: [u8; HEADER_V1 - 1] = [len, from.seq, from.sysid, from.compid, msgid];
    out.put_u8(STX_V1);
    finish(out, &head, payload, crc_extra);
    Ok(HEADER_V1 + payload.len() + CHECKSUM)
}

fn finish<B: BufMut>(out: &mut B, head: &[u8], payload: &[u8], crc_extra: u8) {
    out.put_slice(head);
    out.put_slice(payload);
    out.put_u16_le(crc_of_parts(head, payload, crc_extra));
}

fn without_trailing_zeros(payload: &[u8]) -> &[u8] {
    let used = payload.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    payload.get(..used.max(1)).unwrap_or(payload)
}

const _: () = assert!(MAX_PAYLOAD == u8::MAX as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;

    const FROM: Sender = Sender { seq: 0, sysid: 255, compid: 190 };

    #[test]
    fn trailing_zeros_are_left_out_but_never_the_first_byte() {
        let lengths = [(&[1, 2, 0, 0][..], 2), (&[0, 0, 0][..], 1), (&[][..], 0), (&[0, 7][..], 2)].map(
            |(payload, want)| {
                let mut out = Vec::new();
                let len = write_v2(&mut out, FROM, 0, payload, 50).unwrap();
                assert_eq!(len, out.len());
                let packet = Packet::parse(&out).unwrap();
                assert_eq!(packet.checksum_ok(), Some(true));
                (packet.payload.len(), want)
            },
        );
        assert!(lengths.iter().all(|(got, want)| got == want), "{lengths:?}");
    }

    #[test]
    fn what_does_not_fit_the_header_is_refused_and_writes_nothing() {
        let mut out = Vec::new();
        assert_eq!(write_v2(&mut out, FROM, 0, &[1; 256], 0), Err(WriteError::Payload(256)));
        assert_eq!(write_v2(&mut out, FROM, 1 << 24, &[1], 0), Err(WriteError::MessageId(1 << 24)));
        assert_eq!(write_v1(&mut out, FROM, 0, &[0; 256], 0), Err(WriteError::Payload(256)));
        assert_eq!(write_v1(&mut out, FROM, 256, &[1], 0), Err(WriteError::MessageId(256)));
        assert!(out.is_empty());
    }
}
