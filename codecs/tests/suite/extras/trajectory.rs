//! Paths and plans.

use rostrans_codecs::mavlink::dialect::{TrajectoryRepresentationBezier, TrajectoryRepresentationWaypoints};
use rostrans_core::codec::EncodeError;
use serde_json::{Value, json};

use super::{bench, header, one, with};
use crate::support::{Bench, assert_close, assert_has, zero};

#[test]
fn desired_trajectory_is_enu_with_a_wrapped_yaw() {
    let mut bench = Bench::new("mavlink.trajectory", json!({}));
    let mut path = TrajectoryRepresentationWaypoints { valid_points: 2, command: [1, 2, 3, 4, 5], ..zero() };
    path.pos_x[1] = 1.0;
    path.pos_y[1] = 2.0;
    path.pos_z[1] = -3.0;
    path.vel_x[1] = 4.0;
    path.acc_y[1] = 5.0;
    path.pos_yaw[1] = -3.0;
    path.vel_yaw[1] = 0.25;
    bench.message(&path);
    let got = bench.only("desired");
    assert_has(
        &got,
        &json!({"header": {"frame_id": "local_origin"}, "type": 0, "point_valid": [1, 1, 0, 0, 0],
            "command": [1, 2, 3, 4, 5]}),
    );
    assert_has(
        &got["point_2"],
        &json!({"position": {"x": 2.0, "y": 1.0, "z": 3.0}, "velocity": {"x": 0.0, "y": 4.0, "z": 0.0},
            "acceleration_or_force": {"x": 5.0, "y": 0.0, "z": 0.0}, "yaw": -1.712_389, "yaw_rate": 0.25}),
    );
    bench.message(&TrajectoryRepresentationWaypoints { valid_points: 6, ..path });
    assert_eq!(bench.take("desired"), [] as [Value; 0], "there are five points");
}

#[test]
fn planned_points_are_ned_and_what_is_not_valid_is_nan() {
    let point = json!({"position": {"x": 1.0, "y": 2.0, "z": 3.0}, "velocity": {"x": 4.0, "y": 5.0, "z": 6.0},
        "acceleration_or_force": {"x": 7.0, "y": 8.0, "z": 9.0}, "yaw": 3.0, "yaw_rate": 0.5});
    let mut sample = json!({"header": header(), "type": 0, "point_2": point, "point_valid": [0, 1, 0, 0, 1],
        "time_horizon": [0.1, 0.2, 0.3, 0.4, 0.5]});
    let mut trajectory = bench("mavlink.trajectory");
    let m: TrajectoryRepresentationWaypoints = one(&mut trajectory, "generated", &sample);
    assert_eq!((m.time_usec, m.valid_points, m.command), (12_345_678, 2, [u16::MAX; 5]));
    assert_eq!([m.pos_x[1], m.pos_y[1], m.pos_z[1]], [2.0, 1.0, -3.0]);
    assert_eq!([m.vel_x[1], m.vel_y[1], m.vel_z[1]], [5.0, 4.0, -6.0]);
    assert_eq!([m.acc_x[1], m.acc_y[1], m.acc_z[1]], [8.0, 7.0, -9.0]);
    assert_close([m.pos_yaw[1], m.vel_yaw[1]].map(f64::from), [-1.429_204, 0.5], 1e-6);
    let unused = [m.pos_x, m.pos_y, m.pos_z, m.vel_x, m.vel_y, m.vel_z, m.acc_x, m.acc_y, m.acc_z, m.pos_yaw];
    assert!(unused.iter().all(|values| [0, 2, 3].iter().all(|index| values[*index].is_nan())));

    sample["type"] = json!(1);
    let m: TrajectoryRepresentationBezier = one(&mut trajectory, "generated", &sample);
    assert_eq!((m.valid_points, m.pos_x[1], m.delta[1], m.delta[4]), (2, 2.0, 0.2, 0.5));
    assert!(m.delta[0].is_nan() && m.pos_yaw[0].is_nan());
    sample["type"] = json!(2);
    assert_eq!(trajectory.sample("generated", &sample), Err(EncodeError::OutOfRange("type")));

    sample["type"] = json!(0);
    let mut exact = with("mavlink.trajectory", json!({"exact": true}));
    let m: TrajectoryRepresentationWaypoints = one(&mut exact, "generated", &sample);
    assert_eq!(m.command, [0, u16::MAX, 0, 0, u16::MAX]);
}

#[test]
fn first_five_poses_of_a_path_are_sent() {
    let pose = |x: f64| {
        json!({"pose": {"position": {"x": x, "y": 2.0, "z": 3.0},
            "orientation": {"w": 0.877_582_561_890_373, "z": 0.479_425_538_604_203}}})
    };
    let mut trajectory = bench("mavlink.trajectory");
    let path = json!({"header": header(), "poses": [pose(1.0), pose(4.0)]});
    let m: TrajectoryRepresentationWaypoints = one(&mut trajectory, "path", &path);
    assert_eq!((m.time_usec, m.valid_points, m.command), (12_345_678, 2, [u16::MAX; 5]));
    assert_eq!([m.pos_x[1], m.pos_y[1], m.pos_z[1]], [2.0, 4.0, -3.0]);
    assert!((m.pos_yaw[1] - 0.570_796).abs() < 1e-5, "{}", m.pos_yaw[1]);
    assert!(m.vel_x[1].is_nan() && m.acc_z[1].is_nan() && m.vel_yaw[1].is_nan() && m.pos_x[2].is_nan());
    let long: Vec<Value> = (0..9).map(|x| pose(x.into())).collect();
    let m: TrajectoryRepresentationWaypoints = one(&mut trajectory, "path", &json!({"poses": long}));
    assert_eq!((m.valid_points, m.pos_y), (5, [0.0, 1.0, 2.0, 3.0, 4.0]));
    let m: TrajectoryRepresentationWaypoints = one(&mut trajectory, "path", &json!({}));
    assert_eq!(m.valid_points, 0);
    let mut exact = with("mavlink.trajectory", json!({"exact": true}));
    let m: TrajectoryRepresentationWaypoints = one(&mut exact, "path", &path);
    assert!((m.pos_yaw[1] - 1.0).abs() < 1e-5, "MAVROS turns it twice: {}", m.pos_yaw[1]);
}
