//! The payload of FILE_TRANSFER_PROTOCOL.

/// Bytes of data that a payload has room for.
pub(super) const MAX_DATA: usize = 239;
const LEN: usize = 251;
const HEADER: usize = LEN - MAX_DATA;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Opcode {
    Terminate = 1,
    Reset = 2,
    List = 3,
    OpenRead = 4,
    Read = 5,
    Create = 6,
    Write = 7,
    Remove = 8,
    MakeDir = 9,
    RemoveDir = 10,
    OpenWrite = 11,
    Truncate = 12,
    Rename = 13,
    Checksum = 14,
    BurstRead = 15,
}

pub(super) const ACK: u8 = 128;
pub(super) const NAK: u8 = 129;

/// A request or a reply.
///
/// **Layout**, little-endian: `u16` sequence number, `u8` session, `u8` opcode, `u8` length of the data, `u8` opcode
/// that is replied to, `u8` end of a burst, `u8` padding, `u32` offset, 239 bytes of data.
///
/// Source: MAVLink, File Transfer Protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) seq: u16,
    pub(super) session: u8,
    pub(super) opcode: u8,
    pub(super) size: u8,
    pub(super) req_opcode: u8,
    pub(super) burst_complete: bool,
    pub(super) offset: u32,
    data: [u8; MAX_DATA],
}

impl Payload {
    /// A request with `data`, of which as much as fits is taken.
    pub(super) fn request(opcode: Opcode, session: u8, offset: u32, data: &[u8]) -> Self {
        let mut bytes = [0; MAX_DATA];
        bytes.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
        let size = u8::try_from(data.len().min(MAX_DATA)).unwrap_or(u8::MAX);
        Self {
            seq: 0,
            session,
            opcode: opcode as u8,
            size,
            req_opcode: 0,
            burst_complete: false,
            offset,
            data: bytes,
        }
    }

    pub(super) fn decode(bytes: &[u8; LEN]) -> Self {
        let (head, tail) = bytes.split_at(HEADER);
        let at = |index: usize| head.get(index).copied().unwrap_or(0);
        let mut data = [0; MAX_DATA];
        data.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
        Self {
            seq: u16::from_le_bytes([at(0), at(1)]),
            session: at(2),
            opcode: at(3),
            size: at(4),
            req_opcode: at(5),
            burst_complete: at(6) != 0,
            offset: u32::from_le_bytes([at(8), at(9), at(10), at(11)]),
            data,
        }
    }

    pub(super) fn encode(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let [seq0, seq1] = self.seq.to_le_bytes();
        let [o0, o1, o2, o3] = self.offset.to_le_bytes();
        let complete = u8::from(self.burst_complete);
        let head =
            [seq0, seq1, self.session, self.opcode, self.size, self.req_opcode, complete, 0, o0, o1, o2, o3];
        bytes.iter_mut().zip(head.iter().chain(&self.data)).for_each(|(to, from)| *to = *from);
        bytes
    }

    /// The data that counts.
    pub(super) fn data(&self) -> &[u8] {
        self.data.get(..usize::from(self.size)).unwrap_or(&self.data)
    }

    /// True when both ask for the same.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        (self.opcode, self.session, self.offset, self.size)
            == (other.opcode, other.session, other.offset, other.size)
    }

    /// A number at the start of the data: a file's size, bytes written, a checksum.
    pub(super) fn number(&self) -> Option<u32> {
        self.data().first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// True for a reply to a request of that kind.
    pub(super) fn answers(&self, opcode: u8) -> bool {
        matches!(self.opcode, ACK | NAK) && self.req_opcode == opcode
    }
}

/// Numbers of Linux, which `r_errno` holds.
pub(super) mod errno {
    pub(in super::super) const NOENT: i32 = 2;
    pub(in super::super) const BADF: i32 = 9;
    pub(in super::super) const ACCES: i32 = 13;
    pub(in super::super) const FAULT: i32 = 14;
    pub(in super::super) const BUSY: i32 = 16;
    pub(in super::super) const EXIST: i32 = 17;
    pub(in super::super) const INVAL: i32 = 22;
    pub(in super::super) const MFILE: i32 = 24;
    pub(in super::super) const FBIG: i32 = 27;
    pub(in super::super) const NAMETOOLONG: i32 = 36;
    pub(in super::super) const NOSYS: i32 = 38;
    pub(in super::super) const BADMSG: i32 = 74;
    pub(in super::super) const BADFD: i32 = 77;
    pub(in super::super) const MSGSIZE: i32 = 90;
    pub(in super::super) const NOTCONN: i32 = 107;
    pub(in super::super) const TIMEDOUT: i32 = 110;
    pub(in super::super) const CANCELED: i32 = 125;
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The end of the file or directory.
    End,
    /// The vehicle does not know the opcode.
    Unknown,
    /// Any other reason, as `r_errno`.
    Failed(i32),
}

impl Refusal {
    /// The refusal in a NAK.
    pub(super) fn of(reply: &Payload) -> Self {
        let mut data = reply.data().iter().copied();
        Self::Failed(match data.next() {
            Some(2) => data.next().map_or(errno::FAULT, i32::from),
            Some(3) => errno::MSGSIZE,
            Some(4) => errno::BADFD,
            Some(5) => errno::MFILE,
            Some(6) => return Self::End,
            Some(7) => return Self::Unknown,
            Some(8) => errno::EXIST,
            Some(9) => errno::ACCES,
            Some(10) => errno::NOENT,
            Some(_) | None => errno::FAULT,
        })
    }

    pub(super) fn errno(self) -> i32 {
        match self {
            Self::End => 0,
            Self::Unknown => errno::NOSYS,
            Self::Failed(errno) => errno,
        }
    }
}
