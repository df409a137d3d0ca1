//! Setpoints that a vehicle flies after, and what users read when it does not.

use std::{
    f64::consts::{FRAC_PI_2, PI},
    time::Duration,
};

use proptest::prelude::*;
use rostrans_codecs::mavlink::dialect::{
    CommandAck, Message, PositionTargetGlobalInt, PositionTargetLocalNed, SetPositionTargetGlobalInt,
    SetPositionTargetLocalNed, Statustext,
};
use rostrans_core::rule::{ForwardRule, Target};
use rostrans_mavlink::Packet;
use serde_json::{Value, json};

use crate::support::{Bench, PEER, heartbeat, lines, rule, zero};

const PX4: u8 = 12;
const ARDUPILOT: u8 = 3;

fn to_peer(codec: &str) -> ForwardRule {
    let mut rule = rule(codec, &json!({}));
    rule.links[0].target = Some(Target::Udp(PEER));
    rule
}

/// Modes and setpoints of one vehicle.
fn vehicle(autopilot: u8) -> (Bench, Bench) {
    let (mut modes, setpoints) =
        Bench::two(&to_peer("mavlink.set_mode"), &to_peer("mavlink.setpoint_position"));
    modes.message(&heartbeat(autopilot));
    lines();
    (modes, setpoints)
}

fn stream(modes: &mut Bench, setpoints: &mut Bench, times: usize) {
    for _ in 0..times {
        setpoints.sample("local", &json!({"pose": {"orientation": {"w": 1.0}}})).unwrap();
        modes.skip(Duration::from_millis(100));
        setpoints.skip(Duration::from_millis(100));
    }
}

#[test]
fn offboard_without_setpoints_is_sent_and_explained() {
    let (mut modes, _) = vehicle(PX4);
    modes.call("set_mode", &json!({"custom_mode": "OFFBOARD"}));
    assert_eq!(modes.answers()[0].1, json!({"mode_sent": true}));
    let told = lines();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("OFFBOARD will be refused") && told[0].contains("no setpoints are coming"));
    // A program that asks again and again is told every ten seconds.
    modes.call("set_mode", &json!({"custom_mode": "OFFBOARD"}));
    assert_eq!(lines(), [] as [&str; 0]);
}

#[test]
fn offboard_needs_a_second_of_setpoints_that_go_on() {
    let (mut modes, mut setpoints) = vehicle(PX4);
    stream(&mut modes, &mut setpoints, 3);
    modes.call("set_mode", &json!({"custom_mode": "OFFBOARD"}));
    assert!(lines()[0].contains("for less than a second"));
    stream(&mut modes, &mut setpoints, 110);
    modes.message(&heartbeat(PX4));
    modes.call("set_mode", &json!({"custom_mode": "OFFBOARD"}));
    assert_eq!(lines(), [] as [&str; 0]);
    modes.skip(Duration::from_secs(1));
    modes.call("set_mode", &json!({"custom_mode": "OFFBOARD"}));
    assert!(lines()[0].contains("no setpoints are coming"));
}

#[test]
fn other_modes_and_guided_need_no_setpoints() {
    for (autopilot, mode) in [(PX4, "AUTO.RTL"), (ARDUPILOT, "GUIDED")] {
        let (mut modes, _) = vehicle(autopilot);
        modes.call("set_mode", &json!({"custom_mode": mode}));
        assert_eq!(lines(), [] as [&str; 0]);
    }
}

#[test]
fn refused_mode_is_told_with_the_vehicles_words() {
    let (mut modes, _) = vehicle(PX4);
    modes.call("set_mode", &json!({"custom_mode": "AUTO.MISSION"}));
    let mut text = Statustext { severity: 4, ..zero() };
    text.text[..10].copy_from_slice(b"no mission");
    modes.message(&text);
    modes.message(&CommandAck { command: 176, result: 1, ..zero() });
    let told = lines();
    assert_eq!(told.len(), 1, "{told:?}");
    for part in ["refused", "AUTO.MISSION", "temporarily rejected", "no mission"] {
        assert!(told[0].contains(part), "{told:?}");
    }
}

/// The message that a codec sent.
fn only<M: Message>(bench: &mut Bench) -> M {
    let frames = bench.sent();
    assert_eq!(frames.len(), 1);
    let packet = Packet::parse(&frames[0].1).unwrap();
    assert_eq!(packet.msgid, M::ID);
    M::decode(packet.payload)
}

fn xyz(v: &[f64]) -> Value {
    json!({"x": v[0], "y": v[1], "z": v[2]})
}

#[test]
fn yaw_of_a_setpoint_is_counted_from_north_clockwise() {
    for (ros, ned, body) in [
        (0.0, FRAC_PI_2, 0.0),
        (0.5, 1.070_796, -0.5),
        (FRAC_PI_2, 0.0, -FRAC_PI_2),
        (3.0, -1.429_204, -3.0),
        (-3.0, -1.712_389, 3.0),
    ] {
        let (sin, cos) = f64::sin_cos(ros / 2.0);
        let pose = json!({"pose": {"orientation": {"z": sin, "w": cos}}});
        for (frame, want) in [("LOCAL_NED", ned), ("LOCAL_OFFSET_NED", ned), ("BODY_NED", body)] {
            let mut bench =
                Bench::with_target("mavlink.setpoint_position", json!({"mav_frame": frame}), PEER);
            bench.sample("local", &pose).unwrap();
            let yaw = only::<SetPositionTargetLocalNed>(&mut bench).yaw;
            // -3.0 is 4.570796, or that less a turn.
            let off = turned(f64::from(yaw) - want);
            assert!(off < 1e-5 && f64::from(yaw).abs() < PI + 1e-6, "{ros} {frame}: {yaw}");
        }
    }
}

/// How far an angle is from whole turns, in half radians.
fn turned(angle: f64) -> f64 {
    (angle / 2.0).sin().abs()
}

#[test]
fn attitude_that_was_left_out_is_no_nan() {
    let mut bench = Bench::with_target("mavlink.setpoint_position", json!({}), PEER);
    let orientation = json!({"x": 0.0, "y": 0.0, "z": 0.0, "w": 0.0});
    bench.sample("local", &json!({"pose": {"orientation": orientation}})).unwrap();
    assert!(only::<SetPositionTargetLocalNed>(&mut bench).yaw.is_finite());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn setpoint_a_vehicle_reports_back_is_the_one_that_was_sent(
        v in proptest::array::uniform9(-1e4..1e4), yaw in -3.0..3.0, rate in -3.0..3.0, mask: u16,
        latitude in -90.0..90.0, longitude in -180.0..180.0,
    ) {
        let mut send = Bench::with_target("mavlink.setpoint_raw", json!({}), PEER);
        let mut report = Bench::new("mavlink.setpoint_target", json!({}));
        let motion = json!({
            "type_mask": mask, "velocity": xyz(&v[3..]), "acceleration_or_force": xyz(&v[6..]),
            "yaw": yaw, "yaw_rate": rate,
        });
        let with = |more: Value| {
            let mut all = motion.clone();
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        let local = with(json!({"coordinate_frame": 1, "position": xyz(&v)}));
        send.sample("local", &local).unwrap();
        let m = only::<SetPositionTargetLocalNed>(&mut send);
        report.message(&PositionTargetLocalNed {
            time_boot_ms: m.time_boot_ms, type_mask: m.type_mask, coordinate_frame: m.coordinate_frame,
            x: m.x, y: m.y, z: m.z, vx: m.vx, vy: m.vy, vz: m.vz, afx: m.afx, afy: m.afy, afz: m.afz,
            yaw: m.yaw, yaw_rate: m.yaw_rate,
        });
        near(&report.only("target_local"), &local, "");

        let global = with(json!({
            "coordinate_frame": 5, "latitude": latitude, "longitude": longitude, "altitude": v[0],
        }));
        send.sample("global", &global).unwrap();
        let m = only::<SetPositionTargetGlobalInt>(&mut send);
        report.message(&PositionTargetGlobalInt {
            time_boot_ms: m.time_boot_ms, type_mask: m.type_mask, coordinate_frame: m.coordinate_frame,
            lat_int: m.lat_int, lon_int: m.lon_int, alt: m.alt, vx: m.vx, vy: m.vy, vz: m.vz,
            afx: m.afx, afy: m.afy, afz: m.afz, yaw: m.yaw, yaw_rate: m.yaw_rate,
        });
        near(&report.only("target_global"), &global, "");
    }
}

/// Asserts that each number of `want` is in `got`, within single precision; angles within a turn.
fn near(got: &Value, want: &Value, path: &str) {
    match want {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, want)| near(&got[name], want, &format!("{path}.{name}")));
        }
        _ => {
            let (got, want) = (got.as_f64().unwrap(), want.as_f64().unwrap());
            let off = if path == ".yaw" { turned(got - want) } else { (got - want).abs() };
            assert!(off <= 1e-6 * want.abs().max(1.0), "{path}: {got} is not {want}");
        }
    }
}
