use crate::graph::Liveliness;
use crate::wire::{Malformed, Prefix};

/// A participant saying that writers of it are alive.
///
/// **Layout** (CDR in the byte order of the encapsulation): prefix (12 bytes), kind (4 octets), length of the
/// data, data (meaningless).
///
/// Source: DDSI-RTPS 2.5, 9.6.3.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ParticipantMessage {
    pub(crate) prefix: Prefix,
    /// Which writers; never by topic.
    pub(crate) kind: Liveliness,
}

impl ParticipantMessage {
    /// `None` for a kind of another purpose.
    pub(crate) fn parse(payload: &[u8]) -> Result<Option<Self>, Malformed> {
        let (_, rest) = payload.split_first_chunk::<4>().ok_or(Malformed)?;
        let (prefix, rest) = rest.split_first_chunk().ok_or(Malformed)?;
        let (kind, _) = rest.split_first_chunk().ok_or(Malformed)?;
        let kind = match kind {
            [0, 0, 0, 1] => Liveliness::Automatic,
            [0, 0, 0, 2] => Liveliness::ManualByParticipant,
            _ => return Ok(None),
        };
        Ok(Some(Self { prefix: *prefix, kind }))
    }

    /// The sample; Fast DDS wants the length field, Cyclone DDS an octet of data as it sends itself.
    pub(crate) fn payload(&self) -> Vec<u8> {
        let kind = if self.kind == Liveliness::Automatic { 1 } else { 2 };
        let mut bytes = vec![0, 1, 0, 0];
        bytes.extend(self.prefix);
        bytes.extend([0, 0, 0, kind, 1, 0, 0, 0, 0]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_round_trip() {
        for kind in [Liveliness::Automatic, Liveliness::ManualByParticipant] {
            let message = ParticipantMessage { prefix: [7; 12], kind };
            assert_eq!(ParticipantMessage::parse(&message.payload()), Ok(Some(message)));
        }
    }

    #[test]
    fn other_kinds_are_ignored_and_short_ones_refused() {
        let mut payload = ParticipantMessage { prefix: [7; 12], kind: Liveliness::Automatic }.payload();
        payload[16] = 0x80;
        assert_eq!(ParticipantMessage::parse(&payload), Ok(None));
        for len in 0..20 {
            assert_eq!(ParticipantMessage::parse(&payload[..len]), Err(Malformed));
        }
    }
}
