use rostrans_mavlink::{Sender as From, message, write_v2};

use super::*;

const EP0: &str = "127.0.0.1:14550";
const EP1: &str = "127.0.0.1:14552";

struct Bench {
    learner: Learner,
    start: Instant,
}

impl Bench {
    fn new() -> Self {
        Self { learner: Learner::new("r".into(), &[addr(EP0), addr(EP1)]), start: Instant::now() }
    }

    fn hear(&mut self, ms: u64, from: &str, bytes: &[u8]) -> Origin {
        self.learner.classify(addr(from), bytes, self.start + Duration::from_millis(ms))
    }

    fn upstream(&self, ms: u64, bytes: &[u8]) -> Vec<String> {
        let mut out = Vec::new();
        self.learner.upstream(bytes, self.start + Duration::from_millis(ms), |to| out.push(to.to_string()));
        out
    }

    fn fcu(&self) -> Option<String> {
        self.learner.fcu().map(|a| a.to_string())
    }
}

fn addr(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn frame(sysid: u8, compid: u8, msgid: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let from = From { seq: 0, sysid, compid };
    write_v2(&mut out, from, msgid, payload, message(msgid).unwrap().crc_extra).unwrap();
    out
}

/// HEARTBEAT of a PX4 quadrotor.
fn autopilot(sysid: u8) -> Vec<u8> {
    frame(sysid, 1, 0, &[0, 0, 0, 0, 2, 12, 0, 4, 3])
}

/// HEARTBEAT of a ground station.
fn station() -> Vec<u8> {
    frame(255, 190, 0, &[0, 0, 0, 0, 6, 8, 0, 4, 3])
}

fn command_for(sysid: u8) -> Vec<u8> {
    let mut payload = [0; 33];
    payload[30] = sysid;
    payload[32] = 1;
    frame(255, 190, 76, &payload)
}

#[test]
fn first_sender_that_is_no_endpoint_is_the_fcu() {
    let mut b = Bench::new();
    assert_eq!(b.hear(0, EP1, b"x"), Origin::Endpoint(1));
    assert_eq!((b.fcu(), b.upstream(0, b"x")), (None, vec![]));
    assert_eq!(b.hear(1, "10.0.0.1:5000", b"x"), Origin::Vehicle);
    assert_eq!(b.upstream(1, b"x"), ["10.0.0.1:5000"]);
    assert_eq!(b.hear(2, EP0, b"x"), Origin::Endpoint(0));
}

#[test]
fn other_host_replaces_the_fcu_only_after_five_seconds_of_silence() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.1:5000", b"x");
    for ms in [1, 1000, 4999] {
        assert_eq!(b.hear(ms, "10.0.0.2:5000", b"x"), Origin::Vehicle, "its bytes reach the endpoints");
        assert_eq!(b.upstream(ms, b"x"), ["10.0.0.1:5000"]);
    }
    b.hear(5000, "10.0.0.2:5000", b"x");
    assert_eq!(b.upstream(5000, b"x"), ["10.0.0.2:5000"]);
    b.hear(5001, "10.0.0.1:5000", b"x");
    assert_eq!(b.upstream(5001, b"x"), ["10.0.0.2:5000"], "the old one has to wait in turn");
}

#[test]
fn simulator_restart_on_the_same_host_is_relearned_after_a_second() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.1:5000", &autopilot(1));
    b.hear(999, "10.0.0.1:6000", &autopilot(1));
    assert_eq!(b.upstream(999, &command_for(1)), ["10.0.0.1:5000"]);
    b.hear(1000, "10.0.0.1:6000", &autopilot(1));
    for bytes in [command_for(1), command_for(0), station(), b"raw".to_vec()] {
        assert_eq!(b.upstream(1000, &bytes), ["10.0.0.1:6000"], "and the old address gets nothing");
    }
}

#[test]
fn rival_with_the_same_system_id_gets_nothing() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.1:5000", &autopilot(1));
    b.hear(10, "10.0.0.2:5000", &autopilot(1));
    b.hear(20, "10.0.0.1:5000", &autopilot(1));
    for bytes in [command_for(1), command_for(0), b"raw".to_vec()] {
        assert_eq!(b.upstream(30, &bytes), ["10.0.0.1:5000"]);
    }
}

#[test]
fn commands_find_their_vehicle_among_several() {
    let mut b = Bench::new();
    for (i, from) in (1..).zip(["10.0.0.1:1", "10.0.0.1:2", "10.0.0.1:3"]) {
        b.hear(0, from, &autopilot(i));
    }
    assert_eq!(b.upstream(1, &command_for(2)), ["10.0.0.1:2"]);
    assert_eq!(b.upstream(1, &[command_for(3), command_for(1)].concat()), ["10.0.0.1:1", "10.0.0.1:3"]);
    assert_eq!(b.upstream(1, &station()).len(), 3, "a heartbeat is for all");
    assert_eq!(b.upstream(1, &command_for(99)), ["10.0.0.1:1"], "unknown systems are the FCU's business");
    assert_eq!(b.upstream(1, b"raw"), ["10.0.0.1:1"]);
    assert_eq!(b.upstream(61_000, &station()), ["10.0.0.1:1"], "the others have gone");
}

#[test]
fn ground_station_on_another_port_is_heard_but_never_the_fcu() {
    let mut b = Bench::new();
    b.hear(0, "127.0.0.1:18570", &autopilot(1));
    assert_eq!(b.hear(1, "127.0.0.1:50000", &station()), Origin::Station);
    assert_eq!(b.hear(2, "127.0.0.1:50000", &command_for(1)), Origin::Station);
    assert_eq!(b.hear(9_000, "127.0.0.1:50000", b"raw"), Origin::Station, "it stays one");
    assert_eq!(b.upstream(9_000, b"raw"), ["127.0.0.1:18570"]);
}

#[test]
fn ground_station_that_came_first_yields_to_the_autopilot_at_once() {
    let mut b = Bench::new();
    assert_eq!(
        b.hear(0, "127.0.0.1:50000", &station()),
        Origin::Vehicle,
        "the first sender, for want of a better"
    );
    assert_eq!(b.upstream(0, b"x"), ["127.0.0.1:50000"]);
    assert_eq!(b.hear(1, "127.0.0.1:18570", &autopilot(1)), Origin::Vehicle);
    assert_eq!(b.upstream(1, &station()), ["127.0.0.1:18570"]);
    assert_eq!(b.hear(2, "127.0.0.1:50000", &station()), Origin::Station);
}

#[test]
fn sender_is_judged_by_later_datagrams_too() {
    let mut b = Bench::new();
    b.hear(0, "127.0.0.1:18570", &autopilot(1));
    assert_eq!(b.hear(1, "127.0.0.1:50000", &companion(255)), Origin::Vehicle);
    assert_eq!(b.hear(2, "127.0.0.1:50000", &station()), Origin::Station);
}

#[test]
fn flood_of_senders_is_bounded_and_keeps_the_fcu() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.1:5000", &autopilot(1));
    for port in 1..=2000_u16 {
        b.hear(
            u64::from(port),
            &format!("10.0.0.2:{port}"),
            &autopilot(u8::try_from(port % 200).unwrap() + 2),
        );
    }
    assert_eq!(b.learner.senders.len(), MAX_SENDERS);
    assert_eq!(b.learner.addrs.len(), MAX_SENDERS + 2);
    assert_eq!(b.upstream(2000, &command_for(1)), ["10.0.0.1:5000"]);
    assert_eq!(b.hear(2001, EP0, b"x"), Origin::Endpoint(0));
}

/// A frame of an autopilot's companion, which settles nothing about its sender.
fn companion(sysid: u8) -> Vec<u8> {
    frame(sysid, 191, 76, &[1; 33])
}

#[test]
fn route_without_mavlink_stays_transparent() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.1:5000", b"raw");
    assert_eq!(b.hear(1, "10.0.0.2:5000", b"other"), Origin::Vehicle);
    b.hear(5001, "10.0.0.3:5000", b"third");
    assert_eq!(b.fcu().as_deref(), Some("10.0.0.3:5000"));
}

#[test]
fn bytes_without_mavlink_neither_replace_a_flight_controller_nor_pass() {
    for first in [autopilot(1), companion(1)] {
        let mut b = Bench::new();
        assert_eq!(b.hear(0, "10.0.0.1:5000", &first), Origin::Vehicle);
        let mut broken = autopilot(1);
        broken[12] ^= 1;
        for (ms, bytes) in [(1, &b"raw"[..]), (2000, &[0xFD; 40]), (90_000, &broken), (90_001, b"")] {
            assert_eq!(b.hear(ms, "10.0.0.1:6000", bytes), Origin::Foreign, "same host, {ms} ms");
            assert_eq!(b.hear(ms, "10.0.0.2:5000", bytes), Origin::Foreign, "other host, {ms} ms");
        }
        assert_eq!(b.learner.senders.len(), 1, "nor are they remembered");
        assert_eq!(b.hear(90_002, "10.0.0.1:5000", b"shell"), Origin::Vehicle, "its own bytes pass");
        assert_eq!(b.hear(90_003, EP0, b"raw"), Origin::Endpoint(0), "and those of endpoints");
        let behind = [b"noise", &autopilot(1)[..]].concat();
        assert_eq!(b.hear(99_000, "10.0.0.1:6000", &behind), Origin::Vehicle);
        assert_eq!(b.fcu().as_deref(), Some("10.0.0.1:6000"), "a frame behind other bytes is one");
    }
}

#[test]
fn sender_met_before_the_flight_controller_spoke_mavlink_is_foreign_afterwards() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.1:5000", b"boot text");
    assert_eq!(b.hear(1, "10.0.0.2:5000", b"raw"), Origin::Vehicle);
    b.hear(2, "10.0.0.1:5000", &autopilot(1));
    assert_eq!(b.hear(3, "10.0.0.2:5000", b"raw"), Origin::Foreign);
    assert_eq!(b.hear(4, "10.0.0.2:5000", &autopilot(2)), Origin::Vehicle);
    assert_eq!(b.hear(5, "10.0.0.2:5000", b"raw"), Origin::Vehicle, "a vehicle from then on");
}

#[test]
fn autopilot_takes_the_place_of_a_sender_without_mavlink_at_once() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.2:5000", b"stray");
    assert_eq!(b.hear(1, "10.0.0.1:5000", &autopilot(1)), Origin::Vehicle);
    assert_eq!(b.upstream(1, b"x"), ["10.0.0.1:5000"]);
    assert_eq!(b.hear(2, "10.0.0.2:5000", b"stray"), Origin::Foreign);
}

#[test]
fn vehicle_moves_and_system_ids_are_claimed_only_with_a_valid_frame() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.1:5000", &autopilot(1));
    b.hear(0, "10.0.0.2:5000", &autopilot(2));
    let mut forged = autopilot(9);
    forged[12] ^= 1;
    assert_eq!(b.hear(9000, "10.0.0.2:5000", &forged), Origin::Vehicle);
    assert_eq!(b.fcu().as_deref(), Some("10.0.0.1:5000"));
    assert_eq!(b.upstream(9000, &command_for(9)), ["10.0.0.1:5000"]);
}

#[test]
fn silent_autopilot_keeps_its_place_against_senders_that_are_none() {
    for rival in ["10.0.0.1:6000", "10.0.0.2:5000"] {
        let mut b = Bench::new();
        b.hear(0, "10.0.0.1:5000", &autopilot(1));
        for ms in [1300, 9000, 90_000] {
            assert_eq!(b.hear(ms, rival, &companion(1)), Origin::Vehicle, "its bytes reach the endpoints");
            for bytes in [command_for(1), command_for(9), b"raw".to_vec()] {
                assert_eq!(b.upstream(ms, &bytes), ["10.0.0.1:5000"], "{rival} at {ms} ms");
            }
        }
        b.hear(90_001, rival, &[companion(1), autopilot(1)].concat());
        for bytes in [command_for(1), command_for(9), b"raw".to_vec()] {
            assert_eq!(b.upstream(90_001, &bytes), [rival], "an autopilot behind another frame is one");
        }
    }
}

#[test]
fn autopilot_takes_its_place_from_a_companion_at_once() {
    let mut b = Bench::new();
    b.hear(0, "10.0.0.1:6000", &companion(1));
    assert_eq!(b.upstream(0, &command_for(1)), ["10.0.0.1:6000"], "for want of a better");
    b.hear(1, "10.0.0.1:5000", &autopilot(1));
    b.hear(2, "10.0.0.1:6000", &companion(1));
    for bytes in [command_for(1), command_for(0), command_for(9), b"raw".to_vec()] {
        assert_eq!(b.upstream(2, &bytes), ["10.0.0.1:5000"]);
    }
}
