//! Two adapters in one process that find each other on the loopback interface.

#![expect(clippy::unwrap_used, reason = "test helpers")]

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery, DiscoveryRange};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, CallError, PublishError, RosAdapter, SampleSink, ServiceHandler},
    clock::RosTime,
    codec::Sample,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::BoxFuture,
};
use rostrans_schema::{TypeName, TypeRegistry};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Longer than any test machine takes; only a failing test waits for it.
const LIMIT: Duration = Duration::from_secs(20);

fn config(name: &str) -> DdsConfig {
    // Tests run in parallel processes; each gets a domain of its own, away from domain 0.
    let domain = u16::try_from(10 + std::process::id() % 80).unwrap();
    let discovery = Discovery { domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    DdsConfig::new(name, discovery, Arc::new(TypeRegistry::bundled()))
}

/// Two nodes, running until the set is dropped.
fn two_nodes() -> (Arc<DdsAdapter>, Arc<DdsAdapter>, JoinSet<Result<(), AdapterError>>) {
    let (a, b) = (DdsAdapter::new(config("a")).unwrap(), DdsAdapter::new(config("b")).unwrap());
    let mut running = JoinSet::new();
    for adapter in [&a, &b] {
        running.spawn(Arc::clone(adapter).run(CancellationToken::new()));
    }
    (a, b, running)
}

fn topic(name: &str, qos: Qos) -> TopicSpec {
    let msg_type = TypeName::message("std_msgs/String").unwrap();
    TopicSpec { name: TopicName::parse(name).unwrap(), msg_type, qos }
}

fn service(name: &str) -> ServiceSpec {
    let srv_type = TypeName::service("std_srvs/SetBool").unwrap();
    ServiceSpec { name: TopicName::parse(name).unwrap(), srv_type }
}

/// A whole number of words: DATA payloads are padded to that, and padding stays.
fn cdr(tag: u8) -> CdrBytes {
    CdrBytes::new(vec![0, 1, 0, 0, 4, 0, 0, 0, tag, b'b', b'c', 0]).unwrap()
}

fn collector() -> (Arc<Mutex<Vec<Sample>>>, SampleSink) {
    let seen: Arc<Mutex<Vec<Sample>>> = Arc::default();
    let sink = Arc::clone(&seen);
    (seen, Arc::new(move |sample| sink.lock().unwrap().push(sample)))
}

fn tags(seen: &Mutex<Vec<Sample>>) -> Vec<u8> {
    seen.lock().unwrap().iter().filter_map(|s| s.payload.body().get(4).copied()).collect()
}

async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

struct Echo;

impl ServiceHandler for Echo {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(std::future::ready(Ok(request)))
    }
}

#[tokio::test]
async fn samples_cross_with_their_source_time_in_order() {
    let (a, b, _running) = two_nodes();
    let publisher = a.advertise(&topic("/chatter", Qos::reliable())).await.unwrap();
    let (seen, sink) = collector();
    let subscription = b.subscribe(&topic("/chatter", Qos::reliable()), sink).await.unwrap();
    eventually("matched", || publisher.matched() == 1).await;
    for tag in 1..=5 {
        publisher.publish(RosTime { ns: i64::from(tag) * 1_000_000_000 }, &cdr(tag)).unwrap();
    }
    eventually("five samples", || seen.lock().unwrap().len() == 5).await;
    assert_eq!(tags(&seen), [1, 2, 3, 4, 5]);
    let stamps: Vec<i64> =
        seen.lock().unwrap().iter().map(|s| s.stamp.ns.div_euclid(1_000_000_000)).collect();
    assert_eq!(stamps.len(), 5);
    for (stamp, tag) in stamps.iter().zip(1..) {
        // RTPS time has 2^-32 s, so a whole second may come back as the nanosecond before it.
        assert!((tag - 1..=tag).contains(stamp), "{stamps:?}");
    }
    drop(subscription);
    eventually("unmatched", || publisher.matched() == 0).await;
}

#[tokio::test]
async fn late_subscriber_of_a_latched_topic_gets_the_last_samples() {
    let (a, b, _running) = two_nodes();
    let publisher = a.advertise(&topic("/latched", Qos::latched(2))).await.unwrap();
    for tag in 1..=3 {
        publisher.publish(RosTime::default(), &cdr(tag)).unwrap();
    }
    let (seen, sink) = collector();
    let _subscription = b.subscribe(&topic("/latched", Qos::latched(2)), sink).await.unwrap();
    eventually("two samples", || seen.lock().unwrap().len() == 2).await;
    assert_eq!(tags(&seen), [2, 3]);
}

#[tokio::test]
async fn calls_wait_for_their_server_and_get_its_answer() {
    let (a, b, _running) = two_nodes();
    let client = a.service_client(&service("/echo")).await.unwrap();
    let early = client.call(cdr(1), Instant::now() + LIMIT);
    let offer = async {
        tokio::task::yield_now().await;
        b.advertise_service(&service("/echo"), Arc::new(Echo)).await.unwrap()
    };
    let (answer, offer) = tokio::join!(early, offer);
    assert_eq!(answer, Ok(cdr(1)));
    let mut calls = JoinSet::new();
    for tag in 2..40 {
        let client = Arc::clone(&client);
        calls.spawn(async move { (tag, client.call(cdr(tag), Instant::now() + LIMIT).await) });
    }
    for (tag, answer) in calls.join_all().await {
        assert_eq!(answer.map(|a| a.body().get(4).copied()), Ok(Some(tag)));
    }
    drop(offer);
}

#[tokio::test]
async fn one_node_hears_its_own_topics_once_and_calls_its_own_services() {
    let (a, b, _running) = two_nodes();
    let ((own, own_sink), (other, other_sink)) = (collector(), collector());
    let publisher = a.advertise(&topic("/shared", Qos::reliable())).await.unwrap();
    let _own = a.subscribe(&topic("/shared", Qos::reliable()), own_sink).await.unwrap();
    let _other = b.subscribe(&topic("/shared", Qos::reliable()), other_sink).await.unwrap();
    eventually("matched", || publisher.matched() == 2).await;
    for tag in 1..=5 {
        publisher.publish(RosTime::default(), &cdr(tag)).unwrap();
    }
    let client = a.service_client(&service("/own")).await.unwrap();
    let _offer = a.advertise_service(&service("/own"), Arc::new(Echo)).await.unwrap();
    assert_eq!(client.call(cdr(9), Instant::now() + LIMIT).await, Ok(cdr(9)));
    eventually("five samples", || own.lock().unwrap().len() >= 5 && other.lock().unwrap().len() >= 5).await;
    // What came twice would be here by now: a later sample of the same writer is.
    publisher.publish(RosTime::default(), &cdr(6)).unwrap();
    eventually("the last sample", || tags(&own).contains(&6) && tags(&other).contains(&6)).await;
    assert_eq!(tags(&own), [1, 2, 3, 4, 5, 6]);
    assert_eq!(tags(&other), [1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn call_without_a_server_ends_at_its_deadline() {
    let (a, _b, _running) = two_nodes();
    let client = a.service_client(&service("/nobody")).await.unwrap();
    let deadline = Instant::now() + Duration::from_millis(200);
    assert_eq!(client.call(cdr(1), deadline).await, Err(CallError::NoServer));
}

#[tokio::test]
async fn stopped_adapter_refuses_to_publish() {
    let adapter = DdsAdapter::new(config("stopping")).unwrap();
    let publisher = adapter.advertise(&topic("/chatter", Qos::reliable())).await.unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    Arc::clone(&adapter).run(cancel).await.unwrap();
    assert_eq!(publisher.publish(RosTime::default(), &cdr(1)), Err(PublishError::Closed));
    assert!(adapter.advertise(&topic("/other", Qos::reliable())).await.is_err());
}

#[tokio::test]
async fn unknown_types_and_bad_names_are_refused() {
    let adapter = DdsAdapter::new(config("strict")).unwrap();
    let msg_type = TypeName::message("no_such_msgs/Thing").unwrap();
    let unknown = TopicSpec { msg_type, ..topic("/a", Qos::reliable()) };
    let error = adapter.advertise(&unknown).await.err().unwrap();
    assert!(matches!(&error, AdapterError::UnknownType(name) if name == "no_such_msgs/msg/Thing"), "{error}");
    for (namespace, name) in [("/", "a/b"), ("/", "1a"), ("robot", "a"), ("/", "")] {
        let bad = DdsConfig { namespace: namespace.to_owned(), ..config(name) };
        let error = DdsAdapter::new(bad).err().unwrap().to_string();
        assert!(error.contains("invalid node"), "{error}");
    }
    assert!(adapter.info().summary.ends_with("range LOCALHOST, node /strict"));
}
