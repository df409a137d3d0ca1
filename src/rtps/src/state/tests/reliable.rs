use std::time::Duration;

use super::sim::{BEST_EFFORT, KEEP_ALL, LATCHED, Link, Net, PERFECT, RELIABLE, Rng, numbers, payload};
use crate::endpoint::{EndpointQos, History, WriteOptions};
use crate::error::WriteError;
use crate::guid::{Guid, SampleIdentity};

const MINUTE: Duration = Duration::from_secs(60);

fn size(n: u32) -> usize {
    match n % 10 {
        3 => 20_000,
        7 => 200_003,
        _ => 20 + n as usize,
    }
}

/// Two to four participants, one writer, everybody else reads.
fn every_sample_once_in_order(seed: u64) {
    let mut rng = Rng(seed);
    let link = Link {
        loss: rng.below(31),
        duplicate: rng.below(11),
        latency_ms: rng.below(20),
        jitter_ms: rng.below(20),
    };
    let count = 2 + usize::try_from(rng.below(3)).unwrap();
    let mut net = Net::new(seed, count, rng.below(2) == 0, link);
    let writer = net.writer(0, "t", KEEP_ALL);
    let readers: Vec<_> = (1..count).map(|node| net.reader(node, "t", RELIABLE)).collect();
    let ready = |net: &Net| {
        net.matched(0, writer) == count - 1
            && readers.iter().enumerate().all(|(i, (reader, _))| net.matched_writers(i + 1, *reader) == 1)
    };
    assert!(net.run_until(MINUTE, ready), "seed {seed} {link:?}: not matched");
    let total = 60;
    for n in 0..total {
        net.write(0, writer, payload(n, size(n))).unwrap();
        let pause = net.rng.below(5000);
        net.run(Duration::from_micros(pause));
    }
    let done = |_: &Net| readers.iter().all(|(_, log)| log.lock().unwrap().len() >= total as usize);
    assert!(net.run_until(2 * MINUTE, done), "seed {seed} {link:?}: incomplete");
    net.run(Duration::from_secs(1));
    for (_, log) in &readers {
        assert_eq!(numbers(log, size), (0..total).collect::<Vec<_>>(), "seed {seed} {link:?}");
    }
}

#[test]
fn every_reliable_sample_arrives_once_and_in_order() {
    (0..150).for_each(every_sample_once_in_order);
}

#[test]
fn late_readers_get_the_held_samples() {
    for seed in 0..40 {
        let link = Link { loss: seed % 30, duplicate: 5, latency_ms: seed % 7, jitter_ms: 5 };
        let mut net = Net::new(seed, 3, seed % 2 == 0, link);
        let writer = net.writer(0, "t", LATCHED);
        let (_, early) = net.reader(1, "t", LATCHED);
        assert!(net.run_until(MINUTE, |net| net.matched(0, writer) == 1));
        for n in 0..12 {
            net.write(0, writer, payload(n, size(n))).unwrap();
            net.run(Duration::from_millis(300));
        }
        let (_, late) = net.reader(2, "t", LATCHED);
        let (_, volatile) = net.reader(2, "t", RELIABLE);
        net.run(Duration::from_secs(20));
        net.write(0, writer, payload(12, size(12))).unwrap();
        assert!(net.run_until(MINUTE, |_| late.lock().unwrap().len() == 6), "seed {seed}");
        net.run(Duration::from_secs(2));
        assert_eq!(numbers(&late, size), (7..=12).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(numbers(&volatile, size), [12], "seed {seed}");
        assert_eq!(numbers(&early, size).last(), Some(&12));
    }
}

#[test]
fn a_late_best_effort_reader_gets_the_held_samples_too() {
    let mut net = Net::new(1, 2, false, PERFECT);
    let writer = net.writer(0, "t", LATCHED);
    for n in 0..3 {
        net.write(0, writer, payload(n, 100)).unwrap();
    }
    let (_, log) = net.reader(1, "t", EndpointQos { reliable: false, ..LATCHED });
    net.run(Duration::from_secs(5));
    assert_eq!(numbers(&log, |_| 100), [0, 1, 2]);
}

#[test]
fn best_effort_never_repeats_or_reorders() {
    for seed in 0..20 {
        let link = Link { loss: 10, duplicate: 20, latency_ms: 1, jitter_ms: 10 };
        let mut net = Net::new(seed, 2, true, link);
        let writer = net.writer(0, "t", BEST_EFFORT);
        let (_, log) = net.reader(1, "t", BEST_EFFORT);
        assert!(net.run_until(MINUTE, |net| net.matched(0, writer) == 1));
        net.run(Duration::from_secs(10));
        for n in 0..100 {
            net.write(0, writer, payload(n, size(n))).unwrap();
            net.run(Duration::from_millis(5));
        }
        net.run(Duration::from_secs(1));
        let got = numbers(&log, size);
        assert!(got.is_sorted() && got.windows(2).all(|w| w[0] != w[1]), "seed {seed}");
        assert!(got.len() > 20, "seed {seed}: only {}", got.len());
    }
}

#[test]
fn keep_last_gives_up_the_oldest_and_goes_on() {
    let mut net = Net::new(5, 2, false, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    let (reader, log) = net.reader(1, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(1, reader) == 2));
    net.run(Duration::from_secs(1));
    net.link.loss = 100;
    for n in 0..30 {
        net.write(0, writer, payload(n, 50)).unwrap();
    }
    net.link.loss = 0;
    net.run(Duration::from_secs(2));
    assert_eq!(numbers(&log, |_| 50), (20..30).collect::<Vec<_>>());
}

#[test]
fn keep_all_refuses_what_does_not_fit() {
    let mut net = Net::new(6, 2, false, PERFECT);
    let qos = EndpointQos { history: History::KeepAll { bytes: 1000 }, ..RELIABLE };
    let writer = net.writer(0, "t", qos);
    let (reader, log) = net.reader(1, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(1, reader) == 2));
    net.link.loss = 100;
    let accepted = (0..20).take_while(|n| net.write(0, writer, payload(*n, 100)).is_ok()).count();
    assert_eq!(accepted, 10);
    assert_eq!(net.write(0, writer, payload(10, 100)), Err(WriteError::HistoryFull));
    net.link.loss = 0;
    net.run(Duration::from_secs(2));
    net.write(0, writer, payload(10, 100)).unwrap();
    net.run(Duration::from_secs(1));
    assert_eq!(numbers(&log, |_| 100), (0..=10).collect::<Vec<_>>());
}

#[test]
fn a_directed_sample_reaches_one_reader_and_stalls_none() {
    let mut net = Net::new(7, 3, false, Link { loss: 20, ..PERFECT });
    let writer = net.writer(0, "t", RELIABLE);
    let (first, log_1) = net.reader(1, "t", RELIABLE);
    let (second, log_2) = net.reader(2, "t", RELIABLE);
    let ready = |net: &Net| {
        net.matched(0, writer) == 2 && net.matched_writers(1, first) + net.matched_writers(2, second) == 2
    };
    assert!(net.run_until(MINUTE, ready));
    let related = Some(SampleIdentity { guid: first, seq: 4 });
    for n in 0..8 {
        let only_to = match n % 4 {
            1 => Some(first),
            3 => Some(second),
            _ => None,
        };
        let options = WriteOptions { only_to, related, source_time: Some(1_000_000_000) };
        net.write_with(0, writer, payload(n, size(n)), options).unwrap();
        net.run(Duration::from_millis(50));
    }
    net.run(Duration::from_secs(20));
    assert_eq!(numbers(&log_1, size), [0, 1, 2, 4, 5, 6]);
    assert_eq!(numbers(&log_2, size), [0, 2, 3, 4, 6, 7]);
    let log = log_1.lock().unwrap();
    assert!(log.iter().all(|s| s.related == related && s.source_time == Some(1_000_000_000)));
    let stranger = WriteOptions { only_to: Some(Guid::UNKNOWN), ..WriteOptions::default() };
    assert_eq!(net.write_with(0, writer, payload(9, 10), stranger), Err(WriteError::NotMatched));
}

#[test]
fn an_idle_network_falls_silent() {
    let mut net = Net::new(8, 2, false, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    let (_, log) = net.reader(1, "t", RELIABLE);
    net.run(Duration::from_secs(5));
    net.write(0, writer, payload(0, 500_000)).unwrap();
    net.run(Duration::from_secs(5));
    assert_eq!(log.lock().unwrap().len(), 1);
    net.capture = Some(Vec::new());
    net.run(Duration::from_secs(9));
    // Two participants announce to eight places every three seconds, and nothing else.
    let sent = net.capture.take().unwrap();
    assert!(sent.len() <= 2 * 8 * 4, "{} datagrams", sent.len());
}

#[test]
fn a_sample_beyond_the_limit_is_skipped() {
    let mut net = Net::new(9, 2, false, Link { loss: 10, ..PERFECT });
    net.sample_bytes = 100_000;
    net.add(2);
    let writer = net.writer(0, "t", KEEP_ALL);
    let (reader, log) = net.reader(2, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(2, reader) == 2));
    for (n, len) in (0..).zip([50, 100_001, 100_000, 70]) {
        net.write(0, writer, payload(n, len)).unwrap();
    }
    net.run(Duration::from_secs(5));
    assert_eq!(numbers(&log, |n| [50, 0, 100_000, 70][n as usize]), [0, 2, 3]);
    assert!(net.nodes[2].counters.snapshot().lost > 0);
}
