//! A codec that carries bytes as they are and does on command what codecs can do wrong.
//!
//! A frame `bad` does not decode, `panic` panics; a sample or request with such a body likewise.

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::{Duration, Instant},
};

use bytes::Bytes;
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

/// Bytes as a sample.
pub(crate) fn cdr(body: &[u8]) -> CdrBytes {
    CdrBytes::new(Bytes::from([b"\0\x01\0\0", body].concat())).unwrap()
}

/// The codec; counts the instances it made.
pub(crate) struct Raw {
    info: &'static CodecInfo,
    pub(crate) made: AtomicU32,
}

impl Raw {
    pub(crate) const fn new(info: &'static CodecInfo) -> Self {
        Self { info, made: AtomicU32::new(0) }
    }
}

const BASE: CodecInfo = CodecInfo {
    name: "inline",
    doc: "bytes as they are",
    roles: &[Role::Decode, Role::Encode, Role::Exchange, Role::Caller],
    ports: &[
        PortInfo { name: "main", msg_type: None, qos: Qos::reliable() },
        PortInfo { name: "copy", msg_type: None, qos: Qos::reliable() },
    ],
    inputs: &[],
    services: &[],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Inline,
    tick: None,
    options: &[],
};

/// Decodes in the transport's task.
pub(crate) static INLINE: CodecInfo = BASE;
/// Decodes in the rule's worker.
pub(crate) static QUEUED: CodecInfo = CodecInfo { name: "queued", cost: Cost::Queued, ..BASE };
/// Wants tag 30 only.
pub(crate) static TAG_30: CodecInfo = CodecInfo { name: "tag_30", interest: Interest::Tags(&[30]), ..BASE };
/// Publishes `tick` and replies `beat` every second.
pub(crate) static TICKING: CodecInfo =
    CodecInfo { name: "ticking", tick: Some(Duration::from_secs(1)), ..BASE };
/// The same in the rule's worker.
pub(crate) static TICKING_QUEUED: CodecInfo =
    CodecInfo { name: "ticking_queued", cost: Cost::Queued, tick: Some(Duration::from_secs(1)), ..BASE };

/// Its answers name their call: they begin with its body.
pub(crate) static NAMING: CodecInfo = CodecInfo { name: "naming", ..BASE };

impl Codec for Raw {
    fn info(&self) -> &'static CodecInfo {
        self.info
    }

    fn decoder(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        self.made.fetch_add(1, SeqCst);
        Ok(Box::new(Instance::default()))
    }

    fn encoder(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        self.made.fetch_add(1, SeqCst);
        Ok(Box::new(Instance::default()))
    }

    fn exchange(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Exchange>, CodecError> {
        self.made.fetch_add(1, SeqCst);
        Ok(Box::new(Instance { naming: self.info.name == NAMING.name, ..Instance::default() }))
    }

    fn caller(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Caller>, CodecError> {
        self.made.fetch_add(1, SeqCst);
        let service = cx.link.service.as_ref().map_or_else(String::new, |spec| spec.name.to_string());
        Ok(Box::new(Instance { service, ..Instance::default() }))
    }
}

/// One link's instance.
#[derive(Default)]
struct Instance {
    /// The open request, for sending it again.
    request: Vec<u8>,
    naming: bool,
    /// The service a caller is for.
    service: String,
}

impl Decoder for Instance {
    /// Publishes the frame on both ports; answers `ping` with `pong`.
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        match frame.bytes {
            b"bad" => return Err(DecodeError::BadMagic),
            b"panic" => panic!("told to"),
            b"ping" => out.reply(b"pong"),
            _ => {}
        }
        let stamp = out.stamp();
        out.forward(Port(0), stamp, &cdr(frame.bytes));
        out.forward(Port(1), stamp, &cdr(frame.bytes));
        Ok(())
    }

    fn tick(&mut self, _now: Instant, out: &mut Emit<'_>) {
        let stamp = out.stamp();
        out.forward(Port(0), stamp, &cdr(b"tick"));
        out.reply(b"beat");
    }
}

impl Encoder for Instance {
    fn encode(&mut self, sample: &Sample, out: &mut FrameOut) -> Result<(), EncodeError> {
        out.frame().extend_from_slice(sample.payload.body());
        match sample.payload.body() {
            b"bad" => Err(EncodeError::OutOfRange("body")),
            b"panic" => panic!("told to"),
            _ => Ok(()),
        }
    }
}

impl Exchange for Instance {
    fn request(&mut self, request: &CdrBytes, out: &mut FrameOut) -> Result<(), EncodeError> {
        self.request = request.body().to_vec();
        Encoder::encode(self, &Sample { payload: request.clone(), stamp: Default::default() }, out)
    }

    /// `=` and a body answers, behind the request if the codec is `naming`; `...` asks for patience, `bad` is
    /// malformed.
    fn response(&mut self, frame: &Frame<'_>) -> Result<Reply, DecodeError> {
        match frame.bytes {
            b"bad" => Err(DecodeError::BadMagic),
            b"panic" => panic!("told to"),
            b"..." => Ok(Reply::Progress),
            bytes if self.naming => {
                let body = bytes.strip_prefix(&*self.request).and_then(|rest| rest.strip_prefix(b"="));
                Ok(body.map_or(Reply::Unrelated, |body| Reply::Done(cdr(body))))
            }
            [b'=', body @ ..] => Ok(Reply::Done(cdr(body))),
            _ => Ok(Reply::Unrelated),
        }
    }

    /// Asks three times in all.
    fn timed_out(&mut self, attempt: u32, out: &mut FrameOut) -> Retry {
        if attempt < 3 {
            out.frame().extend_from_slice(&self.request);
            return Retry::Again;
        }
        match &*self.request {
            b"mute" => Retry::GiveUp(None),
            _ => Retry::GiveUp(Some(cdr(b"no answer"))),
        }
    }

    fn failure(&mut self) -> Option<CdrBytes> {
        Some(cdr(b"failed"))
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn correlates(&self) -> bool {
        self.naming
    }

    fn explain(&self) -> Option<String> {
        Some("field 'x': bad".to_owned())
    }
}

impl Caller for Instance {
    /// `?` and a body is a request, `!` and a service name one that only that service takes.
    fn request(&mut self, frame: &Frame<'_>) -> Result<Option<CdrBytes>, DecodeError> {
        match frame.bytes {
            b"bad" => Err(DecodeError::BadMagic),
            b"panic" => panic!("told to"),
            [b'?', body @ ..] => Ok(Some(cdr(body))),
            [b'!', name @ ..] if name == self.service.as_bytes() => Ok(Some(cdr(name))),
            [b'!', ..] => Err(DecodeError::OutOfRange("service")),
            _ => Ok(None),
        }
    }

    fn response(&mut self, response: Result<&CdrBytes, &str>, out: &mut FrameOut) -> Result<(), EncodeError> {
        match response {
            Ok(response) => out.frame().extend_from_slice(&[b"=", response.body()].concat()),
            Err(reason) => out.frame().extend_from_slice(reason.as_bytes()),
        }
        Ok(())
    }

    fn refusal(&mut self, out: &mut FrameOut) {
        out.frame().extend_from_slice(b"refused");
    }

    /// The service `/slow` has more time.
    fn timeout(&self) -> Duration {
        Duration::from_secs(if self.service == "/slow" { 20 } else { 5 })
    }

    fn explain(&self) -> Option<String> {
        Some("field 'x': bad".to_owned())
    }
}
