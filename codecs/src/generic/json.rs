//! `json`: messages and service calls as JSON objects.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use bytes::{BufMut, BytesMut};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{
        Caller, Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Encoder,
        Exchange, FrameOut, Interest, Port, PortInfo, Reply, Retry, Role, Sample,
    },
    emit::Emit,
    text::chain,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_schema::{MessageType, ServiceType};
use serde_json::{Value, json};

use super::types;
use crate::options::Options;

/// Any message or service, one JSON object a frame.
///
/// Coming in, missing fields get their defaults, unknown ones are refused; floats may be `"NaN"`, `"Infinity"`,
/// `"-Infinity"`, octet arrays base64 text. Going out, all fields are there.
///
/// | role | frame | answer |
/// |---|---|---|
/// | decode, encode | the message | |
/// | answer a service | request object to the peer | its next valid response object, or `{"error": "reason"}` |
/// | call a service | request object from the peer | response object, or `{"error": "reason"}` |
///
/// An error or silence of the peer fails the call, for services that can say so (their response starts with a
/// `bool`); other callers get no response and time out. With the option `id_field`, a request carries a number under
/// that name, and only a response with the same number answers it. Without, a response is known by its sender alone.
///
/// Every frame is parsed and checked whether or not anyone subscribes, so that errors show from the first frame. A
/// request that is refused is answered with the reason, unless it is an `{"error": ...}` itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonCodec;

const INFO: CodecInfo = CodecInfo {
    name: "json",
    doc: "any message or service as one JSON object a frame",
    roles: &[Role::Decode, Role::Encode, Role::Exchange, Role::Caller],
    ports: &[PortInfo { name: "message", msg_type: None, qos: Qos::reliable() }],
    inputs: &[],
    services: &[],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Queued,
    tick: None,
    options: &[types::TIMEOUT, ID_FIELD],
};

/// Name of the option `id_field`.
const ID: &str = "id_field";

/// Describes `id_field`.
const ID_FIELD: (&str, &str) = (
    ID,
    "rosservice_to_udp: name of a field with a number that is added to each request and must come back in its response",
);

impl Codec for JsonCodec {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        without_id(&Options::new(cx, &INFO)?)?;
        Ok(Box::new(JsonDecoder { message: types::message(cx)?, reader: Reader::default() }))
    }

    fn encoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        without_id(&Options::new(cx, &INFO)?)?;
        Ok(Box::new(JsonEncoder { message: types::message(cx)? }))
    }

    fn exchange(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Exchange>, CodecError> {
        let options = Options::new(cx, &INFO)?;
        let (service, timeout) = (types::service(cx)?, types::timeout(&options)?);
        let id = CallId::new(&options, &service)?;
        Ok(Box::new(JsonExchange { service, timeout, id, reader: Reader::default() }))
    }

    fn caller(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Caller>, CodecError> {
        let options = Options::new(cx, &INFO)?;
        without_id(&options)?;
        let (service, timeout, reader) = (types::service(cx)?, types::timeout(&options)?, Reader::default());
        Ok(Box::new(JsonCaller { service, timeout, reader, refused_answer: false }))
    }
}

struct JsonDecoder {
    message: Arc<MessageType>,
    reader: Reader,
}

impl Decoder for JsonDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let value = self.reader.parse(frame)?;
        let sample = self.reader.convert(&self.message, &value)?;
        out.forward(Port(0), out.stamp(), &sample);
        Ok(())
    }

    fn explain(&self) -> Option<String> {
        Some(self.reader.problem.clone())
    }
}

struct JsonEncoder {
    message: Arc<MessageType>,
}

impl Encoder for JsonEncoder {
    fn encode(&mut self, sample: &Sample, out: &mut FrameOut) -> Result<(), EncodeError> {
        write(&self.message, &sample.payload, out)
    }
}

struct JsonExchange {
    service: Arc<ServiceType>,
    timeout: Duration,
    id: Option<CallId>,
    reader: Reader,
}

impl Exchange for JsonExchange {
    fn request(&mut self, request: &CdrBytes, out: &mut FrameOut) -> Result<(), EncodeError> {
        let mut value = read(self.service.request(), request)?;
        if let (Some(id), Some(object)) = (&mut self.id, value.as_object_mut()) {
            id.latest += 1;
            object.insert(id.field.clone(), id.latest.into());
        }
        write_value(&value, out)
    }

    fn response(&mut self, frame: &Frame<'_>) -> Result<Reply, DecodeError> {
        let mut value = self.reader.parse(frame)?;
        if let Some(id) = &self.id {
            match value.as_object_mut().and_then(|object| object.remove(&id.field)) {
                Some(number) if number == id.latest => {}
                Some(_) => return Ok(Reply::Unrelated),
                None => {
                    return Err(self
                        .reader
                        .refuse(&format!("no '{}', which each response must have", id.field)));
                }
            }
        }
        let response = self.service.response();
        match error_of(response, &value) {
            // The caller learns as much as the type can say; without a word for it, waiting on ends in a timeout.
            Some(reason) => Ok(types::failure(response, reason).map_or(Reply::Unrelated, Reply::Done)),
            None => self.reader.convert(response, &value).map(Reply::Done),
        }
    }

    fn timed_out(&mut self, _: u32, _: &mut FrameOut) -> Retry {
        // Asking again could act twice.
        Retry::GiveUp(types::failure(self.service.response(), "the peer did not answer in time"))
    }

    fn failure(&mut self) -> Option<CdrBytes> {
        types::failure(self.service.response(), "the call failed")
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn correlates(&self) -> bool {
        self.id.is_some()
    }

    fn explain(&self) -> Option<String> {
        Some(self.reader.problem.clone())
    }
}

/// The number that pairs a response with its request.
struct CallId {
    field: String,
    latest: u64,
}

impl CallId {
    /// The option `id_field`, if it is given.
    fn new(options: &Options<'_>, service: &ServiceType) -> Result<Option<Self>, CodecError> {
        let field = options.text(ID, "")?;
        if field.is_empty() {
            return Ok(None);
        }
        for message in [service.request(), service.response()] {
            if has_field(message, field) {
                let problem = format!("'{field}' is a field of {} already; choose another", message.name());
                return Err(CodecError::Option { option: ID.to_owned(), problem });
            }
        }
        // Not the same numbers after each start: the peer may still owe an answer to the run before. They stay far below
        // 2^53, up to which any JSON program keeps integers.
        let latest = RandomState::new().hash_one(field) >> 32;
        Ok(Some(Self { field: field.to_owned(), latest }))
    }
}

struct JsonCaller {
    service: Arc<ServiceType>,
    timeout: Duration,
    reader: Reader,
    /// The frame that was refused last is an `{"error": ...}`.
    refused_answer: bool,
}

impl Caller for JsonCaller {
    fn request(&mut self, frame: &Frame<'_>) -> Result<Option<CdrBytes>, DecodeError> {
        self.refused_answer = false;
        let value = self.reader.parse(frame)?;
        self.refused_answer = value.as_object().is_some_and(|o| o.len() == 1 && o.contains_key("error"));
        self.reader.convert(self.service.request(), &value).map(Some)
    }

    fn response(&mut self, response: Result<&CdrBytes, &str>, out: &mut FrameOut) -> Result<(), EncodeError> {
        match response {
            Ok(response) => write(self.service.response(), response, out),
            Err(reason) => write_value(&json!({ "error": reason }), out),
        }
    }

    fn refusal(&mut self, out: &mut FrameOut) {
        if !self.refused_answer {
            out.frame().put_slice(json!({ "error": self.reader.problem }).to_string().as_bytes());
        }
    }

    fn explain(&self) -> Option<String> {
        Some(self.reader.problem.clone())
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// Reads JSON objects, and remembers what was wrong with the one it refused last.
#[derive(Default)]
struct Reader {
    pool: BytesMut,
    problem: String,
}

impl Reader {
    fn parse(&mut self, frame: &Frame<'_>) -> Result<Value, DecodeError> {
        serde_json::from_slice(frame.bytes).map_err(|error| {
            self.refuse(&format!("not valid JSON: {error}"));
            DecodeError::Text("JSON")
        })
    }

    fn convert(&mut self, message: &MessageType, value: &Value) -> Result<CdrBytes, DecodeError> {
        if !value.is_object() {
            return Err(self.refuse("not a JSON object"));
        }
        message.json_to_cdr(value, &mut self.pool).map_err(|error| self.refuse(&chain(&error)))
    }

    /// Keeps the beginning of `problem`, which may quote what came in.
    fn refuse(&mut self, problem: &str) -> DecodeError {
        let fit = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        self.problem = problem.chars().map(fit).take(MAX_PROBLEM).collect();
        DecodeError::Schema("unknown field or wrong value")
    }
}

/// Longest text about a refused object, in characters.
const MAX_PROBLEM: usize = 200;

/// Refuses `id_field` where nothing would be done with it.
fn without_id(options: &Options<'_>) -> Result<(), CodecError> {
    if options.text(ID, "")?.is_empty() {
        return Ok(());
    }
    let problem = "only rosservice_to_udp adds it to its requests; delete it here".to_owned();
    Err(CodecError::Option { option: ID.to_owned(), problem })
}

fn has_field(message: &MessageType, name: &str) -> bool {
    message.shape().fields().iter().any(|field| &*field.name == name)
}

/// The reason in `{"error": "reason"}`, unless the response has a field of that name.
fn error_of<'a>(response: &MessageType, value: &'a Value) -> Option<&'a str> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let reason = object.get("error")?.as_str()?;
    (!has_field(response, "error")).then_some(reason)
}

fn read(message: &MessageType, sample: &CdrBytes) -> Result<Value, EncodeError> {
    message.cdr_to_json(sample).map_err(|_| EncodeError::Cdr("not a sample of the link's type"))
}

fn write(message: &MessageType, sample: &CdrBytes, out: &mut FrameOut) -> Result<(), EncodeError> {
    write_value(&read(message, sample)?, out)
}

fn write_value(value: &Value, out: &mut FrameOut) -> Result<(), EncodeError> {
    serde_json::to_writer(out.frame().writer(), value).map_err(|_| EncodeError::OutOfRange("value"))
}
