//! What a node is for its graph: registrations, restarts, latches, sequence numbers.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, PublishError, RosAdapter, ServiceHandler},
    clock::RosTime,
    topic::{Qos, ServiceSpec, TopicName},
    transport::BoxFuture,
};
use rostrans_schema::TypeName;
use rostrans_test_suite::{LIMIT, Seen, cdr, eventually, request};
use tokio::{io::AsyncWriteExt, net::TcpStream};
use tokio_util::sync::CancellationToken;

use super::{Master, Nodes, open, spec, strangers::subscribe, text};
use crate::{
    Ros1Config,
    wire::{Frames, Header},
    xmlrpc::{Address, Value, call},
};

#[tokio::test]
async fn nodes_find_each_other_again_after_the_master_was_restarted() {
    let mut master = Master::start();
    let (port, uri) = (master.port(), master.uri.clone());
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&uri, "a"), nodes.run(&uri, "b"));
    let publisher = a.advertise(&text("/first")).await.unwrap();
    let seen = Seen::default();
    let _first = b.subscribe(&text("/first"), seen.sink()).await.unwrap();
    eventually("matched", || publisher.matched() == 1).await;
    drop(master);
    // Who is connected stays so without a master.
    publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    eventually("a sample without a master", || seen.tags() == [1]).await;
    let late = b.advertise(&text("/second")).await.unwrap();
    let _second = a.subscribe(&text("/second"), seen.sink()).await.unwrap();
    master = Master::start_at(port);
    eventually("registered again", || master.counts() == (2, 2, 0)).await;
    eventually("matched through the new master", || late.matched() == 1).await;
    late.publish(RosTime::default(), &cdr(2)).unwrap();
    eventually("a sample of a new publisher", || seen.tags() == [1, 2]).await;
    assert!(a.stats().joined >= 2, "{:?}", a.stats());
}

#[tokio::test]
async fn node_that_ends_leaves_nothing_at_the_master() {
    let master = Master::start();
    let node = open(&master.uri, "brief");
    let (cancel, mut running) = (CancellationToken::new(), tokio::task::JoinSet::new());
    running.spawn(Arc::clone(&node).run(cancel.clone()));
    let _publisher = node.advertise(&text("/p")).await.unwrap();
    let _subscription = node.subscribe(&text("/s"), Seen::default().sink()).await.unwrap();
    let extra = node.advertise(&text("/extra")).await.unwrap();
    eventually("registered", || master.counts() == (2, 1, 0)).await;
    drop(extra);
    eventually("withdrawn", || master.counts() == (1, 1, 0)).await;
    cancel.cancel();
    running.join_all().await.pop().unwrap().unwrap();
    assert_eq!((master.counts(), master.knows("/brief")), ((0, 0, 0), false));
}

#[tokio::test]
async fn node_whose_name_is_taken_leaves_and_says_so_to_its_publishers() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let first = nodes.run(&master.uri, "twin");
    let publisher = first.advertise(&text("/p")).await.unwrap();
    eventually("the first is there", || master.counts().0 == 1).await;
    let second = nodes.run(&master.uri, "twin");
    let _other = second.advertise(&text("/q")).await.unwrap();
    assert!(nodes.0.join_next().await.unwrap().unwrap().is_ok());
    assert_eq!(publisher.publish(RosTime::default(), &cdr(1)), Err(PublishError::Closed));
}

#[tokio::test]
async fn later_sink_is_owed_what_a_latched_publisher_elsewhere_has_sent() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let latched = spec("/map", "std_msgs/String", Qos::latched(1));
    let publisher = a.advertise(&latched).await.unwrap();
    publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    let (early, late) = (Seen::default(), Seen::default());
    let _early = b.subscribe(&latched, early.sink()).await.unwrap();
    eventually("the latched sample", || early.tags() == [1]).await;
    let _late = b.subscribe(&latched, late.sink()).await.unwrap();
    assert_eq!((late.tags(), early.tags()), (vec![1], vec![1]));
    // A publisher that is gone owes nothing.
    drop(publisher);
    eventually("the publisher has gone", || master.counts().0 == 0).await;
    let gone = async || {
        let last = Seen::default();
        drop(b.subscribe(&latched, last.sink()).await.unwrap());
        last.tags().is_empty()
    };
    let end = Instant::now() + LIMIT;
    while !gone().await {
        assert!(Instant::now() < end, "still owed");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn late_subscriber_gets_the_last_message_of_each_latched_publisher() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let latched = spec("/plan", "std_msgs/String", Qos::latched(10));
    let (first, second) = (a.advertise(&latched).await.unwrap(), a.advertise(&latched).await.unwrap());
    let volatile = a.advertise(&text("/plan")).await.unwrap();
    for (n, publisher) in [(1, &first), (2, &second), (3, &first), (4, &volatile)] {
        publisher.publish(RosTime::default(), &cdr(n)).unwrap();
    }
    let (own, other, late) = (Seen::default(), Seen::default(), Seen::default());
    let _own = a.subscribe(&latched, own.sink()).await.unwrap();
    let _other = b.subscribe(&latched, other.sink()).await.unwrap();
    eventually("both", || other.samples().len() == 2).await;
    assert_eq!((own.tags(), other.tags()), (vec![2, 3], vec![2, 3]));
    drop(second);
    let c = nodes.run(&master.uri, "c");
    let _late = c.subscribe(&latched, late.sink()).await.unwrap();
    eventually("the other's last", || late.tags() == [3]).await;
    // Static transforms are pieces of a whole.
    let pieces = spec("/tf_static", "tf2_msgs/TFMessage", Qos::latched(2));
    let transforms = a.advertise(&pieces).await.unwrap();
    let empty = CdrBytes::new(vec![0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
    for _ in 0..3 {
        transforms.publish(RosTime::default(), &empty).unwrap();
    }
    let seen = Seen::default();
    let _tf = b.subscribe(&pieces, seen.sink()).await.unwrap();
    eventually("two pieces", || seen.samples().len() == 2).await;
}

#[tokio::test]
async fn header_seq_counts_up_and_stamps_stay() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let node = nodes.run(&master.uri, "node");
    let publisher = node.advertise(&spec("/imu", "std_msgs/Header", Qos::reliable())).await.unwrap();
    eventually("registered", || master.counts().0 == 1).await;
    let (mut stream, mut frames) = subscribe(&master, "/node", "/imu", "std_msgs/Header", "*").await;
    eventually("matched", || publisher.matched() == 1).await;
    let sample = [0, 1, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0, b'b', b'a', b's', b'e', 0];
    let sample = CdrBytes::new(sample.to_vec()).unwrap();
    for seq in 1..=3_u8 {
        publisher.publish(RosTime::default(), &sample).unwrap();
        let body = frames.next(&mut stream, 100).await.unwrap();
        let want = [seq, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, b'b', b'a', b's', b'e'];
        assert_eq!(&body[..], want);
    }
    // A sample that is none of its type is refused, and takes no number.
    let bad = CdrBytes::new(vec![0, 1, 0, 0, 7, 0]).unwrap();
    assert_eq!(publisher.publish(RosTime::default(), &bad), Err(PublishError::Malformed));
    publisher.publish(RosTime::default(), &sample).unwrap();
    assert_eq!(frames.next(&mut stream, 100).await.unwrap()[0], 4);
    assert_eq!(node.stats().malformed, 1);
}

#[tokio::test]
async fn subscriber_that_stalls_loses_its_own_messages_only() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let publisher =
        a.advertise(&spec("/image", "std_msgs/String", Qos { depth: 2, ..Qos::reliable() })).await.unwrap();
    let seen = Seen::default();
    let _reader = b.subscribe(&text("/image"), seen.sink()).await.unwrap();
    eventually("registered", || master.counts() == (1, 1, 0)).await;
    let (stalled, _frames) = subscribe(&master, "/a", "/image", "std_msgs/String", "*").await;
    eventually("matched", || publisher.matched() == 2).await;
    // More than the buffers of a socket hold.
    let message = rostrans_test_suite::big_cdr(7, 1 << 20);
    for n in 1..=50 {
        publisher.publish(RosTime::default(), &message).unwrap();
        eventually("the reader has it", || seen.samples().len() == n).await;
    }
    let stats = a.stats();
    assert!((20..50).contains(&stats.dropped), "{stats:?}");
    drop(stalled);
    eventually("the stalled one is gone", || publisher.matched() == 1).await;
}

#[tokio::test]
async fn service_clients_may_be_persistent_or_only_probe() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let node = nodes.run(&master.uri, "node");
    let kind = ServiceSpec {
        name: TopicName::parse("/read").unwrap(),
        srv_type: TypeName::service("mavros_msgs/FileRead").unwrap(),
    };
    let _offer = node.advertise_service(&kind, Arc::new(Answer)).await.unwrap();
    eventually("registered", || master.counts().2 == 1).await;
    let md5 = crate::types::ServiceType::load(&node_registry(), &kind.srv_type).unwrap().md5;
    let hello = |more: &str| {
        Header::default()
            .with("callerid", "/me")
            .with("service", "/read")
            .with("md5sum", &md5)
            .with(more, "1")
    };
    let uri =
        call(&Address::parse(&master.uri, "http").unwrap(), "lookupService", &["/me".into(), "/read".into()])
            .await;
    let address = Address::parse(uri.unwrap().as_str().unwrap(), "rosrpc").unwrap();
    // path 'ab', offset and size.
    let request: Vec<u8> = [&22_u32.to_le_bytes(), &2_u32.to_le_bytes(), b"ab".as_slice(), &[0; 16]].concat();
    for (flag, calls) in [("persistent", 3), ("other", 1), ("probe", 0)] {
        let mut stream = TcpStream::connect((address.host.as_str(), address.port)).await.unwrap();
        stream.write_all(&hello(flag).to_bytes()).await.unwrap();
        let mut frames = Frames::default();
        let header = Header::parse(&frames.next(&mut stream, 10_000).await.unwrap()).unwrap();
        assert_eq!(header.get("type"), Some("mavros_msgs/FileRead"));
        for _ in 0..calls {
            stream.write_all(&request).await.unwrap();
            assert_eq!(frames.byte(&mut stream).await.unwrap(), 1);
            let answer = frames.next(&mut stream, 1000).await.unwrap();
            assert_eq!(&answer[..], [2, 0, 0, 0, b'a', b'b', 1, 0, 0, 0, 0]);
        }
        let mut end = BytesMut::new();
        if flag != "persistent" {
            assert_eq!(tokio::io::AsyncReadExt::read_buf(&mut stream, &mut end).await.unwrap(), 0, "{flag}");
        }
    }
}

#[tokio::test]
async fn failure_of_a_service_arrives_with_its_reason() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let _offer = a.advertise_service(&read("/failing"), Arc::new(Refuse)).await.unwrap();
    let client = b.service_client(&read("/failing")).await.unwrap();
    let reason = "the request could not be carried out: too many calls in flight".to_owned();
    for _ in 0..3 {
        let answer = client.call(request(1, 0), Instant::now() + LIMIT).await;
        assert_eq!(answer, Err(CallError::Failed(reason.clone())));
    }
    // What is no request of the type does not leave the node.
    let bad = CdrBytes::new(vec![0, 1, 0, 0, 9, 0, 0, 0]).unwrap();
    let answer = client.call(bad, Instant::now() + LIMIT).await;
    assert!(
        matches!(&answer, Err(CallError::Failed(why)) if why.starts_with("malformed request")),
        "{answer:?}"
    );
    assert_eq!(b.stats().malformed, 1);
}

/// Answers nothing.
struct Refuse;

impl ServiceHandler for Refuse {
    fn handle(&self, _: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(std::future::ready(Err(CallError::Busy)))
    }
}

/// Answers with the text of the request.
struct Answer;

impl ServiceHandler for Answer {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(std::future::ready(Ok(rostrans_test_suite::response_to(&request))))
    }
}

fn node_registry() -> Arc<rostrans_schema::TypeRegistry> {
    Arc::new(rostrans_schema::TypeRegistry::bundled())
}

#[tokio::test]
async fn tools_are_told_what_a_node_does() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let publisher = a.advertise(&text("/t")).await.unwrap();
    let seen = Seen::default();
    let _subscription = b.subscribe(&text("/t"), seen.sink()).await.unwrap();
    eventually("matched", || publisher.matched() == 1).await;
    publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    eventually("a sample", || seen.tags() == [1]).await;
    let (api_a, api_b) = (master.api_of("/a"), master.api_of("/b"));
    let ask = async |api: &str, method: &str, params: Vec<Value>| {
        let params: Vec<Value> = std::iter::once("/tool".into()).chain(params).collect();
        call(&Address::parse(api, "http").unwrap(), method, &params).await.map_err(|error| error.to_string())
    };
    let list = |values: Vec<Value>| Value::Array(values);
    assert_eq!(
        ask(&api_a, "getPid", vec![]).await,
        Ok(Value::Int(i32::try_from(std::process::id()).unwrap()))
    );
    assert_eq!(ask(&api_a, "getMasterUri", vec![]).await, Ok(master.uri.as_str().into()));
    let pair = list(vec![list(vec!["/t".into(), "std_msgs/String".into()])]);
    assert_eq!(ask(&api_a, "getPublications", vec![]).await, Ok(pair.clone()));
    assert_eq!(ask(&api_b, "getSubscriptions", vec![]).await, Ok(pair));
    let out: VecDeque<Value> =
        ask(&api_a, "getBusInfo", vec![]).await.unwrap().as_array().unwrap().iter().cloned().collect();
    let entry = out[0].as_array().unwrap();
    assert_eq!(entry[1..], ["/b".into(), "o".into(), "TCPROS".into(), "/t".into(), Value::Int(1)]);
    let incoming = ask(&api_b, "getBusInfo", vec![]).await.unwrap();
    let entry = incoming.as_array().unwrap()[0].as_array().unwrap();
    assert_eq!(entry[1..], [api_a.as_str().into(), "i".into(), "TCPROS".into(), "/t".into(), Value::Int(1)]);
    let stats = ask(&api_a, "getBusStats", vec![]).await.unwrap();
    let published = stats.as_array().unwrap()[0].as_array().unwrap()[0].as_array().unwrap();
    // A length, and a string of eleven letters.
    assert_eq!(published[..2], ["/t".into(), Value::Int(4 + 4 + 11)]);
    let udp = list(vec![list(vec!["UDPROS".into()])]);
    assert_eq!(
        ask(&api_a, "requestTopic", vec!["/t".into(), udp]).await,
        Err("refused: only TCPROS is spoken here".to_owned())
    );
    let tcp = || list(vec![list(vec!["TCPROS".into()])]);
    let offer = ask(&api_a, "requestTopic", vec!["/t".into(), tcp()]).await.unwrap();
    assert_eq!(offer.as_array().unwrap()[..2], ["TCPROS".into(), "127.0.0.1".into()]);
    assert!(ask(&api_a, "requestTopic", vec!["/none".into(), tcp()]).await.is_err());
    assert_eq!(
        ask(&api_a, "noSuchMethod", vec![]).await,
        Err("refused: no method 'noSuchMethod'".to_owned())
    );
    // /use_sim_time comes by a call of the master.
    let mut sim = a.use_sim_time();
    assert_eq!(*sim.borrow_and_update(), None);
    ask(&api_a, "paramUpdate", vec!["/use_sim_time/".into(), Value::Bool(true)]).await.unwrap();
    assert_eq!(*sim.borrow_and_update(), Some(true));
    // And the end, for 'rosnode kill'.
    ask(&api_a, "shutdown", vec!["reason".into()]).await.unwrap();
    eventually("closed", || publisher.publish(RosTime::default(), &cdr(2)) == Err(PublishError::Closed))
        .await;
}

#[tokio::test]
async fn master_that_comes_late_is_joined_and_own_topics_work_before() {
    let gone = Master::start();
    let (port, uri) = (gone.port(), gone.uri.clone());
    drop(gone);
    let mut nodes = Nodes::default();
    let node = nodes.run(&uri, "early");
    let publisher = node.advertise(&text("/own")).await.unwrap();
    let seen = Seen::default();
    let _own = node.subscribe(&text("/own"), seen.sink()).await.unwrap();
    publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    assert_eq!(seen.tags(), [1]);
    let client = node.service_client(&read("/nobody")).await.unwrap();
    let soon = Instant::now() + std::time::Duration::from_millis(50);
    assert_eq!(client.call(request(1, 0), soon).await, Err(CallError::NoServer));
    let master = Master::start_at(port);
    eventually("registered", || master.counts() == (1, 1, 0)).await;
}

fn read(name: &str) -> ServiceSpec {
    ServiceSpec {
        name: TopicName::parse(name).unwrap(),
        srv_type: TypeName::service("mavros_msgs/FileRead").unwrap(),
    }
}

#[test]
fn bad_settings_are_refused_before_anything_is_opened() {
    let bad = Ros1Config { master_uri: "nowhere".to_owned(), ..Ros1Config::new("a", node_registry()) };
    let error = crate::Ros1Adapter::new(&bad).err().unwrap().to_string();
    assert_eq!(error, "invalid ROS_MASTER_URI 'nowhere'; use http://HOST:11311");
}

#[tokio::test]
async fn subscription_that_was_dropped_is_gone_and_another_of_its_topic_stays() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let publisher = a.advertise(&text("/t")).await.unwrap();
    let (first, second) = (Seen::default(), Seen::default());
    let one = b.subscribe(&text("/t"), first.sink()).await.unwrap();
    let two = b.subscribe(&text("/t"), second.sink()).await.unwrap();
    eventually("matched", || publisher.matched() == 1).await;
    publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    eventually("heard by both", || first.tags() == [1] && second.tags() == [1]).await;
    drop(one);
    publisher.publish(RosTime::default(), &cdr(2)).unwrap();
    eventually("heard by the other", || second.tags() == [1, 2]).await;
    assert_eq!(first.tags(), [1]);
    drop(two);
    eventually("withdrawn", || master.counts() == (1, 0, 0) && publisher.matched() == 0).await;
}
