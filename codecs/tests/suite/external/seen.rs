//! Landing targets, obstacles, optical flow, and the frames.

use rostrans_codecs::mavlink::dialect::{LandingTarget, ObstacleDistance, OpticalFlow, OpticalFlowRad};
use serde_json::{Value, json};
use std::{f64::consts::FRAC_1_SQRT_2, time::Duration};

use crate::{
    extras::{bench, header, one, with},
    support::{Bench, assert_close, assert_has, numbers, zero},
};

#[test]
fn landing_targets_of_the_vehicle_are_poses_and_frames() {
    let mut landing = bench("mavlink.landing_target");
    let target = LandingTarget { x: 1.0, y: 2.0, z: -3.0, q: [1.0, 0.0, 0.0, 0.0], target_num: 4, ..zero() };
    landing.message(&target);
    let pose = landing.only("pose_in");
    let position = json!({"x": 2.0, "y": 1.0, "z": 3.0});
    assert_has(&pose, &json!({"header": {"frame_id": "landing_target_1"}, "pose": {"position": position}}));
    let turned = [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2];
    assert_close(numbers(&pose["pose"]["orientation"], ["w", "x", "y", "z"]), turned, 1e-6);
    let marker = landing.only("lt_marker");
    assert_has(
        &marker,
        &json!({"vector": {"x": 1.0, "y": 1.0, "z": 0.0}, "header": {"stamp": {"sec": 1_700_000_000}}}),
    );
    assert_has(
        &landing.only("tf_out")["transforms"][0],
        &json!({"header": {"frame_id": "landing_target_4"}, "child_frame_id": "camera_center",
            "transform": {"translation": position}}),
    );
    let mut quiet = with("mavlink.landing_target", json!({"tf_send": false}));
    quiet.message(&target);
    assert_eq!(quiet.take("tf_out"), [] as [Value; 0]);
}

#[test]
fn landing_targets_for_the_vehicle_have_angles_and_sizes_of_their_geometry() {
    let mut landing = with("mavlink.landing_target", json!({"target_size_x": 2.0, "mav_frame": "BODY_FRD"}));
    let pose = json!({"position": {"x": 3.0, "y": 0.0, "z": -4.0}, "orientation": {"w": 1.0}});
    let sample = json!({"header": header(), "pose": pose});
    let m: LandingTarget = one(&mut landing, "pose", &sample);
    assert_eq!((m.time_usec, m.target_num, m.frame, m.kind, m.position_valid), (12_345_678, 1, 12, 2, 1));
    assert_eq!([m.x, m.y, m.z, m.distance], [0.0, 3.0, 4.0, 5.0]);
    let want = [0.0, 0.75_f64.atan(), 2.0 * 0.2_f64.atan(), 2.0 * 0.1_f64.atan()];
    assert_close([m.angle_x, m.angle_y, m.size_x, m.size_y].map(f64::from), want, 1e-6);
    landing.sample("pose", &sample).unwrap();
    assert_eq!(landing.sent(), [], "the same once more");
}

#[test]
fn raw_landing_targets_are_turned_in_the_frames_that_are_known() {
    let mut landing = bench("mavlink.landing_target");
    let raw = |frame: u8| {
        json!({"header": header(), "target_num": 3, "frame": frame, "angle": [0.1, 0.2], "distance": 5.0,
            "size": [0.3, 0.4], "type": 1,
            "pose": {"position": {"x": 1.0, "y": 2.0, "z": 3.0}, "orientation": {"w": 1.0}}})
    };
    let m: LandingTarget = one(&mut landing, "raw", &raw(1));
    assert_eq!((m.target_num, m.frame, m.kind, m.position_valid), (3, 1, 1, 1));
    assert_eq!([m.x, m.y, m.z], [2.0, 1.0, -3.0]);
    assert_eq!([m.angle_x, m.angle_y, m.distance, m.size_x, m.size_y], [0.1, 0.2, 5.0, 0.3, 0.4]);
    let m: LandingTarget = one(&mut landing, "raw", &raw(12));
    assert_eq!(([m.x, m.y, m.z], m.q.map(f32::abs)), ([1.0, -2.0, -3.0], [0.0, 1.0, 0.0, 0.0]));
    let m: LandingTarget = one(&mut landing, "raw", &raw(0));
    assert_eq!(([m.x, m.y, m.z], m.position_valid), ([0.0; 3], 0));
}

#[test]
fn short_scans_are_copied_and_long_ones_are_put_together() {
    let mut obstacle = bench("mavlink.obstacle");
    let scan = |ranges: Value| {
        json!({"header": header(), "angle_min": -std::f64::consts::FRAC_PI_2, "angle_increment": 0.017_453_292,
            "range_min": 0.2, "range_max": 1000.0, "ranges": ranges})
    };
    let m: ObstacleDistance =
        one(&mut obstacle, "send", &scan(json!([2.1, 0.0, -1.0, 655.34, 655.35, null, 1.005])));
    assert_eq!(m.distances[..8], [210, 0, u16::MAX, 65_534, u16::MAX, u16::MAX, 100, u16::MAX]);
    assert_eq!((m.time_usec, m.min_distance, m.max_distance), (12_345_678, 20, u16::MAX));
    assert_eq!((m.increment, m.sensor_type, m.frame), (1, 0, 0));
    assert_close([m.angle_offset, m.increment_f].map(f64::from), [-90.0, 1.0], 1e-4);
    // 180 to 72: bins of two or three; what is nearest counts, and a beam that met nothing does not.
    let mut ranges = vec![json!(9.0); 180];
    ranges[2] = json!(1.0);
    ranges[3] = json!(0.0);
    ranges[179] = json!(3.0);
    let m: ObstacleDistance = one(&mut obstacle, "send", &scan(json!(ranges)));
    assert_eq!((m.distances[..3].to_vec(), m.distances[71]), (vec![900, 100, 900], 300));
    assert_eq!((m.increment, m.increment_f), (3, 2.5));
    let m: ObstacleDistance = one(&mut obstacle, "send", &scan(json!([])));
    assert_eq!(m.distances, [u16::MAX; 72]);
}

#[test]
fn optical_flow_is_flu_both_ways() {
    let mut flow = bench("mavlink.px4flow");
    let m = OpticalFlowRad {
        time_usec: 12_345_678,
        integration_time_us: 1,
        integrated_x: 2.0,
        integrated_y: 3.0,
        integrated_xgyro: 4.0,
        integrated_ygyro: 5.0,
        integrated_zgyro: 6.0,
        time_delta_distance_us: 7,
        distance: 1.5,
        temperature: 2500,
        sensor_id: 0,
        quality: 9,
    };
    flow.message(&m);
    let mut got = flow.only("optical_flow_rad");
    assert_has(
        &got,
        &json!({"header": {"frame_id": "px4flow"}, "integration_time_us": 1, "integrated_x": 2.0,
            "integrated_y": -3.0, "integrated_xgyro": 4.0, "integrated_ygyro": -5.0, "integrated_zgyro": -6.0,
            "temperature": 25, "quality": 9, "time_delta_distance_us": 7, "distance": 1.5}),
    );
    assert_has(
        &flow.only("ground_distance"),
        &json!({"radiation_type": 0, "field_of_view": 0.119_428_926, "min_range": 0.3, "max_range": 5.0, "range": 1.5}),
    );
    flow.message(&OpticalFlowRad { temperature: 2550, ..m });
    assert_eq!(flow.take("temperature")[1]["temperature"], 25.5);
    got["header"] = header();
    assert_eq!(one::<OpticalFlowRad>(&mut flow, "send", &got), m);

    let mut flow = bench("mavlink.optical_flow");
    let m = OpticalFlow {
        time_usec: 12_345_678,
        flow_comp_m_x: 0.5,
        flow_comp_m_y: 0.25,
        ground_distance: 1.5,
        flow_x: 10,
        flow_y: -20,
        sensor_id: 0,
        quality: 200,
        flow_rate_x: 0.75,
        flow_rate_y: -1.5,
    };
    flow.message(&m);
    let mut got = flow.only("optical_flow");
    assert_has(
        &got,
        &json!({"header": {"frame_id": "optical_flow"}, "flow": {"x": 10.0, "y": 20.0},
            "flow_comp_m": {"x": 0.5, "y": -0.25}, "flow_rate": {"x": 0.75, "y": 1.5}, "quality": 200}),
    );
    assert_has(&flow.only("ground_distance"), &json!({"radiation_type": 1, "range": 1.5}));
    got["header"] = header();
    assert_eq!(one::<OpticalFlow>(&mut flow, "send", &got), m);
}

#[test]
fn fixed_frames_are_published_once() {
    let mut tf = Bench::new("mavlink.tf_static", json!({"map_frame_id": "world"}));
    tf.pass(Duration::from_secs(2));
    let got = tf.only("tf_static");
    let half = FRAC_1_SQRT_2;
    for (index, parent, child, q) in [
        (0, "world", "world_ned", [0.0, half, half, 0.0]),
        (1, "odom", "odom_ned", [0.0, half, half, 0.0]),
        (2, "base_link", "base_link_frd", [0.0, 1.0, 0.0, 0.0]),
    ] {
        let transform = &got["transforms"][index];
        assert_has(transform, &json!({"header": {"frame_id": parent}, "child_frame_id": child}));
        let rotation = numbers(&transform["transform"]["rotation"], ["w", "x", "y", "z"]);
        assert_close(rotation.map(f64::abs), q, 1e-9);
    }
}
