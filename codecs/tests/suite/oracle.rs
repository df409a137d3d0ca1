//! What a real MAVROS published for the same frames; `data/README.md` tells where it comes from.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value, json};

use crate::support::{Bench, hex};

/// Codec, port and topic.
const TOPICS: &[(&str, &str, &str)] = &[
    ("mavlink", "mavlink", "mavlink"),
    ("mavlink.state", "state", "state"),
    ("mavlink.imu", "data", "imu/data"),
    ("mavlink.imu", "data_raw", "imu/data_raw"),
    ("mavlink.imu", "mag", "imu/mag"),
    ("mavlink.imu", "static_pressure", "imu/static_pressure"),
    ("mavlink.imu", "diff_pressure", "imu/diff_pressure"),
    ("mavlink.imu", "temperature_imu", "imu/temperature_imu"),
    ("mavlink.imu", "temperature_baro", "imu/temperature_baro"),
    ("mavlink.local_position", "pose", "local_position/pose"),
    ("mavlink.local_position", "velocity_local", "local_position/velocity_local"),
    ("mavlink.local_position", "velocity_body", "local_position/velocity_body"),
    ("mavlink.local_position", "odom", "local_position/odom"),
    ("mavlink.local_position", "pose_cov", "local_position/pose_cov"),
    ("mavlink.local_position", "velocity_body_cov", "local_position/velocity_body_cov"),
    ("mavlink.local_position", "accel", "local_position/accel"),
    ("mavlink.global_position", "global", "global_position/global"),
    ("mavlink.global_position", "raw_fix", "global_position/raw/fix"),
    ("mavlink.global_position", "raw_gps_vel", "global_position/raw/gps_vel"),
    ("mavlink.global_position", "raw_satellites", "global_position/raw/satellites"),
    ("mavlink.global_position", "local", "global_position/local"),
    ("mavlink.global_position", "rel_alt", "global_position/rel_alt"),
    ("mavlink.global_position", "compass_hdg", "global_position/compass_hdg"),
    ("mavlink.global_position", "gp_origin", "global_position/gp_origin"),
    ("mavlink.global_position", "gp_lp_offset", "global_position/gp_lp_offset"),
    ("mavlink.battery", "battery", "battery"),
    ("mavlink.sys_status", "sys_status", "sys_status"),
    ("mavlink.rc", "in", "rc/in"),
    ("mavlink.rc", "out", "rc/out"),
    ("mavlink.altitude", "altitude", "altitude"),
    ("mavlink.vfr_hud", "vfr_hud", "vfr_hud"),
    ("mavlink.home_position", "home", "home_position/home"),
];

/// A difference that is meant: stimulus, topic and field by their beginnings, and why.
struct Meant(
    &'static str,
    &'static str,
    &'static str,
    #[expect(dead_code, reason = "for the reader")] &'static str,
);

/// Differences in both modes.
const ALWAYS: &[Meant] = &[
    Meant("", "mavlink", "payload64[", "MAVROS leaves old bytes behind the payload; ours are zero"),
    Meant(
        "global_position_int before gps",
        "global_position/global",
        "altitude",
        "the undulation comes from GPS_RAW_INT, which was not seen yet; MAVROS has a grid",
    ),
];

/// Differences of the corrected mode, with their numbers in the list of MAVROS's deviations.
const CORRECTED: &[Meant] = &[
    Meant("raw_imu", "imu/mag", "magnetic_field.", "1: milligauss are 1e-7 tesla"),
    Meant("scaled_imu", "imu/mag", "magnetic_field.", "1: milligauss are 1e-7 tesla"),
    Meant("highres", "imu/static_pressure", "fluid_pressure", "2: pascal"),
    Meant("highres", "imu/diff_pressure", "fluid_pressure", "2: pascal"),
    Meant("global_position_int", "global_position/local", "twist.twist.linear.z", "3: up is positive in ENU"),
    Meant("local_position_ned_cov", "local_position/odom", "pose.covariance[", "5: rotated to ENU, whole"),
    Meant(
        "local_position_ned_cov",
        "local_position/odom",
        "twist.covariance[",
        "5: rotated to the body, whole",
    ),
    Meant(
        "local_position_ned_cov",
        "local_position/pose_cov",
        "pose.covariance[",
        "5: rotated to ENU, whole",
    ),
    Meant(
        "local_position_ned_cov",
        "local_position/velocity_body_cov",
        "twist.covariance[",
        "5: rotated to the body, whole",
    ),
    Meant("local_position_ned_cov", "local_position/accel", "accel.covariance[", "5: rotated to ENU, whole"),
    Meant("", "state", "mode", "11: the present heartbeat; and modes MAVROS does not know"),
    Meant("", "battery", "temperature", "measured, or NaN; MAVROS sends 0"),
    Meant("sys_status current -1", "battery", "current", "13: NaN"),
    Meant("sys_status current -1", "battery", "percentage", "13: NaN"),
    Meant("battery unknown current", "battery", "percentage", "13: NaN"),
    Meant("sys_status volt 65535", "battery", "voltage", "as 13: NaN"),
    Meant("battery no cells", "battery", "voltage", "as 13: NaN"),
];

#[test]
fn exact_mode_publishes_what_mavros_published() {
    // Names of modes that MAVROS does not know are given in exact mode too.
    let modes = Meant("", "state", "mode", "modes and vehicle types MAVROS does not know");
    compare(true, &[modes]);
}

#[test]
fn corrected_mode_differs_only_where_it_is_meant_to() {
    compare(false, CORRECTED);
}

#[test]
fn modes_mavros_knows_have_its_names() {
    let mut bench = Bench::new("mavlink.state", json!({"exact": true}));
    prepare(&mut bench);
    let mut compared = 0;
    for stimulus in stimuli().iter().filter(|s| s["phase"] != "lost") {
        feed(&mut bench, stimulus);
        let Some(want) = stimulus["ros"]["state"]["mode"].as_str() else { continue };
        let Some(got) = bench.take("state").pop() else { continue };
        if !want.starts_with("CMODE") {
            assert_eq!(got["mode"], want, "{}", stimulus["name"]);
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

fn stimuli() -> Vec<Value> {
    let text = include_str!("../data/mavros.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn feed(bench: &mut Bench, stimulus: &Value) {
    for frame in stimulus["send"].as_array().unwrap() {
        bench.frame(&hex(frame.as_str().unwrap())).unwrap();
    }
}

fn compare(exact: bool, meant: &[Meant]) {
    let mut benches = BTreeMap::new();
    for (codec, ..) in TOPICS {
        benches.entry(*codec).or_insert_with(|| {
            let options = match *codec {
                "mavlink.state"
                | "mavlink.imu"
                | "mavlink.local_position"
                | "mavlink.global_position"
                | "mavlink.battery" => json!({ "exact": exact }),
                _ => json!({}),
            };
            let mut bench = Bench::new(codec, options);
            prepare(&mut bench);
            bench
        });
    }
    let mut wrong = Vec::new();
    let mut fields = 0;
    let mut now = 0.0;
    for stimulus in stimuli() {
        let name = stimulus["name"].as_str().unwrap();
        let at = stimulus["t"].as_f64().unwrap();
        if name == "hb bad crc" {
            // The framer drops it.
            continue;
        }
        let silent = stimulus["phase"] == "lost";
        if name == "11.5 s without heartbeat" {
            // Between the phases the vehicle was a PX4 quadrotor again.
            benches.values_mut().for_each(prepare);
            now = at;
        }
        for bench in benches.values_mut() {
            if now > 0.0 && silent {
                bench.pass(Duration::from_secs_f64(at - now));
            }
            feed(bench, &stimulus);
            if name == "11.5 s without heartbeat" {
                bench.pass(Duration::from_millis(10_500));
            }
        }
        now = if name == "11.5 s without heartbeat" { at + 10.5 } else { at };
        for (codec, port, topic) in TOPICS {
            let got = benches.get_mut(codec).unwrap().take(port);
            let want = &stimulus["ros"][topic];
            match (got.last(), want.is_null()) {
                (None, true) => {}
                (None, false) => wrong.push(format!("{name}: nothing on {topic}")),
                // The recording of later phases holds what followed, not the raw frames.
                (Some(_), true) if *topic == "mavlink" && stimulus["phase"] != "telemetry" => {}
                (Some(got), true) => wrong.push(format!("{name}: on {topic} {got}")),
                (Some(got), false) => {
                    let differs = |path: &str, got: &Value, want: &Value| {
                        fields += 1;
                        !same(topic, path, got, want)
                            && !ALWAYS
                                .iter()
                                .chain(meant)
                                .any(|m| name.starts_with(m.0) && *topic == m.1 && path.starts_with(m.2))
                    };
                    difference(got, want, differs, |path, got, want| {
                        wrong.push(format!("{name}: {topic} {path}: {got}, MAVROS {want}"));
                    });
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(fields > 3000, "compared {fields} fields");
}

/// What happened to MAVROS before the recording starts: connected to a PX4 quadrotor, home known.
fn prepare(bench: &mut Bench) {
    let heartbeat = "fd09000020010100000000000100020c510403a5be";
    let home = "fd370000860101f200004c52401c44f41705bb7207000000c03f000020c00000403f5e836c3f000000000000000014efc33ecdcccc3dcdcc4c3e9a9999be4e61bca902";
    for frame in [heartbeat, home] {
        bench.frame(&hex(frame)).unwrap();
    }
    for port in bench.ports() {
        bench.take(port);
    }
}

/// Walks both values and reports leaves for which `differs` is true.
fn difference(
    got: &Value,
    want: &Value,
    mut differs: impl FnMut(&str, &Value, &Value) -> bool,
    mut report: impl FnMut(&str, &Value, &Value),
) {
    let mut todo = vec![(String::new(), got, want)];
    while let Some((path, got, want)) = todo.pop() {
        let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match (got, want) {
            (Value::Object(got), Value::Object(want)) => {
                if is_quaternion(want) {
                    if differs(&path, &json!(got), &json!(want)) {
                        report(&path, &json!(got), &json!(want));
                    }
                    continue;
                }
                for (name, value) in got {
                    match want.get(name) {
                        Some(other) => todo.push((join(name), value, other)),
                        // Stamps are compared elsewhere.
                        None if name == "stamp" => {}
                        None => report(&join(name), value, &Value::Null),
                    }
                }
            }
            (Value::Array(got), Value::Array(want)) if got.len() == want.len() => {
                for (index, (got, want)) in got.iter().zip(want).enumerate() {
                    todo.push((format!("{path}[{index}]"), got, want));
                }
            }
            _ => {
                if differs(&path, got, want) {
                    report(&path, got, want);
                }
            }
        }
    }
}

fn is_quaternion(object: &Map<String, Value>) -> bool {
    object.len() == 4 && object.contains_key("w")
}

fn same(topic: &str, path: &str, got: &Value, want: &Value) -> bool {
    if let (Some(got), Some(want)) = (got.as_object(), want.as_object()) {
        let component = |q: &Map<String, Value>, name: &str| q[name].as_f64().unwrap();
        let dot: f64 = ["w", "x", "y", "z"].iter().map(|n| component(got, n) * component(want, n)).sum();
        let norm: f64 = ["w", "x", "y", "z"].iter().map(|n| component(want, n).powi(2)).sum();
        return (dot.abs() - norm).abs() < 1e-6;
    }
    match (got.as_f64(), want.as_f64()) {
        (Some(got), Some(want)) => {
            let height = path.ends_with("altitude") && topic != "vfr_hud";
            let tolerance = if height { 0.2 } else { 1e-6 * want.abs().max(1.0) };
            (got - want).abs() <= tolerance
        }
        _ => got == want,
    }
}
