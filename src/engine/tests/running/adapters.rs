//! Several ROS graphs as one.

use std::{sync::Arc, time::Duration};

use rostrans_adapter_memory::MemoryAdapter;
use rostrans_core::{
    adapter::{CallError, RosVersion},
    clock::RosTime,
    rule::RosSelector,
    topic::{Qos, TopicSpec},
};
use rostrans_engine::adapters::AdapterSet;
use tokio::time::Instant;

use crate::{
    codec::cdr,
    world::{service, topic},
};

fn graphs() -> (AdapterSet, Arc<MemoryAdapter>, Arc<MemoryAdapter>) {
    let (new, old) = (MemoryAdapter::new(RosVersion::Ros2, 10), MemoryAdapter::new(RosVersion::Ros1, 10));
    (AdapterSet::new(vec![new.clone(), old.clone()]), new, old)
}

fn in_seconds(seconds: u64) -> std::time::Instant {
    (Instant::now() + Duration::from_secs(seconds)).into_std()
}

#[tokio::test(start_paused = true)]
async fn matched_subscribers_add_up() {
    let (set, new, old) = graphs();
    let publisher = set.advertise(RosSelector::All, &topic("/a")).await.unwrap();
    assert_eq!(publisher.matched(), 0);
    new.pretend_subscribers(2);
    old.pretend_subscribers(3);
    assert_eq!(publisher.matched(), 5);
}

#[tokio::test(start_paused = true)]
async fn failure_of_one_graph_is_told_and_the_other_has_the_sample() {
    use rostrans_core::adapter::PublishError;
    for broken in [0, 1] {
        let (set, new, old) = graphs();
        let publisher = set.advertise(RosSelector::All, &topic("/a")).await.unwrap();
        [&new, &old][broken].refuse_publishes(Some(PublishError::Full));
        let outcome = publisher.publish(RosTime::default(), &cdr(b"x"));
        assert_eq!(outcome, Err(PublishError::Full));
        assert_eq!([&new, &old][1 - broken].publish_count("/a"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn samples_of_every_graph_arrive() {
    let (set, new, old) = graphs();
    let (sender, mut samples) = tokio::sync::mpsc::channel(8);
    let sink = Arc::new(move |sample: rostrans_core::codec::Sample| {
        sender.try_send(sample.payload.body().to_vec()).unwrap();
    });
    let spec = TopicSpec { qos: Qos::sensor_data(), ..topic("/a") };
    let guard = set.subscribe(RosSelector::All, &spec, sink).await.unwrap();
    new.inject("/a", RosTime::default(), cdr(b"new"));
    old.inject("/a", RosTime::default(), cdr(b"old"));
    assert_eq!(samples.recv().await, Some(b"new".to_vec()));
    assert_eq!(samples.recv().await, Some(b"old".to_vec()));
    drop(guard);
    assert_eq!((new.subscribed(), old.subscribed()), (vec![], vec![]));
}

#[tokio::test(start_paused = true)]
async fn graph_without_a_server_gives_way_to_the_next() {
    let (set, _new, old) = graphs();
    let client = set.service_client(RosSelector::All, &service("/set")).await.unwrap();
    let _server = old.answer(&service("/set"), |_| Ok(cdr(b"old did")));
    assert_eq!(client.call(cdr(b"x"), in_seconds(4)).await, Ok(cdr(b"old did")));
}

#[tokio::test(start_paused = true)]
async fn no_server_anywhere_is_said_when_the_deadline_is_over() {
    let (set, ..) = graphs();
    let client = set.service_client(RosSelector::All, &service("/set")).await.unwrap();
    let before = Instant::now();
    assert_eq!(client.call(cdr(b"x"), in_seconds(4)).await, Err(CallError::NoServer));
    assert_eq!(before.elapsed(), Duration::from_secs(4));
}
