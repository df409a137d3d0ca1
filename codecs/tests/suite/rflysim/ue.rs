//! RflySim3D. Expected bytes were packed by Python's `struct` from the formats of the reference; its own examples are named.

use std::net::SocketAddr;

use rostrans_core::rule::{ForwardRule, Target};
use rostrans_rflysim::{
    Packet as _, Text,
    event::CopterSimCrash,
    scene::{CameraData, CameraDataOld, CoptReqDataOld, ObjReqData, ObjReqDataOld},
    ue::{Multi3DData100New, SOut2SimulatorSimple1},
};
use serde_json::{Value, json};

use crate::support::{Bench, assert_close, assert_has, build, hex, lines, numbers, rule};

const UE: &str = "127.0.0.1:20010";
const NET: &str = "224.0.0.10:20009";

fn to_ue(options: &Value) -> ForwardRule {
    let mut rule = rule("rflysim3d.commands", options);
    rule.links[0].target = Some(Target::Udp(UE.parse().unwrap()));
    rule
}

fn commands(windows: u16) -> Bench {
    Bench::of(&to_ue(&json!({"windows": windows})))
}

/// Sends one message to a single window; its datagram without the zeros at its end, and its length.
fn one(input: &str, message: Value) -> (String, usize) {
    let mut ue = commands(1);
    ue.sample(input, &message).unwrap();
    let mut sent = ue.sent();
    assert_eq!(sent.len(), 1);
    let (to, bytes) = sent.remove(0);
    assert_eq!(to, Some(if input == "cmd_net" { NET } else { UE }.parse().unwrap()));
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    (bytes[..used].iter().map(|byte| format!("{byte:02x}")).collect(), bytes.len())
}

#[track_caller]
fn assert_bytes(input: &str, message: Value, len: usize, want: &str) {
    let (got, got_len) = one(input, message);
    assert_eq!((got.as_str(), got_len), (want, len));
}

#[test]
fn console_commands_take_the_shortest_packet() {
    // The reference's V18.
    let text = "RflyChangeMapbyName Grasslands";
    let v18 = "d202964952666c794368616e67654d617062794e616d652047726173736c616e6473";
    assert_bytes("cmd", json!({"data": text}), 56, v18);
    let long = format!("RflyShowTextTime {} 5", "x".repeat(60));
    let bytes = format!("d202964952666c7953686f775465787454696d6520{}2035", "78".repeat(60));
    assert_bytes("cmd", json!({"data": long}), 256, &bytes);
    let net = "d902964952666c794368616e67654d617062794e616d652047726173736c616e6473";
    assert_bytes("cmd_net", json!({"data": text}), 96, net);
    for (len, size) in [(51, 56), (52, 256), (249, 256)] {
        assert_eq!(one("cmd", json!({"data": "x".repeat(len)})).1, size, "{len}");
    }
}

/// Facing east at 20 m east, 10 m north and 5 m up, with more on top.
fn pose(more: Value) -> Value {
    let mut pose = json!({
        "copter_id": 2, "vehicle_type": 3,
        "pose": {"position": {"x": 20.0, "y": 10.0, "z": 5.0}, "orientation": {"w": 1.0}},
        "motor_rpms": [1000.0, 1000.0, 1000.0, 1000.0, 0.0, 0.0, 0.0, 0.0],
    });
    pose.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    pose
}

#[test]
fn pose_is_a_short_truth_unless_it_has_a_scale_or_is_on_the_ground() {
    let plain = "d3029649020000000300000000000000000000000000000000007a4400007a4400007a4400007a44000000000000000000000000000000000000000000000000000000000000000000000000db0fc93f0000000000002440000000000000344000000000000014c0000000000000f0bf";
    assert_bytes("pose", pose(json!({})), 112, plain);
    assert_bytes("pose", pose(json!({"scale": [1.0, 1.0, 1.0]})), 112, plain);
    let mut unset = pose(json!({}));
    unset["pose"]["orientation"] = json!({"x": 0.0, "y": 0.0, "z": 0.0, "w": 0.0});
    assert_bytes("pose", unset, 112, plain);
    let scaled = "d3029649020000000300000000007a4400002041\
                  0000a0410000a0c00000000000000000db0fc93f00000040000000400000003f";
    assert_bytes("pose", pose(json!({"scale": [2.0, 2.0, 0.5], "fit_ground": true})), 52, scaled);
    let (bytes, len) = one("pose", pose(json!({"fit_ground": true})));
    let ground =
        SOut2SimulatorSimple1::decode(&[hex(&bytes), vec![0; len - bytes.len() / 2]].concat()).unwrap();
    assert_eq!((ground.checksum, ground.scale, ground.motor_rpm), (1_234_567_891, [1.0; 3], 1000.0));
    let (bytes, _) = one("pose", pose(json!({"scale": [2.0, 1.0, 1.0]})));
    assert!(bytes.starts_with("d2029649"), "{bytes}");
}

#[test]
fn attitude_is_turned_as_the_rest() {
    // Roll 0.2 to the right, nose 0.1 down (pitch 0.1 in FLU), facing north (yaw pi/2 in ENU).
    let mut banked = pose(json!({"scale": [2.0, 2.0, 2.0]}));
    let (roll, pitch, yaw) = (0.1_f64, 0.05_f64, std::f64::consts::FRAC_PI_4);
    let ((sr, cr), (sp, cp), (sy, cy)) = (roll.sin_cos(), pitch.sin_cos(), yaw.sin_cos());
    banked["pose"]["orientation"] = json!({
        "w": cr * cp * cy + sr * sp * sy, "x": sr * cp * cy - cr * sp * sy,
        "y": cr * sp * cy + sr * cp * sy, "z": cr * cp * sy - sr * sp * cy,
    });
    let (bytes, len) = one("pose", banked);
    let packet =
        SOut2SimulatorSimple1::decode(&[hex(&bytes), vec![0; len - bytes.len() / 2]].concat()).unwrap();
    assert_close(packet.ang_euler.map(f64::from), [0.2, -0.1, 0.0], 1e-6);
}

#[test]
fn many_poses_are_as_few_datagrams_as_can_be() {
    let mut ue = commands(1);
    let second = json!({"copter_id": 2, "vehicle_type": 100, "scale": [2.0, 2.0, 0.5],
                        "pose": {"position": {"x": 0.0, "y": 1.0, "z": 0.0}, "orientation": {"w": 1.0}}});
    ue.sample("poses", &json!({"poses": [pose(json!({"copter_id": 1})), second]})).unwrap();
    let [(_, two)] = &ue.sent()[..] else { panic!("one datagram") };
    let zeros = |count: usize| "00".repeat(count);
    let want = format!(
        "d202964901000200{}03006400{}000020410000a0410000a0c00000803f0000000000000000{}0000000000000000db0fc93f0000000000000000db0fc93f{}640064006400c800c8003200{}00007a4400007a4400007a4400007a44{}",
        zeros(36),
        zeros(36),
        zeros(216),
        zeros(216),
        zeros(108),
        zeros(624)
    );
    assert_eq!(two, &hex(&want));

    // 130 of them: a hundred, and thirty, which are too many for the packet of twenty.
    let row = |id: u32| json!({"copter_id": id, "vehicle_type": 3, "fit_ground": true, "pose": {"position": {"x": id}}});
    let poses: Vec<Value> = (1..=130).map(row).collect();
    ue.sample("poses", &json!({"poses": poses})).unwrap();
    let sent = ue.sent();
    assert_eq!(sent.iter().map(|(_, bytes)| bytes.len()).collect::<Vec<_>>(), [3804, 3804]);
    let rest = Multi3DData100New::decode(&sent[1].1).unwrap();
    assert_eq!((rest.checksum, rest.copter_ids[29], rest.copter_ids[30]), (1_234_567_891, 130, 0));
    assert_eq!((rest.pos_e[29], rest.scale[29], rest.scale[30]), ([0.0, 130.0, 0.0], [100; 3], [0; 3]));
    ue.sample("poses", &json!({"poses": []})).unwrap();
    assert!(ue.sent().is_empty());
}

#[test]
fn labels_attachments_and_actuators() {
    let label = json!({"copter_id": 1, "text": "Ziel ✓", "line": -1, "rgb": [255, 128, 0], "duration": 5.0});
    let bytes = "db02964901000000ffffffffff00000080000000000000000000a0400000f0415a69656c20e29c93";
    assert_bytes("label", label, 152, bytes);
    let attach = json!({"copter_ids": [2, 3], "attach_ids": [1, 1], "types": [3, 1]});
    let pad = "00".repeat(92);
    let bytes = format!("d40296490200000003000000{pad}0100000001000000{pad}0300000001");
    assert_bytes("attach", attach, 304, &bytes);
    let mut values = vec![0.5, 0.0, -1.0];
    values.resize(16, 0.0);
    let actuators = json!({"copter_id": 4, "runned_time": 12.5, "values": values});
    let bytes = "d6029649040000000000000000002940000000000000e03f0000000000000000000000000000f0bf";
    assert_bytes("ext_act", actuators, 144, bytes);
}

#[test]
fn requests_are_console_commands() {
    let text = |message: Value| {
        let (bytes, _) = one("request", message);
        String::from_utf8(hex(&bytes)[4..].to_vec()).unwrap()
    };
    for (message, command) in [
        (json!({"kind": 0, "name": "3"}), "RflyReqObjData 0 3"),
        (json!({"kind": 1, "name": "1"}), "RflyReqObjData 1 1"),
        (json!({"kind": 2, "name": "Wall_12"}), "RflyReqObjData 2 Wall_12"),
        (json!({"kind": 2, "name": "Wall_12", "stop": true}), "RflyReqObjData 12 Wall_12"),
        (json!({"kind": 0, "stop": true}), "RflyReqObjData 20"),
        (json!({"kind": 3}), "RflyReqVehicleData 1"),
        (json!({"kind": 3, "stop": true}), "RflyReqVehicleData 0"),
    ] {
        assert_eq!(text(message), command);
    }
}

#[test]
fn windows_are_addressed_separately_or_all() {
    let mut ue = commands(3);
    let ports = |ue: &mut Bench| -> Vec<u16> { ue.sent().iter().map(|(to, _)| to.unwrap().port()).collect() };
    for (window, want) in
        [(json!(-1), vec![20010, 20011, 20012]), (json!(0), vec![20010]), (json!(2), vec![20012])]
    {
        ue.sample("label", &json!({"text": "t", "window": window})).unwrap();
        assert_eq!(ports(&mut ue), want, "{window}");
    }
    ue.sample("cmd", &json!({"data": "@1 t.MaxFPS 30"})).unwrap();
    let [(Some(to), bytes)] = &ue.sent()[..] else { panic!("one datagram") };
    assert_eq!((to.port(), &bytes[4..16]), (20011, &b"t.MaxFPS 30\0"[..]));
    ue.sample("cmd", &json!({"data": "stat fps"})).unwrap();
    assert_eq!(ports(&mut ue), [20010, 20011, 20012]);
    ue.sample("cmd_net", &json!({"data": "stat fps"})).unwrap();
    assert_eq!(ue.sent()[0].0, Some(NET.parse::<SocketAddr>().unwrap()));
}

#[test]
fn what_no_packet_can_say_is_refused_with_a_line_and_sends_nothing() {
    let poses = |pose: Value| json!({"poses": [pose]});
    for (input, message, why) in [
        ("cmd", json!({"data": "x".repeat(250)}), "the command has 250 bytes, and there is room for 249"),
        ("cmd", json!({"data": "@a stat fps"}), "write '@', a window's number"),
        ("cmd", json!({"data": "@2 stat fps"}), "window 2 is not there"),
        ("cmd_net", json!({"data": "x".repeat(92)}), "has 92 bytes, and there is room for 91"),
        ("label", json!({"text": "ü".repeat(60)}), "has 120 bytes, and there is room for 119"),
        ("pose", pose(json!({"scale": [-1.0, 1.0, 1.0]})), "a scale must be from 0 to 655.35"),
        ("pose", pose(json!({"pose": {"position": {"x": f64::INFINITY.to_string()}}})), "not finite"),
        ("poses", poses(pose(json!({"copter_id": 0}))), "copter_id of many poses"),
        ("poses", poses(pose(json!({"vehicle_type": 70000}))), "vehicle_type of many poses"),
        ("attach", json!({"copter_ids": [1], "attach_ids": [], "types": [1]}), "must have one length"),
        (
            "attach",
            json!({"copter_ids": vec![1; 26], "attach_ids": vec![1; 26], "types": vec![1; 26]}),
            "at most 25",
        ),
        ("attach", json!({"copter_ids": [1], "attach_ids": [1], "types": [4]}), "from 0 to 3"),
        ("request", json!({"kind": 1}), "a request needs the name"),
        ("request", json!({"kind": 2, "name": "two words"}), "must not contain spaces"),
        ("request", json!({"kind": 9, "name": "1"}), "kind of a request must be from 0 to 3"),
    ] {
        let mut ue = commands(2);
        assert!(ue.sample(input, &message).is_err(), "{input} {message}");
        let told = lines();
        assert!(told.iter().any(|line| line.contains(why)), "{why}: {told:?}");
        assert!(ue.sent().is_empty(), "{input} {message}");
    }
}

#[test]
fn options_that_cannot_be_are_named() {
    let wrong = |rule: &ForwardRule| build(rule, |codec, cx| codec.decoder(cx)).err().unwrap().to_string();
    assert!(wrong(&to_ue(&json!({"windows": 0}))).contains("windows"));
    assert!(wrong(&to_ue(&json!({"net": "here"}))).contains("'here' is not an address and a port"));
    assert!(wrong(&rule("rflysim3d.commands", &json!({}))).contains("where RflySim3D runs"));
}

/// The reference's V17.
const V17: &str = "d3029649020000000000204100\
                   00a0410000a0c000000000000000000000c03f0000803f000000000000000000000000\
                   000020410000a0410000a8c00000003f0000003f0000803e0000000000c04040";

#[test]
fn vehicles_objects_and_cameras_of_both_sizes_have_topics() {
    let mut scene = Bench::new("rflysim3d.scene", json!({}));
    scene.frame(&hex(V17)).unwrap();
    let copter = scene.only("copter_data");
    assert_has(&copter, &json!({"copter_id": 2, "timestamp": 33.5}));
    assert_eq!(copter["header"]["frame_id"], "map");
    let xyz = ["x", "y", "z"];
    assert_close(numbers(&copter["pose"]["position"], xyz), [20.0, 10.0, 5.0], 1e-6);
    assert_close(numbers(&copter["box_origin"], xyz), [20.0, 10.0, 5.25], 1e-6);
    assert_close(numbers(&copter["box_extent"], xyz), [0.5, 0.5, 0.25], 1e-6);
    // The quaternion (1, 0, 0, 0) counts, not the yaw: facing north.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    assert_close(numbers(&copter["pose"]["orientation"], ["w", "x", "y"]), [half, 0.0, 0.0], 1e-6);

    let old = CoptReqDataOld {
        copter_id: 2,
        pos_ue: [10.0, 20.0, -5.0],
        ang_euler: [0.0, 0.0, std::f32::consts::FRAC_PI_2],
        box_origin: [10.0, 20.0, -5.25],
        box_extent: [1.0, 2.0, 3.0],
        timestmp: 33.5,
    };
    scene.frame(&old.encode()).unwrap();
    let copter = scene.only("copter_data");
    // Facing east.
    assert_close(numbers(&copter["pose"]["orientation"], ["w", "x", "z"]), [1.0, 0.0, 0.0], 1e-6);
    assert_close(numbers(&copter["box_extent"], xyz), [2.0, 1.0, 3.0], 1e-6);

    let name = Text::cut("Wall_12");
    let object = ObjReqData {
        seq_id: 7,
        pos_ue: [1.0, 2.0, -3.0],
        obj_name: name,
        timestmp: 1.5,
        ..ObjReqData::default()
    };
    let older = ObjReqDataOld {
        seq_id: 7,
        pos_ue: [1.0, 2.0, -3.0],
        obj_name: name,
        timestmp: 1.5,
        ..ObjReqDataOld::default()
    };
    for bytes in [object.encode(), older.encode()] {
        scene.frame(&bytes).unwrap();
        let object = scene.only("object_data");
        assert_has(&object, &json!({"seq_id": 7, "name": "Wall_12", "timestamp": 1.5}));
        assert_close(numbers(&object["pose"]["position"], xyz), [2.0, 1.0, 3.0], 1e-6);
    }

    let camera = CameraData {
        seq_id: 3,
        type_id: 1,
        data_height: 480,
        data_width: 640,
        camera_fov: 90.0,
        timestmp: 2.5,
        ..CameraData::default()
    };
    let older = CameraDataOld {
        seq_id: 3,
        type_id: 1,
        data_height: 480,
        data_width: 640,
        camera_fov: 90.0,
        timestmp: 2.5,
        ..CameraDataOld::default()
    };
    for bytes in [camera.encode(), older.encode()] {
        scene.frame(&bytes).unwrap();
        let want = json!({"seq_id": 3, "type_id": 1, "width": 640, "height": 480, "fov_deg": 90.0, "timestamp": 2.5});
        assert_has(&scene.only("camera_data"), &want);
    }
}

#[test]
fn unreal_units_are_an_option() {
    let mut scene = Bench::new("rflysim3d.scene", json!({"frame": "ue"}));
    let packet = CoptReqDataOld {
        copter_id: 1,
        pos_ue: [1000.0, 2000.0, 500.0],
        ang_euler: [0.0, 0.0, 90.0],
        box_extent: [50.0, 100.0, 25.0],
        ..CoptReqDataOld::default()
    };
    scene.frame(&packet.encode()).unwrap();
    let copter = scene.only("copter_data");
    assert_close(numbers(&copter["pose"]["position"], ["x", "y", "z"]), [20.0, 10.0, 5.0], 1e-6);
    assert_close(numbers(&copter["pose"]["orientation"], ["w", "x", "z"]), [1.0, 0.0, 0.0], 1e-6);
    assert_close(numbers(&copter["box_extent"], ["x", "y", "z"]), [1.0, 0.5, 0.25], 1e-6);
}

/// The reference's V16.
const V16: &str = "d90296490100000003000000ffffffff0000000000002940\
                   0000803f00000000000000000000\
                   20410000a0410000a0c0000028410000a0410000a0c0000030410000a0410000a0c0\
                   00000000000000000000c03f00007a4400007a4400007a4400007a4400000000000000000000000000000000\
                   0000803f000000400000404000008040\
                   0000a0400000c04057616c6c5f313200000000000000000000000000";

#[test]
fn crashes_of_one_vehicle_have_topics() {
    let mut first = Bench::new("rflysim3d.crash", json!({"copter_id": 1}));
    first.frame(&hex(V16)).unwrap();
    let crash = first.only("crash");
    assert_has(
        &crash,
        &json!({"copter_id": 1, "vehicle_type": 3, "crash_type": -1, "runned_time": 12.5, "crashed_name": "Wall_12",
                "ray": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}),
    );
    let xyz = ["x", "y", "z"];
    assert_close(numbers(&crash["pose"]["position"], xyz), [20.0, 10.0, 5.0], 1e-6);
    assert_close(numbers(&crash["crash_position"], xyz), [20.0, 10.5, 5.0], 1e-6);
    assert_close(numbers(&crash["target_position"], xyz), [20.0, 11.0, 5.0], 1e-6);
    assert_close(numbers(&crash["velocity"], xyz), [0.0, 1.0, 0.0], 1e-6);
    first.frame(&CopterSimCrash { copter_id: 1, target_id: -2 }.encode()).unwrap();
    assert_eq!(first.only("collision")["data"], -2);
    let mut second = Bench::new("rflysim3d.crash", json!({"copter_id": 2}));
    second.frame(&hex(V16)).unwrap();
    second.frame(&CopterSimCrash { copter_id: 1, target_id: -2 }.encode()).unwrap();
    assert!(second.take("crash").is_empty() && second.take("collision").is_empty());
}

#[test]
fn cut_extended_and_foreign_datagrams_are_counted_and_change_nothing() {
    for (codec, good) in [("rflysim3d.scene", V17), ("rflysim3d.crash", V16)] {
        let mut bench = Bench::new(codec, json!({}));
        let good = hex(good);
        for cut in 0..good.len() {
            // Another packet may be as long as the first part of this one, but not begin like it and be of its kind.
            let _counted = bench.frame(&good[..cut]);
        }
        let port = if codec.ends_with("scene") { "copter_data" } else { "crash" };
        bench.take(port);
        assert!(bench.frame(&[good.as_slice(), &[0]].concat()).is_err());
        assert!(bench.frame(&vec![0xFF; good.len()]).is_err());
        assert!(bench.frame(&[]).is_err());
        assert!(bench.take(port).is_empty());
        bench.frame(&good).unwrap();
        assert_eq!(bench.take(port).len(), 1);
    }
}
