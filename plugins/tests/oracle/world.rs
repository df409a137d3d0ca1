//! The whole of one vehicle, as the engine would run it, on a clock that only moves when told.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_codecs::mavlink::dialect;
use rostrans_core::{
    adapter::{PublishError, Publisher},
    clock::{Clock, NoTime, RosTime, Stamped},
    codec::{CallId, CodecContext, CodecInfo, Decoder, Interest, Port, Sample},
    emit::{Emit, Outlet},
    param::{ParamSet, Settings},
    plugin::Plugin,
    stats::LinkStats,
    topic::Durability,
    transport::{ByteSink, Frame, Peer, SendError},
};
use rostrans_mavlink::Packet;
use rostrans_plugins::Mavros;
use rostrans_schema::{TypeName, TypeRegistry};
use serde_json::Value;

/// One vehicle's links with recording publishers.
pub(crate) struct World {
    links: Vec<Link>,
    topics: BTreeMap<String, Topic>,
    clock: TestClock,
    now: Instant,
    sent: Outbox,
    answers: Vec<(CallId, CdrBytes)>,
    calls: u64,
    pool: BytesMut,
}

struct Link {
    name: String,
    info: &'static CodecInfo,
    /// The only system whose frames it gets.
    hears: Option<u8>,
    decoder: Box<dyn Decoder>,
    outlets: Vec<Option<Outlet>>,
    inputs: Vec<(String, Port, TypeName)>,
    services: Vec<(String, Port, TypeName)>,
    next_tick: Option<Instant>,
    stats: LinkStats,
}

struct Topic {
    msg_type: TypeName,
    recorder: Arc<Recorder>,
}

impl World {
    /// The vehicle that `params` describe, e.g. `mavros_compat=exact`.
    pub(crate) fn new(params: &str) -> Self {
        let settings = settings(params);
        let rules = Mavros.rules(&settings).unwrap();
        let (rule, codecs) = (&rules[0], rostrans_codecs::builtin());
        let now = Instant::now();
        let mut topics: BTreeMap<String, Topic> = BTreeMap::new();
        let links = rule.links.iter().map(|config| {
            let codec = codecs.get(config.codec.as_ref().unwrap().as_str()).unwrap();
            let info = codec.info();
            let spec = |index: usize, name: &str| {
                let first = config.topic.as_ref().filter(|_| index == 0);
                let named = config.ports.iter().find(|(port, _)| port.as_str() == name);
                first.or_else(|| named.map(|(_, spec)| spec))
            };
            let mut outlet = |(index, port): (usize, &rostrans_core::codec::PortInfo)| {
                let spec = spec(index, port.name)?;
                let topic = topics
                    .entry(spec.name.to_string())
                    .or_insert_with(|| Topic { msg_type: spec.msg_type.clone(), recorder: Arc::default() });
                let publisher = Arc::clone(&topic.recorder) as Arc<dyn Publisher>;
                let latched = spec.qos.durability == Durability::TransientLocal;
                Some(Outlet { publisher, stamped: Stamped::No, latched, limiter: None })
            };
            let outlets = info.ports.iter().enumerate().map(&mut outlet).collect();
            let input = |(index, port): (usize, &rostrans_core::codec::PortInfo)| {
                let spec = spec(usize::MAX, port.name)?;
                Some((spec.name.to_string(), number(index), spec.msg_type.clone()))
            };
            let service = |(index, service): (usize, &rostrans_core::codec::ServiceInfo)| {
                let (_, spec) = config.services.iter().find(|(name, _)| name.as_str() == service.name)?;
                Some((spec.name.to_string(), number(index), spec.srv_type.clone()))
            };
            let cx = CodecContext { rule, link: config, types: &TYPES };
            Link {
                name: config.link_name.to_string(),
                info,
                hears: codec.sender(&cx),
                decoder: codec.decoder(&cx).unwrap(),
                outlets,
                inputs: info.inputs.iter().enumerate().filter_map(input).collect(),
                services: info.services.iter().enumerate().filter_map(service).collect(),
                next_tick: info.tick.map(|every| now + every),
                stats: LinkStats::default(),
            }
        });
        let links = links.collect();
        Self {
            links,
            topics,
            clock: TestClock { start: now },
            now,
            sent: Outbox::default(),
            answers: Vec::new(),
            calls: 0,
            pool: BytesMut::new(),
        }
    }

    /// A frame arrives.
    pub(crate) fn frame(&mut self, bytes: &[u8]) {
        let (tag, sender) = Packet::parse(bytes).map(|packet| (packet.msgid, packet.sysid)).unzip();
        let (peer, received) = (Peer::Udp(PEER), self.now);
        for index in 0..self.links.len() {
            let wants = match self.links[index].info.interest {
                Interest::All => true,
                Interest::Tags(tags) => tag.is_some_and(|tag| tags.contains(&tag)),
            };
            let hears = self.links[index].hears;
            if wants && (hears.is_none() || hears == sender) {
                self.with(index, Some(peer), |decoder, out| {
                    decoder.decode(&Frame { bytes, peer, received, tag, sender }, out).unwrap();
                });
            }
        }
    }

    /// Somebody publishes; false when no link reads that topic.
    pub(crate) fn publish(&mut self, topic: &str, message: &Value) -> bool {
        let mut read = false;
        for index in 0..self.links.len() {
            let bound = self.links[index].inputs.iter().filter(|(name, ..)| name == topic);
            for (_, port, msg_type) in bound.cloned().collect::<Vec<_>>() {
                read = true;
                let shape = TYPES.message(&msg_type).unwrap();
                let payload = shape.json_to_cdr(message, &mut BytesMut::new()).unwrap();
                let stamp = self.clock.time(self.now).unwrap();
                self.with(index, None, |decoder, out| {
                    // A message that makes no frame may be refused.
                    decoder
                        .sample(port, &Sample { payload: payload.clone(), stamp }, out)
                        .unwrap_or_default();
                });
            }
        }
        read
    }

    /// Somebody calls; `None` when nobody answers that service, else the call's number and its type.
    pub(crate) fn call(&mut self, service: &str, request: &Value) -> Option<(CallId, TypeName)> {
        let find = |link: &Link| link.services.iter().find(|(name, ..)| name == service).cloned();
        let (index, (_, port, srv_type)) =
            self.links.iter().enumerate().find_map(|(index, link)| Some((index, find(link)?)))?;
        let shape = TYPES.service(&srv_type).unwrap();
        let request = shape.request().json_to_cdr(request, &mut BytesMut::new()).unwrap();
        self.calls += 1;
        let call = CallId(self.calls);
        self.with(index, None, |decoder, out| decoder.call(port, call, &request, out).unwrap());
        Some((call, srv_type))
    }

    /// The answer to a call, once.
    pub(crate) fn answer(&mut self, call: CallId, srv_type: &TypeName) -> Option<Value> {
        let at = self.answers.iter().position(|(id, _)| *id == call)?;
        let (_, answer) = self.answers.remove(at);
        Some(TYPES.service(srv_type).unwrap().response().cdr_to_json(&answer).unwrap())
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let due = |link: &Link| link.next_tick.into_iter().chain(link.decoder.next_due()).min();
            let Some(next) = self.links.iter().filter_map(due).min().filter(|due| *due <= end) else { break };
            self.now = next.max(self.now + Duration::from_micros(1));
            let now = self.now;
            for index in 0..self.links.len() {
                let link = &mut self.links[index];
                if due(link).is_some_and(|due| due <= now) {
                    if link.next_tick.is_some_and(|tick| tick <= now) {
                        link.next_tick = link.info.tick.map(|every| now + every);
                    }
                    self.with(index, None, |decoder, out| decoder.tick(now, out));
                }
            }
        }
        self.now = end;
    }

    /// What was published since the last call, the latest of each topic.
    pub(crate) fn take(&mut self) -> BTreeMap<String, Value> {
        let mut taken = BTreeMap::new();
        for (name, topic) in &self.topics {
            let samples = std::mem::take(&mut *topic.recorder.0.lock().unwrap());
            if let Some(last) = samples.last() {
                taken
                    .insert(name.clone(), TYPES.message(&topic.msg_type).unwrap().cdr_to_json(last).unwrap());
            }
        }
        taken
    }

    /// Whether the vehicle has a topic to publish on.
    pub(crate) fn has_topic(&self, name: &str) -> bool {
        self.topics.contains_key(name)
    }

    /// Unix time in nanoseconds.
    pub(crate) fn time_ns(&self) -> i64 {
        self.clock.time(self.now).unwrap().ns
    }

    /// Seconds since the recording began.
    pub(crate) fn elapsed_s(&self) -> f64 {
        (self.now - self.clock.start).as_secs_f64()
    }

    /// Frames sent since the last call.
    pub(crate) fn sent(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.sent.0.lock().unwrap())
    }

    fn with(&mut self, index: usize, peer: Option<Peer>, run: impl FnOnce(&mut dyn Decoder, &mut Emit<'_>)) {
        let Self { links, pool, sent, clock, now, answers, .. } = self;
        let link = &mut links[index];
        let mut out = Emit::new(&mut link.outlets, pool, Some(sent), peer, clock, *now, &link.stats)
            .with_answers(answers);
        run(&mut *link.decoder, &mut out);
        assert!(link.stats.snapshot().send_errors == 0, "link {} could not send", link.name);
    }
}

/// A frame's message in words, without what differs from sender to sender; for comparison and messages.
pub(crate) fn describe(frame: &[u8]) -> (u32, String) {
    let packet = Packet::parse(frame).unwrap();
    let text = dialect::describe(packet.msgid, packet.payload);
    (packet.msgid, text.unwrap_or_else(|| format!("message {}", packet.msgid)))
}

/// Parameters of the plugin, as in `rostrans.param`.
fn settings(params: &str) -> Settings {
    let mut problems = Vec::new();
    let set = ParamSet::parse("rostrans.param".as_ref(), params, &mut problems);
    let settings = set.resolve(Mavros.params(), &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    settings
}

fn number(index: usize) -> Port {
    Port(u8::try_from(index).unwrap())
}

/// Keeps what is published.
#[derive(Default)]
struct Recorder(Mutex<Vec<CdrBytes>>);

impl Publisher for Recorder {
    fn publish(&self, _: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        self.0.lock().unwrap().push(msg.clone());
        Ok(())
    }

    fn matched(&self) -> usize {
        1
    }
}

/// Keeps what is sent.
#[derive(Default)]
struct Outbox(Mutex<Vec<Vec<u8>>>);

impl ByteSink for Outbox {
    fn try_send(&self, frame: &[u8], _: Option<SocketAddr>) -> Result<(), SendError> {
        self.0.lock().unwrap().push(frame.to_vec());
        Ok(())
    }
}

struct TestClock {
    start: Instant,
}

impl Clock for TestClock {
    fn time(&self, at: Instant) -> Result<RosTime, NoTime> {
        let passed = at.saturating_duration_since(self.start).as_nanos();
        Ok(RosTime { ns: 1_796_063_516_257_348_000 + i64::try_from(passed).unwrap() })
    }
}

static TYPES: LazyLock<Arc<TypeRegistry>> = LazyLock::new(|| Arc::new(TypeRegistry::bundled()));

const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 14557);
