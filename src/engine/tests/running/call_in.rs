//! Services answered over frames.

use std::{sync::Arc, time::Duration};

use rostrans_core::{adapter::CallError, rule::Direction::RosserviceToUdp};
use rostrans_engine::topology::{Device, LinkTarget};
use tokio::{task::JoinHandle, time::Instant};

use crate::{
    codec::cdr,
    device::Sent,
    world::{World, counters, peer, service, service_link, udp},
};

/// A rule that offers `/arm` to a vehicle at port 20 and hears it on port 9000.
fn world() -> World {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("in", RosserviceToUdp, Some(source), vec![(service_link("/arm"), target)]);
    world
}

fn asked(from: Device, bytes: &[u8]) -> Sent {
    Sent { from: Some(from), to: Some(peer(20)), bytes: bytes.to_vec() }
}

/// Calls as a foreign node would, waiting a minute.
pub(crate) fn call(world: &World, name: &str, body: &'static [u8]) -> JoinHandle<Result<Vec<u8>, CallError>> {
    let (ros, service) = (Arc::clone(&world.ros), service(name));
    #[expect(clippy::disallowed_methods, reason = "the test is the foreign node")]
    tokio::spawn(async move {
        let deadline = Instant::now() + Duration::from_secs(60);
        let response = ros.call(&service, cdr(body), deadline.into_std()).await?;
        Ok(response.body().to_vec())
    })
}

async fn vehicle_says(world: &World, bytes: &[u8]) {
    world.devices.datagram(&udp(9000), bytes, peer(20)).await;
}

#[tokio::test(start_paused = true)]
async fn call_is_answered_by_the_vehicle() {
    let world = world();
    let running = world.start().await;
    let response = call(&world, "/arm", b"arm");
    assert_eq!(world.devices.wire.wait(1).await, [asked(udp(9000), b"arm")]);
    for frame in [b"chatter".as_slice(), b"bad", b"=armed"] {
        vehicle_says(&world, frame).await;
    }
    assert_eq!(response.await.unwrap(), Ok(b"armed".to_vec()));
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.messages, counters.calls, counters.failed_calls), (1, 1, 0));
    assert_eq!((counters.frames, counters.decode_errors), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn one_call_at_a_time_and_the_others_in_order() {
    let world = world();
    let _running = world.start().await;
    let first = call(&world, "/arm", b"1");
    world.devices.wire.wait(1).await;
    let second = call(&world, "/arm", b"2");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let third = call(&world, "/arm", b"3");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(world.devices.wire.sent().len(), 1);
    for (count, response) in [(1, first), (2, second), (3, third)] {
        let sent = world.devices.wire.wait(count).await;
        let reply = [b"=", sent[count - 1].bytes.as_slice()].concat();
        vehicle_says(&world, &reply).await;
        assert_eq!(response.await.unwrap(), Ok(count.to_string().into_bytes()));
    }
}

#[tokio::test(start_paused = true)]
async fn services_of_a_rule_do_not_wait_for_each_other() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    let links = [("/arm", 20), ("/land", 21)];
    let links = links.map(|(name, port)| (service_link(name), Some(LinkTarget::Udp(peer(port)))));
    world.rule("in", RosserviceToUdp, Some(source), links.into());
    let _running = world.start().await;
    let _arm = call(&world, "/arm", b"arm");
    world.devices.wire.wait(1).await;
    let _land = call(&world, "/land", b"land");
    assert_eq!(world.devices.wire.wait(2).await[1].bytes, b"land");
}

#[tokio::test(start_paused = true)]
async fn silent_vehicle_is_asked_again_then_given_up() {
    let world = world();
    let running = world.start().await;
    let before = Instant::now();
    let response = call(&world, "/arm", b"arm");
    assert_eq!(response.await.unwrap(), Ok(b"no answer".to_vec()));
    assert_eq!(before.elapsed(), Duration::from_secs(3));
    assert_eq!(world.devices.wire.sent(), vec![asked(udp(9000), b"arm"); 3]);
    assert_eq!(counters(&running, 0, 0).failed_calls, 1);
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_timeout_anew() {
    let world = world();
    let _running = world.start().await;
    let response = call(&world, "/arm", b"arm");
    world.devices.wire.wait(1).await;
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(900)).await;
        vehicle_says(&world, b"...").await;
    }
    vehicle_says(&world, b"=armed").await;
    assert_eq!(response.await.unwrap(), Ok(b"armed".to_vec()));
    assert_eq!(world.devices.wire.sent().len(), 1, "no need to ask again");
}

#[tokio::test(start_paused = true)]
async fn codec_may_leave_a_call_without_response() {
    let world = world();
    let _running = world.start().await;
    assert_eq!(call(&world, "/arm", b"mute").await.unwrap(), Err(CallError::Timeout));
}

#[tokio::test(start_paused = true)]
async fn call_that_waits_too_long_is_never_sent() {
    let world = world();
    let running = world.start().await;
    let _patient = call(&world, "/arm", b"1");
    world.devices.wire.wait(1).await;
    let late = call(&world, "/arm", b"2");
    for _ in 0..22 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        vehicle_says(&world, b"...").await;
    }
    vehicle_says(&world, b"=done").await;
    assert_eq!(late.await.unwrap(), Err(CallError::Timeout));
    assert_eq!(world.devices.wire.sent().len(), 1);
    assert_eq!(counters(&running, 0, 0).failed_calls, 1);
}

#[tokio::test(start_paused = true)]
async fn answer_of_an_earlier_call_does_not_end_the_next() {
    let world = world();
    let _running = world.start().await;
    let first = call(&world, "/arm", b"1");
    assert_eq!(first.await.unwrap(), Ok(b"no answer".to_vec()));
    vehicle_says(&world, b"=late").await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    let second = call(&world, "/arm", b"2");
    world.devices.wire.wait(4).await;
    vehicle_says(&world, b"=2").await;
    assert_eq!(second.await.unwrap(), Ok(b"2".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn request_that_cannot_be_expressed_is_answered_with_failure() {
    let world = world();
    let running = world.start().await;
    for body in [b"bad".as_slice(), b"panic"] {
        assert_eq!(call(&world, "/arm", body).await.unwrap(), Ok(b"failed".to_vec()));
    }
    assert_eq!(world.devices.wire.sent(), []);
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.encode_errors, counters.failed_calls), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn codec_that_panics_on_a_reply_fails_the_call_and_takes_the_next() {
    let world = world();
    let _running = world.start().await;
    let first = call(&world, "/arm", b"1");
    world.devices.wire.wait(1).await;
    vehicle_says(&world, b"panic").await;
    assert_eq!(first.await.unwrap(), Ok(b"failed".to_vec()));
    let second = call(&world, "/arm", b"2");
    world.devices.wire.wait(2).await;
    vehicle_says(&world, b"=2").await;
    assert_eq!(second.await.unwrap(), Ok(b"2".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn more_calls_than_may_wait_are_refused() {
    let world = world();
    let running = world.start().await;
    let _open = call(&world, "/arm", b"1");
    world.devices.wire.wait(1).await;
    let mut waiting = Vec::new();
    for _ in 0..64 {
        waiting.push(call(&world, "/arm", b"2"));
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(call(&world, "/arm", b"3").await.unwrap(), Ok(b"failed".to_vec()));
    assert!(waiting.iter().all(|call| !call.is_finished()));
    assert_eq!(counters(&running, 0, 0).failed_calls, 1);
}
