//! The conventions on the wire.

use bytes::{BufMut, Bytes, BytesMut};
use rostrans_cdr::{CdrBytes, HEADER_LEN};
use rostrans_rtps::Guid;

/// How a peer correlates replies with requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// By a related sample identity in inline QoS: Fast DDS, Connext, and this engine.
    Identity,
    /// By a header in front of the payload: Cyclone DDS.
    Header,
}

impl Style {
    /// The style of the implementation an endpoint belongs to.
    pub(crate) fn of(endpoint: Guid) -> Self {
        if endpoint.vendor() == CYCLONE { Self::Header } else { Self::Identity }
    }
}

/// Vendor id of Eclipse Cyclone DDS.
const CYCLONE: [u8; 2] = [0x01, 0x10];

/// What Cyclone's RMW puts in front of a request and its response.
///
/// **Layout**: in the payload's byte order, `u64` client id, `i64` sequence number; 16 bytes, so that the alignment
/// of what follows stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) client: u64,
    pub(crate) seq: i64,
}

impl Header {
    const LEN: usize = 16;

    /// Puts the header in front of a body.
    pub(crate) fn join(self, message: &CdrBytes) -> Bytes {
        let mut out = BytesMut::with_capacity(message.len() + Self::LEN);
        out.put_slice(message.get(..HEADER_LEN).unwrap_or_default());
        if little_endian(message) {
            out.put_u64_le(self.client);
            out.put_i64_le(self.seq);
        } else {
            out.put_u64(self.client);
            out.put_i64(self.seq);
        }
        out.put_slice(message.body());
        out.freeze()
    }

    /// Takes the header off; `None` when the payload is too short to have one.
    pub(crate) fn split(payload: &Bytes) -> Option<(Self, CdrBytes)> {
        let (encapsulation, rest) = payload.split_first_chunk::<HEADER_LEN>()?;
        let (client, rest) = rest.split_first_chunk::<8>()?;
        let (seq, body) = rest.split_first_chunk::<8>()?;
        let header = if little_endian(encapsulation) {
            Self { client: u64::from_le_bytes(*client), seq: i64::from_le_bytes(*seq) }
        } else {
            Self { client: u64::from_be_bytes(*client), seq: i64::from_be_bytes(*seq) }
        };
        let message: Bytes = [encapsulation.as_slice(), body].concat().into();
        Some((header, CdrBytes::new(message)?))
    }
}

/// The low bit of the representation id says so for every encoding.
fn little_endian(payload: &[u8]) -> bool {
    payload.get(1).is_some_and(|id| id & 1 == 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cyclone_is_told_by_its_vendor_id() {
        let endpoint =
            |v: [u8; 2]| Guid { prefix: [v[0], v[1], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], entity: [0; 4] };
        assert_eq!(Style::of(endpoint([0x01, 0x10])), Style::Header);
        for other in [[0x01, 0x0f], [0x01, 0x01], [0x01, 0x7e]] {
            assert_eq!(Style::of(endpoint(other)), Style::Identity);
        }
    }

    #[test]
    fn header_has_the_byte_order_of_the_payload() {
        let header = Header { client: 1, seq: 2 };
        let little = header.join(&CdrBytes::new(vec![0, 1, 0, 0, 7]).unwrap());
        assert_eq!(little[..], [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 7]);
        let big = header.join(&CdrBytes::new(vec![0, 0, 0, 0, 7]).unwrap());
        assert_eq!(big[..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 7]);
    }

    proptest! {
        #[test]
        fn header_comes_off_as_it_went_on(client: u64, seq: i64, big: bool, body: Vec<u8>) {
            let message = CdrBytes::new([&[0, u8::from(!big), 0, 0][..], &body].concat()).unwrap();
            let joined = Header { client, seq }.join(&message);
            prop_assert_eq!(Header::split(&joined), Some((Header { client, seq }, message)));
        }

        #[test]
        fn short_payloads_have_no_header(payload in proptest::collection::vec(any::<u8>(), 0..20)) {
            prop_assert_eq!(Header::split(&payload.into()), None);
        }
    }
}
