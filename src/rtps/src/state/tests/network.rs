//! Networks that change while participants talk.

use std::net::SocketAddr;
use std::time::Duration;

use super::sim::{BEST_EFFORT, KEEP_ALL, Link, Net, PERFECT, RELIABLE, numbers, payload};
use crate::state::{Inbox, Network, Reach};

const MINUTE: Duration = Duration::from_secs(60);

/// Gives a participant other addresses.
fn move_to(net: &mut Net, node: usize, ip: &str) -> Network {
    let ports = [7410, 7411].map(|port| SocketAddr::new(ip.parse().unwrap(), port));
    net.nodes[node].ports = ports;
    let network = Net::network(true, ports);
    net.act(node, |core, now, out| core.set_network(network.clone(), now, out, &mut Inbox::default()));
    network
}

#[test]
fn a_reliable_stream_survives_new_addresses_on_either_side() {
    for (seed, mover) in [(1, 0), (2, 1), (3, 0), (4, 1)] {
        let mut net = Net::new(seed, 2, true, Link { loss: 10, latency_ms: 2, ..PERFECT });
        let writer = net.writer(0, "t", KEEP_ALL);
        let (_, log) = net.reader(1, "t", KEEP_ALL);
        assert!(net.run_until(MINUTE, |net| net.matched(0, writer) == 1));
        for n in 0..60 {
            if n % 20 == 10 {
                move_to(&mut net, mover, &format!("10.0.0.{}", 100 + n));
            }
            net.write(0, writer, payload(n, 3000)).unwrap();
            net.run(Duration::from_millis(50));
        }
        assert!(net.run_until(MINUTE, |_| log.lock().unwrap().len() == 60), "seed {seed}");
        assert_eq!(numbers(&log, |_| 3000), (0..60).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn others_that_keep_an_old_discovery_address_are_left_and_met_anew() {
    let mut net = Net::new(4, 0, true, PERFECT);
    net.vendor = 0x10;
    (0..2).for_each(|place| net.add(place));
    let writer = net.writer(0, "t", RELIABLE);
    let (_, log) = net.reader(1, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) == 1));
    move_to(&mut net, 0, "10.0.0.100");
    assert_eq!(net.matched(0, writer), 0, "left");
    assert!(net.run_until(Duration::from_secs(2), |net| net.matched(0, writer) == 1), "met anew");
    net.write(0, writer, payload(1, 100)).unwrap();
    assert!(net.run_until(Duration::from_secs(1), |_| log.lock().unwrap().len() == 1));
}

#[test]
fn who_loses_the_network_keeps_its_addresses_and_peers() {
    let mut net = Net::new(9, 2, true, PERFECT);
    let writer = net.writer(0, "t", RELIABLE);
    net.reader(1, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) == 1));
    let before = Net::network(true, net.nodes[0].ports);
    let mut nothing = before.clone();
    nothing.own = Reach {
        metatraffic: vec!["127.0.0.1:7410".parse().unwrap()],
        user: vec!["127.0.0.1:7411".parse().unwrap()],
    };
    for network in [nothing, before] {
        net.act(0, |core, now, out| core.set_network(network, now, out, &mut Inbox::default()));
    }
    assert_eq!(net.matched(0, writer), 1);
    let own = net.nodes[0].core.snapshot().participants.len();
    let seen = net.nodes[1].core.snapshot().participants[0].locators.clone();
    assert_eq!((own, seen), (1, vec!["10.0.0.1:7411".parse().unwrap()]));
}

#[test]
fn nothing_goes_to_addresses_that_a_peer_has_left() {
    let mut net = Net::new(5, 2, true, PERFECT);
    let writer = net.writer(0, "t", BEST_EFFORT);
    let (_, log) = net.reader(1, "t", BEST_EFFORT);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) == 1));
    move_to(&mut net, 1, "10.0.0.200");
    net.run(Duration::from_millis(100));
    net.write(0, writer, payload(1, 100)).unwrap();
    net.run(Duration::from_millis(10));
    assert_eq!(numbers(&log, |_| 100), [1]);
    let graph = net.nodes[0].core.snapshot();
    assert_eq!(graph.participants[0].locators, ["10.0.0.200:7411".parse().unwrap()]);
    assert_eq!(net.matched(0, writer), 1, "the match was never undone");
}

#[test]
fn a_participant_that_joins_its_network_late_is_found_at_once() {
    let mut net = Net::new(6, 2, true, PERFECT);
    let ports = net.nodes[1].ports;
    net.nodes[1].ports = ["127.0.0.1:7412", "127.0.0.1:7413"].map(|a| a.parse().unwrap());
    let set = |net: &mut Net, network: Network| {
        net.act(1, |core, now, out| core.set_network(network, now, out, &mut Inbox::default()));
    };
    set(&mut net, Network::default());
    let writer = net.writer(0, "t", RELIABLE);
    net.reader(1, "t", RELIABLE);
    net.run(Duration::from_secs(10));
    assert_eq!(net.matched(0, writer), 0);
    net.nodes[1].ports = ports;
    set(&mut net, Net::network(true, ports));
    assert!(net.run_until(Duration::from_millis(100), |net| net.matched(0, writer) == 1));
}

#[test]
fn a_peer_of_another_host_learns_the_addresses_for_outside() {
    let mut net = Net::new(7, 2, true, PERFECT);
    let network = Net::network(true, net.nodes[1].ports);
    let own = ["127.0.0.1:7412", "127.0.0.1:7413"].map(|a| vec![a.parse().unwrap()]);
    let [metatraffic, user] = own;
    // Searches nobody; is reached over loopback.
    let shut = Network {
        own: Reach { metatraffic, user },
        outside: Some(network.own),
        announce_to: Vec::new(),
        local: network.local,
    };
    net.act(1, |core, now, out| core.set_network(shut, now, out, &mut Inbox::default()));
    let writer = net.writer(0, "t", RELIABLE);
    let (reader, _) = net.reader(1, "t", RELIABLE);
    assert!(net.run_until(MINUTE, |net| net.matched(0, writer) + net.matched_writers(1, reader) == 2));
    let graph = net.nodes[0].core.snapshot();
    assert_eq!(graph.participants[0].locators, ["10.0.0.2:7411".parse().unwrap()]);
}

#[test]
fn the_same_network_again_says_nothing() {
    let mut net = Net::new(8, 2, true, PERFECT);
    net.writer(0, "t", RELIABLE);
    net.run(Duration::from_secs(20));
    let network = Net::network(true, net.nodes[0].ports);
    net.capture = Some(Vec::new());
    net.act(0, |core, now, out| core.set_network(network, now, out, &mut Inbox::default()));
    assert_eq!(net.capture.map(|c| c.len()), Some(0));
}
