//! A simulator in the vehicle's place.

use rostrans_codecs::mavlink::dialect::{
    HilActuatorControls, HilControls, HilGps, HilOpticalFlow, HilRcInputsRaw, HilSensor, HilStateQuaternion,
};
use serde_json::json;

use super::{bench, header, one, with};
use crate::support::{Bench, assert_close, assert_has, zero};

#[test]
fn controls_for_a_simulator_are_copied() {
    let mut bench = Bench::new("mavlink.hil", json!({}));
    bench.message(&HilControls {
        roll_ailerons: 0.1,
        pitch_elevator: 0.2,
        yaw_rudder: 0.3,
        throttle: 0.4,
        aux1: 0.5,
        aux2: 0.6,
        aux3: 0.7,
        aux4: 0.8,
        mode: 9,
        nav_mode: 10,
        ..zero()
    });
    assert_has(
        &bench.only("controls"),
        &json!({"roll_ailerons": 0.1, "pitch_elevator": 0.2, "yaw_rudder": 0.3, "throttle": 0.4, "aux1": 0.5,
            "aux2": 0.6, "aux3": 0.7, "aux4": 0.8, "mode": 9, "nav_mode": 10}),
    );
    let mut controls = HilActuatorControls { flags: 1 << 63, mode: 129, ..zero() };
    controls.controls[15] = -1.0;
    bench.message(&controls);
    let got = bench.only("actuator_controls");
    assert_has(&got, &json!({"mode": 129, "flags": 1_u64 << 63}));
    assert_eq!(got["controls"][15], -1.0);
}

#[test]
fn simulated_state_is_frd_in_ned() {
    let state = json!({
        "header": header(),
        "orientation": {"w": 0.875_612_83, "x": 0.045_864_45, "y": -0.031_878_29, "z": 0.479_772_73},
        "angular_velocity": {"x": 0.1, "y": 0.2, "z": 0.3},
        "linear_acceleration": {"x": 9.806_65, "y": -9.806_65, "z": 0.0},
        "linear_velocity": {"x": 1.0, "y": 2.0, "z": -400.0},
        "geo": {"latitude": 47.397_742, "longitude": -8.545_594, "altitude": 488.15},
        "ind_airspeed": 12.34, "true_airspeed": 1e6,
    });
    let m: HilStateQuaternion = one(&mut bench("mavlink.hil"), "state", &state);
    assert_eq!((m.time_usec, m.lat, m.lon, m.alt), (12_345_678, 473_977_420, -85_455_940, 488_150));
    let q = m.attitude_quaternion.map(f64::from);
    let dot: f64 = q.iter().zip([0.958_403, 0.009_890, 0.054_971, 0.279_901]).map(|(a, b)| a * b).sum();
    assert!((dot.abs() - 1.0).abs() < 1e-5, "{q:?}");
    assert_eq!([m.rollspeed, m.pitchspeed, m.yawspeed], [0.1, -0.2, -0.3]);
    assert_eq!([m.vx, m.vy, m.vz], [200, 100, i16::MAX]);
    assert_eq!([m.xacc, m.yacc, m.zacc], [1000, 1000, 0]);
    assert_eq!([m.ind_airspeed, m.true_airspeed], [1234, u16::MAX]);
    let m: HilStateQuaternion = one(&mut with("mavlink.hil", json!({"exact": true})), "state", &state);
    assert_eq!([m.rollspeed, m.pitchspeed, m.yawspeed], [-0.2, 0.1, 0.3]);
    assert_eq!([m.xacc, m.yacc, m.zacc], [10, 10, 0]);
}

#[test]
fn simulated_sensors_have_the_units_of_mavlink() {
    let mut hil = bench("mavlink.hil");
    let gps: HilGps = one(
        &mut hil,
        "gps",
        &json!({"header": header(), "fix_type": 3, "satellites_visible": 9, "eph": 1, "epv": 2, "vel": 700,
            "vn": 3, "ve": -4, "vd": -400, "cog": 5,
            "geo": {"latitude": -33.5, "longitude": 151.25, "altitude": 20.5}}),
    );
    let want = HilGps {
        time_usec: 12_345_678,
        lat: -335_000_000,
        lon: 1_512_500_000,
        alt: 20_500,
        eph: 100,
        epv: 200,
        vel: u16::MAX,
        vn: 300,
        ve: -400,
        vd: i16::MIN,
        cog: 500,
        fix_type: 3,
        satellites_visible: 9,
        ..zero()
    };
    assert_eq!(gps, want);
    let sensor: HilSensor = one(
        &mut hil,
        "imu_ned",
        &json!({"header": header(), "acc": {"x": 1.0, "y": 2.0, "z": 3.0}, "gyro": {"x": 4.0, "y": 5.0, "z": 6.0},
            "mag": {"x": 2.5e-5, "y": 0.0, "z": 5e-5}, "abs_pressure": 101_325.0, "diff_pressure": 50.0,
            "pressure_alt": 7.0, "temperature": 8.0, "fields_updated": 0x8000_1fff_u32}),
    );
    assert_eq!([sensor.xacc, sensor.yacc, sensor.zacc], [1.0, -2.0, -3.0]);
    assert_eq!([sensor.xgyro, sensor.ygyro, sensor.zgyro], [4.0, -5.0, -6.0]);
    assert_close([sensor.xmag, sensor.ymag, sensor.zmag].map(f64::from), [0.25, 0.0, -0.5], 1e-6);
    assert_eq!([sensor.abs_pressure, sensor.diff_pressure], [1013.25, 0.5]);
    assert_eq!([sensor.pressure_alt, sensor.temperature], [7.0, 8.0]);
    assert_eq!((sensor.time_usec, sensor.fields_updated), (12_345_678, 0x8000_1fff));
    let flow: HilOpticalFlow = one(
        &mut hil,
        "optical_flow",
        &json!({"header": header(), "integration_time_us": 1, "integrated_x": 2.0, "integrated_y": 3.0,
            "integrated_xgyro": 4.0, "integrated_ygyro": 5.0, "integrated_zgyro": 6.0, "temperature": 25,
            "quality": 7, "time_delta_distance_us": 8, "distance": 9.0}),
    );
    let want = HilOpticalFlow {
        time_usec: 12_345_678,
        integration_time_us: 1,
        integrated_x: 2.0,
        integrated_y: -3.0,
        integrated_xgyro: 4.0,
        integrated_ygyro: -5.0,
        integrated_zgyro: -6.0,
        time_delta_distance_us: 8,
        distance: 9.0,
        temperature: 2500,
        sensor_id: 127,
        quality: 7,
    };
    assert_eq!(flow, want);
}

#[test]
fn missing_channels_are_unused_and_surplus_ones_are_left_out() {
    let mut hil = bench("mavlink.hil");
    let few = json!({"header": header(), "rssi": 99, "channels": [1000, 1001]});
    let m: HilRcInputsRaw = one(&mut hil, "rc_inputs", &few);
    assert_eq!((m.time_usec, m.rssi, m.chan1_raw, m.chan2_raw), (12_345_678, 99, 1000, 1001));
    assert_eq!((m.chan3_raw, m.chan12_raw), (u16::MAX, u16::MAX));
    let many: Vec<u16> = (1..=18).collect();
    let m: HilRcInputsRaw = one(&mut hil, "rc_inputs", &json!({"channels": many}));
    assert_eq!((m.chan1_raw, m.chan6_raw, m.chan12_raw), (1, 6, 12));
}
