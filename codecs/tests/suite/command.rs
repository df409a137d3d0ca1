//! `mavlink.cmd` and `mavlink.set_mode`: services answered by the vehicle.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{CommandAck, CommandLong, RequestDataStream, SetMode};
use rostrans_core::{codec::CallId, rule::Target};
use serde_json::{Value, json};

use crate::support::{Bench, PEER, heartbeat, hex, lines, rule, v2, zero};

const PX4: u8 = 12;
const ARDUPILOT: u8 = 3;

fn connected(codec: &str, autopilot: u8) -> Bench {
    let mut bench = Bench::with_target(codec, json!({}), PEER);
    bench.message(&heartbeat(autopilot));
    bench
}

fn ack(command: u16, result: u8) -> CommandAck {
    CommandAck { command, result, ..zero() }
}

fn answer(bench: &mut Bench, call: CallId) -> Value {
    let mut answers = bench.answers();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].0, call);
    answers.remove(0).1
}

#[test]
fn arming_is_the_frame_of_the_reference_and_has_the_vehicles_result() {
    let mut bench = connected("mavlink.cmd", PX4);
    let call = bench.call("arming", &json!({"value": true}));
    let frames = bench.sent();
    let want =
        hex("fd2100000001bf4c00000000803f00000000000000000000000000000000000000000000000090010101013d7b");
    assert_eq!(frames.iter().map(|(_, f)| f.clone()).collect::<Vec<_>>(), [want]);
    assert_eq!(bench.answers(), []);
    bench.message(&ack(400, 2));
    assert_eq!(answer(&mut bench, call), json!({"success": false, "result": 2}));
    // A second acknowledgement finds nobody.
    bench.message(&ack(400, 0));
    assert_eq!(bench.answers(), []);
}

#[test]
fn without_a_vehicle_a_call_fails_at_once() {
    let mut bench = Bench::with_target("mavlink.cmd", json!({}), PEER);
    let call = bench.call("takeoff", &json!({"altitude": 10.0}));
    assert_eq!(answer(&mut bench, call), json!({"success": false, "result": 4}));
    assert!(bench.sent().is_empty());
}

#[test]
fn silence_is_answered_after_the_timeout_and_two_repetitions() {
    let mut bench = connected("mavlink.cmd", PX4);
    let call = bench.call("arming", &json!({"value": true}));
    bench.pass(Duration::from_millis(4900));
    let confirmations: Vec<u8> = bench.sent_of::<CommandLong>().iter().map(|m| m.confirmation).collect();
    assert_eq!(confirmations, [1, 2, 3]);
    assert_eq!(bench.answers(), []);
    bench.pass(Duration::from_millis(200));
    assert_eq!(answer(&mut bench, call), json!({"success": false, "result": 4}));
}

#[test]
fn command_of_unknown_effect_is_never_repeated() {
    let mut bench = connected("mavlink.cmd", PX4);
    bench.call("command", &json!({"command": 183, "param1": 1.0}));
    bench.call("command_int", &json!({"command": 192, "x": 473_977_420}));
    bench.pass(Duration::from_millis(4900));
    assert_eq!(bench.sent().len(), 2);
    bench.message(&ack(192, 0));
    bench.message(&ack(183, 1));
    let answers: Vec<Value> = bench.answers().into_iter().map(|(_, answer)| answer).collect();
    assert_eq!(answers, [json!({"success": true}), json!({"success": false, "result": 1})]);
}

#[test]
fn calls_run_beside_each_other_and_the_same_one_is_busy() {
    let mut bench = connected("mavlink.cmd", PX4);
    let arming = bench.call("arming", &json!({"value": true}));
    let land = bench.call("land", &json!({}));
    let again = bench.call("arming", &json!({"value": false}));
    assert_eq!(answer(&mut bench, again), json!({"success": false, "result": 1}));
    bench.message(&ack(21, 0));
    assert_eq!(answer(&mut bench, land), json!({"success": true, "result": 0}));
    bench.message(&ack(400, 0));
    assert_eq!(answer(&mut bench, arming), json!({"success": true, "result": 0}));
}

#[test]
fn broadcast_is_for_all_and_answered_at_once() {
    let mut bench = connected("mavlink.cmd", PX4);
    let call = bench.call("command", &json!({"broadcast": true, "command": 511, "confirmation": 2}));
    assert_eq!(answer(&mut bench, call), json!({"success": true, "result": 0}));
    let [m] = bench.sent_of::<CommandLong>().try_into().unwrap();
    assert_eq!((m.target_system, m.target_component, m.confirmation), (0, 0, 0));
}

#[test]
fn progress_extends_the_wait_for_the_answer() {
    let mut bench = connected("mavlink.cmd", PX4);
    let call = bench.call("takeoff", &json!({"altitude": 10.0}));
    for _ in 0..3 {
        bench.pass(Duration::from_secs(4));
        bench.message(&ack(22, 5));
        assert_eq!(bench.answers(), []);
    }
    bench.message(&ack(22, 0));
    assert_eq!(answer(&mut bench, call), json!({"success": true, "result": 0}));
}

#[test]
fn answers_of_and_to_others_do_not_count() {
    let mut bench = connected("mavlink.cmd", PX4);
    let call = bench.call("arming", &json!({"value": true}));
    bench.frame(&v2(2, 1, &ack(400, 2))).unwrap();
    bench.message(&CommandAck { target_system: 255, target_component: 190, ..ack(400, 2) });
    bench.message(&ack(22, 2));
    assert_eq!(bench.answers(), []);
    bench.message(&CommandAck { target_system: 1, target_component: 191, ..ack(400, 0) });
    assert_eq!(answer(&mut bench, call), json!({"success": true, "result": 0}));
}

#[test]
fn late_answer_to_arming_does_not_stand_for_disarming() {
    let mut bench = connected("mavlink.cmd", PX4);
    let arming = bench.call("arming", &json!({"value": true}));
    bench.pass(Duration::from_millis(5000));
    assert_eq!(answer(&mut bench, arming), json!({"success": false, "result": 4}));
    bench.sent();
    let disarming = bench.call("arming", &json!({"value": false}));
    assert_eq!(bench.sent().len(), 1, "disarming does not wait");
    bench.message(&ack(400, 0));
    assert_eq!(bench.answers(), []);
    bench.pass(Duration::from_millis(1500));
    assert_eq!(bench.sent_of::<CommandLong>()[0].confirmation, 2);
    bench.message(&ack(400, 0));
    assert_eq!(answer(&mut bench, disarming), json!({"success": true, "result": 0}));
}

#[test]
fn autopilots_that_may_not_acknowledge_are_not_waited_for() {
    const GENERIC: u8 = 0;
    let mut bench = connected("mavlink.cmd", GENERIC);
    let command = bench.call("command", &json!({"command": 183}));
    assert_eq!(answer(&mut bench, command), json!({"success": true, "result": 0}));
    let confirmed = bench.call("command", &json!({"command": 183, "confirmation": 1}));
    assert_eq!(bench.answers(), []);
    bench.message(&ack(183, 3));
    assert_eq!(answer(&mut bench, confirmed), json!({"success": false, "result": 3}));
    assert_eq!(bench.sent().len(), 2);
}

#[test]
fn broadcast_that_nobody_hears_fails() {
    let mut bench = Bench::new("mavlink.cmd", json!({}));
    let call = bench.call("command", &json!({"broadcast": true, "command": 511}));
    assert_eq!(answer(&mut bench, call), json!({"success": false, "result": 4}));
    assert!(lines()[0].contains("nobody was heard yet"));
}

#[test]
fn end_of_the_run_answers_what_is_open() {
    let mut bench = connected("mavlink.cmd", PX4);
    let call = bench.call("home_req_update", &json!({}));
    bench.close();
    assert_eq!(answer(&mut bench, call), json!({"success": false, "message": "MAV_RESULT 4"}));
}

#[test]
fn message_interval_is_in_microseconds_and_tells_a_refusal() {
    let mut bench = connected("mavlink.cmd", PX4);
    for (rate, interval) in [(50.0, 20_000.0), (0.0, 0.0), (-1.0, -1.0)] {
        let call = bench.call("set_message_interval", &json!({"message_id": 105, "message_rate": rate}));
        let [m] = bench.sent_of::<CommandLong>().try_into().unwrap();
        assert_eq!((m.command, m.param1, m.param2), (511, 105.0, interval));
        bench.message(&ack(511, 2));
        assert_eq!(answer(&mut bench, call), json!({"success": false}));
    }
}

#[test]
fn modes_have_the_names_and_numbers_of_the_vehicle() {
    for (autopilot, name, number) in [
        (PX4, "OFFBOARD", Some(393_216)),
        (PX4, "auto.rtl", Some(84_148_224)),
        (PX4, "0x40000", Some(0x40000)),
        (PX4, "010", Some(8)),
        (PX4, "NOSUCHMODE", None),
        (ARDUPILOT, "GUIDED", Some(4)),
        (ARDUPILOT, "15", Some(15)),
        (99, "15", None),
    ] {
        let mut bench = connected("mavlink.set_mode", autopilot);
        let call = bench.call("set_mode", &json!({"custom_mode": name}));
        assert_eq!(answer(&mut bench, call), json!({"mode_sent": number.is_some()}), "{name}");
        let modes: Vec<(u32, u8)> =
            bench.sent_of::<SetMode>().iter().map(|m| (m.custom_mode, m.base_mode)).collect();
        assert_eq!(modes, number.map(|n| (n, 1)).into_iter().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn armed_vehicle_stays_armed_when_its_mode_changes() {
    let mut bench = Bench::with_target("mavlink.set_mode", json!({}), PEER);
    let mut armed = heartbeat(PX4);
    armed.base_mode = 209;
    bench.frame(&v2(1, 1, &armed)).unwrap();
    bench.call("set_mode", &json!({"custom_mode": "OFFBOARD"}));
    let want = hex("fd0600000001bf0b00000000060001819cd2");
    assert_eq!(bench.sent().into_iter().map(|(_, f)| f).collect::<Vec<_>>(), [want]);
}

#[test]
fn stream_rate_asks_for_a_group_and_is_answered_at_once() {
    let mut bench = connected("mavlink.set_mode", ARDUPILOT);
    let call = bench.call("set_stream_rate", &json!({"stream_id": 0, "message_rate": 10, "on_off": true}));
    assert_eq!(answer(&mut bench, call), json!({}));
    let [m] = bench.sent_of::<RequestDataStream>().try_into().unwrap();
    assert_eq!((m.req_stream_id, m.req_message_rate, m.start_stop, m.target_system), (0, 10, 1, 1));
}

#[test]
fn answers_to_the_requests_of_the_link_are_no_answers_to_calls() {
    let mut requests = rule("mavlink.link", &json!({}));
    requests.links[0].target = Some(Target::Udp(PEER));
    let mut calls = rule("mavlink.cmd", &json!({}));
    calls.links[0].target = Some(Target::Udp(PEER));
    let (mut link, mut cmd) = Bench::two(&requests, &calls);
    let both = |link: &mut Bench, cmd: &mut Bench, message: &CommandAck| {
        link.message(message);
        cmd.message(message);
    };
    for bench in [&mut link, &mut cmd] {
        bench.message(&heartbeat(PX4));
    }
    link.pass(Duration::from_millis(100));
    cmd.pass(Duration::from_millis(100));
    let asked =
        |link: &mut Bench| link.sent_of::<CommandLong>().iter().map(|m| m.command).collect::<Vec<_>>();
    assert_eq!(asked(&mut link), [511]);

    // A user asks for a rate while the vehicle's answer to the link's own request is still to come.
    let call = cmd.call("set_message_interval", &json!({"message_id": 30, "message_rate": 50.0}));
    assert_eq!(cmd.sent_of::<CommandLong>().len(), 1, "the call does not wait");
    both(&mut link, &mut cmd, &ack(511, 0));
    assert_eq!(cmd.answers(), []);
    // The link asks for nothing more until the user has an answer.
    link.pass(Duration::from_millis(300));
    cmd.pass(Duration::from_millis(300));
    assert_eq!(asked(&mut link), Vec::<u16>::new());
    both(&mut link, &mut cmd, &ack(511, 2));
    assert_eq!(answer(&mut cmd, call), json!({"success": false}));
    link.pass(Duration::from_millis(100));
    assert_eq!(asked(&mut link), [511]);
}
