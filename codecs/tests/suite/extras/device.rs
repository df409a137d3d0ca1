//! Motor controllers, compasses, other traffic.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{
    AdsbVehicle, EscInfo, EscStatus, EscTelemetry1To4, EscTelemetry5To8, MagCalProgress, MagCalReport,
};
use serde_json::{Value, json};

use super::{bench, one};
use crate::support::{Bench, assert_has, heartbeat, zero};

#[test]
fn motor_controllers_are_gathered_and_told_with_the_last_of_them() {
    let info = |index, count| EscInfo {
        index,
        count,
        error_count: [1, 2, 3, 4],
        failure_flags: [5, 6, 7, 8],
        temperature: [2549, 2550, -150, -149],
        counter: 9,
        connection_type: 2,
        info: 0x3f,
        ..zero()
    };
    let mut bench = Bench::new("mavlink.esc_status", json!({}));
    bench.message(&heartbeat(12));
    bench.message(&info(0, 6));
    bench.take("info");
    bench.message(&info(4, 6));
    let got = bench.only("info");
    assert_has(&got, &json!({"counter": 9, "count": 6, "connection_type": 2, "info": 0x3f}));
    let items = got["esc_info"].as_array().unwrap();
    assert_eq!(items.len(), 6);
    assert_has(&items[5], &json!({"failure_flags": 6, "error_count": 2, "temperature": 26}));
    let celsius: Vec<i64> = items.iter().map(|item| item["temperature"].as_i64().unwrap()).collect();
    assert_eq!(celsius, [25, 26, -2, -1, 25, 26]);
    bench.message(&info(0, 6));
    assert_eq!(bench.take("info"), [] as [Value; 0], "the second four are still to come");

    let status = EscStatus { index: 4, rpm: [-1, 2, 3, 4], voltage: [12.5; 4], current: [1.5; 4], ..zero() };
    bench.message(&status);
    let got = bench.only("status");
    assert_eq!(got["esc_status"].as_array().unwrap().len(), 6);
    assert_has(&got["esc_status"][4], &json!({"rpm": -1, "voltage": 12.5, "current": 1.5}));
    assert_has(&got["esc_status"][0], &json!({"rpm": 0}));

    // Gone and back with four.
    bench.skip(Duration::from_secs(11));
    bench.message(&heartbeat(12));
    bench.message(&info(0, 4));
    assert_eq!(bench.only("info")["esc_info"].as_array().unwrap().len(), 4);
}

#[test]
fn motor_controllers_of_no_known_number_grow_and_exact_mode_repeats_the_temperature() {
    let mut bench = Bench::new("mavlink.esc_status", json!({"exact": true}));
    bench.message(&EscStatus { index: 255, ..zero() });
    assert_eq!(bench.only("status")["esc_status"].as_array().unwrap().len(), 259);
    bench.message(&EscInfo { count: 1, temperature: [2500; 4], ..zero() });
    assert_eq!(bench.only("info")["esc_info"][0]["temperature"], 250_000);
}

#[test]
fn ardupilots_motor_controllers_are_gathered() {
    let mut bench = Bench::new("mavlink.esc_telemetry", json!({}));
    bench.message(&EscTelemetry5To8 { temperature: [1, 2, 3, 4], ..zero() });
    let got = bench.only("telemetry");
    assert_eq!(got["esc_telemetry"].as_array().unwrap().len(), 8);
    assert_has(&got["esc_telemetry"][7], &json!({"temperature": 4.0}));
    bench.message(&EscTelemetry1To4 {
        voltage: [1234, 0, 0, 0],
        current: [567, 0, 0, 0],
        totalcurrent: [8901, 0, 0, 0],
        rpm: [65_535, 0, 0, 0],
        count: [7, 0, 0, 0],
        temperature: [255, 0, 0, 0],
    });
    let got = bench.only("telemetry");
    assert_has(
        &got["esc_telemetry"][0],
        &json!({"temperature": 255.0, "voltage": 12.34, "current": 5.67, "totalcurrent": 8.901,
            "rpm": 65_535, "count": 7}),
    );
    assert_has(&got["esc_telemetry"][7], &json!({"temperature": 4.0}));
}

#[test]
fn compass_calibration_is_a_mean_and_each_report_comes_once() {
    let mut bench = Bench::new("mavlink.mag_calibration", json!({}));
    let progress =
        |compass_id, completion_pct| MagCalProgress { compass_id, completion_pct, cal_mask: 5, ..zero() };
    bench.message(&progress(0, 50));
    assert_eq!(bench.only("status")["data"], 25);
    // Compass 1 is not being calibrated, compass 9 cannot be.
    for (compass, percent) in [(1, 100), (9, 100), (255, 100)] {
        bench.message(&progress(compass, percent));
        assert_eq!(bench.only("status")["data"], 25);
    }
    bench.message(&progress(2, 99));
    assert_eq!(bench.only("status")["data"], 74);
    bench.message(&MagCalProgress { cal_mask: 0, ..zero() });
    assert_eq!(bench.take("status"), [] as [Value; 0]);

    let report = MagCalReport {
        compass_id: 0,
        cal_mask: 5,
        cal_status: 4,
        autosaved: 1,
        fitness: 1.5,
        ofs_x: 1.0,
        ofs_y: 2.0,
        ofs_z: 3.0,
        diag_x: 4.0,
        diag_y: 5.0,
        diag_z: 6.0,
        offdiag_x: 7.0,
        offdiag_y: 8.0,
        offdiag_z: 9.0,
        orientation_confidence: 10.0,
        old_orientation: 11,
        new_orientation: 12,
        scale_factor: 13.0,
    };
    bench.message(&report);
    assert_has(
        &bench.only("report"),
        &json!({"header": {"frame_id": "0"}, "report": 4, "confidence": 10.0, "compass_id": 0, "cal_mask": 5,
            "cal_status": 4, "autosaved": 1, "fitness": 1.5, "ofs_x": 1.0, "ofs_y": 2.0, "ofs_z": 3.0,
            "diag_x": 4.0, "diag_y": 5.0, "diag_z": 6.0, "offdiag_x": 7.0, "offdiag_y": 8.0, "offdiag_z": 9.0,
            "orientation_confidence": 10.0, "old_orientation": 11, "new_orientation": 12, "scale_factor": 13.0}),
    );
    bench.message(&report);
    // Compass 2 was never seen below 95 %: it was calibrated before.
    bench.message(&MagCalReport { compass_id: 2, ..report });
    bench.message(&MagCalReport { compass_id: 200, ..report });
    assert_eq!(bench.take("report"), [] as [Value; 0]);
}

#[test]
fn other_traffic_is_in_degrees_and_metres() {
    let mut bench = Bench::new("mavlink.adsb", json!({}));
    bench.message(&AdsbVehicle {
        icao_address: 0x00ab_cdef,
        lat: 473_977_420,
        lon: -85_455_940,
        altitude: -1500,
        heading: 35_999,
        hor_velocity: 12_345,
        ver_velocity: -250,
        flags: 0x8001,
        squawk: 7700,
        altitude_type: 1,
        callsign: *b"SWR123\0\0\0",
        emitter_type: 14,
        tslc: 255,
    });
    assert_has(
        &bench.only("vehicle"),
        &json!({"icao_address": 0x00ab_cdef, "callsign": "SWR123", "latitude": 47.397_742,
            "longitude": -8.545_594, "altitude": -1.5, "heading": 359.99, "hor_velocity": 123.45,
            "ver_velocity": -2.5, "altitude_type": 1, "emitter_type": 14, "tslc": {"sec": 255, "nanosec": 0},
            "flags": 0x8001, "squawk": 7700}),
    );
}

#[test]
fn traffic_is_sent_as_it_is_received() {
    let sample = json!({"icao_address": 0x00ab_cdef, "callsign": "LONGCALLSIGN", "latitude": 47.397_742,
        "longitude": -8.545_594, "altitude": -1.5, "heading": 359.99, "hor_velocity": 1e5, "ver_velocity": -2.5,
        "altitude_type": 1, "emitter_type": 14, "tslc": {"sec": 300}, "flags": 3, "squawk": 7700});
    let m: AdsbVehicle = one(&mut bench("mavlink.adsb"), "send", &sample);
    let want = AdsbVehicle {
        icao_address: 0x00ab_cdef,
        lat: 473_977_420,
        lon: -85_455_940,
        altitude: -1500,
        heading: 35_999,
        hor_velocity: u16::MAX,
        ver_velocity: -250,
        flags: 3,
        squawk: 7700,
        altitude_type: 1,
        callsign: *b"LONGCALL\0",
        emitter_type: 14,
        tslc: 255,
    };
    assert_eq!(m, want);
}
