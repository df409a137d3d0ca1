use std::sync::Arc;
use std::time::Duration;

use super::sim::{BEST_EFFORT, LATCHED, Link, Net, PERFECT, RELIABLE, numbers, payload, spec};
use crate::graph::Policy;
use crate::stats::Counters;

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn participants_find_each_other_in_any_order() {
    for seed in 0..30 {
        let link = Link { loss: seed % 31, duplicate: 5, latency_ms: seed % 11, jitter_ms: 10 };
        let mut net = Net::new(seed, 4, seed % 2 == 0, link);
        let writers: Vec<_> = (0..4).map(|node| net.writer(node, "t", RELIABLE)).collect();
        net.run(Duration::from_millis(seed * 40));
        let readers: Vec<_> = (0..4).map(|node| net.reader(node, "t", BEST_EFFORT).0).collect();
        let complete = |net: &Net| {
            (0..4).all(|n| net.matched(n, writers[n]) == 3 && net.matched_writers(n, readers[n]) == 3)
        };
        assert!(net.run_until(MINUTE, complete), "seed {seed} {link:?}");
        let graph = net.nodes[0].core.snapshot();
        assert_eq!((graph.participants.len(), graph.endpoints.len()), (3, 6));
        assert_eq!(graph.participants[0].user_data, b"enclave=/;");
    }
}

#[test]
fn endpoints_that_do_not_fit_are_reported() {
    let mut net = Net::new(1, 2, false, PERFECT);
    let offered = net.writer(0, "a", BEST_EFFORT);
    let (requested, _) = net.reader(1, "a", LATCHED);
    net.act(1, |core, now, out| {
        let other = crate::endpoint::EndpointSpec { type_name: "Other".into(), ..spec("a", BEST_EFFORT) };
        core.create_reader(other, Arc::new(drop), now, out)
    });
    net.run(Duration::from_secs(3));
    assert_eq!(net.matched(0, offered), 0);
    let reasons: Vec<_> = net.nodes[0].core.snapshot().incompatible.into_iter().map(|i| i.policies).collect();
    assert!(reasons.contains(&vec![Policy::Reliability, Policy::Durability]), "{reasons:?}");
    assert!(reasons.contains(&vec![Policy::TypeName]), "{reasons:?}");
    let seen = &net.nodes[1].core.snapshot().incompatible[0];
    assert_eq!(
        (seen.local.entity == requested.entity || seen.policies == [Policy::TypeName], seen.remote),
        (true, offered)
    );
}

#[test]
fn withdrawn_endpoints_and_participants_disappear() {
    let mut net = Net::new(2, 2, false, Link { loss: 20, ..PERFECT });
    let writer = net.writer(0, "t", RELIABLE);
    let (reader, _) = net.reader(1, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(1, reader) == 2));
    net.act(1, |core, now, out| core.remove_reader(reader.entity, now, out).is_some());
    assert!(net.run_until(Duration::from_secs(5), |net| net.matched(0, writer) == 0));

    let (reader, _) = net.reader(1, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(1, reader) == 2));
    net.act(0, |core, now, out| core.remove_writer(writer.entity, now, out));
    assert!(net.run_until(Duration::from_secs(5), |net| net.matched_writers(1, reader) == 0));
    // A lost farewell is made up for by the lease.
    net.link.loss = 0;
    let changes = net.nodes[1].graph_changes;
    net.act(0, |core, now, out| core.close(now, out).len());
    net.nodes[0].alive = false;
    let gone = |net: &Net| net.nodes[1].core.snapshot().participants.is_empty();
    assert!(net.run_until(Duration::from_millis(100), gone));
    assert!(net.nodes[1].graph_changes > changes);
}

#[test]
fn a_silent_participant_is_dropped_with_its_lease() {
    let mut net = Net::new(3, 2, false, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    let (reader, _) = net.reader(1, "t", RELIABLE);
    net.run(Duration::from_secs(5));
    assert_eq!(net.matched_writers(1, reader), 1);
    net.nodes[0].alive = false;
    net.run(Duration::from_secs(15));
    assert_eq!(net.matched_writers(1, reader), 1, "dropped early");
    net.run(Duration::from_secs(8));
    assert_eq!(net.matched_writers(1, reader), 0);
    assert!(net.nodes[1].core.snapshot().participants.is_empty());
    assert_eq!(net.matched(0, writer), 1, "the dead one was not asked");
}

#[test]
fn a_peer_restarted_on_the_same_ports_takes_over() {
    let mut net = Net::new(4, 2, false, PERFECT);
    let (reader, log) = net.reader(1, "t", RELIABLE);
    let writer = net.writer(0, "t", RELIABLE);
    net.run(Duration::from_secs(3));
    net.write(0, writer, payload(0, 100)).unwrap();
    net.run(Duration::from_secs(1));
    net.nodes[0].alive = false;
    net.add(0);
    let writer = net.writer(2, "t", RELIABLE);
    let takes_over = |net: &Net| net.matched(2, writer) == 1 && net.matched_writers(1, reader) == 2;
    assert!(net.run_until(Duration::from_secs(2), takes_over));
    net.write(2, writer, payload(1, 100)).unwrap();
    net.run(Duration::from_secs(12));
    assert_eq!(net.matched_writers(1, reader), 1, "the dead one is still there");
    assert_eq!(numbers(&log, |_| 100), [0, 1]);
}

#[test]
fn many_endpoints_are_announced_under_loss() {
    let mut net = Net::new(5, 2, true, Link { loss: 25, duplicate: 5, latency_ms: 2, jitter_ms: 3 });
    let writers: Vec<_> = (0..60).map(|i| net.writer(0, &format!("topic/{i}"), RELIABLE)).collect();
    net.run(Duration::from_secs(2));
    let readers: Vec<_> = (0..60).map(|i| net.reader(1, &format!("topic/{i}"), RELIABLE).0).collect();
    let complete = |net: &Net| {
        writers.iter().all(|w| net.matched(0, *w) == 1)
            && readers.iter().all(|r| net.matched_writers(1, *r) == 1)
    };
    assert!(net.run_until(MINUTE, complete));
    // One more than the limit of 64 endpoints is refused and counted.
    for i in 0..10 {
        net.writer(0, &format!("more/{i}"), RELIABLE);
    }
    net.run(Duration::from_secs(5));
    let refused = |counters: &Counters| counters.snapshot().over_limit;
    assert_eq!(refused(&net.nodes[1].counters), 10 + 60 + 3 - 64);
}

#[test]
fn endpoints_of_one_participant_talk_when_asked_to() {
    for match_own in [false, true] {
        let mut net = Net::new(6, 0, false, PERFECT);
        net.match_own = match_own;
        net.add(0);
        net.add(1);
        let writer = net.writer(0, "t", RELIABLE);
        let (reader, log) = net.reader(0, "t", RELIABLE);
        net.run(Duration::from_secs(2));
        assert_eq!(net.matched(0, writer), usize::from(match_own));
        for n in 0..3 {
            net.write(0, writer, payload(n, 100_000)).unwrap();
        }
        net.run(Duration::from_secs(1));
        let expected: Vec<u32> = if match_own { (0..3).collect() } else { Vec::new() };
        assert_eq!(numbers(&log, |_| 100_000), expected);
        assert_eq!(
            net.nodes[0].core.snapshot().participants.len(),
            1,
            "we are no participant of our own graph"
        );
        let mut own: Vec<_> =
            net.nodes[0].core.snapshot().own.iter().map(|e| (e.guid, e.is_writer)).collect();
        own.sort();
        assert_eq!(own, [(writer, true), (reader, false)]);
        net.act(0, |core, now, out| core.remove_reader(reader.entity, now, out).is_some());
        assert_eq!(net.matched(0, writer), 0);
    }
}
