//! One decoder with recording publishers, on a clock that only moves when told.

use std::{
    net::SocketAddr,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_codecs::mavlink::dialect::Message;
use rostrans_core::{
    adapter::{PublishError, Publisher},
    clock::{Clock, RosTime, Stamped},
    codec::{
        CallId, Codec, CodecContext, CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Port, Sample,
        ServiceInfo,
    },
    diag::Origin,
    emit::{Emit, Outlet},
    registry::CodecRegistry,
    rule::{CodecOptions, Direction, ForwardRule, LinkConfig, Source, Target, UdpBind},
    stats::LinkStats,
    topic::{Durability, Qos, ServiceSpec, TopicName, TopicSpec},
    transport::{ByteSink, Frame, Peer, SendError},
};
use rostrans_mavlink::Packet;
use rostrans_schema::{TypeName, TypeRegistry};
use serde_json::Value;

mod clock;
mod frame;
mod json;
mod lines;

use self::clock::TestClock;
pub(crate) use frame::{heartbeat, hex, v1, v2, v2_raw, zero};
pub(crate) use json::{assert_close, assert_has, numbers};
pub(crate) use lines::{all_lines, lines};

/// Nanoseconds since the epoch at which every test starts.
pub(crate) const START_NS: i64 = 1_700_000_000_123_456_789;
pub(crate) const PEER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 14557);

pub(crate) fn codec(name: &str) -> Arc<dyn Codec> {
    Arc::clone(rostrans_codecs::builtin().get(name).unwrap_or_else(|| panic!("no codec '{name}'")))
}

/// A rule with one link, as a user would write it.
pub(crate) fn rule(codec: &str, options: &Value) -> ForwardRule {
    let mut rule = ForwardRule::new("rule", Direction::UdpToRostopic, Origin::Default);
    rule.source = Source::Udp(UdpBind::new(([127, 0, 0, 1], 14540).into()));
    let mut link = LinkConfig::new("link", Some(codec.into()), Origin::Default);
    link.options = CodecOptions(options.as_object().cloned().unwrap_or_default());
    rule.links.push(link);
    rule
}

pub(crate) fn topic(msg_type: &str) -> TopicSpec {
    TopicSpec {
        name: TopicName::parse("/topic").unwrap(),
        msg_type: TypeName::message(msg_type).unwrap(),
        qos: Qos::reliable(),
    }
}

pub(crate) fn service(srv_type: &str) -> ServiceSpec {
    ServiceSpec {
        name: TopicName::parse("/service").unwrap(),
        srv_type: TypeName::service(srv_type).unwrap(),
    }
}

pub(crate) fn types() -> Arc<TypeRegistry> {
    static TYPES: LazyLock<Arc<TypeRegistry>> = LazyLock::new(|| Arc::new(TypeRegistry::bundled()));
    Arc::clone(&TYPES)
}

/// Builds something from a rule's only link.
pub(crate) fn build<T>(
    rule: &ForwardRule,
    make: impl FnOnce(&dyn Codec, &CodecContext<'_>) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    let link = &rule.links[0];
    let codec = codec(link.codec.as_ref().unwrap().as_str());
    make(&*codec, &CodecContext { rule, link, types: &types() })
}

/// A decoder under test.
pub(crate) struct Bench {
    decoder: Box<dyn Decoder>,
    info: &'static CodecInfo,
    /// The only sender whose frames reach it.
    hears: Option<u8>,
    ports: Vec<(&'static str, TypeName, Arc<Recorder>)>,
    answers: Vec<(CallId, CdrBytes)>,
    /// The service of each call, by its number.
    calls: Vec<&'static ServiceInfo>,
    outlets: Vec<Option<Outlet>>,
    pool: BytesMut,
    sink: Outbox,
    clock: TestClock,
    stats: LinkStats,
    types: Arc<TypeRegistry>,
    now: Instant,
}

impl Bench {
    /// Every port bound and listened to.
    pub(crate) fn new(codec: &str, options: Value) -> Self {
        Self::of(&rule(codec, &options))
    }

    /// A codec that takes any type.
    pub(crate) fn typed(codec: &str, options: Value, msg_type: &str) -> Self {
        let mut rule = rule(codec, &options);
        rule.links[0].topic = Some(topic(msg_type));
        Self::of(&rule)
    }

    pub(crate) fn with_target(codec: &str, options: Value, target: SocketAddr) -> Self {
        let mut rule = rule(codec, &options);
        rule.links[0].target = Some(Target::Udp(target));
        Self::of(&rule)
    }

    pub(crate) fn of(rule: &ForwardRule) -> Self {
        Self::from_registry(&rostrans_codecs::builtin(), rule, Instant::now())
    }

    /// Two links of one vehicle, which share what they know of it.
    pub(crate) fn two(first: &ForwardRule, second: &ForwardRule) -> (Self, Self) {
        let [first, second] = Self::together([first, second]);
        (first, second)
    }

    /// The same for more of them.
    pub(crate) fn together<const N: usize>(rules: [&ForwardRule; N]) -> [Self; N] {
        let (codecs, now) = (rostrans_codecs::builtin(), Instant::now());
        rules.map(|rule| Self::from_registry(&codecs, rule, now))
    }

    fn from_registry(codecs: &CodecRegistry, rule: &ForwardRule, now: Instant) -> Self {
        lines::keep();
        let link = &rule.links[0];
        let codec = codecs.get(link.codec.as_ref().unwrap().as_str()).unwrap();
        let decoder = codec.decoder(&CodecContext { rule, link, types: &types() }).unwrap();
        let info = codec.info();
        let mut ports = Vec::new();
        let mut outlets = Vec::new();
        for port in info.ports {
            let msg_type = match port.msg_type {
                Some(name) => TypeName::message(name).unwrap(),
                None => link.topic.as_ref().unwrap().msg_type.clone(),
            };
            let recorder = Arc::new(Recorder { samples: Mutex::default(), matched: AtomicUsize::new(1) });
            outlets.push(Some(Outlet {
                publisher: Arc::clone(&recorder) as Arc<dyn Publisher>,
                stamped: Stamped::No,
                latched: port.qos.durability == Durability::TransientLocal,
                limiter: None,
            }));
            ports.push((port.name, msg_type, recorder));
        }
        Self {
            decoder,
            info,
            hears: build(rule, |codec, cx| Ok(codec.sender(cx))).unwrap(),
            ports,
            answers: Vec::new(),
            calls: Vec::new(),
            outlets,
            pool: BytesMut::new(),
            sink: Outbox::default(),
            clock: TestClock { start: now, set_ns: 0, epoch: None },
            stats: LinkStats::default(),
            types: types(),
            now,
        }
    }

    /// Hands over one frame.
    pub(crate) fn frame(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        self.frame_from(PEER, bytes)
    }

    /// Hands over one frame of a certain sender.
    pub(crate) fn frame_from(&mut self, from: SocketAddr, bytes: &[u8]) -> Result<(), DecodeError> {
        let packet = Packet::parse(bytes);
        let (tag, sender) = (packet.map(|packet| packet.msgid), packet.map(|packet| packet.sysid));
        if self.hears.is_some() && sender.is_some() && self.hears != sender {
            // The engine keeps frames of others from it.
            return Ok(());
        }
        let frame = Frame { bytes, peer: Peer::Udp(from), received: self.now, tag, sender };
        let (decoder, mut out) = self.parts(Some(frame.peer));
        decoder.decode(&frame, &mut out)
    }

    /// The decoder and its outputs.
    fn parts(&mut self, peer: Option<Peer>) -> (&mut dyn Decoder, Emit<'_>) {
        let Self { decoder, outlets, pool, sink, clock, stats, now, answers, .. } = self;
        let out = Emit::new(outlets, pool, Some(sink), peer, clock, *now, stats);
        (&mut **decoder, out.with_answers(answers))
    }

    /// Publishes a message on the topic of an input; fields that are left out have their defaults.
    pub(crate) fn sample(&mut self, input: &str, value: &Value) -> Result<(), EncodeError> {
        let index = self.info.inputs.iter().position(|i| i.name == input);
        let index = index.unwrap_or_else(|| panic!("no input '{input}'"));
        let msg_type = TypeName::message(self.info.inputs[index].msg_type.unwrap()).unwrap();
        let message = self.types.message(&msg_type).unwrap();
        let payload = message.json_to_cdr(value, &mut BytesMut::new()).unwrap();
        let stamp = self.clock.time(self.now).unwrap();
        let (decoder, mut out) = self.parts(None);
        decoder.sample(Port(u8::try_from(index).unwrap()), &Sample { payload, stamp }, &mut out)
    }

    /// Hands bytes to each input as a sample and to each service as a request; how many took them.
    pub(crate) fn bytes(&mut self, bytes: &CdrBytes) -> usize {
        let mut taken = 0;
        let stamp = self.clock.time(self.now).unwrap();
        for (index, _) in (0..).zip(self.info.inputs) {
            let (decoder, mut out) = self.parts(None);
            let sample = Sample { payload: bytes.clone(), stamp };
            taken += usize::from(decoder.sample(Port(index), &sample, &mut out).is_ok());
        }
        for (index, info) in (0..).zip(self.info.services) {
            let call = CallId(self.calls.len() as u64);
            self.calls.push(info);
            let (decoder, mut out) = self.parts(None);
            taken += usize::from(decoder.call(Port(index), call, bytes, &mut out).is_ok());
        }
        taken
    }

    /// Calls a service; [`Bench::answers`] has what it answers.
    pub(crate) fn call(&mut self, service: &str, request: &Value) -> CallId {
        let index = self.info.services.iter().position(|s| s.name == service);
        let index = index.unwrap_or_else(|| panic!("no service '{service}'"));
        let info = &self.info.services[index];
        let parts = self.types.service(&TypeName::service(info.srv_type).unwrap()).unwrap();
        let request = parts.request().json_to_cdr(request, &mut BytesMut::new()).unwrap();
        let call = CallId(self.calls.len() as u64);
        self.calls.push(info);
        let (decoder, mut out) = self.parts(None);
        decoder.call(Port(u8::try_from(index).unwrap()), call, &request, &mut out).unwrap();
        call
    }

    /// Answers since the last call, in order.
    pub(crate) fn answers(&mut self) -> Vec<(CallId, Value)> {
        let answers = std::mem::take(&mut self.answers);
        let show = |(call, answer): &(CallId, CdrBytes)| {
            let info = self.calls[usize::try_from(call.0).unwrap()];
            let parts = self.types.service(&TypeName::service(info.srv_type).unwrap()).unwrap();
            assert_eq!(parts.response().validate(answer).unwrap(), 0, "octets behind the response");
            (*call, parts.response().cdr_to_json(answer).unwrap())
        };
        answers.iter().map(show).collect()
    }

    /// The run ends.
    pub(crate) fn close(&mut self) {
        let (decoder, mut out) = self.parts(None);
        decoder.close(&mut out);
    }

    /// What the decoder says about its latest error.
    pub(crate) fn explain(&self) -> Option<String> {
        self.decoder.explain()
    }

    /// Hands over one MAVLink 2 message of system 1, component 1.
    pub(crate) fn message<M: Message>(&mut self, message: &M) {
        self.frame(&v2(1, 1, message)).unwrap();
    }

    pub(crate) fn tick(&mut self) {
        let now = self.now;
        let (decoder, mut out) = self.parts(None);
        decoder.tick(now, &mut out);
    }

    /// Lets time pass, ticking each 100 ms.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_millis(100);
            self.tick();
        }
    }

    /// Lets time pass without a tick.
    pub(crate) fn skip(&mut self, time: Duration) {
        self.now += time;
    }

    /// Sets the wall clock forward, or back.
    pub(crate) fn set_clock(&mut self, by_ns: i64) {
        self.clock.set_ns += by_ns;
    }

    /// Makes it a simulated clock that was set so often; `None` has no time.
    pub(crate) fn simulate(&mut self, epoch: Option<u32>) {
        self.clock.epoch = Some(epoch);
    }

    /// Nanoseconds since the epoch now, by the wall clock.
    pub(crate) fn clock_ns(&self) -> i64 {
        self.clock.time(self.now).unwrap().ns
    }

    /// What was published on a port since the last call, as JSON.
    pub(crate) fn take(&mut self, port: &str) -> Vec<Value> {
        let (_, msg_type, recorder) =
            self.ports.iter().find(|(name, ..)| *name == port).unwrap_or_else(|| panic!("no port '{port}'"));
        let message = self.types.message(msg_type).unwrap();
        let samples = std::mem::take(&mut *recorder.samples.lock().unwrap());
        let show = |sample: &CdrBytes| {
            assert_eq!(message.validate(sample).unwrap(), 0, "octets behind the message");
            message.cdr_to_json(sample).unwrap()
        };
        samples.iter().map(show).collect()
    }

    /// The one message published on a port.
    pub(crate) fn only(&mut self, port: &str) -> Value {
        let mut messages = self.take(port);
        assert_eq!(messages.len(), 1, "messages on '{port}'");
        messages.remove(0)
    }

    /// Frames sent since the last call, with their destinations.
    pub(crate) fn sent(&mut self) -> Vec<(Option<SocketAddr>, Vec<u8>)> {
        std::mem::take(&mut *self.sink.0.lock().unwrap())
    }

    /// Those of one kind sent since the last call; the others are gone.
    pub(crate) fn sent_of<M: Message>(&mut self) -> Vec<M> {
        let frames = self.sent();
        let packets = frames.iter().map(|(_, frame)| Packet::parse(frame).unwrap());
        packets.filter(|packet| packet.msgid == M::ID).map(|packet| M::decode(packet.payload)).collect()
    }

    /// Pretends that a port has listeners or none.
    pub(crate) fn listen(&mut self, port: &str, listeners: usize) {
        for (name, _, recorder) in &self.ports {
            if *name == port {
                recorder.matched.store(listeners, Relaxed);
            }
        }
    }

    pub(crate) fn ports(&self) -> Vec<&'static str> {
        self.ports.iter().map(|(name, ..)| *name).collect()
    }
}

/// Keeps what is published.
pub(crate) struct Recorder {
    samples: Mutex<Vec<CdrBytes>>,
    matched: AtomicUsize,
}

impl Publisher for Recorder {
    fn publish(&self, _: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        self.samples.lock().unwrap().push(msg.clone());
        Ok(())
    }

    fn matched(&self) -> usize {
        self.matched.load(Relaxed)
    }
}

/// Keeps what is sent.
#[derive(Default)]
struct Outbox(Mutex<Vec<(Option<SocketAddr>, Vec<u8>)>>);

impl ByteSink for Outbox {
    fn try_send(&self, frame: &[u8], to: Option<SocketAddr>) -> Result<(), SendError> {
        self.0.lock().unwrap().push((to, frame.to_vec()));
        Ok(())
    }
}
