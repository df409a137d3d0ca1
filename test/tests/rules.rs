//! Planned rules with the codecs that ship, over loopback sockets and a pseudo terminal, into the memory graph.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::BytesMut;
use rostrans_adapter_memory::MemoryAdapter;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{Fabric, RosVersion},
    clock::{RosTime, SystemClock},
    diag::Origin,
    filter::TopicFilter,
    registry::CodecRegistry,
    rule::{Direction, ForwardRule, LinkConfig, SerialSpec, Source, Target, UdpBind},
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
};
use rostrans_engine::{
    adapters::AdapterSet,
    plan::{PlanContext, plan},
    running::{Deps, Running, Shutdown, start},
    topology::{Device, Topology},
    transports::SystemTransports,
};
use rostrans_schema::{TypeName, TypeRegistry};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UdpSocket,
    time::{Instant, timeout},
};

/// No test waits longer for anything.
const DEADLINE: Duration = Duration::from_secs(20);

/// Running rules and the graph they serve.
struct Run {
    ros: Arc<MemoryAdapter>,
    types: Arc<TypeRegistry>,
    running: Running,
}

impl Run {
    /// Plans and starts; everything must come up.
    async fn start(rules: Vec<ForwardRule>) -> Self {
        let (codecs, types) = (rostrans_codecs::builtin(), Arc::new(TypeRegistry::bundled()));
        let topology = planned(rules, &codecs, &types);
        let ros = MemoryAdapter::new(RosVersion::Ros2, 100);
        ros.pretend_subscribers(1);
        let deps = Deps {
            codecs: Arc::new(codecs),
            types: Arc::clone(&types),
            adapters: AdapterSet::new(vec![ros.clone()]),
            clock: Arc::new(SystemClock),
            clocks: Vec::new(),
            transports: Arc::new(SystemTransports),
            monitor: None,
        };
        let running = start(&topology, &deps);
        assert_eq!(running.settled(DEADLINE).await, []);
        Self { ros, types, running }
    }

    /// The address of the first socket.
    fn address(&self) -> SocketAddr {
        self.running.snapshot().transports[0].local_addr.unwrap()
    }

    /// The first message on a topic, as JSON.
    async fn published(&self, topic: &str, msg_type: &str) -> Value {
        assert!(self.ros.wait_published(topic, 1, DEADLINE).await, "{topic} in time");
        let message = self.types.message(&TypeName::message(msg_type).unwrap()).unwrap();
        message.cdr_to_json(&self.ros.published(topic)[0].payload).unwrap()
    }

    fn inject(&self, topic: &str, msg_type: &str, message: &Value) {
        let msg_type = self.types.message(&TypeName::message(msg_type).unwrap()).unwrap();
        let sample = msg_type.json_to_cdr(message, &mut BytesMut::new()).unwrap();
        assert_eq!(self.ros.inject(topic, RosTime::default(), sample), 1);
    }

    /// A SetBool request or response.
    fn set_bool(&self, response: bool, value: &Value) -> CdrBytes {
        let service = self.types.service(&service().srv_type).unwrap();
        let part = if response { service.response() } else { service.request() };
        part.json_to_cdr(value, &mut BytesMut::new()).unwrap()
    }

    async fn end(self) {
        assert_eq!(self.running.shutdown(Duration::from_secs(3)).await, Shutdown::default());
    }
}

fn planned(rules: Vec<ForwardRule>, codecs: &CodecRegistry, types: &Arc<TypeRegistry>) -> Topology {
    let filter = TopicFilter::default();
    let cx = PlanContext { filter: &filter, codecs, types, adapters: &[Fabric::Dds], own_addresses: &[] };
    let mut topology = plan(rules, &cx).unwrap().topology;
    // A plan wants known ports; a test takes whatever is free.
    for transport in &mut topology.transports {
        if let Device::Udp(bind) = &mut transport.device {
            bind.addr.set_port(0);
        }
    }
    topology
}

fn rule(id: &str, direction: Direction, source: Source, link: LinkConfig) -> ForwardRule {
    ForwardRule { source, links: vec![link], ..ForwardRule::new(id, direction, Origin::Default) }
}

fn topic(codec: &str, name: &str, msg_type: &str) -> LinkConfig {
    let spec = TopicSpec {
        name: TopicName::parse(name).unwrap(),
        msg_type: TypeName::message(msg_type).unwrap(),
        qos: Qos::reliable(),
    };
    LinkConfig { topic: Some(spec), ..LinkConfig::new(codec, Some(codec.into()), Origin::Default) }
}

fn service() -> ServiceSpec {
    ServiceSpec {
        name: TopicName::parse("/set").unwrap(),
        srv_type: TypeName::service("std_srvs/srv/SetBool").unwrap(),
    }
}

fn service_link() -> LinkConfig {
    LinkConfig { service: Some(service()), ..LinkConfig::new("set", Some("json".into()), Origin::Default) }
}

/// Bound to a free port; see [`planned`].
fn any_port() -> Source {
    Source::Udp(UdpBind::new(([127, 0, 0, 1], 1).into()))
}

async fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    (socket, addr)
}

async fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buf = vec![0; 2048];
    let received = timeout(DEADLINE, socket.recv_from(&mut buf)).await;
    let (len, from) = received.expect("a datagram in time").unwrap();
    buf.truncate(len);
    (buf, from)
}

#[tokio::test]
async fn udp_to_rostopic() {
    let link = topic("json", "/point", "geometry_msgs/msg/Point");
    let run = Run::start(vec![rule("up", Direction::UdpToRostopic, any_port(), link)]).await;
    let (peer, _) = socket().await;
    peer.send_to(br#"{"x": 1.5, "z": -2}"#, run.address()).await.unwrap();
    let point = run.published("/point", "geometry_msgs/msg/Point").await;
    assert_eq!(point, json!({"x": 1.5, "y": 0.0, "z": -2.0}));
    run.end().await;
}

#[tokio::test]
async fn rostopic_to_udp() {
    let (peer, to) = socket().await;
    let link =
        LinkConfig { target: Some(Target::Udp(to)), ..topic("string", "/text", "std_msgs/msg/String") };
    let run = Run::start(vec![rule("down", Direction::RostopicToUdp, Source::None, link)]).await;
    run.inject("/text", "std_msgs/msg/String", &json!({"data": "grüezi"}));
    assert_eq!(receive(&peer).await.0, "grüezi".as_bytes());
    run.end().await;
}

#[tokio::test]
async fn serial_to_ros_and_ros_to_serial() {
    let (mut far_end, near_end) = rostrans_test_pty::open().unwrap();
    let port = SerialSpec::new(near_end, 921_600);
    let bytes = |name| topic("raw_bytes", name, "std_msgs/msg/UInt8MultiArray");
    let down = LinkConfig { target: Some(Target::Serial(port.clone())), ..bytes("/down") };
    let run = Run::start(vec![
        rule("up", Direction::SerialToRos, Source::Serial(port), bytes("/up")),
        rule("down", Direction::RosToSerial, Source::None, down),
    ])
    .await;
    far_end.write_all(b"abc").await.unwrap();
    let up = run.published("/up", "std_msgs/msg/UInt8MultiArray").await;
    assert_eq!(up["data"], json!([97, 98, 99]));
    run.inject("/down", "std_msgs/msg/UInt8MultiArray", &json!({"data": [120, 121, 122]}));
    let mut buf = [0; 3];
    timeout(DEADLINE, far_end.read_exact(&mut buf)).await.expect("bytes in time").unwrap();
    assert_eq!(&buf, b"xyz");
    run.end().await;
}

#[tokio::test]
async fn udp_to_rosservice() {
    let run = Run::start(vec![rule("call", Direction::UdpToRosservice, any_port(), service_link())]).await;
    let response = run.set_bool(true, &json!({"success": true, "message": "lit"}));
    let _server = run.ros.answer(&service(), move |_| Ok(response.clone()));
    let (peer, _) = socket().await;
    peer.send_to(br#"{"data": true}"#, run.address()).await.unwrap();
    let (answer, from) = receive(&peer).await;
    assert_eq!(from, run.address());
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer, json!({"success": true, "message": "lit"}));
    peer.send_to(br#"{"data": "on"}"#, run.address()).await.unwrap();
    let refusal: Value = serde_json::from_slice(&receive(&peer).await.0).unwrap();
    assert_eq!(refusal, json!({"error": "field 'data': expected true or false, found '\"on\"'"}));
    run.end().await;
}

#[tokio::test]
async fn rosservice_to_udp() {
    let (peer, to) = socket().await;
    let link = LinkConfig { target: Some(Target::Udp(to)), ..service_link() };
    let run = Run::start(vec![rule("in", Direction::RosserviceToUdp, any_port(), link)]).await;
    let request = run.set_bool(false, &json!({"data": true}));
    let service = service();
    let call = run.ros.call(&service, request, (Instant::now() + DEADLINE).into_std());
    let answer = async {
        let (request, from) = receive(&peer).await;
        assert_eq!(serde_json::from_slice::<Value>(&request).unwrap(), json!({"data": true}));
        peer.send_to(br#"{"success": false, "message": "fused"}"#, from).await.unwrap();
    };
    let (response, ()) = tokio::join!(call, answer);
    let expected = run.set_bool(true, &json!({"success": false, "message": "fused"}));
    assert_eq!(response, Ok(expected));
    run.end().await;
}

#[tokio::test]
async fn bytes_route() {
    let (ground, to) = socket().await;
    let link = LinkConfig { target: Some(Target::Udp(to)), ..LinkConfig::new("gcs", None, Origin::Default) };
    let run = Run::start(vec![rule("route", Direction::BytesRoute, any_port(), link)]).await;
    let (vehicle, _) = socket().await;
    vehicle.send_to(b"up", run.address()).await.unwrap();
    assert_eq!(receive(&ground).await, (b"up".to_vec(), run.address()));
    ground.send_to(b"down", run.address()).await.unwrap();
    assert_eq!(receive(&vehicle).await, (b"down".to_vec(), run.address()));
    run.end().await;
}
