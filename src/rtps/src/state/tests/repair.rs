//! What writers answer readers that lack something.

use std::time::Duration;

use bytes::Bytes;

use super::sim::{BEST_EFFORT, KEEP_ALL, Link, Log, Net, PERFECT, RELIABLE, numbers, payload};
use crate::endpoint::{EndpointQos, History, WriteOptions};
use crate::guid::Guid;
use crate::state::Inbox;
use crate::wire::{AckNack, Encoder, Message, NackFrag, SequenceSet, Submessage};

const MINUTE: Duration = Duration::from_secs(60);
const KEEP_LAST_3: EndpointQos = EndpointQos { history: History::KeepLast(3), ..RELIABLE };

/// Two participants whose writer and reader have found each other.
fn pair(seed: u64, qos: EndpointQos) -> (Net, Guid, Guid, Log) {
    let mut net = Net::new(seed, 2, false, PERFECT);
    let writer = net.writer(0, "t", qos);
    let (reader, log) = net.reader(1, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(1, reader) == 2));
    net.run(Duration::from_secs(1));
    (net, writer, reader, log)
}

/// Counts the submessages on the wire for which `is` holds.
fn count(capture: &[Vec<u8>], is: impl Fn(&Submessage<'_>) -> bool) -> usize {
    let message = |bytes: &Vec<u8>| {
        let parsed = Message::parse(bytes).unwrap();
        parsed.submessages().filter(|s| is(s.as_ref().unwrap())).count()
    };
    capture.iter().map(message).sum()
}

/// Has the reader say something to the writer.
fn say(net: &mut Net, from: Guid, write: impl FnOnce(&mut Encoder<'_>)) {
    let mut bytes = Vec::new();
    write(&mut Encoder::new(&mut bytes, from.prefix));
    net.feed(0, &bytes, "127.0.0.1:7413".parse().unwrap());
}

/// Fast DDS readers hang for good when a GAP takes a sample of which they have some fragments.
#[test]
fn a_half_received_sample_is_given_up_by_heartbeat_and_never_by_gap() {
    for seed in 0..20 {
        let (mut net, writer, _, log) = pair(seed, KEEP_LAST_3);
        net.capture = Some(Vec::new());
        net.link = Link { loss: 40, latency_ms: 3, ..PERFECT };
        for n in 0..40 {
            net.write(0, writer, payload(n, 300_000)).unwrap();
            net.run(Duration::from_millis(2));
        }
        net.link = PERFECT;
        net.run(Duration::from_secs(5));
        let capture = net.capture.take().unwrap();
        assert!(count(&capture, |s| matches!(s, Submessage::NackFrag(_))) > 0, "seed {seed}");
        assert_eq!(count(&capture, |s| matches!(s, Submessage::Gap(_))), 0, "seed {seed}");
        assert_eq!(numbers(&log, |_| 300_000).last(), Some(&39), "seed {seed}");
    }
}

#[test]
fn a_reader_that_does_not_answer_is_only_asked_until_it_is_heard_again() {
    let (mut net, writer, _, log) = pair(7, KEEP_LAST_3);
    net.link = Link { loss: 100, ..PERFECT };
    let send = |net: &mut Net, from: u32, to: u32| {
        net.capture = Some(Vec::new());
        for n in from..to {
            net.write(0, writer, payload(n, 300_000)).unwrap();
            net.run(Duration::from_millis(20));
        }
        let capture = net.capture.take().unwrap();
        let [data, asks] = [
            count(&capture, |s| matches!(s, Submessage::DataFrag(_))),
            count(&capture, |s| matches!(s, Submessage::Heartbeat(h) if !h.is_final)),
        ];
        (data, asks)
    };
    let before = send(&mut net, 0, 40).0;
    assert!((5 * 3..5 * 5).contains(&before), "{before} fragments");
    let (data, asks) = send(&mut net, 40, 80);
    assert_eq!(data, 0);
    assert!(asks >= 10);
    net.link = PERFECT;
    net.run(Duration::from_secs(1));
    assert_eq!(numbers(&log, |_| 300_000), [77, 78, 79]);
    assert!(send(&mut net, 80, 90).0 >= 5 * 10);
    assert_eq!(numbers(&log, |_| 300_000).last(), Some(&89));
}

#[test]
fn what_goes_to_others_is_struck_in_ranges_without_a_list() {
    let mut net = Net::new(3, 3, false, PERFECT);
    let writer = net.writer(0, "t", KEEP_ALL);
    let (first, _) = net.reader(1, "t", RELIABLE);
    let (_, log) = net.reader(2, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) == 2));
    net.run(Duration::from_secs(1));
    (net.capture, net.link.loss) = (Some(Vec::new()), 100);
    for n in 0..20 {
        let only_to = (n % 3 != 0).then_some(first);
        net.write_with(0, writer, payload(n, 90), WriteOptions { only_to, ..WriteOptions::default() })
            .unwrap();
    }
    net.link.loss = 0;
    net.run(Duration::from_secs(2));
    let capture = net.capture.take().unwrap();
    assert!(count(&capture, |s| matches!(s, Submessage::Gap(_))) > 0);
    assert_eq!(count(&capture, |s| matches!(s, Submessage::Gap(g) if !g.list.is_empty())), 0);
    assert_eq!(numbers(&log, |_| 90), (0..20).step_by(3).collect::<Vec<_>>());
}

/// Fast DDS asks for fragments of every sample in one message, and again only after the next heartbeat.
#[test]
fn fragments_of_several_samples_are_sent_at_one_request() {
    let (mut net, writer, reader, _) = pair(1, KEEP_ALL);
    net.link.loss = 100;
    for n in 0..3 {
        net.write(0, writer, payload(n, 180_000)).unwrap();
    }
    net.run(Duration::from_millis(20));
    net.capture = Some(Vec::new());
    say(&mut net, reader, |e| {
        for seq in 1..=3 {
            let mut missing = crate::wire::FragmentSet::new(2);
            missing.insert(2);
            let count = i32::try_from(seq).unwrap();
            e.nack_frag(&NackFrag { reader: reader.entity, writer: writer.entity, seq, missing, count });
        }
    });
    net.run(Duration::from_millis(20));
    let sent = net.capture.take().unwrap();
    for seq in 1..=3 {
        let is_it = |s: &Submessage<'_>| matches!(s, Submessage::DataFrag(f) if (f.seq, f.first) == (seq, 2));
        assert_eq!(count(&sent, is_it), 1);
    }
}

fn acknack(reader: Guid, writer: Guid, base: i64, missing: &[i64], count: i32) -> AckNack {
    let mut set = SequenceSet::new(base);
    missing.iter().for_each(|seq| assert!(set.insert(*seq)));
    AckNack { reader: reader.entity, writer: writer.entity, missing: set, count, is_final: true }
}

/// Cyclone DDS counts from one again when it lost us for a while and we did not lose it.
#[test]
fn a_reader_that_counts_anew_is_heard() {
    let (mut net, writer, reader, _) = pair(2, KEEP_ALL);
    net.link.loss = 100;
    for n in 0..3 {
        net.write(0, writer, payload(n, 50)).unwrap();
    }
    say(&mut net, reader, |e| e.acknack(&acknack(reader, writer, 2, &[], 1_000_000)));
    net.capture = Some(Vec::new());
    let data = |s: &Submessage<'_>| matches!(s, Submessage::Data(d) if d.writer == writer.entity);
    say(&mut net, reader, |e| e.acknack(&acknack(reader, writer, 2, &[2, 3], 1)));
    net.run(Duration::from_millis(20));
    assert_eq!(count(net.capture.as_ref().unwrap(), data), 0, "an overtaken request");
    net.run(Duration::from_millis(500));
    say(&mut net, reader, |e| e.acknack(&acknack(reader, writer, 2, &[2, 3], 1)));
    net.run(Duration::from_millis(20));
    assert_eq!(count(net.capture.as_ref().unwrap(), data), 2);
}

#[test]
fn a_reader_that_begins_anew_is_told_until_it_has_caught_up() {
    let (mut net, writer, reader, _) = pair(4, KEEP_LAST_3);
    for n in 0..9 {
        net.write(0, writer, payload(n, 50)).unwrap();
        net.run(Duration::from_millis(20));
    }
    net.run(Duration::from_secs(1));
    net.link.loss = 100;
    say(&mut net, reader, |e| e.acknack(&acknack(reader, writer, 1, &[], 1)));
    net.capture = Some(Vec::new());
    net.run(Duration::from_secs(1));
    let told = |s: &Submessage<'_>| matches!(s, Submessage::Heartbeat(h) if h.writer == writer.entity && (h.first, h.last) == (10, 9));
    assert!(count(net.capture.as_ref().unwrap(), told) > 10);
}

/// A participant whose announcements come back after its lease, itself unaware that it was lost.
#[test]
fn a_writer_that_was_lost_for_a_while_is_read_on() {
    for qos in [KEEP_LAST_3, KEEP_ALL] {
        let (mut net, writer, reader, log) = pair(5, qos);
        let write = |net: &mut Net, numbers: std::ops::Range<u32>| {
            for n in numbers {
                net.write(0, writer, payload(n, 50)).unwrap();
                net.run(Duration::from_millis(20));
            }
        };
        write(&mut net, 0..8);
        // Its datagrams are lost on the way to the reader only, so that one side drops the other.
        net.faults.cuts.insert((0, 1));
        net.run(Duration::from_secs(22));
        assert_eq!((net.matched_writers(1, reader), net.matched(0, writer)), (0, 1));
        net.faults.cuts.clear();
        assert!(net.run_until(MINUTE, |net| net.matched_writers(1, reader) == 1));
        net.run(Duration::from_secs(1));
        write(&mut net, 8..10);
        net.run(Duration::from_secs(1));
        assert_eq!(numbers(&log, |_| 50), (0..10).collect::<Vec<_>>());
        assert_eq!(net.nodes[1].counters.snapshot().lost, 0);
    }
}

#[test]
fn a_reader_that_lost_us_for_a_while_gets_nothing_twice() {
    let (mut net, writer, reader, log) = pair(6, KEEP_LAST_3);
    for n in 0..5 {
        net.write(0, writer, payload(n, 50)).unwrap();
        net.run(Duration::from_millis(20));
    }
    net.run(Duration::from_secs(1));
    say(&mut net, reader, |e| e.acknack(&acknack(reader, writer, 1, &[3, 4, 5], 900)));
    net.capture = Some(Vec::new());
    net.run(Duration::from_secs(1));
    let sent = net.capture.take().unwrap();
    assert_eq!(count(&sent, |s| matches!(s, Submessage::Data(d) if d.writer == writer.entity)), 0);
    assert!(
        count(&sent, |s| matches!(s, Submessage::Heartbeat(h) if h.writer == writer.entity && h.first == 6))
            > 0
    );
    assert_eq!(numbers(&log, |_| 50), (0..5).collect::<Vec<_>>());
}

#[test]
fn peers_are_not_dropped_for_the_time_we_were_stopped() {
    let (mut net, writer, reader, log) = pair(7, RELIABLE);
    net.nodes[0].paused = Some(net.now + Duration::from_secs(45));
    net.run(Duration::from_secs(15));
    net.nodes[1].paused = Some(net.now + Duration::from_secs(30));
    net.run(Duration::from_secs(30));
    net.run(Duration::from_millis(500));
    net.write(0, writer, payload(0, 50)).unwrap();
    net.run(Duration::from_secs(2));
    assert_eq!((net.matched_writers(1, reader), net.matched(0, writer)), (1, 1));
    assert_eq!(numbers(&log, |_| 50), [0]);
}

#[test]
fn an_invitation_is_repeated_until_a_heartbeat_comes() {
    let mut net = Net::new(8, 2, false, PERFECT);
    net.run(Duration::from_secs(5));
    net.capture = Some(Vec::new());
    net.link.loss = 100;
    let (reader, _) = net.reader(1, "t", RELIABLE);
    let writer = net.writer(0, "t", RELIABLE);
    net.run(Duration::from_secs(1));
    net.link.loss = 0;
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(1, reader) == 2));
    net.run(Duration::from_secs(9));
    net.capture = Some(Vec::new());
    net.run(Duration::from_secs(20));
    let asked = |s: &Submessage<'_>| matches!(s, Submessage::AckNack(_));
    assert_eq!(count(net.capture.as_ref().unwrap(), asked), 0, "heard, so it is quiet");
}

/// Cyclone DDS takes all up to the first heartbeat it sees as past; others lose what comes before they know the writer.
#[test]
fn a_reader_counts_once_it_knows_the_writer_and_gets_all_from_then_on() {
    for seed in 0..50 {
        let mut net = Net::new(seed, 2, false, Link { loss: 30, latency_ms: 5, jitter_ms: 40, ..PERFECT });
        let writer = net.writer(0, "t", RELIABLE);
        let (reader, log) = net.reader(1, "t", RELIABLE);
        assert!(net.run_until(MINUTE, |net| net.matched(0, writer) == 1), "seed {seed}");
        assert_eq!(net.matched_writers(1, reader), 1, "seed {seed}");
        net.write(0, writer, payload(1, 100)).unwrap();
        assert!(net.run_until(MINUTE, |_| numbers(&log, |_| 100) == [1]), "seed {seed}");
    }
}

/// The send thread hands over a batch without the lock; a best-effort reader gives up what is overtaken.
#[test]
fn nothing_overtakes_the_end_of_a_big_sample_on_its_way_to_the_socket() {
    let mut net = Net::new(9, 2, false, PERFECT);
    let writer = net.writer(0, "t", BEST_EFFORT);
    let (reader, log) = net.reader(1, "t", BEST_EFFORT);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(1, reader) == 2));
    net.run(Duration::from_secs(1));
    net.write(0, writer, payload(0, 61_000)).unwrap();
    while net.act(0, |core, _, _| !core.is_flying()) {
        net.now += Duration::from_micros(100);
        net.act(0, |core, now, out| core.poll(now, out, &mut Inbox::default()));
    }
    let small = Bytes::from(payload(1, 61_000)).slice(..100);
    let sent = net.act(0, |core, now, out| {
        let before = out.iter().count();
        core.write(writer.entity, &small, WriteOptions::default(), 1, now, out).unwrap();
        out.iter().count() - before
    });
    assert_eq!(sent, 0, "sent at once");
    net.run(Duration::from_secs(1));
    assert_eq!(log.lock().unwrap().iter().map(|s| s.seq).collect::<Vec<_>>(), [1, 2]);
}

/// Answers go to announced addresses only: a reply locator would let anybody aim them at others.
#[test]
fn reply_locators_are_read_over_and_not_followed() {
    let (mut net, writer, reader, _) = pair(10, KEEP_ALL);
    net.write(0, writer, payload(0, 50)).unwrap();
    let stranger: std::net::SocketAddr = "127.0.0.1:7419".parse().unwrap();
    // INFO_REPLY with one UDPv4 locator, and its IPv4 form, big endian both.
    let mut locator =
        vec![0, 0, 0, 1, 0, 0, stranger.port().to_be_bytes()[0], stranger.port().to_be_bytes()[1]];
    locator.extend([0; 12]);
    locator.extend([127, 0, 0, 1]);
    let mut bytes = Vec::new();
    Encoder::new(&mut bytes, reader.prefix);
    bytes.extend([0x0f, 0, 0, 28, 0, 0, 0, 1]);
    bytes.extend(&locator);
    bytes.extend([0x0d, 0, 0, 8, 127, 0, 0, 1, 0, 0, 0x1c, 0xfb]);
    let mut asking = Vec::new();
    Encoder::new(&mut asking, reader.prefix).acknack(&acknack(reader, writer, 1, &[1], 1_000_000));
    bytes.extend(&asking[20..]);
    net.capture = Some(Vec::new());
    let malformed = net.nodes[0].counters.snapshot().malformed;
    let to_stranger = net.act(0, |core, now, out| {
        core.handle(&bytes, stranger, now, out, &mut Inbox::default());
        core.flush(now, out);
        core.poll(now + Duration::from_millis(5), out, &mut Inbox::default());
        out.iter().filter(|(to, _, _)| *to == stranger).count()
    });
    assert_eq!((to_stranger, net.nodes[0].counters.snapshot().malformed), (0, malformed));
    let data = |s: &Submessage<'_>| matches!(s, Submessage::Data(d) if d.writer == writer.entity);
    assert_eq!(count(net.capture.as_ref().unwrap(), data), 1, "the request behind them is served");
}
