//! MAVLink between vehicles and ground stations on devices of any kind, with real sockets.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use rostrans_core::{
    rule::{Direction::UdpToRostopic, Host, TcpSpec, UdpBind},
    transport::Framing,
};
use rostrans_engine::{
    running::{Deps, Running, start},
    topology::{Device, HubSpec, TransportId},
    transports::SystemTransports,
};
use rostrans_mavlink::{Sender, write_v2};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
    time::timeout,
};

use crate::world::{World, topic_link};

const DEADLINE: Duration = Duration::from_secs(20);

fn udp() -> Device {
    Device::Udp(UdpBind::new("127.0.0.1:0".parse().unwrap()))
}

/// HEARTBEAT of a PX4 quadrotor.
fn heartbeat(sysid: u8, seq: u8) -> Vec<u8> {
    let mut out = Vec::new();
    write_v2(&mut out, Sender { seq, sysid, compid: 1 }, 0, &[0, 0, 0, 0, 2, 12, 0, 4, 3], 50).unwrap();
    out
}

/// PARAM_REQUEST_LIST of a ground station.
fn request(target: u8, seq: u8) -> Vec<u8> {
    let mut out = Vec::new();
    write_v2(&mut out, Sender { seq, sysid: 255, compid: 190 }, 21, &[target, 1], 159).unwrap();
    out
}

/// Vehicles on some devices, ground stations on others.
fn world(vehicles: &[Device], stations: &[Device]) -> World {
    let mut world = World::new();
    let vehicles: Vec<TransportId> = vehicles.iter().map(|device| world.transport(device)).collect();
    for (number, device) in (1..).zip(stations) {
        let stations = world.transport(device);
        let rules = vehicles.iter().map(|id| format!("gcs_{number}_{}", id.0).as_str().into()).collect();
        world.topology.hubs.push(HubSpec { rules, vehicles: vehicles.clone(), stations });
    }
    for transport in &mut world.topology.transports {
        transport.framing = Framing::Mavlink;
        transport.everyone = true;
    }
    for id in vehicles {
        world.topology.transports[id.0].everyone = false;
    }
    world
}

async fn run(world: &World) -> Running {
    let running = start(&world.topology, &Deps { transports: Arc::new(SystemTransports), ..world.deps() });
    assert_eq!(running.settled(DEADLINE).await, []);
    running
}

fn address(running: &Running, transport: usize) -> SocketAddr {
    running.snapshot().transports[transport].local_addr.expect("a bound socket")
}

async fn peer(to: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(to).await.unwrap();
    socket
}

async fn heard(socket: &UdpSocket) -> Vec<u8> {
    let mut buf = vec![0; 2048];
    let len = timeout(DEADLINE, socket.recv(&mut buf)).await.expect("a datagram in time").unwrap();
    buf.truncate(len);
    buf
}

async fn read(stream: &mut TcpStream, len: usize) -> Vec<u8> {
    let mut buf = vec![0; len];
    timeout(DEADLINE, stream.read_exact(&mut buf)).await.expect("bytes in time").unwrap();
    buf
}

#[tokio::test]
async fn stations_of_every_kind_hear_the_vehicle_and_reach_it() {
    let world = world(&[udp()], &[udp(), Device::Tcp(TcpSpec::Listen("127.0.0.1:0".parse().unwrap()))]);
    let running = run(&world).await;
    let vehicle = peer(address(&running, 0)).await;
    let (qgc, mavproxy) = (peer(address(&running, 1)).await, peer(address(&running, 1)).await);
    let mut mavsdk = TcpStream::connect(address(&running, 2)).await.unwrap();
    vehicle.send(&heartbeat(1, 0)).await.unwrap();
    assert_eq!(read(&mut mavsdk, 21).await, heartbeat(1, 0));
    for (station, seq) in [(&qgc, 1), (&mavproxy, 2)] {
        station.send(&request(1, seq)).await.unwrap();
        assert_eq!(heard(&vehicle).await, request(1, seq));
    }
    mavsdk.write_all(&request(1, 3)).await.unwrap();
    assert_eq!(heard(&vehicle).await, request(1, 3));
    // What one station sends is for the vehicle alone: the next thing that all hear is the vehicle's.
    vehicle.send(&[heartbeat(1, 4), heartbeat(1, 5)].concat()).await.unwrap();
    assert_eq!(read(&mut mavsdk, 42).await, [heartbeat(1, 4), heartbeat(1, 5)].concat());
    for station in [&qgc, &mavproxy] {
        assert_eq!(heard(station).await, heartbeat(1, 4));
        assert_eq!(heard(station).await, heartbeat(1, 5));
    }
}

#[tokio::test]
async fn frames_for_one_vehicle_go_to_it_wherever_it_is_and_those_for_all_to_all() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = Device::Tcp(TcpSpec::Connect(Host { name: "127.0.0.1".into(), port }));
    let world = world(&[udp(), client], &[udp()]);
    let running = start(&world.topology, &Deps { transports: Arc::new(SystemTransports), ..world.deps() });
    let (mut third, _) = timeout(DEADLINE, listener.accept()).await.expect("a connection").unwrap();
    assert_eq!(running.settled(DEADLINE).await, []);
    let (first, second) = (peer(address(&running, 0)).await, peer(address(&running, 0)).await);
    let station = peer(address(&running, 2)).await;
    station.send(&request(7, 0)).await.unwrap();
    assert_eq!(
        read(&mut third, request(7, 0).len()).await,
        request(7, 0),
        "a device where nobody was heard yet"
    );
    for (vehicle, sysid) in [(&first, 1), (&second, 2)] {
        vehicle.send(&heartbeat(sysid, 0)).await.unwrap();
        assert_eq!(heard(&station).await, heartbeat(sysid, 0));
    }
    third.write_all(&heartbeat(3, 0)).await.unwrap();
    assert_eq!(heard(&station).await, heartbeat(3, 0));
    station.send(&request(2, 1)).await.unwrap();
    assert_eq!(heard(&second).await, request(2, 1));
    station.send(&request(3, 2)).await.unwrap();
    assert_eq!(read(&mut third, request(3, 2).len()).await, request(3, 2));
    station.send(&heartbeat(255, 3)).await.unwrap();
    for vehicle in [&first, &second] {
        assert_eq!(heard(vehicle).await, heartbeat(255, 3), "and nothing before it that was for others");
    }
    assert_eq!(read(&mut third, 21).await, heartbeat(255, 3));
}

#[tokio::test]
async fn links_read_the_same_frames_and_the_monitor_counts_them() {
    let mut world = world(&[udp()], &[udp()]);
    world.topology.transports[0].framing = Framing::Mavlink;
    let source = Some(TransportId(0));
    world.rule("telemetry", UdpToRostopic, source, vec![(topic_link("inline", "/raw"), None)]);
    let running = run(&world).await;
    let vehicle = peer(address(&running, 0)).await;
    let station = peer(address(&running, 1)).await;
    station.send(&request(1, 0)).await.unwrap();
    vehicle.send(&heartbeat(1, 1)).await.unwrap();
    assert_eq!(heard(&station).await, heartbeat(1, 1));
    world.published("/raw", 1).await;
    let snapshot = running.snapshot();
    let (rule, route) = snapshot.transports[1].route.clone().expect("counters of the stations' side");
    assert_eq!(rule.as_str(), "gcs_1_0");
    assert_eq!((route.from_vehicles.frames, route.to_stations.frames, route.from_stations.frames), (1, 1, 1));
}
