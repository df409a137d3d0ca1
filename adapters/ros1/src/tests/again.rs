//! Topics that are given up and taken again in one breath.

use rostrans_core::{adapter::RosAdapter, clock::RosTime, topic::Qos};
use rostrans_test_suite::{Seen, cdr, eventually};

use super::{Master, Nodes, spec, text};

#[tokio::test]
async fn subscription_that_follows_another_at_once_is_connected_and_owed_what_is_latched() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let publisher = a.advertise(&spec("/map", "std_msgs/String", Qos::latched(1))).await.unwrap();
    publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    let first = Seen::default();
    let guard = b.subscribe(&text("/map"), first.sink()).await.unwrap();
    eventually("the latched sample", || first.tags() == [1]).await;
    drop(guard);
    let second = Seen::default();
    let _again = b.subscribe(&text("/map"), second.sink()).await.unwrap();
    eventually("the latched sample again", || second.tags() == [1]).await;
    publisher.publish(RosTime::default(), &cdr(2)).unwrap();
    eventually("a new sample", || second.tags() == [1, 2]).await;
}
