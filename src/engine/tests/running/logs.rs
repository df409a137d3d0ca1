//! What people get to read: a line per change, not per event.

use std::{
    fmt,
    sync::{Arc, Mutex, Once},
    time::Duration,
};

use rostrans_core::{
    rule::Direction::{RosserviceToUdp, RostopicToUdp, UdpToRostopic},
    transport::Peer,
};
use rostrans_engine::{running::start, supervisor::State, topology::LinkTarget};
use tracing::{
    Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

use crate::{
    call_in::call,
    device::Input,
    world::{PATIENCE, World, peer, service_link, topic_link, udp},
};

/// Gives threads of tests that do not care for log lines a subscriber, too.
///
/// Whether a log statement is wanted is decided and remembered when it is first reached. A thread without a subscriber
/// would decide against it for the tests that wait for its line.
pub(crate) fn want_lines() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Lines::default()).unwrap());
}

/// Keeps the lines of level info and above.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    /// Keeps what this thread logs until the guard is dropped.
    pub(crate) fn keep(&self) -> DefaultGuard {
        tracing::subscriber::set_default(self.clone())
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.0.insert_str(0, &format!("{value:?}")),
            name => self.0.push_str(&format!(" {name}={value:?}")),
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO && metadata.target().starts_with("rostrans")
    }

    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}

    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap().push(format!("{} {}", event.metadata().level(), text.0));
    }

    fn enter(&self, _span: &span::Id) {}

    fn exit(&self, _span: &span::Id) {}
}

fn world() -> World {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("inline", "/a"), None)]);
    world
}

#[tokio::test(start_paused = true)]
async fn port_in_use_is_one_line_and_its_return_another() {
    let lines = Lines::default();
    let _guard = lines.keep();
    let world = world();
    world.devices.refuse(&udp(9000), 30);
    let running = start(&world.topology, &world.deps());
    tokio::time::sleep(Duration::from_secs(300)).await;
    let transport = running.snapshot().transports[0].clone();
    assert_eq!((transport.state, transport.restarts), (State::Running, 30));
    let lines = lines.take();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines[0].starts_with("WARN not working; trying again until it does"), "{lines:#?}");
    assert!(lines[0].contains("udp 127.0.0.1:9000 (rule up)") && lines[0].contains("ss -ulpn"), "{lines:#?}");
    assert!(lines[1].starts_with("INFO working again"), "{lines:#?}");
}

#[tokio::test(start_paused = true)]
async fn bad_frames_are_one_line_and_then_a_summary_every_ten_seconds() {
    let lines = Lines::default();
    let _guard = lines.keep();
    let world = world();
    let running = start(&world.topology, &world.deps());
    running.settled(PATIENCE).await;
    for _ in 0..250 {
        world.devices.datagram(&udp(9000), b"bad", peer(1)).await;
        tokio::time::sleep(Duration::from_millis(101)).await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    let expected =
        |count| format!("WARN frame not decoded rule=up link=inline count={count} error=bad magic number");
    assert_eq!(lines.take(), [expected(1), expected(99), expected(99), expected(51)]);
}

#[tokio::test(start_paused = true)]
async fn wrong_answers_to_a_service_call_are_told_once_with_the_reason() {
    let lines = Lines::default();
    let _guard = lines.keep();
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("in", RosserviceToUdp, Some(source), vec![(service_link("/arm"), target)]);
    let running = start(&world.topology, &world.deps());
    running.settled(PATIENCE).await;
    let _call = call(&world, "/arm", b"arm");
    world.devices.wire.wait(1).await;
    for _ in 0..3 {
        world.devices.datagram(&udp(9000), b"=forged", peer(21)).await;
        world.devices.datagram(&udp(9000), b"bad", peer(20)).await;
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let expected = [
        "WARN answer dropped; not from the link's target address rule=in link=inline count=1 \
         error=came from 127.0.0.1:21, asked was 127.0.0.1:20",
        "WARN peer's answer to a service call not understood rule=in link=inline count=1 error=field 'x': bad",
    ];
    assert_eq!(lines.take(), expected);
}

#[tokio::test(start_paused = true)]
async fn frames_dropped_from_a_full_queue_are_all_told() {
    let lines = Lines::default();
    let _guard = lines.keep();
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("queued", "/a"), None)]);
    let running = start(&world.topology, &world.deps());
    running.settled(PATIENCE).await;
    let burst = (0..200_u8).map(|i| (vec![i], Peer::Udp(peer(1)), None)).collect();
    world.devices.feed(&udp(9000), Input::Frames(burst)).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let expected = |count| format!("WARN queue full; oldest frames dropped rule=up count={count}");
    assert_eq!(lines.take(), [expected(1), expected(135)]);
}

#[tokio::test(start_paused = true)]
async fn samples_dropped_from_a_full_queue_are_all_told() {
    let lines = Lines::default();
    let _guard = lines.keep();
    let mut world = World::new();
    let target = Some(LinkTarget::Udp(peer(20)));
    world.rule("down", RostopicToUdp, None, vec![(topic_link("inline", "/a"), target)]);
    let running = start(&world.topology, &world.deps());
    running.settled(PATIENCE).await;
    for body in 0..200_u8 {
        world.inject("/a", &[body]);
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    let expected = |count| format!("WARN queue full; oldest samples dropped rule=down count={count}");
    assert_eq!(lines.take(), [expected(1), expected(135)]);
}
