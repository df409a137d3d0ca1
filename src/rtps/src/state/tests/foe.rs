//! A participant that says whatever a test wants it to say.

use std::net::SocketAddr;
use std::time::Duration;

use super::sim::{Net, spec};
use crate::discovery::{BUILTIN_ENDPOINTS, EndpointData, ParticipantData, key_payload};
use crate::endpoint::EndpointQos;
use crate::guid::Guid;
use crate::wire::{
    Encoder, Entity, PARTICIPANT, Prefix, SEDP_PUB_READER, SEDP_PUB_WRITER, SEDP_SUB_READER, SEDP_SUB_WRITER,
    SPDP_READER, SPDP_WRITER,
};

/// One that is not simulated: only what it says exists.
pub(super) struct Foe {
    pub(super) prefix: Prefix,
    pub(super) at: SocketAddr,
    /// Announcements of writers and readers so far.
    pub(super) announced: [i64; 2],
    pub(super) count: i32,
}

impl Foe {
    pub(super) fn new(n: u32) -> Self {
        let mut prefix = [1, 0x0f, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        prefix[8..].copy_from_slice(&n.to_be_bytes());
        Self { prefix, at: "10.0.9.9:7411".parse().unwrap(), announced: [0; 2], count: 0 }
    }

    /// Sends a message to a node; returns its size.
    pub(super) fn say(&self, net: &mut Net, node: usize, write: impl FnOnce(&mut Encoder<'_>)) -> usize {
        let mut bytes = Vec::new();
        write(&mut Encoder::new(&mut bytes, self.prefix));
        net.feed(node, &bytes, self.at);
        bytes.len()
    }

    /// Announces itself.
    pub(super) fn greet(&self, net: &mut Net, node: usize) {
        let data = ParticipantData {
            guid: Guid { prefix: self.prefix, entity: PARTICIPANT },
            metatraffic: vec![self.at],
            user: vec![self.at],
            lease: Duration::from_secs(1_000_000),
            builtin: BUILTIN_ENDPOINTS,
            receive_buffer: 0,
            user_data: Vec::new(),
        };
        self.say(net, node, |e| e.data(SPDP_READER, SPDP_WRITER, 1, None, &data.payload()));
    }

    /// Announces an endpoint.
    pub(super) fn create(
        &mut self,
        net: &mut Net,
        node: usize,
        entity: Entity,
        topic: &str,
        qos: EndpointQos,
    ) {
        self.create_at(net, node, entity, topic, qos, &[]);
    }

    /// Announces an endpoint with addresses of its own.
    pub(super) fn create_at(
        &mut self,
        net: &mut Net,
        node: usize,
        entity: Entity,
        topic: &str,
        qos: EndpointQos,
        locators: &[SocketAddr],
    ) {
        let guid = Guid { prefix: self.prefix, entity };
        let reads = guid.is_reader();
        let payload = EndpointData::local(guid, &spec(topic, qos), locators).payload();
        let (reader, writer) =
            if reads { (SEDP_SUB_READER, SEDP_SUB_WRITER) } else { (SEDP_PUB_READER, SEDP_PUB_WRITER) };
        self.announced[usize::from(reads)] += 1;
        let seq = self.announced[usize::from(reads)];
        self.say(net, node, |e| e.data(reader, writer, seq, None, &payload));
    }

    /// Withdraws a writer.
    pub(super) fn withdraw(&mut self, net: &mut Net, node: usize, entity: Entity) {
        let guid = Guid { prefix: self.prefix, entity };
        self.announced[0] += 1;
        let (seq, key) = (self.announced[0], key_payload(guid));
        self.say(net, node, |e| e.dispose(SEDP_PUB_READER, SEDP_PUB_WRITER, seq, guid.as_bytes(), &key));
    }

    /// The next number for a heartbeat or request.
    pub(super) fn counted(&mut self) -> i32 {
        self.count += 1;
        self.count
    }
}
