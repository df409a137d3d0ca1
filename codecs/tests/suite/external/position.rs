//! Poses and velocities from outside the vehicle.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{
    AttPosMocap, GpsInput, Odometry, VisionPositionEstimate, VisionSpeedEstimate,
};
use rostrans_core::codec::EncodeError;
use serde_json::{Value, json};

use crate::{
    extras::{bench, header, one, sent, with},
    support::{assert_close, assert_has, numbers, zero},
};

/// Roll 0.05, pitch -0.1, yaw 1.0, FLU in ENU; 0.05, 0.1, 0.570796 for the vehicle.
fn pose() -> Value {
    json!({"position": {"x": 1.0, "y": 2.0, "z": 3.0},
        "orientation": {"w": 0.875_612_83, "x": 0.045_864_45, "y": -0.031_878_29, "z": 0.479_772_73}})
}

/// Element `i` of a row-major 6x6 matrix is `10 * row + column` of the upper triangle.
fn covariance() -> Vec<f64> {
    (0..36_u8).map(|i| f64::from(10 * (i / 6).min(i % 6) + (i / 6).max(i % 6))).collect()
}

fn is_attitude(q: [f32; 4]) {
    let want = [0.958_403, 0.009_890, 0.054_971, 0.279_901];
    let dot: f64 = q.iter().zip(want).map(|(a, b)| f64::from(*a) * b).sum();
    assert!((dot.abs() - 1.0).abs() < 1e-5, "{q:?}");
}

#[test]
fn camera_poses_are_ned_and_the_same_one_is_sent_once() {
    let mut vision = bench("mavlink.vision_pose");
    let sample = json!({"header": header(), "pose": pose()});
    let m: VisionPositionEstimate = one(&mut vision, "pose", &sample);
    assert_eq!((m.usec, [m.x, m.y, m.z]), (12_345_678, [2.0, 1.0, -3.0]));
    assert_close([m.roll, m.pitch, m.yaw].map(f64::from), [0.05, 0.1, 0.570_796], 1e-5);
    assert_eq!((m.covariance, m.reset_counter), ([0.0; 21], 0));
    let with_covariance =
        |stamp: Value| json!({"header": stamp, "pose": {"pose": pose(), "covariance": covariance()}});
    vision.sample("pose", &sample).unwrap();
    vision.sample("pose_cov", &with_covariance(header())).unwrap();
    assert_eq!(vision.sent(), []);
    let later = json!({"stamp": {"sec": 13}});
    let m: VisionPositionEstimate = one(&mut vision, "pose_cov", &with_covariance(later));
    // x and y change places, z and what goes with it changes its sign.
    let upper = [
        11., 1., -12., 14., 13., -15., 0., -2., 4., 3., -5., 22., -24., -23., 25., 44., 34., -45., 33., -35.,
        55.,
    ];
    assert_eq!(m.covariance, upper);
}

#[test]
fn camera_velocities_come_in_three_types() {
    let mut vision = bench("mavlink.vision_speed");
    let linear = json!({"x": 1.0, "y": 2.0, "z": 3.0});
    let twist = json!({"header": header(), "twist": {"linear": linear}});
    let none = VisionSpeedEstimate { usec: 12_345_678, x: 2.0, y: 1.0, z: -3.0, ..zero() };
    assert_eq!(one::<VisionSpeedEstimate>(&mut vision, "speed_twist", &twist), none);
    let vector = json!({"header": header(), "vector": linear});
    assert_eq!(one::<VisionSpeedEstimate>(&mut vision, "speed_vector", &vector), none);
    let full =
        json!({"header": header(), "twist": {"twist": {"linear": linear}, "covariance": covariance()}});
    let m: VisionSpeedEstimate = one(&mut vision, "speed_twist_cov", &full);
    assert_eq!(m.covariance, [11.0, 1.0, -12.0, 1.0, 0.0, -2.0, -12.0, -2.0, 22.0]);
}

#[test]
fn motion_capture_is_ned() {
    let mut mocap = bench("mavlink.mocap");
    let p = pose();
    let transform = json!({"translation": p["position"], "rotation": p["orientation"]});
    for (input, sample) in [
        ("pose", json!({"header": header(), "pose": p})),
        ("tf", json!({"header": header(), "transform": transform})),
    ] {
        let m: AttPosMocap = one(&mut mocap, input, &sample);
        assert_eq!((m.time_usec, [m.x, m.y, m.z]), (12_345_678, [2.0, 1.0, -3.0]));
        is_attitude(m.q);
    }
}

#[test]
fn odometry_of_the_vehicle_is_enu_and_flu() {
    let mut odometry = bench("mavlink.odometry");
    let mut m = Odometry {
        x: 1.0,
        y: 2.0,
        z: -3.0,
        q: [0.958_403, 0.009_890, 0.054_971, 0.279_901],
        vx: 4.0,
        vy: 5.0,
        vz: 6.0,
        rollspeed: 0.1,
        pitchspeed: 0.2,
        yawspeed: 0.3,
        frame_id: 1,
        child_frame_id: 12,
        ..zero()
    };
    m.pose_covariance[0] = 7.0;
    m.velocity_covariance[1] = 8.0;
    odometry.message(&m);
    let got = odometry.only("in");
    assert_has(
        &got,
        &json!({"header": {"frame_id": "odom"}, "child_frame_id": "base_link",
            "pose": {"pose": {"position": {"x": 2.0, "y": 1.0, "z": 3.0}}},
            "twist": {"twist": {"linear": {"x": 4.0, "y": -5.0, "z": -6.0},
                "angular": {"x": 0.1, "y": -0.2, "z": -0.3}}}}),
    );
    assert_eq!((&got["pose"]["covariance"][7], &got["pose"]["covariance"][0]), (&json!(7.0), &json!(0.0)));
    let twist = &got["twist"]["covariance"];
    assert_eq!((&twist[1], &twist[6]), (&json!(-8.0), &json!(-8.0)));
    let q = numbers(&got["pose"]["pose"]["orientation"], ["w", "x", "y", "z"]);
    let dot: f64 = q.iter().zip([0.875_613, 0.045_864, -0.031_878, 0.479_773]).map(|(a, b)| a * b).sum();
    assert!((dot.abs() - 1.0).abs() < 1e-5, "{q:?}");
}

#[test]
fn odometry_for_the_vehicle_must_be_in_a_known_frame() {
    let sample = |frame: &str, child: &str| {
        json!({"header": {"stamp": {"sec": 12, "nanosec": 345_678_901}, "frame_id": frame},
            "child_frame_id": child,
            "pose": {"pose": pose(), "covariance": covariance()},
            "twist": {"twist": {"linear": {"x": 4.0, "y": 5.0, "z": 6.0}, "angular": {"x": 0.1, "y": 0.2, "z": 0.3}},
                "covariance": covariance()}})
    };
    let mut odometry = bench("mavlink.odometry_out");
    for frame in ["odom", "map"] {
        let m: Odometry = one(&mut odometry, "out", &sample(frame, "base_link"));
        assert_eq!((m.time_usec, [m.x, m.y, m.z]), (12_345_678, [2.0, 1.0, -3.0]));
        is_attitude(m.q);
        assert_eq!([m.vx, m.vy, m.vz], [4.0, -5.0, -6.0]);
        assert_eq!([m.rollspeed, m.pitchspeed, m.yawspeed], [0.1, -0.2, -0.3]);
        assert_eq!((m.frame_id, m.child_frame_id, m.estimator_type), (20, 12, 2));
        assert_eq!(m.pose_covariance[..3], [11.0, 1.0, -12.0]);
        assert_eq!(m.velocity_covariance[..3], [0.0, -1.0, -2.0]);
    }
    let refused = |frame, child| {
        let mut odometry = bench("mavlink.odometry_out");
        (odometry.sample("out", &sample(frame, child)), odometry.explain().unwrap_or_default())
    };
    let (outcome, words) = refused("camera", "base_link");
    assert_eq!(outcome, Err(EncodeError::OutOfRange("header.frame_id")));
    assert_eq!(words, "pose in frame 'camera', wanted is 'odom', 'map'; it cannot be transformed");
    let (outcome, words) = refused("odom", "camera");
    assert_eq!(outcome, Err(EncodeError::OutOfRange("child_frame_id")));
    assert_eq!(words, "twist in frame 'camera', wanted is 'base_link'; it cannot be transformed");
    let mut own = with("mavlink.odometry_out", json!({"frame_id": "world", "child_frame_id": "body"}));
    assert_eq!(one::<Odometry>(&mut own, "out", &sample("world", "body")).x, 2.0);
}

#[test]
fn external_receiver_is_copied_at_most_five_times_a_second() {
    let mut gps = bench("mavlink.gps_input");
    let sample = json!({"header": header(), "fix_type": 3, "gps_id": 1, "ignore_flags": 2, "time_week_ms": 3,
        "time_week": 4, "lat": 5, "lon": -6, "alt": 7.0, "hdop": 8.0, "vdop": 9.0, "vn": 10.0, "ve": 11.0,
        "vd": 12.0, "speed_accuracy": 13.0, "horiz_accuracy": 14.0, "vert_accuracy": 15.0,
        "satellites_visible": 16, "yaw": 17});
    let want = GpsInput {
        time_usec: 12_345_678,
        time_week_ms: 3,
        lat: 5,
        lon: -6,
        alt: 7.0,
        hdop: 8.0,
        vdop: 9.0,
        vn: 10.0,
        ve: 11.0,
        vd: 12.0,
        speed_accuracy: 13.0,
        horiz_accuracy: 14.0,
        vert_accuracy: 15.0,
        ignore_flags: 2,
        time_week: 4,
        gps_id: 1,
        fix_type: 3,
        satellites_visible: 16,
        yaw: 17,
    };
    assert_eq!(one::<GpsInput>(&mut gps, "gps_input", &sample), want);
    gps.skip(Duration::from_millis(199));
    gps.sample("gps_input", &sample).unwrap();
    assert_eq!(gps.sent(), []);
    gps.skip(Duration::from_millis(1));
    gps.sample("gps_input", &sample).unwrap();
    assert_eq!(sent::<GpsInput>(&mut gps).len(), 1);
    let mut all = with("mavlink.gps_input", json!({"gps_rate": 0}));
    all.sample("gps_input", &sample).unwrap();
    all.sample("gps_input", &sample).unwrap();
    assert_eq!(all.sent().len(), 2);
}
