//! Frames to topics.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rostrans_core::{
    rule::{Direction::UdpToRostopic, LinkConfig},
    transport::{Malformed, Peer},
};
use rostrans_engine::{
    monitor::{Monitor, Rates},
    running::{Deps, start},
};

use crate::{
    device::Input,
    world::{PATIENCE, World, counters, limited, peer, topic, topic_link, udp},
};

/// A rule with these links on one UDP socket.
fn world(links: Vec<LinkConfig>) -> World {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("up", UdpToRostopic, Some(source), links.into_iter().map(|link| (link, None)).collect());
    world
}

#[tokio::test(start_paused = true)]
async fn one_datagram_reaches_every_link() {
    let mut world = world(vec![topic_link("inline", "/a"), topic_link("queued", "/b")]);
    let source = world.topology.pipelines[0].source;
    world.rule("second", UdpToRostopic, source, vec![(topic_link("inline", "/c"), None)]);
    let running = world.start().await;
    world.devices.datagram(&udp(9000), b"one", peer(1)).await;
    for topic in ["/a", "/b", "/c"] {
        assert_eq!(world.published(topic, 1).await, [b"one"], "{topic}");
    }
    for (rule, link) in [(0, 0), (0, 1), (1, 0)] {
        let counters = counters(&running, rule, link);
        assert_eq!((counters.frames, counters.bytes, counters.messages), (1, 3, 1), "{rule} {link}");
        assert!(counters.last_active.is_some());
    }
    assert_eq!(running.snapshot().transports[0].frames, 1);
}

#[tokio::test(start_paused = true)]
async fn every_bound_port_is_published() {
    let mut link = topic_link("inline", "/a");
    link.ports.insert("copy".into(), topic("/copy"));
    let world = world(vec![link]);
    let _running = world.start().await;
    world.devices.datagram(&udp(9000), b"one", peer(1)).await;
    assert_eq!(world.published("/a", 1).await, [b"one"]);
    assert_eq!(world.published("/copy", 1).await, [b"one"]);
}

#[tokio::test(start_paused = true)]
async fn tagged_frames_reach_only_the_links_that_want_them() {
    let world = world(vec![topic_link("tag_30", "/attitude")]);
    let running = world.start().await;
    let frame = |bytes: &[u8], tag| (bytes.to_vec(), Peer::Udp(peer(1)), tag);
    let frames = vec![frame(b"other", Some(31)), frame(b"none", None), frame(b"wanted", Some(30))];
    world.devices.feed(&udp(9000), Input::Frames(frames)).await;
    assert_eq!(world.published("/attitude", 1).await, [b"wanted"]);
    let transport = running.snapshot().transports[0].clone();
    assert_eq!((transport.frames, transport.unwanted), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn rate_limit_holds_back_the_rest_of_the_second() {
    let world = world(vec![limited(topic_link("inline", "/a"), 2), topic_link("inline", "/all")]);
    let running = world.start().await;
    for _ in 0..2 {
        for _ in 0..5 {
            world.devices.datagram(&udp(9000), b"x", peer(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(1100)).await;
    }
    assert_eq!(world.published("/all", 10).await.len(), 10);
    assert_eq!(world.bodies("/a").len(), 4);
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.frames, counters.messages, counters.dropped_rate), (10, 4, 6));
}

#[tokio::test(start_paused = true)]
async fn full_queue_drops_the_oldest_frames() {
    let world = world(vec![topic_link("queued", "/a")]);
    let running = world.start().await;
    let burst = (0..70_u8).map(|i| (vec![i], Peer::Udp(peer(1)), None)).collect();
    world.devices.feed(&udp(9000), Input::Frames(burst)).await;
    let published = world.published("/a", 64).await;
    assert_eq!(published, (6..70_u8).map(|i| vec![i]).collect::<Vec<_>>());
    assert_eq!(counters(&running, 0, 0).dropped_queue, 6);
}

#[tokio::test(start_paused = true)]
async fn ticks_run_without_any_frame() {
    for codec in ["ticking", "ticking_queued"] {
        let world = world(vec![topic_link(codec, "/state")]);
        let _running = world.start().await;
        tokio::time::sleep(Duration::from_millis(10_500)).await;
        assert_eq!(world.bodies("/state"), vec![b"tick"; 10], "{codec}");
        let beats = world.devices.wire.sent();
        assert_eq!(beats.len(), 10, "{codec}");
        assert!(beats.iter().all(|b| b.from == Some(udp(9000)) && b.to.is_none() && b.bytes == b"beat"));
    }
}

#[tokio::test(start_paused = true)]
async fn reply_goes_to_the_frames_sender() {
    let world = world(vec![topic_link("inline", "/a"), topic_link("queued", "/b")]);
    let _running = world.start().await;
    world.devices.datagram(&udp(9000), b"ping", peer(41)).await;
    for sent in world.devices.wire.wait(2).await {
        assert_eq!((sent.from, sent.to, sent.bytes), (Some(udp(9000)), Some(peer(41)), b"pong".to_vec()));
    }
}

#[tokio::test(start_paused = true)]
async fn bad_frames_are_counted_and_the_others_pass() {
    let world = world(vec![topic_link("inline", "/a"), topic_link("queued", "/b")]);
    let running = world.start().await;
    for bytes in [b"bad".as_slice(), b"good", b"bad"] {
        world.devices.datagram(&udp(9000), bytes, peer(1)).await;
    }
    assert_eq!(world.published("/a", 1).await, [b"good"]);
    assert_eq!(world.published("/b", 1).await, [b"good"]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(counters(&running, 0, 0).decode_errors, 2);
    assert_eq!(counters(&running, 0, 1).decode_errors, 2);
}

#[tokio::test(start_paused = true)]
async fn malformed_bytes_are_counted() {
    let world = world(vec![topic_link("inline", "/a")]);
    let running = world.start().await;
    for malformed in [
        Malformed::Skipped(17),
        Malformed::Checksum { msgid: 30 },
        Malformed::Truncated { need: 9, have: 3 },
        Malformed::Skipped(3),
    ] {
        world.devices.feed(&udp(9000), Input::Malformed(malformed)).await;
    }
    world.devices.datagram(&udp(9000), b"end", peer(1)).await;
    world.published("/a", 1).await;
    let transport = running.snapshot().transports[0].clone();
    assert_eq!((transport.skipped_bytes, transport.bad_checksums, transport.truncated), (20, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn monitor_reports_the_rates_of_each_interval() {
    let world = world(vec![topic_link("inline", "/a")]);
    let reports: Arc<Mutex<Vec<f64>>> = Arc::default();
    let kept = Arc::clone(&reports);
    let report = move |rates: &Rates| kept.lock().unwrap().push(rates.links[0].in_hz);
    let deps = Deps { monitor: Some(Monitor::new(Duration::from_secs(5), report)), ..world.deps() };
    let running = start(&world.topology, &deps);
    running.settled(PATIENCE).await;
    for _ in 0..10 {
        world.devices.datagram(&udp(9000), b"x", peer(1)).await;
    }
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(*reports.lock().unwrap(), [2.0, 0.0]);
}
