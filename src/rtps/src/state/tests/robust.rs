use std::time::Duration;

use proptest::prelude::*;

use super::sim::{BEST_EFFORT, KEEP_ALL, LATCHED, Link, Net, PERFECT, RELIABLE, Rng, numbers, payload};
use crate::endpoint::{EndpointQos, History};

/// Everything two participants say to each other while they find each other and exchange samples of all kinds.
fn captured(seed: u64) -> Vec<Vec<u8>> {
    let mut net = Net::new(seed, 2, true, Link { loss: 10, ..PERFECT });
    net.capture = Some(Vec::new());
    let writers =
        [net.writer(0, "a", KEEP_ALL), net.writer(0, "b", BEST_EFFORT), net.writer(0, "c", LATCHED)];
    let readers =
        [net.reader(1, "a", RELIABLE), net.reader(1, "b", BEST_EFFORT), net.reader(1, "c", LATCHED)];
    net.run(Duration::from_secs(3));
    for n in 0..10 {
        for writer in writers {
            net.write(0, writer, payload(n, if n == 5 { 20_000 } else { 100 })).unwrap();
        }
        net.run(Duration::from_millis(100));
    }
    net.act(1, |core, now, out| core.remove_reader(readers[0].0.entity, now, out).is_some());
    net.act(1, |core, now, out| core.close(now, out).len());
    net.capture.take().unwrap()
}

pub(super) fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = usize::try_from(rng.below(bytes.len() as u64)).unwrap();
    match rng.below(4) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.next().to_le_bytes()[0],
        2 => bytes.truncate(at),
        _ => {
            let tail = bytes.split_off(at);
            bytes.extend(rng.next().to_le_bytes());
            bytes.extend(tail);
        }
    }
}

#[test]
fn a_storm_of_broken_datagrams_changes_nothing_for_others() {
    let mut storm = captured(1);
    storm.extend(captured(2));
    storm.extend(super::captures::all().map(<[u8]>::to_vec));
    let mut net = Net::new(9, 2, true, PERFECT);
    let writer = net.writer(0, "mine", RELIABLE);
    let (reader, log) = net.reader(1, "mine", RELIABLE);
    assert!(
        net.run_until(Duration::from_secs(9), |net| net.matched(0, writer) + net.matched_writers(1, reader)
            == 2)
    );
    net.run(Duration::from_secs(1));
    let from = "10.0.0.9:9999".parse().unwrap();
    let mut rng = Rng(3);
    for n in 0..100 {
        for _ in 0..500 {
            let mut bytes = storm[usize::try_from(rng.below(storm.len() as u64)).unwrap()].clone();
            for _ in 0..=rng.below(4) {
                if !bytes.is_empty() {
                    mutate(&mut bytes, &mut rng);
                }
            }
            net.feed(0, &bytes, from);
            net.feed(1, &bytes, from);
        }
        net.write(0, writer, payload(n, 1000)).unwrap();
        net.run(Duration::from_millis(20));
    }
    net.run(Duration::from_secs(1));
    assert_eq!(numbers(&log, |_| 1000), (0..100).collect::<Vec<_>>());
    for node in &net.nodes {
        let stats = node.counters.snapshot();
        assert!(stats.malformed > 1000, "{stats:?}");
        assert!(node.core.is_bounded(), "{stats:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_datagrams_leave_the_state_bounded(data in prop::collection::vec(any::<u8>(), 0..4000)) {
        crate::fuzzing::datagrams(&data);
    }

    #[test]
    fn damaged_traffic_leaves_the_state_bounded(seed in any::<u64>()) {
        let mut rng = Rng(seed);
        let mut data = Vec::new();
        for mut bytes in captured(7).into_iter().filter(|b| b.len() < 3000) {
            bytes.drain(..20);
            (0..rng.below(3)).for_each(|_| if !bytes.is_empty() { mutate(&mut bytes, &mut rng) });
            data.extend(u16::try_from(bytes.len()).unwrap().to_le_bytes());
            data.extend(bytes);
        }
        crate::fuzzing::datagrams(&data);
    }
}

#[test]
fn samples_of_another_writer_pass_between_the_fragments_of_a_big_one() {
    for (lan, qos) in [(true, BEST_EFFORT), (true, RELIABLE), (false, BEST_EFFORT), (false, RELIABLE)] {
        let mut net = Net::new(1, 2, lan, PERFECT);
        let (image, scan) = (net.writer(0, "image", qos), net.writer(0, "scan", qos));
        let ((_, images), (_, scans)) = (net.reader(1, "image", qos), net.reader(1, "scan", qos));
        let matched = |net: &Net| net.matched(0, image) == 1 && net.matched(0, scan) == 1;
        assert!(net.run_until(Duration::from_secs(5), matched));
        net.run(Duration::from_secs(1));
        for n in 0..3 {
            net.write(0, image, payload(n, 2_700_000)).unwrap();
        }
        // Telemetry in one datagram, a scan in fragments, telemetry behind it.
        for (n, len) in [(0, 100), (1, 80_000), (2, 100)] {
            net.write(0, scan, payload(n, len)).unwrap();
        }
        let start = net.now;
        assert!(net.run_until(Duration::from_secs(5), |_| scans.lock().unwrap().len() == 3));
        let waited = net.now - start;
        assert!(waited < Duration::from_millis(2), "lan {lan} {qos:?}: {waited:?}");
        assert!(net.run_until(Duration::from_secs(5), |_| images.lock().unwrap().len() == 3));
        assert_eq!(numbers(&images, |_| 2_700_000), [0, 1, 2]);
    }
}

#[test]
fn images_written_faster_than_they_leave_arrive_whole_now_and_then() {
    for qos in [BEST_EFFORT, RELIABLE] {
        let qos = EndpointQos { history: History::KeepLast(5), ..qos };
        let mut net = Net::new(1, 0, true, PERFECT);
        // Waiting samples raise the rate to four times this, half of what is written.
        net.pace_bytes_per_s = 2_000_000;
        (0..2).for_each(|place| net.add(place));
        let writer = net.writer(0, "image", qos);
        let (_, log) = net.reader(1, "image", qos);
        assert!(net.run_until(Duration::from_secs(5), |net| net.matched(0, writer) == 1));
        net.run(Duration::from_secs(1));
        for n in 0..60 {
            net.write(0, writer, payload(n, 540_000)).unwrap();
            net.run(Duration::from_millis(33));
        }
        let whole = numbers(&log, |_| 540_000).len();
        assert!(whole > 20, "{qos:?}: {whole} of 60");
    }
}
