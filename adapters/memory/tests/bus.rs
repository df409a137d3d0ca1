//! The in-process bus as its users see it.

#![expect(clippy::unwrap_used, reason = "test helpers")]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rostrans_adapter_memory::MemoryAdapter;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, PublishError, RosAdapter, RosVersion, SampleSink},
    clock::RosTime,
    topic::{History, KEEP_ALL_BYTES, Qos, ServiceSpec, TopicName, TopicSpec},
};
use rostrans_schema::TypeName;
use tokio_util::sync::CancellationToken;

fn topic(name: &str, qos: Qos) -> TopicSpec {
    TopicSpec {
        name: TopicName::parse(name).unwrap(),
        msg_type: TypeName::message("std_msgs/String").unwrap(),
        qos,
    }
}

fn service(name: &str) -> ServiceSpec {
    ServiceSpec {
        name: TopicName::parse(name).unwrap(),
        srv_type: TypeName::service("std_srvs/SetBool").unwrap(),
    }
}

fn cdr(tag: u8) -> CdrBytes {
    CdrBytes::new(vec![0, 1, 0, 0, tag]).unwrap()
}

fn collector() -> (Arc<Mutex<Vec<u8>>>, SampleSink) {
    let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
    let sink = Arc::clone(&seen);
    (seen, Arc::new(move |sample| sink.lock().unwrap().extend_from_slice(sample.payload.body())))
}

#[tokio::test]
async fn publishes_reach_subscribers_and_the_record() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 2);
    let publisher = bus.advertise(&topic("/a", Qos::reliable())).await.unwrap();
    assert_eq!(publisher.matched(), 0);
    let (seen, sink) = collector();
    let guard = bus.subscribe(&topic("/a", Qos::sensor_data()), sink).await.unwrap();
    assert_eq!(publisher.matched(), 1);
    for tag in 1..=3 {
        publisher.publish(RosTime { ns: i64::from(tag) }, &cdr(tag)).unwrap();
    }
    drop(guard);
    publisher.publish(RosTime::default(), &cdr(4)).unwrap();
    assert_eq!(*seen.lock().unwrap(), [1, 2, 3]);
    assert_eq!(bus.publish_count("/a"), 4);
    let kept: Vec<u8> = bus.published("/a").iter().flat_map(|s| s.payload.body().to_vec()).collect();
    assert_eq!(kept, [3, 4]);
}

#[tokio::test]
async fn late_subscriber_of_a_latched_topic_gets_the_last_samples() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
    let publisher = bus.advertise(&topic("/tf_static", Qos::latched(2))).await.unwrap();
    for tag in 1..=3 {
        publisher.publish(RosTime::default(), &cdr(tag)).unwrap();
    }
    let (late, sink) = collector();
    let _latched = bus.subscribe(&topic("/tf_static", Qos::latched(2)), sink).await.unwrap();
    let (volatile, sink) = collector();
    let _volatile = bus.subscribe(&topic("/tf_static", Qos::reliable()), sink).await.unwrap();
    assert_eq!(*late.lock().unwrap(), [2, 3]);
    assert!(volatile.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_latched_topic_that_keeps_all_is_full_when_it_is_full() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
    let all = topic("/all", Qos { history: History::KeepAll, ..Qos::latched(1) });
    let publisher = bus.advertise(&all).await.unwrap();
    let half = CdrBytes::new(vec![0; KEEP_ALL_BYTES / 2]).unwrap();
    for expected in [Ok(()), Ok(()), Err(PublishError::Full)] {
        assert_eq!(publisher.publish(RosTime::default(), &half), expected);
    }
    assert_eq!(bus.publish_count("/all"), 2);
    let (late, sink) = collector();
    let _latched = bus.subscribe(&all, sink).await.unwrap();
    assert_eq!(late.lock().unwrap().len(), 2 * (KEEP_ALL_BYTES / 2 - 4));
}

#[tokio::test]
async fn incompatible_qos_does_not_match() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
    let publisher = bus.advertise(&topic("/a", Qos::sensor_data())).await.unwrap();
    let (seen, sink) = collector();
    let _guard = bus.subscribe(&topic("/a", Qos::reliable()), sink).await.unwrap();
    publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    assert_eq!(publisher.matched(), 0);
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn switches_pretend_subscribers_and_refuse_publishes() {
    let bus = MemoryAdapter::new(RosVersion::Ros1, 8);
    let publisher = bus.advertise(&topic("/a", Qos::reliable())).await.unwrap();
    bus.pretend_subscribers(2);
    assert_eq!(publisher.matched(), 2);
    bus.refuse_publishes(Some(PublishError::Full));
    assert_eq!(publisher.publish(RosTime::default(), &cdr(1)), Err(PublishError::Full));
    bus.refuse_publishes(None);
    publisher.publish(RosTime::default(), &cdr(2)).unwrap();
    assert_eq!(bus.publish_count("/a"), 1);
}

#[tokio::test]
async fn injected_samples_reach_every_subscription() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 8);
    let (seen, sink) = collector();
    let _guard = bus.subscribe(&topic("/a", Qos::reliable()), sink).await.unwrap();
    assert_eq!(bus.inject("/a", RosTime::default(), cdr(7)), 1);
    assert_eq!(bus.inject("/b", RosTime::default(), cdr(8)), 0);
    assert_eq!(*seen.lock().unwrap(), [7]);
    assert_eq!(bus.publish_count("/a"), 0);
}

#[tokio::test]
async fn endpoints_are_listed_while_they_live() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
    let publisher = bus.advertise(&topic("/out", Qos::reliable())).await.unwrap();
    let (_, sink) = collector();
    let subscription = bus.subscribe(&topic("/in", Qos::reliable()), sink).await.unwrap();
    let offer = bus.answer(&service("/set"), Ok);
    assert_eq!((bus.advertised(), bus.subscribed()), (vec!["/out".into()], vec!["/in".to_owned()]));
    assert_eq!(bus.offered(), ["/set"]);
    drop((publisher, subscription, offer));
    assert!(bus.advertised().is_empty() && bus.subscribed().is_empty() && bus.offered().is_empty());
}

#[tokio::test(start_paused = true)]
async fn waiting_for_publishes_ends_at_the_count_or_the_limit() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
    let publisher = bus.advertise(&topic("/a", Qos::reliable())).await.unwrap();
    assert!(!bus.wait_published("/a", 1, Duration::from_secs(1)).await);
    let publish = async {
        tokio::task::yield_now().await;
        publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    };
    let (arrived, ()) = tokio::join!(bus.wait_published("/a", 1, Duration::from_secs(1)), publish);
    assert!(arrived);
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_a_server_and_for_its_answer() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
    let deadline = || (tokio::time::Instant::now() + Duration::from_secs(2)).into_std();
    let client = bus.service_client(&service("/set")).await.unwrap();
    assert_eq!(client.call(cdr(1), deadline()).await, Err(CallError::NoServer));

    let late = async {
        tokio::task::yield_now().await;
        bus.answer(&service("/set"), |_| Ok(cdr(9)))
    };
    let (answer, offer) = tokio::join!(client.call(cdr(1), deadline()), late);
    assert_eq!(answer, Ok(cdr(9)));
    drop(offer);

    let _mute = bus.answer(&service("/set"), |_| Err(CallError::Timeout));
    assert_eq!(bus.call(&service("/set"), cdr(1), deadline()).await, Err(CallError::Timeout));
}

#[tokio::test]
async fn publishing_after_the_adapter_stopped_is_an_error() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
    let publisher = bus.advertise(&topic("/a", Qos::reliable())).await.unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    Arc::clone(&bus).run(cancel).await.unwrap();
    assert_eq!(publisher.publish(RosTime::default(), &cdr(1)), Err(PublishError::Closed));
}

#[tokio::test]
async fn policies_about_time_are_refused_by_name() {
    let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
    let timed = topic("/a", Qos { deadline: Some(Duration::from_secs(1)), ..Qos::reliable() });
    let text = "adapter 'memory' does not support deadline, lifespan and liveliness of the QoS";
    assert_eq!(bus.advertise(&timed).await.err().unwrap().to_string(), text);
    assert_eq!(bus.subscribe(&timed, collector().1).await.err().unwrap().to_string(), text);
}
