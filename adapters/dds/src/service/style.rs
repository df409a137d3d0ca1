//! The conventions on the wire.

use bytes::{BufMut, Bytes, BytesMut};
use rostrans_cdr::{CdrBytes, HEADER_LEN};
use rostrans_rtps::Guid;

/// Which convention to speak with the other side of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServiceStyle {
    /// With each peer its own, told by the vendor id in its GUID: Cyclone DDS has its header, everyone else (Fast DDS,
    /// Connext in its default mapping, rostrans, vendors not known) the related identity.
    #[default]
    Auto,
    /// The related identity with every peer.
    FastDds,
    /// The header with every peer, for vendors other than Cyclone DDS that copy it.
    Cyclone,
}

impl ServiceStyle {
    /// The style to use with the implementation an endpoint belongs to.
    pub(crate) fn with(self, endpoint: Guid) -> Style {
        match self {
            Self::Auto if endpoint.vendor() == CYCLONE => Style::Header,
            Self::Auto | Self::FastDds => Style::Identity,
            Self::Cyclone => Style::Header,
        }
    }
}

/// How a peer correlates replies with requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// By a related sample identity in inline QoS: Fast DDS, Connext, and this engine.
    Identity,
    /// By a header in front of the payload: Cyclone DDS.
    Header,
}

/// Vendor id of Eclipse Cyclone DDS.
const CYCLONE: [u8; 2] = [0x01, 0x10];

/// What Cyclone's RMW puts in front of a request and its response.
///
/// **Layout**: in the payload's byte order, `u64` client id, `i64` sequence number; 16 bytes, so that the alignment
/// of what follows stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Any number that no other client has.
    pub client: u64,
    /// Counts the requests of a client.
    pub seq: i64,
}

impl Header {
    const LEN: usize = 16;

    /// Puts the header in front of a body.
    pub fn join(self, message: &CdrBytes) -> Bytes {
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
    pub fn split(payload: &Bytes) -> Option<(Self, CdrBytes)> {
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

    fn endpoint(vendor: u8) -> Guid {
        Guid { prefix: [1, vendor, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], entity: [0; 4] }
    }

    #[test]
    fn cyclone_is_told_by_its_vendor_id() {
        assert_eq!(ServiceStyle::Auto.with(endpoint(0x10)), Style::Header);
        for other in [0x0f, 0x01, 0x7e, 0x00, 0x11] {
            assert_eq!(ServiceStyle::Auto.with(endpoint(other)), Style::Identity);
        }
    }

    #[test]
    fn forced_style_is_that_of_every_vendor() {
        for vendor in [0x0f, 0x10, 0x01, 0x7e] {
            assert_eq!(ServiceStyle::FastDds.with(endpoint(vendor)), Style::Identity);
            assert_eq!(ServiceStyle::Cyclone.with(endpoint(vendor)), Style::Header);
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
