use std::net::SocketAddr;

use rostrans_core::rule::{Host, UdpBind, UdpPeer};
use rostrans_core::transport::{Framing, Malformed, Peer, SendError, TransportError};
use rostrans_transport::{Config, Device, open, sender};

use crate::harness::*;

#[tokio::test]
async fn datagrams_are_frames_with_their_sender() {
    let mut run = Run::udp(Framing::Datagram, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let (a, b) = (peer(), peer());
    for (from, bytes) in [(&a, &b"one"[..]), (&b, b"two"), (&a, b"")] {
        from.send_to(bytes, run.addr()).unwrap();
        let want = Told::Frame { bytes: bytes.to_vec(), peer: Peer::Udp(local(from)), tag: None };
        assert_eq!(run.next().await, want);
    }
    run.stop().await;
}

#[tokio::test]
async fn mavlink_datagram_is_cut_and_its_tail_is_not_joined_with_the_next_peer() {
    let mut run = Run::udp(Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let (a, b) = (peer(), peer());
    let (one, two) = (heartbeat(1, 1), heartbeat(1, 2));
    let (head, tail) = two.split_at(8);
    a.send_to(&[&one, &one, head].concat(), run.addr()).unwrap();
    b.send_to(tail, run.addr()).unwrap();
    b.send_to(&two, run.addr()).unwrap();
    let frame = |bytes: &Vec<u8>, peer: &_| Told::Frame {
        bytes: bytes.clone(),
        peer: Peer::Udp(local(peer)),
        tag: Some(0),
    };
    assert_eq!(run.next().await, frame(&one, &a));
    assert_eq!(run.next().await, frame(&one, &a));
    assert_eq!(run.next().await, Told::Malformed(Malformed::Truncated { need: two.len(), have: 8 }));
    assert_eq!(run.next().await, Told::Malformed(Malformed::Skipped(tail.len())));
    assert_eq!(run.next().await, frame(&two, &b));
    run.stop().await;
}

#[tokio::test]
async fn largest_datagram_of_garbage_hides_no_packet() {
    let garbage = [0x55; 65_507];
    let mut run = Run::udp(Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let a = peer();
    a.send_to(&garbage, run.addr()).unwrap();
    a.send_to(&heartbeat(1, 1), run.addr()).unwrap();
    assert_eq!(run.next().await, Told::Malformed(Malformed::Skipped(garbage.len())));
    assert_eq!(run.frame().await, heartbeat(1, 1));
    run.stop().await;
}

#[tokio::test]
async fn answers_leave_by_the_same_port_for_the_peer_heard_last() {
    let mut run = Run::udp(Framing::Datagram, Options::default());
    assert_eq!(run.next().await, Told::Up);
    assert_eq!(run.sink.try_send(b"x", None), Err(SendError::NoTarget));
    let (a, b) = (peer(), peer());
    a.send_to(b"hi", run.addr()).unwrap();
    run.frame().await;
    b.send_to(b"hi", run.addr()).unwrap();
    run.frame().await;
    run.sink.try_send(b"last", None).unwrap();
    run.sink.try_send(b"named", Some(local(&a))).unwrap();
    assert_eq!(recv(&b).await, (b"last".to_vec(), run.addr()));
    assert_eq!(recv(&a).await, (b"named".to_vec(), run.addr()));
    assert_eq!(run.sink.try_send(&[0; 65_508], None), Err(SendError::TooLarge(65_508)));
    run.stop().await;
}

#[tokio::test]
async fn peer_that_does_not_listen_does_not_stop_the_socket() {
    let mut run = Run::udp(Framing::Datagram, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let gone = local(&peer());
    for _ in 0..50 {
        run.sink.try_send(b"nobody", Some(gone)).unwrap();
    }
    let a = peer();
    a.send_to(b"still here", run.addr()).unwrap();
    assert_eq!(run.frame().await, b"still here");
    run.stop().await;
}

#[tokio::test]
async fn ticks_run_while_idle_and_while_busy() {
    let tick_every = Some(std::time::Duration::from_millis(2));
    let run = Run::udp(Framing::Datagram, Options { tick_every, ..Options::default() });
    let ticks = || run.ticks.lock().unwrap().len();
    until("ticks without traffic", || ticks() >= 3).await;
    let (before, a) = (ticks(), peer());
    until("ticks under load", || {
        (0..50).for_each(|_| drop(a.send_to(b"load", run.addr())));
        ticks() >= before + 3
    })
    .await;
    run.stop().await;
}

#[tokio::test]
async fn largest_datagram_arrives_whole() {
    let mut run = Run::udp(Framing::Datagram, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let bytes: Vec<u8> = (0..65_507_u32).map(|i| i.to_le_bytes()[0]).collect();
    peer().send_to(&bytes, run.addr()).unwrap();
    assert_eq!(run.frame().await, bytes);
    run.stop().await;
}

#[tokio::test]
async fn port_in_use_is_an_error_worth_another_try() {
    let holder = peer();
    let mut device = any_udp();
    if let Device::Udp(bind) = &mut device {
        bind.addr = local(&holder);
    }
    let config = Config { device, framing: Framing::Datagram, route: None, everyone: false };
    let Err(TransportError::Bind { addr, .. }) = open(config.clone()) else { panic!("bound twice") };
    assert_eq!(addr, local(&holder));
    drop(holder);
    open(config).expect("free again");
}

fn udp_at(addr: &str, multicast_if: &str) -> Device {
    Device::Udp(UdpBind { multicast_if: multicast_if.into(), ..UdpBind::new(addr.parse().unwrap()) })
}

#[tokio::test]
async fn group_is_heard_on_the_chosen_interface_by_every_member() {
    let start = |addr: &str| Run::start(udp_at(addr, "127.0.0.1"), Framing::Datagram, Options::default());
    let mut one = start("239.255.77.2:0");
    let group = one.addr();
    let mut two = start(&group.to_string());
    assert_eq!((one.next().await, two.next().await), (Told::Up, Told::Up));
    one.sink.try_send(b"to all", Some(group)).unwrap();
    assert_eq!((one.frame().await, two.frame().await), (b"to all".to_vec(), b"to all".to_vec()));
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn broadcast_is_sent_and_heard() {
    let mut run = Run::start(udp_at("127.255.255.255:0", ""), Framing::Datagram, Options::default());
    assert_eq!(run.next().await, Told::Up);
    sender(run.addr()).unwrap().try_send(b"to all", None).unwrap();
    assert_eq!(run.frame().await, b"to all");
    run.stop().await;
}

#[tokio::test]
async fn sender_has_a_socket_of_its_own() {
    let a = peer();
    let sink = sender(local(&a)).unwrap();
    sink.try_send(b"default", None).unwrap();
    assert_eq!(recv(&a).await.0, b"default");
    let b = peer();
    sink.try_send(b"named", Some(local(&b))).unwrap();
    assert_eq!(recv(&b).await.0, b"named");
}

fn with_peer(peer: UdpPeer) -> Device {
    Device::Udp(UdpBind { peer, ..UdpBind::new("127.0.0.1:0".parse().unwrap()) })
}

#[tokio::test]
async fn remote_is_sent_to_at_once_and_gives_way_to_who_is_heard() {
    let (remote, other) = (peer(), peer());
    let host = Host { name: "localhost".into(), port: local(&remote).port() };
    let device = with_peer(UdpPeer::Remote(host));
    let mut run = Run::start(device, Framing::Mavlink, Options::default());
    run.sink.try_send(b"first", None).unwrap();
    assert_eq!(recv(&remote).await.0, b"first");
    other.send_to(&heartbeat(1, 1), run.addr()).unwrap();
    while !matches!(run.next().await, Told::Frame { .. }) {}
    run.sink.try_send(b"then", None).unwrap();
    assert_eq!(recv(&other).await.0, b"then");
    run.stop().await;
}

#[tokio::test]
async fn broadcast_ends_with_the_first_answer_unless_it_is_permanent() {
    for permanent in [false, true] {
        let (all, one) = (peer_at("0.0.0.0:0".parse().unwrap()), peer());
        let to = SocketAddr::from(([127, 255, 255, 255], local(&all).port()));
        let device = with_peer(if permanent { UdpPeer::Always(to) } else { UdpPeer::Broadcast(to) });
        let mut run = Run::start(device, Framing::Mavlink, Options::default());
        run.sink.try_send(b"anybody", None).unwrap();
        assert_eq!(recv(&all).await.0, b"anybody");
        one.send_to(&heartbeat(1, 1), run.addr()).unwrap();
        while !matches!(run.next().await, Told::Frame { .. }) {}
        run.sink.try_send(b"you", None).unwrap();
        assert_eq!(recv(if permanent { &all } else { &one }).await.0, b"you");
        run.stop().await;
    }
}

#[tokio::test]
async fn stations_on_one_socket_all_hear_it_and_so_does_the_configured_one() {
    let (configured, a, b) = (peer(), peer(), peer());
    let host = Host { name: "127.0.0.1".into(), port: local(&configured).port() };
    let options = Options { everyone: true, ..Options::default() };
    let mut run = Run::start(with_peer(UdpPeer::Remote(host)), Framing::Mavlink, options);
    for station in [&a, &b] {
        station.send_to(&heartbeat(255, 1), run.addr()).unwrap();
        while !matches!(run.next().await, Told::Frame { .. }) {}
    }
    run.sink.try_send(b"for all", None).unwrap();
    for station in [&configured, &a, &b] {
        assert_eq!(recv(station).await.0, b"for all");
        assert!(is_empty(station));
    }
    run.stop().await;
}
