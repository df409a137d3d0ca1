//! A decoder made of copies: messages to topics, samples to messages.
//!
//! Most plugins of MAVROS copy the fields of one message to those of another. Here such a codec is its description
//! and one function for each pair of messages; what they have in common (whose messages count, who listens, whom to
//! send to) is done once.

use std::sync::Arc;

use rostrans_cdr::{CdrBytes, CdrDecode, CdrEncode, from_cdr};
use rostrans_core::{
    clock::RosTime,
    codec::{
        CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Interest, Port, PortInfo, Role,
        Sample,
    },
    emit::Emit,
    topic::{Durability, Qos, Reliability},
    transport::{Frame, Framing},
};
use rostrans_mavlink::Packet;
use rostrans_msgs::RosType;

use super::{
    dialect::Message,
    uas::{MavContext, Talker, Uas},
    vehicle::{self, Vehicle},
};
use crate::options::Options;

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

/// A topic that is published.
pub(super) const fn topic<R: RosType>(name: &'static str, qos: Qos) -> PortInfo {
    PortInfo { name, msg_type: Some(R::TYPE), qos }
}

/// A topic that is read. It asks for best effort, which every publisher offers.
pub(super) const fn input<R: RosType>(name: &'static str, depth: u16) -> PortInfo {
    topic::<R>(name, Qos::new(Reliability::BestEffort, Durability::Volatile, depth))
}

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
    out: &'a mut Emit<'e>,
}

impl Wire<'_, '_> {
    /// System and component id of the autopilot.
    pub(super) fn target(&self) -> (u8, u8) {
        (self.uas.target_system(), self.uas.target_component())
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

    /// The whole.
    pub(super) fn done(self) -> Result<Box<dyn Decoder>, CodecError> {
        debug_assert_eq!(self.hears.len(), self.info.inputs.len(), "{}", self.info.name);
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
        hear(&sample.payload, &mut Wire { uas: &self.uas, talker: &mut self.talker, out })
    }
}

/// Copies fields that have the same name and type in both messages.
macro_rules! copy {
    ($from:expr => $to:expr; $($field:ident),+ $(,)?) => {$(
        $to.$field = $from.$field;
    )+};
}
pub(super) use copy;
