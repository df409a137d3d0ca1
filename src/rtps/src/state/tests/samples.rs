//! Endpoints and payloads for stories about samples.

use super::sim::Log;
use crate::endpoint::{EndpointQos, EndpointSpec, History};

pub(super) fn spec(topic: &str, qos: EndpointQos) -> EndpointSpec {
    EndpointSpec { topic: topic.into(), type_name: "T".into(), qos, ..EndpointSpec::default() }
}

pub(super) const RELIABLE: EndpointQos = EndpointQos::DEFAULT;
pub(super) const KEEP_ALL: EndpointQos =
    EndpointQos { history: History::KeepAll { bytes: 64 << 20 }, ..EndpointQos::DEFAULT };
pub(super) const BEST_EFFORT: EndpointQos = EndpointQos { reliable: false, ..EndpointQos::DEFAULT };
pub(super) const LATCHED: EndpointQos =
    EndpointQos { transient_local: true, history: History::KeepLast(5), ..EndpointQos::DEFAULT };

/// Payload number `n` of a size, filled so that damage shows.
pub(super) fn payload(n: u32, len: usize) -> Vec<u8> {
    // A pattern whose length divides no fragment size shows fragments in the wrong place.
    let pattern: Vec<u8> = (0..251).map(|i: u8| i.wrapping_mul(7).wrapping_add(n.to_le_bytes()[0])).collect();
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(n.to_le_bytes());
    bytes.extend(pattern.repeat(len / 251 + 1));
    bytes.truncate(len.max(8));
    bytes
}

/// The numbers of received payloads, each checked against what was sent.
pub(super) fn numbers(log: &Log, len: impl Fn(u32) -> usize) -> Vec<u32> {
    let log = log.lock().unwrap();
    log.iter()
        .map(|sample| {
            let n = u32::from_le_bytes(sample.payload[4..8].try_into().unwrap());
            let sent = payload(n, len(n));
            assert_eq!(&sample.payload[..sent.len()], &sent[..], "sample {n} is damaged");
            assert!(sample.payload.len() - sent.len() < 4);
            n
        })
        .collect()
}
