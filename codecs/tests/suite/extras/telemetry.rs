//! What vehicles tell: wind, navigation, radio, events, sticks, actuators, setpoints.

use rostrans_codecs::mavlink::dialect::{
    ActuatorControlTarget, AttitudeTarget, Event, ManualControl, NavControllerOutput,
    PositionTargetGlobalInt, PositionTargetLocalNed, Radio, RadioStatus, Wind, WindCov,
};
use serde_json::{Value, json};

use crate::support::{Bench, assert_has, numbers, v1, v2, zero};

#[test]
fn wind_blows_where_the_air_goes() {
    let mut bench = Bench::new("mavlink.wind", json!({}));
    bench.message(&WindCov {
        wind_x: 1.0,
        wind_y: 2.0,
        wind_z: -3.0,
        var_horiz: 0.5,
        var_vert: 0.25,
        ..zero()
    });
    let wind = bench.only("wind_estimation");
    assert_has(&wind["twist"]["twist"]["linear"], &json!({"x": 2.0, "y": 1.0, "z": 3.0}));
    let covariance = &wind["twist"]["covariance"];
    assert_eq!([&covariance[0], &covariance[7], &covariance[14]], [&json!(0.5), &json!(0.0), &json!(0.25)]);
    bench.message(&Wind { direction: 270.0, speed: 5.0, speed_z: 1.0 });
    let wind = bench.only("wind_estimation");
    assert_has(&wind["twist"]["twist"]["linear"], &json!({"x": 5.0, "y": 0.0, "z": -1.0}));
    assert_eq!(wind["twist"]["covariance"][0], -1.0);
}

#[test]
fn navigation_output_is_copied() {
    let mut bench = Bench::new("mavlink.nav_controller_output", json!({}));
    bench.message(&NavControllerOutput {
        nav_roll: 1.5,
        nav_pitch: -2.5,
        alt_error: 3.5,
        aspd_error: 4.5,
        xtrack_error: 5.5,
        nav_bearing: -170,
        target_bearing: 350,
        wp_dist: 65_000,
    });
    assert_has(
        &bench.only("output"),
        &json!({"header": {"frame_id": ""}, "nav_roll": 1.5, "nav_pitch": -2.5, "nav_bearing": -170,
            "target_bearing": 350, "wp_dist": 65_000, "alt_error": 3.5, "aspd_error": 4.5, "xtrack_error": 5.5}),
    );
}

#[test]
fn old_modems_count_until_a_new_one_tells_and_modems_are_systems_of_their_own() {
    let mut bench = Bench::new("mavlink.radio", json!({}));
    let old = Radio { rssi: 190, remrssi: 19, txbuf: 90, noise: 40, remnoise: 41, rxerrors: 5, fixed: 6 };
    let new = RadioStatus { rssi: 0, remrssi: 0, txbuf: 100, noise: 1, remnoise: 2, rxerrors: 3, fixed: 4 };
    bench.frame(&v1(51, 68, &old)).unwrap();
    assert_has(
        &bench.only("radio_status"),
        &json!({"rssi": 190, "remrssi": 19, "txbuf": 90, "noise": 40, "remnoise": 41, "rxerrors": 5,
            "fixed": 6, "rssi_dbm": -27.0, "remrssi_dbm": -117.0}),
    );
    bench.frame(&v2(51, 68, &new)).unwrap();
    assert_has(&bench.only("radio_status"), &json!({"txbuf": 100, "rssi_dbm": -127.0}));
    bench.frame(&v1(51, 68, &old)).unwrap();
    assert_eq!(bench.take("radio_status"), [] as [Value; 0]);
}

#[test]
fn events_have_the_external_level_and_the_id_without_its_component() {
    let mut bench = Bench::new("mavlink.status_event", json!({}));
    let mut event = Event { id: 0x0112_3456, log_levels: 0x74, sequence: 9, ..zero() };
    event.arguments[39] = 7;
    bench.message(&event);
    let got = bench.only("status_event");
    assert_has(&got, &json!({"severity": 4, "px4_id": 0x0012_3456, "sequence": 9}));
    assert_eq!(got["arguments"][39], 7);
}

#[test]
fn sticks_are_fractions() {
    let mut bench = Bench::new("mavlink.manual_control_in", json!({}));
    bench.message(&ManualControl {
        x: -1000,
        y: 500,
        z: 1000,
        r: 1,
        buttons: 0x8001,
        target: 1,
        buttons2: 2,
        enabled_extensions: 3,
        s: 250,
        t: -250,
        aux1: 1000,
        aux2: 2000,
        aux3: 3000,
        aux4: 4000,
        aux5: 5000,
        aux6: 6000,
    });
    assert_has(
        &bench.only("control"),
        &json!({"x": -1.0, "y": 0.5, "z": 1.0, "r": 0.001, "buttons": 0x8001, "buttons2": 2,
            "enabled_extensions": 3, "s": 0.25, "t": -0.25, "aux1": 1.0, "aux2": 2.0, "aux3": 3.0, "aux4": 4.0,
            "aux5": 5.0, "aux6": 6.0}),
    );
}

#[test]
fn actuator_controls_are_those_of_the_autopilot() {
    let mut bench = Bench::new("mavlink.actuator_target", json!({}));
    let mut target = ActuatorControlTarget { group_mlx: 2, ..zero() };
    target.controls[7] = -0.5;
    bench.message(&target);
    let got = bench.only("target_actuator_control");
    assert_eq!((&got["group_mix"], &got["controls"][7]), (&json!(2), &json!(-0.5)));
    bench.frame(&v2(1, 100, &target)).unwrap();
    assert_eq!(bench.take("target_actuator_control"), [] as [Value; 0]);
}

#[test]
fn setpoints_of_the_vehicle_are_enu_and_flu() {
    let mut bench = Bench::new("mavlink.setpoint_target", json!({}));
    bench.message(&PositionTargetLocalNed {
        x: 1.0,
        y: 2.0,
        z: -3.0,
        vx: 4.0,
        vy: 5.0,
        vz: -6.0,
        afx: 7.0,
        afy: 8.0,
        afz: -9.0,
        yaw: 0.0,
        yaw_rate: 0.5,
        type_mask: 0x0ff8,
        coordinate_frame: 1,
        ..zero()
    });
    assert_has(
        &bench.only("target_local"),
        &json!({"coordinate_frame": 1, "type_mask": 0x0ff8, "position": {"x": 2.0, "y": 1.0, "z": 3.0},
            "velocity": {"x": 5.0, "y": 4.0, "z": 6.0},
            "acceleration_or_force": {"x": 8.0, "y": 7.0, "z": 9.0},
            "yaw": std::f64::consts::FRAC_PI_2, "yaw_rate": -0.5}),
    );
    bench.message(&PositionTargetGlobalInt {
        lat_int: 473_977_420,
        lon_int: -85_455_940,
        alt: 500.0,
        vx: 1.0,
        yaw: 1.070_796_4,
        type_mask: 3,
        coordinate_frame: 6,
        ..zero()
    });
    assert_has(
        &bench.only("target_global"),
        &json!({"latitude": 47.397_742, "longitude": -8.545_594, "altitude": 500.0, "type_mask": 3,
            "coordinate_frame": 6, "velocity": {"x": 0.0, "y": 1.0, "z": 0.0}, "yaw": 0.5}),
    );
    bench.message(&AttitudeTarget {
        q: [0.983_347, 0.034_271, 0.106_021, 0.143_572],
        body_roll_rate: 0.01,
        body_pitch_rate: 0.02,
        body_yaw_rate: 0.03,
        thrust: 0.7,
        type_mask: 7,
        ..zero()
    });
    let got = bench.only("target_attitude");
    assert_has(
        &got,
        &json!({"body_rate": {"x": 0.01, "y": -0.02, "z": -0.03}, "thrust": 0.7, "type_mask": 7}),
    );
    let q = numbers(&got["orientation"], ["w", "x", "y", "z"]);
    let dot: f64 = q.iter().zip([0.796_853, 0.099_201, -0.050_735, 0.593_811]).map(|(a, b)| a * b).sum();
    assert!((dot.abs() - 1.0).abs() < 1e-5, "{q:?}");
}

#[test]
fn nothing_is_decoded_for_nobody() {
    let mut bench = Bench::new("mavlink.nav_controller_output", json!({}));
    bench.listen("output", 0);
    bench.message(&zero::<NavControllerOutput>());
    assert_eq!(bench.take("output"), [] as [Value; 0]);
    bench.listen("output", 1);
    bench.frame(&v2(2, 1, &zero::<NavControllerOutput>())).unwrap();
    assert_eq!(bench.take("output"), [] as [Value; 0], "another vehicle's");
}
