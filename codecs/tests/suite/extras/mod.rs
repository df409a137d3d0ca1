//! What MAVROS's further plugins publish and send.

use rostrans_codecs::mavlink::dialect::Message;
use rostrans_mavlink::Packet;
use serde_json::{Value, json};

use crate::support::{Bench, PEER};

mod companion;
mod device;
mod gimbal;
mod gps;
mod simulator;
mod telemetry;
mod trajectory;
mod value;

/// A bench whose vehicle has an address.
pub(crate) fn bench(codec: &str) -> Bench {
    with(codec, json!({}))
}

pub(crate) fn with(codec: &str, options: Value) -> Bench {
    Bench::with_target(codec, options, PEER)
}

/// The messages sent, which are all of one kind, and the component they come from.
pub(crate) fn sent<M: Message>(bench: &mut Bench) -> Vec<(u8, M)> {
    let decode = |(to, frame): (_, Vec<u8>)| {
        assert_eq!(to, Some(PEER));
        let packet = Packet::parse(&frame).unwrap();
        assert_eq!((packet.sysid, packet.msgid), (1, M::ID));
        assert_ne!(packet.checksum_ok(), Some(false));
        (packet.compid, M::decode(packet.payload))
    };
    bench.sent().into_iter().map(decode).collect()
}

/// The one message a sample makes, from our own component.
pub(crate) fn one<M: Message>(bench: &mut Bench, input: &str, sample: &Value) -> M {
    bench.sample(input, sample).unwrap();
    let mut sent = sent(bench);
    assert_eq!(sent.len(), 1);
    let (compid, message) = sent.remove(0);
    assert_eq!(compid, 191);
    message
}

pub(crate) fn header() -> Value {
    json!({"stamp": {"sec": 12, "nanosec": 345_678_901}})
}

/// A field of text.
pub(crate) fn text<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}
