use super::cursor::{Cursor, Malformed};

/// Parameter ids used in discovery and inline QoS.
///
/// Source: DDSI-RTPS 2.5, table 9.18 and 9.6.3.
pub(crate) mod pid {
    pub(crate) const SENTINEL: u16 = 0x0001;
    pub(crate) const PARTICIPANT_LEASE: u16 = 0x0002;
    pub(crate) const TOPIC_NAME: u16 = 0x0005;
    pub(crate) const OWNERSHIP_STRENGTH: u16 = 0x0006;
    pub(crate) const TYPE_NAME: u16 = 0x0007;
    pub(crate) const PROTOCOL_VERSION: u16 = 0x0015;
    pub(crate) const VENDOR_ID: u16 = 0x0016;
    pub(crate) const RELIABILITY: u16 = 0x001a;
    pub(crate) const LIVELINESS: u16 = 0x001b;
    pub(crate) const DURABILITY: u16 = 0x001d;
    pub(crate) const OWNERSHIP: u16 = 0x001f;
    pub(crate) const DEADLINE: u16 = 0x0023;
    pub(crate) const PARTITION: u16 = 0x0029;
    pub(crate) const LIFESPAN: u16 = 0x002b;
    pub(crate) const USER_DATA: u16 = 0x002c;
    pub(crate) const UNICAST_LOCATOR: u16 = 0x002f;
    pub(crate) const DEFAULT_UNICAST_LOCATOR: u16 = 0x0031;
    pub(crate) const METATRAFFIC_UNICAST_LOCATOR: u16 = 0x0032;
    pub(crate) const HISTORY: u16 = 0x0040;
    pub(crate) const PARTICIPANT_GUID: u16 = 0x0050;
    pub(crate) const BUILTIN_ENDPOINT_SET: u16 = 0x0058;
    pub(crate) const ENDPOINT_GUID: u16 = 0x005a;
    pub(crate) const KEY_HASH: u16 = 0x0070;
    pub(crate) const STATUS_INFO: u16 = 0x0071;
    pub(crate) const DATA_REPRESENTATION: u16 = 0x0073;
    pub(crate) const RELATED_SAMPLE_IDENTITY: u16 = 0x0083;
    pub(crate) const RELATED_SAMPLE_IDENTITY_OLD: u16 = 0x800f;
    /// Ours: size of the socket buffer that samples arrive in, 4 bytes. Other vendors skip it.
    pub(crate) const RECEIVE_BUFFER: u16 = 0x8b01;
}

/// Flag in a parameter id: whoever does not know it must not use the rest. Not needed to find the id.
const MUST_UNDERSTAND: u16 = 0x4000;

/// Iterates over a parameter list up to its sentinel.
///
/// **Layout** of one parameter: id (2 bytes), length (2), value padded to four bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params<'a> {
    cursor: Cursor<'a>,
    done: bool,
}

impl<'a> Params<'a> {
    pub(crate) fn new(cursor: Cursor<'a>) -> Self {
        Self { cursor, done: false }
    }

    /// Reads a discovery payload: encapsulation header `PL_CDR_LE` or `PL_CDR_BE`, then parameters.
    pub(crate) fn encapsulated(payload: &'a [u8]) -> Result<Self, Malformed> {
        let (&[id0, id1, ..], rest) = payload.split_first_chunk::<4>().ok_or(Malformed)?;
        match [id0, id1] {
            [0, 2] => Ok(Self::new(Cursor::new(rest, false))),
            [0, 3] => Ok(Self::new(Cursor::new(rest, true))),
            _ => Err(Malformed),
        }
    }

    /// Where the list ended; meaningful after the iteration.
    pub(super) fn after(&self) -> Cursor<'a> {
        self.cursor
    }

    fn read(&mut self) -> Result<Option<(u16, Cursor<'a>)>, Malformed> {
        let id = self.cursor.u16()?;
        let len = self.cursor.u16()?;
        if id == pid::SENTINEL {
            return Ok(None);
        }
        let value = self.cursor.bytes(usize::from(len))?;
        Ok(Some((id & !MUST_UNDERSTAND, Cursor::new(value, self.cursor.little()))))
    }
}

impl<'a> Iterator for Params<'a> {
    type Item = Result<(u16, Cursor<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.read().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Appends parameters to a buffer, little endian.
pub(crate) struct ParamWriter<'a> {
    buf: &'a mut Vec<u8>,
}

impl<'a> ParamWriter<'a> {
    pub(crate) fn new(buf: &'a mut Vec<u8>) -> Self {
        Self { buf }
    }

    /// Starts a discovery payload with its encapsulation header.
    pub(crate) fn encapsulated(buf: &'a mut Vec<u8>) -> Self {
        buf.extend([0, 3, 0, 0]);
        Self { buf }
    }

    /// One parameter; values beyond 65,532 bytes do not fit and are left out.
    pub(crate) fn put(&mut self, id: u16, value: &[u8]) {
        let Ok(len) = u16::try_from(value.len().next_multiple_of(4)) else { return };
        self.buf.extend(id.to_le_bytes());
        self.buf.extend(len.to_le_bytes());
        self.buf.extend(value);
        self.buf.resize(self.buf.len() + usize::from(len) - value.len(), 0);
    }

    pub(crate) fn string(&mut self, id: u16, text: &str) {
        let mut value = length(text.len() + 1).to_vec();
        value.extend(text.as_bytes());
        value.push(0);
        self.put(id, &value);
    }

    /// A sequence of strings, as PARTITION.
    pub(crate) fn strings(&mut self, id: u16, texts: &[String]) {
        let mut value = length(texts.len()).to_vec();
        for text in texts {
            value.extend(length(text.len() + 1));
            value.extend(text.as_bytes());
            value.push(0);
            value.resize(value.len().next_multiple_of(4), 0);
        }
        self.put(id, &value);
    }

    /// A sequence of octets, as USER_DATA.
    pub(crate) fn octets(&mut self, id: u16, bytes: &[u8]) {
        let mut value = length(bytes.len()).to_vec();
        value.extend(bytes);
        self.put(id, &value);
    }

    pub(crate) fn end(self) {
        self.buf.extend(pid::SENTINEL.to_le_bytes());
        self.buf.extend([0, 0]);
    }
}

fn length(n: usize) -> [u8; 4] {
    u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes()
}
