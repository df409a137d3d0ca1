use super::cursor::{Cursor, Malformed};
use super::entity::Prefix;
use super::submessage::Submessage;

/// One datagram: header and submessages.
///
/// **Layout**: `RTPS`, version (2 bytes), vendor (2), GUID prefix (12), then submessages of a 4-byte header (id,
/// flags, length) and a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    /// The sender's prefix.
    pub(crate) prefix: Prefix,
    body: &'a [u8],
}

/// A submessage, or the news that the rest of the message cannot be read.
pub(crate) type Received<'a> = Result<Submessage<'a>, Malformed>;

impl<'a> Message<'a> {
    pub(crate) fn parse(datagram: &'a [u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor::new(datagram, true);
        let magic: [u8; 4] = cursor.array()?;
        let [major, _minor] = cursor.array()?;
        let _vendor: [u8; 2] = cursor.array()?;
        let prefix = cursor.prefix()?;
        if &magic != b"RTPS" || major != 2 {
            return Err(Malformed);
        }
        Ok(Self { prefix, body: cursor.rest() })
    }

    /// The submessages; after an error there are no more.
    pub(crate) fn submessages(&self) -> impl Iterator<Item = Received<'a>> + use<'a> {
        let mut rest = self.body;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let next = split(rest).and_then(|(id, flags, body, after)| {
                rest = after;
                Submessage::parse(id, flags, body)
            });
            if next.is_err() {
                rest = &[];
            }
            Some(next)
        })
    }
}

const PAD: u8 = 0x01;
const INFO_TS: u8 = 0x09;

type Split<'a> = (u8, u8, &'a [u8], &'a [u8]);

fn split(bytes: &[u8]) -> Result<Split<'_>, Malformed> {
    let [id, flags]: [u8; 2] = Cursor::new(bytes, true).array()?;
    let mut cursor = Cursor::new(bytes, flags & 1 != 0);
    cursor.bytes(2)?;
    let len = usize::from(cursor.u16()?);
    // Length 0 means "to the end of the message", but for the two kinds that may be empty.
    let body = if len == 0 && id != PAD && id != INFO_TS {
        cursor.bytes(cursor.rest().len())?
    } else {
        cursor.bytes(len)?
    };
    Ok((id, flags, body, cursor.rest()))
}
