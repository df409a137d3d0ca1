//! The inline path allocates nothing per frame: from a transport's buffer through dispatch, decoder, CDR and rate
//! limit to a publisher that keeps no sample.
//!
//! A binary of its own, because it replaces the global allocator with a counting one.

#![expect(unsafe_code, reason = "a global allocator is an unsafe trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
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
    running::{Deps, start},
    topology::{Device, PipelineSpec, Topology, TransportId, TransportSpec},
    transports::{Opened, TransportFactory},
};
use rostrans_schema::{TypeName, TypeRegistry};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Frames before counting starts: buffers reach their size, lazily made things are made.
const WARM_UP: u64 = 1_000;

/// Frames during which nothing may be allocated.
const FRAMES: u64 = 10_000;

struct Counting;

thread_local! {
    /// Allocations of this thread.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged; the counter is a plain thread-local cell that
// neither allocates nor has a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are the system allocator's conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

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
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[30]),
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

/// Feeds the same few frames over and over and notes what that allocated.
#[derive(Default)]
struct Feed {
    allocations: AtomicU64,
    done: Notify,
}

struct FeedTransport(Arc<Feed>);

struct Feeds(Arc<Feed>);

impl TransportFactory for Feeds {
    fn open(&self, _spec: &TransportSpec) -> Result<Opened, TransportError> {
        let transport = Box::new(FeedTransport(Arc::clone(&self.0)));
        Ok(Opened { transport, sink: Arc::new(NoSink), route: None, local_addr: None })
    }

    fn sender(&self, _to: SocketAddr) -> Result<Arc<dyn ByteSink>, TransportError> {
        Ok(Arc::new(NoSink))
    }
}

struct NoSink;

impl ByteSink for NoSink {
    fn try_send(&self, _frame: &[u8], _to: Option<SocketAddr>) -> Result<(), SendError> {
        Ok(())
    }
}

impl Transport for FeedTransport {
    fn run(
        self: Box<Self>,
        mut ingress: Box<dyn Ingress>,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<(), TransportError>> {
        Box::pin(async move {
            ingress.device(DeviceState::Up);
            while ingress.idle() {
                tokio::task::yield_now().await;
            }
            feed(&mut *ingress, WARM_UP);
            let before = ALLOCATIONS.get();
            feed(&mut *ingress, FRAMES);
            self.0.allocations.store(ALLOCATIONS.get() - before, SeqCst);
            self.0.done.notify_one();
            cancel.cancelled().await;
            Ok(())
        })
    }
}

/// Three frames of four are wanted; one of them is malformed.
fn feed(ingress: &mut dyn Ingress, frames: u64) {
    for i in 0..frames {
        let (bytes, tag): (&[u8], u32) = match i % 4 {
            0 => (&[], 30),
            1 => (&[1; 40], 77),
            _ => (&[2; 40], 30),
        };
        let peer = Peer::Udp(([127, 0, 0, 1], 14_550).into());
        ingress.frame(&Frame { bytes, peer, received: Instant::now(), tag: Some(tag) });
        if i % 8 == 7 {
            ingress.batch_end();
        }
    }
}

#[tokio::test]
async fn inline_path_allocates_nothing_per_frame() {
    let ros = MemoryAdapter::new(RosVersion::Ros2, 0);
    ros.pretend_subscribers(1);
    let mut codecs = CodecRegistry::new();
    codecs.register(Arc::new(TelemetryCodec)).expect("the only codec");
    let topic = |name: &str| TopicSpec {
        name: TopicName::parse(name).expect("a topic name"),
        msg_type: TypeName::message("std_msgs/msg/Empty").expect("a type name"),
        qos: Qos::sensor_data(),
    };
    let link = |name: &str, limit| LinkConfig {
        topic: Some(topic(name)),
        rate_limit: limit,
        ..LinkConfig::new(name, Some("telemetry".into()), Origin::Default)
    };
    let mut rule = ForwardRule::new("up", Direction::UdpToRostopic, Origin::Default);
    rule.links = vec![link("/all", None), link("/some", Some(RateLimit(100)))];
    let bind = UdpBind { addr: ([127, 0, 0, 1], 0).into(), multicast_if: "".into() };
    let topology = Topology {
        transports: vec![TransportSpec { device: Device::Udp(bind), framing: Framing::Mavlink, route: None }],
        pipelines: vec![PipelineSpec {
            rule: Arc::new(rule),
            source: Some(TransportId(0)),
            targets: vec![None, None],
        }],
        ..Topology::default()
    };
    let feed = Arc::new(Feed::default());
    let deps = Deps {
        codecs: Arc::new(codecs),
        types: Arc::new(TypeRegistry::builder().build()),
        adapters: AdapterSet::new(vec![ros.clone()]),
        clock: Arc::new(SystemClock),
        transports: Arc::new(Feeds(Arc::clone(&feed))),
        monitor: None,
    };
    let running = start(&topology, &deps);
    let fed = tokio::time::timeout(Duration::from_secs(60), feed.done.notified()).await;
    assert!(fed.is_ok(), "the frames were fed");
    let row = |link: usize| running.snapshot().rules[0].links[link].counters;
    assert_eq!(row(0).messages, (WARM_UP + FRAMES) / 2, "the frames were published");
    assert_eq!(row(0).decode_errors, (WARM_UP + FRAMES) / 4);
    assert!(row(1).dropped_rate > 0);
    assert_eq!(feed.allocations.load(SeqCst), 0);
}
