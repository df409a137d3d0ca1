use std::net::UdpSocket;

use rostrans_core::transport::Framing;
use rostrans_transport::RouteConfig;
use tokio::io::AsyncWriteExt;

use crate::{
    harness::*,
    serial::{Plug, read_exactly},
};

fn route(endpoints: &[&UdpSocket], two_way: bool) -> Options {
    let endpoints = endpoints.iter().map(|e| local(e)).collect();
    let upstream = two_way.then(|| "127.0.0.1:0".parse().unwrap());
    let route = Some(RouteConfig { name: "route".into(), endpoints, upstream });
    Options { route, idle: true, ..Options::default() }
}

#[tokio::test]
async fn frames_of_the_port_reach_every_endpoint_one_a_datagram() {
    let (e0, e1, plug) = (peer(), peer(), Plug::new("down"));
    let mut far = plug.insert();
    let run = Run::start(plug.device(), Framing::Mavlink, route(&[&e0, &e1], false));
    for seq in 0..200 {
        far.write_all(&heartbeat(1, seq)).await.unwrap();
    }
    for endpoint in [&e0, &e1] {
        for seq in 0..200 {
            assert_eq!(recv(endpoint).await.0, heartbeat(1, seq));
        }
    }
    run.stop().await;
}

#[tokio::test]
async fn bytes_that_are_no_mavlink_pass_too_even_when_they_look_like_its_start() {
    let (endpoint, plug) = (peer(), Plug::new("nomav"));
    let mut far = plug.insert();
    let run = Run::start(plug.device(), Framing::Mavlink, route(&[&endpoint], false));
    let bytes = [b"$GPGGA\r\n".to_vec(), heartbeat(1, 1), vec![0xFE, 0xFF, 3, 4]].concat();
    far.write_all(&bytes).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < bytes.len() {
        seen.extend(recv(&endpoint).await.0);
    }
    assert_eq!(seen, bytes);
    run.stop().await;
}

#[tokio::test]
async fn burst_of_endpoints_reaches_the_port_complete_though_it_is_slower() {
    let (e0, e1, plug) = (peer(), peer(), Plug::new("up"));
    let mut far = plug.insert();
    let mut run = Run::start(plug.device(), Framing::Mavlink, route(&[&e0, &e1], true));
    assert_eq!(run.next().await, Told::Up);
    let want: usize = (0..2000).map(|number| numbered(number).len()).sum();
    for number in 0..2000 {
        let from = if number % 2 == 0 { &e0 } else { &e1 };
        from.send_to(&numbered(number), run.addr()).unwrap();
    }
    let bytes = read_exactly(&mut far, want).await;
    let all: Vec<u8> = (0..2000).flat_map(numbered).collect();
    assert!(bytes == all, "byte-exact and in order");
    let stats = run.route.as_ref().unwrap().snapshot();
    assert_eq!((stats.to_vehicles.frames, stats.vehicle_send_errors), (2000, 0));
    assert_eq!(stats.endpoints.iter().map(|e| e.received.frames).collect::<Vec<_>>(), [1000, 1000]);
    run.stop().await;
}

#[tokio::test]
async fn endpoints_are_not_answered_with_stale_bytes_after_a_replug() {
    let (endpoint, plug) = (peer(), Plug::new("stale"));
    let mut run = Run::start(plug.device(), Framing::Mavlink, route(&[&endpoint], true));
    let Told::Down(_) = run.next().await else { panic!("not missing") };
    endpoint.send_to(b"stale", run.addr()).unwrap();
    let stats = run.route.clone().unwrap();
    until("dropped and counted", || stats.snapshot().vehicle_send_errors == 1).await;
    let mut far = plug.insert();
    while run.next().await != Told::Up {}
    endpoint.send_to(b"fresh", run.addr()).unwrap();
    assert_eq!(read_exactly(&mut far, 5).await, b"fresh");
    run.stop().await;
}

#[tokio::test]
async fn strangers_reach_the_port_only_with_mavlink_also_before_it_spoke() {
    let (endpoint, stranger, plug) = (peer(), peer(), Plug::new("foreign"));
    let mut far = plug.insert();
    let mut run = Run::start(plug.device(), Framing::Mavlink, route(&[&endpoint], true));
    assert_eq!(run.next().await, Told::Up);
    let stats = run.route.clone().unwrap();
    stranger.send_to(b"before", run.addr()).unwrap();
    until("counted", || stats.snapshot().foreign.frames == 1).await;
    far.write_all(&heartbeat(1, 1)).await.unwrap();
    recv(&endpoint).await;
    stranger.send_to(b"noise", run.addr()).unwrap();
    until("counted", || stats.snapshot().foreign.frames == 2).await;
    stranger.send_to(&heartbeat(255, 7), run.addr()).unwrap();
    assert_eq!(read_exactly(&mut far, 21).await, heartbeat(255, 7));
    endpoint.send_to(b"raw", run.addr()).unwrap();
    assert_eq!(read_exactly(&mut far, 3).await, b"raw");
    run.stop().await;
}
