//! A codec that holds a conversation: it reads topics, answers services, sends frames and has timers.
//!
//! A sample or request `bad` does not fit, `panic` panics.

use std::time::{Duration, Instant};

use rostrans_cdr::{CdrBytes, CdrEncode, CdrSizer, CdrWriter};
use rostrans_core::{
    codec::{
        CallId, Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError,
        Interest, Port, PortInfo, Role, Sample, ServiceInfo,
    },
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};

use crate::codec::cdr;

const BASE: CodecInfo = CodecInfo {
    name: "talker",
    doc: "a conversation",
    roles: &[Role::Decode],
    ports: &[PortInfo { name: "heard", msg_type: None, qos: Qos::reliable() }],
    inputs: &[
        PortInfo { name: "say", msg_type: None, qos: Qos::sensor_data() },
        PortInfo { name: "shout", msg_type: None, qos: Qos::sensor_data() },
    ],
    services: &[
        ServiceInfo { name: "ask", srv_type: "std_srvs/srv/SetBool" },
        ServiceInfo { name: "count", srv_type: "std_srvs/srv/SetBool" },
    ],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Queued,
    tick: None,
    options: &[("sender", "the only one heard")],
};

/// In the rule's worker.
pub(crate) static TALKER: CodecInfo = BASE;
/// Without inputs and services, in the transport's task.
pub(crate) static ALARM: CodecInfo =
    CodecInfo { name: "alarm", inputs: &[], services: &[], cost: Cost::Inline, ..BASE };

pub(crate) struct Talker(pub(crate) &'static CodecInfo);

impl Codec for Talker {
    fn info(&self) -> &'static CodecInfo {
        self.0
    }

    /// The option `sender`.
    fn sender(&self, cx: &CodecContext<'_>) -> Option<u8> {
        cx.link.options.0.get("sender")?.as_u64()?.try_into().ok()
    }

    fn decoder(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        Ok(Box::new(Instance::default()))
    }
}

#[derive(Default)]
struct Instance {
    open: Vec<CallId>,
    frames: u32,
    due: Option<Instant>,
    nags: bool,
}

impl Decoder for Instance {
    /// `=` and a body answers the oldest call, `alarm` asks for a tick in two seconds, `nag` for one at once.
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        self.frames += 1;
        match frame.bytes {
            [b'=', body @ ..] if !self.open.is_empty() => out.answer(self.open.remove(0), &Body(body)),
            b"alarm" => self.due = Some(frame.received + Duration::from_secs(2)),
            b"nag" => (self.due, self.nags) = (Some(frame.received), true),
            b"panic" => panic!("told to"),
            bytes => {
                let stamp = out.stamp();
                out.forward(Port(0), stamp, &cdr(bytes));
            }
        }
        Ok(())
    }

    fn tick(&mut self, _now: Instant, out: &mut Emit<'_>) {
        self.due = self.due.filter(|_| self.nags);
        let stamp = out.stamp();
        out.forward(Port(0), stamp, &cdr(b"due"));
    }

    fn next_due(&self) -> Option<Instant> {
        self.due
    }

    /// Sends what is said; in capitals what is shouted.
    fn sample(&mut self, input: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        let body = sample.payload.body();
        match (body, input) {
            (b"bad", _) => return Err(EncodeError::OutOfRange("body")),
            (b"panic", _) => panic!("told to"),
            (b"alarm", _) => self.due = Some(out.received() + Duration::from_secs(2)),
            (_, Port(0)) => out.reply(body),
            _ => out.reply(&body.to_ascii_uppercase()),
        }
        Ok(())
    }

    /// `ask` sends the question and answers when a frame does, `count` answers the number of frames so far.
    fn call(
        &mut self,
        service: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        match (request.body(), service) {
            (b"bad", _) => return Err(EncodeError::OutOfRange("body")),
            (b"panic", _) => panic!("told to"),
            (body, Port(0)) => {
                out.reply(body);
                if body != b"mute" {
                    self.open.push(call);
                }
            }
            _ => {
                out.answer(call, &Body(self.frames.to_string().as_bytes()));
                out.answer(call, &Body(b"once more"));
            }
        }
        Ok(())
    }

    fn close(&mut self, out: &mut Emit<'_>) {
        for call in self.open.drain(..) {
            out.answer(call, &Body(b"closing"));
        }
    }

    fn explain(&self) -> Option<String> {
        Some("field 'x': bad".to_owned())
    }
}

/// Bytes as a message.
struct Body<'a>(&'a [u8]);

impl CdrEncode for Body<'_> {
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.primitives(self.0.len(), 1);
    }

    fn encode(&self, writer: &mut CdrWriter<'_>) {
        writer.bytes(self.0);
    }
}
