//! The end of a run.

use std::{sync::Arc, time::Duration};

use rostrans_core::{
    rule::Direction::{RosserviceToUdp, RostopicToUdp, UdpToRosservice, UdpToRostopic},
    transport::Peer,
};
use rostrans_engine::{running::Shutdown, supervisor::OnExit, topology::LinkTarget};
use tokio::time::Instant;

use crate::{
    codec::cdr,
    device::Input,
    world::{World, peer, service, service_link, topic_link, udp},
};

const BUDGET: Duration = Duration::from_secs(3);

#[tokio::test(start_paused = true)]
async fn queues_are_worked_off_before_the_end() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("queued", "/up"), None)]);
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("down", RostopicToUdp, None, vec![(topic_link("inline", "/down"), target)]);
    let running = world.start().await;
    let burst = (0..40_u8).map(|i| (vec![i], Peer::Udp(peer(1)), None)).collect();
    world.devices.feed(&udp(9000), Input::Frames(burst)).await;
    // The transport has the burst once its task ran; the worker may not have.
    tokio::task::yield_now().await;
    for body in 0..40_u8 {
        world.inject("/down", &[body]);
    }
    assert_eq!(running.shutdown(BUDGET).await, Shutdown::default());
    assert_eq!(world.devices.wire.sent().len(), 40);
    assert_eq!(world.bodies("/up").len(), 40);
}

#[tokio::test(start_paused = true)]
async fn endpoints_and_ports_are_gone_afterwards() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("inline", "/up"), None)]);
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("down", RostopicToUdp, None, vec![(topic_link("inline", "/down"), target)]);
    world.rule("in", RosserviceToUdp, Some(source), vec![(service_link("/arm"), target)]);
    let running = world.start().await;
    let endpoints = || (world.ros.advertised(), world.ros.subscribed(), world.ros.offered());
    assert_eq!(endpoints(), (vec!["/up".into()], vec!["/down".into()], vec!["/arm".into()]));
    running.shutdown(BUDGET).await;
    assert_eq!(endpoints(), (vec![], vec![], vec![]));
    assert!(!world.devices.is_open(&udp(9000)));
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_are_answered() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("in", RosserviceToUdp, Some(source), vec![(service_link("/arm"), target)]);
    let other = world.transport(&udp(9001));
    world.rule("out", UdpToRosservice, Some(other), vec![(service_link("/absent"), None)]);
    let running = world.start().await;
    let ros = Arc::clone(&world.ros);
    let calls = [b"1", b"2"].map(|body| {
        let ros = Arc::clone(&ros);
        #[expect(clippy::disallowed_methods, reason = "the test is the foreign node")]
        tokio::spawn(async move {
            let deadline = Instant::now() + Duration::from_secs(60);
            ros.call(&service("/arm"), cdr(body), deadline.into_std()).await
        })
    });
    world.devices.wire.wait(1).await;
    world.devices.datagram(&udp(9001), b"?x", peer(41)).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    let before = Instant::now();
    assert_eq!(running.shutdown(BUDGET).await, Shutdown::default());
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(cdr(b"failed")));
    }
    let last = world.devices.wire.sent().pop().unwrap();
    assert_eq!((last.to, last.bytes), (Some(peer(41)), b"shutting down".to_vec()));
    assert!(before.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn task_that_hangs_is_aborted_within_the_budget_and_named() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("inline", "/up"), None)]);
    let running = world.start().await;
    running.supervisor().spawn("stubborn", OnExit::Stop, |_| std::future::pending());
    let before = Instant::now();
    let shutdown = running.shutdown(BUDGET).await;
    assert_eq!(shutdown.aborted, ["stubborn".into()]);
    assert_eq!(before.elapsed(), BUDGET);
    assert!(!world.devices.is_open(&udp(9000)));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_ends_it() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("inline", "/up"), None)]);
    drop(world.start().await);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!world.devices.is_open(&udp(9000)));
    assert_eq!(world.ros.advertised(), Vec::<String>::new());
}
