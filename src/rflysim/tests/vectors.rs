//! The bytes of the specification, both ways.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use rostrans_rflysim::{
    Kind, Packet, Pad, Series, Text,
    command::Command,
    control::{InOffboardShortData, Mode},
    detect,
    estimate::{OutHilStateData, OutHilStateShort, STATE},
    imu::{ImuDataCopter, RflyTimeStmp, SensorReqCopterSim},
    model::PX4SILIntFloat,
    scene::{CoptReqData, ReqVeCrashData},
    truth::{SOut2Simulator, SOut2SimulatorSimpleTime},
    ue::Ue4Cmd0,
    vision::{self, Detection, DistanceSensor, FragmentV1, FragmentV2, LidarHead, SharedHead},
};

fn vector(name: &str) -> Vec<u8> {
    let mut lines = include_str!("vectors.txt").lines().skip_while(|line| *line != name).skip(1);
    let digits: String = lines.by_ref().map_while(|line| line.strip_prefix("  ")).collect();
    assert!(!digits.is_empty(), "{name}");
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { panic!("{name}: an odd digit") };
    let byte = |pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    pairs.iter().map(|pair| byte(&pair[..])).collect()
}

/// The bytes mean this packet, and this packet makes these bytes.
fn same<P: Packet + PartialEq + std::fmt::Debug>(name: &str, packet: &P) {
    let bytes = vector(name);
    assert_eq!(&P::decode(&bytes).unwrap(), packet, "{name}");
    assert_eq!(packet.encode(), bytes, "{name}");
}

const RPM: [f32; 8] = [1000.0, 1000.0, 1000.0, 1000.0, 0.0, 0.0, 0.0, 0.0];
const YAW_EAST: f32 = std::f32::consts::FRAC_PI_2;

#[test]
fn full_truth() {
    let quat = SOut2Simulator::decode(&vector("V1")).unwrap().ang_quatern;
    for (have, want) in quat.iter().zip([0.705_119, 0.052_983, 0.017_676, 0.706_886]) {
        assert!((have - want).abs() < 1e-6, "{quat:?}");
    }
    let packet = SOut2Simulator {
        copter_id: 1,
        vehicle_type: 3,
        reserv: 0,
        vel_e: [1.0, 0.5, -0.25],
        ang_euler: [0.1, -0.05, YAW_EAST],
        ang_quatern: quat,
        motor_rpms: RPM,
        acc_b: [0.2, -0.1, -9.81],
        rate_b: [0.01, -0.02, 0.03],
        runned_time: 12.5,
        pos_e: [10.0, 20.0, -5.0],
        pos_gps: [40.154_030_2, 116.259_368_3, 55.0],
    };
    same("V1", &packet);
    assert_eq!(detect(Series::Truth, &vector("V1")), Some(Kind::SOut2Simulator));
}

#[test]
fn reduced_truth() {
    let packet = SOut2SimulatorSimpleTime {
        copter_id: 2,
        vehicle_type: 3,
        pos_gps_int: [401_540_302, 1_162_593_683, 55_000],
        motor_rpms: RPM,
        vel_e: [1.0, 0.5, -0.25],
        ang_euler: [0.1, -0.05, YAW_EAST],
        pos_e: [10.0, 20.0, -5.0],
        runned_time: 12.5,
    };
    same("V2", &packet);
    assert_eq!(detect(Series::Truth, &vector("V2")), Some(Kind::SOut2SimulatorSimpleTime));
}

#[test]
fn simple_estimate() {
    let packet = OutHilStateShort {
        checksum: STATE,
        gps_home: [401_540_302, 1_162_593_683, 50_000],
        ang_eular: [0.0, 0.0, 0.5],
        local_pos: [3.0, 4.0, -5.0],
        local_vel: [1.0, 0.0, -0.5],
    };
    same("V3", &packet);
    assert_eq!(detect(Series::Estimate, &vector("V3")), Some(Kind::OutHilStateShort));
}

#[test]
fn full_estimate() {
    let packet = OutHilStateData {
        tg: -1,
        len: 112,
        time_boot_ms: 12_500,
        copter_id: 1,
        gps_pos: [401_540_302, 1_162_593_683, 55_000],
        gps_vel: [100, 50, -25],
        gps_home: [401_540_300, 1_162_593_600, 50_000],
        relative_alt: 5000,
        hdg: 90_000,
        satellites_visible: 10,
        fix_type: 3,
        resrve_init: 0,
        ang_eular: [0.0, 0.0, 0.5],
        local_pos: [3.0, 4.0, -5.0],
        local_vel: [1.0, 0.5, -0.25],
        pos_horiz_accuracy: 0.5,
        pos_vert_accuracy: 0.75,
        resrve_float: 1.0,
    };
    same("V4", &packet);
    assert_eq!(detect(Series::Estimate, &vector("V4")), Some(Kind::OutHilStateData));
}

#[test]
fn control() {
    let controls = [1.5, -2.0, -0.5, 0.25];
    same("V5", &InOffboardShortData { ctrl_mode: Mode::VelocityNed as i32, controls });
    assert_eq!(detect(Series::Control, &vector("V5")), Some(Kind::InOffboardShortData));

    let mut floats = [0.0; 20];
    [floats[3], floats[5], floats[14]] = [1.0, -0.5, 0.1];
    let ints = [7, 18, 0, 0, 0, 0, 0, 0];
    let packet = PX4SILIntFloat { copter_id: 1, in_sil_ints: ints, in_sil_floats: floats };
    same("V6", &packet);
    let command = Command::VelocityNed { velocity: [1.0, 0.0, -0.5], yaw_rate: Some(0.1) };
    assert_eq!(command.packet(1), packet);
    assert_eq!(detect(Series::Model, &vector("V6")), Some(Kind::PX4SILIntFloat));
}

#[test]
fn commands_have_the_documented_bits() {
    let p = [1.0, 2.0, -3.0];
    let cases = [
        (Command::Position { position: p, yaw: Some(0.5), local: false }, 519, 9),
        (Command::Position { position: p, yaw: Some(0.5), local: true }, 519, 8201),
        (Command::VelocityNed { velocity: p, yaw_rate: None }, 7, 2),
        (Command::VelocityFrd { velocity: p, yaw_rate: Some(0.5) }, 7, 4114),
        (Command::Acceleration { acceleration: p }, 7, 4),
        (Command::Attitude { attitude: p, thrust: Some(0.5) }, 7, 2304),
        (Command::Attitude { attitude: p, thrust: None }, 7, 256),
        (Command::TakeOff { z: -3.0 }, 263, 0),
        (Command::Land { z: -3.0 }, 1031, 0),
        (Command::Return { z: -3.0 }, 2055, 0),
        (Command::Arm, 7, 0),
        (Command::Disarm, 3, 0),
    ];
    for (command, first, second) in cases {
        let packet = command.packet(4);
        assert_eq!(packet.copter_id, 4);
        assert_eq!((packet.in_sil_ints[0], packet.in_sil_ints[1]), (first, second), "{command:?}");
    }
    let position = Command::Position { position: p, yaw: Some(0.5), local: true }.packet(1).in_sil_floats;
    assert_eq!((&position[..3], position[11]), (&p[..], 0.5));
    let attitude = Command::Attitude { attitude: p, thrust: Some(0.5) }.packet(1).in_sil_floats;
    assert_eq!((&attitude[9..12], attitude[15]), (&p[..], 0.5));
}

#[test]
fn imu_and_time() {
    let imu = ImuDataCopter { seq: 42, timestmp: 3.25, acc: [0.1, -0.2, -9.8], rate: [0.01, 0.02, -0.03] };
    same("V7", &imu);
    let time = RflyTimeStmp {
        copter_id: 1,
        sys_start_time: 1_700_000_000_000,
        sys_current_time: 1_700_000_012_500,
        heart_count: 125,
    };
    same("V8", &time);
    let request = SensorReqCopterSim {
        sensor_type: 0,
        update_freq: 200,
        port: 31_000,
        ip: [127, 0, 0, 1],
        params: [0.0; 6],
    };
    same("V9", &request);
    let found = [(Series::Imu, "V7"), (Series::Time, "V8"), (Series::Model, "V9")];
    let found = found.map(|(series, name)| detect(series, &vector(name)).unwrap());
    assert_eq!(found, [Kind::ImuDataCopter, Kind::RflyTimeStmp, Kind::SensorReqCopterSim]);
}

#[test]
fn sensor_requests() {
    let request = vision::VisionSensorReq {
        seq_id: 0,
        type_id: 1,
        target_copter: 1,
        data_width: 640,
        data_height: 480,
        data_check_freq: 30,
        send_protocol: [1, 0, 0, 0, 0, 9999, 0, 0],
        camera_fov: 90.0,
        sensor_pos: [0.3, 0.0, 0.0],
        ..Default::default()
    };
    same("V10", &request);
    let mut limits = [0.0; 16];
    limits[..6].copy_from_slice(&[-90.0, 20.0, 120.0, 120.0, 4.0, 200.0]);
    let gimbal = vision::VisionSensorReqNew {
        seq_id: 3,
        bitmask: 1 << 7,
        type_id: 9,
        target_copter: 1,
        data_width: 640,
        data_height: 480,
        data_check_freq: 30,
        send_protocol: [1, 127, 0, 0, 1, 10_002, 0, 0],
        camera_fov: 60.0,
        sensor_pos: [0.3, 0.0, 0.1],
        sensor_ang_eular: [0.0, -30.0, 15.0],
        other_params: limits,
        ..Default::default()
    };
    same("V11", &gimbal);
    assert_eq!(detect(Series::Ue, &vector("V10")), Some(Kind::VisionSensorReq));
    assert_eq!(detect(Series::Scene, &vector("V11")), Some(Kind::VisionSensorReqNew));
}

#[test]
fn fragments() {
    let head =
        |pkg_len, pkg_id| FragmentV2 { pkg_len, pkg_id, pkg_num: 2, frame_id: 7, reserved: Pad, time: 12.5 };
    let parts = [vector("V12.0"), vector("V12.1")];
    let mut frame = Vec::new();
    for (part, head) in parts.iter().zip([head(38, 0), head(36, 1)]) {
        let (found, body) = vision::fragment(part).unwrap();
        assert_eq!(found, head);
        assert_eq!([head.encode(), body.to_vec()].concat(), *part);
        frame.extend_from_slice(body);
    }
    assert_eq!(frame, [0xFF, 0xD8, 0xFF, 0xE0, 0x11, 0x22, 0x33, 0x44, 0xFF, 0xD9]);

    let single = vector("V12.v1");
    let (found, body) = vision::fragment(&single).unwrap();
    assert_eq!((found.pkg_num, found.time, body), (1, 12.5, &frame[..]));
    let head = FragmentV1 { pkg_len: 34, pkg_id: 0, pkg_num: 1, time: 12.5 };
    assert_eq!([head.encode(), frame].concat(), single);
    assert!(vision::fragment(&single[..33]).is_err(), "a datagram that was cut");
}

#[test]
fn sensor_payloads() {
    let bytes = vector("V13");
    let (head, points) = vision::lidar(&bytes).unwrap();
    let want = LidarHead {
        copter_id: 1,
        axis_type: 0,
        position: [1.0, 2.0, 3.0],
        ang_eular: [0.0, 0.0, 1.5],
        points: 2,
    };
    assert_eq!(head, want);
    let points: Vec<_> = points.collect();
    assert_eq!(points, [[3277, -1638, 328, 5], [16_384, 0, -328, 0]]);
    let body: Vec<u8> = points.into_iter().flatten().flat_map(i16::to_le_bytes).collect();
    assert_eq!([head.encode(), body].concat(), bytes);
    assert!(vision::lidar(&bytes[..51]).is_err());

    let distance = DistanceSensor {
        distance: 7.5,
        copter_id: 2,
        ray_start: [0.0, 0.0, -1.0],
        ang: [0.0; 3],
        impact_point: [7.5, 0.0, -1.0],
        box_ori: [8.0, 0.0, -1.0],
    };
    same("V14", &distance);

    let bytes = vector("V15");
    let (count, boxes) = bytes.split_at(4);
    let found = Detection::decode(boxes).unwrap();
    let want = Detection { id: 4, credibility: 0.75, min_x: 100.0, min_y: 120.0, max_x: 180.0, max_y: 200.0 };
    assert_eq!((count, found, found.encode()), (&[1, 0, 0, 0][..], want, boxes.to_vec()));

    let bytes = vector("V19");
    let head = SharedHead { flag: 2, time: 3.25 };
    assert_eq!(SharedHead::decode(&bytes[..9]).unwrap(), head);
    assert_eq!([head.encode(), vec![10, 20, 30, 40, 50, 60]].concat(), bytes);
}

#[test]
fn scene() {
    let crash = ReqVeCrashData {
        copter_id: 1,
        vehicle_type: 3,
        crash_type: -1,
        runned_time: 12.5,
        vel_e: [1.0, 0.0, 0.0],
        pos_e: [10.0, 20.0, -5.0],
        crash_pos: [10.5, 20.0, -5.0],
        target_pos: [11.0, 20.0, -5.0],
        ang_euler: [0.0, 0.0, 1.5],
        motor_rpms: RPM,
        ray: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        crashed_name: Text::new("Wall_12").unwrap(),
    };
    same("V16", &crash);
    let data = CoptReqData {
        copter_id: 2,
        pos_ue: [10.0, 20.0, -5.0],
        ang_euler: [0.0, 0.0, 1.5],
        ang_quat: CoptReqData::decode(&vector("V17")).unwrap().ang_quat,
        box_origin: [10.0, 20.0, -5.25],
        box_extent: [0.5, 0.5, 0.25],
        timestmp: 33.5,
    };
    same("V17", &data);
    same("V18", &Ue4Cmd0 { cmd: Text::new("RflyChangeMapbyName Grasslands").unwrap() });
    let found = [(Series::Scene, "V16"), (Series::Scene, "V17"), (Series::Ue, "V18")];
    let found = found.map(|(series, name)| detect(series, &vector(name)).unwrap());
    assert_eq!(found, [Kind::ReqVeCrashData, Kind::CoptReqData, Kind::Ue4Cmd0]);
}
