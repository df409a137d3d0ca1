//! What goes wrong stays where it is.

use std::{sync::Arc, time::Duration};

use rostrans_adapter_memory::MemoryAdapter;
use rostrans_core::{
    adapter::{
        AdapterError, AdapterInfo, Guard, Publisher, RosAdapter, RosVersion, SampleSink, ServiceClient,
        ServiceHandler,
    },
    rule::{Direction::UdpToRostopic, ForwardRule, RosSelector},
    topic::{ServiceSpec, TopicSpec},
    transport::BoxFuture,
};
use rostrans_engine::{running::start, supervisor::State};
use tokio_util::sync::CancellationToken;

use crate::{
    device::Input,
    world::{PATIENCE, World, counters, link, peer, serial, state, topic, topic_link, udp},
};

/// Two rules on port 9000 and one on port 9001.
fn world() -> World {
    let mut world = World::new();
    let (shared, other) = (world.transport(&udp(9000)), world.transport(&udp(9001)));
    let links = vec![(topic_link("inline", "/inline"), None), (topic_link("queued", "/queued"), None)];
    world.rule("first", UdpToRostopic, Some(shared), links);
    world.rule("second", UdpToRostopic, Some(shared), vec![(topic_link("tag_30", "/tagged"), None)]);
    world.rule("third", UdpToRostopic, Some(other), vec![(topic_link("inline", "/third"), None)]);
    world
}

#[tokio::test(start_paused = true)]
async fn codec_that_panics_is_made_afresh() {
    let world = world();
    let running = world.start().await;
    for bytes in [b"a".as_slice(), b"panic", b"b"] {
        world.devices.datagram(&udp(9000), bytes, peer(1)).await;
    }
    for topic in ["/inline", "/queued"] {
        assert_eq!(world.published(topic, 2).await, [b"a", b"b"], "{topic}");
    }
    let rule = running.snapshot().rules[0].clone();
    assert_eq!(
        rule.links.iter().map(|link| (link.panics, link.disabled)).collect::<Vec<_>>(),
        [(1, false); 2]
    );
    assert_eq!((rule.state, rule.restarts), (State::Running, 0));
}

#[tokio::test(start_paused = true)]
async fn five_panics_in_a_minute_switch_off_the_link_alone() {
    let world = world();
    let running = world.start().await;
    for _ in 0..7 {
        world.devices.datagram(&udp(9000), b"panic", peer(1)).await;
    }
    world.devices.feed(&udp(9000), Input::Frames(vec![(b"x".to_vec(), peer_of(1), Some(30))])).await;
    assert_eq!(world.published("/tagged", 1).await, [b"x"]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    for link in running.snapshot().rules[0].links.iter() {
        assert_eq!((link.panics, link.disabled), (5, true));
    }
    assert_eq!(world.bodies("/inline"), Vec::<Vec<u8>>::new());
    assert_eq!(world.made("inline"), 6, "one for each of two rules, four after panics");
}

#[tokio::test(start_paused = true)]
async fn panics_spread_over_minutes_switch_nothing_off() {
    let world = world();
    let running = world.start().await;
    for _ in 0..12 {
        world.devices.datagram(&udp(9000), b"panic", peer(1)).await;
        tokio::time::sleep(Duration::from_secs(16)).await;
    }
    let link = running.snapshot().rules[0].links[0].clone();
    assert_eq!((link.panics, link.disabled), (12, false));
}

#[tokio::test(start_paused = true)]
async fn port_in_use_is_waited_for_while_the_others_run() {
    let world = world();
    world.devices.refuse(&udp(9000), 4);
    let running = start(&world.topology, &world.deps());
    let problems = running.settled(PATIENCE).await;
    let names: Vec<&str> = problems.iter().map(|problem| &*problem.name).collect();
    assert_eq!(names, ["udp 127.0.0.1:9000 (rules first, second)"]);
    let reason = problems[0].state.problem().unwrap();
    assert!(reason.contains("'ss -ulpn sport = :14550' shows which"), "{reason}");
    assert!(matches!(state(&running, 0), State::Waiting(_)));
    assert_eq!(state(&running, 2), State::Running);

    world.devices.datagram(&udp(9001), b"x", peer(1)).await;
    assert_eq!(world.published("/third", 1).await, [b"x"]);
    world.devices.datagram(&udp(9000), b"at last", peer(1)).await;
    assert_eq!(world.published("/inline", 1).await, [b"at last"]);
    assert_eq!(state(&running, 0), State::Running);
    assert_eq!(running.snapshot().transports[0].restarts, 4);
}

#[tokio::test(start_paused = true)]
async fn failed_socket_is_opened_again_and_its_links_go_on() {
    for failure in [Input::Fail, Input::Panic] {
        let world = world();
        let running = world.start().await;
        world.devices.datagram(&udp(9000), b"before", peer(1)).await;
        world.published("/queued", 1).await;
        world.devices.feed(&udp(9000), failure).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        world.devices.datagram(&udp(9000), b"after", peer(1)).await;
        for topic in ["/inline", "/queued"] {
            assert_eq!(world.published(topic, 2).await, [b"before".as_slice(), b"after"], "{topic}");
        }
        assert_eq!(counters(&running, 0, 0).frames, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn missing_serial_port_is_a_problem_until_it_is_plugged_in() {
    let mut world = World::new();
    let port = world.transport(&serial("/dev/ttyS9"));
    let direction = rostrans_core::rule::Direction::SerialToRos;
    world.rule("fcu", direction, Some(port), vec![(topic_link("inline", "/a"), None)]);
    let running = start(&world.topology, &world.deps());
    let device = serial("/dev/ttyS9");
    world.devices.feed(&device, Input::Device(false)).await;
    let problems = running.settled(PATIENCE).await;
    assert_eq!(problems.len(), 1);
    assert_eq!(&*problems[0].name, "serial /dev/ttyS9:921600 (rule fcu)");
    assert_eq!(problems[0].state, State::Waiting("unplugged".into()));
    assert_eq!(state(&running, 0), State::Waiting("serial /dev/ttyS9:921600 (rule fcu): unplugged".into()));
    world.devices.feed(&device, Input::Device(true)).await;
    world.devices.datagram(&device, b"x", peer(1)).await;
    world.published("/a", 1).await;
    assert_eq!(state(&running, 0), State::Running);
}

#[tokio::test(start_paused = true)]
async fn rule_whose_type_is_unknown_fails_and_the_others_run() {
    let mut world = world();
    world.adapters = vec![Arc::new(Refusing { inner: world.ros.clone(), network_failures: 0.into() })];
    let source = world.topology.pipelines[2].source;
    world.rule("odd", UdpToRostopic, source, vec![(topic_link("inline", "/unknown"), None)]);
    let running = start(&world.topology, &world.deps());
    let problems = running.settled(PATIENCE).await;
    assert_eq!(problems.len(), 1);
    assert_eq!(&*problems[0].name, "rule odd");
    assert!(
        matches!(&problems[0].state, State::Failed(reason) if reason.contains("/unknown: type 'x/msg/Y' is unknown"))
    );
    world.devices.datagram(&udp(9001), b"x", peer(1)).await;
    assert_eq!(world.published("/third", 1).await, [b"x"]);
}

#[tokio::test(start_paused = true)]
async fn rule_whose_graph_is_away_is_tried_again() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    world.adapters = vec![Arc::new(Refusing { inner: world.ros.clone(), network_failures: 3.into() })];
    world.rule("up", UdpToRostopic, Some(source), vec![(topic_link("inline", "/a"), None)]);
    let running = start(&world.topology, &world.deps());
    assert_eq!(running.settled(PATIENCE).await.len(), 1);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(state(&running, 0), State::Running);
    assert_eq!(running.snapshot().rules[0].restarts, 3);
    world.devices.datagram(&udp(9000), b"x", peer(1)).await;
    assert_eq!(world.published("/a", 1).await, [b"x"]);
}

#[tokio::test(start_paused = true)]
async fn run_has_failed_when_every_rule_has() {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    for id in ["one", "two"] {
        world.rule(id, UdpToRostopic, Some(source), vec![(link("no_such_codec"), None)]);
    }
    let running = start(&world.topology, &world.deps());
    let problem = tokio::time::timeout(PATIENCE, running.wait_failed()).await.unwrap();
    assert_eq!(problem.state, State::Failed("codec 'no_such_codec' is unknown".into()));
}

#[tokio::test(start_paused = true)]
async fn two_graphs_get_every_sample_and_a_rule_may_choose() {
    let mut world = World::new();
    let ros1 = MemoryAdapter::new(RosVersion::Ros1, 10);
    ros1.pretend_subscribers(1);
    world.adapters.push(ros1.clone());
    let source = world.transport(&udp(9000));
    for (id, name, selector) in [
        ("both", "/both", RosSelector::All),
        ("new", "/new", RosSelector::Ros2),
        ("old", "/old", RosSelector::Ros1),
    ] {
        world.rule(id, UdpToRostopic, Some(source), vec![(topic_link("inline", name), None)]);
        let pipeline = world.topology.pipelines.last_mut().unwrap();
        pipeline.rule = Arc::new(ForwardRule { ros_version: selector, ..(*pipeline.rule).clone() });
    }
    let running = world.start().await;
    world.devices.datagram(&udp(9000), b"x", peer(1)).await;
    world.published("/new", 1).await;
    assert!(ros1.wait_published("/old", 1, PATIENCE).await);
    let ros1_counts = ["/both", "/new", "/old"].map(|topic| ros1.publish_count(topic));
    let ros2_counts = ["/both", "/new", "/old"].map(|topic| world.ros.publish_count(topic));
    assert_eq!((ros1_counts, ros2_counts), ([1, 0, 1], [1, 1, 0]));
    assert_eq!(counters(&running, 0, 0).messages, 1);
}

#[tokio::test(start_paused = true)]
async fn rule_for_a_ros_that_does_not_run_says_so() {
    let mut world = world();
    let pipeline = &mut world.topology.pipelines[0];
    pipeline.rule = Arc::new(ForwardRule { ros_version: RosSelector::Ros1, ..(*pipeline.rule).clone() });
    let running = world.start().await;
    let state = state(&running, 0);
    assert!(state.problem().unwrap().starts_with("no ROS 1 adapter runs;"), "{state:?}");
}

fn peer_of(port: u16) -> rostrans_core::transport::Peer {
    rostrans_core::transport::Peer::Udp(peer(port))
}

/// Refuses `/unknown` for good and everything a few times.
struct Refusing {
    inner: Arc<MemoryAdapter>,
    network_failures: std::sync::atomic::AtomicU32,
}

impl RosAdapter for Refusing {
    fn info(&self) -> &AdapterInfo {
        self.inner.info()
    }

    fn advertise<'a>(
        &'a self,
        spec: &'a TopicSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn Publisher>, AdapterError>> {
        use std::sync::atomic::Ordering::SeqCst;
        if *spec == topic("/unknown") {
            return Box::pin(async { Err(AdapterError::UnknownType("x/msg/Y".into())) });
        }
        let failures = &self.network_failures;
        if failures.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            let source = std::io::ErrorKind::ConnectionRefused.into();
            let context = "cannot reach the master".to_owned();
            return Box::pin(async { Err(AdapterError::Io { context, source }) });
        }
        self.inner.advertise(spec)
    }

    fn subscribe<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        self.inner.subscribe(topic, sink)
    }

    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        self.inner.subscribe_remote(topic, sink)
    }

    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>> {
        self.inner.service_client(service)
    }

    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        self.inner.advertise_service(service, handler)
    }

    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>> {
        Arc::clone(&self.inner).run(cancel)
    }
}
