//! Two adapters in one process that find each other on the loopback interface.

#![expect(clippy::unwrap_used, reason = "test helpers")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery, DiscoveryRange, ServiceStyle};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, PublishError, RosAdapter, ServiceHandler},
    clock::RosTime,
    topic::{History, KEEP_ALL_BYTES, Qos},
    transport::BoxFuture,
};
use rostrans_schema::TypeRegistry;
use rostrans_test_suite::{LIMIT, Pair, Seen, big_cdr, cdr, domain, eventually};
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

rostrans_test_suite::adapter_tests!(native, native);

fn config(name: &str) -> DdsConfig {
    let discovery = Discovery { domain: domain(), range: DiscoveryRange::Localhost, ..Discovery::default() };
    DdsConfig::new(name, discovery, Arc::new(TypeRegistry::bundled()))
}

fn native(name: &str) -> Arc<dyn RosAdapter> {
    DdsAdapter::new(config(name)).unwrap()
}

/// Speaks the header convention with everyone.
fn header(name: &str) -> Arc<dyn RosAdapter> {
    DdsAdapter::new(DdsConfig { service_style: ServiceStyle::Cyclone, ..config(name) }).unwrap()
}

/// Answers once it is allowed to, and says when it was asked.
struct Held {
    asked: watch::Sender<bool>,
    go: watch::Sender<bool>,
}

impl ServiceHandler for Held {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(async move {
            self.asked.send_replace(true);
            self.go.subscribe().wait_for(|go| *go).await.map_err(|_| CallError::Closed)?;
            Ok(request)
        })
    }
}

#[tokio::test]
async fn forced_header_style_carries_calls_between_any_vendors() {
    rostrans_test_suite::services::calls_wait_for_their_server_and_get_its_answer(Pair::new(header, header))
        .await;
}

#[tokio::test]
async fn reply_to_a_client_that_left_is_dropped_and_counted() {
    let pair = Pair::new(native, native);
    let server = DdsAdapter::new(config("server")).unwrap();
    let mut running = JoinSet::new();
    running.spawn(Arc::clone(&server).run(CancellationToken::new()));
    let caller = &pair.a;
    let held = Arc::new(Held { asked: watch::Sender::new(false), go: watch::Sender::new(false) });
    let handler = Arc::<Held>::clone(&held);
    let _offer = server.advertise_service(&pair.service("/held"), handler).await.unwrap();
    let client = caller.service_client(&pair.service("/held")).await.unwrap();
    // News of readers comes in order: when this one is gone, so is the client's, which went before it.
    let watch = pair.topic("/watch", Qos::reliable());
    let watching = server.advertise(&watch).await.unwrap();
    let subscription = caller.subscribe(&watch, Seen::default().sink()).await.unwrap();
    let mut calls = JoinSet::new();
    calls.spawn(async move { client.call(cdr(1), Instant::now() + LIMIT).await });
    held.asked.subscribe().wait_for(|asked| *asked).await.unwrap();
    eventually("watched", || watching.matched() == 1).await;
    // Its endpoints go with the call, which owns the client.
    calls.shutdown().await;
    drop(subscription);
    eventually("gone", || watching.matched() == 0).await;
    held.go.send_replace(true);
    eventually("the reply is dropped", || server.service_stats().replies_dropped == 1).await;
    let stats = server.service_stats();
    assert_eq!((stats.requests, stats.replies, stats.malformed, stats.overload), (1, 0, 0, 0));
}

#[tokio::test]
async fn call_ends_when_its_server_leaves() {
    let mut pair = Pair::new(native, native);
    let cancel = CancellationToken::new();
    let server = pair.another(1, "leaving", cancel.clone());
    let held = Arc::new(Held { asked: watch::Sender::new(false), go: watch::Sender::new(false) });
    let handler = Arc::<Held>::clone(&held);
    let _offer = server.advertise_service(&pair.service("/held"), handler).await.unwrap();
    let client = pair.a.service_client(&pair.service("/held")).await.unwrap();
    let mut calls = JoinSet::new();
    calls.spawn(async move { client.call(cdr(1), Instant::now() + LIMIT * 1000).await });
    held.asked.subscribe().wait_for(|asked| *asked).await.unwrap();
    cancel.cancel();
    assert_eq!(calls.join_all().await, [Err(CallError::NoServer)]);
}

#[tokio::test]
async fn requests_beyond_what_a_service_takes_are_dropped_and_counted() {
    let pair = Pair::new(native, native);
    let server = DdsAdapter::new(config("server")).unwrap();
    let caller = &pair.a;
    let mut running = JoinSet::new();
    running.spawn(Arc::clone(&server).run(CancellationToken::new()));
    let held = Arc::new(Held { asked: watch::Sender::new(false), go: watch::Sender::new(false) });
    let handler = Arc::<Held>::clone(&held);
    let _offer = server.advertise_service(&pair.service("/full"), handler).await.unwrap();
    let mut calls = JoinSet::new();
    for n in 0..200 {
        let client = caller.service_client(&pair.service("/full")).await.unwrap();
        calls.spawn(async move { client.call(cdr(n), Instant::now() + LIMIT).await });
    }
    eventually("all requests are there", || server.service_stats().requests == 200).await;
    assert_eq!(server.service_stats().overload, 200 - 128);
    held.go.send_replace(true);
    eventually("the others are answered", || server.service_stats().replies == 128).await;
    calls.abort_all();
}

#[tokio::test]
async fn a_publisher_that_keeps_all_refuses_what_does_not_fit() {
    let pair = Pair::new(native, native);
    let quarter = big_cdr(1, KEEP_ALL_BYTES / 4 - 20);
    // What late subscribers may ask for stays; what nobody waits for goes.
    for (name, qos, last) in
        [("/kept", Qos::latched(1), Err(PublishError::Full)), ("/gone", Qos::reliable(), Ok(()))]
    {
        let topic = pair.topic(name, Qos { history: History::KeepAll, ..qos });
        let publisher = pair.a.advertise(&topic).await.unwrap();
        let outcomes = [(); 5].map(|()| publisher.publish(RosTime::default(), &quarter));
        assert_eq!(outcomes, [Ok(()), Ok(()), Ok(()), Ok(()), last], "{name}");
    }
}

#[tokio::test]
async fn bad_names_are_refused() {
    for (namespace, name) in [("/", "a/b"), ("/", "1a"), ("robot", "a"), ("/", "")] {
        let bad = DdsConfig { namespace: namespace.to_owned(), ..config(name) };
        let error = DdsAdapter::new(bad).err().unwrap().to_string();
        assert!(error.contains("invalid node"), "{error}");
    }
    assert!(native("strict").info().summary.ends_with("range LOCALHOST, node /strict"));
}

#[tokio::test]
async fn calls_to_a_silent_server_are_answered_by_another() {
    let mut pair = Pair::new(native, native);
    let _good = pair.b.advertise_service(&pair.service("/mixed"), Arc::new(Now)).await.unwrap();
    let client = pair.a.service_client(&pair.service("/mixed")).await.unwrap();
    assert_eq!(client.call(cdr(1), Instant::now() + LIMIT).await, Ok(cdr(1)));
    // As a killed server: still announced, but nobody answers.
    let silent = pair.another(1, "silent", CancellationToken::new());
    let held = Arc::new(Held { asked: watch::Sender::new(false), go: watch::Sender::new(false) });
    let handler = Arc::<Held>::clone(&held);
    let _silent = silent.advertise_service(&pair.service("/mixed"), handler).await.unwrap();
    let end = Instant::now() + LIMIT;
    while client.call(cdr(2), Instant::now() + Duration::from_millis(200)).await != Err(CallError::Timeout) {
        assert!(Instant::now() < end, "the silent server was never asked");
    }
    assert_eq!(client.call(cdr(3), Instant::now() + LIMIT).await, Ok(cdr(3)));
}

/// Answers at once.
struct Now;

impl ServiceHandler for Now {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(std::future::ready(Ok(request)))
    }
}
