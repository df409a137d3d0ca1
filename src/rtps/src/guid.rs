use std::fmt;

/// Globally unique id of a participant or endpoint: a 12-byte participant prefix and a 4-byte entity id.
///
/// **Layout**: on the wire and in ROS GIDs, prefix then entity, 16 bytes, no byte order.
///
/// Source: DDSI-RTPS 2.5, 8.2.4.1 and 9.3.1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Guid {
    /// Participant part; its first two bytes are the vendor id.
    pub prefix: [u8; 12],
    /// Entity part: three key bytes and the entity kind.
    pub entity: [u8; 4],
}

impl Guid {
    /// The all-zero id that means "nobody in particular".
    pub const UNKNOWN: Self = Self { prefix: [0; 12], entity: [0; 4] };

    /// The 16 bytes of the id, prefix first.
    pub fn as_bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(self.prefix.iter().chain(&self.entity)) {
            *to = *from;
        }
        bytes
    }

    /// Reads an id back from its 16 bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let [p @ .., e0, e1, e2, e3] = bytes;
        Self { prefix: p, entity: [e0, e1, e2, e3] }
    }

    /// Vendor id as carried in the first two bytes of the prefix.
    pub fn vendor(&self) -> [u8; 2] {
        let [a, b, ..] = self.prefix;
        [a, b]
    }

    /// Whether the entity kind is that of a reader, user defined or built in.
    pub fn is_reader(&self) -> bool {
        let [.., kind] = self.entity;
        matches!(kind & 0x3f, 0x04 | 0x07)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.prefix.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str("|")?;
        self.entity.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// Names one sample of one endpoint; correlates service replies with requests.
///
/// Source: DDS-RPC 1.0, 7.8; sent as inline QoS parameters 0x0083 and 0x800f.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SampleIdentity {
    /// The writer of the sample, or by convention a reply reader.
    pub guid: Guid,
    /// Sequence number of the sample, or [`SampleIdentity::SEQ_UNKNOWN`].
    pub seq: i64,
}

impl SampleIdentity {
    /// Sequence number "unknown": high word -1, low word 0.
    pub const SEQ_UNKNOWN: i64 = -(1 << 32);
}

/// Vendor id this engine announces; unassigned by the OMG, distinct from every known implementation.
pub const VENDOR_ID: [u8; 2] = [0x01, 0x7e];
