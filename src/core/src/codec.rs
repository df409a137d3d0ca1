//! Codecs: between frames and CDR.
//!
//! A [`Codec`] is registered once; it describes itself ([`CodecInfo`]) and builds one instance per link and role.
//! Instances are `&mut`, owned by the task that runs them: no locks inside codecs.

mod error;
mod frame_out;

pub use error::{DecodeError, EncodeError};
pub use frame_out::FrameOut;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_schema::TypeName;
use thiserror::Error;

use crate::{
    clock::RosTime,
    emit::Emit,
    rule::{ForwardRule, LinkConfig},
    topic::Qos,
    transport::{Frame, Framing},
};

/// Index of a codec's port in [`CodecInfo::ports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u8);

/// One topic a codec emits or accepts.
#[derive(Clone, Copy, Debug)]
pub struct PortInfo {
    /// Name used in `ports:`.
    pub name: &'static str,
    /// Message type in the ROS 2 spelling, or `None` when the link chooses it.
    pub msg_type: Option<&'static str>,
    /// QoS offered unless the link says otherwise.
    pub qos: Qos,
}

/// One service a decoder answers.
#[derive(Clone, Copy, Debug)]
pub struct ServiceInfo {
    /// Name used in `services:`.
    pub name: &'static str,
    /// Service type in the ROS 2 spelling.
    pub srv_type: &'static str,
}

/// One service call that waits for its answer; unique within a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// Which frames a decoder wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Every frame of the source.
    All,
    /// Frames with one of these tags (MAVLink msgids).
    Tags(&'static [u32]),
}

/// Where a decoder runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// In the transport's own task; microseconds at most.
    Inline,
    /// In the rule's worker, behind its queue.
    Queued,
}

/// What a codec can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Frames to topics.
    Decode,
    /// A topic to frames.
    Encode,
    /// A ROS service answered by a peer over frames.
    Exchange,
    /// Frames that call a ROS service.
    Caller,
}

/// A codec's self-description.
#[derive(Clone, Copy, Debug)]
pub struct CodecInfo {
    /// `family.what`, or one word for generic codecs.
    pub name: &'static str,
    /// One line for `rostrans --list-codecs`.
    pub doc: &'static str,
    /// What it can do.
    pub roles: &'static [Role],
    /// The topics it publishes (an encoder: reads); port 0 is the link's `topic`.
    pub ports: &'static [PortInfo],
    /// Topics a decoder reads besides its frames ([`Decoder::sample`]); bound in `ports:` like the others, by names
    /// that differ from theirs.
    pub inputs: &'static [PortInfo],
    /// Services a decoder answers ([`Decoder::call`]); bound in `services:`.
    pub services: &'static [ServiceInfo],
    /// How its bytes are framed.
    pub framing: Framing,
    /// Frames its decoder wants.
    pub interest: Interest,
    /// Where its decoder runs.
    pub cost: Cost,
    /// How often [`Decoder::tick`] runs, if at all.
    pub tick: Option<Duration>,
    /// Names of the options it understands, each with one line.
    pub options: &'static [(&'static str, &'static str)],
}

impl CodecInfo {
    /// Whether a decoder reads the topic bound under this name, rather than publishing it.
    pub fn reads(&self, port: &str) -> bool {
        self.inputs.iter().any(|input| input.name == port)
    }
}

/// What a codec is built from.
#[derive(Clone, Copy)]
pub struct CodecContext<'a> {
    /// The rule.
    pub rule: &'a ForwardRule,
    /// The link; its topics, service and options.
    pub link: &'a LinkConfig,
    /// All interface definitions.
    pub types: &'a Arc<rostrans_schema::TypeRegistry>,
}

/// Why a codec could not be built for a link.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CodecError {
    /// The codec lacks the role its direction needs.
    #[error("codec cannot {0}")]
    NoSuchRole(&'static str),
    /// An option is unknown or has an impossible value; the text says what is allowed.
    #[error("option '{option}': {problem}")]
    Option {
        /// The option's name.
        option: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// The link's type does not fit or is unknown.
    #[error("{0}")]
    Type(String),
}

/// A protocol, registered once under a name.
pub trait Codec: Send + Sync + 'static {
    /// Name, ports, roles, framing.
    fn info(&self) -> &'static CodecInfo;

    /// The only sender ([`Frame::sender`]) whose frames the link's decoder wants; `None` takes all frames.
    ///
    /// Frames of others never reach it: many vehicles behind one port would otherwise each look at all frames.
    fn sender(&self, _cx: &CodecContext<'_>) -> Option<u8> {
        None
    }

    /// The field of its packets that tells the simulator's time, which its decoders hand to
    /// [`Emit::simulated`](crate::emit::Emit::simulated); a clock's `source` names it.
    fn clock_field(&self) -> Option<&'static str> {
        None
    }

    /// Builds the frames-to-topics instance of a link.
    ///
    /// **Errors**: role missing, bad option, unknown type.
    fn decoder(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        Err(CodecError::NoSuchRole("decode frames to topics"))
    }

    /// Builds the topic-to-frames instance of a link.
    ///
    /// **Errors**: as [`Codec::decoder`].
    fn encoder(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        Err(CodecError::NoSuchRole("encode topics to frames"))
    }

    /// Builds the instance that answers a ROS service over frames.
    ///
    /// **Errors**: as [`Codec::decoder`].
    fn exchange(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Exchange>, CodecError> {
        Err(CodecError::NoSuchRole("answer a service over frames"))
    }

    /// Builds the instance that turns frames into service calls.
    ///
    /// **Errors**: as [`Codec::decoder`].
    fn caller(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Caller>, CodecError> {
        Err(CodecError::NoSuchRole("turn frames into service calls"))
    }
}

/// Frames to topics, for one link.
///
/// A decoder can be the whole conversation with a device: it may send frames, read topics
/// ([`CodecInfo::inputs`]) and answer services ([`CodecInfo::services`]). One with inputs or services must be
/// [`Cost::Queued`]: frames, samples, calls and ticks then come one at a time, in the rule's own task.
pub trait Decoder: Send {
    /// Handles one frame; publishes through `out`.
    ///
    /// **Errors**: the frame is not what this codec expects; it is counted and other traffic goes on.
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError>;

    /// Periodic call, every [`CodecInfo::tick`], whether or not frames arrive.
    fn tick(&mut self, _now: Instant, _out: &mut Emit<'_>) {}

    /// When [`Decoder::tick`] shall run once more besides [`CodecInfo::tick`]; asked after each call of another method.
    fn next_due(&self) -> Option<Instant> {
        None
    }

    /// Handles one sample of the topic bound to [`CodecInfo::inputs`]`[input]`.
    ///
    /// **Errors**: the sample does not fit the codec; it is counted.
    fn sample(&mut self, _input: Port, _sample: &Sample, _out: &mut Emit<'_>) -> Result<(), EncodeError> {
        Ok(())
    }

    /// Handles one call of the service bound to [`CodecInfo::services`]`[service]`; answers it through
    /// [`Emit::answer`], now or in any later call of this decoder. A call that is never answered hangs its caller.
    ///
    /// **Errors**: the request does not fit the codec; the call gets no answer.
    fn call(
        &mut self,
        _service: Port,
        _call: CallId,
        _request: &CdrBytes,
        _out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        Err(EncodeError::Cdr("the codec answers no service"))
    }

    /// The run ends: the last chance to answer open calls.
    fn close(&mut self, _out: &mut Emit<'_>) {}

    /// The latest error in its own words, naming the field; asked for when a log line is written. `None` leaves
    /// the text of the [`DecodeError`].
    fn explain(&self) -> Option<String> {
        None
    }
}

/// One received ROS message.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Encapsulation header and body.
    pub payload: CdrBytes,
    /// Source time.
    pub stamp: RosTime,
}

/// A topic to frames, for one link.
pub trait Encoder: Send {
    /// Handles one sample; writes frames to `out`.
    ///
    /// **Errors**: the sample does not fit the codec; it is counted.
    fn encode(&mut self, sample: &Sample, out: &mut FrameOut) -> Result<(), EncodeError>;
}

/// A ROS service spoken over frames, for one link.
pub trait Exchange: Send {
    /// Turns a request into frames.
    ///
    /// **Errors**: the request does not fit the codec; the caller is answered with a failure.
    fn request(&mut self, request: &CdrBytes, out: &mut FrameOut) -> Result<(), EncodeError>;

    /// Looks at a frame while a call is open.
    ///
    /// **Errors**: the frame is malformed; the call stays open.
    fn response(&mut self, frame: &Frame<'_>) -> Result<Reply, DecodeError>;

    /// Called when `timeout()` has passed without [`Reply::Done`]; `attempt` counts from 1.
    fn timed_out(&mut self, attempt: u32, out: &mut FrameOut) -> Retry;

    /// A response that says "failed": for a request that could not be expressed and for calls cut short by the
    /// end of the run. `None` answers with no response at all (the caller times out).
    fn failure(&mut self) -> Option<CdrBytes> {
        None
    }

    /// How long to wait for an answer before [`Exchange::timed_out`].
    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }

    /// True when an answer names its call (by a number, say), so that [`Exchange::response`] tells a late answer
    /// or another link's from the one it waits for.
    ///
    /// Without that, calls to one peer go one at a time, and none follows a timed-out one until late answers have
    /// had time to arrive and be thrown away.
    fn correlates(&self) -> bool {
        false
    }

    /// As [`Decoder::explain`], for [`Exchange::response`].
    fn explain(&self) -> Option<String> {
        None
    }
}

/// What a frame means to an open call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Not for this call.
    Unrelated,
    /// For this call; wait on (restarts the timeout).
    Progress,
    /// The answer.
    Done(CdrBytes),
}

/// What to do about a silent peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Frames were written again; wait once more.
    Again,
    /// Answer the caller with this; `None` answers with no response at all (the caller times out).
    GiveUp(Option<CdrBytes>),
}

/// Frames that call a ROS service, for one link.
pub trait Caller: Send {
    /// Reads a request from a frame; `None` when the frame is none.
    ///
    /// **Errors**: malformed frame; counted.
    fn request(&mut self, frame: &Frame<'_>) -> Result<Option<CdrBytes>, DecodeError>;

    /// Writes the answer for the peer that sent `frame`. An error text stands for "no service" or "timed out".
    ///
    /// **Errors**: the response does not fit the codec; counted.
    fn response(&mut self, response: Result<&CdrBytes, &str>, out: &mut FrameOut) -> Result<(), EncodeError>;

    /// Writes an answer for the sender of the frame that [`Caller::request`] has just refused; nothing by default.
    ///
    /// Must not answer what is an answer itself: two peers would go on for ever.
    fn refusal(&mut self, _out: &mut FrameOut) {}

    /// How long the service may take to answer.
    fn timeout(&self) -> Duration {
        CALL_TIMEOUT
    }

    /// As [`Decoder::explain`], for [`Caller::request`].
    fn explain(&self) -> Option<String> {
        None
    }
}

/// How long a service call may take, unless a codec says otherwise.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks a port's type against a link's; `true` when they agree or the port takes any type.
pub fn port_accepts(port: &PortInfo, msg_type: &TypeName) -> bool {
    port.msg_type.is_none_or(|t| t == msg_type.as_str())
}
