//! A decoder made of copies: messages to topics, samples to messages.
//!
//! Most plugins of MAVROS copy the fields of one message to those of another. Here such a codec is its description
//! and one function for each pair of messages; what they have in common (whose messages count, who listens, whom to
//! send to) is done once.

use std::{
    fmt::{self, Write as _},
    sync::Arc,
    time::Instant,
};

use rostrans_cdr::{CdrBytes, CdrDecode, CdrEncode, from_cdr};
use rostrans_core::{
    clock::RosTime,
    codec::{
        CallId, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Interest, Port, Role, Sample,
    },
    emit::Emit,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Packet;
use rostrans_msgs::{RosService, RosType, mavros_msgs::srv};

use super::{
    dialect::{CommandAck, CommandLong, Message},
    transaction::{self, Outcome, Patience, Step, Transactions},
    uas::{MavContext, Talker, Uas},
    vehicle::{self, Vehicle},
};
use crate::options::Options;

pub(super) use crate::describe::{input, service, topic};

/// What relays that only publish have in common.
pub(super) const TELLS: CodecInfo = CodecInfo {
    name: "",
    doc: "",
    roles: &[Role::Decode],
    ports: &[],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[]),
    cost: Cost::Inline,
    tick: None,
    options: &[vehicle::SYSID],
};

/// What relays that also read topics have in common.
pub(super) const TALKS: CodecInfo = CodecInfo { cost: Cost::Queued, ..TELLS };

/// The decoder.
pub(super) struct Relay {
    info: &'static CodecInfo,
    vehicle: Vehicle,
    /// Messages of any system count.
    any_system: bool,
    uas: Arc<Uas>,
    talker: Talker,
    tells: Vec<Tell>,
    /// By input.
    hears: Vec<Hear>,
    /// By service.
    commands: Vec<Command>,
    /// Calls that wait for the vehicle, each with its service's index.
    calls: Transactions<(usize, CallId)>,
    /// Words for the latest sample that was refused.
    refusal: String,
}

/// A message to a topic.
struct Tell {
    msgids: &'static [u32],
    port: Port,
    publish: Publish,
}

type Publish = Box<dyn FnMut(&At<'_>, &mut Emit<'_>) + Send>;

/// A sample to messages.
type Hear = Box<dyn FnMut(&CdrBytes, &mut Wire<'_, '_>) -> Result<(), EncodeError> + Send>;

/// A service that is a command.
struct Command {
    ask: Ask,
    answer: fn(CallId, Outcome, &mut Emit<'_>),
}

type Ask = Box<dyn FnMut(&CdrBytes) -> Result<Option<CommandLong>, EncodeError> + Send>;

/// A response that tells what became of a command.
pub(super) trait Answer {
    fn of(outcome: Outcome) -> Self;
}

macro_rules! answers {
    ($($response:ident),+ $(,)?) => {$(
        impl Answer for srv::$response {
            fn of(Outcome { success, result }: Outcome) -> Self {
                Self { success, result }
            }
        }
    )+};
}

answers! {
    GimbalGetInformationResponse,
    GimbalManagerCameraTrackResponse,
    GimbalManagerConfigureResponse,
    GimbalManagerPitchyawResponse,
    GimbalManagerSetRoiResponse,
    MountConfigureResponse,
}

/// Where and when a message comes from.
pub(super) struct At<'a> {
    pub(super) packet: &'a Packet<'a>,
    pub(super) uas: &'a Uas,
    port: Port,
    received: RosTime,
}

impl At<'_> {
    /// When the message was received.
    pub(super) fn now(&self) -> RosTime {
        self.received
    }

    /// The time of a `time_boot_ms` field.
    pub(super) fn ms(&self, time_boot_ms: u32) -> RosTime {
        self.uas.stamp_ms(time_boot_ms, self.received)
    }

    /// The time of a `time_usec` field.
    pub(super) fn us(&self, time_usec: u64) -> RosTime {
        self.uas.stamp_us(time_usec, self.received)
    }
}

/// The way to the vehicle.
pub(super) struct Wire<'a, 'e> {
    uas: &'a Uas,
    talker: &'a mut Talker,
    refusal: &'a mut String,
    out: &'a mut Emit<'e>,
}

impl Wire<'_, '_> {
    /// When the sample came.
    pub(super) fn at(&self) -> Instant {
        self.out.received()
    }

    /// System and component id of the autopilot.
    pub(super) fn target(&self) -> (u8, u8) {
        (self.uas.target_system(), self.uas.target_component())
    }

    /// The present.
    pub(super) fn now(&self) -> RosTime {
        self.out.stamp()
    }

    /// The geoid's height above the ellipsoid at the vehicle, in metres.
    pub(super) fn undulation(&self) -> f64 {
        self.uas.undulation()
    }

    /// Refuses a sample for this field; `words` tell what it has, should somebody ask.
    pub(super) fn refuse(&mut self, field: &'static str, words: fmt::Arguments<'_>) -> EncodeError {
        self.refusal.clear();
        // A String takes everything.
        let _infallible = self.refusal.write_fmt(words);
        EncodeError::OutOfRange(field)
    }

    /// Sends a message, unless the vehicle was not heard yet: there is nobody to send to then.
    pub(super) fn send<M: Message>(&mut self, message: &M) {
        self.talker.send(message, self.out);
    }

    /// Sends a message in the name of another component of ours.
    pub(super) fn send_as<M: Message>(&mut self, compid: u8, message: &M) {
        self.talker.send_as(compid, message, self.out);
    }
}

impl Relay {
    /// One without copies yet.
    ///
    /// **Errors**: bad options.
    pub(super) fn new(cx: &MavContext<'_>, info: &'static CodecInfo) -> Result<Self, CodecError> {
        Ok(Self {
            info,
            vehicle: Vehicle::new(&Options::new(cx, info)?)?,
            any_system: false,
            uas: Arc::clone(&cx.uas),
            talker: Talker::new(cx),
            tells: Vec::new(),
            hears: Vec::new(),
            commands: Vec::new(),
            refusal: String::new(),
            calls: Transactions::new(Patience::default(), cx.uas.underway()),
        })
    }

    /// Takes messages of any system.
    pub(super) fn of_any(self) -> Self {
        Self { any_system: true, ..self }
    }

    /// Publishes each `M` on a topic of the codec. `ros` is kept, so that nothing is allocated for a message.
    pub(super) fn tell<M, R>(
        self,
        topic: &str,
        ros: R,
        mut copy: impl FnMut(&M, &mut R, &At<'_>) + Send + 'static,
    ) -> Self
    where
        M: Message + 'static,
        R: CdrEncode + Send + 'static,
    {
        self.tell_if::<M, R>(const { &[M::ID] }, topic, ros, move |m, ros, at| {
            copy(m, ros, at);
            true
        })
    }

    /// Publishes messages of the layout of `M` for which `copy` is true.
    pub(super) fn tell_if<M, R>(
        mut self,
        msgids: &'static [u32],
        topic: &str,
        mut ros: R,
        mut copy: impl FnMut(&M, &mut R, &At<'_>) -> bool + Send + 'static,
    ) -> Self
    where
        M: Message,
        R: CdrEncode + Send + 'static,
    {
        let found = self.info.ports.iter().position(|port| port.name == topic);
        let index = found.and_then(|index| u8::try_from(index).ok());
        let port = Port(index.expect("invariant: a codec names its own ports"));
        let publish = move |at: &At<'_>, out: &mut Emit<'_>| {
            if copy(&M::decode(at.packet.payload), &mut ros, at) {
                out.publish(at.port, at.received, &ros);
            }
        };
        self.tells.push(Tell { msgids, port, publish: Box::new(publish) });
        self
    }

    /// Sends what `take` makes of each sample of the codec's next input.
    pub(super) fn hear<R: CdrDecode + RosType>(
        mut self,
        mut take: impl FnMut(&R, &mut Wire<'_, '_>) -> Result<(), EncodeError> + Send + 'static,
    ) -> Self {
        self.hears.push(Box::new(move |sample, wire| {
            let sample: R = from_cdr(sample).map_err(|_| EncodeError::Cdr(R::TYPE))?;
            take(&sample, wire)
        }));
        self
    }

    /// Answers the codec's next service with what becomes of the command that `ask` makes of a request; of none it
    /// is denied. The codec must take COMMAND_ACK.
    pub(super) fn command<S: RosService<Response: Answer>>(
        mut self,
        mut ask: impl FnMut(&S::Request) -> Option<CommandLong> + Send + 'static,
    ) -> Self {
        self.commands.push(Command {
            ask: Box::new(move |request| {
                let request = from_cdr(request).map_err(|_| EncodeError::Cdr(S::TYPE))?;
                Ok(ask(&request))
            }),
            answer: |call, outcome, out| out.answer(call, &S::Response::of(outcome)),
        });
        self
    }

    /// The whole.
    pub(super) fn done(self) -> Result<Box<dyn Decoder>, CodecError> {
        debug_assert_eq!(self.hears.len(), self.info.inputs.len(), "{}", self.info.name);
        debug_assert_eq!(self.commands.len(), self.info.services.len(), "{}", self.info.name);
        Ok(Box::new(self))
    }
}

impl Decoder for Relay {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let packet = if self.any_system {
            Packet::parse(frame.bytes).ok_or(DecodeError::BadMagic)?
        } else {
            let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
            packet
        };
        if packet.msgid == CommandAck::ID && !self.commands.is_empty() {
            let ack = CommandAck::decode(packet.payload);
            if let Some((call, outcome)) = self.calls.acknowledged(&ack, self.uas.own_ids(), frame.received) {
                self.answer(call, outcome, out);
            }
        }
        for tell in &mut self.tells {
            if tell.msgids.contains(&packet.msgid) && out.wants(tell.port) {
                let at = At { packet: &packet, uas: &self.uas, port: tell.port, received: out.stamp() };
                (tell.publish)(&at, out);
            }
        }
        Ok(())
    }

    fn sample(&mut self, input: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        let Some(hear) = self.hears.get_mut(usize::from(input.0)) else { return Ok(()) };
        self.refusal.clear();
        let refusal = &mut self.refusal;
        hear(&sample.payload, &mut Wire { uas: &self.uas, talker: &mut self.talker, refusal, out })
    }

    fn explain(&self) -> Option<String> {
        (!self.refusal.is_empty()).then(|| self.refusal.clone())
    }

    fn call(
        &mut self,
        service: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        let index = usize::from(service.0);
        let Some(Command { ask, answer }) = self.commands.get_mut(index) else { return Ok(()) };
        let Some(command) = ask(request)? else {
            answer(call, Outcome::DENIED, out);
            return Ok(());
        };
        let (target_system, target_component) = (self.uas.target_system(), self.uas.target_component());
        let command = CommandLong { target_system, target_component, ..command };
        let now = out.received();
        // A gimbal that is told twice does it once more.
        match self.calls.begin(transaction::Command::Long(command), (index, call), true, now) {
            Ok(()) => self.proceed(now, out),
            Err(_) => answer(call, Outcome::BUSY, out),
        }
        Ok(())
    }

    fn next_due(&self) -> Option<Instant> {
        self.calls.next_due()
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        self.proceed(now, out);
    }

    fn close(&mut self, out: &mut Emit<'_>) {
        let open: Vec<_> = self.calls.drain().collect();
        for call in open {
            self.answer(call, Outcome::TIMED_OUT, out);
        }
    }
}

impl Relay {
    /// Sends and answers what is due.
    fn proceed(&mut self, now: Instant, out: &mut Emit<'_>) {
        while let Some(step) = self.calls.step(now) {
            match step {
                Step::Send(transaction::Command::Long(command)) => {
                    self.talker.send(&command, out);
                }
                Step::Send(transaction::Command::Int(command)) => {
                    self.talker.send(&command, out);
                }
                Step::Done(call, outcome) => self.answer(call, outcome, out),
            }
        }
    }

    fn answer(&self, (index, call): (usize, CallId), outcome: Outcome, out: &mut Emit<'_>) {
        if let Some(command) = self.commands.get(index) {
            (command.answer)(call, outcome, out);
        }
    }
}

/// Copies fields that have the same name and type in both messages.
macro_rules! copy {
    ($from:expr => $to:expr; $($field:ident),+ $(,)?) => {$(
        $to.$field = $from.$field;
    )+};
}
pub(super) use copy;
