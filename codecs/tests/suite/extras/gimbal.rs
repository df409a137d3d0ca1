//! Mounts and gimbals.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{
    CommandAck, CommandLong, GimbalDeviceAttitudeStatus, GimbalDeviceInformation, GimbalDeviceSetAttitude,
    GimbalManagerInformation, GimbalManagerSetAttitude, GimbalManagerSetPitchyaw, GimbalManagerStatus,
    MountOrientation, MountStatus,
};
use serde_json::{Value, json};

use super::{bench, one, sent, text, with};
use crate::support::{Bench, assert_close, assert_has, numbers, v2, zero};

/// What a service call sends.
fn asked(bench: &mut Bench, service: &str, request: &Value) -> CommandLong {
    bench.call(service, request);
    let mut sent = sent::<CommandLong>(bench);
    assert_eq!(sent.len(), 1, "{service}");
    sent.remove(0).1
}

fn params(m: &CommandLong) -> [f32; 7] {
    [m.param1, m.param2, m.param3, m.param4, m.param5, m.param6, m.param7]
}

fn accepted(command: u16) -> CommandAck {
    CommandAck { command, ..zero() }
}

fn responses(bench: &mut Bench) -> Vec<Value> {
    bench.answers().into_iter().map(|(_, response)| response).collect()
}

#[test]
fn mounts_tell_where_they_point() {
    let mut mount = bench("mavlink.mount_control");
    // Yaw of 90 degrees.
    let turned = [std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2];
    let wxyz = |q: &Value| numbers(q, ["w", "x", "y", "z"]);
    mount.message(&MountOrientation { yaw: 90.0, ..zero() });
    assert_close(wxyz(&mount.only("orientation")), turned, 1e-6);
    mount.message(&MountStatus { pointing_c: 9000, target_component: 154, ..zero() });
    assert_close(wxyz(&mount.only("orientation")), turned, 1e-6);
    let status = mount.only("status");
    assert_has(&status, &json!({"header": {"frame_id": "154"}}));
    mount.message(&MountStatus { pointing_a: 1800, pointing_b: -900, pointing_c: 100, ..zero() });
    let vector = numbers(&mount.take("status")[0]["vector"], ["x", "y", "z"]);
    assert_close(vector, [-9.0, 18.0, 1.0].map(f64::to_radians), 1e-9);

    let mut turned_round = with("mavlink.mount_control", json!({"negate_measured_yaw": true}));
    turned_round.message(&MountOrientation { roll: 90.0, ..zero() });
    let [w, x, ..] = wxyz(&turned_round.only("orientation"));
    assert!(w * x > 0.0, "roll stays");
    turned_round.message(&MountOrientation { yaw: 90.0, ..zero() });
    let [w, .., z] = wxyz(&turned_round.only("orientation"));
    assert!(w * z < 0.0);
}

#[test]
fn mount_commands_are_sent_as_they_are() {
    let mut mount = bench("mavlink.mount_control");
    let command = json!({"mode": 2, "pitch": 1.0, "roll": 2.0, "yaw": 3.0, "altitude": 4.0, "latitude": 5.0,
        "longitude": 6.0});
    let m: CommandLong = one(&mut mount, "command", &command);
    assert_eq!(params(&m), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 2.0]);
    assert_eq!((m.command, m.target_system, m.target_component, m.confirmation), (205, 1, 1, 0));
}

#[test]
fn mount_configuration_waits_for_the_vehicle() {
    let mut mount = bench("mavlink.mount_control");
    let request = json!({"mode": 2, "stabilize_roll": true, "stabilize_pitch": false, "stabilize_yaw": true,
        "roll_input": 1, "pitch_input": 2, "yaw_input": 3});
    let m = asked(&mut mount, "configure", &request);
    assert_eq!((m.command, params(&m)), (204, [2.0, 1.0, 0.0, 1.0, 1.0, 2.0, 3.0]));
    assert_eq!(responses(&mut mount), [] as [Value; 0]);
    mount.message(&accepted(204));
    assert_eq!(responses(&mut mount), [json!({"success": true, "result": 0})]);
}

#[test]
fn gimbals_are_copied() {
    let mut gimbal = bench("mavlink.gimbal_control");
    gimbal.message(&GimbalDeviceAttitudeStatus {
        q: [0.5, -0.5, 0.5, -0.5],
        angular_velocity_x: 1.0,
        angular_velocity_y: 2.0,
        angular_velocity_z: f32::NAN,
        failure_flags: 0x8000_0001,
        flags: 0x8002,
        target_system: 3,
        target_component: 4,
        ..zero()
    });
    let got = gimbal.only("device_attitude_status");
    assert_has(
        &got,
        &json!({"header": {"frame_id": "base_link_frd"}, "target_system": 3, "target_component": 4,
            "flags": 0x8002, "failure_flags": 0x8000_0001_u32, "angular_velocity_x": 1.0,
            "angular_velocity_y": 2.0}),
    );
    assert_close(numbers(&got["q"], ["w", "x", "y", "z"]), [0.5, -0.5, 0.5, -0.5], 0.0);
    gimbal.message(&GimbalManagerStatus {
        flags: 1,
        gimbal_device_id: 2,
        primary_control_sysid: 3,
        primary_control_compid: 4,
        secondary_control_sysid: 5,
        secondary_control_compid: 6,
        ..zero()
    });
    assert_has(
        &gimbal.only("manager_status"),
        &json!({"flags": 1, "gimbal_device_id": 2, "sysid_primary": 3, "compid_primary": 4,
            "sysid_secondary": 5, "compid_secondary": 6}),
    );
    gimbal.message(&GimbalManagerInformation {
        cap_flags: 0x0003_0fff,
        roll_min: -1.0,
        roll_max: 1.0,
        pitch_min: -2.0,
        pitch_max: 2.0,
        yaw_min: -3.0,
        yaw_max: 3.0,
        gimbal_device_id: 7,
        ..zero()
    });
    let limits = json!({"roll_min": -1.0, "roll_max": 1.0, "pitch_min": -2.0, "pitch_max": 2.0, "yaw_min": -3.0,
        "yaw_max": 3.0});
    let got = gimbal.only("manager_info");
    assert_has(&got, &json!({"cap_flags": 0x0003_0fff, "gimbal_device_id": 7}));
    assert_has(&got, &limits);
    gimbal.message(&GimbalDeviceInformation {
        uid: u64::MAX,
        firmware_version: 1,
        hardware_version: 2,
        roll_min: -1.0,
        roll_max: 1.0,
        pitch_min: -2.0,
        pitch_max: 2.0,
        yaw_min: -3.0,
        yaw_max: 3.0,
        cap_flags: 0x0fff,
        custom_cap_flags: 3,
        vendor_name: text("a vendor"),
        model_name: text("0123456789abcdef0123456789abcdef"),
        custom_name: [0xff; 32],
        ..zero()
    });
    let got = gimbal.only("device_info");
    assert_has(
        &got,
        &json!({"uid": u64::MAX, "firmware_version": 1, "hardware_version": 2, "cap_flags": 0x0fff,
            "custom_cap_flags": 3, "vendor_name": "a vendor", "model_name": "0123456789abcdef0123456789abcdef",
            "custom_name": "\u{fffd}".repeat(32)}),
    );
    assert_has(&got, &limits);
}

#[test]
fn gimbals_are_frames_where_that_is_asked_for() {
    let status = GimbalDeviceAttitudeStatus { q: [0.5, -0.5, 0.5, -0.5], target_component: 154, ..zero() };
    let mut gimbal = with("mavlink.gimbal_control", json!({"tf_send": true, "tf_frame_id": "mast"}));
    gimbal.message(&status);
    assert_has(
        &gimbal.only("tf")["transforms"],
        &json!([{"header": {"frame_id": "mast"}, "child_frame_id": "gimbal_154",
            "transform": {"rotation": {"w": 0.5, "x": -0.5, "y": 0.5, "z": -0.5}}}]),
    );
    let mut gimbal = bench("mavlink.gimbal_control");
    gimbal.message(&status);
    assert_eq!(gimbal.take("tf"), [] as [Value; 0]);
}

#[test]
fn gimbal_setpoints_go_to_whom_they_name() {
    let mut gimbal = bench("mavlink.gimbal_control");
    let set = json!({"target_system": 2, "target_component": 3, "flags": 4, "gimbal_device_id": 5,
        "q": {"w": 0.5, "x": -0.5, "y": 0.5, "z": -0.5}, "angular_velocity_x": 1.0, "angular_velocity_y": 2.0,
        "angular_velocity_z": 3.0});
    let mut device = set.clone();
    device.as_object_mut().unwrap().remove("gimbal_device_id");
    let q = [0.5, -0.5, 0.5, -0.5];
    let m: GimbalDeviceSetAttitude = one(&mut gimbal, "device_set_attitude", &device);
    let want = GimbalDeviceSetAttitude {
        q,
        angular_velocity_x: 1.0,
        angular_velocity_y: 2.0,
        angular_velocity_z: 3.0,
        flags: 4,
        target_system: 2,
        target_component: 3,
    };
    assert_eq!(m, want);
    let m: GimbalManagerSetAttitude = one(&mut gimbal, "manager_set_attitude", &set);
    let want = GimbalManagerSetAttitude {
        q,
        angular_velocity_x: 1.0,
        angular_velocity_y: 2.0,
        angular_velocity_z: 3.0,
        flags: 4,
        target_system: 2,
        target_component: 3,
        gimbal_device_id: 5,
    };
    assert_eq!(m, want);
    let set = json!({"target_system": 2, "target_component": 3, "flags": 4, "gimbal_device_id": 5, "pitch": 1.0,
        "yaw": 2.0, "pitch_rate": 3.0, "yaw_rate": 4.0});
    let want = GimbalManagerSetPitchyaw {
        flags: 4,
        pitch: 1.0,
        yaw: 2.0,
        pitch_rate: 3.0,
        yaw_rate: 4.0,
        target_system: 2,
        target_component: 3,
        gimbal_device_id: 5,
    };
    for input in ["manager_set_pitchyaw", "manager_set_manual_control"] {
        assert_eq!(one::<GimbalManagerSetPitchyaw>(&mut gimbal, input, &set), want);
    }
}

#[test]
fn gimbal_services_are_commands() {
    let roi = |mode: u8| {
        json!({"mode": mode, "gimbal_device_id": 9, "latitude": 1.0, "longitude": 2.0, "altitude": 3.0,
            "pitch_offset": 4.0, "roll_offset": 5.0, "yaw_offset": 6.0, "sysid": 7})
    };
    let track = |mode: u8| {
        json!({"mode": mode, "x": 0.1, "y": 0.2, "radius": 0.3, "top_left_x": 0.4, "top_left_y": 0.5,
            "bottom_right_x": 0.6, "bottom_right_y": 0.7})
    };
    let configure = json!({"sysid_primary": -2, "compid_primary": 191, "sysid_secondary": -1,
        "compid_secondary": -3, "gimbal_device_id": 4});
    let pitchyaw = json!({"pitch": -45.0, "yaw": 90.0, "pitch_rate": -0.2, "yaw_rate": 0.2, "flags": 16,
        "gimbal_device_id": 1});
    let cases: [(&str, Value, u16, [f32; 7]); 11] = [
        ("device_get_info", json!({}), 512, [283.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("manager_get_info", json!({}), 512, [280.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("manager_configure", configure, 1001, [-2.0, 191.0, -1.0, -3.0, 0.0, 0.0, 4.0]),
        ("manager_pitchyaw", pitchyaw, 1000, [-45.0, 90.0, -0.2, 0.2, 16.0, 0.0, 1.0]),
        ("manager_set_roi", roi(0), 195, [9.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]),
        ("manager_set_roi", roi(1), 196, [9.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0]),
        ("manager_set_roi", roi(2), 198, [7.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("manager_set_roi", roi(3), 197, [9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("manager_camera_track", track(0), 2004, [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.0]),
        ("manager_camera_track", track(1), 2005, [0.4, 0.5, 0.6, 0.7, 0.0, 0.0, 0.0]),
        ("manager_camera_track", track(2), 2010, [0.0; 7]),
    ];
    let mut gimbal = bench("mavlink.gimbal_control");
    for (service, request, command, want) in cases {
        let m = asked(&mut gimbal, service, &request);
        assert_eq!((m.command, params(&m)), (command, want), "{service}");
        assert_eq!((m.target_system, m.target_component, m.confirmation), (1, 1, 0));
        gimbal.message(&CommandAck { result: 3, ..accepted(command) });
        assert_eq!(responses(&mut gimbal), [json!({"success": false, "result": 3})]);
    }
    for (service, request) in [("manager_set_roi", roi(4)), ("manager_camera_track", track(3))] {
        gimbal.call(service, &request);
        assert_eq!(responses(&mut gimbal), [json!({"success": false, "result": 2})]);
        assert_eq!(gimbal.sent(), []);
    }
}

#[test]
fn every_call_is_answered() {
    let mut gimbal = bench("mavlink.gimbal_control");
    // One of a number at a time: answers name nothing else.
    let first = gimbal.call("device_get_info", &json!({}));
    let second = gimbal.call("manager_get_info", &json!({}));
    assert_eq!(gimbal.answers(), [(second, json!({"success": false, "result": 1}))]);
    let other = gimbal.call("manager_pitchyaw", &json!({}));
    // Answers of another vehicle and to another station.
    gimbal.frame(&v2(2, 1, &accepted(512))).unwrap();
    gimbal.message(&CommandAck { target_system: 255, target_component: 190, ..accepted(512) });
    assert_eq!(gimbal.answers(), []);
    gimbal.pass(Duration::from_secs(4));
    gimbal.message(&CommandAck { result: 5, ..accepted(1000) });
    gimbal.pass(Duration::from_millis(1100));
    assert_eq!(gimbal.answers(), [(first, json!({"success": false, "result": 4}))]);
    gimbal.message(&CommandAck { target_system: 1, target_component: 191, ..accepted(1000) });
    assert_eq!(gimbal.answers(), [(other, json!({"success": true, "result": 0}))]);
    let last = gimbal.call("manager_configure", &json!({}));
    gimbal.close();
    assert_eq!(gimbal.answers(), [(last, json!({"success": false, "result": 4}))]);
}
