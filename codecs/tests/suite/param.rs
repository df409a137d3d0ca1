//! Parameters: the codec between ROS services and an autopilot.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{
    AutopilotVersion, ParamRequestList, ParamRequestRead, ParamSet, ParamValue,
};
use serde_json::{Value, json};

use crate::support::{Bench, PEER, heartbeat, v2, zero};

const PX4: u8 = 12;
const ARDUPILOT: u8 = 3;
/// `MAV_PARAM_TYPE`.
const U8: u8 = 1;
const I32: u8 = 6;
const F32: u8 = 9;
/// `rcl_interfaces/msg/ParameterType`.
const INTEGER: u8 = 2;
const DOUBLE: u8 = 3;

fn connected(autopilot: u8) -> Bench {
    let mut bench = Bench::with_target("mavlink.param", json!({}), PEER);
    bench.message(&heartbeat(autopilot));
    bench
}

fn id(name: &str) -> [u8; 16] {
    let mut id = [0; 16];
    id[..name.len()].copy_from_slice(name.as_bytes());
    id
}

/// A PARAM_VALUE whose float field has these bits.
fn told(name: &str, param_type: u8, bits: u32, param_index: u16, param_count: u16) -> ParamValue {
    let param_value = f32::from_bits(bits);
    ParamValue { param_value, param_count, param_index, param_id: id(name), param_type }
}

/// A PX4 with three parameters that has told them.
fn px4() -> Bench {
    let mut bench = connected(PX4);
    bench.message(&told("SYS_AUTOSTART", I32, 4001, 0, 3));
    bench.message(&told("MPC_XY_VEL_MAX", F32, 12_f32.to_bits(), 1, 3));
    bench.message(&told("TEST_NEG", I32, (-5_i32).cast_unsigned(), 2, 3));
    for port in ["event", "parameter_events"] {
        bench.take(port);
    }
    bench
}

fn answer(bench: &mut Bench) -> Value {
    let mut answers = bench.answers();
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0).1
}

fn integer(value: i64) -> Value {
    json!({"type": INTEGER, "integer_value": value})
}

fn double(value: f64) -> Value {
    json!({"type": DOUBLE, "double_value": value})
}

/// A value as `get_parameters` gives it.
fn get(bench: &mut Bench, name: &str) -> Value {
    bench.call("get_parameters", &json!({"names": [name]}));
    let value = answer(bench)["values"][0].clone();
    match value["type"].as_u64().unwrap() {
        0 => Value::Null,
        2 => value["integer_value"].clone(),
        _ => value["double_value"].clone(),
    }
}

fn set(bench: &mut Bench, name: &str, value: &Value, force: bool) {
    bench.call("set", &json!({"param_id": name, "value": value, "force_set": force}));
}

#[test]
fn list_is_asked_for_ten_seconds_after_the_connection_and_by_a_pull() {
    let mut bench = connected(PX4);
    bench.pass(Duration::from_millis(9_900));
    assert_eq!(bench.sent_of::<ParamRequestList>().len(), 0);
    bench.message(&heartbeat(PX4));
    bench.pass(Duration::from_millis(200));
    let list = ParamRequestList { target_system: 1, target_component: 1 };
    assert_eq!(bench.sent_of::<ParamRequestList>(), [list]);
    bench.call("pull", &json!({}));
    assert_eq!(bench.sent(), [], "takes part in it");
    bench.message(&told("A", I32, 1, 0, 2));
    bench.message(&told("C", I32, 1, 65_535, 2));
    bench.message(&told("B", I32, 1, 1, 2));
    assert_eq!(answer(&mut bench), json!({"success": true, "param_received": 3}));
    bench.call("pull", &json!({}));
    assert_eq!(answer(&mut bench), json!({"success": true, "param_received": 3}));
    assert_eq!(bench.sent(), [], "they are here");
    bench.call("pull", &json!({"force_pull": true}));
    assert_eq!(bench.sent_of::<ParamRequestList>().len(), 1);
    bench.take("parameter_events");
    bench.message(&told("A", I32, 1, 0, 1));
    assert_eq!(answer(&mut bench), json!({"success": true, "param_received": 1}));
    let deleted = &bench.take("parameter_events")[1]["deleted_parameters"];
    assert_eq!(deleted.as_array().unwrap().len(), 2, "what is not told any more is gone");
}

#[test]
fn missing_places_are_asked_for() {
    let mut bench = connected(PX4);
    bench.call("pull", &json!({}));
    bench.message(&told("A", I32, 1, 0, 4));
    bench.message(&told("D", I32, 1, 3, 4));
    bench.sent();
    bench.pass(Duration::from_secs(1));
    let asked: Vec<i16> = bench.sent_of::<ParamRequestRead>().iter().map(|read| read.param_index).collect();
    assert_eq!(asked, [1, 2]);
    bench.message(&told("B", I32, 1, 1, 4));
    bench.message(&told("C", I32, 1, 2, 4));
    assert_eq!(answer(&mut bench), json!({"success": true, "param_received": 4}));
}

#[test]
fn values_are_told_as_they_come() {
    let mut bench = connected(PX4);
    bench.message(&told("TEST_NEG", I32, (-5_i32).cast_unsigned(), 2, 3));
    let event = bench.only("event");
    assert_eq!(
        (&event["param_id"], &event["value"]["integer_value"], &event["param_index"], &event["param_count"]),
        (&json!("TEST_NEG"), &json!(-5), &json!(2), &json!(3))
    );
    assert_eq!(event["header"]["stamp"]["sec"], 1_700_000_000);
    let event = bench.only("parameter_events");
    assert_eq!(event["node"], "/mavros/param");
    assert_eq!(event["new_parameters"][0]["name"], "TEST_NEG");
    bench.message(&told("TEST_NEG", F32, 0.5_f32.to_bits(), 65_535, 3));
    assert_eq!(bench.only("parameter_events")["changed_parameters"][0]["value"]["double_value"], 0.5);
    // The place of the first sight stays.
    assert_eq!(bench.only("event")["param_index"], 2);
}

#[test]
fn whole_numbers_are_read_as_the_autopilot_writes_them() {
    let mut bench = connected(ARDUPILOT);
    bench.message(&told("LOG_BITMASK", I32, 176_126_f32.to_bits(), 0, 1));
    assert_eq!(get(&mut bench, "LOG_BITMASK"), 176_126);
    // What the vehicle says of itself counts more than its name.
    bench.message(&AutopilotVersion { capabilities: 16, ..zero() });
    bench.message(&told("LOG_BITMASK", I32, 7, 0, 1));
    assert_eq!(get(&mut bench, "LOG_BITMASK"), 7);
    bench.message(&AutopilotVersion { capabilities: 131_072, ..zero() });
    bench.message(&told("SMALL", U8, 200_f32.to_bits(), 0, 1));
    assert_eq!(get(&mut bench, "SMALL"), 200);
    assert_eq!(get(&mut px4(), "TEST_NEG"), -5);
}

#[test]
fn value_is_set_with_the_type_the_vehicle_knows() {
    let mut bench = px4();
    let cases = [
        ("MPC_XY_VEL_MAX", integer(9), F32, 9_f32.to_bits(), double(9.0)),
        ("SYS_AUTOSTART", double(4010.0), I32, 4010, integer(4010)),
        ("SYS_AUTOSTART", json!({"type": 1, "bool_value": true}), I32, 1, integer(1)),
        ("TEST_NEG", integer(-7), I32, (-7_i32).cast_unsigned(), integer(-7)),
        ("MPC_XY_VEL_MAX", double(0.1), F32, 0.1_f32.to_bits(), double(f64::from(0.1_f32))),
    ];
    for (name, value, param_type, bits, back) in cases {
        set(&mut bench, name, &value, false);
        let set = bench.sent_of::<ParamSet>().remove(0);
        assert_eq!((set.param_id, set.param_type, set.param_value.to_bits()), (id(name), param_type, bits));
        assert_eq!((set.target_system, set.target_component), (1, 1));
        bench.message(&told(name, param_type, bits, 65_535, 3));
        let answer = answer(&mut bench);
        assert_eq!(answer["success"], true, "{name}");
        for (field, value) in back.as_object().unwrap() {
            assert_eq!(answer["value"][field], *value, "{name}");
        }
    }
}

#[test]
fn what_cannot_be_set_is_refused_at_once() {
    let mut bench = px4();
    bench.message(&told("STAT_RUNTIME", I32, 1, 65_535, 3));
    for (name, value) in [
        ("NOT_THERE", integer(1)),
        ("STAT_RUNTIME", integer(2)),
        ("SYS_AUTOSTART", double(0.5)),
        ("SYS_AUTOSTART", integer(1 << 40)),
        ("SYS_AUTOSTART", json!({"type": 4, "string_value": "1"})),
    ] {
        set(&mut bench, name, &value, false);
        assert_eq!(answer(&mut bench)["success"], false, "{name} {value}");
        bench.call("set_parameters", &json!({"parameters": [{"name": name, "value": value}]}));
        let results = answer(&mut bench)["results"].clone();
        assert_eq!(results[0]["successful"], false);
        assert_ne!(results[0]["reason"], "");
    }
    set(&mut bench, "SEVENTEEN_LETTERS", &integer(1), true);
    assert_eq!(answer(&mut bench)["success"], false);
    assert_eq!(bench.sent(), []);
    for (name, kind) in [("NOT_THERE", I32), ("STAT_RUNTIME", I32)] {
        set(&mut bench, name, &integer(2), true);
        assert_eq!(bench.sent_of::<ParamSet>()[0].param_type, kind);
    }
    bench.call("set_parameters_atomically", &json!({}));
    assert_eq!(answer(&mut bench)["result"]["successful"], false);
}

#[test]
fn silent_vehicle_fails_a_setting_after_four_seconds() {
    let mut bench = px4();
    set(&mut bench, "TEST_NEG", &integer(1), false);
    bench.pass(Duration::from_millis(3_900));
    assert_eq!((bench.sent_of::<ParamSet>().len(), bench.answers().len()), (4, 0));
    bench.pass(Duration::from_millis(100));
    assert_eq!(answer(&mut bench)["success"], false);
}

#[test]
fn several_are_set_at_once_and_each_has_its_result() {
    let mut bench = px4();
    let parameters = json!([
        {"name": "TEST_NEG", "value": integer(1)},
        {"name": "NOT_THERE", "value": integer(1)},
        {"name": "MPC_XY_VEL_MAX", "value": double(3.0)},
    ]);
    bench.call("set_parameters", &json!({"parameters": parameters}));
    assert_eq!(bench.sent_of::<ParamSet>().len(), 2);
    bench.message(&told("MPC_XY_VEL_MAX", F32, 3_f32.to_bits(), 1, 3));
    assert_eq!(bench.answers(), []);
    bench.message(&told("TEST_NEG", I32, 9, 2, 3));
    bench.pass(Duration::from_secs(1));
    bench.message(&told("TEST_NEG", I32, 9, 2, 3));
    let results = answer(&mut bench)["results"].clone();
    assert_eq!(results[0], json!({"successful": false, "reason": "The vehicle keeps 9"}));
    assert_eq!(results[1], json!({"successful": false, "reason": "Undeclared parameter"}));
    assert_eq!(results[2], json!({"successful": true, "reason": ""}));
}

#[test]
fn node_describes_and_lists_its_parameters() {
    let mut bench = px4();
    bench.message(&told("_HASH_CHECK", 5, 0xdead_beef, 65_535, 3));
    bench.call("list_parameters", &json!({"prefixes": ["X"]}));
    let names = json!(["MPC_XY_VEL_MAX", "SYS_AUTOSTART", "TEST_NEG", "_HASH_CHECK"]);
    assert_eq!(answer(&mut bench)["result"], json!({"names": names, "prefixes": []}));
    bench.call("describe_parameters", &json!({"names": ["_HASH_CHECK", "TEST_NEG"]}));
    let descriptors = answer(&mut bench)["descriptors"].clone();
    assert_eq!((&descriptors[0]["read_only"], &descriptors[1]["read_only"]), (&json!(true), &json!(false)));
    assert_eq!((&descriptors[1]["name"], &descriptors[1]["type"]), (&json!("TEST_NEG"), &json!(INTEGER)));
    bench.call("get_parameter_types", &json!({"names": ["MPC_XY_VEL_MAX", "TEST_NEG", "NOT_THERE"]}));
    assert_eq!(answer(&mut bench)["types"], json!([DOUBLE, INTEGER, 0]));
    assert_eq!(get(&mut bench, "_HASH_CHECK"), 0xdead_beef_u32);
    assert_eq!(get(&mut bench, "NOT_THERE"), Value::Null);
}

/// Answers of MAVROS 1.21 to `param/get` for a vehicle with these parameters.
#[test]
fn single_values_are_read_in_ros_1_manner() {
    let mut bench = px4();
    bench.message(&told("TEST_U8", U8, 200, 3, 5));
    bench.message(&told("TEST_I16", 4, 0xfed4, 4, 5));
    for (name, value) in [
        ("SYS_AUTOSTART", json!({"integer": 4001, "real": 0.0})),
        ("MPC_XY_VEL_MAX", json!({"integer": 0, "real": 12.0})),
        ("TEST_NEG", json!({"integer": -5, "real": 0.0})),
        ("TEST_U8", json!({"integer": 200, "real": 0.0})),
        ("TEST_I16", json!({"integer": -300, "real": 0.0})),
    ] {
        bench.call("get", &json!({"param_id": name}));
        assert_eq!(answer(&mut bench), json!({"success": true, "value": value}));
    }
    bench.call("get", &json!({"param_id": "NOT_THERE"}));
    assert_eq!(answer(&mut bench)["success"], false);
}

#[test]
fn every_call_is_answered_and_everything_forgotten_when_the_vehicle_goes() {
    for close in [true, false] {
        let mut bench = px4();
        bench.call("pull", &json!({"force_pull": true}));
        bench.message(&told("TEST_NEG", I32, 1, 2, 3));
        set(&mut bench, "TEST_NEG", &integer(5), false);
        let parameters = json!([{"name": "TEST_NEG", "value": integer(1)}]);
        bench.call("set_parameters", &json!({"parameters": parameters}));
        assert_eq!(bench.answers(), []);
        bench.take("parameter_events");
        if close {
            bench.close();
        } else {
            bench.skip(Duration::from_secs(10));
            bench.tick();
        }
        let answers = bench.answers();
        assert_eq!(answers.len(), 3);
        assert_eq!(answers[0].1["success"], false);
        if !close {
            let event = bench.only("parameter_events");
            assert_eq!(event["deleted_parameters"].as_array().unwrap().len(), 3);
            bench.call("list_parameters", &json!({}));
            assert_eq!(answer(&mut bench)["result"]["names"], json!([]));
            bench.call("pull", &json!({}));
            assert_eq!(answer(&mut bench)["success"], false);
        }
    }
}

#[test]
fn other_senders_and_odd_names_are_left_out() {
    let mut bench = px4();
    bench.frame(&v2(2, 1, &told("OTHER_SYSTEM", I32, 1, 0, 3))).unwrap();
    bench.frame(&v2(1, 154, &told("OTHER_PART", I32, 1, 0, 3))).unwrap();
    let mut odd = told("", I32, 1, 0, 3);
    bench.message(&odd);
    odd.param_id = [0xff; 16];
    bench.message(&odd);
    bench.message(&told("EIGHT_OCTETS", 7, 1, 0, 3));
    assert_eq!(bench.take("event"), [] as [Value; 0]);
    // All 16 octets in use.
    bench.message(&told("SIXTEEN_LETTERS_", I32, 1, 0, 3));
    assert_eq!(bench.only("event")["param_id"], "SIXTEEN_LETTERS_");
}

#[test]
fn endless_names_are_not_kept() {
    let mut bench = connected(PX4);
    bench.listen("event", 0);
    bench.listen("parameter_events", 0);
    for i in 0..17_000 {
        bench.message(&told(&format!("P{i}"), I32, 1, 65_535, 65_535));
    }
    bench.call("list_parameters", &json!({}));
    assert_eq!(answer(&mut bench)["result"]["names"].as_array().unwrap().len(), 16_384);
    bench.message(&told("P5", I32, 7, 65_535, 65_535));
    assert_eq!(get(&mut bench, "P5"), 7);
}
