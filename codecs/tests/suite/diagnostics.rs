//! `mavlink.diagnostics`: what `/diagnostics` says.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{GpsRawInt, RadioStatus, SysStatus, Timesync};
use serde_json::{Value, json};

use crate::support::{Bench, heartbeat, v2, zero};

/// The latest report: task, level and text.
fn report(bench: &mut Bench) -> Vec<(String, u64, String)> {
    let latest = bench.take("diagnostics").pop().unwrap();
    let task = |status: &Value| {
        assert_eq!(status["hardware_id"], "uas:///uas1");
        let text = |key: &str| status[key].as_str().unwrap().to_owned();
        (text("name").replace("mavros: ", ""), status["level"].as_u64().unwrap(), text("message"))
    };
    latest["status"].as_array().unwrap().iter().map(task).collect()
}

fn task(bench: &mut Bench, name: &str) -> Option<(u64, String)> {
    report(bench).into_iter().find(|(task, ..)| task == name).map(|(_, level, text)| (level, text))
}

#[test]
fn silent_vehicle_is_an_error_everywhere() {
    let mut bench = Bench::new("mavlink.diagnostics", json!({}));
    bench.pass(Duration::from_secs(1));
    let report = report(&mut bench);
    let tasks: Vec<&str> = report.iter().map(|(task, ..)| task.as_str()).collect();
    assert_eq!(tasks, ["MAVROS UAS", "Heartbeat", "System", "Battery", "Time Sync", "GPS"]);
    assert!(report.iter().all(|(_, level, _)| *level == 2), "{report:?}");
}

#[test]
fn healthy_vehicle_is_normal_and_faults_are_named() {
    let mut bench = Bench::new("mavlink.diagnostics", json!({"conn_timeout": 5}));
    let system = SysStatus {
        onboard_control_sensors_enabled: 0x23,
        onboard_control_sensors_health: 0x23,
        voltage_battery: 12_600,
        ..zero()
    };
    for _ in 0..12 {
        bench.message(&heartbeat(12));
        bench.message(&system);
        bench.message(&GpsRawInt { fix_type: 3, satellites_visible: 9, ..zero() });
        bench.message(&Timesync { tc1: 1, ..zero() });
        bench.pass(Duration::from_secs(1));
    }
    let all = report(&mut bench);
    assert!(all.iter().all(|(_, level, _)| *level == 0), "{all:?}");
    bench.message(&SysStatus { onboard_control_sensors_health: 0x21, voltage_battery: 9_000, ..system });
    bench.message(&GpsRawInt { fix_type: 1, satellites_visible: 9, ..zero() });
    bench.frame(&v2(51, 68, &RadioStatus { rssi: 100, remrssi: 10, ..zero() })).unwrap();
    bench.pass(Duration::from_secs(1));
    let all = report(&mut bench);
    let of = |name: &str| {
        all.iter().find(|(task, ..)| task == name).map(|(_, level, text)| (*level, text.as_str()))
    };
    assert_eq!(of("System"), Some((2, "Sensor health")));
    assert_eq!(of("Battery"), Some((1, "Low voltage")));
    assert_eq!(of("GPS"), Some((1, "No fix")));
    assert_eq!(of("3DR Radio"), Some((1, "Low remote RSSI")));
    bench.pass(Duration::from_secs(6));
    assert_eq!(task(&mut bench, "MAVROS UAS"), Some((2, "disconnected".to_owned())));
}

#[test]
fn only_connection_and_heartbeat_are_left_when_asked_for() {
    let mut bench = Bench::new("mavlink.diagnostics", json!({"disable_diag": true}));
    bench.message(&heartbeat(12));
    bench.pass(Duration::from_secs(1));
    assert_eq!(report(&mut bench).len(), 2);
}
