//! What one reader makes of one writer.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::endpoint::Sample;
use crate::guid::Guid;
use crate::state::arrival::{Arrival, Builtin, Sink};
use crate::state::partial::Partials;
use crate::state::reader::{HoldRoom, Outcome, WriterProxy};
use crate::wire::{Gap, Heartbeat, SequenceSet};

const ROOM: HoldRoom = HoldRoom { samples: 8, free_bytes: 1000 };

fn sample(seq: i64) -> Arrival {
    Arrival::Sample(Sample {
        payload: Bytes::from_static(&[0; 10]),
        writer: Guid::UNKNOWN,
        seq,
        related: None,
        source_time: None,
    })
}

struct Bench {
    proxy: WriterProxy,
    got: Vec<i64>,
}

impl Bench {
    fn new(reliable: bool) -> Self {
        Self { proxy: WriterProxy::new([0; 4], reliable, Sink::Builtin(Builtin::Writers)), got: Vec::new() }
    }

    fn offer(&mut self, seq: i64) -> Outcome {
        let got = &mut self.got;
        self.proxy.offer(seq, sample(seq), ROOM, |_, arrival| record(got, &arrival))
    }

    fn heartbeat(&mut self, first: i64, last: i64, count: i32) -> (bool, Outcome) {
        let got = &mut self.got;
        let hb = Heartbeat {
            reader: [0; 4],
            writer: [0; 4],
            first,
            last,
            count,
            is_final: true,
            liveliness: false,
        };
        let mut outcome = Outcome::default();
        let news =
            self.proxy.heartbeat(&hb, Instant::now(), |_, arrival| record(got, &arrival), &mut outcome);
        (news, outcome)
    }
}

fn record(got: &mut Vec<i64>, arrival: &Arrival) {
    if let Arrival::Sample(sample) = arrival {
        got.push(sample.seq);
    }
}

#[test]
fn reliable_delivers_in_order_once() {
    let mut b = Bench::new(true);
    for seq in [2, 1, 1, 3, 2] {
        b.offer(seq);
    }
    assert_eq!(b.got, [1, 2, 3]);
}

#[test]
fn best_effort_drops_what_is_late() {
    let mut b = Bench::new(false);
    let lost: Vec<_> = [5, 4, 7, 7].into_iter().map(|seq| b.offer(seq).lost).collect();
    assert_eq!(b.got, [5, 7]);
    assert_eq!(lost, [0, 0, 1, 0]);
}

#[test]
fn a_heartbeat_reveals_what_is_missing() {
    let mut b = Bench::new(true);
    b.offer(1);
    b.offer(3);
    b.heartbeat(1, 4, 1);
    let (set, _) = b.proxy.request(&Partials::default(), 4, Instant::now()).unwrap();
    assert!(set.iter().eq([2, 4]));
    assert!(b.proxy.request(&Partials::default(), 4, Instant::now()).is_none(), "asked again at once");
}

#[test]
fn a_writer_that_gave_samples_up_is_followed() {
    let mut b = Bench::new(true);
    b.offer(1);
    b.offer(4);
    b.heartbeat(1, 4, 1);
    let (_, outcome) = b.heartbeat(6, 9, 2);
    assert_eq!((b.got.clone(), outcome.lost), (vec![1, 4], 3));
    b.offer(6);
    assert_eq!(b.got, [1, 4, 6]);
}

#[test]
fn an_overtaken_heartbeat_is_ignored() {
    let mut b = Bench::new(true);
    assert!(b.heartbeat(1, 4, 7).0);
    assert!(!b.heartbeat(1, 2, 6).0);
    assert!(!b.heartbeat(1, 4, 7).0);
}

#[test]
fn gaps_release_what_waits_behind_them() {
    let mut b = Bench::new(true);
    b.offer(5);
    let mut list = SequenceSet::new(3);
    list.insert(4);
    let gap = Gap { reader: [0; 4], writer: [0; 4], start: 1, list };
    let got = &mut b.got;
    b.proxy.gap(&gap, ROOM, |_, arrival| record(got, &arrival));
    assert_eq!(b.got, []);
    b.offer(3);
    assert_eq!(b.got, [3, 5]);
}

#[test]
fn early_samples_are_bounded() {
    let mut b = Bench::new(true);
    let refused = (2..30).filter(|seq| b.offer(*seq).over_limit).count();
    assert_eq!(refused, 20);
    b.offer(1);
    assert_eq!(b.got, (1..=9).collect::<Vec<_>>());
}

#[test]
fn another_writer_under_the_same_id_is_read_from_its_start() {
    let mut b = Bench::new(true);
    b.proxy.resume(10);
    assert_eq!(b.offer(4), Outcome::default());
    let told = |count| Heartbeat {
        reader: [0; 4],
        writer: [0; 4],
        first: 4,
        last: 6,
        count,
        is_final: true,
        liveliness: false,
    };
    let start = Instant::now();
    for (count, ms) in [(1, 0), (2, 400), (3, 600)] {
        assert!(!b.proxy.wants(6), "an overtaken heartbeat is none of another writer");
        let now = start + Duration::from_millis(ms);
        b.proxy.heartbeat(&told(count), now, |_, _| {}, &mut Outcome::default());
    }
    for seq in 4..=6 {
        b.offer(seq);
    }
    assert_eq!(b.got, [4, 5, 6]);
}

#[test]
fn a_best_effort_writer_that_counts_anew_is_heard() {
    let mut b = Bench::new(false);
    b.offer(1000);
    let start = Instant::now();
    for (seq, ms) in [(1, 0), (2, 300), (3, 600), (4, 900)] {
        b.proxy.recount(seq, start + Duration::from_millis(ms));
        assert_eq!(b.offer(seq).lost, 0);
    }
    assert_eq!(b.got, [1000, 3, 4]);
}

#[test]
fn late_copies_of_a_best_effort_sample_are_no_new_count() {
    let mut b = Bench::new(false);
    let start = Instant::now();
    for (seq, ms) in [(5, 0), (5, 10), (6, 400), (5, 410), (6, 420), (7, 900), (6, 910)] {
        b.proxy.recount(seq, start + Duration::from_millis(ms));
        b.offer(seq);
    }
    assert_eq!(b.got, [5, 6, 7]);
}

#[test]
fn a_claim_of_samples_that_never_were_is_forgotten() {
    let mut b = Bench::new(true);
    let start = Instant::now();
    let mut told = |last, count, ms| {
        let (reader, writer) = ([0; 4], [0; 4]);
        let heartbeat =
            Heartbeat { reader, writer, first: 1, last, count, is_final: true, liveliness: false };
        let now = start + Duration::from_millis(ms);
        b.proxy.heartbeat(&heartbeat, now, |_, _| {}, &mut Outcome::default());
    };
    told(1 << 40, 1, 0);
    told(0, 2, 10);
    told(0, 3, 600);
    let (missing, _) = b.proxy.request(&Partials::default(), 4, start + Duration::from_secs(1)).unwrap();
    assert!(missing.is_empty());
}
