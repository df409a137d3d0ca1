//! Sensors and cameras of the vehicle.

use rostrans_codecs::mavlink::dialect::{
    CameraImageCaptured, CameraTrigger, Rangefinder, Rpm, TerrainReport, Vibration, WheelDistance,
};
use serde_json::json;

use crate::{
    extras::{bench, text},
    support::{assert_has, zero},
};

#[test]
fn vibration_has_swapped_axes_as_in_mavros() {
    let mut vibration = bench("mavlink.vibration");
    vibration.message(&Vibration {
        vibration_x: 1.0,
        vibration_y: 2.0,
        vibration_z: 3.0,
        clipping_0: 4,
        clipping_1: 5,
        clipping_2: 6,
        ..zero()
    });
    assert_has(
        &vibration.only("vibration"),
        &json!({"header": {"frame_id": "base_link"}, "vibration": {"x": 2.0, "y": 1.0, "z": -3.0},
            "clipping": [4.0, 5.0, 6.0]}),
    );
}

#[test]
fn ranges_and_terrain_are_copied() {
    let mut finder = bench("mavlink.rangefinder");
    finder.message(&Rangefinder { distance: 12.5, voltage: 1.0 });
    assert_has(
        &finder.only("rangefinder"),
        &json!({"header": {"frame_id": "/rangefinder"}, "radiation_type": 1, "range": 12.5, "max_range": 1000.0}),
    );
    let mut terrain = bench("mavlink.terrain");
    terrain.message(&TerrainReport {
        lat: 473_977_420,
        lon: -85_455_940,
        terrain_height: 1.5,
        current_height: 2.5,
        spacing: 100,
        pending: 3,
        loaded: 4,
    });
    assert_has(
        &terrain.only("report"),
        &json!({"header": {"frame_id": "terrain"}, "latitude": 47.397_742, "longitude": -8.545_594,
            "spacing": 100, "terrain_height": 1.5, "current_height": 2.5, "pending": 3, "loaded": 4}),
    );
}

#[test]
fn pictures_have_their_moment_and_place() {
    let mut sync = bench("mavlink.cam_imu_sync");
    sync.message(&CameraTrigger { seq: u32::MAX, ..zero() });
    assert_has(
        &sync.only("cam_imu_stamp"),
        &json!({"frame_seq_id": -1, "frame_stamp": {"sec": 1_700_000_000}}),
    );
    let mut camera = bench("mavlink.camera");
    camera.message(&CameraImageCaptured {
        lat: 473_977_420,
        lon: -85_455_940,
        alt: 488_150,
        relative_alt: -1500,
        q: [0.5, -0.5, 0.5, -0.5],
        image_index: 7,
        capture_result: -1,
        file_url: text("ftp://1.jpg"),
        ..zero()
    });
    assert_has(
        &camera.only("image_captured"),
        &json!({"geo": {"latitude": 47.397_742, "longitude": -8.545_594, "altitude": 488.15},
            "relative_alt": -1.5, "orientation": {"w": 0.5, "x": -0.5, "y": 0.5, "z": -0.5}, "image_index": 7,
            "capture_result": -1, "file_url": "ftp://1.jpg"}),
    );
}

#[test]
fn wheels_have_a_number_each() {
    let mut wheels = bench("mavlink.wheel_odometry");
    wheels.message(&Rpm { rpm1: 60.0, rpm2: -30.0 });
    assert_has(&wheels.only("rpm"), &json!({"data": [60.0, -30.0]}));
    let mut turned = WheelDistance { count: 3, ..zero() };
    turned.distance[2] = 1.5;
    wheels.message(&turned);
    assert_has(&wheels.only("distance"), &json!({"data": [0.0, 0.0, 1.5]}));
    wheels.message(&WheelDistance { count: 255, ..turned });
    assert_eq!(wheels.only("distance")["data"].as_array().unwrap().len(), 16);
}
