//! A topology under construction, and the graph and devices around it.

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use rostrans_adapter_memory::MemoryAdapter;
use rostrans_core::{
    adapter::{RosAdapter, RosVersion},
    clock::{RosTime, SystemClock},
    codec::Codec,
    diag::Origin,
    registry::CodecRegistry,
    rule::{Direction, ForwardRule, LinkConfig, RateLimit, SerialSpec, Source, UdpBind},
    stats::LinkSnapshot,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::Framing,
};
use rostrans_engine::{
    adapters::AdapterSet,
    running::{Deps, Running, start},
    supervisor::State,
    topology::{Device, LinkTarget, PipelineSpec, Topology, TransportId, TransportSpec},
};
use rostrans_schema::{TypeName, TypeRegistry};

use crate::{
    codec::{INLINE, NAMING, QUEUED, Raw, TAG_30, TICKING, TICKING_QUEUED, cdr},
    device::Devices,
    logs::want_lines,
};

/// How long a test waits for something that must come; paused time makes it short.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) devices: Arc<Devices>,
    pub(crate) ros: Arc<MemoryAdapter>,
    pub(crate) adapters: Vec<Arc<dyn RosAdapter>>,
    pub(crate) topology: Topology,
    codecs: Vec<Arc<Raw>>,
    more_codecs: Vec<Arc<dyn Codec>>,
}

impl World {
    /// No rules yet; one ROS 2 graph with a listener on every topic.
    pub(crate) fn new() -> Self {
        want_lines();
        let ros = MemoryAdapter::new(RosVersion::Ros2, 1000);
        ros.pretend_subscribers(1);
        let codecs = [&INLINE, &NAMING, &QUEUED, &TAG_30, &TICKING, &TICKING_QUEUED];
        Self {
            devices: Arc::default(),
            adapters: vec![ros.clone()],
            ros,
            topology: Topology::default(),
            codecs: codecs.map(|info| Arc::new(Raw::new(info))).into(),
            more_codecs: Vec::new(),
        }
    }

    /// Adds a codec that links may name.
    pub(crate) fn register(&mut self, codec: Arc<dyn Codec>) {
        self.more_codecs.push(codec);
    }

    /// Adds a transport.
    pub(crate) fn transport(&mut self, device: &Device) -> TransportId {
        let spec = TransportSpec {
            device: device.clone(),
            framing: Framing::Datagram,
            route: None,
            everyone: false,
        };
        self.topology.transports.push(spec);
        TransportId(self.topology.transports.len() - 1)
    }

    /// Adds a rule; each link comes with its target.
    pub(crate) fn rule(
        &mut self,
        id: &str,
        direction: Direction,
        source: Option<TransportId>,
        links: Vec<(LinkConfig, Option<LinkTarget>)>,
    ) {
        let mut rule = ForwardRule::new(id, direction, Origin::Default);
        rule.source = Source::None;
        let (links, targets) = links.into_iter().unzip();
        rule.links = links;
        self.topology.pipelines.push(PipelineSpec { rule: Arc::new(rule), source, targets });
    }

    pub(crate) fn deps(&self) -> Deps {
        let mut codecs = CodecRegistry::new();
        let raw = self.codecs.iter().map(|codec| Arc::clone(codec) as Arc<dyn Codec>);
        for codec in raw.chain(self.more_codecs.iter().cloned()) {
            codecs.register(codec).unwrap();
        }
        Deps {
            codecs: Arc::new(codecs),
            types: Arc::new(TypeRegistry::builder().build()),
            adapters: AdapterSet::new(self.adapters.clone()),
            clock: Arc::new(SystemClock),
            clocks: Vec::new(),
            transports: Arc::clone(&self.devices) as _,
            monitor: None,
        }
    }

    /// Starts and waits until all that can run does.
    pub(crate) async fn start(&self) -> Running {
        let running = start(&self.topology, &self.deps());
        running.settled(PATIENCE).await;
        running
    }

    /// How many instances of a codec were made.
    pub(crate) fn made(&self, codec: &str) -> u32 {
        let codec = self.codecs.iter().find(|c| c.info().name == codec).unwrap();
        codec.made.load(SeqCst)
    }

    /// The bodies published on a topic, once there are `count`.
    pub(crate) async fn published(&self, topic: &str, count: u64) -> Vec<Vec<u8>> {
        let in_time = self.ros.wait_published(topic, count, PATIENCE).await;
        assert!(in_time, "{topic}: wanted {count}, have {:?}", self.bodies(topic));
        self.bodies(topic)
    }

    /// The bodies published on a topic so far.
    pub(crate) fn bodies(&self, topic: &str) -> Vec<Vec<u8>> {
        self.ros.published(topic).iter().map(|sample| sample.payload.body().to_vec()).collect()
    }

    /// Publishes a sample as a foreign node would.
    pub(crate) fn inject(&self, topic: &str, body: &[u8]) {
        assert!(self.ros.inject(topic, RosTime::default(), cdr(body)) > 0, "{topic} has no subscription");
    }
}

pub(crate) fn udp(port: u16) -> Device {
    Device::Udp(UdpBind::new(([127, 0, 0, 1], port).into()))
}

pub(crate) fn serial(device: &str) -> Device {
    Device::Serial(SerialSpec::new(device, 921_600))
}

pub(crate) fn peer(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}

pub(crate) fn topic(name: &str) -> TopicSpec {
    let msg_type = TypeName::message("std_msgs/msg/UInt8MultiArray").unwrap();
    TopicSpec { name: TopicName::parse(name).unwrap(), msg_type, qos: Qos::reliable() }
}

pub(crate) fn service(name: &str) -> ServiceSpec {
    ServiceSpec {
        name: TopicName::parse(name).unwrap(),
        srv_type: TypeName::service("std_srvs/srv/SetBool").unwrap(),
    }
}

/// A link named like its codec, without bindings.
pub(crate) fn link(codec: &str) -> LinkConfig {
    LinkConfig::new(codec, Some(codec.into()), Origin::Default)
}

/// A link between frames and a topic.
pub(crate) fn topic_link(codec: &str, name: &str) -> LinkConfig {
    LinkConfig { topic: Some(topic(name)), ..link(codec) }
}

/// A link between frames and a service.
pub(crate) fn service_link(name: &str) -> LinkConfig {
    LinkConfig { service: Some(service(name)), ..link("inline") }
}

pub(crate) fn limited(link: LinkConfig, per_second: u32) -> LinkConfig {
    LinkConfig { rate_limit: Some(RateLimit(f64::from(per_second))), ..link }
}

/// The counters of a rule's link.
pub(crate) fn counters(running: &Running, rule: usize, link: usize) -> LinkSnapshot {
    running.snapshot().rules[rule].links[link].counters
}

/// The state of a rule.
pub(crate) fn state(running: &Running, rule: usize) -> State {
    running.snapshot().rules[rule].state.clone()
}
