use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rostrans_rtps::{DiscoveryRange, EndpointQos, EndpointSpec, History, Participant, ParticipantConfig};

use super::{Engine, Failure, KEEP_ALL_BYTES, SOCKET_BUFFER, Sink, Topic, Writer};

pub(super) struct Ours(Participant);

/// How long a keep-all writer waits for room.
const MAX_BLOCKING: Duration = Duration::from_secs(10);

impl Ours {
    pub(super) fn open(domain: u16) -> Result<Self, Failure> {
        let config = ParticipantConfig {
            domain,
            range: DiscoveryRange::Localhost,
            socket_buffer: SOCKET_BUFFER,
            ..ParticipantConfig::default()
        };
        Ok(Self(Participant::new(config)?))
    }
}

impl Engine for Ours {
    fn writer(&self, topic: &Topic) -> Result<Box<dyn Writer>, Failure> {
        Ok(Box::new(OurWriter(self.0.create_writer(spec(topic))?)))
    }

    fn reader(&self, topic: &Topic, sink: Sink) -> Result<Box<dyn Any>, Failure> {
        let sink =
            Arc::new(move |sample: rostrans_rtps::Sample| sink(sample.payload.get(4..).unwrap_or_default()));
        Ok(Box::new(self.0.create_reader(spec(topic), sink)?))
    }

    fn note(&self) -> String {
        format!("{:?}", self.0.stats())
    }
}

fn spec(topic: &Topic) -> EndpointSpec {
    let history = match topic.keep_all {
        true => History::KeepAll { bytes: KEEP_ALL_BYTES },
        false => History::KeepLast(topic.depth()),
    };
    EndpointSpec {
        topic: format!("rt/{}", topic.name),
        type_name: topic.type_name.into(),
        qos: EndpointQos {
            reliable: topic.reliable,
            history,
            max_blocking: MAX_BLOCKING,
            ..EndpointQos::default()
        },
        ..EndpointSpec::default()
    }
}

struct OurWriter(rostrans_rtps::Writer);

impl Writer for OurWriter {
    fn matched(&self) -> usize {
        self.0.matched()
    }

    fn write(&self, cdr: &[u8]) -> bool {
        self.0.write(&Bytes::copy_from_slice(cdr)).is_ok()
    }
}
