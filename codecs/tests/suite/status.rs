//! Batteries, flags, states and texts.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{
    BatteryStatus, EstimatorStatus, ExtendedSysState, Heartbeat, Statustext, SysStatus,
};
use serde_json::{Value, json};

use crate::support::{Bench, assert_close, heartbeat, zero};

#[test]
fn what_nobody_measured_is_nan() {
    let mut bench = Bench::new("mavlink.battery", json!({}));
    bench.message(&SysStatus {
        voltage_battery: 15_800,
        current_battery: -1,
        battery_remaining: -1,
        ..zero()
    });
    let battery = bench.only("battery");
    for field in ["current", "percentage", "temperature", "charge", "capacity", "design_capacity"] {
        assert_eq!(battery[field], "NaN", "{field}");
    }
    bench.message(&SysStatus { voltage_battery: u16::MAX, ..zero() });
    assert_eq!(bench.only("battery")["voltage"], "NaN");
    bench.message(&BatteryStatus { id: 3, voltages: [u16::MAX; 10], ..zero() });
    assert_eq!(bench.only("battery")["voltage"], "NaN");
    let mut voltages = [u16::MAX; 10];
    [voltages[0], voltages[1], voltages[2]] = [4000, u16::MAX - 1, 1000];
    let status = BatteryStatus {
        id: 3,
        kind: 1,
        temperature: i16::MAX,
        voltages,
        current_battery: 1000,
        battery_remaining: 50,
        ..zero()
    };
    bench.message(&status);
    let battery = bench.only("battery");
    assert_eq!(battery["temperature"], "NaN");
    assert_eq!((&battery["current"], &battery["percentage"]), (&json!(-10.0), &json!(0.5)));
    assert_eq!((&battery["location"], &battery["power_supply_technology"]), (&json!("id3"), &json!(3)));
    assert_close([battery["cell_voltage"][1].as_f64().unwrap()], [66.534], 1e-4);
    assert_eq!(battery["cell_voltage"].as_array().unwrap().len(), 2);
}

#[test]
fn flags_of_the_estimator_are_taken_bit_by_bit() {
    let mut bench = Bench::new("mavlink.estimator_status", json!({}));
    bench.message(&EstimatorStatus { flags: 0b1010_0000_0101, ..zero() });
    let status = bench.only("estimator_status");
    let set: Vec<&str> = status
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, v)| **v == json!(true))
        .map(|(k, _)| k.as_str())
        .collect();
    assert_eq!(
        set,
        [
            "attitude_status_flag",
            "velocity_vert_status_flag",
            "pred_pos_horiz_abs_status_flag",
            "accel_error_status_flag"
        ]
    );
}

#[test]
fn unknown_enum_values_are_kept() {
    let mut bench = Bench::new("mavlink.state", json!({}));
    bench.message(&ExtendedSysState { vtol_state: 99, landed_state: 250 });
    let state = bench.only("extended_state");
    assert_eq!((&state["vtol_state"], &state["landed_state"]), (&json!(99), &json!(250)));
    bench.message(&Heartbeat {
        kind: 251,
        autopilot: 252,
        base_mode: 255,
        system_status: 253,
        ..heartbeat(12)
    });
    let state = bench.only("state");
    assert_eq!((&state["system_status"], &state["mode"]), (&json!(253), &json!("CMODE(65536)")));
}

fn text(id: u16, chunk_seq: u8, words: &str) -> Statustext {
    let mut text = [0; 50];
    text.iter_mut().zip(words.bytes()).for_each(|(to, from)| *to = from);
    Statustext { severity: 4, text, id, chunk_seq }
}

#[test]
fn chunks_of_a_text_are_joined() {
    let fifty = "12345678901234567890123456789012345678901234567890";
    let mut bench = Bench::new("mavlink.statustext", json!({}));
    bench.message(&text(0, 0, "alone"));
    assert_eq!(bench.only("recv")["text"], "alone");
    bench.message(&text(7, 0, fifty));
    bench.message(&text(8, 0, "another"));
    assert_eq!(bench.only("recv")["text"], "another");
    bench.message(&text(7, 1, "end"));
    let joined = bench.only("recv");
    assert_eq!((&joined["text"], &joined["severity"]), (&json!(format!("{fifty}end")), &json!(4)));
}

#[test]
fn exact_mode_publishes_chunks_one_by_one() {
    let mut bench = Bench::new("mavlink.statustext", json!({"exact": true}));
    bench.message(&text(7, 0, &"x".repeat(50)));
    bench.message(&text(7, 1, "end"));
    let texts: Vec<Value> = bench.take("recv").iter().map(|m| m["text"].clone()).collect();
    assert_eq!(texts, [json!("x".repeat(50)), json!("end")]);
}

#[test]
fn incomplete_text_is_published_after_a_second() {
    let fifty = "x".repeat(50);
    let mut bench = Bench::new("mavlink.statustext", json!({}));
    bench.message(&text(7, 0, &fifty));
    bench.message(&text(7, 2, &fifty));
    bench.pass(Duration::from_millis(900));
    assert_eq!(bench.take("recv").len(), 0);
    bench.pass(Duration::from_millis(200));
    assert_eq!(bench.only("recv")["text"], format!("{fifty}[...]{fifty}"));
    // Ids are used again.
    bench.message(&text(9, 0, &fifty));
    bench.message(&text(9, 0, "new"));
    let texts: Vec<Value> = bench.take("recv").iter().map(|m| m["text"].clone()).collect();
    assert_eq!(texts, [json!(fifty), json!("new")]);
}

#[test]
fn unfinished_texts_do_not_pile_up() {
    let mut bench = Bench::new("mavlink.statustext", json!({}));
    for id in 1..=100 {
        bench.message(&text(id, 0, &"x".repeat(50)));
    }
    assert_eq!(bench.take("recv").len(), 92);
    bench.pass(Duration::from_secs(2));
    assert_eq!(bench.take("recv").len(), 8);
}
