//! Range finders.

use rostrans_codecs::mavlink::dialect::DistanceSensor;
use rostrans_core::codec::CodecError;
use serde_json::{Value, json};

use crate::{
    extras::{header, one, with},
    support::{assert_close, assert_has, build, numbers, rule, zero},
};

const CODEC: &str = "mavlink.distance_sensor";

fn measured() -> DistanceSensor {
    DistanceSensor {
        min_distance: 20,
        max_distance: 4000,
        current_distance: 123,
        id: 7,
        orientation: 25,
        ..zero()
    }
}

#[test]
fn ranges_of_one_number_and_orientation_are_published() {
    let options = json!({"id": 7, "orientation": "PITCH_270", "frame_id": "lidar", "field_of_view": 0.5});
    let mut sensor = with(CODEC, options);
    for (kind, radiation) in [(0, 1), (1, 0), (3, 1), (4, 1)] {
        sensor.message(&DistanceSensor { kind, ..measured() });
        assert_has(
            &sensor.only("range"),
            &json!({"header": {"frame_id": "lidar"}, "radiation_type": radiation, "field_of_view": 0.5,
                "min_range": 0.2, "max_range": 40.0, "range": 1.23}),
        );
    }
    sensor.message(&DistanceSensor { kind: 2, ..measured() });
    sensor.message(&DistanceSensor { id: 6, ..measured() });
    sensor.message(&DistanceSensor { orientation: 0, ..measured() });
    assert_eq!(sensor.take("range"), [] as [Value; 0]);
    assert_eq!(sensor.take("tf"), [] as [Value; 0], "nobody asked for it");
}

#[test]
fn place_of_a_sensor_is_a_transform() {
    let mut sensor = with(CODEC, json!({"id": 7, "frame_id": "lidar", "send_tf": true, "z": -0.1}));
    sensor.message(&measured());
    let tf = sensor.only("tf");
    assert_has(
        &tf["transforms"][0],
        &json!({"header": {"frame_id": "base_link"}, "child_frame_id": "lidar",
            "transform": {"translation": {"x": 0.0, "z": -0.1}}}),
    );
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let q = numbers(&tf["transforms"][0]["transform"]["rotation"], ["w", "x", "y", "z"]);
    assert_close(q.map(f64::abs), [half, 0.0, half, 0.0], 1e-9);
    sensor.message(&DistanceSensor { orientation: 100, quaternion: [0.0, 1.0, 0.0, 0.0], ..measured() });
    let q = numbers(&sensor.only("tf")["transforms"][0]["transform"]["rotation"], ["w", "x", "y", "z"]);
    assert_close(q, [0.0, 1.0, 0.0, 0.0], 0.0);
}

#[test]
fn ranges_for_the_vehicle_have_a_variance() {
    let range = |metres: f64| {
        json!({"header": header(), "radiation_type": 1, "field_of_view": 0.5, "min_range": 0.2, "max_range": 700.0,
            "range": metres})
    };
    let mut sensor = with(CODEC, json!({"id": 3, "orientation": "25", "horizontal_fov_ratio": 2.0}));
    assert_eq!(one::<DistanceSensor>(&mut sensor, "send", &range(1.5)).covariance, 0);
    let m: DistanceSensor = one(&mut sensor, "send", &range(3.5));
    let want = DistanceSensor {
        time_boot_ms: 12_345,
        min_distance: 20,
        max_distance: u16::MAX,
        current_distance: 350,
        kind: 0,
        id: 3,
        orientation: 25,
        covariance: 100,
        horizontal_fov: 1.0,
        vertical_fov: 0.5,
        quaternion: [0.0; 4],
        signal_quality: 0,
    };
    assert_eq!(m, want);
    for _ in 0..50 {
        sensor.sample("send", &range(2.0)).unwrap();
    }
    sensor.sent();
    assert_eq!(
        one::<DistanceSensor>(&mut sensor, "send", &range(2.0)).covariance,
        0,
        "the first ones are forgotten"
    );
    let custom = json!({"orientation": "CUSTOM", "pitch": 270.0, "covariance": 9});
    let m: DistanceSensor =
        one(&mut with(CODEC, custom), "send", &json!({"radiation_type": 0, "range": 1.0}));
    assert_eq!((m.kind, m.orientation, m.covariance), (1, 100, 9));
    let half = std::f64::consts::FRAC_1_SQRT_2;
    assert_close(m.quaternion.map(|v| f64::from(v).abs()), [half, 0.0, half, 0.0], 1e-6);
}

#[test]
fn unknown_orientation_is_refused_with_an_example() {
    let error =
        build(&rule(CODEC, &json!({"orientation": "DOWN"})), |codec, cx| codec.decoder(cx)).err().unwrap();
    let CodecError::Option { option, problem } = error else { panic!("{error}") };
    assert_eq!(
        (option.as_str(), problem.as_str()),
        ("orientation", "'DOWN' is no MAV_SENSOR_ORIENTATION; write e.g. PITCH_270")
    );
}

#[test]
fn range_that_is_no_number_is_not_sent_as_contact() {
    let mut sensor = with(CODEC, json!({"id": 1}));
    let nan = json!({"radiation_type": 0, "range": "NaN"});
    assert_eq!(sensor.sample("send", &nan), Err(rostrans_core::codec::EncodeError::OutOfRange("range")));
    assert!(sensor.sent().is_empty());
}
