//! One frame, taken apart.

use crate::{
    CHECKSUM, FLAG_SIGNED, HEADER_V1, HEADER_V2, SIGNATURE, STX_V1, STX_V2, crc_with_extra, message,
};

/// Which MAVLink a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// MAVLink 1: 6-byte header, message ids up to 255, payload never truncated.
    V1,
    /// MAVLink 2: 10-byte header, 24-bit message ids, trailing zeros of the payload left out, signatures.
    V2,
}

/// A view of exactly one frame; borrows its bytes.
///
/// **Layout**, MAVLink 1: `FE len seq sysid compid msgid payload[len] crc[2]`;
/// MAVLink 2: `FD len incompat compat seq sysid compid msgid[3] payload[len] crc[2] signature[13 or 0]`.
/// Numbers are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The whole frame.
    pub bytes: &'a [u8],
    /// MAVLink 1 or 2.
    pub version: Version,
    /// Incompatibility flags; 0 or [`FLAG_SIGNED`]. Always 0 in MAVLink 1.
    pub incompat: u8,
    /// Compatibility flags; a receiver may ignore them. Always 0 in MAVLink 1.
    pub compat: u8,
    /// Sequence number of the sender.
    pub seq: u8,
    /// Sender's system.
    pub sysid: u8,
    /// Sender's component.
    pub compid: u8,
    /// Message id.
    pub msgid: u32,
    /// Payload as sent; in MAVLink 2 without its trailing zeros (read it with [`crate::Fields`]).
    pub payload: &'a [u8],
    /// Checksum as sent.
    pub checksum: u16,
    /// Signature of a signed frame: link id, 48-bit time in 10 us since 2015, first 48 bits of a SHA-256. Not verified.
    pub signature: Option<&'a [u8; SIGNATURE]>,
}

impl<'a> Packet<'a> {
    /// Takes apart a buffer that holds exactly one frame; does not compare the checksum.
    ///
    /// `None` when the length, the marker or an incompatibility flag says that it is no such frame.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        match Self::parse_prefix(bytes) {
            Prefix::Packet(packet) if packet.bytes.len() == bytes.len() => Some(packet),
            _ => None,
        }
    }

    /// Takes apart the frame at the start of `bytes`.
    pub(crate) fn parse_prefix(bytes: &'a [u8]) -> Prefix<'a> {
        match bytes {
            [STX_V2, ..] => Self::parse_v2(bytes),
            [STX_V1, ..] => Self::parse_v1(bytes),
            _ => Prefix::NoFrame,
        }
    }

    /// True when the checksum is right; `None` when the message is not known and the checksum cannot be computed.
    pub fn checksum_ok(&self) -> Option<bool> {
        let info = message(self.msgid)?;
        let end = self.header_len() + self.payload.len();
        let covered = self.bytes.get(1..end).unwrap_or_default();
        Some(crc_with_extra(covered, info.crc_extra) == self.checksum)
    }

    /// System id of the addressee; 0 for all, `None` when the message has no such field or is not known.
    pub fn target_system(&self) -> Option<u8> {
        let offset = message(self.msgid)?.target_system?;
        // A trailing zero is left out in MAVLink 2.
        Some(self.payload.get(usize::from(offset)).copied().unwrap_or(0))
    }

    fn header_len(&self) -> usize {
        match self.version {
            Version::V1 => HEADER_V1,
            Version::V2 => HEADER_V2,
        }
    }

    fn parse_v1(bytes: &'a [u8]) -> Prefix<'a> {
        let Some((&[_, len, seq, sysid, compid, msgid], _)) = bytes.split_first_chunk::<HEADER_V1>() else {
            // The length byte may be there already, but the header alone says enough about what is missing.
            return Prefix::Short {
                need: HEADER_V1 + CHECKSUM + bytes.get(1).map_or(0, |&l| usize::from(l)),
            };
        };
        let payload_end = HEADER_V1 + usize::from(len);
        let need = payload_end + CHECKSUM;
        let Some(bytes) = bytes.get(..need) else { return Prefix::Short { need } };
        Prefix::Packet(Self {
            bytes,
            version: Version::V1,
            incompat: 0,
            compat: 0,
            seq,
            sysid,
            compid,
            msgid: u32::from(msgid),
            payload: bytes.get(HEADER_V1..payload_end).unwrap_or_default(),
            checksum: checksum_at(bytes, payload_end),
            signature: None,
        })
    }

    fn parse_v2(bytes: &'a [u8]) -> Prefix<'a> {
        if bytes.get(2).is_some_and(|incompat| incompat & !FLAG_SIGNED != 0) {
            // A flag this version does not know changes the layout in a way nobody can guess.
            return Prefix::NoFrame;
        }
        let Some((&[_, len, incompat, compat, seq, sysid, compid, m0, m1, m2], _)) =
            bytes.split_first_chunk::<HEADER_V2>()
        else {
            return Prefix::Short {
                need: HEADER_V2 + CHECKSUM + bytes.get(1).map_or(0, |&l| usize::from(l)),
            };
        };
        let signed = incompat & FLAG_SIGNED != 0;
        let payload_end = HEADER_V2 + usize::from(len);
        let need = payload_end + CHECKSUM + if signed { SIGNATURE } else { 0 };
        let Some(bytes) = bytes.get(..need) else { return Prefix::Short { need } };
        Prefix::Packet(Self {
            bytes,
            version: Version::V2,
            incompat,
            compat,
            seq,
            sysid,
            compid,
            msgid: u32::from_le_bytes([m0, m1, m2, 0]),
            payload: bytes.get(HEADER_V2..payload_end).unwrap_or_default(),
            checksum: checksum_at(bytes, payload_end),
            signature: if signed { bytes.last_chunk() } else { None },
        })
    }
}

/// What the start of a buffer holds.
pub(crate) enum Prefix<'a> {
    /// A whole frame; its checksum was not compared yet.
    Packet(Packet<'a>),
    /// The start of a frame of at least `need` bytes.
    Short { need: usize },
    /// No frame starts here.
    NoFrame,
}

fn checksum_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |&c| u16::from_le_bytes(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sender, write_v1, write_v2};

    const FROM: Sender = Sender { seq: 7, sysid: 1, compid: 191 };

    #[test]
    fn every_header_field_is_found() {
        let mut v2 = Vec::new();
        write_v2(&mut v2, FROM, 0x01_02_03, &[9, 0, 5, 0, 0], 11).unwrap();
        let p = Packet::parse(&v2).unwrap();
        assert_eq!((p.version, p.incompat, p.compat), (Version::V2, 0, 0));
        assert_eq!((p.seq, p.sysid, p.compid, p.msgid), (7, 1, 191, 0x01_02_03));
        assert_eq!((p.payload, p.signature), (&[9, 0, 5][..], None));

        let mut v1 = Vec::new();
        write_v1(&mut v1, FROM, 30, &[9, 0, 5, 0, 0], 39).unwrap();
        let p = Packet::parse(&v1).unwrap();
        assert_eq!((p.version, p.seq, p.sysid, p.compid, p.msgid), (Version::V1, 7, 1, 191, 30));
        assert_eq!(p.payload, [9, 0, 5, 0, 0]);
        assert_eq!(p.checksum_ok(), Some(true));
    }

    #[test]
    fn buffer_must_hold_exactly_one_frame() {
        let mut frame = Vec::new();
        write_v2(&mut frame, FROM, 0, &[1; 9], 50).unwrap();
        assert!(Packet::parse(&frame).is_some());
        frame.push(0);
        assert!(Packet::parse(&frame).is_none(), "a byte too many");
        frame.truncate(frame.len() - 2);
        assert!(Packet::parse(&frame).is_none(), "a byte too few");
        assert!(Packet::parse(&[]).is_none());
    }

    #[test]
    fn addressee_is_found_where_the_message_has_one() {
        let target = |msgid: u32, payload: &[u8]| {
            let mut frame = Vec::new();
            write_v2(&mut frame, FROM, msgid, payload, 0).unwrap();
            Packet::parse(&frame).unwrap().target_system()
        };
        let mut command_long = [0; 33];
        command_long[30] = 7;
        assert_eq!(target(76, &command_long), Some(7));
        assert_eq!(target(76, &[1; 4]), Some(0), "truncated zero");
        assert_eq!((target(0, &[7; 9]), target(65_000, &[7; 9])), (None, None));
    }

    #[test]
    fn unknown_incompatibility_flag_is_no_frame() {
        let mut frame = Vec::new();
        write_v2(&mut frame, FROM, 0, &[1; 9], 50).unwrap();
        frame[2] = 0x02;
        assert!(Packet::parse(&frame).is_none());
    }
}
