use std::{
    net::{Ipv6Addr, SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use rostrans_core::{
    rule::UdpBind,
    transport::{Framing, Malformed},
};
use rostrans_transport::{Device, RouteConfig, RouteSnapshot};

use crate::harness::*;

fn route(endpoints: &[&UdpSocket]) -> Options {
    let endpoints = endpoints.iter().map(|e| local(e)).collect();
    let route = Some(RouteConfig { name: "route".into(), endpoints, upstream: None });
    Options { route, idle: true, ..Options::default() }
}

fn snapshot(run: &Run) -> RouteSnapshot {
    run.route.as_ref().unwrap().snapshot()
}

async fn learned(run: &Run, fcu: SocketAddr) {
    until("the flight controller is learned", || snapshot(run).fcu == Some(fcu)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn burst_reaches_every_endpoint_complete_and_byte_exact() {
    let endpoints = [peer(), peer(), peer()];
    let run = Run::udp(Framing::Mavlink, route(&[&endpoints[0], &endpoints[1], &endpoints[2]]));
    let fcu = peer();
    // Receivers of the test have small buffers, so they read while the burst runs, and it waits for them.
    let read = Arc::new(AtomicU64::new(0));
    let readers: Vec<_> = endpoints
        .iter()
        .map(|endpoint| {
            let (endpoint, read) = (endpoint.try_clone().unwrap(), Arc::clone(&read));
            tokio::task::spawn_blocking(move || {
                let mut buf = vec![0; 70_000];
                (0..2000_u32).for_each(|number| {
                    let (n, _) = endpoint.recv_from(&mut buf).expect("a datagram in time");
                    assert_eq!(buf[..n], numbered(number), "datagram {number}");
                    read.fetch_add(1, Relaxed);
                });
            })
        })
        .collect();
    for number in 0..2000 {
        fcu.send_to(&numbered(number), run.addr()).unwrap();
        // The kernel's default buffer of the test's own receivers holds a few hundred datagrams.
        if number % 100 == 99 {
            until("all keep up", || read.load(Relaxed) == 3 * (u64::from(number) + 1)).await;
        }
    }
    for reader in readers {
        reader.await.unwrap();
    }
    let stats = snapshot(&run);
    assert_eq!(stats.from_vehicles.frames, 2000);
    assert!(stats.endpoints.iter().all(|e| e.sent == stats.from_vehicles && e.send_errors == 0), "{stats:?}");
    run.stop().await;
}

#[tokio::test]
async fn endpoints_answer_the_fcu_and_never_hear_each_other() {
    let (e0, e1, fcu) = (peer(), peer(), peer());
    let run = Run::udp(Framing::Mavlink, route(&[&e0, &e1]));
    fcu.send_to(b"down", run.addr()).unwrap();
    for endpoint in [&e0, &e1] {
        assert_eq!(recv(endpoint).await, (b"down".to_vec(), run.addr()));
    }
    e0.send_to(b"up 0", run.addr()).unwrap();
    e1.send_to(b"up 1", run.addr()).unwrap();
    assert_eq!(recv(&fcu).await, (b"up 0".to_vec(), run.addr()));
    assert_eq!(recv(&fcu).await, (b"up 1".to_vec(), run.addr()));
    // Traffic later on the same path shows that nothing else came before it.
    fcu.send_to(b"down again", run.addr()).unwrap();
    for endpoint in [&e0, &e1] {
        assert_eq!(recv(endpoint).await.0, b"down again");
    }
    let stats = snapshot(&run);
    assert_eq!((stats.to_vehicles.frames, stats.to_vehicles.bytes), (2, 8));
    assert_eq!(stats.endpoints.iter().map(|e| e.received.frames).sum::<u64>(), 2);
    run.stop().await;
}

#[tokio::test]
async fn restarted_fcu_is_relearned_after_a_second_of_silence() {
    let (endpoint, first, second) = (peer(), peer(), peer());
    let run = Run::udp(Framing::Mavlink, route(&[&endpoint]));
    first.send_to(&heartbeat(1, 0), run.addr()).unwrap();
    learned(&run, local(&first)).await;
    second.send_to(&heartbeat(1, 1), run.addr()).unwrap();
    recv(&endpoint).await;
    recv(&endpoint).await;
    assert_eq!(snapshot(&run).fcu, Some(local(&first)), "not while the first one is heard");
    until("relearned", || {
        second.send_to(&heartbeat(1, 2), run.addr()).unwrap();
        snapshot(&run).fcu == Some(local(&second))
    })
    .await;
    endpoint.send_to(b"up", run.addr()).unwrap();
    assert_eq!(recv(&second).await.0, b"up");
    assert!(is_empty(&first));
    run.stop().await;
}

#[tokio::test]
async fn bytes_before_any_vehicle_are_counted_and_harm_nothing() {
    let (endpoint, fcu) = (peer(), peer());
    let run = Run::udp(Framing::Mavlink, route(&[&endpoint]));
    endpoint.send_to(b"too early", run.addr()).unwrap();
    until("counted", || snapshot(&run).unroutable == 1).await;
    fcu.send_to(b"here", run.addr()).unwrap();
    assert_eq!(recv(&endpoint).await.0, b"here");
    run.stop().await;
}

#[tokio::test]
async fn empty_and_largest_datagrams_pass_unchanged() {
    let (endpoint, fcu) = (peer(), peer());
    let run = Run::udp(Framing::Mavlink, route(&[&endpoint]));
    let largest: Vec<u8> = (0..65_507_u32).map(|i| (i / 7).to_le_bytes()[0]).collect();
    for bytes in [vec![], largest.clone(), vec![0xFD], largest] {
        fcu.send_to(&bytes, run.addr()).unwrap();
        assert_eq!(recv(&endpoint).await.0, bytes);
    }
    run.stop().await;
}

#[tokio::test]
async fn endpoint_that_does_not_listen_costs_the_others_nothing() {
    let (live, fcu) = (peer(), peer());
    let dead = peer();
    let options = route(&[&dead, &live]);
    drop(dead);
    let run = Run::udp(Framing::Mavlink, options);
    for number in 0..200 {
        fcu.send_to(&numbered(number), run.addr()).unwrap();
        assert_eq!(recv(&live).await.0, numbered(number));
    }
    run.stop().await;
}

#[tokio::test]
async fn links_share_the_routed_socket_and_see_only_vehicles() {
    let (endpoint, fcu) = (peer(), peer());
    let mut run = Run::udp(Framing::Mavlink, Options { idle: false, ..route(&[&endpoint]) });
    assert_eq!(run.next().await, Told::Up);
    fcu.send_to(&[heartbeat(1, 1), heartbeat(1, 2)].concat(), run.addr()).unwrap();
    assert_eq!(run.frame().await, heartbeat(1, 1));
    assert_eq!(run.frame().await, heartbeat(1, 2));
    assert_eq!(recv(&endpoint).await.0.len(), 42);
    endpoint.send_to(&heartbeat(255, 9), run.addr()).unwrap();
    assert_eq!(recv(&fcu).await.0, heartbeat(255, 9));
    run.sink.try_send(b"to the fcu", None).unwrap();
    assert_eq!(recv(&fcu).await.0, b"to the fcu");
    fcu.send_to(&heartbeat(1, 3), run.addr()).unwrap();
    assert_eq!(run.frame().await, heartbeat(1, 3), "the endpoint's frame was not shown");
    run.stop().await;
}

#[tokio::test]
async fn idle_links_are_shown_nothing() {
    let (endpoint, fcu) = (peer(), peer());
    let mut run = Run::udp(Framing::Mavlink, route(&[&endpoint]));
    assert_eq!(run.next().await, Told::Up);
    fcu.send_to(&heartbeat(1, 1), run.addr()).unwrap();
    recv(&endpoint).await;
    assert!(tokio::time::timeout(Duration::ZERO, run.told.recv()).await.is_err());
    run.stop().await;
}

#[tokio::test]
async fn bytes_without_mavlink_from_elsewhere_are_counted_and_reach_nobody() {
    let (endpoint, fcu, stranger) = (peer(), peer(), peer());
    let mut run = Run::udp(Framing::Mavlink, Options { idle: false, ..route(&[&endpoint]) });
    assert_eq!(run.next().await, Told::Up);
    fcu.send_to(&heartbeat(1, 1), run.addr()).unwrap();
    learned(&run, local(&fcu)).await;
    stranger.send_to(b"noise", run.addr()).unwrap();
    stranger.send_to(&[0xFD; 64], run.addr()).unwrap();
    until("counted", || snapshot(&run).foreign.frames == 2).await;
    fcu.send_to(b"nsh> ", run.addr()).unwrap();
    fcu.send_to(&heartbeat(1, 2), run.addr()).unwrap();
    for bytes in [&heartbeat(1, 1)[..], b"nsh> ", &heartbeat(1, 2)] {
        assert_eq!(recv(&endpoint).await.0, bytes);
    }
    assert_eq!(run.frame().await, heartbeat(1, 1));
    assert_eq!(run.next().await, Told::Malformed(Malformed::Skipped(5)), "the FCU's, not the stranger's");
    assert_eq!(run.frame().await, heartbeat(1, 2));
    let stats = snapshot(&run);
    assert_eq!((stats.fcu, stats.foreign.bytes), (Some(local(&fcu)), 69));
    assert_eq!(stats.from_vehicles.frames, 3);
    run.stop().await;
}

#[tokio::test]
async fn route_of_ipv6_carries_both_ways() {
    let v6 = || peer_at("[::1]:0".parse().unwrap());
    let (endpoint, fcu) = (v6(), v6());
    for listen in ["[::1]:0", "[::]:0"] {
        let bind = UdpBind::new(listen.parse().unwrap());
        let run = Run::start(Device::Udp(bind), Framing::Mavlink, route(&[&endpoint]));
        let to = SocketAddr::from((Ipv6Addr::LOCALHOST, run.addr().port()));
        fcu.send_to(b"down", to).unwrap();
        assert_eq!(recv(&endpoint).await, (b"down".to_vec(), to), "{listen}");
        endpoint.send_to(b"up", to).unwrap();
        assert_eq!(recv(&fcu).await, (b"up".to_vec(), to), "{listen}");
        run.stop().await;
    }
}
