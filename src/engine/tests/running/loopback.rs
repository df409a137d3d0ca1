//! Every direction over real sockets and pseudo terminals.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use rostrans_core::rule::Direction::{
    RosToSerial, RosserviceToUdp, RostopicToUdp, SerialToRos, UdpToRosservice, UdpToRostopic,
};
use rostrans_engine::{
    running::{Deps, Running, Shutdown, start},
    supervisor::State,
    topology::{Device, LinkTarget, RouteSpec, TransportId},
    transports::SystemTransports,
};
use rostrans_test_pty::FarEnd;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UdpSocket,
    time::timeout,
};

use crate::{
    call_in::call,
    codec::cdr,
    world::{World, serial, service, service_link, state, topic_link, udp},
};

/// No test waits longer for anything.
const DEADLINE: Duration = Duration::from_secs(20);

async fn run(world: &World) -> Running {
    let running = start(&world.topology, &Deps { transports: Arc::new(SystemTransports), ..world.deps() });
    assert_eq!(running.settled(DEADLINE).await, []);
    running
}

/// The address that the first transport got.
fn address(running: &Running) -> SocketAddr {
    running.snapshot().transports[0].local_addr.expect("a UDP socket")
}

async fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    (socket, addr)
}

async fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buf = vec![0; 2048];
    let (len, from) =
        timeout(DEADLINE, socket.recv_from(&mut buf)).await.expect("a datagram in time").unwrap();
    buf.truncate(len);
    (buf, from)
}

/// A pseudo terminal: its far end, and the device to open.
fn terminal() -> (FarEnd, Device) {
    let (far_end, near_end) = rostrans_test_pty::open().unwrap();
    let device = serial(&near_end);
    (far_end, device)
}

async fn end(running: Running) {
    assert_eq!(running.shutdown(Duration::from_secs(3)).await, Shutdown::default());
}

#[tokio::test]
async fn udp_to_rostopic_publishes_and_replies_from_its_port() {
    let mut world = World::new();
    let source = world.transport(&udp(0));
    let links = vec![(topic_link("inline", "/inline"), None), (topic_link("queued", "/queued"), None)];
    world.rule("up", UdpToRostopic, Some(source), links);
    let running = run(&world).await;
    let (vehicle, _) = socket().await;
    vehicle.send_to(b"ping", address(&running)).await.unwrap();
    for topic in ["/inline", "/queued"] {
        assert_eq!(world.published(topic, 1).await, [b"ping"]);
        assert_eq!(receive(&vehicle).await, (b"pong".to_vec(), address(&running)));
    }
    end(running).await;
}

#[tokio::test]
async fn serial_to_ros_and_ros_to_serial_share_a_port() {
    let mut world = World::new();
    let (mut far_end, device) = terminal();
    let port = world.transport(&device);
    world.rule("up", SerialToRos, Some(port), vec![(topic_link("inline", "/up"), None)]);
    let down = vec![(topic_link("inline", "/down"), Some(LinkTarget::Serial(port)))];
    world.rule("down", RosToSerial, None, down);
    let running = run(&world).await;
    far_end.write_all(b"from the vehicle").await.unwrap();
    assert_eq!(world.published("/up", 1).await, [b"from the vehicle"]);
    world.inject("/down", b"to the vehicle");
    let mut buf = [0; 14];
    timeout(DEADLINE, far_end.read_exact(&mut buf)).await.expect("bytes in time").unwrap();
    assert_eq!(&buf, b"to the vehicle");
    end(running).await;
}

#[tokio::test]
async fn rostopic_to_udp_sends_from_its_source_port_or_one_of_its_own() {
    let mut world = World::new();
    let (vehicle, to) = socket().await;
    let source = world.transport(&udp(0));
    let link = |name| vec![(topic_link("inline", name), Some(LinkTarget::Udp(to)))];
    world.rule("bound", RostopicToUdp, Some(source), link("/bound"));
    world.rule("free", RostopicToUdp, None, link("/free"));
    let running = run(&world).await;
    world.inject("/bound", b"one");
    assert_eq!(receive(&vehicle).await, (b"one".to_vec(), address(&running)));
    world.inject("/free", b"two");
    let (bytes, from) = receive(&vehicle).await;
    assert_eq!(bytes, b"two");
    assert_ne!(from, address(&running));
    end(running).await;
}

#[tokio::test]
async fn udp_to_rosservice_answers_the_one_who_asks() {
    let mut world = World::new();
    let source = world.transport(&udp(0));
    world.rule("call", UdpToRosservice, Some(source), vec![(service_link("/set"), None)]);
    let running = run(&world).await;
    let _server = world.ros.answer(&service("/set"), |request| Ok(cdr(&[b"did ", request.body()].concat())));
    let ((first, _), (second, _)) = (socket().await, socket().await);
    first.send_to(b"?this", address(&running)).await.unwrap();
    second.send_to(b"?that", address(&running)).await.unwrap();
    assert_eq!(receive(&first).await, (b"=did this".to_vec(), address(&running)));
    assert_eq!(receive(&second).await, (b"=did that".to_vec(), address(&running)));
    end(running).await;
}

#[tokio::test]
async fn rosservice_to_udp_is_answered_at_the_source() {
    let mut world = World::new();
    let (vehicle, to) = socket().await;
    let source = world.transport(&udp(0));
    let link = (service_link("/arm"), Some(LinkTarget::Udp(to)));
    world.rule("in", RosserviceToUdp, Some(source), vec![link]);
    let running = run(&world).await;
    let response = call(&world, "/arm", b"arm");
    let (request, from) = receive(&vehicle).await;
    assert_eq!((&*request, from), (b"arm".as_slice(), address(&running)));
    let (stranger, _) = socket().await;
    stranger.send_to(b"=forged", from).await.unwrap();
    vehicle.send_to(b"=armed", from).await.unwrap();
    let response = timeout(DEADLINE, response).await.expect("an answer in time").unwrap();
    assert_eq!(response, Ok(b"armed".to_vec()));
    end(running).await;
}

#[tokio::test]
async fn bytes_route_and_links_share_a_port() {
    let mut world = World::new();
    let (ground, ground_addr) = socket().await;
    let source = world.transport(&udp(0));
    let route = RouteSpec { rule_id: "gcs".into(), endpoints: vec![ground_addr], upstream: None };
    world.topology.transports[source.0].route = Some(route);
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("inline", "/up"), None)]);
    let running = run(&world).await;
    let (vehicle, vehicle_addr) = socket().await;
    vehicle.send_to(b"telemetry", address(&running)).await.unwrap();
    assert_eq!(receive(&ground).await, (b"telemetry".to_vec(), address(&running)));
    assert_eq!(world.published("/up", 1).await, [b"telemetry"]);
    ground.send_to(b"command", address(&running)).await.unwrap();
    assert_eq!(receive(&vehicle).await, (b"command".to_vec(), address(&running)));
    let (rule, stats) = running.snapshot().transports[0].route.clone().expect("a route");
    assert_eq!((rule.as_str(), stats.fcu), ("gcs", Some(vehicle_addr)));
    end(running).await;
}

#[tokio::test]
async fn route_without_links_runs_although_no_rule_does() {
    let mut world = World::new();
    let (ground, ground_addr) = socket().await;
    let source = world.transport(&udp(0));
    let route = RouteSpec { rule_id: "gcs".into(), endpoints: vec![ground_addr], upstream: None };
    world.topology.transports[source.0].route = Some(route);
    world.rule("broken", UdpToRostopic, Some(source), vec![(topic_link("no_such_codec", "/up"), None)]);
    let running = start(&world.topology, &Deps { transports: Arc::new(SystemTransports), ..world.deps() });
    assert_eq!(running.settled(DEADLINE).await.len(), 1);
    let (vehicle, _) = socket().await;
    vehicle.send_to(b"telemetry", address(&running)).await.unwrap();
    assert_eq!(receive(&ground).await.0, b"telemetry");
    assert!(timeout(Duration::ZERO, running.wait_failed()).await.is_err());
    end(running).await;
}

#[tokio::test]
async fn port_in_use_is_named_and_taken_once_it_is_free() {
    let mut world = World::new();
    let (other_program, taken) = socket().await;
    let source: TransportId = world.transport(&udp(taken.port()));
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("inline", "/up"), None)]);
    let running = start(&world.topology, &Deps { transports: Arc::new(SystemTransports), ..world.deps() });
    let problems = running.settled(DEADLINE).await;
    let reason = problems[0].state.problem().unwrap();
    assert!(reason.contains("cannot listen on 127.0.0.1:"), "{reason}");
    assert!(reason.contains(&format!("'ss -ulpn sport = :{}' shows which", taken.port())), "{reason}");
    drop(other_program);
    timeout(DEADLINE, async {
        while state(&running, 0) != State::Running {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("the port is taken in time");
    end(running).await;
}
