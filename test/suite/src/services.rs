//! Service servers and clients.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, ServiceClient, ServiceHandler},
    transport::BoxFuture,
};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{LIMIT, Pair, request, response_to, tag};

/// Answers with the text of the request.
struct Echo;

impl ServiceHandler for Echo {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(std::future::ready(Ok(response_to(&request))))
    }
}

/// Answers with its number.
struct Fixed(u32);

impl ServiceHandler for Fixed {
    fn handle(&self, _: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(std::future::ready(Ok(response_to(&request(self.0, 0)))))
    }
}

/// Echoes once the gate is open, and says how many requests it has taken.
struct Gate {
    open: watch::Sender<bool>,
    taken: watch::Sender<usize>,
}

impl Gate {
    fn closed() -> Arc<Self> {
        Arc::new(Self { open: watch::Sender::new(false), taken: watch::Sender::new(0) })
    }
}

impl ServiceHandler for Gate {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(async move {
            self.taken.send_modify(|taken| *taken += 1);
            self.open.subscribe().wait_for(|open| *open).await.map_err(|_| CallError::Closed)?;
            Ok(response_to(&request))
        })
    }
}

async fn call(client: &Arc<dyn ServiceClient>, n: u32) -> Result<u32, CallError> {
    client.call(request(n, 0), Instant::now() + LIMIT).await.map(|answer| tag(&answer))
}

/// A call that a dead server may swallow: tries again until one is answered with something `wanted`.
async fn call_until(client: &Arc<dyn ServiceClient>, wanted: impl Fn(&Result<u32, CallError>) -> bool) {
    let end = Instant::now() + LIMIT;
    loop {
        let answer = client.call(request(1, 0), Instant::now() + SHORT).await.map(|answer| tag(&answer));
        if wanted(&answer) {
            return;
        }
        assert!(Instant::now() < end, "still {answer:?}");
        // An answer comes at once; the other side's news may not be here yet.
        tokio::task::yield_now().await;
    }
}

/// Deadline of calls that are to fail, or to be tried again.
const SHORT: Duration = Duration::from_millis(200);

/// A client made first waits for its server; then many calls at once are told apart.
pub async fn calls_wait_for_their_server_and_get_its_answer(pair: Pair) {
    let client = pair.a.service_client(&pair.service("/echo")).await.unwrap();
    let offer = async {
        tokio::task::yield_now().await;
        pair.b.advertise_service(&pair.service("/echo"), Arc::new(Echo)).await.unwrap()
    };
    let (answer, _offer) = tokio::join!(call(&client, 1), offer);
    assert_eq!(answer, Ok(1));
    let mut calls = JoinSet::new();
    for n in 2..40 {
        let client = Arc::clone(&client);
        calls.spawn(async move { (n, call(&client, n).await) });
    }
    for (n, answer) in calls.join_all().await {
        assert_eq!(answer, Ok(n));
    }
}

/// No server is an error of its own.
pub async fn call_without_a_server_ends_at_its_deadline(pair: Pair) {
    let client = pair.a.service_client(&pair.service("/nobody")).await.unwrap();
    assert_eq!(client.call(request(1, 0), Instant::now() + SHORT).await, Err(CallError::NoServer));
}

/// A service and its client may be in one node.
pub async fn one_node_calls_its_own_services(pair: Pair) {
    for (name, adapter) in [("/own_a", &pair.a), ("/own_b", &pair.b)] {
        let client = adapter.service_client(&pair.service(name)).await.unwrap();
        let _offer = adapter.advertise_service(&pair.service(name), Arc::new(Echo)).await.unwrap();
        assert_eq!(call(&client, 9).await, Ok(9));
    }
}

/// A service that was withdrawn is absent, and one that is offered again is found.
pub async fn service_that_went_away_is_called_again_when_it_is_back(pair: Pair) {
    let client = pair.a.service_client(&pair.service("/fickle")).await.unwrap();
    for round in 0..3 {
        let offer = pair.b.advertise_service(&pair.service("/fickle"), Arc::new(Fixed(round))).await.unwrap();
        call_until(&client, |answer| *answer == Ok(round)).await;
        drop(offer);
        call_until(&client, |answer| *answer == Err(CallError::NoServer)).await;
    }
}

/// Two servers of one service are one too many, but each call has one answer, and the one that stays goes on.
pub async fn either_of_two_servers_answers_and_one_is_enough(pair: Pair) {
    let first = pair.a.advertise_service(&pair.service("/twice"), Arc::new(Fixed(1))).await.unwrap();
    let _second = pair.b.advertise_service(&pair.service("/twice"), Arc::new(Fixed(2))).await.unwrap();
    let client = pair.a.service_client(&pair.service("/twice")).await.unwrap();
    for _ in 0..20 {
        let answer = call(&client, 0).await;
        assert!(matches!(answer, Ok(1 | 2)), "{answer:?}");
    }
    drop(first);
    call_until(&client, |answer| *answer == Ok(2)).await;
    for _ in 0..5 {
        assert_eq!(call(&client, 0).await, Ok(2));
    }
}

/// 64 clients on both nodes, four calls each, all at once.
pub async fn many_clients_at_once_get_their_own_answers(pair: Pair) {
    let _offer = pair.b.advertise_service(&pair.service("/busy"), Arc::new(Echo)).await.unwrap();
    let mut calls = JoinSet::new();
    for n in 0..64 {
        let adapter = if n % 4 == 0 { &pair.b } else { &pair.a };
        let client = adapter.service_client(&pair.service("/busy")).await.unwrap();
        calls.spawn(async move {
            for turn in 0..4 {
                assert_eq!(call(&client, n * 4 + turn).await, Ok(n * 4 + turn));
            }
        });
    }
    calls.join_all().await;
}

/// A thousand calls of one client, eight at a time.
pub async fn thousand_calls_are_all_answered(pair: Pair) {
    let _offer = pair.b.advertise_service(&pair.service("/often"), Arc::new(Echo)).await.unwrap();
    let client = pair.a.service_client(&pair.service("/often")).await.unwrap();
    let places = Arc::new(Semaphore::new(8));
    let mut calls = JoinSet::new();
    for n in 0..1000 {
        let (client, place) = (Arc::clone(&client), Arc::clone(&places).acquire_owned().await.unwrap());
        calls.spawn(async move {
            assert_eq!(call(&client, n).await, Ok(n));
            drop(place);
        });
    }
    assert_eq!(calls.join_all().await.len(), 1000);
}

/// A handler slower than its callers: they time out, its late answers disturb nobody, and no place stays taken.
pub async fn late_answers_leave_nothing_behind(pair: Pair) {
    let gate = Gate::closed();
    let handler = Arc::<Gate>::clone(&gate);
    let _offer = pair.b.advertise_service(&pair.service("/slow"), handler).await.unwrap();
    let client = pair.a.service_client(&pair.service("/slow")).await.unwrap();
    call_until(&client, |answer| *answer == Err(CallError::Timeout)).await;
    // Two batches, together more than a client may have open.
    for _ in 0..2 {
        let mut calls = JoinSet::new();
        for n in 0..40 {
            let client = Arc::clone(&client);
            calls.spawn(async move { client.call(request(n, 0), Instant::now() + SHORT).await });
        }
        for answer in calls.join_all().await {
            assert_eq!(answer, Err(CallError::Timeout));
        }
    }
    gate.open.send_replace(true);
    for n in 1000..1010 {
        assert_eq!(call(&client, n).await, Ok(n));
    }
}

/// A client whose node ends while its request is being answered.
pub async fn client_that_vanished_does_not_disturb_others(mut pair: Pair) {
    let gate = Gate::closed();
    let handler = Arc::<Gate>::clone(&gate);
    let _offer = pair.b.advertise_service(&pair.service("/left"), handler).await.unwrap();
    let cancel = CancellationToken::new();
    let leaving = pair.another(0, "leaving", cancel.clone());
    let client = leaving.service_client(&pair.service("/left")).await.unwrap();
    let mut calls = JoinSet::new();
    calls.spawn(async move { client.call(request(1, 0), Instant::now() + LIMIT).await });
    gate.taken.subscribe().wait_for(|taken| *taken == 1).await.unwrap();
    calls.abort_all();
    cancel.cancel();
    leaving.run(cancel).await.unwrap();
    gate.open.send_replace(true);
    let client = pair.a.service_client(&pair.service("/left")).await.unwrap();
    assert_eq!(call(&client, 2).await, Ok(2));
}

/// Fragmented requests and responses come out byte for byte.
pub async fn requests_and_responses_of_a_megabyte_cross_unchanged(pair: Pair) {
    let _offer = pair.b.advertise_service(&pair.service("/big"), Arc::new(Echo)).await.unwrap();
    let client = pair.a.service_client(&pair.service("/big")).await.unwrap();
    let message = request(3, 1 << 20);
    for _ in 0..3 {
        let answer = client.call(message.clone(), Instant::now() + LIMIT).await;
        assert!(answer.as_ref() == Ok(&response_to(&message)), "{:?}", answer.map(|a| a.len()));
    }
}
