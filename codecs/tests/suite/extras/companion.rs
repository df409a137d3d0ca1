//! What a companion computer sends.

use rostrans_codecs::mavlink::dialect::{
    CellularStatus, Heartbeat, OnboardComputerStatus, OpenDroneIdBasicId, OpenDroneIdOperatorId,
    OpenDroneIdSelfId, OpenDroneIdSystem, OpenDroneIdSystemUpdate, PlayTuneV2, Tunnel,
};
use rostrans_core::codec::EncodeError;
use serde_json::json;

use super::{bench, header, one, sent, text};
use crate::support::{Bench, PEER, v2, zero};

#[test]
fn remote_identification_is_copied_and_its_texts_are_cut() {
    let mut odid = bench("mavlink.open_drone_id");
    let (target_system, target_component) = (1, 1);
    let long = "an identification longer than its field";
    let m: OpenDroneIdBasicId =
        one(&mut odid, "basic_id", &json!({"id_or_mac": "mac", "id_type": 1, "ua_type": 2, "uas_id": long}));
    let uas_id = text("an identification l");
    let want = OpenDroneIdBasicId {
        target_system,
        target_component,
        id_or_mac: text("mac"),
        id_type: 1,
        ua_type: 2,
        uas_id,
    };
    assert_eq!(m, want);
    let sample = json!({"id_or_mac": "mac", "operator_id_type": 3, "operator_id": long});
    let m: OpenDroneIdOperatorId = one(&mut odid, "operator_id", &sample);
    assert_eq!((m.operator_id_type, m.operator_id), (3, uas_id));
    let sample = json!({"id_or_mac": "mac", "description_type": 4, "description": long});
    let m: OpenDroneIdSelfId = one(&mut odid, "self_id", &sample);
    assert_eq!((m.description_type, m.description), (4, text("an identification long")));
    let system = json!({"header": {"stamp": {"sec": 1_546_300_805}}, "id_or_mac": "mac", "operator_location_type": 1,
        "classification_type": 2, "operator_latitude": -3, "operator_longitude": 4, "area_count": 5,
        "area_radius": 6, "area_ceiling": 7.0, "area_floor": 8.0, "category_eu": 9, "class_eu": 10,
        "operator_altitude_geo": 11.0});
    let m: OpenDroneIdSystem = one(&mut odid, "system", &system);
    let want = OpenDroneIdSystem {
        operator_latitude: -3,
        operator_longitude: 4,
        area_ceiling: 7.0,
        area_floor: 8.0,
        operator_altitude_geo: 11.0,
        timestamp: 5,
        area_count: 5,
        area_radius: 6,
        target_system,
        target_component,
        id_or_mac: text("mac"),
        operator_location_type: 1,
        classification_type: 2,
        category_eu: 9,
        class_eu: 10,
    };
    assert_eq!(m, want);
    let update = json!({"header": header(), "operator_latitude": 1, "operator_longitude": -2,
        "operator_altitude_geo": 3.0});
    let m: OpenDroneIdSystemUpdate = one(&mut odid, "system_update", &update);
    let want = OpenDroneIdSystemUpdate {
        operator_latitude: 1,
        operator_longitude: -2,
        operator_altitude_geo: 3.0,
        timestamp: 0,
        target_system,
        target_component,
    };
    assert_eq!(m, want, "stamps before 2019 are 0");
}

#[test]
fn processes_and_computers_speak_as_the_component_they_name() {
    let mut process = bench("mavlink.companion_process");
    process.sample("status", &json!({"state": 4, "component": 196})).unwrap();
    let want = Heartbeat {
        custom_mode: 0,
        kind: 18,
        autopilot: 12,
        base_mode: 1,
        system_status: 4,
        mavlink_version: 3,
    };
    assert_eq!(sent::<Heartbeat>(&mut process), [(196, want)]);
    let mut computer = bench("mavlink.onboard_computer");
    let sample = json!({"header": header(), "component": 192, "uptime": 1, "type": 2, "cpu_cores": [3, 0, 0, 0, 0, 0, 0, 4],
        "cpu_combined": [5, 0, 0, 0, 0, 0, 0, 0, 0, 6], "gpu_cores": [7, 0, 0, 8], "gpu_combined": [9, 0, 0, 0, 0, 0, 0, 0, 0, 10],
        "temperature_board": -11, "temperature_core": [-12, 0, 0, 0, 0, 0, 0, 13], "fan_speed": [-14, 0, 0, 15],
        "ram_usage": 16, "ram_total": 17, "storage_type": [18, 0, 0, 19], "storage_usage": [20, 0, 0, 21],
        "storage_total": [22, 0, 0, 23], "link_type": [24, 0, 0, 0, 0, 25], "link_tx_rate": [26, 0, 0, 0, 0, 27],
        "link_rx_rate": [28, 0, 0, 0, 0, 29], "link_tx_max": [30, 0, 0, 0, 0, 31], "link_rx_max": [32, 0, 0, 0, 0, 33]});
    computer.sample("status", &sample).unwrap();
    let want = OnboardComputerStatus {
        time_usec: 12_345_678,
        uptime: 1,
        ram_usage: 16,
        ram_total: 17,
        storage_type: [18, 0, 0, 19],
        storage_usage: [20, 0, 0, 21],
        storage_total: [22, 0, 0, 23],
        link_type: [24, 0, 0, 0, 0, 25],
        link_tx_rate: [26, 0, 0, 0, 0, 27],
        link_rx_rate: [28, 0, 0, 0, 0, 29],
        link_tx_max: [30, 0, 0, 0, 0, 31],
        link_rx_max: [32, 0, 0, 0, 0, 33],
        fan_speed: [-14, 0, 0, 15],
        kind: 2,
        cpu_cores: [3, 0, 0, 0, 0, 0, 0, 4],
        cpu_combined: [5, 0, 0, 0, 0, 0, 0, 0, 0, 6],
        gpu_cores: [7, 0, 0, 8],
        gpu_combined: [9, 0, 0, 0, 0, 0, 0, 0, 0, 10],
        temperature_board: -11,
        temperature_core: [-12, 0, 0, 0, 0, 0, 0, 13],
        status_flags: 0,
    };
    assert_eq!(sent::<OnboardComputerStatus>(&mut computer), [(192, want)]);
}

#[test]
fn modem_tunes_and_tunnelled_bytes_are_sent() {
    let status =
        json!({"status": 1, "failure_reason": 2, "type": 3, "quality": 4, "mcc": 5, "mnc": 6, "lac": 7});
    let m: CellularStatus = one(&mut bench("mavlink.cellular_status"), "status", &status);
    let want = CellularStatus {
        status: 1,
        failure_reason: 2,
        kind: 3,
        quality: 4,
        mcc: 5,
        mnc: 6,
        lac: 7,
        ..zero()
    };
    assert_eq!(m, want);

    let mut tune = bench("mavlink.play_tune");
    let m: PlayTuneV2 = one(&mut tune, "play_tune", &json!({"format": 2, "tune": "abc"}));
    assert_eq!((m.format, m.target_system, m.target_component, m.tune), (2, 1, 1, text("abc")));
    let m: PlayTuneV2 = one(&mut tune, "play_tune", &json!({"tune": "a".repeat(300)}));
    assert_eq!(m.tune, text::<248>(&"a".repeat(247)));

    let mut tunnel = bench("mavlink.tunnel");
    let sample = |length: u8| {
        json!({"target_system": 2, "target_component": 3, "payload_type": 200, "payload_length": length,
            "payload": vec![9; 128]})
    };
    let m: Tunnel = one(&mut tunnel, "in", &sample(1));
    assert_eq!((m.target_system, m.target_component, m.payload_type, m.payload_length), (2, 3, 200, 1));
    assert_eq!(m.payload[..2], [9, 0]);
    let m: Tunnel = one(&mut tunnel, "in", &sample(128));
    assert_eq!(m.payload, [9; 128]);
    assert_eq!(tunnel.sample("in", &sample(129)), Err(EncodeError::OutOfRange("payload_length")));
}

#[test]
fn ready_made_frames_pass_unchanged() {
    let frame = v2(255, 190, &Heartbeat { custom_mode: 1 << 16, ..zero() });
    let mut source = Bench::new("mavlink", json!({}));
    source.frame(&frame).unwrap();
    let message = source.only("mavlink");
    let mut sink = bench("mavlink.sink");
    sink.sample("mavlink", &message).unwrap();
    assert_eq!(sink.sent(), [(Some(PEER), frame)]);
    let odd = [json!({"magic": 1}), json!({"magic": 253, "len": 9}), json!({"magic": 254, "msgid": 256})];
    for sample in odd {
        assert!(sink.sample("mavlink", &sample).is_err(), "{sample}");
    }
    assert_eq!(sink.sent(), []);
}

#[test]
fn nothing_is_sent_before_the_vehicle_has_an_address() {
    let mut tune = Bench::new("mavlink.play_tune", json!({}));
    tune.sample("play_tune", &json!({"tune": "abc"})).unwrap();
    let mut sink = Bench::new("mavlink.sink", json!({}));
    sink.sample("mavlink", &json!({"magic": 253})).unwrap();
    assert_eq!((tune.sent(), sink.sent()), (vec![], vec![]));
}
