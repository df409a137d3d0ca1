//! Entry points for fuzzers: plain functions over bytes that must return, whatever the bytes are.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::config::Limits;
use crate::discovery::{BUILTIN_ENDPOINTS, EndpointData, ParticipantData, ParticipantMessage, read_key};
use crate::endpoint::{EndpointQos, EndpointSpec, History, Ownership, WriteOptions};
use crate::graph::Liveliness;
use crate::guid::{Guid, VENDOR_ID};
use crate::state::{Core, CoreConfig, Inbox, Network, Outbox, Reach};
use crate::wire::{
    Encoder, Message, PARTICIPANT, SEDP_PUB_READER, SEDP_PUB_WRITER, SEDP_SUB_READER, SEDP_SUB_WRITER,
    SPDP_READER, SPDP_WRITER, Submessage,
};

mod network;

pub use network::network;

const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7412);

/// Parses `data` as a message, and what its samples carry as discovery data and liveliness.
pub fn parse(data: &[u8]) {
    let Ok(message) = Message::parse(data) else { return };
    assert!(message.submessages().count() <= data.len());
    for submessage in message.submessages().flatten() {
        if let Submessage::Data(sample) = submessage {
            discovery(sample.payload);
            liveliness(sample.payload);
        }
    }
}

/// Parses `data` as what participants say of themselves and of their endpoints; what comes out is no bigger than that.
pub fn discovery(data: &[u8]) {
    for is_writer in [true, false] {
        if let Ok(found) = EndpointData::parse(data, is_writer) {
            let names = found.topic.len() + found.type_name.len() + found.user_data.len();
            assert!(names <= 3 * data.len(), "{names} bytes out of {}", data.len());
        }
    }
    if let Ok(found) = ParticipantData::parse(data) {
        let locators = found.metatraffic.len() + found.user.len();
        assert!(24 * locators + found.user_data.len() <= data.len(), "{found:?}");
        // What we understood can be said again.
        let again = ParticipantData::parse(&found.payload());
        assert!(again.is_ok_and(|again| again.guid == found.guid && again.user_data == found.user_data));
    }
    assert!(data.len() >= 16 || read_key(data).is_none());
}

/// Parses `data` as an assertion of liveliness, which says the same when it is written again.
pub fn liveliness(data: &[u8]) {
    if let Ok(Some(found)) = ParticipantMessage::parse(data) {
        assert_eq!(ParticipantMessage::parse(&found.payload()), Ok(Some(found)));
    }
}

/// Gives `data` to a participant that has a peer, writers and readers, as datagrams of that peer: each is a length
/// (u16, little endian) and submessages.
///
/// **Panics**: the participant keeps more than its limits allow.
pub fn datagrams(data: &[u8]) {
    let mut now = Instant::now();
    let (mut core, peer) = participant(now);
    let (mut out, mut inbox) = (Outbox::default(), Inbox::default());
    let mut rest = data;
    while let Some(([a, b], after)) = rest.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([*a, *b])).min(after.len());
        let (body, after) = after.split_at(len);
        rest = after;
        let mut datagram = Vec::new();
        Encoder::new(&mut datagram, peer.prefix);
        datagram.extend_from_slice(body);
        core.handle(&datagram, PEER, now, &mut out, &mut inbox);
        core.flush(now, &mut out);
        now += Duration::from_millis(7);
        core.poll(now, &mut out, &mut inbox);
        out.clear();
        inbox.samples.clear();
        inbox.events.clear();
        assert!(core.is_bounded(), "state exceeds its limits");
    }
}

/// Limits that inputs can reach.
fn limits() -> Limits {
    Limits { peers: 4, endpoints_per_peer: 16, pending_bytes: 1 << 20, ..Limits::default() }
}

/// A participant with reliable and best-effort endpoints that are matched with those of a peer.
fn participant(now: Instant) -> (Core, Guid) {
    let [v0, v1] = VENDOR_ID;
    let guid = |n: u8| Guid { prefix: [v0, v1, n, 0, 0, 0, 0, 0, 0, 0, 0, n], entity: PARTICIPANT };
    let at = |port| vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port))];
    let data = |n: u8, port| ParticipantData {
        guid: guid(n),
        metatraffic: at(port),
        user: at(port + 1),
        lease: Duration::from_secs(20),
        builtin: BUILTIN_ENDPOINTS,
        user_data: Vec::new(),
        receive_buffer: 0,
    };
    let config = CoreConfig {
        data: data(1, 7410),
        network: Network { own: Reach { metatraffic: at(7410), user: at(7411) }, ..Network::default() },
        match_own: true,
        limits: limits(),
        pace_bytes_per_s: 200_000_000,
    };
    let mut core = Core::new(config, Arc::default(), now);
    let (mut out, mut inbox) = (Outbox::default(), Inbox::default());
    let mut feed = |core: &mut Core, write: &dyn Fn(&mut Encoder<'_>)| {
        let mut datagram = Vec::new();
        write(&mut Encoder::new(&mut datagram, guid(2).prefix));
        core.handle(&datagram, PEER, now, &mut out, &mut inbox);
    };
    feed(&mut core, &|e| e.data(SPDP_READER, SPDP_WRITER, 1, None, &data(2, 7412).payload()));
    let watched = EndpointQos {
        deadline: Some(Duration::from_millis(20)),
        lifespan: Some(Duration::from_millis(50)),
        liveliness: Liveliness::ManualByParticipant,
        liveliness_lease: Some(Duration::from_millis(30)),
        ownership: Ownership::Exclusive { strength: 1 },
        ..EndpointQos::DEFAULT
    };
    for (n, reliable, base) in [(1, true, EndpointQos::DEFAULT), (2, false, watched)] {
        let spec = EndpointSpec {
            topic: format!("topic{n}"),
            type_name: "T".into(),
            qos: EndpointQos { reliable, transient_local: reliable, history: History::KeepLast(4), ..base },
            ..EndpointSpec::default()
        };
        let remote = |kind| Guid { entity: [0, 0, n, kind], ..guid(2) };
        let writer = EndpointData::local(remote(3), &spec, &[]).payload();
        let reader = EndpointData::local(remote(4), &spec, &[]).payload();
        feed(&mut core, &|e| e.data(SEDP_PUB_READER, SEDP_PUB_WRITER, i64::from(n), None, &writer));
        feed(&mut core, &|e| e.data(SEDP_SUB_READER, SEDP_SUB_WRITER, i64::from(n), None, &reader));
        let mut sent = Outbox::default();
        core.create_reader(spec.clone(), Arc::new(drop), now, &mut sent);
        let (local, _) = core.create_writer(spec, now, &mut sent);
        let big = Bytes::from(vec![0; 200_000]);
        for payload in [Bytes::from_static(&[0, 1, 0, 0, 1]), big] {
            core.write(local.entity, &payload, WriteOptions::default(), 0, now, &mut sent)
                .expect("invariant: the writer exists and the payload is valid");
        }
    }
    (core, guid(2))
}
