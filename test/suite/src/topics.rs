//! Publishers and subscriptions.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rostrans_core::{
    adapter::{AdapterError, PublishError, Publisher},
    clock::RosTime,
    topic::{Durability, History, Liveliness, Qos, Reliability, TopicSpec},
};
use rostrans_schema::TypeName;
use tokio_util::sync::CancellationToken;

use crate::{Pair, Seen, big_cdr, cdr, eventually, tag};

/// Reliable samples arrive once, in order and with the time their publisher gave them.
pub async fn samples_cross_with_their_source_time_in_order(pair: Pair) {
    for sample in five_samples(pair).await.samples().iter() {
        // RTPS time has 2^-32 s, so a whole second may come back as the nanosecond before it.
        let late_ns = i64::from(tag(&sample.payload)) * 1_000_000_000 - sample.stamp.ns;
        assert!((0..=1).contains(&late_ns), "{sample:?}");
    }
}

/// The same where the engine decides on the source time: it is when they were published.
pub async fn samples_cross_in_order(pair: Pair) {
    let now_ns = || i128::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap();
    let start = now_ns();
    for sample in five_samples(pair).await.samples().iter() {
        let at = i128::from(sample.stamp.ns);
        assert!((start..=now_ns()).contains(&at), "{sample:?}");
    }
}

/// Publishes five of second 1 to 5, and waits until they came and the subscription is gone.
async fn five_samples(pair: Pair) -> Seen {
    let chatter = pair.topic("/chatter", Qos::reliable());
    let publisher = pair.a.advertise(&chatter).await.unwrap();
    let seen = Seen::default();
    let subscription = pair.b.subscribe(&chatter, seen.sink()).await.unwrap();
    eventually("matched", || publisher.matched() == 1).await;
    for n in 1..=5 {
        publisher.publish(RosTime { ns: i64::from(n) * 1_000_000_000 }, &cdr(n)).unwrap();
    }
    eventually("five samples", || seen.samples().len() == 5).await;
    assert_eq!(seen.tags(), [1, 2, 3, 4, 5]);
    drop(subscription);
    eventually("unmatched", || publisher.matched() == 0).await;
    seen
}

/// Publishes `1..=last` and waits until the last is with a subscription of the other side: a fabric with hops hands what it still
/// carries to later subscriptions as well.
async fn published(pair: &Pair, topic: &TopicSpec, publisher: &dyn Publisher, last: u32) {
    let seen = Seen::default();
    let _subscription = pair.b.subscribe(topic, seen.sink()).await.unwrap();
    for n in 1..=last {
        publisher.publish(RosTime::default(), &cdr(n)).unwrap();
    }
    eventually("the last sample", || seen.tags().last() == Some(&last)).await;
}

/// A transient-local publisher replays as much as its depth says.
pub async fn late_subscriber_of_a_latched_topic_gets_the_last_samples(pair: Pair) {
    let latched = pair.topic("/latched", Qos::latched(2));
    let publisher = pair.a.advertise(&latched).await.unwrap();
    published(&pair, &latched, &*publisher, 3).await;
    let seen = Seen::default();
    let _subscription = pair.b.subscribe(&latched, seen.sink()).await.unwrap();
    eventually("two samples", || seen.samples().len() == 2).await;
    assert_eq!(seen.tags(), [2, 3]);
}

/// A publisher that keeps all replays all to who asks for that, however small its depth.
pub async fn late_subscriber_of_a_latched_topic_that_keeps_all_gets_all(pair: Pair) {
    let all = pair.topic("/all", Qos { history: History::KeepAll, ..Qos::latched(1) });
    let publisher = pair.a.advertise(&all).await.unwrap();
    for n in 1..=200 {
        publisher.publish(RosTime::default(), &cdr(n)).unwrap();
    }
    let seen = Seen::default();
    let _subscription = pair.b.subscribe(&all, seen.sink()).await.unwrap();
    eventually("all samples", || seen.samples().len() >= 200).await;
    assert_eq!(seen.tags(), (1..=200).collect::<Vec<_>>());
}

/// Deadline, lifespan and liveliness are offered and requested; who asks for more than is offered gets nothing.
pub async fn policies_about_time_are_compared(pair: Pair) {
    let offered = Qos {
        deadline: Some(Duration::from_millis(1001)),
        lifespan: Some(Duration::from_secs(60)),
        liveliness: Liveliness::ManualByTopic,
        liveliness_lease: Some(Duration::from_millis(1999)),
        ..Qos::reliable()
    };
    let strict = [
        Qos { deadline: Some(Duration::from_millis(1000)), ..offered },
        Qos { liveliness_lease: Some(Duration::from_millis(1998)), ..offered },
    ];
    let publisher = pair.a.advertise(&pair.topic("/timed", offered)).await.unwrap();
    let (exact, lenient, disappointed) = (Seen::default(), Seen::default(), Seen::default());
    let mut held = Vec::new();
    for qos in strict {
        held.push(pair.b.subscribe(&pair.topic("/timed", qos), disappointed.sink()).await.unwrap());
    }
    for (qos, seen) in [(offered, &exact), (Qos::sensor_data(), &lenient)] {
        held.push(pair.b.subscribe(&pair.topic("/timed", qos), seen.sink()).await.unwrap());
    }
    eventually("matched", || publisher.matched() == 2).await;
    // Some engines count a best-effort reader before it knows the writer.
    eventually("samples for both", || {
        publisher.publish(RosTime { ns: 5 }, &cdr(1)).unwrap();
        !exact.samples().is_empty() && !lenient.samples().is_empty()
    })
    .await;
    assert_eq!((publisher.matched(), disappointed.samples().len()), (2, 0));
}

/// What a node publishes reaches its own subscriptions as it reaches those of others.
pub async fn one_node_hears_its_own_topics_once(pair: Pair) {
    let shared = pair.topic("/shared", Qos::reliable());
    let (own, other) = (Seen::default(), Seen::default());
    let publisher = pair.a.advertise(&shared).await.unwrap();
    let _own = pair.a.subscribe(&shared, own.sink()).await.unwrap();
    let _other = pair.b.subscribe(&shared, other.sink()).await.unwrap();
    eventually("matched", || publisher.matched() == 2).await;
    // What came twice is here when a later sample of the same writer is.
    for n in 1..=6 {
        publisher.publish(RosTime::default(), &cdr(n)).unwrap();
    }
    eventually("the last sample", || own.tags().contains(&6) && other.tags().contains(&6)).await;
    assert_eq!(own.tags(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(other.tags(), [1, 2, 3, 4, 5, 6]);
}

/// Samples that need many fragments come out byte for byte, in both directions.
pub async fn samples_of_a_megabyte_cross_unchanged(pair: Pair) {
    let message = big_cdr(7, 1 << 20);
    for (name, from, to) in [("/there", &pair.a, &pair.b), ("/back", &pair.b, &pair.a)] {
        let image = pair.topic(name, Qos::reliable());
        let publisher = from.advertise(&image).await.unwrap();
        let seen = Seen::default();
        let _subscription = to.subscribe(&image, seen.sink()).await.unwrap();
        eventually("matched", || publisher.matched() == 1).await;
        publisher.publish(RosTime::default(), &message).unwrap();
        eventually(&format!("the sample {name}"), || !seen.samples().is_empty()).await;
        assert!(seen.samples().iter().all(|sample| sample.payload == message), "{name}");
    }
}

/// After its end an adapter says that it is closed.
pub async fn stopped_adapter_refuses_to_publish(mut pair: Pair) {
    let cancel = CancellationToken::new();
    let adapter = pair.another(0, "stopping", CancellationToken::new());
    let publisher = adapter.advertise(&pair.topic("/ending", Qos::reliable())).await.unwrap();
    cancel.cancel();
    Arc::clone(&adapter).run(cancel).await.unwrap();
    assert_eq!(publisher.publish(RosTime::default(), &cdr(1)), Err(PublishError::Closed));
    assert!(adapter.advertise(&pair.topic("/other", Qos::reliable())).await.is_err());
}

/// A type without a definition is named in the error.
pub async fn unknown_types_are_refused(pair: Pair) {
    let msg_type = TypeName::message("no_such_msgs/Thing").unwrap();
    let unknown = TopicSpec { msg_type, ..pair.topic("/unknown", Qos::reliable()) };
    for adapter in [&pair.a, &pair.b] {
        let error = adapter.advertise(&unknown).await.err().unwrap();
        assert!(
            matches!(&error, AdapterError::UnknownType(name) if name == "no_such_msgs/msg/Thing"),
            "{error}"
        );
    }
}

/// A subscription to others' samples gets none of its own adapter's, whose other subscriptions do.
pub async fn own_samples_do_not_come_back_to_who_wants_those_of_others(pair: Pair) {
    let echo = pair.topic("/echo", Qos::latched(5));
    let publisher = pair.a.advertise(&echo).await.unwrap();
    let (all, others) = (Seen::default(), Seen::default());
    let _all = pair.a.subscribe(&echo, all.sink()).await.unwrap();
    let _others = pair.a.subscribe_remote(&echo, others.sink()).await.unwrap();
    for n in 1..=3 {
        publisher.publish(RosTime::default(), &cdr(n)).unwrap();
    }
    eventually("three samples", || all.samples().len() == 3).await;
    let theirs = pair.b.advertise(&echo).await.unwrap();
    theirs.publish(RosTime::default(), &cdr(4)).unwrap();
    eventually("another's sample", || !others.samples().is_empty()).await;
    assert_eq!(others.tags(), [4]);
    // Who can tell what is offered without a subscription tells of others alone.
    if let Some(offers) = pair.a.offers(&echo.name) {
        let offers: Vec<_> = offers.iter().map(|qos| (qos.reliability, qos.durability)).collect();
        assert_eq!(offers, [(Reliability::Reliable, Durability::TransientLocal)]);
    }
}
