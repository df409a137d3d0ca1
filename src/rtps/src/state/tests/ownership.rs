use super::qos::{SECOND, announce, ms};
use super::sim::{Net, PERFECT, RELIABLE, numbers, payload, spec};
use crate::endpoint::{EndpointQos, Ownership};
use crate::graph::Liveliness;

fn exclusive(strength: i32) -> EndpointQos {
    EndpointQos {
        ownership: Ownership::Exclusive { strength },
        liveliness: Liveliness::ManualByTopic,
        liveliness_lease: Some(SECOND),
        ..RELIABLE
    }
}

#[test]
fn the_strongest_writer_that_lives_owns_the_topic() {
    let mut net = Net::new(11, 3, false, PERFECT);
    let (weak, strong) = (net.writer(0, "t", exclusive(1)), net.writer(1, "t", exclusive(5)));
    let (reader, log) = net.reader(2, "t", EndpointQos { liveliness_lease: None, ..exclusive(0) });
    assert!(net.run_until(10 * SECOND, |net| net.matched_writers(2, reader) == 2));
    net.run(SECOND);
    let mut n = 0;
    let mut say = |net: &mut Net, node, writer| {
        net.write(node, writer, payload(n, 40)).unwrap();
        net.run(ms(100));
        n += 1;
    };
    // A stronger one that says nothing owns nothing.
    say(&mut net, 0, weak);
    say(&mut net, 0, weak);
    for _ in 0..3 {
        say(&mut net, 1, strong);
        say(&mut net, 0, weak);
    }
    assert_eq!(numbers(&log, |_| 40), [0, 1, 2, 4, 6]);
    // It is silent for its lease.
    for _ in 0..12 {
        say(&mut net, 0, weak);
    }
    assert_eq!(numbers(&log, |_| 40)[5..], [17, 18, 19]);
    say(&mut net, 1, strong);
    say(&mut net, 0, weak);
    net.act(1, |core, now, out| core.remove_writer(strong.entity, now, out));
    net.run(ms(100));
    say(&mut net, 0, weak);
    assert_eq!(numbers(&log, |_| 40)[8..], [20, 22]);
}

#[test]
fn among_equals_the_lower_id_owns_the_topic_for_every_reader() {
    for seed in 0..5 {
        let mut net = Net::new(seed, 3, false, PERFECT);
        let mut writers = [(0, net.writer(0, "t", exclusive(3))), (1, net.writer(1, "t", exclusive(3)))];
        let (reader, log) = net.reader(2, "t", EndpointQos { liveliness_lease: None, ..exclusive(0) });
        assert!(net.run_until(10 * SECOND, |net| net.matched_writers(2, reader) == 2));
        net.run(SECOND);
        writers.sort_by_key(|(_, guid)| *guid);
        let [(low, first), (high, second)] = writers;
        for (n, (node, writer)) in [(high, second), (low, first), (high, second)].into_iter().enumerate() {
            net.write(node, writer, payload(u32::try_from(n).unwrap(), 40)).unwrap();
            net.run(ms(50));
        }
        assert_eq!(numbers(&log, |_| 40), [0, 1]);
    }
}

#[test]
fn an_owner_that_misses_the_deadline_makes_room() {
    let mut net = Net::new(12, 3, false, PERFECT);
    let qos = |strength| EndpointQos {
        deadline: Some(ms(500)),
        liveliness: Liveliness::Automatic,
        liveliness_lease: None,
        ..exclusive(strength)
    };
    let (weak, strong) = (net.writer(0, "t", qos(1)), net.writer(1, "t", qos(5)));
    let (reader, log) = net.reader(2, "t", qos(0));
    assert!(net.run_until(10 * SECOND, |net| net.matched_writers(2, reader) == 2));
    net.run(SECOND);
    net.write(1, strong, payload(0, 40)).unwrap();
    net.run(ms(50));
    for n in 1..9 {
        net.write(0, weak, payload(n, 40)).unwrap();
        net.run(ms(100));
    }
    assert_eq!(numbers(&log, |_| 40), [0, 6, 7, 8]);
}

#[test]
fn a_new_strength_counts_from_the_next_sample_on() {
    let mut net = Net::new(15, 2, false, PERFECT);
    let (first, second) = (net.writer(0, "t", exclusive(1)), net.writer(0, "t", exclusive(5)));
    let (reader, log) = net.reader(1, "t", EndpointQos { liveliness_lease: None, ..exclusive(0) });
    assert!(net.run_until(10 * SECOND, |net| net.matched_writers(1, reader) == 2));
    net.run(SECOND);
    for (n, writer) in [(0, second), (1, first)] {
        net.write(0, writer, payload(n, 40)).unwrap();
    }
    announce(&mut net, first, &spec("t", exclusive(9)));
    for (n, writer) in [(2, first), (3, second), (4, first)] {
        net.write(0, writer, payload(n, 40)).unwrap();
    }
    net.run(ms(100));
    assert_eq!(numbers(&log, |_| 40), [0, 2, 4]);
}
