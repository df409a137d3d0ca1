//! Frames that call services.

use std::time::Duration;

use rostrans_core::rule::Direction::UdpToRosservice;
use rostrans_engine::topology::LinkTarget;

use crate::{
    codec::cdr,
    device::Sent,
    world::{PATIENCE, World, counters, limited, peer, service, service_link, udp},
};

fn world() -> World {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("call", UdpToRosservice, Some(source), vec![(service_link("/set"), None)]);
    world
}

fn answer(to: u16, bytes: &[u8]) -> Sent {
    Sent { from: Some(udp(9000)), to: Some(peer(to)), bytes: bytes.to_vec() }
}

#[tokio::test(start_paused = true)]
async fn answer_goes_back_to_the_peer_that_asked() {
    let world = world();
    let running = world.start().await;
    let _server = world.ros.answer(&service("/set"), |request| Ok(cdr(&[b"did ", request.body()].concat())));
    world.devices.datagram(&udp(9000), b"?one", peer(41)).await;
    world.devices.wire.wait(1).await;
    world.devices.datagram(&udp(9000), b"?two", peer(42)).await;
    let expected = [answer(41, b"=did one"), answer(42, b"=did two")];
    assert_eq!(world.devices.wire.wait(2).await, expected);
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.frames, counters.messages), (4, 2));
    assert_eq!((counters.calls, counters.failed_calls), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn configured_target_gets_the_answers() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    let target = Some(LinkTarget::Udp(peer(77)));
    world.rule("call", UdpToRosservice, Some(source), vec![(service_link("/set"), target)]);
    let _running = world.start().await;
    let _server = world.ros.answer(&service("/set"), Ok);
    world.devices.datagram(&udp(9000), b"?x", peer(41)).await;
    assert_eq!(world.devices.wire.wait(1).await, [answer(77, b"=x")]);
}

#[tokio::test(start_paused = true)]
async fn absent_service_is_answered_when_time_is_up() {
    let world = world();
    let running = world.start().await;
    world.devices.datagram(&udp(9000), b"?x", peer(41)).await;
    let before = tokio::time::Instant::now();
    assert_eq!(world.devices.wire.wait(1).await, [answer(41, b"no server for the service")]);
    assert_eq!(before.elapsed(), Duration::from_secs(5));
    assert_eq!(counters(&running, 0, 0).failed_calls, 1);
}

#[tokio::test(start_paused = true)]
async fn call_lasts_as_long_as_its_codec_says() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("call", UdpToRosservice, Some(source), vec![(service_link("/slow"), None)]);
    let _running = world.start().await;
    world.devices.datagram(&udp(9000), b"?x", peer(41)).await;
    let before = tokio::time::Instant::now();
    assert_eq!(world.devices.wire.wait(1).await, [answer(41, b"no server for the service")]);
    assert_eq!(before.elapsed(), Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_eight_in_flight_are_answered_busy_at_once() {
    let world = world();
    let running = world.start().await;
    for asker in 1..=9 {
        world.devices.datagram(&udp(9000), b"?x", peer(asker)).await;
    }
    assert_eq!(world.devices.wire.wait(1).await, [answer(9, b"too many calls in flight")]);
    let sent = world.devices.wire.wait(9).await;
    assert!(sent[1..].iter().all(|sent| sent.bytes == b"no server for the service"));
    assert_eq!(counters(&running, 0, 0).failed_calls, 9);
}

#[tokio::test(start_paused = true)]
async fn frames_that_are_no_request_start_no_call() {
    let world = world();
    let running = world.start().await;
    let _server = world.ros.answer(&service("/set"), Ok);
    for bytes in [b"bad".as_slice(), b"panic", b"chatter", b"?x"] {
        world.devices.datagram(&udp(9000), bytes, peer(41)).await;
    }
    assert_eq!(world.devices.wire.wait(2).await, [answer(41, b"refused"), answer(41, b"=x")]);
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.messages, counters.decode_errors, counters.calls), (1, 1, 1));
    assert_eq!(running.snapshot().rules[0].links[0].panics, 1);
}

#[tokio::test(start_paused = true)]
async fn stream_of_garbage_gets_ten_answers_a_second() {
    let world = world();
    let running = world.start().await;
    for _ in 0..50 {
        world.devices.datagram(&udp(9000), b"bad", peer(41)).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.devices.wire.sent(), vec![answer(41, b"refused"); 10]);
    world.devices.datagram(&udp(9000), b"bad", peer(42)).await;
    assert_eq!(world.devices.wire.wait(11).await[10], answer(42, b"refused"));
    assert_eq!(counters(&running, 0, 0).decode_errors, 51);
}

#[tokio::test(start_paused = true)]
async fn rate_limit_holds_back_calls() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("call", UdpToRosservice, Some(source), vec![(limited(service_link("/set"), 1), None)]);
    let running = world.start().await;
    let _server = world.ros.answer(&service("/set"), Ok);
    for _ in 0..3 {
        world.devices.datagram(&udp(9000), b"?x", peer(41)).await;
    }
    world.devices.wire.wait(1).await;
    tokio::time::timeout(PATIENCE, async {
        while counters(&running, 0, 0).dropped_rate < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("two calls held back");
    assert_eq!(world.devices.wire.sent().len(), 1);
}

/// One rule with two services, and both servers, which answer with their names.
fn two_services() -> World {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    let links = vec![(service_link("/a"), None), (service_link("/b"), None)];
    world.rule("call", UdpToRosservice, Some(source), links);
    world
}

#[tokio::test(start_paused = true)]
async fn first_link_that_takes_a_request_alone_answers_it() {
    let world = two_services();
    let running = world.start().await;
    let _a = world.ros.answer(&service("/a"), |_| Ok(cdr(b"a")));
    let _b = world.ros.answer(&service("/b"), |_| Ok(cdr(b"b")));
    for (asker, bytes) in [(41, b"!/b".as_slice()), (42, b"!/a"), (43, b"?x")] {
        world.devices.datagram(&udp(9000), bytes, peer(asker)).await;
        world.devices.wire.wait(usize::from(asker - 40)).await;
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    let expected = [answer(41, b"=b"), answer(42, b"=a"), answer(43, b"=a")];
    assert_eq!(world.devices.wire.sent(), expected);
    let (a, b) = (counters(&running, 0, 0), counters(&running, 0, 1));
    assert_eq!((a.messages, a.calls, a.decode_errors), (2, 2, 0));
    assert_eq!((b.messages, b.calls, b.decode_errors), (1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn request_that_no_link_takes_is_refused_once() {
    let world = two_services();
    let running = world.start().await;
    for bytes in [b"!/c".as_slice(), b"chatter"] {
        world.devices.datagram(&udp(9000), bytes, peer(41)).await;
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(world.devices.wire.sent(), [answer(41, b"refused")]);
    let (a, b) = (counters(&running, 0, 0), counters(&running, 0, 1));
    assert_eq!((a.decode_errors, b.decode_errors), (1, 0));
}
