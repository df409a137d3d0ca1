//! Topics to frames.

use std::time::Duration;

use rostrans_core::{
    rule::Direction::{RosToSerial, RostopicToUdp, UdpToRostopic},
    transport::SendError,
};
use rostrans_engine::topology::LinkTarget;

use crate::{
    device::Sent,
    world::{World, counters, limited, peer, serial, topic_link, udp},
};

fn sent(from: Option<rostrans_engine::topology::Device>, to: Option<u16>, bytes: &[u8]) -> Sent {
    Sent { from, to: to.map(peer), bytes: bytes.to_vec() }
}

#[tokio::test(start_paused = true)]
async fn sample_leaves_by_a_socket_of_the_rules_own() {
    let mut world = World::new();
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("down", RostopicToUdp, None, vec![(topic_link("inline", "/cmd"), target)]);
    let running = world.start().await;
    world.inject("/cmd", b"go");
    assert_eq!(world.devices.wire.wait(1).await, [sent(None, Some(20), b"go")]);
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.messages, counters.frames, counters.bytes), (1, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn sample_leaves_by_the_rules_source_socket_if_it_has_one() {
    let mut world = World::new();
    let source = Some(world.transport(&udp(9000)));
    world.rule("up", UdpToRostopic, source, vec![(topic_link("inline", "/up"), None)]);
    let links = vec![
        (topic_link("inline", "/there"), Some(LinkTarget::Udp(peer(20)))),
        (topic_link("inline", "/back"), None),
    ];
    world.rule("down", RostopicToUdp, source, links);
    let _running = world.start().await;
    world.inject("/there", b"a");
    world.devices.wire.wait(1).await;
    world.inject("/back", b"b");
    let expected = [sent(Some(udp(9000)), Some(20), b"a"), sent(Some(udp(9000)), None, b"b")];
    assert_eq!(world.devices.wire.wait(2).await, expected);
}

#[tokio::test(start_paused = true)]
async fn sample_leaves_by_the_shared_serial_port() {
    let mut world = World::new();
    let port = world.transport(&serial("/dev/ttyS9"));
    let target = Some(LinkTarget::Serial(port));
    world.rule("down", RosToSerial, None, vec![(topic_link("inline", "/cmd"), target)]);
    let _running = world.start().await;
    world.inject("/cmd", b"go");
    assert_eq!(world.devices.wire.wait(1).await, [sent(Some(serial("/dev/ttyS9")), None, b"go")]);
}

#[tokio::test(start_paused = true)]
async fn full_queue_drops_the_oldest_samples() {
    let mut world = World::new();
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("down", RostopicToUdp, None, vec![(topic_link("inline", "/cmd"), target)]);
    let running = world.start().await;
    for body in 0..70_u8 {
        world.inject("/cmd", &[body]);
    }
    let bodies: Vec<u8> = world.devices.wire.wait(64).await.iter().map(|sent| sent.bytes[0]).collect();
    assert_eq!(bodies, (6..70).collect::<Vec<u8>>());
    assert_eq!(counters(&running, 0, 0).dropped_queue, 6);
}

#[tokio::test(start_paused = true)]
async fn rate_limit_holds_back_samples() {
    let mut world = World::new();
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("down", RostopicToUdp, None, vec![(limited(topic_link("inline", "/cmd"), 3), target)]);
    let running = world.start().await;
    for _ in 0..5 {
        world.inject("/cmd", b"x");
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.devices.wire.sent().len(), 3);
    assert_eq!(counters(&running, 0, 0).dropped_rate, 2);
}

#[tokio::test(start_paused = true)]
async fn samples_that_fail_are_counted_and_leave_nothing_behind() {
    let mut world = World::new();
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("down", RostopicToUdp, None, vec![(topic_link("inline", "/cmd"), target)]);
    let running = world.start().await;
    for body in [b"bad".as_slice(), b"panic", b"good"] {
        world.inject("/cmd", body);
    }
    assert_eq!(world.devices.wire.wait(1).await, [sent(None, Some(20), b"good")]);
    world.devices.wire.refuse(Some(SendError::Full));
    world.inject("/cmd", b"lost");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.messages, counters.frames), (4, 1));
    assert_eq!((counters.encode_errors, counters.send_errors), (1, 1));
    assert_eq!(running.snapshot().rules[0].links[0].panics, 1);
}
