//! Programs that speak badly: refused with one line, while others go on.

use rostrans_core::{adapter::RosAdapter, clock::RosTime};
use rostrans_test_suite::{Seen, cdr, eventually};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{Master, Nodes, text};
use crate::{
    wire::{Frames, Header},
    xmlrpc::{Address, Value, call},
};

/// Connects to a topic as a subscriber that asks for that type and sum, and reads the answer's header away.
pub(super) async fn subscribe(
    master: &Master,
    node: &str,
    topic: &str,
    kind: &str,
    md5: &str,
) -> (TcpStream, Frames) {
    let header =
        Header::default().with("callerid", "/me").with("topic", topic).with("type", kind).with("md5sum", md5);
    let (stream, frames, answer) = greet(master, node, topic, &header.to_bytes()).await;
    let answer = answer.unwrap();
    assert_eq!(answer.get("error"), None);
    assert_eq!(answer.get("type"), Some(kind));
    (stream, frames)
}

/// Sends something to the TCPROS port of a topic, and reads a header if one comes.
async fn greet(
    master: &Master,
    node: &str,
    topic: &str,
    hello: &[u8],
) -> (TcpStream, Frames, Option<Header>) {
    let api = Address::parse(&master.api_of(node), "http").unwrap();
    let protocols = Value::Array(vec![Value::Array(vec!["TCPROS".into()])]);
    let offer = call(&api, "requestTopic", &["/me".into(), topic.into(), protocols]).await.unwrap();
    let port = u16::try_from(offer.as_array().unwrap()[2].as_int().unwrap()).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(hello).await.unwrap();
    let mut frames = Frames::default();
    let answer = frames.next(&mut stream, 100_000).await.ok();
    let answer = answer.map(|bytes| Header::parse(&bytes).unwrap());
    (stream, frames, answer)
}

#[tokio::test]
async fn wrong_headers_are_refused_with_a_reason_and_others_stay_connected() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let publisher = a.advertise(&text("/t")).await.unwrap();
    let seen = Seen::default();
    let _subscription = b.subscribe(&text("/t"), seen.sink()).await.unwrap();
    eventually("matched", || publisher.matched() == 1).await;
    let sum = "992ce8a1687cec8c8bd883ec73ca41d1";
    let header = |topic: &str, kind: &str, sum: &str| {
        Header::default().with("topic", topic).with("type", kind).with("md5sum", sum).to_bytes()
    };
    let table: [(Vec<u8>, &str); 7] = [
        (
            header("/t", "std_msgs/String", "0123"),
            "with md5sum 0123 for the subscriber; have both use the same",
        ),
        (
            header("/t", "std_msgs/Int32", sum),
            "/t is std_msgs/String with md5sum 992ce8a1687cec8c8bd883ec73ca41d1 here, and std_msgs/Int32",
        ),
        (header("/other", "std_msgs/String", sum), "[/a] is not a publisher of [/other]"),
        (Header::default().with("topic", "/t").to_bytes(), "and ? with md5sum ? for the subscriber"),
        (Header::default().with("callerid", "/me").to_bytes(), "without topic and service"),
        (
            vec![6, 0, 0, 0, 99, 0, 0, 0, b'a', b'b'],
            "malformed connection header: a field of 99 bytes where 2 are left",
        ),
        (vec![0xff, 0xff, 0xff, 0xff], "malformed connection header: a length of 4294967295 bytes"),
    ];
    for (hello, reason) in table {
        let (_, _, answer) = greet(&master, "/a", "/t", &hello).await;
        let answer = answer.unwrap();
        let error = answer.get("error").unwrap();
        assert!(error.contains(reason), "{error}");
        publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    }
    let stats = a.stats();
    assert_eq!((stats.refused, stats.bad_requests), (7, 2), "{stats:?}");
    eventually("all samples", || seen.samples().len() == 7).await;
    assert_eq!(publisher.matched(), 1);
}

#[tokio::test]
async fn requests_that_are_no_calls_are_refused_and_the_api_goes_on() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let node = nodes.run(&master.uri, "a");
    eventually("known", || master.knows("/a")).await;
    let api = Address::parse(&master.api_of("/a"), "http").unwrap();
    let post = |body: &str| {
        format!("POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    };
    let table = [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "400 Bad Request"),
        ("GET / HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned(), "not a POST request"),
        (format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", u64::MAX), "400 Bad Request"),
        ("a".repeat(20_000), "400 Bad Request"),
        (post("<methodCall><methodName>getPid"), "expected"),
        (post("<methodCall><methodName>publisherUpdate</methodName></methodCall>"), "publisherUpdate wants"),
        (post("\u{feff}<html>"), "expected"),
    ];
    for (request, answer) in table {
        let mut stream = api.connect().await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = Vec::new();
        // What is left unread when a connection is closed resets it, maybe before the answer was read.
        drop(stream.read_to_end(&mut text).await);
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains(answer) || text.is_empty() && request.len() > 10_000, "{request:.60}: {text}");
    }
    let pid = call(&api, "getPid", &["/me".into()]).await.unwrap();
    assert_eq!(pid.as_int(), Some(i32::try_from(std::process::id()).unwrap()));
    assert_eq!(node.stats().bad_requests, 6, "{:?}", node.stats());
}

#[tokio::test]
async fn publishers_of_another_type_are_refused_and_the_right_one_is_heard() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let (a, b) = (nodes.run(&master.uri, "a"), nodes.run(&master.uri, "b"));
    let _wrong = a
        .advertise(&super::spec("/t", "std_msgs/Header", rostrans_core::topic::Qos::reliable()))
        .await
        .unwrap();
    let seen = Seen::default();
    let _subscription = b.subscribe(&text("/t"), seen.sink()).await.unwrap();
    eventually("refused by both", || (a.stats().refused, b.stats().refused) >= (1, 1)).await;
    let right = nodes.run(&master.uri, "c");
    let publisher = right.advertise(&text("/t")).await.unwrap();
    eventually("matched", || publisher.matched() == 1).await;
    publisher.publish(RosTime::default(), &cdr(1)).unwrap();
    eventually("a sample", || seen.tags() == [1]).await;
}

#[tokio::test]
async fn publisher_that_sends_nonsense_is_counted_and_heard_again() {
    let master = Master::start();
    let mut nodes = Nodes::default();
    let node = nodes.run(&master.uri, "a");
    let seen = Seen::default();
    let _subscription = node.subscribe(&text("/t"), seen.sink()).await.unwrap();
    eventually("registered", || master.counts().1 == 1).await;
    let (api, data) = (local().await, local().await);
    let data_port = i32::from(data.local_addr().unwrap().port());
    master.pretend_publisher("/t", &format!("http://{}/", api.local_addr().unwrap()));
    let mut connections = tokio::task::JoinSet::new();
    connections.spawn(async move {
        loop {
            let (stream, _) = api.accept().await.unwrap();
            crate::xmlrpc::serve(stream, &Offer(data_port)).await;
        }
    });
    let welcome = Header::default().with("type", "std_msgs/String").with("md5sum", "*").to_bytes();
    let (mut stream, _) = data.accept().await.unwrap();
    stream.write_all(&welcome).await.unwrap();
    // A string that says it is longer than its message, then a good one, then a length that nothing has.
    let hello = [&15_u32.to_le_bytes()[..], &11_u32.to_le_bytes(), b"00000007abc"].concat();
    stream.write_all(&[8, 0, 0, 0, 99, 0, 0, 0, b'a', b'b', b'c', b'd']).await.unwrap();
    stream.write_all(&hello).await.unwrap();
    stream.write_all(&[0xff; 4]).await.unwrap();
    eventually("the good one", || seen.tags() == [7]).await;
    // The connection is made again.
    let (mut stream, _) = data.accept().await.unwrap();
    stream.write_all(&welcome).await.unwrap();
    stream.write_all(&hello).await.unwrap();
    eventually("another good one", || seen.tags() == [7, 7]).await;
    assert_eq!((node.stats().malformed, node.stats().refused), (1, 1));
}

async fn local() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// The API of a publisher whose messages come from that port.
struct Offer(i32);

impl crate::xmlrpc::Api for Offer {
    fn answer(&self, method: &str, _: &[Value]) -> Option<Value> {
        assert_eq!(method, "requestTopic");
        let offer = Value::Array(vec!["TCPROS".into(), "127.0.0.1".into(), self.0.into()]);
        Some(Value::Array(vec![1.into(), "".into(), offer]))
    }

    fn malformed(&self, _: &str) {}
}
