//! The reference's vectors, and behaviour that the recorded MAVROS does not show.

use rostrans_codecs::mavlink::dialect::{
    Attitude, AttitudeQuaternion, GlobalPositionInt, GpsGlobalOrigin, GpsRawInt, HighresImu, HomePosition,
    LocalPositionNed, LocalPositionNedCov, LocalPositionNedSystemGlobalOffset, RawImu,
};
use serde_json::{Value, json};
use std::{f64::consts::FRAC_1_SQRT_2, time::Duration};

use crate::support::{Bench, START_NS, assert_close, build, heartbeat, numbers, rule, v1, v2, zero};

fn attitude(roll: f32, pitch: f32, yaw: f32) -> Attitude {
    Attitude { roll, pitch, yaw, rollspeed: 0.01, pitchspeed: 0.02, yawspeed: 0.03, ..zero() }
}

fn xyz(value: &Value) -> [f64; 3] {
    numbers(value, ["x", "y", "z"])
}

#[test]
fn attitude_and_rates_are_flu_in_enu() {
    let cases = [
        ([0.0, 0.0, 0.0], [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2]),
        ([0.0, 0.0, std::f32::consts::FRAC_PI_2], [1.0, 0.0, 0.0, 0.0]),
        ([0.1, 0.2, 0.3], [0.796_853, 0.099_201, -0.050_735, 0.593_811]),
        ([0.0, 0.0, -2.0], [-0.212_958, 0.0, 0.0, 0.977_061]),
    ];
    let mut bench = Bench::new("mavlink.imu", json!({}));
    for ([roll, pitch, yaw], want) in cases {
        bench.message(&attitude(roll, pitch, yaw));
        let imu = bench.only("data");
        let got = numbers(&imu["orientation"], ["w", "x", "y", "z"]);
        let dot: f64 = got.iter().zip(want).map(|(a, b)| a * b).sum();
        assert!((dot.abs() - 1.0).abs() < 1e-6, "{got:?}");
        assert_close(xyz(&imu["angular_velocity"]), [0.01, -0.02, -0.03], 1e-6);
    }
}

#[test]
fn imu_carries_frame_stamp_and_covariances() {
    let mut bench = Bench::new("mavlink.imu", json!({"frame_id": "imu_link", "orientation_stdev": 0.5}));
    bench.skip(Duration::from_millis(1500));
    bench.message(&attitude(0.0, 0.0, 0.0));
    let imu = bench.only("data");
    assert_eq!(imu["header"]["frame_id"], "imu_link");
    let stamp = START_NS + 1_500_000_000;
    assert_eq!(
        imu["header"]["stamp"],
        json!({"sec": stamp / 1_000_000_000, "nanosec": stamp % 1_000_000_000})
    );
    assert_eq!(imu["orientation_covariance"][4], 0.25);
    assert_eq!(imu["linear_acceleration_covariance"][0], -1.0, "no acceleration came yet");
    bench.message(&HighresImu { fields_updated: 0x3f, zacc: -9.8, ..zero() });
    bench.message(&attitude(0.0, 0.0, 0.0));
    let imu = bench.only("data");
    assert_close(xyz(&imu["linear_acceleration"]), [0.0, 0.0, 9.8], 1e-6);
    let variance = imu["linear_acceleration_covariance"][0].as_f64().unwrap();
    assert!((variance - 9e-8).abs() < 1e-12);
}

#[test]
fn better_sources_win_until_the_vehicle_is_back_after_a_silence() {
    let mut bench = Bench::new("mavlink.imu", json!({}));
    bench.message(&heartbeat(12));
    bench.message(&AttitudeQuaternion { q1: 1.0, ..zero() });
    bench.message(&HighresImu { fields_updated: 0x3f, ..zero() });
    assert_eq!((bench.take("data").len(), bench.take("data_raw").len()), (1, 1));
    bench.message(&attitude(0.0, 0.0, 0.0));
    bench.message(&zero::<RawImu>());
    assert_eq!((bench.take("data").len(), bench.take("data_raw").len()), (0, 0));
    bench.skip(Duration::from_secs(11));
    bench.message(&heartbeat(12));
    bench.message(&attitude(0.0, 0.0, 0.0));
    bench.message(&zero::<RawImu>());
    assert_eq!((bench.take("data").len(), bench.take("data_raw").len()), (1, 1));
}

#[test]
fn raw_units_depend_on_the_autopilot() {
    for (autopilot, want) in [(3, 9.806_65), (12, 1.0), (0, 1000.0)] {
        let mut bench = Bench::new("mavlink.imu", json!({}));
        bench.message(&heartbeat(autopilot));
        bench.message(&RawImu { xacc: 1000, xmag: 200, ..zero() });
        assert_close(numbers(&bench.only("data_raw")["linear_acceleration"], ["x"]), [want], 1e-9);
        assert_close(numbers(&bench.only("mag")["magnetic_field"], ["x"]), [2e-5], 1e-12);
    }
}

#[test]
fn pressures_are_pascal_and_temperature_is_celsius() {
    let mut bench = Bench::new("mavlink.imu", json!({}));
    let sample = HighresImu {
        abs_pressure: 957.5,
        diff_pressure: 1.25,
        temperature: 36.5,
        fields_updated: 0x1600,
        ..zero()
    };
    bench.message(&sample);
    assert_eq!(bench.only("static_pressure")["fluid_pressure"], 95_750.0);
    assert_eq!(bench.only("diff_pressure")["fluid_pressure"], 125.0);
    assert_eq!(bench.only("temperature_imu")["temperature"], 36.5);
    assert_eq!(bench.take("data_raw").len() + bench.take("mag").len(), 0, "not updated");
}

#[test]
fn local_position_follows_the_reference() {
    let mut bench = Bench::new("mavlink.local_position", json!({}));
    bench.message(&attitude(0.1, 0.2, 0.3));
    bench.message(&LocalPositionNed { x: 10.0, y: 20.0, z: -5.0, vx: 1.0, vy: 2.0, vz: -0.5, ..zero() });
    let pose = bench.only("pose");
    assert_eq!(xyz(&pose["pose"]["position"]), [20.0, 10.0, 5.0]);
    assert_eq!(pose["header"]["frame_id"], "map");
    let local = bench.only("velocity_local");
    assert_eq!(xyz(&local["twist"]["linear"]), [2.0, 1.0, 0.5]);
    assert_close(xyz(&local["twist"]["angular"]), [0.020_916, 0.010_412, -0.029_225], 1e-6);
    assert_eq!(local["header"]["frame_id"], "base_link");
    let body = bench.only("velocity_body");
    assert_close(xyz(&body["twist"]["linear"]), [1.614_887, -1.588_833, 0.343_149], 1e-6);
    assert_close(xyz(&body["twist"]["angular"]), [0.01, -0.02, -0.03], 1e-6);
    let odom = bench.only("odom");
    assert_eq!(odom["pose"]["pose"], pose["pose"]);
    assert_eq!(odom["twist"]["twist"], body["twist"]);
    assert_eq!((&odom["header"]["frame_id"], &odom["child_frame_id"]), (&json!("map"), &json!("base_link")));
}

#[test]
fn position_with_covariance_alone_feeds_all_but_local_velocity() {
    let mut covariance = [0.0; 45];
    // Variances north, east, down, and the covariance of north and down.
    [covariance[0], covariance[9], covariance[17], covariance[2]] = [1.0, 2.0, 3.0, 0.5];
    let mut bench = Bench::new("mavlink.local_position", json!({}));
    bench.message(&LocalPositionNedCov { x: 1.0, covariance, ..zero() });
    for port in ["pose", "velocity_body", "odom", "velocity_body_cov", "accel"] {
        assert_eq!(bench.take(port).len(), 1, "{port}");
    }
    assert_eq!(bench.take("velocity_local").len(), 0);
    let covariance = &bench.only("pose_cov")["pose"]["covariance"];
    let at = |i: usize| covariance[i].as_f64().unwrap();
    assert_eq!([at(0), at(7), at(14)], [2.0, 1.0, 3.0], "east, north, up");
    assert_eq!([at(8), at(13), at(2)], [-0.5, -0.5, 0.0], "north with up");
}

#[test]
fn frames_and_variances_are_options() {
    let options = json!({"frame_id": "odom", "child_frame_id": "body", "velocity_frame_id": "level"});
    let mut local = Bench::new("mavlink.local_position", options);
    local.message(&zero::<LocalPositionNed>());
    let odom = local.only("odom");
    assert_eq!((&odom["header"]["frame_id"], &odom["child_frame_id"]), (&json!("odom"), &json!("body")));
    assert_eq!(local.only("velocity_body")["header"]["frame_id"], "body");
    assert_eq!(local.only("velocity_local")["header"]["frame_id"], "level");
    assert_eq!(local.only("pose")["header"], odom["header"], "same stamp, same frame");

    let mut global =
        Bench::new("mavlink.global_position", json!({"rot_covariance": 7, "frame_id": "earthly"}));
    global.message(&GpsRawInt { fix_type: 3, ..zero() });
    global.message(&zero::<GlobalPositionInt>());
    let odom = global.only("local");
    assert_eq!(
        (&odom["pose"]["covariance"][21], &odom["header"]["frame_id"]),
        (&json!(7.0), &json!("earthly"))
    );
}

#[test]
fn heights_are_above_the_ellipsoid_once_the_receiver_tells() {
    let mut bench = Bench::new("mavlink.global_position", json!({}));
    let fix = GpsRawInt {
        lat: 473_977_420,
        lon: 85_455_940,
        alt: 488_150,
        fix_type: 3,
        eph: 121,
        epv: 205,
        satellites_visible: 14,
        ..zero()
    };
    bench.message(&fix);
    assert_eq!(bench.only("raw_fix")["altitude"], 488.15);
    bench.message(&GpsRawInt { alt_ellipsoid: 535_400, ..fix });
    let raw = bench.only("raw_fix");
    assert_close(numbers(&raw, ["altitude", "latitude"]), [535.4, 47.397_742], 1e-9);
    assert_eq!(raw["status"], json!({"status": 0, "service": 1}));
    assert_eq!(bench.take("raw_satellites").pop().unwrap()["data"], 14);
    bench.message(&GpsGlobalOrigin { altitude: 488_000, ..zero() });
    assert_close(numbers(&bench.only("gp_origin")["position"], ["altitude"]), [535.25], 1e-9);
    // A wild value is not an undulation.
    bench.message(&GpsRawInt { alt_ellipsoid: 5_354_000, ..fix });
    assert_close(numbers(&bench.only("raw_fix"), ["altitude"]), [535.4], 1e-9);
}

#[test]
fn old_frames_have_no_accuracies() {
    let fix = GpsRawInt { fix_type: 3, eph: 200, epv: 300, h_acc: 850, v_acc: 1200, ..zero() };
    let mut bench = Bench::new("mavlink.global_position", json!({"gps_uere": 2.0}));
    bench.frame(&v2(1, 1, &fix)).unwrap();
    let new = bench.only("raw_fix");
    assert_close([new["position_covariance"][0].as_f64().unwrap()], [0.7225], 1e-9);
    assert_eq!(new["position_covariance_type"], 2);
    bench.frame(&v1(1, 1, &fix)).unwrap();
    let old = bench.only("raw_fix");
    assert_eq!(
        (&old["position_covariance"][0], &old["position_covariance"][8]),
        (&json!(16.0), &json!(36.0))
    );
    assert_eq!(old["position_covariance_type"], 1);
}

#[test]
fn local_of_global_waits_for_an_origin_and_turns_velocity_up() {
    let here = GlobalPositionInt {
        lat: 473_677_000,
        lon: 85_520_000,
        alt: 420_000,
        relative_alt: 12_500,
        vx: 100,
        vy: 200,
        vz: 300,
        hdg: u16::MAX,
        ..zero()
    };
    let mut bench = Bench::new("mavlink.global_position", json!({"use_relative_alt": false}));
    bench.message(&here);
    assert_eq!(bench.take("local").len(), 0, "neither home nor a fix");
    assert_eq!(bench.only("compass_hdg")["data"], "NaN");
    assert_eq!(bench.only("rel_alt")["data"], 12.5);
    let home = HomePosition { latitude: 473_667_000, longitude: 85_500_000, altitude: 408_000, ..zero() };
    bench.message(&home);
    bench.message(&here);
    let local = bench.only("local");
    assert_close(xyz(&local["pose"]["pose"]["position"]), [151.0752, 111.1873, 11.9972], 1e-3);
    assert_eq!(xyz(&local["twist"]["twist"]["linear"]), [2.0, 1.0, -3.0]);
    assert_eq!(
        (&local["twist"]["covariance"][0], &local["pose"]["covariance"][35]),
        (&json!(-1.0), &json!(99_999.0))
    );
}

#[test]
fn home_is_enu_with_its_orientation_turned_on_the_world_side() {
    let mut bench = Bench::new("mavlink.home_position", json!({}));
    bench.message(&GpsRawInt { alt: 488_150, alt_ellipsoid: 535_400, ..zero() });
    let home = HomePosition {
        altitude: 488_123,
        x: 1.5,
        y: -2.5,
        z: 0.75,
        q: [0.923_879_5, 0.0, 0.0, 0.382_683_4],
        approach_x: 0.5,
        approach_y: 0.25,
        approach_z: -0.125,
        ..zero()
    };
    bench.message(&home);
    let got = bench.only("home");
    assert_close(numbers(&got["geo"], ["altitude"]), [535.373], 1e-6);
    assert_eq!(xyz(&got["position"]), [-2.5, 1.5, -0.75]);
    assert_eq!(xyz(&got["approach"]), [0.25, 0.5, 0.125]);
    let q = numbers(&got["orientation"], ["w", "x", "y", "z"]);
    assert_close(q.map(f64::abs), [0.0, 0.923_879_5, 0.382_683_4, 0.0], 1e-6);
}

#[test]
fn other_systems_are_ignored_unless_any_is_taken() {
    for (options, want) in [(json!({}), 0), (json!({"sysid": 7}), 1), (json!({"sysid": 0}), 1)] {
        let mut bench = Bench::new("mavlink.imu", options);
        bench.frame(&v2(7, 1, &attitude(0.0, 0.0, 0.0))).unwrap();
        assert_eq!(bench.take("data").len(), want);
    }
}

#[test]
fn attitude_is_tracked_while_nobody_listens() {
    let mut bench = Bench::new("mavlink.local_position", json!({}));
    bench.listen("pose", 0);
    bench.message(&attitude(0.0, 0.0, std::f32::consts::FRAC_PI_2));
    bench.message(&zero::<LocalPositionNed>());
    assert_eq!(bench.take("pose").len(), 0);
    bench.listen("pose", 1);
    bench.message(&zero::<LocalPositionNed>());
    let q = numbers(&bench.only("pose")["pose"]["orientation"], ["w", "x", "y", "z"]);
    assert_close(q.map(f64::abs), [1.0, 0.0, 0.0, 0.0], 1e-6);
}

#[test]
fn wrong_options_say_what_is_allowed() {
    let message = |codec: &str, options: Value| {
        let rule = rule(codec, &options);
        build(&rule, |codec, cx| codec.decoder(cx).map(drop)).unwrap_err().to_string()
    };
    assert_eq!(
        message("mavlink.imu", json!({"sysid": 300})),
        "option 'sysid': 300 is not a whole number from 0 to 255"
    );
    assert_eq!(
        message("mavlink.vfr_hud", json!({"frame": "map"})),
        "option 'frame': unknown; codec 'mavlink.vfr_hud' understands sysid"
    );
    assert_eq!(
        message("mavlink.imu", json!({"magnetic_stdev": -1})),
        "option 'magnetic_stdev': -1 is not a number, 0 or more"
    );
    assert_eq!(message("mavlink.state", json!({"exact": 1})), "option 'exact': 1 is not true or false");
    assert_eq!(
        message("string", json!({"encoding": "utf-16"})),
        "option 'encoding': \"utf-16\" is not one of utf-8, latin-1"
    );
    assert_eq!(message("raw_bytes", json!({"x": 1})), "option 'x': codec 'raw_bytes' has no options");
}

#[test]
fn pose_is_a_transform_when_asked_for() {
    let mut bench = Bench::new("mavlink.local_position", json!({"tf_send": true, "tf_frame_id": "world"}));
    bench.message(&LocalPositionNed { x: 1.0, y: 2.0, z: -3.0, ..zero() });
    let tf = bench.only("tf");
    let transform = &tf["transforms"][0];
    assert_eq!(transform["header"]["frame_id"], "world");
    assert_eq!(transform["child_frame_id"], "base_link");
    assert_close(numbers(&transform["transform"]["translation"], ["x", "y", "z"]), [2.0, 1.0, 3.0], 0.0);

    let mut silent = Bench::new("mavlink.local_position", json!({}));
    silent.message(&LocalPositionNed { x: 1.0, ..zero() });
    assert!(silent.take("tf").is_empty());
}

#[test]
fn global_position_sends_transforms_from_the_earth_to_the_body() {
    let mut bench = Bench::new("mavlink.global_position", json!({"tf_send": true}));
    bench.message(&LocalPositionNedSystemGlobalOffset { x: 10.0, y: 20.0, z: -30.0, ..zero() });
    let tf = bench.only("tf");
    assert_eq!(tf["transforms"][0]["header"]["frame_id"], "earth");
    assert_eq!(tf["transforms"][0]["child_frame_id"], "map");
    bench.message(&GpsRawInt { fix_type: 3, ..zero() });
    bench.message(&GlobalPositionInt { relative_alt: 5000, ..zero() });
    let tf = bench.only("tf");
    assert_eq!(tf["transforms"][0]["header"]["frame_id"], "map");
    assert_eq!(tf["transforms"][0]["transform"]["translation"]["z"], 5.0);
}
