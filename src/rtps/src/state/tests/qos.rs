use std::time::Duration;

use super::sim::{BEST_EFFORT, LATCHED, Link, Net, PERFECT, RELIABLE, numbers, payload};
use crate::discovery::EndpointData;
use crate::endpoint::{EndpointQos, EndpointSpec, Ownership, WriteOptions};
use crate::event::Event;
use crate::graph::{Liveliness, Policy};
use crate::guid::Guid;
use crate::wire::SEDP_PUB_WRITER;

pub(super) const SECOND: Duration = Duration::from_secs(1);

pub(super) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn leased(kind: Liveliness, lease: Duration) -> EndpointQos {
    EndpointQos { liveliness: kind, liveliness_lease: Some(lease), ..RELIABLE }
}

/// A writer on node 0 and a reader on node 1 that are matched.
fn pair(net: &mut Net, offered: EndpointQos, requested: EndpointQos) -> (Guid, Guid, super::sim::Log) {
    let writer = net.writer(0, "t", offered);
    let (reader, log) = net.reader(1, "t", requested);
    let both = |net: &Net| net.matched(0, writer) + net.matched_writers(1, reader) == 2;
    assert!(net.run_until(10 * SECOND, both));
    (writer, reader, log)
}

/// Writes numbers `from..to`, one each `period`.
fn write_each(net: &mut Net, writer: Guid, numbers: std::ops::Range<u32>, period: Duration) {
    for n in numbers {
        net.write(0, writer, payload(n, 40)).unwrap();
        net.run(period);
    }
}

/// Whether the reader was told that the writer is alive or not, in order.
fn changes(net: &Net, node: usize, reader: Guid, writer: Guid) -> Vec<bool> {
    let of = |e: &Event| match e {
        Event::LivelinessChanged { reader: r, writer: w, alive } if (*r, *w) == (reader, writer) => {
            Some(*alive)
        }
        _ => None,
    };
    net.nodes[node].events.iter().filter_map(of).collect()
}

fn missed(net: &Net, node: usize, endpoint: Guid) -> u64 {
    let of = |e: &Event| match e {
        Event::DeadlineMissed { endpoint: id, count } if *id == endpoint => *count,
        _ => 0,
    };
    net.nodes[node].events.iter().map(of).sum()
}

#[test]
fn deadlines_of_both_sides_are_watched_from_the_first_sample_on() {
    let mut net = Net::new(1, 2, false, PERFECT);
    let offered = EndpointQos { deadline: Some(ms(100)), ..RELIABLE };
    let requested = EndpointQos { deadline: Some(ms(200)), ..RELIABLE };
    let (writer, reader, _) = pair(&mut net, offered, requested);
    net.run(SECOND);
    write_each(&mut net, writer, 0..20, ms(90));
    assert_eq!((missed(&net, 0, writer), missed(&net, 1, reader)), (0, 0));
    net.run(ms(950));
    assert_eq!((missed(&net, 0, writer), missed(&net, 1, reader)), (10, 5));
    write_each(&mut net, writer, 20..30, ms(90));
    assert_eq!((missed(&net, 0, writer), missed(&net, 1, reader)), (10, 5));
    // Without any writer there is nothing to wait for.
    net.act(0, |core, now, out| core.remove_writer(writer.entity, now, out));
    net.run(5 * SECOND);
    assert_eq!(missed(&net, 1, reader), 5);
}

#[test]
fn misfits_are_events_on_both_sides() {
    for (offered, requested, policy) in [
        (BEST_EFFORT, RELIABLE, Policy::Reliability),
        (RELIABLE, LATCHED, Policy::Durability),
        (RELIABLE, EndpointQos { deadline: Some(SECOND), ..RELIABLE }, Policy::Deadline),
        (RELIABLE, leased(Liveliness::Automatic, SECOND), Policy::Liveliness),
        (
            leased(Liveliness::Automatic, SECOND),
            leased(Liveliness::ManualByTopic, SECOND),
            Policy::Liveliness,
        ),
        (
            RELIABLE,
            EndpointQos { ownership: Ownership::Exclusive { strength: 0 }, ..RELIABLE },
            Policy::Ownership,
        ),
    ] {
        let mut net = Net::new(2, 2, false, PERFECT);
        let writer = net.writer(0, "t", offered);
        let (reader, _) = net.reader(1, "t", requested);
        net.run(3 * SECOND);
        let misfit = |endpoint, remote| Event::IncompatibleQos {
            endpoint,
            remote,
            topic: "t".into(),
            policies: vec![policy],
        };
        assert_eq!(net.nodes[0].events, [misfit(writer, reader)]);
        assert_eq!(net.nodes[1].events, [misfit(reader, writer)]);
        assert_eq!(net.matched(0, writer) + net.matched_writers(1, reader), 0);
    }
}

#[test]
fn automatic_liveliness_lasts_as_long_as_the_participant_is_heard() {
    let mut net = Net::new(3, 2, true, Link { loss: 10, duplicate: 0, latency_ms: 1, jitter_ms: 1 });
    let qos = leased(Liveliness::Automatic, ms(900));
    let (writer, reader, _) = pair(&mut net, qos, qos);
    net.run(10 * SECOND);
    assert_eq!(changes(&net, 1, reader, writer), []);
    net.link.loss = 100;
    net.run(2 * SECOND);
    assert_eq!(changes(&net, 1, reader, writer), [false]);
    net.link.loss = 0;
    net.run(SECOND);
    assert_eq!(changes(&net, 1, reader, writer), [false, true]);
    // A lease longer than the participant's silence shows nothing.
    net.nodes[0].alive = false;
    net.run(5 * SECOND);
    assert_eq!(changes(&net, 1, reader, writer), [false, true, false]);
}

#[test]
fn one_writer_speaks_for_all_whose_liveliness_is_by_participant() {
    let mut net = Net::new(4, 2, true, Link { loss: 10, duplicate: 5, latency_ms: 1, jitter_ms: 2 });
    let qos = leased(Liveliness::ManualByParticipant, ms(600));
    let (writer, reader, _) = pair(&mut net, qos, qos);
    let talker = net.writer(0, "other", leased(Liveliness::ManualByParticipant, SECOND));
    for _ in 0..20 {
        net.run(ms(250));
        net.write(0, talker, payload(0, 40)).unwrap();
    }
    for _ in 0..20 {
        net.run(ms(250));
        net.act(0, |core, now, out| core.assert_participant(now, out));
    }
    assert_eq!(changes(&net, 1, reader, writer), []);
    net.run(2 * SECOND);
    assert_eq!(changes(&net, 1, reader, writer), [false]);
    let lost: Vec<_> =
        net.nodes[0].events.iter().filter(|e| matches!(e, Event::LivelinessLost { .. })).collect();
    assert_eq!(lost, [&Event::LivelinessLost { writer }, &Event::LivelinessLost { writer: talker }]);
    net.act(0, |core, now, out| core.assert_writer(writer.entity, now, out)).unwrap();
    net.run(ms(300));
    assert_eq!(changes(&net, 1, reader, writer), [false, true]);
    net.run(SECOND);
    assert_eq!(net.nodes[0].events.iter().filter(|e| matches!(e, Event::LivelinessLost { .. })).count(), 4);
}

#[test]
fn a_fast_writer_does_not_tell_with_each_sample() {
    let mut net = Net::new(5, 2, false, PERFECT);
    let qos = leased(Liveliness::ManualByParticipant, ms(900));
    let (writer, _, _) = pair(&mut net, EndpointQos { reliable: false, ..qos }, BEST_EFFORT);
    net.run(2 * SECOND);
    net.capture = Some(Vec::new());
    write_each(&mut net, writer, 0..1000, ms(3));
    let sent = net.capture.take().unwrap();
    let told = sent.iter().filter(|d| d.windows(4).any(|w| w == crate::wire::LIVELINESS_WRITER)).count();
    assert!((10..=40).contains(&told), "{told} of {}", sent.len());
}

#[test]
fn liveliness_by_topic_needs_its_own_samples_or_assertions() {
    let mut net = Net::new(6, 2, false, PERFECT);
    let qos = leased(Liveliness::ManualByTopic, ms(300));
    let (writer, reader, log) = pair(&mut net, qos, qos);
    let talker = net.writer(0, "other", qos);
    write_each(&mut net, writer, 0..10, ms(200));
    for _ in 0..10 {
        net.act(0, |core, now, out| core.assert_writer(writer.entity, now, out)).unwrap();
        net.run(ms(200));
    }
    assert_eq!(changes(&net, 1, reader, writer), []);
    for _ in 0..10 {
        net.write(0, talker, payload(0, 40)).unwrap();
        net.run(ms(100));
    }
    assert_eq!(changes(&net, 1, reader, writer), [false]);
    assert!(net.nodes[0].events.contains(&Event::LivelinessLost { writer }));
    net.write(0, writer, payload(10, 40)).unwrap();
    net.run(ms(100));
    assert_eq!(changes(&net, 1, reader, writer), [false, true]);
    assert_eq!(numbers(&log, |_| 40), (0..11).collect::<Vec<_>>());
}

#[test]
fn a_reader_that_comes_late_gives_the_writer_a_full_lease() {
    let mut net = Net::new(7, 2, false, PERFECT);
    let qos = leased(Liveliness::ManualByTopic, SECOND);
    let writer = net.writer(0, "t", qos);
    net.run(5 * SECOND);
    let (reader, _) = net.reader(1, "t", qos);
    net.run(ms(900));
    assert_eq!(net.matched_writers(1, reader), 1);
    assert_eq!(changes(&net, 1, reader, writer), []);
    net.run(ms(200));
    assert_eq!(changes(&net, 1, reader, writer), [false]);
}

#[test]
fn the_time_we_were_stopped_is_not_held_against_remote_writers() {
    let kinds = [Liveliness::Automatic, Liveliness::ManualByParticipant, Liveliness::ManualByTopic];
    for (kind, stop) in kinds.into_iter().flat_map(|kind| [ms(450), ms(3050), ms(15_050)].map(|s| (kind, s)))
    {
        for reads_first in [true, false] {
            let mut net = Net::new(15, 2, false, PERFECT);
            let qos = EndpointQos { deadline: Some(ms(200)), ..leased(kind, ms(300)) };
            let (writer, reader, log) = pair(&mut net, qos, qos);
            write_each(&mut net, writer, 0..20, ms(100));
            net.nodes[1].paused = Some(net.now + stop);
            let written = 20 + u32::try_from(stop.as_millis() / 100).unwrap();
            write_each(&mut net, writer, 20..written, ms(100));
            if !reads_first {
                // The timers run before the sockets are read.
                net.now += ms(51);
                net.nodes[1].paused = Some(net.now + ms(1));
                net.drive(1, |core, now, out, inbox| core.poll(now, out, inbox));
            }
            write_each(&mut net, writer, written..written + 20, ms(100));
            let told = (changes(&net, 1, reader, writer), missed(&net, 1, reader));
            assert_eq!(told, (vec![], 0), "{kind:?} {stop:?} {reads_first}");
            assert_eq!(log.lock().unwrap().last().unwrap().seq, i64::from(written) + 20);
            // What is really silent is noticed as soon as ever.
            net.nodes[0].alive = false;
            net.run(ms(450));
            assert_eq!(changes(&net, 1, reader, writer), [false], "{kind:?} {stop:?} {reads_first}");
            assert_eq!(missed(&net, 1, reader), 2);
        }
    }
}

#[test]
fn expired_samples_are_not_replayed() {
    let mut net = Net::new(8, 2, false, PERFECT);
    let writer = net.writer(0, "t", EndpointQos { lifespan: Some(SECOND), ..LATCHED });
    write_each(&mut net, writer, 0..5, ms(400));
    let (_, log) = net.reader(1, "t", LATCHED);
    net.run(5 * SECOND);
    // Discovery takes no time here; 0 was written 2 s ago, 3 and 4 within the last second.
    assert_eq!(numbers(&log, |_| 40), [3, 4]);
    net.write(0, writer, payload(5, 40)).unwrap();
    net.run(ms(10));
    assert_eq!(numbers(&log, |_| 40), [3, 4, 5]);
}

#[test]
fn expired_samples_are_not_repaired() {
    let mut net = Net::new(9, 2, false, PERFECT);
    let (writer, reader, log) = pair(&mut net, EndpointQos { lifespan: Some(ms(500)), ..RELIABLE }, RELIABLE);
    net.run(SECOND);
    net.write(0, writer, payload(0, 40)).unwrap();
    net.run(ms(100));
    net.link.loss = 100;
    write_each(&mut net, writer, 1..4, ms(200));
    net.link.loss = 0;
    net.run(5 * SECOND);
    assert_eq!(numbers(&log, |_| 40), [0, 2, 3]);
    let lost = Event::SamplesLost { reader, writer, count: 1 };
    assert_eq!(net.nodes[1].events, [lost]);
}

#[test]
fn what_arrives_too_old_is_not_delivered() {
    let mut net = Net::new(10, 2, false, PERFECT);
    // The writer's promise or the reader's own wish, whichever is shorter.
    for (offered, requested) in [(Some(SECOND), None), (None, Some(SECOND)), (Some(SECOND), Some(9 * SECOND))]
    {
        let offered = EndpointQos { lifespan: offered, ..RELIABLE };
        let requested = EndpointQos { lifespan: requested, ..RELIABLE };
        let (writer, reader, log) = pair(&mut net, offered, requested);
        let (now, before) = (net.now, net.nodes[1].counters.snapshot().expired);
        net.nodes[1].core.set_wall(now, 100_000_000_000);
        for (n, age_ms) in [(0, 999), (1, 1001), (2, -5000), (3, 0)] {
            let source_time = Some(100_000_000_000 - age_ms * 1_000_000);
            net.write_with(0, writer, payload(n, 40), WriteOptions { source_time, ..Default::default() })
                .unwrap();
            net.nodes[1].core.set_wall(net.now, 100_000_000_000);
            net.run(ms(0));
        }
        net.run(SECOND);
        assert_eq!(numbers(&log, |_| 40), [0, 2, 3]);
        assert_eq!(net.nodes[1].counters.snapshot().expired - before, 1);
        net.act(0, |core, now, out| core.remove_writer(writer.entity, now, out));
        net.act(1, |core, now, out| core.remove_reader(reader.entity, now, out).is_some());
        net.run(SECOND);
    }
}

/// Announces a writer anew, as a peer does that changes a policy at run time.
pub(super) fn announce(net: &mut Net, writer: Guid, spec: &EndpointSpec) {
    let data = EndpointData::local(writer, spec, &[]);
    net.act(0, |core, now, out| {
        core.writers.get_mut(&writer.entity).unwrap().spec = spec.clone();
        core.write_builtin(SEDP_PUB_WRITER, &data.payload(), None, now, out)
    });
    net.run(ms(200));
}

#[test]
fn a_change_that_still_fits_loses_and_repeats_nothing() {
    let mut net = Net::new(13, 2, true, Link { loss: 20, duplicate: 5, latency_ms: 1, jitter_ms: 2 });
    let (writer, reader, log) = pair(&mut net, LATCHED, LATCHED);
    for n in 0..100 {
        net.write(0, writer, payload(n, 40)).unwrap();
        net.run(ms(20));
        if n % 10 == 0 {
            let user_data = n.to_le_bytes().to_vec();
            announce(&mut net, writer, &EndpointSpec { user_data, ..super::sim::spec("t", LATCHED) });
        }
    }
    net.run(2 * SECOND);
    let changed = net.nodes[1].core.snapshot().endpoints.iter().any(|e| e.user_data == [90, 0, 0, 0]);
    assert!(changed && net.matched_writers(1, reader) == 1);
    assert_eq!(numbers(&log, |_| 40), (0..100).collect::<Vec<_>>());
}

#[test]
fn partitions_can_change_at_run_time() {
    let mut net = Net::new(14, 2, false, PERFECT);
    let spec = |partition: &str| EndpointSpec {
        partitions: vec![partition.into()],
        ..super::sim::spec("t", RELIABLE)
    };
    let (writer, _) = net.act(0, |core, now, out| core.create_writer(spec("left"), now, out));
    let (reader, _) =
        net.act(1, |core, now, out| core.create_reader(spec("r*"), std::sync::Arc::new(drop), now, out));
    net.run(3 * SECOND);
    assert_eq!(net.matched_writers(1, reader), 0);
    for (partition, matched) in [("right", 1), ("round", 1), ("left", 0), ("right", 1)] {
        announce(&mut net, writer, &spec(partition));
        assert_eq!(net.matched_writers(1, reader), matched, "{partition}");
        let graph = net.nodes[1].core.snapshot();
        assert_eq!(graph.incompatible.len(), 1 - matched, "{partition}");
    }
}
