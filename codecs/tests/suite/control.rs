//! Topics that steer the vehicle.

use proptest::prelude::*;
use rostrans_codecs::mavlink::dialect::{
    GlobalPositionInt, LocalPositionNed, Message, SetAttitudeTarget, SetPositionTargetGlobalInt,
    SetPositionTargetLocalNed, Statustext,
};
use rostrans_core::{codec::EncodeError, rule::Target};
use rostrans_mavlink::Packet;
use serde_json::{Value, json};

use crate::support::{Bench, PEER, hex, rule, zero};

fn bench(codec: &str, options: Value) -> Bench {
    Bench::with_target(codec, options, PEER)
}

fn sent<M: Message>(bench: &mut Bench) -> Vec<M> {
    let frames = bench.sent();
    let packets = frames.iter().map(|(_, frame)| Packet::parse(frame).unwrap());
    packets
        .map(|packet| {
            assert_eq!(packet.msgid, M::ID);
            M::decode(packet.payload)
        })
        .collect()
}

fn pose(position: [f64; 3], yaw: f64) -> Value {
    let [x, y, z] = position;
    json!({
        "header": {"stamp": {"sec": 12, "nanosec": 345_000_000}},
        "pose": {
            "position": {"x": x, "y": y, "z": z},
            "orientation": {"z": (yaw / 2.0).sin(), "w": (yaw / 2.0).cos()},
        },
    })
}

fn stamped(ms: u64) -> Value {
    json!({"stamp": {"sec": 20, "nanosec": ms * 1_000_000}})
}

#[test]
fn setpoints_are_the_frames_of_the_reference() {
    let mut position = bench("mavlink.setpoint_position", json!({}));
    position.sample("local", &pose([1.0, 2.0, 3.0], 0.0)).unwrap();
    let want = hex(
        "fd3500000001bf54000039300000000000400000803f000040c0000000000000000000000000000000000000000000000000db0fc93f00000000f80901010132ed",
    );
    assert_eq!(position.sent(), [(Some(PEER), want)]);

    let mut velocity = bench("mavlink.setpoint_velocity", json!({}));
    let twist = json!({"linear": {"x": 1.5, "y": 0.5, "z": 0.25}, "angular": {"z": 0.1}});
    let header = json!({"stamp": {"sec": 12, "nanosec": 345_000_000}});
    velocity.sample("cmd_vel", &json!({"header": header, "twist": twist})).unwrap();
    let want = hex(
        "fd3500000001bf540000393000000000000000000000000000000000003f0000c03f000080be00000000000000000000000000000000cdccccbdc7050101019246",
    );
    assert_eq!(velocity.sent(), [(Some(PEER), want)]);
}

#[test]
fn body_frames_take_forward_left_up() {
    for (frame, number) in [("BODY_NED", 8), ("BODY_OFFSET_NED", 9)] {
        let mut bench = bench("mavlink.setpoint_position", json!({"mav_frame": frame}));
        bench.sample("local", &pose([1.0, 2.0, 3.0], 0.5)).unwrap();
        let [m] = sent::<SetPositionTargetLocalNed>(&mut bench).try_into().unwrap();
        assert_eq!((m.coordinate_frame, m.x, m.y, m.z), (number, 1.0, -2.0, -3.0));
        assert!((m.yaw + 0.5).abs() < 1e-6, "{}", m.yaw);
    }
    let mut bench = bench("mavlink.setpoint_velocity", json!({"mav_frame": "BODY_NED"}));
    bench.sample("cmd_vel_unstamped", &json!({"linear": {"x": 1.0, "y": 2.0, "z": 3.0}})).unwrap();
    let [m] = sent::<SetPositionTargetLocalNed>(&mut bench).try_into().unwrap();
    assert_eq!((m.vx, m.vy, m.vz, m.type_mask), (1.0, -2.0, -3.0, 0x5c7));
}

#[test]
fn each_setpoint_is_sent_once_and_none_is_invented() {
    let mut bench = bench("mavlink.setpoint_position", json!({}));
    for n in 0..3 {
        bench.sample("local", &pose([f64::from(n), 0.0, 0.0], 0.0)).unwrap();
    }
    assert_eq!(sent::<SetPositionTargetLocalNed>(&mut bench).len(), 3);
    bench.pass(std::time::Duration::from_secs(5));
    assert!(bench.sent().is_empty());
}

#[test]
fn thrust_goes_with_the_attitude_of_the_nearest_stamp() {
    let mut bench = bench("mavlink.setpoint_attitude", json!({"use_quaternion": true}));
    let attitude =
        |ms| json!({"header": stamped(ms), "pose": {"orientation": {"w": 1.0, "z": ms as f64 / 1000.0}}});
    for ms in [0, 20, 40] {
        bench.sample("attitude", &attitude(ms)).unwrap();
    }
    assert!(bench.sent().is_empty(), "an attitude alone makes no setpoint");
    bench.sample("thrust", &json!({"header": stamped(21), "thrust": 0.5})).unwrap();
    let [m] = sent::<SetAttitudeTarget>(&mut bench).try_into().unwrap();
    assert_eq!((m.time_boot_ms, m.thrust, m.type_mask), (20_020, 0.5, 7));
    // The other way round: the thrust waits.
    bench.sample("thrust", &json!({"header": stamped(60), "thrust": 0.7})).unwrap();
    assert_eq!(sent::<SetAttitudeTarget>(&mut bench).len(), 1, "with the attitude of 40 ms");
    bench.sample("thrust", &json!({"header": stamped(80), "thrust": 0.8})).unwrap();
    assert!(bench.sent().is_empty());
    bench.sample("attitude", &attitude(80)).unwrap();
    assert_eq!(sent::<SetAttitudeTarget>(&mut bench).len(), 1);
}

#[test]
fn thrust_out_of_range_makes_no_setpoint() {
    let mut plain = bench("mavlink.setpoint_attitude", json!({}));
    let rates = json!({"header": stamped(0), "twist": {"angular": {"x": 0.1, "y": 0.2, "z": 0.3}}});
    for thrust in [json!(-0.1), json!(1.1), json!("NaN")] {
        plain.sample("cmd_vel", &rates).unwrap();
        let refused = plain.sample("thrust", &json!({"header": stamped(0), "thrust": thrust}));
        assert_eq!(refused, Err(EncodeError::OutOfRange("thrust")));
        assert!(plain.sent().is_empty());
    }
    let mut reverse = bench("mavlink.setpoint_attitude", json!({"reverse_thrust": true, "rates_flu": true}));
    reverse.sample("cmd_vel", &rates).unwrap();
    reverse.sample("thrust", &json!({"header": stamped(0), "thrust": -0.5})).unwrap();
    let [m] = sent::<SetAttitudeTarget>(&mut reverse).try_into().unwrap();
    assert_eq!((m.thrust, m.body_roll_rate, m.body_pitch_rate, m.body_yaw_rate), (-0.5, 0.1, -0.2, -0.3));
}

#[test]
fn topic_of_the_other_kind_is_ignored() {
    let mut bench = bench("mavlink.setpoint_attitude", json!({}));
    bench.sample("attitude", &pose([0.0; 3], 1.0)).unwrap();
    bench.sample("thrust", &json!({"header": stamped(0), "thrust": 0.5})).unwrap();
    assert!(bench.sent().is_empty());
}

#[test]
fn trajectory_is_played_by_the_clock_until_it_is_replaced_or_reset() {
    let at = |x: f64, ms: u64| {
        json!({
            "transforms": [{"translation": {"x": x}, "rotation": {"w": 1.0}}],
            "time_from_start": {"nanosec": ms * 1_000_000},
        })
    };
    let start = |bench: &mut Bench, points: Value| {
        bench.sample("local", &json!({"header": stamped(0), "points": points})).unwrap();
    };
    let mut bench = bench("mavlink.setpoint_trajectory", json!({}));
    start(&mut bench, json!([at(1.0, 0), at(2.0, 500), at(3.0, 900)]));
    assert_eq!(bench.only("desired")["poses"].as_array().unwrap().len(), 3);
    let played = |bench: &mut Bench| -> Vec<(f32, u32)> {
        sent::<SetPositionTargetLocalNed>(bench).iter().map(|m| (m.y, m.time_boot_ms)).collect()
    };
    assert_eq!(played(&mut bench), [(1.0, 20_000)]);
    bench.pass(std::time::Duration::from_millis(600));
    assert_eq!(played(&mut bench), [(2.0, 20_500)]);
    let call = bench.call("reset", &json!({}));
    assert_eq!(bench.answers(), [(call, json!({"success": true, "message": ""}))]);
    bench.pass(std::time::Duration::from_secs(2));
    assert_eq!(played(&mut bench), []);
    // Nothing to play, and a point without any part.
    start(&mut bench, json!([]));
    start(&mut bench, json!([{}]));
    let [m] = sent::<SetPositionTargetLocalNed>(&mut bench).try_into().unwrap();
    assert_eq!(m.type_mask, 0xdff);
}

#[test]
fn goal_on_the_globe_waits_until_the_vehicle_knows_where_it_is() {
    let mut bench = bench("mavlink.setpoint_global_to_local", json!({}));
    let goal =
        json!({"header": stamped(5), "pose": {"position": {"latitude": 47.0}, "orientation": {"w": 1.0}}});
    assert!(bench.sample("global_to_local", &goal).is_err());
    assert!(bench.sent().is_empty());
}

#[test]
fn global_goals_go_on_when_the_time_in_milliseconds_starts_anew() {
    let [global, local, mut goals] =
        ["mavlink.global_position", "mavlink.local_position", "mavlink.setpoint_global_to_local"]
            .map(|codec| rule(codec, &json!({})));
    goals.links[0].target = Some(Target::Udp(PEER));
    let [mut global, mut local, mut bench] = Bench::together([&global, &local, &goals]);
    global.message(&GlobalPositionInt { lat: 470_000_000, ..zero() });
    local.message(&LocalPositionNed { x: 3.0, ..zero() });
    // 396 times 2^32 ms lie between them.
    for (sec, time_boot_ms) in [(1_700_807_049, 4_294_967_080), (1_700_807_050, 784)] {
        let pose = json!({"position": {"latitude": 47.0}, "orientation": {"w": 1.0}});
        let goal = json!({"header": {"stamp": {"sec": sec}}, "pose": pose});
        bench.sample("global_to_local", &goal).unwrap();
        let [m] = sent::<SetPositionTargetLocalNed>(&mut bench).try_into().unwrap();
        assert_eq!((m.time_boot_ms, m.x), (time_boot_ms, 3.0));
        bench.sample("global_to_local", &goal).unwrap();
        assert!(bench.sent().is_empty(), "the same goal");
    }
}

#[test]
fn long_text_is_cut_between_characters() {
    let mut bench = bench("mavlink.statustext_send", json!({}));
    bench.sample("send", &json!({"severity": 4, "text": "ü".repeat(40)})).unwrap();
    let [m] = sent::<Statustext>(&mut bench).try_into().unwrap();
    assert_eq!(std::str::from_utf8(&m.text).unwrap().trim_end_matches('\0'), "ü".repeat(24));
}

proptest! {
    #[test]
    fn any_raw_setpoint_is_one_frame(
        frame: u8, type_mask: u16, v in proptest::array::uniform9(any::<f64>()), yaw: f32, rate: f32,
        latitude: f64, longitude: f64, altitude: f32,
    ) {
        let xyz = |i: usize| json!({"x": v[i], "y": v[i + 1], "z": v[i + 2]});
        let mut bench = bench("mavlink.setpoint_raw", json!({}));
        bench.sample("local", &json!({
            "coordinate_frame": frame, "type_mask": type_mask, "position": xyz(0), "velocity": xyz(3),
            "acceleration_or_force": xyz(6), "yaw": yaw, "yaw_rate": rate,
        })).unwrap();
        let [m] = sent::<SetPositionTargetLocalNed>(&mut bench).try_into().unwrap();
        prop_assert_eq!((m.coordinate_frame, m.type_mask), (frame, type_mask));
        bench.sample("global", &json!({
            "coordinate_frame": frame, "type_mask": type_mask, "latitude": latitude, "longitude": longitude,
            "altitude": altitude, "yaw": yaw,
        })).unwrap();
        let [m] = sent::<SetPositionTargetGlobalInt>(&mut bench).try_into().unwrap();
        prop_assert_eq!((m.coordinate_frame, m.type_mask), (frame, type_mask));
    }
}
