//! Satellite receivers, baselines and corrections.

use rostrans_codecs::mavlink::dialect::{Gps2Raw, Gps2Rtk, GpsRawInt, GpsRtcmData, GpsRtk};
use rostrans_core::codec::EncodeError;
use serde_json::json;

use super::{bench, sent, with};
use crate::support::{Bench, assert_has, zero};

#[test]
fn receivers_are_copied_as_they_are() {
    let mut bench = Bench::new("mavlink.gps_status", json!({}));
    let same = json!({"header": {"frame_id": "/wgs84"}, "fix_type": 6, "lat": 1, "lon": -2, "alt": 3, "eph": 65_535,
        "epv": 5, "vel": 6, "cog": 7, "satellites_visible": 255, "alt_ellipsoid": -8, "h_acc": 9, "v_acc": 10,
        "vel_acc": 11, "hdg_acc": i32::MAX, "yaw": 36_000});
    bench.message(&GpsRawInt {
        fix_type: 6,
        lat: 1,
        lon: -2,
        alt: 3,
        eph: 65_535,
        epv: 5,
        vel: 6,
        cog: 7,
        satellites_visible: 255,
        alt_ellipsoid: -8,
        h_acc: 9,
        v_acc: 10,
        vel_acc: 11,
        hdg_acc: u32::MAX,
        yaw: 36_000,
        ..zero()
    });
    let got = bench.only("gps1_raw");
    assert_has(&got, &same);
    assert_has(&got, &json!({"dgps_numch": 255, "dgps_age": u32::MAX}));
    bench.message(&Gps2Raw {
        fix_type: 6,
        lat: 1,
        lon: -2,
        alt: 3,
        eph: 65_535,
        epv: 5,
        vel: 6,
        cog: 7,
        satellites_visible: 255,
        alt_ellipsoid: -8,
        h_acc: 9,
        v_acc: 10,
        vel_acc: 11,
        hdg_acc: u32::MAX,
        yaw: 36_000,
        dgps_numch: 12,
        dgps_age: 13,
        ..zero()
    });
    let got = bench.only("gps2_raw");
    assert_has(&got, &same);
    assert_has(&got, &json!({"dgps_numch": 12, "dgps_age": 13}));
}

#[test]
fn baselines_name_their_frame() {
    let baseline = GpsRtk {
        time_last_baseline_ms: 1,
        tow: 2,
        baseline_a_mm: -3,
        baseline_b_mm: 4,
        baseline_c_mm: 5,
        accuracy: 6,
        iar_num_hypotheses: -7,
        wn: 2300,
        rtk_receiver_id: 8,
        rtk_health: 9,
        rtk_rate: 10,
        nsats: 11,
        baseline_coords_type: 0,
    };
    let mut bench = Bench::new("mavlink.gps_status", json!({}));
    bench.message(&baseline);
    assert_has(
        &bench.only("gps1_rtk"),
        &json!({"header": {"frame_id": "earth"}, "rtk_receiver_id": 8, "wn": 2300, "tow": 2, "rtk_health": 9,
            "rtk_rate": 10, "nsats": 11, "baseline_a": -3, "baseline_b": 4, "baseline_c": 5, "accuracy": 6,
            "iar_num_hypotheses": -7}),
    );
    bench.message(&Gps2Rtk { baseline_coords_type: 1, wn: u16::MAX, ..zero() });
    assert_has(&bench.only("gps2_rtk"), &json!({"header": {"frame_id": "map"}, "wn": i16::MAX}));
    let mut bench = Bench::new("mavlink.gps_rtk", json!({}));
    bench.message(&baseline);
    assert_has(
        &bench.only("rtk_baseline"),
        &json!({"time_last_baseline_ms": 1, "rtk_receiver_id": 8, "wn": 2300, "tow": 2, "rtk_health": 9,
            "rtk_rate": 10, "nsats": 11, "baseline_coords_type": 0, "baseline_a_mm": -3, "baseline_b_mm": 4,
            "baseline_c_mm": 5, "accuracy": 6, "iar_num_hypotheses": -7}),
    );
}

#[test]
fn corrections_go_in_one_frame_or_in_numbered_fragments() {
    let mut rtk = bench("mavlink.gps_rtk");
    let data = |len: usize| -> Vec<u8> { (1..=255).cycle().take(len).collect() };
    // Flags and lengths of the frames by length of the message.
    let cases: [(usize, &[(u8, u8)]); 6] = [
        (0, &[(0, 0)]),
        (180, &[(0, 180)]),
        (181, &[(1, 180), (3, 1)]),
        (360, &[(1, 180), (3, 180), (5, 0)]),
        (540, &[(1, 180), (3, 180), (5, 180), (7, 0)]),
        (720, &[(1, 180), (3, 180), (5, 180), (7, 180)]),
    ];
    for (seq, (len, frames)) in (0_u8..).zip(cases) {
        rtk.sample("send_rtcm", &json!({"data": data(len)})).unwrap();
        let sent: Vec<GpsRtcmData> = sent(&mut rtk).into_iter().map(|(_, m)| m).collect();
        let got: Vec<(u8, u8)> = sent.iter().map(|m| (m.flags, m.len)).collect();
        let want: Vec<(u8, u8)> = frames.iter().map(|(flags, len)| (flags | seq << 3, *len)).collect();
        assert_eq!(got, want, "{len} bytes");
        let joined: Vec<u8> = sent.iter().flat_map(|m| m.data[..m.len.into()].to_vec()).collect();
        assert_eq!(joined, data(len));
        assert!(sent.iter().all(|m| m.data[m.len.into()..].iter().all(|byte| *byte == 0)));
    }
    let refused = rtk.sample("send_rtcm", &json!({"data": data(721)}));
    assert_eq!(refused, Err(EncodeError::OutOfRange("data")));
    assert_eq!(rtk.sent(), []);
    for _ in 6..32 {
        rtk.sample("send_rtcm", &json!({"data": [1]})).unwrap();
    }
    assert_eq!(sent::<GpsRtcmData>(&mut rtk)[25].1.flags, 31 << 3);
    rtk.sample("send_rtcm", &json!({"data": [1]})).unwrap();
    assert_eq!(sent::<GpsRtcmData>(&mut rtk)[0].1.flags, 0);

    let mut exact = with("mavlink.gps_rtk", json!({"exact": true}));
    exact.sample("send_rtcm", &json!({"data": data(360)})).unwrap();
    assert_eq!(sent::<GpsRtcmData>(&mut exact).len(), 2, "MAVROS does not mark the end");
}
