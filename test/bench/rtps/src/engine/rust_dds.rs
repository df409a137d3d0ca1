use std::any::Any;
use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, executor::block_on, pin_mut};
use rustdds::no_key::{Decode, DefaultDecoder, DeserializerAdapter, SerializerAdapter};
use rustdds::policy::{History, Reliability};
use rustdds::{
    DataWriterStatus, DomainParticipant, DomainParticipantBuilder, QosPolicies, QosPolicyBuilder,
    RepresentationIdentifier, StatusEvented, TopicKind, no_key,
};

use super::{Engine, Failure, SOCKET_BUFFER, Sink, Topic, Writer};

pub(super) struct RustDds(DomainParticipant);

/// How long a keep-all writer waits for room.
const MAX_BLOCKING: Duration = Duration::from_secs(10);

impl RustDds {
    pub(super) fn open(domain: u16) -> Result<Self, Failure> {
        let participant = DomainParticipantBuilder::new(domain)
            .socket_receive_buffer_size(SOCKET_BUFFER)
            .socket_send_buffer_size(SOCKET_BUFFER)
            .build()?;
        Ok(Self(participant))
    }

    fn topic(&self, topic: &Topic, qos: &QosPolicies) -> Result<rustdds::Topic, Failure> {
        let (name, type_name) = (format!("rt/{}", topic.name), topic.type_name.to_owned());
        Ok(self.0.create_topic(name, type_name, qos, TopicKind::NoKey)?)
    }
}

impl Engine for RustDds {
    fn writer(&self, topic: &Topic) -> Result<Box<dyn Writer>, Failure> {
        let qos = qos(topic);
        let on = self.topic(topic, &qos)?;
        let publisher = self.0.create_publisher(&qos)?;
        let writer = publisher.create_datawriter_no_key(&on, None)?;
        Ok(Box::new(RustDdsWriter { writer, matched: Cell::new(0) }))
    }

    fn reader(&self, topic: &Topic, sink: Sink) -> Result<Box<dyn Any>, Failure> {
        let qos = qos(topic);
        let on = self.topic(topic, &qos)?;
        let subscriber = self.0.create_subscriber(&qos)?;
        let reader = subscriber.create_simple_datareader_no_key::<Bytes, Raw>(&on, None)?;
        let thread = std::thread::spawn(move || {
            let stream = reader.as_async_stream();
            pin_mut!(stream);
            block_on(async {
                while let Some(sample) = stream.next().await {
                    if let Ok(sample) = sample {
                        sink(&sample.into_value());
                    }
                }
            });
        });
        Ok(Box::new((subscriber, thread)))
    }
}

fn qos(topic: &Topic) -> QosPolicies {
    QosPolicyBuilder::new()
        .reliability(match topic.reliable {
            true => Reliability::Reliable { max_blocking_time: MAX_BLOCKING.into() },
            false => Reliability::BestEffort,
        })
        .history(match topic.keep_all {
            true => History::KeepAll,
            false => History::KeepLast { depth: topic.depth() as i32 },
        })
        .build()
}

struct RustDdsWriter {
    writer: no_key::DataWriter<Bytes, Raw>,
    matched: Cell<usize>,
}

impl Writer for RustDdsWriter {
    fn matched(&self) -> usize {
        while let Some(status) = self.writer.try_recv_status() {
            if let DataWriterStatus::PublicationMatched { current, .. } = status {
                self.matched.set(usize::try_from(current.count()).unwrap_or(0));
            }
        }
        self.matched.get()
    }

    fn write(&self, cdr: &[u8]) -> bool {
        self.writer.write(Bytes::copy_from_slice(cdr.get(4..).unwrap_or_default()), None).is_ok()
    }
}

/// Passes the body of a message through.
struct Raw;

#[derive(Clone)]
struct RawDecoder;

impl SerializerAdapter<Bytes> for Raw {
    type Error = Infallible;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(value: &Bytes) -> Result<Bytes, Infallible> {
        Ok(value.clone())
    }
}

impl DeserializerAdapter<Bytes> for Raw {
    type Error = Infallible;
    type Decoded = Bytes;

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        &[RepresentationIdentifier::CDR_LE]
    }

    fn transform_decoded(decoded: Bytes) -> Bytes {
        decoded
    }
}

impl DefaultDecoder<Bytes> for Raw {
    type Decoder = RawDecoder;
    const DECODER: RawDecoder = RawDecoder;
}

impl Decode<'_, Bytes> for RawDecoder {
    type Error = Infallible;

    fn decode_bytes(self, input: &[u8], _: RepresentationIdentifier) -> Result<Bytes, Infallible> {
        Ok(Bytes::copy_from_slice(input))
    }
}
