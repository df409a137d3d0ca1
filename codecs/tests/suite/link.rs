//! `mavlink.link`: what an autopilot hears from us.

use std::{net::SocketAddr, time::Duration};

use rostrans_codecs::mavlink::dialect::{
    Attitude, CommandAck, CommandLong, HomePosition, Message, RequestDataStream, Timesync,
};
use rostrans_core::rule::{SerialSpec, Source};
use rostrans_mavlink::Packet;
use serde_json::json;

use crate::support::{Bench, PEER, build, heartbeat, hex, rule, v2, zero};

const TARGET: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 5)), 20100);

/// Commands sent since the last look, with their first two parameters.
fn commands(bench: &mut Bench) -> Vec<(u16, f32, f32)> {
    let sent = bench.sent();
    let command = |(_, frame): &(_, Vec<u8>)| {
        let packet = Packet::parse(frame).unwrap();
        (packet.msgid == CommandLong::ID).then(|| {
            let m = CommandLong::decode(packet.payload);
            assert_eq!((m.target_system, m.target_component), (1, 1));
            (m.command, m.param1, m.param2)
        })
    };
    sent.iter().filter_map(command).collect()
}

fn of_type<M: Message>(sent: &[(Option<SocketAddr>, Vec<u8>)]) -> Vec<M> {
    let packets = sent.iter().map(|(_, frame)| Packet::parse(frame).unwrap());
    packets.filter(|p| p.msgid == M::ID).map(|p| M::decode(p.payload)).collect()
}

#[test]
fn heartbeat_is_that_of_mavros_once_a_second_to_the_target() {
    let mut bench = Bench::with_target("mavlink.link", json!({}), TARGET);
    bench.pass(Duration::from_secs(10));
    let sent = bench.sent();
    assert_eq!(sent[0], (Some(TARGET), hex("fd0900000001bf000000000000001208c0040377fd")));
    assert_eq!(sent.len(), 10);
    let seqs: Vec<u8> = sent.iter().map(|(_, frame)| Packet::parse(frame).unwrap().seq).collect();
    assert_eq!(seqs, (0..10).collect::<Vec<u8>>());
}

#[test]
fn without_a_target_the_vehicle_is_heard_first() {
    let mut bench = Bench::new("mavlink.link", json!({}));
    bench.pass(Duration::from_secs(3));
    assert_eq!(bench.sent(), []);
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_secs(1));
    let sent = bench.sent();
    assert!(!sent.is_empty() && sent.iter().all(|(to, _)| *to == Some(PEER)));
}

#[test]
fn serial_line_is_talked_to_from_the_start() {
    let mut rule = rule("mavlink.link", &json!({}));
    rule.source = Source::Serial(SerialSpec::new("/dev/ttyX", 57_600));
    let mut bench = Bench::of(&rule);
    bench.pass(Duration::from_millis(100));
    assert!(matches!(bench.sent().as_slice(), [(None, _)]));
}

#[test]
fn rates_and_ids_are_options() {
    let options = json!({"heartbeat_rate": 5, "own_sysid": 42, "own_compid": 240, "sysid": 9});
    let mut bench = Bench::with_target("mavlink.link", options, TARGET);
    bench.pass(Duration::from_secs(2));
    let sent = bench.sent();
    assert_eq!(sent.len(), 10);
    let packet = Packet::parse(&sent[0].1).unwrap();
    assert_eq!((packet.sysid, packet.compid), (42, 240));
    let mut silent = Bench::with_target("mavlink.link", json!({"heartbeat_rate": 0}), TARGET);
    silent.pass(Duration::from_secs(5));
    assert_eq!(silent.sent(), []);
}

#[test]
fn heartbeat_rate_that_cannot_be_kept_is_refused() {
    for rate_hz in [json!(1e-300), json!(0.001), json!(11), json!(1e300), json!(-1)] {
        let rule = rule("mavlink.link", &json!({ "heartbeat_rate": rate_hz }));
        let error = build(&rule, |codec, cx| codec.decoder(cx)).err().unwrap().to_string();
        assert!(error.starts_with("option 'heartbeat_rate': "), "{error}");
    }
}

#[test]
fn px4_is_asked_for_intervals_one_after_the_other() {
    let mut bench = Bench::with_target("mavlink.link", json!({"imu_rate": 200}), TARGET);
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_millis(500));
    assert_eq!(commands(&mut bench), [(511, 31.0, 5000.0)], "waits for the acknowledgement");
    // Another participant's acknowledgement is not ours.
    bench.message(&CommandAck { command: 511, target_system: 250, target_component: 1, ..zero() });
    bench.message(&CommandAck { command: 400, ..zero() });
    bench.pass(Duration::from_millis(200));
    assert_eq!(commands(&mut bench), []);
    bench.message(&CommandAck { command: 511, target_system: 1, target_component: 191, ..zero() });
    bench.pass(Duration::from_millis(100));
    assert_eq!(commands(&mut bench), [(511, 105.0, 5000.0)]);
}

#[test]
fn ardupilot_is_asked_for_streams() {
    let mut bench = Bench::with_target("mavlink.link", json!({"imu_rate": 50, "stream_rate": 4}), TARGET);
    bench.message(&heartbeat(3));
    bench.pass(Duration::from_secs(1));
    let streams = of_type::<RequestDataStream>(&bench.sent());
    let shown: Vec<(u8, u16, u8, u8)> = streams
        .iter()
        .map(|s| (s.req_stream_id, s.req_message_rate, s.start_stop, s.target_system))
        .collect();
    assert_eq!(shown, [(0, 4, 1, 1), (1, 50, 1, 1), (10, 50, 1, 1)]);
}

#[test]
fn vehicle_is_asked_again_after_a_silence_and_after_a_restart() {
    let first = (511, 31.0, 20_000.0);
    let mut bench = Bench::with_target("mavlink.link", json!({}), TARGET);
    let answer = |bench: &mut Bench| {
        for _ in 0..12 {
            bench.message(&CommandAck { command: 511, ..zero() });
            bench.pass(Duration::from_millis(100));
        }
        bench.message(&zero::<HomePosition>());
        bench.message(&Attitude { time_boot_ms: 60_000, ..zero() });
    };
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_millis(100));
    assert_eq!(commands(&mut bench)[0], first);
    answer(&mut bench);
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_secs(5));
    commands(&mut bench);
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_secs(1));
    assert_eq!(commands(&mut bench), [], "all is well");

    bench.pass(Duration::from_secs(11));
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_millis(100));
    assert_eq!(commands(&mut bench)[0], first, "back after a silence");
    answer(&mut bench);
    commands(&mut bench);

    bench.message(&Attitude { time_boot_ms: 59_500, ..zero() });
    bench.pass(Duration::from_millis(100));
    assert_eq!(commands(&mut bench), [], "messages overtook each other");
    bench.message(&Attitude { time_boot_ms: 900, ..zero() });
    bench.pass(Duration::from_millis(100));
    assert_eq!(commands(&mut bench)[0], first, "its clock started anew");
}

#[test]
fn restart_of_a_vehicle_that_streams_nothing_shows_in_its_time_sync() {
    let mut bench = Bench::with_target("mavlink.link", json!({}), TARGET);
    let streams = |bench: &mut Bench| of_type::<RequestDataStream>(&bench.sent()).len();
    let answer = |tc1| Timesync { tc1, ts1: 1, ..zero() };
    bench.message(&heartbeat(3));
    bench.message(&zero::<Attitude>());
    bench.pass(Duration::from_secs(2));
    bench.message(&answer(60_000_000_000));
    bench.message(&answer(0));
    bench.message(&answer(59_500_000_000));
    bench.message(&heartbeat(3));
    bench.pass(Duration::from_secs(2));
    assert_eq!(streams(&mut bench), 3, "asked once");

    bench.message(&answer(900_000_000));
    bench.message(&answer(1_000_000_000));
    bench.pass(Duration::from_secs(2));
    assert_eq!(streams(&mut bench), 3, "asked once more");
}

#[test]
fn home_is_asked_for_until_it_comes() {
    let mut bench = Bench::with_target("mavlink.link", json!({"imu_rate": 0}), TARGET);
    let homes = |bench: &mut Bench, seconds: u32| {
        let mut seen = Vec::new();
        for _ in 0..seconds {
            bench.message(&heartbeat(12));
            bench.pass(Duration::from_secs(1));
            seen.extend(commands(bench).into_iter().filter(|(c, ..)| *c != 511).map(|(c, p, _)| (c, p)));
        }
        seen
    };
    assert_eq!(homes(&mut bench, 25), [(512, 242.0), (410, 0.0), (512, 242.0)]);
    bench.message(&zero::<HomePosition>());
    assert_eq!(homes(&mut bench, 25), []);
}

#[test]
fn nothing_is_requested_when_switched_off_or_for_strangers() {
    let mut bench = Bench::with_target("mavlink.link", json!({"request_streams": false}), TARGET);
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_secs(30));
    assert_eq!(commands(&mut bench), []);
    let mut other = Bench::with_target("mavlink.link", json!({}), TARGET);
    other.frame(&v2(2, 1, &heartbeat(12))).unwrap();
    other.frame(&v2(1, 100, &heartbeat(8))).unwrap();
    other.pass(Duration::from_secs(5));
    assert_eq!(commands(&mut other), []);
}
