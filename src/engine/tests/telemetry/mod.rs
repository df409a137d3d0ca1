//! A rule with a telemetry codec, and the ingress its transport would feed; for the allocation test and the benches.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Instant,
};

use rostrans_adapter_memory::MemoryAdapter;
use rostrans_cdr::{CdrEncode, CdrSizer, CdrWriter};
use rostrans_core::{
    adapter::RosVersion,
    clock::SystemClock,
    codec::{
        Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, PortInfo,
        Role,
    },
    diag::Origin,
    emit::Emit,
    registry::CodecRegistry,
    rule::{Direction, ForwardRule, LinkConfig, RateLimit, UdpBind},
    topic::{Qos, TopicName, TopicSpec},
    transport::{
        BoxFuture, ByteSink, DeviceState, Frame, Framing, Ingress, Peer, SendError, Transport, TransportError,
    },
};
use rostrans_engine::{
    adapters::AdapterSet,
    running::{Deps, Running, start},
    topology::{Device, PipelineSpec, Topology, TransportId, TransportSpec},
    transports::{Opened, TransportFactory},
};
use rostrans_schema::{TypeName, TypeRegistry};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A typed message of the shape telemetry has.
struct Telemetry {
    stamp_ns: u64,
    frame_id: &'static str,
    values: [f64; 20],
}

impl CdrEncode for Telemetry {
    fn size(&self, sizer: &mut CdrSizer) {
        self.stamp_ns.size(sizer);
        self.frame_id.size(sizer);
        self.values.iter().for_each(|value| value.size(sizer));
    }

    fn encode(&self, writer: &mut CdrWriter<'_>) {
        self.stamp_ns.encode(writer);
        self.frame_id.encode(writer);
        self.values.iter().for_each(|value| value.encode(writer));
    }
}

struct TelemetryCodec;

static INFO: CodecInfo = CodecInfo {
    name: "telemetry",
    doc: "a stand-in for a telemetry codec",
    roles: &[Role::Decode],
    ports: &[PortInfo { name: "data", msg_type: None, qos: Qos::sensor_data() }],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[WANTED]),
    cost: Cost::Inline,
    tick: None,
    options: &[],
};

impl Codec for TelemetryCodec {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn decoder(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        Ok(Box::new(Self))
    }
}

impl Decoder for TelemetryCodec {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(first) = frame.bytes.first() else {
            return Err(DecodeError::Truncated { need: 1, have: 0 });
        };
        let stamp = out.stamp();
        let values = [f64::from(*first); 20];
        out.publish(Port(0), stamp, &Telemetry { stamp_ns: 1, frame_id: "base_link", values });
        Ok(())
    }
}

/// The tag the codec wants.
pub(crate) const WANTED: u32 = 30;

/// Two links on one source, both decoding telemetry: one to `/all`, one to `/some` at 100 messages a second.
pub(crate) struct Harness {
    /// What the transport would feed.
    pub(crate) ingress: Box<dyn Ingress>,
    pub(crate) running: Running,
}

impl Harness {
    /// Starts the rule; must be called within a tokio runtime.
    pub(crate) async fn start() -> Self {
        // Keeps no sample, as a network would.
        let ros = MemoryAdapter::new(RosVersion::Ros2, 0);
        ros.pretend_subscribers(1);
        let mut codecs = CodecRegistry::new();
        codecs.register(Arc::new(TelemetryCodec)).expect("the only codec");
        let (hand_over, ingress) = oneshot::channel();
        let deps = Deps {
            codecs: Arc::new(codecs),
            types: Arc::new(TypeRegistry::builder().build()),
            adapters: AdapterSet::new(vec![ros]),
            clock: Arc::new(SystemClock),
            clocks: Vec::new(),
            transports: Arc::new(HandOver(Mutex::new(Some(hand_over)))),
            monitor: None,
        };
        let running = start(&topology(), &deps);
        let ingress = ingress.await.expect("the transport hands its ingress over");
        Self { ingress, running }
    }

    /// Feeds one frame; transports read the clock once per batch.
    pub(crate) fn frame(&mut self, bytes: &[u8], tag: u32, received: Instant) {
        let peer = Peer::Udp(([127, 0, 0, 1], 14_550).into());
        self.ingress.frame(&Frame { bytes, peer, received, tag: Some(tag), sender: None });
    }
}

fn topology() -> Topology {
    let link = |name: &str, rate_limit| LinkConfig {
        topic: Some(TopicSpec {
            name: TopicName::parse(name).expect("a topic name"),
            msg_type: TypeName::message("std_msgs/msg/Empty").expect("a type name"),
            qos: Qos::sensor_data(),
        }),
        rate_limit,
        ..LinkConfig::new(name, Some("telemetry".into()), Origin::Default)
    };
    let mut rule = ForwardRule::new("up", Direction::UdpToRostopic, Origin::Default);
    rule.links = vec![link("/all", None), link("/some", Some(RateLimit(100.0)))];
    let bind = UdpBind::new(([127, 0, 0, 1], 0).into());
    let transport =
        TransportSpec { device: Device::Udp(bind), framing: Framing::Mavlink, route: None, everyone: false };
    let source = Some(TransportId(0));
    Topology {
        transports: vec![transport],
        pipelines: vec![PipelineSpec { rule: Arc::new(rule), source, targets: vec![None, None] }],
        ..Topology::default()
    }
}

/// Opens one transport, which gives its ingress away once the rule is attached.
struct HandOver(Mutex<Option<oneshot::Sender<Box<dyn Ingress>>>>);

struct HandOverTransport(Option<oneshot::Sender<Box<dyn Ingress>>>);

impl TransportFactory for HandOver {
    fn open(&self, _spec: &TransportSpec) -> Result<Opened, TransportError> {
        let transport = HandOverTransport(self.0.lock().expect("no panic before").take());
        Ok(Opened { transport: Box::new(transport), sink: Arc::new(NoSink), route: None, local_addr: None })
    }

    fn sender(&self, _to: SocketAddr) -> Result<Arc<dyn ByteSink>, TransportError> {
        Ok(Arc::new(NoSink))
    }
}

impl Transport for HandOverTransport {
    fn run(
        mut self: Box<Self>,
        mut ingress: Box<dyn Ingress>,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<(), TransportError>> {
        Box::pin(async move {
            ingress.device(DeviceState::Up);
            while ingress.idle() {
                tokio::task::yield_now().await;
            }
            drop(self.0.take().map(|hand_over| hand_over.send(ingress)));
            cancel.cancelled().await;
            Ok(())
        })
    }
}

struct NoSink;

impl ByteSink for NoSink {
    fn try_send(&self, _frame: &[u8], _to: Option<SocketAddr>) -> Result<(), SendError> {
        Ok(())
    }
}
