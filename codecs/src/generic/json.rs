//! `json`: messages and service calls as JSON objects.

use std::{sync::Arc, time::Duration};

use bytes::{BufMut, BytesMut};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{
        Caller, Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Encoder,
        Exchange, FrameOut, Interest, Port, PortInfo, Reply, Retry, Role, Sample,
    },
    emit::Emit,
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
/// `bool`); other callers get no response and time out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonCodec;

const INFO: CodecInfo = CodecInfo {
    name: "json",
    doc: "any message or service as one JSON object a frame",
    roles: &[Role::Decode, Role::Encode, Role::Exchange, Role::Caller],
    ports: &[PortInfo { name: "message", msg_type: None, qos: Qos::reliable() }],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Queued,
    tick: None,
    options: &[types::TIMEOUT],
};

impl Codec for JsonCodec {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        Options::new(cx, &INFO)?;
        Ok(Box::new(JsonDecoder { message: types::message(cx)?, pool: BytesMut::new() }))
    }

    fn encoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        Options::new(cx, &INFO)?;
        Ok(Box::new(JsonEncoder { message: types::message(cx)? }))
    }

    fn exchange(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Exchange>, CodecError> {
        let timeout = types::timeout(&Options::new(cx, &INFO)?)?;
        Ok(Box::new(JsonExchange { service: types::service(cx)?, timeout, pool: BytesMut::new() }))
    }

    fn caller(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Caller>, CodecError> {
        Options::new(cx, &INFO)?;
        Ok(Box::new(JsonCaller { service: types::service(cx)?, pool: BytesMut::new() }))
    }
}

struct JsonDecoder {
    message: Arc<MessageType>,
    pool: BytesMut,
}

impl Decoder for JsonDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let sample = to_cdr(&self.message, &parse(frame)?, &mut self.pool)?;
        out.forward(Port(0), out.stamp(), &sample);
        Ok(())
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
    pool: BytesMut,
}

impl Exchange for JsonExchange {
    fn request(&mut self, request: &CdrBytes, out: &mut FrameOut) -> Result<(), EncodeError> {
        write(self.service.request(), request, out)
    }

    fn response(&mut self, frame: &Frame<'_>) -> Result<Reply, DecodeError> {
        let value = parse(frame)?;
        let response = self.service.response();
        match error_of(response, &value) {
            // The caller learns as much as the type can say; without a word for it, waiting on ends in a timeout.
            Some(reason) => Ok(types::failure(response, reason).map_or(Reply::Unrelated, Reply::Done)),
            None => to_cdr(response, &value, &mut self.pool).map(Reply::Done),
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
}

struct JsonCaller {
    service: Arc<ServiceType>,
    pool: BytesMut,
}

impl Caller for JsonCaller {
    fn request(&mut self, frame: &Frame<'_>) -> Result<Option<CdrBytes>, DecodeError> {
        to_cdr(self.service.request(), &parse(frame)?, &mut self.pool).map(Some)
    }

    fn response(&mut self, response: Result<&CdrBytes, &str>, out: &mut FrameOut) -> Result<(), EncodeError> {
        match response {
            Ok(response) => write(self.service.response(), response, out),
            Err(reason) => write_value(&json!({ "error": reason }), out),
        }
    }
}

fn parse(frame: &Frame<'_>) -> Result<Value, DecodeError> {
    serde_json::from_slice(frame.bytes).map_err(|_| DecodeError::Text("JSON"))
}

/// The reason in `{"error": "reason"}`, unless the response has a field of that name.
fn error_of<'a>(response: &MessageType, value: &'a Value) -> Option<&'a str> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let reason = object.get("error")?.as_str()?;
    response.shape().fields().iter().all(|field| &*field.name != "error").then_some(reason)
}

fn to_cdr(message: &MessageType, value: &Value, pool: &mut BytesMut) -> Result<CdrBytes, DecodeError> {
    message.json_to_cdr(value, pool).map_err(|error| {
        tracing::debug!(msg_type = %message.name(), error = rostrans_core::text::chain(&error), "JSON object refused");
        DecodeError::Schema("unknown field or wrong value")
    })
}

fn write(message: &MessageType, sample: &CdrBytes, out: &mut FrameOut) -> Result<(), EncodeError> {
    let value =
        message.cdr_to_json(sample).map_err(|_| EncodeError::Cdr("not a sample of the link's type"))?;
    write_value(&value, out)
}

fn write_value(value: &Value, out: &mut FrameOut) -> Result<(), EncodeError> {
    serde_json::to_writer(out.frame().writer(), value).map_err(|_| EncodeError::OutOfRange("value"))
}
