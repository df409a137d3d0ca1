use std::time::Duration;

use proptest::prelude::*;
use rostrans_core::codec::DecodeError;
use rostrans_rflysim::{
    Packet,
    estimate::{OutHilStateData, OutHilStateShort, STATE},
    truth::{NetDataShort, SOut2Simulator, SOut2SimulatorSimpleTime, SimpleTimeV0, SimpleTimeV1},
};
use serde_json::json;

use super::state;
use crate::support::{Bench, assert_close, assert_has, lines, numbers};

/// The place in a pose.
fn place(bench: &mut Bench) -> [f64; 3] {
    let pose = bench.only("pose");
    numbers(&pose["pose"]["position"], ["x", "y", "z"])
}

#[test]
fn one_datagram_feeds_all_topics() {
    let mut truth = Bench::new("coptersim.truth", json!({"spawn": "0,0,0"}));
    truth.frame(&state().encode()).unwrap();

    let pose = truth.only("pose");
    assert_eq!(pose["header"]["frame_id"], "map");
    assert_has(&pose["pose"]["position"], &json!({"x": 20.0, "y": 10.0, "z": 5.0}));
    let orientation = numbers(&pose["pose"]["orientation"], ["w", "x", "y", "z"]);
    assert_close(orientation, [0.998_438, 0.049_964, 0.024_966, -0.001_249], 2e-6);

    let local = truth.only("velocity_local");
    assert_close(numbers(&local["twist"]["linear"], ["x", "y", "z"]), [0.5, 1.0, 0.25], 1e-6);
    assert_close(numbers(&local["twist"]["angular"], ["x", "y", "z"]), [0.01, 0.02, -0.03], 1e-6);
    // Heading east, so forward is east and left is north; the roll and pitch are small.
    let body = truth.only("velocity_body");
    assert_close(numbers(&body["twist"]["linear"], ["x", "y", "z"]), [0.5, 1.0, 0.25], 0.12);

    let odom = truth.only("odom");
    assert_eq!((&odom["header"]["frame_id"], &odom["child_frame_id"]), (&json!("map"), &json!("base_link")));
    assert_has(&odom["pose"]["pose"]["position"], &json!({"x": 20.0, "y": 10.0, "z": 5.0}));
    assert_close(numbers(&odom["twist"]["twist"]["linear"], ["x", "y", "z"]), [0.5, 1.0, 0.25], 1e-6);

    let global = truth.only("global");
    assert_has(
        &global,
        &json!({"latitude": 40.154_030_2, "longitude": 116.259_368_3, "altitude": 55.0, "status": {"status": 0}}),
    );
    let imu = truth.only("imu");
    assert_close(numbers(&imu["linear_acceleration"], ["x", "y", "z"]), [0.2, 0.1, 9.81], 1e-5);
    assert_close(numbers(&imu["angular_velocity"], ["x", "y", "z"]), [0.01, 0.02, -0.03], 1e-6);
    let raw = truth.only("out2sim");
    assert_has(
        &raw,
        &json!({"copter_id": 1, "vehicle_type": 3, "runned_time": 12.5, "pos_e": [10.0, 20.0, -5.0]}),
    );
}

#[test]
fn vehicle_on_the_ground_is_at_height_zero() {
    let mut truth = Bench::new("coptersim.truth", json!({}));
    truth.frame(&SOut2Simulator { vel_e: [0.0; 3], acc_b: [0.0; 3], ..state() }.encode()).unwrap();
    let pose = truth.only("pose");
    assert_eq!(pose["pose"]["position"].to_string(), r#"{"x":0.0,"y":0.0,"z":0.0}"#);
    let velocity = truth.only("velocity_local");
    assert_eq!(velocity["twist"]["linear"].to_string(), r#"{"x":0.0,"y":0.0,"z":0.0}"#);
    assert_eq!(truth.only("imu")["linear_acceleration"].to_string(), r#"{"x":0.0,"y":0.0,"z":0.0}"#);
}

#[test]
fn second_simulator_on_one_port_is_named_and_ignored() {
    let mut truth = Bench::new("coptersim.truth", json!({}));
    let [first, second] = ["10.1.1.1:30100", "10.1.1.2:30100"].map(|text| text.parse().unwrap());
    lines();
    for n in 0..20 {
        let time = f64::from(n) / 100.0;
        let ours = SOut2Simulator { runned_time: 500.0 + time, ..state() };
        truth.frame_from(first, &ours.encode()).unwrap();
        let theirs = SOut2Simulator { runned_time: time, pos_e: [-9.0; 3], ..state() };
        assert_eq!(truth.frame_from(second, &theirs.encode()), Err(DecodeError::SecondSender));
        assert_eq!(place(&mut truth), [0.0; 3]);
        truth.skip(Duration::from_millis(10));
    }
    let said: Vec<_> = lines().into_iter().filter(|line| line.contains("two simulators")).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("10.1.1.1:30100") && said[0].contains("10.1.1.2:30100"), "{said:?}");
    // The first has ended.
    truth.skip(Duration::from_millis(1000));
    let theirs = SOut2Simulator { runned_time: 1.0, ..state() };
    truth.frame_from(second, &theirs.encode()).unwrap();
}

#[test]
fn twist_of_odom_may_be_that_of_the_body() {
    let mut truth = Bench::new("coptersim.truth", json!({"odom_twist": "body"}));
    truth.frame(&state().encode()).unwrap();
    assert_eq!(
        truth.only("odom")["twist"]["twist"]["linear"],
        truth.only("velocity_body")["twist"]["linear"]
    );
}

#[test]
fn place_counts_from_where_the_vehicle_is_first_seen() {
    let mut truth = Bench::new("coptersim.truth", json!({}));
    truth.frame(&state().encode()).unwrap();
    assert_eq!(place(&mut truth), [0.0; 3]);
    let moved = SOut2Simulator { pos_e: [11.0, 22.0, -8.0], runned_time: 13.0, ..state() };
    truth.frame(&moved.encode()).unwrap();
    assert_eq!(place(&mut truth), [2.0, 1.0, 3.0]);
    // Packets out of order are no new start.
    let earlier = SOut2Simulator { pos_e: [11.0, 21.0, -8.0], runned_time: 12.9, ..state() };
    truth.frame(&earlier.encode()).unwrap();
    assert_eq!(place(&mut truth), [1.0, 1.0, 3.0]);
    // The simulation starts anew elsewhere.
    let anew = SOut2Simulator { pos_e: [0.0, 5.0, 0.0], runned_time: 0.01, ..state() };
    truth.frame(&anew.encode()).unwrap();
    assert_eq!(place(&mut truth), [0.0; 3]);
}

#[test]
fn all_generations_of_truth_are_taken_in_any_mixture() {
    let mut truth = Bench::new("coptersim.truth", json!({"spawn": "10,20,-5"}));
    let (vel_e, ang_euler) = (state().vel_e, state().ang_euler);
    let simple = SOut2SimulatorSimpleTime {
        copter_id: 1,
        pos_gps_int: [401_540_302, 1_162_593_683, 55_000],
        vel_e,
        ang_euler,
        pos_e: [11.0, 20.0, -5.0],
        ..Default::default()
    };
    let old = NetDataShort {
        tg: -1,
        len: 152,
        vel_e,
        ang_euler,
        pos_e: [11.0, 20.0, -5.0],
        ang_quatern: state().ang_quatern,
        ..Default::default()
    };
    let v1 = SimpleTimeV1 { vel_e, ang_euler, pos_e: [11.0, 20.0, -5.0], ..Default::default() };
    let v0 = SimpleTimeV0 { vel_e, ang_euler, pos_e: [11.0, 20.0, -5.0], ..Default::default() };
    let full = SOut2Simulator { pos_e: [11.0, 20.0, -5.0], ..state() };
    for bytes in [simple.encode(), full.encode(), old.encode(), v1.encode(), v0.encode(), full.encode()] {
        truth.frame(&bytes).unwrap();
        let pose = truth.only("pose");
        assert_close(numbers(&pose["pose"]["position"], ["x", "y", "z"]), [0.0, 1.0, 0.0], 1e-6);
        // The quaternion of the simple ones is made of their angles.
        let orientation = numbers(&pose["pose"]["orientation"], ["w", "x", "y", "z"]);
        assert_close(orientation, [0.998_438, 0.049_964, 0.024_966, -0.001_249], 1e-5);
        let local = truth.only("velocity_local");
        assert_close(numbers(&local["twist"]["linear"], ["x", "y", "z"]), [0.5, 1.0, 0.25], 1e-6);
    }
    truth.take("odom");
    truth.take("imu");
    // What a packet lacks is not made up.
    truth.frame(&simple.encode()).unwrap();
    let odom = truth.only("odom");
    assert_eq!(odom["twist"]["covariance"][35], -1.0);
    assert_eq!(truth.take("imu"), [] as [serde_json::Value; 0]);
}

#[test]
fn states_that_are_no_numbers_are_refused() {
    let mut truth = Bench::new("coptersim.truth", json!({}));
    let lost = SOut2Simulator { pos_e: [f64::NAN, 0.0, 0.0], ..state() };
    assert_eq!(truth.frame(&lost.encode()), Err(DecodeError::OutOfRange("PosE")));
    let turned = SOut2Simulator { ang_euler: [0.0, f32::INFINITY, 0.0], ..state() };
    assert!(truth.frame(&turned.encode()).is_err());
    let unfilled = SOut2Simulator { ang_quatern: [0.0; 4], ..state() };
    truth.frame(&unfilled.encode()).unwrap();
    let pose = truth.only("pose");
    let orientation = numbers(&pose["pose"]["orientation"], ["w", "x", "y", "z"]);
    assert_close(orientation, [0.998_438, 0.049_964, 0.024_966, -0.001_249], 1e-5);
}

#[test]
fn estimates_count_from_home() {
    let mut estimate = Bench::new("coptersim.estimate", json!({}));
    let simple = OutHilStateShort {
        checksum: STATE,
        ang_eular: [0.0, 0.0, 0.5],
        local_pos: [3.0, 4.0, -5.0],
        local_vel: [1.0, 0.0, -0.5],
        ..Default::default()
    };
    estimate.frame(&simple.encode()).unwrap();
    assert_eq!(place(&mut estimate), [4.0, 3.0, 5.0]);
    let local = estimate.only("velocity_local");
    assert_close(numbers(&local["twist"]["linear"], ["x", "y", "z"]), [0.0, 1.0, 0.5], 1e-6);
    assert_eq!(estimate.take("global"), [] as [serde_json::Value; 0]);

    let full = OutHilStateData {
        tg: -1,
        len: 112,
        gps_pos: [401_540_302, 1_162_593_683, 55_000],
        fix_type: 3,
        local_pos: [3.0, 4.0, -5.0],
        ..Default::default()
    };
    estimate.frame(&full.encode()).unwrap();
    assert_eq!(place(&mut estimate), [4.0, 3.0, 5.0]);
    let global = estimate.only("global");
    assert_has(&global, &json!({"latitude": 40.154_030_2, "longitude": 116.259_368_3, "altitude": 55.0}));
    // MAVLink on that port is not for it.
    estimate.frame(&[0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!(estimate.take("pose"), [] as [serde_json::Value; 0]);
}

proptest! {
    #[test]
    fn nothing_but_packets_is_taken(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let codecs = ["truth", "estimate", "event", "px4ext", "imu"];
        for codec in codecs {
            let _result = Bench::new(&format!("coptersim.{codec}"), json!({})).frame(&bytes);
        }
        // Cut or lengthened by a byte, it is another packet.
        let whole = state().encode();
        let mut truth = Bench::new("coptersim.truth", json!({}));
        prop_assert!(truth.frame(&whole[..bytes.len().min(167)]).is_err());
        prop_assert!(truth.frame(&[&whole[..], &[0][..]].concat()).is_err());
        prop_assert!(truth.frame(&whole).is_ok());
    }
}
