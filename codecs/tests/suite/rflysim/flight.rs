use std::time::Duration;

use rostrans_core::rule::{ForwardRule, Target};
use rostrans_rflysim::{Packet, control::InOffboardShortData, model::PX4SILIntFloat, truth::SOut2Simulator};
use serde_json::{Value, json};

use super::state;
use crate::support::{Bench, PEER, assert_close, lines, rule};

fn to_peer(codec: &str, options: &Value) -> ForwardRule {
    let mut rule = rule(codec, options);
    rule.links[0].target = Some(Target::Udp(PEER));
    rule
}

/// Telemetry and flight of one vehicle.
struct Vehicle {
    truth: Bench,
    flight: Bench,
    time: f64,
}

impl Vehicle {
    fn new(options: Value) -> Self {
        let (truth, flight) =
            Bench::two(&to_peer("coptersim.truth", &json!({})), &to_peer("coptersim.flight", &options));
        let mut vehicle = Self { truth, flight, time: 1.0 };
        vehicle.at([10.0, 20.0, -0.5]);
        vehicle.flight.tick();
        vehicle
    }

    /// CopterSim tells that it stands still there, and a moment passes.
    fn at(&mut self, pos_e: [f64; 3]) {
        let state = SOut2Simulator { pos_e, vel_e: [0.0; 3], runned_time: self.time, ..state() };
        self.truth.frame(&state.encode()).unwrap();
        self.time += 0.1;
        self.truth.skip(Duration::from_millis(100));
        self.flight.pass(Duration::from_millis(100));
    }

    fn ask(&mut self, service: &str, request: Value) -> Value {
        self.flight.call(service, &request);
        self.flight.answers().remove(0).1
    }

    fn sent(&mut self) -> Vec<PX4SILIntFloat> {
        let sent = self.flight.sent();
        assert!(sent.iter().all(|(to, _)| *to == Some(PEER)));
        sent.iter().map(|(_, bytes)| PX4SILIntFloat::decode(bytes).unwrap()).collect()
    }

    fn offboard(options: Value) -> Self {
        let mut vehicle = Self::new(options);
        assert_eq!(vehicle.ask("set_mode", json!({"custom_mode": "OFFBOARD"})), json!({"mode_sent": true}));
        assert_eq!(vehicle.ask("arming", json!({"value": true})), json!({"success": true, "result": 0}));
        vehicle.flight.sent();
        vehicle
    }

    /// The command that one setpoint becomes.
    fn fly(&mut self, input: &str, setpoint: Value) -> PX4SILIntFloat {
        self.flight.sample(input, &setpoint).unwrap();
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1);
        sent.remove(0)
    }
}

/// Heading north in ENU.
fn north() -> Value {
    json!({"w": std::f64::consts::FRAC_1_SQRT_2, "z": std::f64::consts::FRAC_1_SQRT_2})
}

fn codes(packet: &PX4SILIntFloat) -> (i32, i32) {
    (packet.in_sil_ints[0], packet.in_sil_ints[1])
}

fn floats<const N: usize>(packet: &PX4SILIntFloat, from: usize) -> [f64; N] {
    std::array::from_fn(|n| f64::from(packet.in_sil_floats[from + n]))
}

#[test]
fn state_comes_once_a_second_and_at_each_change() {
    let mut vehicle = Vehicle::new(json!({}));
    vehicle.flight.take("state");
    for _ in 0..30 {
        vehicle.at([10.0, 20.0, -0.5]);
    }
    let states = vehicle.flight.take("state");
    assert_eq!(states.len(), 3);
    assert_eq!(
        (&states[0]["connected"], &states[0]["armed"], &states[0]["mode"]),
        (&json!(true), &json!(false), &json!("MANUAL"))
    );
    vehicle.ask("arming", json!({"value": true}));
    vehicle.ask("set_mode", json!({"custom_mode": "OFFBOARD"}));
    let last = vehicle.flight.take("state").pop().unwrap();
    assert_eq!(
        (&last["armed"], &last["guided"], &last["mode"]),
        (&json!(true), &json!(true), &json!("OFFBOARD"))
    );
}

#[test]
fn vehicle_that_stops_sending_is_lost_and_comes_back() {
    let mut vehicle = Vehicle::new(json!({"timeout": 1.5}));
    vehicle.flight.take("state");
    lines();
    vehicle.flight.pass(Duration::from_millis(2000));
    let lost = vehicle.flight.take("state").pop().unwrap();
    assert_eq!(lost["connected"], false);
    assert!(lines().iter().any(|line| line.contains("lost CopterSim")));
    let answer = vehicle.ask("arming", json!({"value": true}));
    assert_eq!(answer, json!({"success": false, "result": 1}));
    assert!(lines().iter().any(|line| line.contains("no state comes from CopterSim")));
    vehicle.truth.skip(Duration::from_millis(2000));
    vehicle.at([10.0, 20.0, -0.5]);
    assert_eq!(vehicle.flight.take("state").pop().unwrap()["connected"], true);
}

#[test]
fn commands_that_go_elsewhere_than_states_come_from_are_noticed() {
    let mut vehicle = Vehicle::new(json!({}));
    lines();
    vehicle.truth.frame_from("192.0.2.7:30100".parse().unwrap(), &state().encode()).unwrap_err();
    vehicle.truth.skip(Duration::from_millis(1000));
    for _ in 0..3 {
        vehicle.truth.frame_from("192.0.2.7:30100".parse().unwrap(), &state().encode()).unwrap();
        vehicle.flight.pass(Duration::from_millis(200));
    }
    let said: Vec<_> = lines().into_iter().filter(|line| line.contains("coptersim_targetip")).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("192.0.2.7:30100"), "{said:?}");
}

#[test]
fn setpoints_go_out_in_offboard_and_armed_only() {
    let mut vehicle = Vehicle::new(json!({}));
    let climb = json!({"twist": {"linear": {"z": 1.0}}});
    vehicle.flight.sample("setpoint_velocity", &climb).unwrap();
    assert_eq!(vehicle.sent(), []);
    vehicle.ask("set_mode", json!({"custom_mode": "OFFBOARD"}));
    vehicle.flight.sample("setpoint_velocity", &climb).unwrap();
    assert_eq!(vehicle.sent(), []);
    vehicle.ask("arming", json!({"value": true}));
    vehicle.flight.pass(Duration::from_millis(500));
    let arm = vehicle.sent();
    assert!(arm.len() >= 5 && arm.iter().all(|packet| codes(packet) == (7, 0)), "{arm:?}");
    let packet = vehicle.fly("setpoint_velocity", climb);
    assert_eq!(codes(&packet), (7, 18));
    assert_close(floats(&packet, 3), [0.0, 0.0, -1.0], 0.0);
    // The setpoint takes the place of what was being repeated.
    vehicle.flight.pass(Duration::from_millis(500));
    assert_eq!(vehicle.sent(), []);
}

#[test]
fn setpoints_become_ned() {
    let mut vehicle = Vehicle::offboard(json!({}));
    // 90 degrees are north.
    let pose = json!({"pose": {"position": {"x": 1.0, "y": 2.0, "z": 3.0}, "orientation": north()}});
    let packet = vehicle.fly("setpoint_position", pose);
    assert_eq!(codes(&packet), (519, 8201));
    assert_close(floats(&packet, 0), [2.0, 1.0, -3.0], 1e-6);
    assert_close(floats(&packet, 11), [0.0], 1e-6);

    let twist = json!({"linear": {"x": -2.0, "y": 1.5, "z": 0.5}, "angular": {"z": -0.25}});
    for (input, message) in
        [("setpoint_velocity", json!({ "twist": twist })), ("setpoint_velocity_unstamped", twist)]
    {
        let packet = vehicle.fly(input, message);
        assert_close(floats(&packet, 3), [1.5, -2.0, -0.5], 1e-6);
        assert_close(floats(&packet, 14), [0.25], 1e-6);
    }

    let rates = json!({"twist": {"angular": {"x": 0.1, "y": 0.2, "z": 0.3}}});
    let packet = vehicle.fly("setpoint_rates", rates);
    assert_eq!(codes(&packet), (7, 16 + 512 + 1024));
    assert_close(floats(&packet, 12), [0.1, -0.2, -0.3], 1e-6);

    let attitude = json!({"type_mask": 7, "orientation": north(), "thrust": 0.5});
    let packet = vehicle.fly("setpoint_raw_attitude", attitude);
    assert_eq!(codes(&packet), (7, 2304));
    assert_close(floats(&packet, 9), [0.0; 3], 1e-6);
    assert_close(floats(&packet, 15), [0.5], 1e-6);
}

#[test]
fn raw_setpoints_mean_what_their_mask_and_frame_say() {
    let mut vehicle = Vehicle::offboard(json!({}));
    let raw = |frame: u8, mask: u16| {
        json!({
            "coordinate_frame": frame, "type_mask": mask,
            "position": {"x": 1.0, "y": 2.0, "z": 3.0}, "velocity": {"x": 4.0, "y": 5.0, "z": 6.0},
            "acceleration_or_force": {"x": 7.0, "y": 8.0, "z": 9.0}, "yaw": 0.0, "yaw_rate": 0.5
        })
    };
    let packet = vehicle.fly("setpoint_raw_local", raw(1, 0x9F8));
    assert_eq!(codes(&packet), (519, 8201));
    assert_close(floats(&packet, 0), [2.0, 1.0, -3.0], 1e-6);
    assert_close(floats(&packet, 11), [std::f64::consts::FRAC_PI_2], 1e-6);
    let packet = vehicle.fly("setpoint_raw_local", raw(1, 0x5C7));
    assert_eq!(codes(&packet), (7, 18));
    assert_close(floats(&packet, 3), [5.0, 4.0, -6.0], 1e-6);
    assert_close(floats(&packet, 14), [-0.5], 1e-6);
    let packet = vehicle.fly("setpoint_raw_local", raw(1, 0x9C7));
    assert_eq!(codes(&packet), (7, 10), "velocity and yaw");
    let packet = vehicle.fly("setpoint_raw_local", raw(8, 0x5C7));
    assert_eq!(codes(&packet), (7, 4114));
    assert_close(floats(&packet, 3), [4.0, -5.0, -6.0], 1e-6);
    let packet = vehicle.fly("setpoint_raw_local", raw(1, 0xC3F));
    assert_eq!(codes(&packet), (7, 4));
    assert_close(floats(&packet, 6), [8.0, 7.0, -9.0], 1e-6);
    // From where it is: it stands where it was spawned, heading east.
    let packet = vehicle.fly("setpoint_raw_local", raw(8, 0xDF8));
    assert_eq!(codes(&packet), (519, 8193));
    assert_close(floats(&packet, 0), [2.0, 1.0, -3.0], 1e-5);

    for (frame, mask) in [(6, 0x9F8), (1, 0x9F9), (1, 0xFFF), (1, 0xE3F)] {
        assert!(vehicle.flight.sample("setpoint_raw_local", &raw(frame, mask)).is_err(), "{frame} {mask:x}");
    }
    let lost = json!({"pose": {"position": {"x": 1e300}, "orientation": {"w": 1.0}}});
    assert!(vehicle.flight.sample("setpoint_position", &lost).is_err());
    assert_eq!(vehicle.sent(), []);
}

#[test]
fn readings_that_vendors_contradict_can_be_switched() {
    let velocity_yaw = json!({"coordinate_frame": 1, "type_mask": 0x9C7, "velocity": {"x": 1.0}, "yaw": 0.5});
    // Heading east in NED is pi/2, a yaw of 0.5 in ENU is pi/2 - 0.5.
    let mut vehicle = Vehicle::offboard(json!({"velocity_yaw": "rate"}));
    let packet = vehicle.fly("setpoint_raw_local", velocity_yaw.clone());
    assert_eq!(codes(&packet), (7, 18));
    assert_close(floats(&packet, 14), [-0.5], 1e-6);
    let mut vehicle = Vehicle::offboard(json!({"yaw": "ned"}));
    let packet = vehicle.fly("setpoint_raw_local", velocity_yaw);
    assert_close(floats(&packet, 11), [0.5], 1e-6);
    // Positions on the map: the spawn point is added.
    let mut vehicle = Vehicle::offboard(json!({"wire": "dll_map"}));
    let packet = vehicle.fly(
        "setpoint_position",
        json!({"pose": {"position": {"x": 1.0, "z": 3.0}, "orientation": {"w": 1.0}}}),
    );
    assert_eq!(codes(&packet), (519, 9));
    assert_close(floats(&packet, 0), [10.0, 21.0, -3.5], 1e-6);
}

#[test]
fn simple_packets_fly_in_their_own_form() {
    let mut vehicle = Vehicle::offboard(json!({"wire": "simple"}));
    let mut fly = |input: &str, setpoint: Value| {
        vehicle.flight.sample(input, &setpoint).unwrap();
        let sent = vehicle.flight.sent();
        sent.first().map(|(_, bytes)| InOffboardShortData::decode(bytes).unwrap())
    };
    let twist = json!({"linear": {"x": -2.0, "y": 1.5, "z": 0.5}, "angular": {"z": -0.25}});
    let packet = fly("setpoint_velocity_unstamped", twist).unwrap();
    assert_eq!(packet, InOffboardShortData { ctrl_mode: 0, controls: [1.5, -2.0, -0.5, 0.25] });
    let pose = json!({"pose": {"position": {"x": 1.0, "y": 2.0, "z": 3.0}, "orientation": north()}});
    let packet = fly("setpoint_position", pose).unwrap();
    assert_eq!((packet.ctrl_mode, packet.controls[2]), (2, -3.0));
    lines();
    assert_eq!(fly("setpoint_raw_attitude", json!({"type_mask": 7, "orientation": {"w": 1.0}})), None);
    assert!(lines()[0].contains("no form for it"));
    let answer = vehicle.ask("land", json!({}));
    assert_eq!(answer, json!({"success": false, "result": 1}));
    assert!(lines()[0].contains("dllmodel_ctrl=dll"));
}

#[test]
fn takes_off_lands_and_disarms_on_the_ground() {
    let mut vehicle = Vehicle::new(json!({}));
    lines();
    assert_eq!(vehicle.ask("takeoff", json!({"altitude": 3.0}))["success"], false);
    assert!(lines()[0].contains("not armed"));
    vehicle.ask("arming", json!({"value": true}));
    assert_eq!(vehicle.ask("takeoff", json!({"altitude": -3.0}))["success"], false);
    vehicle.flight.sent();
    assert_eq!(vehicle.ask("takeoff", json!({"altitude": 3.0})), json!({"success": true, "result": 0}));
    vehicle.flight.pass(Duration::from_millis(1500));
    let sent = vehicle.sent();
    assert!(sent.len() >= 8 && sent.iter().all(|packet| codes(packet) == (263, 0)), "{sent:?}");
    // From the spawn point, which is 0.5 m above the map's zero.
    assert_close(floats(&sent[0], 2), [-3.5], 1e-6);

    vehicle.truth.skip(Duration::from_millis(1500));
    vehicle.at([10.0, 20.0, -3.5]);
    assert_eq!(vehicle.ask("arming", json!({"value": false}))["success"], false, "in the air");
    assert_eq!(vehicle.ask("land", json!({}))["success"], true);
    vehicle.at([10.0, 20.0, -3.5]);
    assert!(vehicle.sent().iter().any(|packet| codes(packet) == (1031, 0)));
    for _ in 0..25 {
        vehicle.at([10.0, 20.0, -0.55]);
    }
    let last = vehicle.flight.take("state").pop().unwrap();
    assert_eq!((&last["armed"], &last["mode"]), (&json!(false), &json!("AUTO.LAND")));
    assert!(vehicle.sent().iter().any(|packet| codes(packet) == (3, 0)));
}

#[test]
fn modes_that_are_not_known_are_refused_with_those_that_are() {
    let mut vehicle = Vehicle::new(json!({}));
    lines();
    assert_eq!(vehicle.ask("set_mode", json!({"custom_mode": "HOVER"})), json!({"mode_sent": false}));
    assert!(lines()[0].contains("known are OFFBOARD"));
    assert_eq!(vehicle.ask("set_mode", json!({"custom_mode": "auto.loiter"})), json!({"mode_sent": true}));
}

#[test]
fn simulation_that_starts_anew_disarms() {
    let mut vehicle = Vehicle::offboard(json!({}));
    vehicle.time = 20.0;
    vehicle.at([10.0, 20.0, -4.0]);
    vehicle.time = 0.1;
    vehicle.at([0.0, 0.0, 0.0]);
    let last = vehicle.flight.take("state").pop().unwrap();
    assert_eq!((&last["armed"], &last["mode"]), (&json!(false), &json!("MANUAL")));
}
