//! `cdr`: serialized messages as they are.

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

use super::types;
use crate::options::Options;

/// Any message or service, one sample a frame: encapsulation header and CDR body.
///
/// Every sample is checked against its type, whether or not anyone subscribes. Big-endian and XCDR2 frames are taken
/// too and published as little-endian XCDR1. A service's frames are its request and response samples; a failed call is
/// answered with a response that starts with `false` where the type allows, else not at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CdrCodec;

const INFO: CodecInfo = CodecInfo {
    name: "cdr",
    doc: "any message or service as CDR with its 4-byte header, checked",
    roles: &[Role::Decode, Role::Encode, Role::Exchange, Role::Caller],
    ports: &[PortInfo { name: "message", msg_type: None, qos: Qos::reliable() }],
    inputs: &[],
    services: &[],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Inline,
    tick: None,
    options: &[types::TIMEOUT],
};

impl Codec for CdrCodec {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        Options::new(cx, &INFO)?;
        Ok(Box::new(CdrDecoder { message: types::message(cx)?, pool: BytesMut::new() }))
    }

    fn encoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        Options::new(cx, &INFO)?;
        Ok(Box::new(CdrEncoder { message: types::message(cx)? }))
    }

    fn exchange(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Exchange>, CodecError> {
        let timeout = types::timeout(&Options::new(cx, &INFO)?)?;
        Ok(Box::new(CdrExchange { service: types::service(cx)?, timeout, pool: BytesMut::new() }))
    }

    fn caller(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Caller>, CodecError> {
        let timeout = types::timeout(&Options::new(cx, &INFO)?)?;
        Ok(Box::new(CdrCaller { service: types::service(cx)?, timeout, pool: BytesMut::new() }))
    }
}

struct CdrDecoder {
    message: Arc<MessageType>,
    pool: BytesMut,
}

impl Decoder for CdrDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        if out.wants(Port(0)) {
            let sample = take(&self.message, frame, &mut self.pool)?;
            out.forward(Port(0), out.stamp(), &sample);
            return Ok(());
        }
        // Nobody subscribes yet, but the sender may want to know whether its frames are right.
        check(&self.message, frame.bytes).map(drop).ok_or(REFUSED)
    }
}

struct CdrEncoder {
    message: Arc<MessageType>,
}

impl Encoder for CdrEncoder {
    fn encode(&mut self, sample: &Sample, out: &mut FrameOut) -> Result<(), EncodeError> {
        give(&self.message, &sample.payload, out)
    }
}

struct CdrExchange {
    service: Arc<ServiceType>,
    timeout: Duration,
    pool: BytesMut,
}

impl Exchange for CdrExchange {
    fn request(&mut self, request: &CdrBytes, out: &mut FrameOut) -> Result<(), EncodeError> {
        give(self.service.request(), request, out)
    }

    fn response(&mut self, frame: &Frame<'_>) -> Result<Reply, DecodeError> {
        take(self.service.response(), frame, &mut self.pool).map(Reply::Done)
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

struct CdrCaller {
    service: Arc<ServiceType>,
    timeout: Duration,
    pool: BytesMut,
}

impl Caller for CdrCaller {
    fn request(&mut self, frame: &Frame<'_>) -> Result<Option<CdrBytes>, DecodeError> {
        take(self.service.request(), frame, &mut self.pool).map(Some)
    }

    fn response(&mut self, response: Result<&CdrBytes, &str>, out: &mut FrameOut) -> Result<(), EncodeError> {
        let failed = match response {
            Ok(response) => return give(self.service.response(), response, out),
            Err(reason) => types::failure(self.service.response(), reason),
        };
        if let Some(failed) = failed {
            out.frame().put_slice(&failed);
        }
        Ok(())
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// A checked little-endian XCDR1 copy of the frame, without what follows the value.
fn take(message: &MessageType, frame: &Frame<'_>, pool: &mut BytesMut) -> Result<CdrBytes, DecodeError> {
    let rest = check(message, frame.bytes).ok_or(REFUSED)?;
    if !frame.bytes.starts_with(&XCDR1_LE) {
        let value = message.decode(frame.bytes).map_err(|_| REFUSED)?;
        return message.encode(&value, pool).map_err(|_| REFUSED);
    }
    pool.clear();
    pool.put_slice(frame.bytes.get(..frame.bytes.len() - rest).unwrap_or_default());
    CdrBytes::new(pool.split().freeze()).ok_or(REFUSED)
}

fn give(message: &MessageType, sample: &CdrBytes, out: &mut FrameOut) -> Result<(), EncodeError> {
    check(message, sample).ok_or(EncodeError::Cdr("not a sample of the link's type"))?;
    out.frame().put_slice(sample);
    Ok(())
}

/// Octets behind the value; `None` when the bytes are no value of the type or too many follow.
fn check(message: &MessageType, sample: &[u8]) -> Option<usize> {
    match message.validate(sample) {
        Ok(rest) if rest <= MAX_REST => Some(rest),
        Ok(rest) => {
            tracing::debug!(msg_type = %message.name(), rest, "CDR refused: too many octets follow the value");
            None
        }
        Err(error) => {
            tracing::debug!(msg_type = %message.name(), error = rostrans_core::text::chain(&error), "CDR refused");
            None
        }
    }
}

const REFUSED: DecodeError = DecodeError::Schema("not a sample of the link's type");
/// Representation id of little-endian XCDR1.
const XCDR1_LE: [u8; 2] = [0, 1];
/// Octets behind a value that still pass: padding, and the generous estimates of some serializers (24 were seen). More
/// of them tell of another type.
const MAX_REST: usize = 32;
