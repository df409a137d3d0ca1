//! `rostopic_to_rostopic` between graphs inside the test.

use std::{sync::Arc, time::Duration};

use rostrans_adapter_memory::MemoryAdapter;
use rostrans_core::{
    adapter::{PublishError, RosAdapter, RosVersion},
    clock::RosTime,
    rule::{Direction::RostopicToRostopic, Ends, ForwardRule, LinkConfig, RosSelector},
    topic::{Qos, TopicName, TopicSpec},
};
use rostrans_engine::{running::Running, supervisor::State};

use crate::codec::cdr;
use crate::world::{World, counters, limited, link, state, topic};

const SETTLE: Duration = Duration::from_secs(3);

/// A ROS 1 and a ROS 2 graph, and a rule between them.
fn bridged(ends: Ends, link: LinkConfig) -> (World, Arc<MemoryAdapter>) {
    let mut world = World::new();
    let ros1 = MemoryAdapter::new(RosVersion::Ros1, 1000);
    ros1.pretend_subscribers(1);
    world.adapters.push(ros1.clone());
    world.rule("bridge", RostopicToRostopic, None, vec![(link, None)]);
    let pipeline = world.topology.pipelines.last_mut().unwrap();
    pipeline.rule = Arc::new(ForwardRule { ends, ..(*pipeline.rule).clone() });
    (world, ros1)
}

fn auto(name: &str) -> LinkConfig {
    LinkConfig { topic: Some(topic(name)), codec: None, qos_as_offered: true, ..link("inline") }
}

fn one_way() -> Ends {
    Ends { from: RosSelector::Ros1, to: RosSelector::Ros2 }
}

fn bodies(adapter: &MemoryAdapter, topic: &str) -> Vec<Vec<u8>> {
    adapter.published(topic).iter().map(|sample| sample.payload.body().to_vec()).collect()
}

/// What a late subscriber of a latched topic gets.
async fn latched(adapter: &MemoryAdapter, name: &str) -> Vec<Vec<u8>> {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let spec = TopicSpec { qos: Qos::latched(1), ..topic(name) };
    let sink = Arc::new(move |sample: rostrans_core::codec::Sample| {
        sink.lock().unwrap().push(sample.payload.body().to_vec());
    });
    drop(adapter.subscribe(&spec, sink).await.unwrap());
    let seen = seen.lock().unwrap();
    seen.clone()
}

async fn up(running: &Running) {
    assert_eq!(state(running, 0), State::Running);
    tokio::time::sleep(SETTLE).await;
}

#[tokio::test(start_paused = true)]
async fn topic_is_carried_both_ways_and_nothing_goes_round() {
    let (world, ros1) = bridged(Ends::default(), auto("/a"));
    let running = world.start().await;
    up(&running).await;
    for n in 0..100 {
        ros1.inject("/a", RosTime { ns: 7 }, cdr(&[n]));
        world.ros.inject("/a", RosTime { ns: 8 }, cdr(&[n, 0]));
    }
    tokio::time::sleep(SETTLE).await;
    assert_eq!(bodies(&world.ros, "/a"), (0..100).map(|n| vec![n]).collect::<Vec<_>>());
    assert_eq!(bodies(&ros1, "/a"), (0..100).map(|n| vec![n, 0]).collect::<Vec<_>>());
    assert_eq!(world.ros.published("/a")[0].stamp, RosTime { ns: 7 });
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.messages, counters.frames, counters.send_errors), (200, 200, 0));
}

#[tokio::test(start_paused = true)]
async fn one_way_is_one_way_and_may_rename() {
    let link = LinkConfig { to_topic: Some(TopicName::parse("/robot/a").unwrap()), ..auto("/a") };
    let (world, ros1) = bridged(one_way(), link);
    let running = world.start().await;
    up(&running).await;
    assert_eq!(ros1.inject("/a", RosTime::default(), cdr(b"x")), 1);
    assert_eq!(world.ros.inject("/robot/a", RosTime::default(), cdr(b"y")), 0);
    assert_eq!(bodies(&world.ros, "/robot/a"), [b"x"]);
    assert_eq!((ros1.advertised(), world.ros.advertised()), (vec![], vec!["/robot/a".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn latched_topic_stays_latched() {
    let (world, ros1) = bridged(one_way(), auto("/map"));
    let running = world.start().await;
    up(&running).await;
    ros1.pretend_offers("/map", Some(vec![Qos::latched(1)]));
    tokio::time::sleep(SETTLE).await;
    world.ros.pretend_subscribers(0);
    ros1.inject("/map", RosTime::default(), cdr(b"m"));
    // A second publisher with one of its own: late subscribers get both.
    ros1.pretend_offers("/map", Some(vec![Qos::latched(1); 2]));
    tokio::time::sleep(SETTLE).await;
    ros1.inject("/map", RosTime::default(), cdr(b"m"));
    ros1.inject("/map", RosTime::default(), cdr(b"n"));
    // One publisher that left changes nothing; late subscribers still get what was said.
    ros1.pretend_offers("/map", Some(vec![Qos::latched(1)]));
    tokio::time::sleep(SETTLE).await;
    assert_eq!(latched(&world.ros, "/map").await, [b"m", b"n"]);
}

#[tokio::test(start_paused = true)]
async fn qos_follows_what_publishers_offer() {
    let (world, ros1) = bridged(Ends { from: RosSelector::Ros2, to: RosSelector::Ros1 }, auto("/scan"));
    world.ros.pretend_offers("/scan", Some(vec![]));
    let running = world.start().await;
    up(&running).await;
    // Nobody publishes: there is nothing to ask for yet.
    assert!(world.ros.subscribed().is_empty());
    world.ros.pretend_offers("/scan", Some(vec![Qos::reliable()]));
    tokio::time::sleep(SETTLE).await;
    assert_eq!(world.ros.subscribed(), ["/scan"]);
    assert_eq!(ros1.advertised(), ["/scan"]);
    // One that is best effort: asking for more would be asking for nothing of it.
    world.ros.pretend_offers("/scan", Some(vec![Qos::reliable(), Qos::sensor_data()]));
    tokio::time::sleep(SETTLE).await;
    assert_eq!(world.ros.inject("/scan", RosTime::default(), cdr(b"s")), 1);
    assert_eq!(bodies(&ros1, "/scan"), [b"s"]);
    // All gone: who comes next finds the subscription there.
    world.ros.pretend_offers("/scan", Some(vec![]));
    tokio::time::sleep(SETTLE).await;
    assert_eq!(world.ros.subscribed(), ["/scan"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_published_where_nobody_listens() {
    let (world, ros1) = bridged(one_way(), auto("/a"));
    world.ros.pretend_subscribers(0);
    let running = world.start().await;
    up(&running).await;
    ros1.inject("/a", RosTime::default(), cdr(b"x"));
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.messages, counters.frames), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn limit_and_refusals_are_counted() {
    let (world, ros1) = bridged(one_way(), limited(auto("/a"), 1));
    let running = world.start().await;
    up(&running).await;
    world.ros.refuse_publishes(Some(PublishError::Full));
    for _ in 0..3 {
        ros1.inject("/a", RosTime::default(), cdr(b"x"));
    }
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.messages, counters.dropped_rate, counters.send_errors), (3, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn end_of_the_rule_withdraws_both_ends() {
    let (world, ros1) = bridged(Ends::default(), auto("/a"));
    let running = world.start().await;
    up(&running).await;
    assert_eq!((ros1.subscribed().len(), ros1.advertised().len()), (1, 1));
    assert!(running.shutdown(SETTLE).await.aborted.is_empty());
    assert_eq!((ros1.subscribed().len(), ros1.advertised().len()), (0, 0));
}
