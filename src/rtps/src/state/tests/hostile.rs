//! Peers that lie, flood or dawdle: state stays bounded and others get everything.

use std::time::Duration;

use super::foe::Foe;
use super::memory::held;
use super::sim::{BEST_EFFORT, KEEP_ALL, Log, Net, PERFECT, RELIABLE, numbers, payload};
use crate::config::Limits;
use crate::endpoint::EndpointQos;
use crate::guid::Guid;
use crate::wire::{AckNack, DataFrag, Entity, Gap, Heartbeat, InlineQos, NackFrag, SequenceSet};

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);
/// What a foe writes and reads with.
const WRITER: Entity = [0, 0, 1, 3];
const READER: Entity = [0, 0, 2, 4];

/// Two participants that talk to each other on topic `t`, the second one reading.
struct Honest {
    net: Net,
    writer: Guid,
    log: Log,
    sent: u32,
    len: fn(u32) -> usize,
}

impl Honest {
    fn new(seed: u64, qos: EndpointQos, len: fn(u32) -> usize) -> Self {
        let mut net = Net::new(seed, 2, true, PERFECT);
        let writer = net.writer(0, "t", qos);
        let (_, log) = net.reader(1, "t", qos);
        net.run(2 * SECOND);
        Self { net, writer, log, sent: 0, len }
    }

    fn talk(&mut self) {
        self.net.write(0, self.writer, payload(self.sent, (self.len)(self.sent))).unwrap();
        self.sent += 1;
        self.net.run(5 * MS);
    }

    fn check(mut self) {
        self.net.run(2 * SECOND);
        self.log.lock().unwrap().retain(|sample| sample.writer == self.writer);
        assert_eq!(numbers(&self.log, self.len), (0..self.sent).collect::<Vec<_>>());
        for node in &self.net.nodes {
            assert!(node.core.is_bounded());
        }
    }
}

fn frag(seq: i64, first: u32, sample_size: u32, fragment_size: u16) -> DataFrag<'static> {
    DataFrag {
        reader: [0; 4],
        writer: WRITER,
        seq,
        first,
        count: 1,
        fragment_size,
        sample_size,
        inline: InlineQos::default(),
        payload: &[],
        is_key: false,
    }
}

/// All 256 numbers a set can have.
fn all_from(base: i64) -> SequenceSet {
    let mut set = SequenceSet::new(base);
    for n in 0..256 {
        set.insert(base + n);
    }
    set
}

#[test]
fn claims_of_huge_samples_take_no_room_from_others() {
    let mut honest = Honest::new(1, KEEP_ALL, |n| if n % 4 == 0 { 3_000_000 } else { 100 });
    let mut foes: Vec<_> = (0..4).map(Foe::new).collect();
    for (n, foe) in foes.iter_mut().enumerate() {
        foe.greet(&mut honest.net, 1);
        for writer in 0..4 {
            let qos = if n % 2 == 0 { RELIABLE } else { BEST_EFFORT };
            foe.create(&mut honest.net, 1, [0, 0, writer, 3], "t", qos);
        }
    }
    let before = held();
    let bytes = [7; 1000];
    for round in 0..40 {
        for foe in &foes {
            for writer in 0..4 {
                let sizes = [u32::MAX, 1 << 30, 64 << 20, 20 << 20, 16 << 20, 4 << 20, 1 << 20];
                for (seq, size) in (1..).zip(sizes) {
                    let frag = DataFrag { writer: [0, 0, writer, 3], ..frag(seq + round, 1, size, 1000) };
                    foe.say(&mut honest.net, 1, |e| e.data_frag(&frag, &bytes));
                }
            }
        }
        honest.talk();
    }
    let limit = i64::try_from(Limits::default().pending_bytes).unwrap();
    // What the honest ones sent is held by their history and log.
    let honest_bytes = 10 * 2 * 3_100_000;
    let grown = held() - before;
    assert!(grown < limit + honest_bytes, "{grown} bytes");
    honest.check();
}

#[test]
fn numbers_far_away_cost_nothing() {
    let mut honest = Honest::new(2, KEEP_ALL, |_| 100);
    let mut foe = Foe::new(1);
    foe.greet(&mut honest.net, 1);
    foe.create(&mut honest.net, 1, WRITER, "t", RELIABLE);
    let before = held();
    let far = [1, 2, 1 << 31, (1 << 31) + 7, 1 << 40, i64::MAX / 2];
    for first in far {
        for last in far.into_iter().filter(|last| *last >= first) {
            let count = foe.counted();
            let heartbeat = Heartbeat {
                reader: [0; 4],
                writer: WRITER,
                first,
                last,
                count,
                is_final: false,
                liveliness: false,
            };
            let gap = Gap { reader: [0; 4], writer: WRITER, start: first, list: all_from(last) };
            foe.say(&mut honest.net, 1, |e| e.heartbeat(&heartbeat));
            foe.say(&mut honest.net, 1, |e| e.data([0; 4], WRITER, last, None, &[0; 100]));
            foe.say(&mut honest.net, 1, |e| e.gap(&gap));
            honest.talk();
        }
    }
    assert!(held() - before < 2_000_000, "{} bytes", held() - before);
    honest.check();
}

#[test]
fn thousands_of_participants_leave_room_for_a_real_one() {
    let mut honest = Honest::new(3, KEEP_ALL, |_| 100);
    let before = held();
    for n in 0..10_000 {
        Foe::new(n).greet(&mut honest.net, 0);
        if n % 500 == 0 {
            honest.talk();
        }
        if n == 5_000 {
            honest.net.add(2);
        }
    }
    assert!(held() - before < 4_000_000, "{} bytes", held() - before);
    let (_, log) = honest.net.reader(2, "t", RELIABLE);
    honest.net.run(5 * SECOND);
    honest.talk();
    honest.net.run(SECOND);
    assert_eq!(numbers(&log, |_| 100), [20]);
    honest.check();
}

#[test]
fn a_faked_farewell_is_made_up_for() {
    let mut honest = Honest::new(4, KEEP_ALL, |_| 100);
    honest.talk();
    let guid = honest.net.nodes[1].core.guid();
    let victim = Foe { prefix: guid.prefix, ..Foe::new(0) };
    victim.say(&mut honest.net, 0, |e| {
        let key = crate::discovery::key_payload(guid);
        e.dispose([0; 4], crate::wire::SPDP_WRITER, 2, guid.as_bytes(), &key);
    });
    honest.net.run(5 * SECOND);
    honest.talk();
    honest.check();
}

#[test]
fn acknowledging_what_was_never_sent_loses_nothing() {
    let mut honest = Honest::new(5, KEEP_ALL, |_| 100);
    let mut foe = Foe::new(1);
    foe.greet(&mut honest.net, 0);
    foe.create(&mut honest.net, 0, READER, "t", RELIABLE);
    for base in [1 << 20, i64::MAX / 2, 0, 1] {
        honest.net.link.loss = 50;
        for _ in 0..10 {
            let missing = SequenceSet::new(base);
            let count = foe.counted();
            let acknack =
                AckNack { reader: READER, writer: honest.writer.entity, missing, count, is_final: true };
            foe.say(&mut honest.net, 0, |e| e.acknack(&acknack));
            honest.talk();
        }
        honest.net.link.loss = 0;
    }
    honest.check();
}

/// Bytes sent to a foe that asks for everything again and again, and bytes it sent for that, within a second.
fn greed(
    len: usize,
    every: Duration,
    ask: impl Fn(&mut Foe, &mut Net, Guid, i64) -> usize,
) -> (usize, usize) {
    let mut honest = Honest::new(6, RELIABLE, |_| 100);
    let mut foe = Foe::new(1);
    foe.greet(&mut honest.net, 0);
    foe.create(&mut honest.net, 0, READER, "t", RELIABLE);
    honest.net.write(0, honest.writer, payload(0, len)).unwrap();
    honest.sent = 1;
    honest.net.run(SECOND);
    let before = held();
    let (mut asked, mut got) = (0, 0);
    honest.net.capture_to = Some(foe.at);
    honest.net.capture = Some(Vec::new());
    let end = honest.net.now + SECOND;
    while honest.net.now < end {
        asked += ask(&mut foe, &mut honest.net, honest.writer, 1);
        honest.net.run(every);
        got += honest.net.capture.replace(Vec::new()).unwrap().iter().map(Vec::len).sum::<usize>();
    }
    honest.net.capture = None;
    honest.len = if len == 100 { |_| 100 } else { |n| if n == 0 { 1_000_000 } else { 100 } };
    (0..5).for_each(|_| honest.talk());
    assert!(held() - before < 1_000_000, "{} bytes", held() - before);
    honest.check();
    (got, asked)
}

fn ask_whole(foe: &mut Foe, net: &mut Net, writer: Guid, seq: i64) -> usize {
    let mut missing = SequenceSet::new(seq);
    missing.insert(seq);
    let count = foe.counted();
    let acknack = AckNack { reader: READER, writer: writer.entity, missing, count, is_final: false };
    foe.say(net, 0, |e| e.acknack(&acknack))
}

fn ask_parts(foe: &mut Foe, net: &mut Net, writer: Guid, seq: i64) -> usize {
    let mut bytes = 0;
    for base in [1, 257, 513] {
        let mut missing = crate::wire::FragmentSet::new(base);
        for n in base..base + 256 {
            missing.insert(n);
        }
        let count = foe.counted();
        let nack = NackFrag { reader: READER, writer: writer.entity, seq, missing, count };
        bytes += foe.say(net, 0, |e| e.nack_frag(&nack));
    }
    bytes
}

#[test]
fn endless_requests_are_answered_within_bounds() {
    // A small request never brings much more than it costs.
    let (got, asked) = greed(100, MS / 10, ask_whole);
    assert!(got < 8 * asked, "{got} bytes for {asked}");
    // Big samples leave at the lowest pace, 6.25 MB/s here, after a short while.
    for ask in [ask_whole, ask_parts] {
        let (got, asked) = greed(1_000_000, MS, ask);
        assert!(got < 16_000_000, "{got} bytes for {asked}");
    }
}

#[test]
fn readers_that_dawdle_hold_up_nobody() {
    let mut honest = Honest::new(7, RELIABLE, |n| if n % 10 == 0 { 200_000 } else { 100 });
    let mut foes: Vec<_> = (0..8).map(Foe::new).collect();
    for foe in &mut foes {
        foe.greet(&mut honest.net, 0);
        foe.create(&mut honest.net, 0, READER, "t", EndpointQos { transient_local: false, ..RELIABLE });
    }
    let mut most = 0;
    let before = held();
    for round in 0..400 {
        honest.talk();
        if round % 200 == 199 {
            // One acknowledges a little every second, one asks for everything, the others say nothing.
            for (foe, missing) in foes.iter_mut().zip([SequenceSet::new(round / 2), all_from(1)]) {
                let count = foe.counted();
                let writer = honest.writer.entity;
                let acknack = AckNack { reader: READER, writer, missing, count, is_final: false };
                foe.say(&mut honest.net, 0, |e| e.acknack(&acknack));
            }
        }
        let log: usize = honest.log.lock().unwrap().iter().map(|s| s.payload.len()).sum();
        most = most.max(held() - before - i64::try_from(log).unwrap());
    }
    assert!(most < 12_000_000, "{most} bytes");
    honest.check();
}

#[test]
fn writers_with_long_leases_that_come_and_go_leave_nothing() {
    let lease = Duration::from_secs(1 << 30);
    let qos = EndpointQos { liveliness_lease: Some(lease), ..RELIABLE };
    let mut honest = Honest::new(8, RELIABLE, |_| 100);
    let mut foe = Foe::new(1);
    foe.greet(&mut honest.net, 1);
    for n in 0..1000u16 {
        let [a, b] = n.to_be_bytes();
        foe.create(&mut honest.net, 1, [0, a, b, 3], "t", qos);
        foe.withdraw(&mut honest.net, 1, [0, a, b, 3]);
    }
    honest.talk();
    honest.check();
}

#[test]
fn a_reader_that_moves_all_the_time_leaves_no_queues_behind() {
    let mut honest = Honest::new(9, RELIABLE, |n| if n == 0 { 100_000 } else { 100 });
    let mut foe = Foe::new(1);
    foe.greet(&mut honest.net, 0);
    foe.create(&mut honest.net, 0, READER, "t", RELIABLE);
    honest.talk();
    for port in 1000..1200 {
        let at = std::net::SocketAddr::new(foe.at.ip(), port);
        foe.create_at(&mut honest.net, 0, READER, "t", RELIABLE, &[at]);
        ask_whole(&mut foe, &mut honest.net, honest.writer, 1);
        honest.net.run(100 * MS);
    }
    honest.check();
}
