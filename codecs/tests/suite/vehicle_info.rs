//! `mavlink.vehicle_info`: version, capabilities, and the table of what was heard.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{AutopilotVersion, CommandLong, Message};
use rostrans_mavlink::Packet;
use serde_json::{Value, json};

use crate::support::{Bench, PEER, all_lines, heartbeat, v2, zero};

fn bench() -> Bench {
    Bench::with_target("mavlink.vehicle_info", json!({"conn_timeout": 5}), PEER)
}

/// Commands sent since the last look: number, first parameter, target.
fn commands(bench: &mut Bench) -> Vec<(u16, f32, u8)> {
    let command = |(_, frame): (_, Vec<u8>)| {
        let packet = Packet::parse(&frame).unwrap();
        assert_eq!(packet.msgid, CommandLong::ID);
        let m = CommandLong::decode(packet.payload);
        (m.command, m.param1, m.target_system)
    };
    bench.sent().into_iter().map(command).collect()
}

fn version() -> AutopilotVersion {
    AutopilotVersion {
        capabilities: 0x2_00ef,
        flight_sw_version: 0x010f_00ff,
        flight_custom_version: [1, 2, 3, 4, 5, 6, 7, 0xab],
        uid: 77,
        ..zero()
    }
}

fn get(bench: &mut Bench, request: Value) -> Value {
    bench.call("vehicle_info_get", &request);
    bench.answers().remove(0).1
}

#[test]
fn version_is_asked_for_in_both_ways_until_it_comes() {
    let mut bench = bench();
    bench.message(&heartbeat(12));
    assert_eq!(commands(&mut bench), [(520, 1.0, 0), (512, 148.0, 0)]);
    bench.pass(Duration::from_secs(1));
    assert_eq!(commands(&mut bench).len(), 2);
    bench.message(&version());
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_secs(4));
    assert_eq!(commands(&mut bench), []);
}

#[test]
fn silent_vehicle_is_asked_seven_times_from_the_fourth_on_by_its_ids() {
    let mut bench = bench();
    for _ in 0..30 {
        bench.message(&heartbeat(12));
        bench.pass(Duration::from_secs(1));
    }
    let targets: Vec<u8> = commands(&mut bench).iter().map(|(.., target)| *target).collect();
    assert_eq!(targets, [[0; 6].as_slice(), [1; 8].as_slice()].concat());
}

#[test]
fn table_holds_each_component_until_the_vehicle_is_lost() {
    let mut bench = bench();
    assert_eq!(get(&mut bench, json!({}))["success"], false);
    bench.message(&heartbeat(12));
    bench.message(&version());
    bench.frame(&v2(1, 154, &heartbeat(8))).unwrap();
    bench.frame(&v2(2, 1, &heartbeat(12))).unwrap();
    let answer = get(&mut bench, json!({"sysid": 0, "compid": 0}));
    let vehicle = &answer["vehicles"][0];
    assert_eq!((&answer["success"], &vehicle["available_info"]), (&json!(true), &json!(3)));
    assert_eq!((&vehicle["sysid"], &vehicle["compid"]), (&json!(1), &json!(1)));
    assert_eq!(vehicle["flight_custom_version"], "ab07060504030201");
    assert_eq!((&vehicle["capabilities"], &vehicle["uid"]), (&json!(0x2_00ef), &json!(77)));
    assert_eq!(
        (&vehicle["autopilot"], &vehicle["type"], &vehicle["mode"]),
        (&json!(12), &json!(2), &json!("MANUAL"))
    );
    let gimbal = get(&mut bench, json!({"sysid": 1, "compid": 154}));
    assert_eq!(gimbal["vehicles"][0]["available_info"], 1);
    assert_eq!(get(&mut bench, json!({"get_all": true}))["vehicles"].as_array().unwrap().len(), 2);
    assert_eq!(get(&mut bench, json!({"sysid": 9, "compid": 9}))["success"], false);
    bench.pass(Duration::from_secs(6));
    assert_eq!(get(&mut bench, json!({"get_all": true}))["vehicles"], json!([]));
    commands(&mut bench);
    bench.message(&heartbeat(12));
    assert_eq!(commands(&mut bench).len(), 2, "asked again");
}

#[test]
fn version_that_changes_all_the_time_does_not_flood_the_log() {
    let mut bench = bench();
    bench.message(&heartbeat(12));
    all_lines();
    for change in 0..1000_u32 {
        bench.message(&AutopilotVersion {
            capabilities: change.into(),
            flight_sw_version: change << 8,
            ..version()
        });
    }
    let told =
        |lines: Vec<String>| lines.into_iter().filter(|line| line.starts_with("VER")).collect::<Vec<_>>();
    let lines = told(all_lines());
    assert_eq!(lines.len(), 1, "{lines:?}");
    for _ in 0..11 {
        bench.pass(Duration::from_secs(1));
        bench.message(&heartbeat(12));
    }
    let lines = told(all_lines());
    assert_eq!(lines.len(), 1, "the last one counts: {lines:?}");
    assert!(lines[0].starts_with("VER: flight software 0.3.231 (00)"), "{lines:?}");
}
