//! `mavlink.state`: coming and going of a vehicle.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::Heartbeat;
use serde_json::{Value, json};

use crate::support::{Bench, lines, v2};

const HEARTBEAT: Heartbeat = Heartbeat {
    custom_mode: 393_216,
    kind: 2,
    autopilot: 12,
    base_mode: 209,
    system_status: 4,
    mavlink_version: 3,
};

fn states(bench: &mut Bench) -> Vec<(bool, bool, String)> {
    let state = |m: Value| {
        (
            m["connected"].as_bool().unwrap(),
            m["armed"].as_bool().unwrap(),
            m["mode"].as_str().unwrap().to_owned(),
        )
    };
    bench.take("state").into_iter().map(state).collect()
}

fn up() -> (bool, bool, String) {
    (true, true, "OFFBOARD".to_owned())
}

fn down() -> (bool, bool, String) {
    (false, false, String::new())
}

#[test]
fn state_is_published_at_start_for_each_heartbeat_and_when_it_is_lost() {
    let mut bench = Bench::new("mavlink.state", json!({}));
    bench.pass(Duration::from_secs(1));
    assert_eq!(states(&mut bench), [down()]);
    bench.message(&HEARTBEAT);
    bench.pass(Duration::from_secs(1));
    bench.message(&HEARTBEAT);
    assert_eq!(states(&mut bench), [up(), up()]);
    bench.pass(Duration::from_millis(9900));
    assert_eq!(states(&mut bench), []);
    bench.pass(Duration::from_millis(200));
    assert_eq!(states(&mut bench), [down()]);
    bench.pass(Duration::from_secs(30));
    assert_eq!(states(&mut bench), []);
    bench.message(&HEARTBEAT);
    assert_eq!(states(&mut bench), [up()]);
}

#[test]
fn start_state_is_left_out_when_the_vehicle_was_quicker() {
    let mut bench = Bench::new("mavlink.state", json!({}));
    bench.message(&HEARTBEAT);
    bench.pass(Duration::from_secs(1));
    assert_eq!(states(&mut bench), [up()]);
}

#[test]
fn heartbeats_of_other_components_are_not_the_vehicle() {
    let gimbal = Heartbeat { kind: 26, autopilot: 8, ..HEARTBEAT };
    let mut bench = Bench::new("mavlink.state", json!({}));
    bench.frame(&v2(1, 154, &gimbal)).unwrap();
    bench.frame(&v2(2, 1, &HEARTBEAT)).unwrap();
    assert_eq!(states(&mut bench), []);

    let mut any = Bench::new("mavlink.state", json!({"compid": 0, "sysid": 0}));
    any.frame(&v2(1, 154, &gimbal)).unwrap();
    assert_eq!(states(&mut any), [], "no autopilot");
    any.frame(&v2(9, 50, &HEARTBEAT)).unwrap();
    assert_eq!(states(&mut any), [up()]);
}

#[test]
fn first_mode_has_its_name_unless_mavros_is_repeated() {
    let mut bench = Bench::new("mavlink.state", json!({"exact": true}));
    bench.message(&HEARTBEAT);
    bench.message(&HEARTBEAT);
    let modes: Vec<String> = states(&mut bench).into_iter().map(|(.., mode)| mode).collect();
    assert_eq!(modes, ["CMODE(393216)", "OFFBOARD"]);
}

#[test]
fn silence_since_the_start_is_explained_once() {
    let mut bench = Bench::new("mavlink.state", json!({}));
    bench.pass(Duration::from_secs(30));
    let said = lines();
    let told: Vec<_> = said.iter().filter(|line| line.contains("no HEARTBEAT of any vehicle yet")).collect();
    assert_eq!(told.len(), 1, "{said:?}");
    assert!(told[0].contains("UDP port 14540"), "{told:?}");
    bench.message(&HEARTBEAT);
    bench.pass(Duration::from_secs(30));
    assert!(lines().iter().all(|line| !line.contains("no HEARTBEAT of any vehicle")));
}
