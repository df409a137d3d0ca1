//! What travels beside each sample, request and response.

use std::fmt;

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

/// Identity of an endpoint; with a sequence number, of a sample or a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// That of the endpoint with this liveliness key: XXH3-128 of it, little endian.
    pub fn of(token_key: &str) -> Self {
        Self(xxh3_128(token_key.as_bytes()).to_le_bytes())
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// Sequence number, source time and identity of the sender.
///
/// **Layout**, 33 bytes, little endian: sequence `i64`, source time `i64` ns, length of the GID `u8` = 16, GID. Before
/// rmw_zenoh 0.2.4 each of the three had its name in front, as a length and ASCII: 77 bytes, which are read but never
/// written. A response has sequence and GID of its request.
///
/// Source: `rmw_zenoh_cpp/src/detail/attachment_helpers.cpp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// From 1, one more for each sample or request of the sender.
    pub sequence: i64,
    /// When it was sent, in ns since 1970 by the system's clock.
    pub source_time_ns: i64,
    /// Who sent it.
    pub gid: Gid,
}

/// Why an attachment cannot be read.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AttachmentError {
    /// There is none; ROS nodes always send one.
    #[error("no attachment")]
    Missing,
    /// It is cut short, too long, or of another form.
    #[error("malformed attachment of {0} bytes")]
    Malformed(usize),
}

/// Bytes of an attachment in today's form.
const LEN: usize = 33;

impl Attachment {
    /// Writes it.
    pub fn to_bytes(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let fields = self
            .sequence
            .to_le_bytes()
            .into_iter()
            .chain(self.source_time_ns.to_le_bytes())
            .chain([GID_LEN])
            .chain(self.gid.0);
        bytes.iter_mut().zip(fields).for_each(|(place, byte)| *place = byte);
        bytes
    }

    /// Reads either form.
    ///
    /// **Errors**: [`AttachmentError::Malformed`] for anything else.
    pub fn parse(bytes: &[u8]) -> Result<Self, AttachmentError> {
        let read = || {
            let named = bytes.len() != LEN;
            let mut rest = bytes;
            let mut number = |name: &str| {
                if named {
                    take(&mut rest, name)?;
                }
                let (number, tail) = rest.split_first_chunk()?;
                rest = tail;
                Some(i64::from_le_bytes(*number))
            };
            let sequence = number("sequence_number")?;
            let source_time_ns = number("source_timestamp")?;
            if named {
                take(&mut rest, "source_gid")?;
            }
            let (len, gid) = rest.split_first()?;
            let gid = Gid(gid.try_into().ok()?);
            (*len == GID_LEN).then_some(Self { sequence, source_time_ns, gid })
        };
        read().ok_or(AttachmentError::Malformed(bytes.len()))
    }
}

const GID_LEN: u8 = 16;

/// Takes a length and this name off the front.
fn take(rest: &mut &[u8], name: &str) -> Option<()> {
    let (len, tail) = rest.split_first()?;
    if usize::from(*len) != name.len() {
        return None;
    }
    *rest = tail.strip_prefix(name.as_bytes())?;
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SEEN: Attachment = Attachment { sequence: 258, source_time_ns: -2, gid: Gid([7; 16]) };

    fn named(attachment: &Attachment) -> Vec<u8> {
        let mut bytes = b"\x0fsequence_number".to_vec();
        bytes.extend(attachment.sequence.to_le_bytes());
        bytes.extend(b"\x10source_timestamp");
        bytes.extend(attachment.source_time_ns.to_le_bytes());
        bytes.extend(b"\x0asource_gid\x10");
        bytes.extend(attachment.gid.0);
        bytes
    }

    #[test]
    fn layout_is_that_of_rmw_zenoh() {
        let bytes = SEEN.to_bytes();
        assert_eq!(bytes[..17], [2, 1, 0, 0, 0, 0, 0, 0, 254, 255, 255, 255, 255, 255, 255, 255, 16]);
        assert_eq!(bytes[17..], [7; 16]);
    }

    #[test]
    fn both_forms_are_read() {
        assert_eq!(Attachment::parse(&SEEN.to_bytes()), Ok(SEEN));
        let old = named(&SEEN);
        assert_eq!(old.len(), 77);
        assert_eq!(Attachment::parse(&old), Ok(SEEN));
    }

    #[test]
    fn other_lengths_and_names_are_refused() {
        let (new, old) = (SEEN.to_bytes().to_vec(), named(&SEEN));
        for whole in [&new, &old] {
            for len in 0..whole.len() {
                assert_eq!(Attachment::parse(&whole[..len]), Err(AttachmentError::Malformed(len)));
            }
            let long = [whole, &[0][..]].concat();
            assert_eq!(Attachment::parse(&long), Err(AttachmentError::Malformed(long.len())));
        }
        for (place, of) in [(16, &new), (0, &old), (3, &old), (24, &old), (60, &old)] {
            let mut bad = of.clone();
            bad[place] ^= 1;
            assert_eq!(Attachment::parse(&bad), Err(AttachmentError::Malformed(bad.len())), "byte {place}");
        }
    }

    #[test]
    fn gid_is_xxh3_of_the_token() {
        // The hash of nothing is 99aa06d3014798d86001c324468d497f; its low byte comes first.
        assert_eq!(Gid::of("").to_string(), "7f498d4624c30160d8984701d306aa99");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(sequence: i64, source_time_ns: i64, gid: [u8; 16]) {
            let attachment = Attachment { sequence, source_time_ns, gid: Gid(gid) };
            prop_assert_eq!(Attachment::parse(&attachment.to_bytes()), Ok(attachment));
            prop_assert_eq!(Attachment::parse(&named(&attachment)), Ok(attachment));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            crate::fuzzing::attachment(&bytes);
        }
    }
}
