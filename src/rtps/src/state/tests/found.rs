//! Defects that random runs found, each as the shortest story that shows it.

use std::time::{Duration, Instant};

use super::link::IP_FRAGMENT;
use super::sim::{BEST_EFFORT, LATCHED, Link, Net, PERFECT, RELIABLE, numbers, payload};
use super::trace::line;
use crate::endpoint::{EndpointQos, WriteOptions};
use crate::guid::Guid;
use crate::state::arrival::{Arrival, Builtin, Sink};
use crate::state::partial::Partials;
use crate::state::reader::{HoldRoom, Outcome, WriterProxy};
use crate::wire::Heartbeat;

const SECOND: Duration = Duration::from_secs(1);

fn only(reader: Guid) -> WriteOptions {
    WriteOptions { only_to: Some(reader), ..WriteOptions::default() }
}

#[test]
fn a_directed_sample_is_no_history_for_others() {
    let mut net = Net::new(1, 3, false, PERFECT);
    let writer = net.writer(0, "t", LATCHED);
    let (reader, _) = net.reader(1, "t", LATCHED);
    net.run(2 * SECOND);
    net.write(0, writer, payload(0, 50)).unwrap();
    net.write_with(0, writer, payload(1, 50), only(reader)).unwrap();
    let (_, late) = net.reader(2, "t", EndpointQos { reliable: false, ..LATCHED });
    net.run(2 * SECOND);
    assert_eq!(numbers(&late, |_| 50), [0]);
}

#[test]
fn a_directed_sample_for_a_dead_peer_is_not_for_who_has_its_address() {
    let mut net = Net::new(2, 2, false, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    let (dead, _) = net.reader(1, "t", RELIABLE);
    net.run(2 * SECOND);
    net.nodes[1].alive = false;
    net.add(1);
    let (reader, log) = net.reader(2, "t", RELIABLE);
    assert_eq!(reader.entity, dead.entity);
    assert!(net.run_until(2 * SECOND, |net| net.matched(0, writer) == 2));
    net.run(SECOND);
    net.write_with(0, writer, payload(0, 50), only(dead)).unwrap();
    net.write_with(0, writer, payload(1, 50), only(reader)).unwrap();
    net.run(SECOND);
    assert_eq!(numbers(&log, |_| 50), [1]);
}

#[test]
fn a_lost_invitation_is_repeated() {
    let mut net = Net::new(3, 2, true, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    let (reader, log) = net.reader(1, "t", RELIABLE);
    net.run(2 * SECOND);
    // The reader's side loses sight of the writer's, which notices nothing of it.
    net.faults.cuts.insert((0, 1));
    assert!(net.run_until(30 * SECOND, |net| net.matched_writers(1, reader) == 0));
    net.faults.cuts = [(1, 0)].into();
    assert!(net.run_until(5 * SECOND, |net| !net.nodes[1].core.peers.is_empty()));
    net.run(SECOND);
    net.faults.cuts.clear();
    net.run(5 * SECOND);
    assert_eq!((net.matched(0, writer), net.matched_writers(1, reader)), (1, 1));
    net.write(0, writer, payload(0, 50)).unwrap();
    net.run(SECOND);
    assert_eq!(numbers(&log, |_| 50), [0]);
}

#[test]
fn fragments_for_another_reader_of_the_same_participant_stall_none() {
    let mut net = Net::new(4, 2, true, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    let (meant, _) = net.reader(1, "t", BEST_EFFORT);
    let (_, log) = net.reader(1, "t", RELIABLE);
    net.run(2 * SECOND);
    // Half of its fragments get through and are not asked for by whom they are for, but by the other one.
    net.link.loss = 50;
    net.write_with(0, writer, payload(0, 100_000), only(meant)).unwrap();
    net.write(0, writer, payload(1, 50)).unwrap();
    net.run(SECOND);
    net.link.loss = 0;
    net.run(SECOND);
    assert_eq!(numbers(&log, |_| 50), [1]);
}

#[test]
fn an_endpoint_removed_while_only_one_side_sees_the_other_is_no_ghost() {
    let mut net = Net::new(5, 2, true, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    let (reader, _) = net.reader(1, "t", RELIABLE);
    net.run(2 * SECOND);
    net.faults.cuts.insert((1, 0));
    assert!(net.run_until(30 * SECOND, |net| net.matched(0, writer) == 0));
    // The farewell does not get through either.
    net.faults.cuts.insert((0, 1));
    net.act(0, |core, now, out| core.remove_writer(writer.entity, now, out));
    net.run(SECOND);
    net.faults.cuts.clear();
    net.run(5 * SECOND);
    assert_eq!(net.matched_writers(1, reader), 0);
}

#[test]
fn a_reader_with_half_a_sample_hears_that_its_writer_begins_anew() {
    let mut net = Net::new(6, 2, true, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    let (reader, log) = net.reader(1, "t", RELIABLE);
    net.run(2 * SECOND);
    net.link.loss = 50;
    net.write(0, writer, payload(0, 100_000)).unwrap();
    net.run(Duration::from_millis(1));
    net.link.loss = 0;
    net.faults.cuts.insert((1, 0));
    assert!(net.run_until(30 * SECOND, |net| net.matched(0, writer) == 0));
    net.faults.cuts.clear();
    assert!(net.run_until(5 * SECOND, |net| !net.nodes[0].core.peers.is_empty()));
    // What the writer says to the reader, which is new to it, is lost.
    assert!(net.run_until(5 * SECOND, |net| net.matched(0, writer) == 1));
    net.wire_lost();
    net.run(2 * SECOND);
    assert!(log.lock().unwrap().is_empty() && net.matched_writers(1, reader) == 1);
    net.capture = Some(Vec::new());
    net.run(2 * SECOND);
    let said: Vec<_> = net.capture.take().unwrap().iter().filter_map(|bytes| line(bytes)).collect();
    assert!(said.is_empty(), "still asking: {said:?}");
}

#[test]
fn what_is_missing_after_part_of_an_answer_is_asked_for_again() {
    let mut proxy = WriterProxy::new([0; 4], true, Sink::Builtin(Builtin::Writers));
    let told = Heartbeat {
        reader: [0; 4],
        writer: [0; 4],
        first: 1,
        last: 2,
        count: 1,
        is_final: true,
        liveliness: false,
    };
    proxy.heartbeat(&told, Instant::now(), |_, _| {}, &mut Outcome::default());
    let now = Instant::now();
    assert!(!proxy.request(&Partials::default(), 4, now).unwrap().0.is_empty());
    let room = HoldRoom { samples: 8, free_bytes: 1000 };
    proxy.offer(1, Arrival::Irrelevant, room, |_, _| {});
    assert!(proxy.is_due(now + Duration::from_millis(10)), "the second one is forgotten");
    proxy.offer(2, Arrival::Irrelevant, room, |_, _| {});
    assert!(!proxy.is_due(now + Duration::from_millis(10)));
}

#[test]
fn a_network_that_drops_what_it_would_have_to_split_carries_reliable_samples() {
    let mut net = Net::new(7, 2, true, PERFECT);
    net.faults.mtu = Some(IP_FRAGMENT);
    let writer = net.writer(0, "t", RELIABLE);
    let (_, log) = net.reader(1, "t", RELIABLE);
    net.run(2 * SECOND);
    for n in 0..4 {
        net.write(0, writer, payload(n, 8000)).unwrap();
    }
    net.run(SECOND);
    assert_eq!(numbers(&log, |_| 8000), [0, 1, 2, 3]);
}

#[test]
fn a_long_way_does_not_make_readers_wait_for_many_round_trips() {
    let mut net = Net::new(8, 2, true, Link { latency_ms: 60, ..PERFECT });
    let writer = net.writer(0, "t", RELIABLE);
    let (_, log) = net.reader(1, "t", RELIABLE);
    net.run(2 * SECOND);
    // Samples get lost, heartbeats and requests pass.
    for n in 0..3 {
        net.faults.mtu = Some(500);
        net.write(0, writer, payload(n, 3000)).unwrap();
        net.run(3 * SECOND);
        net.faults.mtu = None;
        net.run(Duration::from_millis(600));
        assert_eq!(numbers(&log, |_| 3000).last(), Some(&n));
    }
}

#[test]
fn a_pause_does_not_slow_the_requests_after_it() {
    let mut proxy = WriterProxy::new([0; 4], true, Sink::Builtin(Builtin::Writers));
    let (first, last) = (1, 2);
    let told = Heartbeat {
        reader: [0; 4],
        writer: [0; 4],
        first,
        last,
        count: 1,
        is_final: true,
        liveliness: false,
    };
    proxy.heartbeat(&told, Instant::now(), |_, _| {}, &mut Outcome::default());
    let now = Instant::now();
    assert!(proxy.request(&Partials::default(), 4, now).is_some());
    let resumed = now + 24 * SECOND;
    proxy.progress(1, resumed);
    proxy.offer(1, Arrival::Irrelevant, HoldRoom { samples: 8, free_bytes: 1000 }, |_, _| {});
    assert!(proxy.request(&Partials::default(), 4, resumed).is_some());
    assert!(proxy.is_due(resumed + SECOND));
}

#[test]
fn a_sample_for_others_behind_a_big_one_is_told_when_that_has_left() {
    for qos in [RELIABLE, BEST_EFFORT] {
        let mut net = Net::new(9, 3, true, PERFECT);
        let writer = net.writer(0, "t", RELIABLE);
        let (other, _) = net.reader(1, "t", RELIABLE);
        net.reader(2, "t", qos);
        net.run(2 * SECOND);
        net.write(0, writer, payload(0, 900_000)).unwrap();
        net.write_with(0, writer, payload(1, 50), only(other)).unwrap();
        net.run(2 * SECOND);
        assert_eq!(net.nodes[0].core.writers[&writer.entity].history.seqs().count(), 0, "{qos:?}");
    }
}
