use proptest::prelude::*;

use super::*;
use crate::guid::{Guid, SampleIdentity};

const PREFIX: Prefix = [1, 0x7e, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const READER: Entity = [0, 0, 1, 4];
const WRITER: Entity = [0, 0, 2, 3];

fn encode(body: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let mut buf = Vec::new();
    body(&mut Encoder::new(&mut buf, PREFIX));
    buf
}

fn only(bytes: &[u8]) -> Submessage<'_> {
    let message = Message::parse(bytes).unwrap();
    assert_eq!(message.prefix, PREFIX);
    let mut all = message.submessages();
    let first = all.next().unwrap().unwrap();
    assert!(all.next().is_none());
    first
}

fn sequence_set() -> impl Strategy<Value = SequenceSet> {
    (1..i64::MAX / 4, prop::collection::vec(0..256i64, 0..40)).prop_map(|(base, members)| {
        let mut set = SequenceSet::new(base);
        members.into_iter().for_each(|m| assert!(set.insert(base + m)));
        set
    })
}

fn fragment_set() -> impl Strategy<Value = FragmentSet> {
    (1..100_000u32, prop::collection::vec(0..256u32, 0..40)).prop_map(|(base, members)| {
        let mut set = FragmentSet::new(base);
        members.into_iter().for_each(|m| assert!(set.insert(base + m)));
        set
    })
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), framed in any::<bool>()) {
        let datagram = if framed { [encode(|_| ()), bytes].concat() } else { bytes };
        if let Ok(message) = Message::parse(&datagram) {
            prop_assert!(message.submessages().count() <= datagram.len());
        }
        if let Ok(params) = Params::encapsulated(&datagram) {
            prop_assert!(params.count() <= datagram.len());
        }
    }

    #[test]
    fn data_round_trips(
        seq in 1..i64::MAX / 4,
        payload in prop::collection::vec(any::<u8>(), 4..300),
        related in prop::option::of((any::<[u8; 16]>(), any::<i64>())),
    ) {
        let related = related.map(|(g, seq)| SampleIdentity { guid: Guid::from_bytes(g), seq });
        let bytes = encode(|e| e.data(READER, WRITER, seq, related, &payload));
        prop_assert_eq!(bytes.len() % 4, 0);
        let Submessage::Data(data) = only(&bytes) else { panic!("not DATA") };
        prop_assert_eq!((data.reader, data.writer, data.seq), (READER, WRITER, seq));
        prop_assert_eq!(data.inline.related, related);
        prop_assert!(!data.is_key);
        prop_assert_eq!(&data.payload[..payload.len()], &payload[..]);
        prop_assert!(data.payload.len() - payload.len() < 4);
    }

    #[test]
    fn acknack_round_trips(missing in sequence_set(), count in any::<i32>(), is_final in any::<bool>()) {
        let sent = AckNack { reader: READER, writer: WRITER, missing, count, is_final };
        let bytes = encode(|e| e.acknack(&sent));
        let Submessage::AckNack(got) = only(&bytes) else { panic!("not ACKNACK") };
        prop_assert_eq!(got, sent);
        prop_assert!(got.missing.iter().eq(sent.missing.iter()));
    }

    #[test]
    fn gap_and_heartbeats_round_trip(list in sequence_set(), last in any::<u32>(), count in any::<i32>()) {
        let start = list.base;
        let gap = Gap { reader: READER, writer: WRITER, start, list };
        let bytes = encode(|e| e.gap(&gap));
        let Submessage::Gap(got) = only(&bytes) else { panic!("not GAP") };
        prop_assert_eq!(got, gap);

        let (first, last_seq) = (start, start + i64::from(last) - 1);
        let sent =
            Heartbeat { reader: READER, writer: WRITER, first, last: last_seq, count, is_final: count % 2 == 0, liveliness: count % 3 == 0 };
        let bytes = encode(|e| e.heartbeat(&sent));
        let Submessage::Heartbeat(got) = only(&bytes) else { panic!("not HEARTBEAT") };
        prop_assert_eq!(got, sent);

        let sent = HeartbeatFrag { reader: READER, writer: WRITER, seq: start, last, count };
        let bytes = encode(|e| e.heartbeat_frag(&sent));
        let Submessage::HeartbeatFrag(got) = only(&bytes) else { panic!("not HEARTBEAT_FRAG") };
        prop_assert_eq!(got, sent);
    }

    #[test]
    fn nack_frag_round_trips(missing in fragment_set(), seq in 1..i64::MAX / 4, count in any::<i32>()) {
        let sent = NackFrag { reader: READER, writer: WRITER, seq, missing, count };
        let bytes = encode(|e| e.nack_frag(&sent));
        let Submessage::NackFrag(got) = only(&bytes) else { panic!("not NACK_FRAG") };
        prop_assert_eq!(got, sent);
        prop_assert!(got.missing.iter().eq(sent.missing.iter()));
    }

    #[test]
    fn data_frag_round_trips(payload in prop::collection::vec(any::<u8>(), 1..100), first in 1..5000u32) {
        let sent = DataFrag {
            reader: READER, writer: WRITER, seq: 9, first, count: 1, fragment_size: 100, sample_size: 7000,
            inline: InlineQos { related: Some(SampleIdentity { guid: Guid::UNKNOWN, seq: 3 }), ..Default::default() },
            payload: &[], is_key: false,
        };
        let mut bytes = encode(|e| e.data_frag_head(&sent, payload.len()));
        bytes.extend(&payload);
        let Submessage::DataFrag(got) = only(&bytes) else { panic!("not DATA_FRAG") };
        prop_assert_eq!((got.first, got.count, got.fragment_size, got.sample_size), (first, 1, 100, 7000));
        prop_assert_eq!(got.inline, sent.inline);
        prop_assert_eq!(got.payload, &payload[..]);
    }

    #[test]
    fn timestamps_survive_to_a_nanosecond(nanos in 0..4_000_000_000_000_000_000i64) {
        let bytes = encode(|e| e.info_ts(nanos));
        let Submessage::InfoTimestamp(Some(got)) = only(&bytes) else { panic!("not INFO_TS") };
        prop_assert!((got - nanos).abs() <= 1);
    }
}

#[test]
fn big_endian_submessages_are_read() {
    let mut bytes = encode(|_| ());
    bytes.extend([0x06, 0x02, 0, 28]);
    bytes.extend(READER);
    bytes.extend(WRITER);
    bytes.extend([0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 3, 0xa0, 0, 0, 0, 0, 0, 0, 9]);
    let Submessage::AckNack(got) = only(&bytes) else { panic!("not ACKNACK") };
    assert_eq!(got.missing.base, (1 << 32) + 5);
    assert!(got.missing.iter().eq([(1 << 32) + 5, (1 << 32) + 7]));
    assert_eq!((got.count, got.is_final), (9, true));
}

#[test]
fn dispose_carries_key_and_status() {
    let bytes = encode(|e| e.dispose(READER, WRITER, 4, [7; 16], &[0, 3, 0, 0, 1, 0, 0, 0]));
    let Submessage::Data(data) = only(&bytes) else { panic!("not DATA") };
    assert!(data.is_key);
    assert_eq!((data.inline.status, data.inline.key_hash), (3, Some([7; 16])));
}

#[test]
fn a_broken_submessage_ends_the_message() {
    let mut bytes = encode(|e| e.info_dst(PREFIX));
    bytes.extend([0x07, 1, 200, 0, 1, 2, 3]);
    bytes.extend(encode(|e| e.info_dst(PREFIX)).split_off(20));
    let message = Message::parse(&bytes).unwrap();
    let all: Vec<_> = message.submessages().collect();
    assert!(matches!(all[..], [Ok(Submessage::InfoDestination(_)), Err(Malformed)]));
}
