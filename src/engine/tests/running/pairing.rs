//! Which frame answers which call.

use std::time::Duration;

use rostrans_core::{
    rule::{Direction::RosserviceToUdp, LinkConfig},
    transport::Peer,
};
use rostrans_engine::topology::LinkTarget;
use tokio::time::{Instant, sleep};

use crate::{
    call_in::call,
    device::Input,
    world::{World, counters, link, peer, serial, service, service_link, udp},
};

/// A rule that hears on port 9000 and has a link for each service, with the port of its peer.
fn world(links: &[(LinkConfig, u16)]) -> World {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    let link = |(link, port): &(LinkConfig, u16)| (link.clone(), Some(LinkTarget::Udp(peer(*port))));
    world.rule("in", RosserviceToUdp, Some(source), links.iter().map(link).collect());
    world
}

fn naming(name: &str) -> LinkConfig {
    LinkConfig { service: Some(service(name)), ..link("naming") }
}

async fn says(world: &World, from: u16, bytes: &[u8]) {
    world.devices.datagram(&udp(9000), bytes, peer(from)).await;
}

#[tokio::test(start_paused = true)]
async fn answers_of_strangers_are_dropped_and_told() {
    let world = world(&[(service_link("/arm"), 20)]);
    let running = world.start().await;
    let response = call(&world, "/arm", b"arm");
    world.devices.wire.wait(1).await;
    says(&world, 21, b"=forged").await;
    says(&world, 22, b"bad").await;
    says(&world, 20, b"=armed").await;
    assert_eq!(response.await.unwrap(), Ok(b"armed".to_vec()));
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.dropped_sender, counters.decode_errors, counters.frames), (2, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn each_link_takes_its_own_peers_answer() {
    let world = world(&[(service_link("/arm"), 20), (service_link("/land"), 21)]);
    let running = world.start().await;
    let arm = call(&world, "/arm", b"arm");
    let land = call(&world, "/land", b"land");
    world.devices.wire.wait(2).await;
    says(&world, 21, b"=landed").await;
    assert_eq!(land.await.unwrap(), Ok(b"landed".to_vec()));
    assert!(!arm.is_finished());
    says(&world, 20, b"=armed").await;
    assert_eq!(arm.await.unwrap(), Ok(b"armed".to_vec()));
    assert_eq!(counters(&running, 0, 0).dropped_sender, 0, "a peer of another link is no stranger");
}

#[tokio::test(start_paused = true)]
async fn calls_of_links_with_one_peer_take_turns() {
    let world = world(&[(service_link("/arm"), 20), (service_link("/land"), 20)]);
    let _running = world.start().await;
    let arm = call(&world, "/arm", b"arm");
    world.devices.wire.wait(1).await;
    let land = call(&world, "/land", b"land");
    sleep(Duration::from_millis(100)).await;
    assert_eq!(world.devices.wire.sent().len(), 1);
    says(&world, 20, b"=armed").await;
    assert_eq!(arm.await.unwrap(), Ok(b"armed".to_vec()));
    world.devices.wire.wait(2).await;
    assert!(!land.is_finished());
    says(&world, 20, b"=landed").await;
    assert_eq!(land.await.unwrap(), Ok(b"landed".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn answers_that_name_their_call_need_no_turns() {
    let world = world(&[(naming("/arm"), 20), (naming("/land"), 20)]);
    let running = world.start().await;
    let arm = call(&world, "/arm", b"arm");
    let land = call(&world, "/land", b"land");
    world.devices.wire.wait(2).await;
    says(&world, 20, b"land=landed").await;
    assert_eq!(land.await.unwrap(), Ok(b"landed".to_vec()));
    says(&world, 20, b"arm=armed").await;
    assert_eq!(arm.await.unwrap(), Ok(b"armed".to_vec()));
    assert_eq!(counters(&running, 0, 0).frames, 2);
}

#[tokio::test(start_paused = true)]
async fn one_frame_answers_one_call() {
    let world = world(&[(naming("/arm"), 20), (naming("/land"), 20)]);
    let _running = world.start().await;
    let arm = call(&world, "/arm", b"go");
    let land = call(&world, "/land", b"go");
    world.devices.wire.wait(2).await;
    says(&world, 20, b"go=first").await;
    assert_eq!(arm.await.unwrap(), Ok(b"first".to_vec()));
    says(&world, 20, b"go=second").await;
    assert_eq!(land.await.unwrap(), Ok(b"second".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn what_one_link_cannot_read_is_offered_to_the_next() {
    let world = world(&[(naming("/arm"), 20), (service_link("/land"), 20)]);
    let running = world.start().await;
    let _arm = call(&world, "/arm", b"arm");
    let land = call(&world, "/land", b"land");
    world.devices.wire.wait(2).await;
    says(&world, 20, b"bad").await;
    says(&world, 20, b"=landed").await;
    assert_eq!(land.await.unwrap(), Ok(b"landed".to_vec()));
    let errors = [0, 1].map(|link| counters(&running, 0, link).decode_errors);
    assert_eq!(errors, [1, 0], "told once");
}

#[tokio::test(start_paused = true)]
async fn late_answer_is_not_taken_for_the_answer_to_the_next_call() {
    let world = world(&[(service_link("/arm"), 20), (service_link("/land"), 20)]);
    let _running = world.start().await;
    let first = call(&world, "/arm", b"1");
    world.devices.wire.wait(1).await;
    // Both wait while the first is asked three times.
    let second = call(&world, "/arm", b"2");
    let third = call(&world, "/land", b"3");
    assert_eq!(first.await.unwrap(), Ok(b"no answer".to_vec()));
    let given_up = Instant::now();
    says(&world, 20, b"=1, late").await;
    world.devices.wire.wait(4).await;
    assert_eq!(given_up.elapsed(), Duration::from_secs(1), "as long as an answer was waited for");
    assert!(!second.is_finished() && !third.is_finished());
    says(&world, 20, b"=2").await;
    assert_eq!(second.await.unwrap(), Ok(b"2".to_vec()));
    world.devices.wire.wait(5).await;
    says(&world, 20, b"=3").await;
    assert_eq!(third.await.unwrap(), Ok(b"3".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn answers_that_name_their_call_need_no_pause() {
    let world = world(&[(naming("/arm"), 20)]);
    let _running = world.start().await;
    assert_eq!(call(&world, "/arm", b"1").await.unwrap(), Ok(b"no answer".to_vec()));
    let given_up = Instant::now();
    let second = call(&world, "/arm", b"2");
    world.devices.wire.wait(4).await;
    assert_eq!(given_up.elapsed(), Duration::ZERO);
    says(&world, 20, b"1=late").await;
    says(&world, 20, b"2=done").await;
    assert_eq!(second.await.unwrap(), Ok(b"done".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn serial_peer_and_group_may_answer_from_anywhere() {
    let mut world = World::new();
    let port = serial("/dev/vehicle");
    let source = world.transport(&port);
    let target = Some(LinkTarget::Serial(source));
    world.rule("serial", RosserviceToUdp, Some(source), vec![(service_link("/arm"), target)]);
    let source = world.transport(&udp(9000));
    let group = Some(LinkTarget::Udp(([239, 0, 0, 1], 20).into()));
    world.rule("group", RosserviceToUdp, Some(source), vec![(service_link("/land"), group)]);
    let running = rostrans_engine::running::start(&world.topology, &world.deps());
    world.devices.feed(&port, Input::Device(true)).await;
    running.settled(crate::world::PATIENCE).await;
    let arm = call(&world, "/arm", b"arm");
    world.devices.wire.wait(1).await;
    world.devices.feed(&port, Input::Frames(vec![(b"=armed".to_vec(), Peer::Serial, None)])).await;
    assert_eq!(arm.await.unwrap(), Ok(b"armed".to_vec()));
    let land = call(&world, "/land", b"land");
    world.devices.wire.wait(2).await;
    says(&world, 77, b"=landed").await;
    assert_eq!(land.await.unwrap(), Ok(b"landed".to_vec()));
}
