//! Decoders that read topics and answer services besides their frames.

use std::{sync::Arc, time::Duration};

use rostrans_core::{
    adapter::CallError,
    rule::{Direction::UdpToRostopic, LinkConfig},
    transport::Peer,
};
use rostrans_engine::running::Shutdown;

use crate::{
    call_in::call,
    codec::cdr,
    device::{Input, Sent},
    logs::Lines,
    talker::{ALARM, TALKER, Talker},
    world::{World, counters, link, peer, service, topic, topic_link, udp},
};

/// What a caller gets when there is no answer: ROS has none that says "failed".
const NO_ANSWER: Result<Vec<u8>, CallError> = Err(CallError::Timeout);

const BUDGET: Duration = Duration::from_secs(3);

/// A link that publishes `<name>/heard`, reads `<name>/say` and `<name>/shout`, and answers `<name>/ask` and
/// `<name>/count`.
fn talk(name: &str) -> LinkConfig {
    let mut link = LinkConfig { link_name: name.into(), ..link("talker") };
    for port in ["heard", "say", "shout"] {
        link.ports.insert(port.into(), topic(&format!("{name}/{port}")));
    }
    for answered in ["ask", "count"] {
        link.services.insert(answered.into(), service(&format!("{name}/{answered}")));
    }
    link
}

fn world(links: Vec<LinkConfig>) -> World {
    let mut world = World::new();
    for info in [&TALKER, &ALARM] {
        world.register(Arc::new(Talker(info)));
    }
    let source = world.transport(&udp(9000));
    world.rule("uav", UdpToRostopic, Some(source), links.into_iter().map(|link| (link, None)).collect());
    world
}

fn sent(bytes: &[u8]) -> Sent {
    Sent { from: Some(udp(9000)), to: None, bytes: bytes.to_vec() }
}

async fn hears(world: &World, bytes: &[u8]) {
    world.devices.datagram(&udp(9000), bytes, peer(20)).await;
}

#[tokio::test(start_paused = true)]
async fn samples_of_inputs_become_frames() {
    let world = world(vec![talk("/a"), talk("/b")]);
    let running = world.start().await;
    world.inject("/a/say", b"one");
    world.inject("/b/shout", b"two");
    world.inject("/a/shout", b"three");
    assert_eq!(world.devices.wire.wait(3).await, [sent(b"one"), sent(b"TWO"), sent(b"THREE")]);
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.taken, counters.sent_frames, counters.frames), (2, 2, 0));
    assert!(counters.last_active.is_some());
}

#[tokio::test(start_paused = true)]
async fn call_becomes_a_frame_and_a_later_frame_its_answer() {
    let world = world(vec![talk("/a")]);
    let running = world.start().await;
    let (first, second) = (call(&world, "/a/ask", b"one?"), call(&world, "/a/ask", b"two?"));
    assert_eq!(world.devices.wire.wait(2).await, [sent(b"one?"), sent(b"two?")]);
    hears(&world, b"=1").await;
    hears(&world, b"=2").await;
    assert_eq!(first.await.unwrap(), Ok(b"1".to_vec()));
    assert_eq!(second.await.unwrap(), Ok(b"2".to_vec()));
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.calls, counters.failed_calls, counters.taken), (2, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn each_service_of_each_link_answers_for_itself_and_once() {
    let world = world(vec![talk("/a"), talk("/b")]);
    let running = world.start().await;
    hears(&world, b"x").await;
    world.published("/a/heard", 1).await;
    let pending = call(&world, "/b/ask", b"?");
    world.devices.wire.wait(1).await;
    for name in ["/a/count", "/b/count"] {
        assert_eq!(call(&world, name, b"").await.unwrap(), Ok(b"1".to_vec()), "{name}");
    }
    hears(&world, b"=late").await;
    assert_eq!(pending.await.unwrap(), Ok(b"late".to_vec()));
    assert_eq!(counters(&running, 0, 0).calls, 1);
    assert_eq!(counters(&running, 0, 1).calls, 2);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_counted_and_told() {
    let world = world(vec![talk("/a")]);
    let running = world.start().await;
    let log = Lines::default();
    let _keep = log.keep();
    world.inject("/a/say", b"bad");
    world.inject("/a/say", b"good");
    assert_eq!(world.devices.wire.wait(1).await, [sent(b"good")]);
    assert_eq!(call(&world, "/a/ask", b"bad").await.unwrap(), NO_ANSWER);
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.encode_errors, counters.failed_calls), (2, 1));
    let lines = log.take();
    assert!(lines[0].contains("does not fit the codec") && lines[0].contains("field 'x': bad"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn panic_ends_the_calls_of_its_own_link_only() {
    for how in ["sample", "call", "frame"] {
        let world = world(vec![talk("/a"), talk("/b")]);
        let running = world.start().await;
        let (own, other) = (call(&world, "/a/ask", b"own?"), call(&world, "/b/ask", b"other?"));
        world.devices.wire.wait(2).await;
        match how {
            "sample" => world.inject("/a/say", b"panic"),
            "call" => drop(call(&world, "/a/ask", b"panic")),
            // All links read it, so all calls end.
            _ => hears(&world, b"panic").await,
        }
        world.inject("/a/say", b"again");
        assert_eq!(world.devices.wire.wait(3).await.last(), Some(&sent(b"again")));
        let failed = [0, 1].map(|link| counters(&running, 0, link).failed_calls);
        match how {
            "sample" => assert_eq!(failed, [1, 0]),
            "call" => assert_eq!(failed, [2, 0]),
            _ => assert_eq!(failed, [1, 1]),
        }
        if how != "frame" {
            hears(&world, b"=fine").await;
            assert_eq!(other.await.unwrap(), Ok(b"fine".to_vec()), "{how}");
        }
        assert_eq!(own.await.unwrap(), NO_ANSWER, "{how}");
        assert_eq!(running.snapshot().rules[0].links[0].panics, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn link_that_is_switched_off_refuses_calls_at_once() {
    let world = world(vec![talk("/a"), talk("/b")]);
    let running = world.start().await;
    for _ in 0..5 {
        world.inject("/a/say", b"panic");
    }
    assert_eq!(call(&world, "/a/ask", b"?").await.unwrap(), NO_ANSWER);
    assert!(running.snapshot().rules[0].links[0].disabled);
    assert_eq!(call(&world, "/b/count", b"").await.unwrap(), Ok(b"0".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn end_of_the_run_answers_what_is_open() {
    let world = world(vec![talk("/a")]);
    let running = world.start().await;
    let calls = [call(&world, "/a/ask", b"one?"), call(&world, "/a/ask", b"two?")];
    let mute = call(&world, "/a/ask", b"mute");
    world.devices.wire.wait(3).await;
    assert_eq!(running.shutdown(BUDGET).await, Shutdown::default());
    for answer in calls {
        assert_eq!(answer.await.unwrap(), Ok(b"closing".to_vec()));
    }
    assert_eq!(mute.await.unwrap(), NO_ANSWER);
    assert_eq!((world.ros.offered(), world.ros.subscribed()), (vec![], vec![]));
}

#[tokio::test(start_paused = true)]
async fn too_many_open_calls_are_refused_and_others_go_on() {
    let world = world(vec![talk("/a"), talk("/b")]);
    let _running = world.start().await;
    let mut open = Vec::new();
    for count in 1..=64 {
        open.push(call(&world, "/a/ask", b"?"));
        world.devices.wire.wait(count).await;
    }
    assert_eq!(call(&world, "/a/ask", b"?").await.unwrap(), NO_ANSWER);
    assert_eq!(call(&world, "/b/count", b"").await.unwrap(), Ok(b"0".to_vec()));
    // Callers that have gone away make room.
    open.drain(..10).for_each(|call| call.abort());
    let late = call(&world, "/a/ask", b"?");
    world.devices.wire.wait(65).await;
    assert!(!late.is_finished());
}

#[tokio::test(start_paused = true)]
async fn oldest_samples_of_a_burst_are_dropped() {
    let world = world(vec![talk("/a")]);
    let running = world.start().await;
    for i in 0..300_u16 {
        world.inject("/a/say", &i.to_be_bytes());
    }
    let frames = world.devices.wire.wait(256).await;
    assert_eq!(frames[0].bytes, 44_u16.to_be_bytes());
    assert_eq!(counters(&running, 0, 0).dropped_queue, 44);
}

#[tokio::test(start_paused = true)]
async fn burst_of_a_parameter_download_is_not_lost() {
    let world = world(vec![talk("/a")]);
    let running = world.start().await;
    let burst = (0..1500_u16).map(|i| (i.to_be_bytes().to_vec(), Peer::Udp(peer(20)), None)).collect();
    world.devices.feed(&udp(9000), Input::Frames(burst)).await;
    assert!(world.ros.wait_published("/a/heard", 1500, BUDGET).await);
    assert_eq!(counters(&running, 0, 0).dropped_queue, 0);
}

#[tokio::test(start_paused = true)]
async fn decoder_is_ticked_when_it_is_due() {
    let world = world(vec![talk("/a"), topic_link("alarm", "/inline")]);
    let _running = world.start().await;
    hears(&world, b"alarm").await;
    tokio::time::sleep(Duration::from_millis(1900)).await;
    assert_eq!((world.bodies("/a/heard").len(), world.bodies("/inline").len()), (0, 0));
    tokio::time::sleep(Duration::from_millis(150)).await;
    for topic in ["/a/heard", "/inline"] {
        assert_eq!(world.bodies(topic), [b"due"], "{topic}");
    }
    world.inject("/a/say", b"alarm");
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(world.bodies("/a/heard"), [b"due"; 2]);
}

#[tokio::test(start_paused = true)]
async fn decoder_that_is_always_due_leaves_time_for_others() {
    let world = world(vec![talk("/a"), topic_link("alarm", "/inline")]);
    let _running = world.start().await;
    hears(&world, b"nag").await;
    hears(&world, b"x").await;
    for topic in ["/a/heard", "/inline"] {
        world.published(topic, 2).await;
        assert!(world.bodies(topic).contains(&b"x".to_vec()), "{topic}");
    }
}

#[tokio::test(start_paused = true)]
async fn frames_of_each_system_reach_the_links_that_hear_it() {
    let hearing = |system: u8, link: LinkConfig| {
        let mut link =
            LinkConfig { link_name: format!("{}{system}", link.link_name).as_str().into(), ..link };
        link.options.0.insert("sender".to_owned(), system.into());
        link
    };
    let links = vec![
        hearing(1, talk("/a1")),
        hearing(2, talk("/a2")),
        hearing(1, topic_link("alarm", "/b1")),
        hearing(2, topic_link("alarm", "/b2")),
        topic_link("alarm", "/all"),
    ];
    let mut world = world(links);
    let source = world.topology.pipelines[0].source;
    world.rule("other", UdpToRostopic, source, vec![(hearing(2, talk("/c2")), None)]);
    let running = world.start().await;
    for (system, bytes) in [(1, b"one".to_vec()), (2, b"two".to_vec()), (3, b"three".to_vec())] {
        world.devices.feed(&udp(9000), Input::From(system, bytes)).await;
    }
    assert_eq!(world.published("/all", 3).await, [b"one".as_slice(), b"two", b"three"]);
    for topic in ["/a1/heard", "/b1"] {
        assert_eq!(world.published(topic, 1).await, [b"one"], "{topic}");
    }
    for topic in ["/a2/heard", "/b2", "/c2/heard"] {
        assert_eq!(world.published(topic, 1).await, [b"two"], "{topic}");
    }
    let frames: Vec<_> = running.snapshot().rules[0].links.iter().map(|link| link.counters.frames).collect();
    assert_eq!(frames, [1, 1, 1, 1, 3]);
}

#[tokio::test(start_paused = true)]
async fn samples_that_wait_at_the_end_are_sent() {
    let world = world(vec![talk("/a")]);
    let running = world.start().await;
    for body in 0..40_u8 {
        assert!(world.ros.inject("/a/say", Default::default(), cdr(&[body])) > 0);
    }
    assert_eq!(running.shutdown(BUDGET).await, Shutdown::default());
    assert_eq!(world.devices.wire.sent().len(), 40);
}
