//! Missions, fences and rally points: the codec between services and an autopilot.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{
    AutopilotVersion, Message, MissionAck, MissionClearAll, MissionCount, MissionCurrent, MissionItem,
    MissionItemInt, MissionItemReached, MissionRequest, MissionRequestInt, MissionRequestList,
    MissionSetCurrent, MissionWritePartialList,
};
use rostrans_mavlink::Packet;
use serde_json::{Value, json};

use crate::support::{Bench, PEER, heartbeat, v1, v2, zero};

const PX4: u8 = 12;
const ARDUPILOT: u8 = 3;
/// Our own ids.
const US: (u8, u8) = (1, 191);

fn connected(autopilot: u8) -> Bench {
    let mut bench = Bench::with_target("mavlink.mission", json!({}), PEER);
    bench.message(&heartbeat(autopilot));
    bench
}

/// The messages of one kind that were sent, others being none of the test's business.
fn sent<M: Message>(bench: &mut Bench) -> Vec<M> {
    let frames = bench.sent();
    let of_kind = |frame: &Vec<u8>| {
        let packet = Packet::parse(frame).unwrap();
        assert_eq!((packet.sysid, packet.compid), US);
        (packet.msgid == M::ID).then(|| M::decode(packet.payload))
    };
    frames.iter().filter_map(|(_, frame)| of_kind(frame)).collect()
}

fn count(count: u16, mission_type: u8) -> MissionCount {
    MissionCount { count, target_system: US.0, target_component: US.1, mission_type, opaque_id: 0 }
}

fn ack(kind: u8, mission_type: u8) -> MissionAck {
    MissionAck { target_system: US.0, target_component: US.1, kind, mission_type, opaque_id: 0 }
}

fn request(seq: u16, mission_type: u8) -> MissionRequestInt {
    MissionRequestInt { seq, target_system: US.0, target_component: US.1, mission_type }
}

fn item(seq: u16, mission_type: u8) -> MissionItemInt {
    MissionItemInt {
        x: 473_977_420,
        y: 85_455_940,
        z: 12.5,
        seq,
        command: 16,
        target_system: US.0,
        target_component: US.1,
        frame: 3,
        autocontinue: 1,
        mission_type,
        ..zero()
    }
}

fn waypoint() -> Value {
    json!({
        "frame": 3, "command": 16, "is_current": false, "autocontinue": true,
        "param1": 0.0, "param2": 0.0, "param3": 0.0, "param4": 0.0,
        "x_lat": 47.397742, "y_long": 8.545594, "z_alt": 12.5,
    })
}

/// The one answer since the last call.
fn answer(bench: &mut Bench) -> Value {
    let mut answers = bench.answers();
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0).1
}

#[test]
fn services_of_each_plan_carry_its_type() {
    for (mission_type, plan, port) in
        [(0, "mission", "waypoints"), (1, "geofence", "fences"), (2, "rallypoint", "rallypoints")]
    {
        let mut bench = connected(PX4);
        bench.call(&format!("{plan}_pull"), &json!({}));
        let list = MissionRequestList { target_system: 1, target_component: 1, mission_type };
        assert_eq!(sent::<MissionRequestList>(&mut bench), [list]);
        bench.message(&count(1, mission_type));
        let asked = MissionRequestInt { seq: 0, target_system: 1, target_component: 1, mission_type };
        assert_eq!(sent::<MissionRequestInt>(&mut bench), [asked]);
        bench.message(&item(0, mission_type));
        let done = MissionAck { target_system: 1, target_component: 1, kind: 0, mission_type, opaque_id: 0 };
        assert_eq!(sent::<MissionAck>(&mut bench), [done]);
        assert_eq!(answer(&mut bench), json!({"success": true, "wp_received": 1}));
        assert_eq!(bench.only(port), json!({"current_seq": 0, "waypoints": [waypoint()]}));

        bench.call(&format!("{plan}_push"), &json!({"waypoints": [waypoint()]}));
        let announced =
            MissionCount { count: 1, target_system: 1, target_component: 1, mission_type, opaque_id: 0 };
        assert_eq!(sent::<MissionCount>(&mut bench), [announced]);
        bench.message(&request(0, mission_type));
        let given = MissionItemInt { target_component: 1, ..item(0, mission_type) };
        assert_eq!(sent::<MissionItemInt>(&mut bench), [given]);
        bench.message(&ack(0, mission_type));
        assert_eq!(answer(&mut bench), json!({"success": true, "wp_transfered": 1}));
        bench.only(port);

        bench.call(&format!("{plan}_clear"), &json!({}));
        let cleared = MissionClearAll { target_system: 1, target_component: 1, mission_type };
        assert_eq!(sent::<MissionClearAll>(&mut bench), [cleared]);
        bench.message(&ack(0, mission_type));
        assert_eq!(answer(&mut bench), json!({"success": true}));
        assert_eq!(bench.only(port)["waypoints"], json!([]));
    }
}

#[test]
fn plans_are_read_one_after_another_when_the_vehicle_has_booted() {
    let mut bench = connected(PX4);
    for _ in 0..14 {
        bench.message(&heartbeat(PX4));
        bench.pass(Duration::from_secs(1));
    }
    assert_eq!(bench.sent().len(), 0);
    bench.message(&heartbeat(PX4));
    bench.pass(Duration::from_secs(1));
    for mission_type in 0..3 {
        let lists = sent::<MissionRequestList>(&mut bench);
        assert_eq!(lists.len(), 1);
        assert_eq!(lists[0].mission_type, mission_type);
        bench.message(&count(0, mission_type));
    }
    assert_eq!(
        bench.take("waypoints").len() + bench.take("fences").len() + bench.take("rallypoints").len(),
        3
    );
}

#[test]
fn empty_push_clears() {
    let mut bench = connected(PX4);
    bench.call("mission_push", &json!({}));
    assert_eq!(sent::<MissionClearAll>(&mut bench).len(), 1);
    bench.message(&ack(0, 0));
    assert_eq!(answer(&mut bench), json!({"success": true, "wp_transfered": 0}));
}

#[test]
fn second_call_of_a_plan_fails_at_once_and_one_of_another_plan_waits() {
    let mut bench = connected(PX4);
    bench.call("mission_pull", &json!({}));
    let second = bench.call("mission_clear", &json!({}));
    assert_eq!(bench.answers(), [(second, json!({"success": false}))]);
    let other = bench.call("geofence_clear", &json!({}));
    assert_eq!(bench.answers(), []);
    assert_eq!(sent::<MissionClearAll>(&mut bench).len(), 0);
    bench.message(&count(0, 0));
    assert_eq!(bench.answers().len(), 1);
    assert_eq!(sent::<MissionClearAll>(&mut bench).len(), 1);
    bench.message(&ack(0, 1));
    assert_eq!(bench.answers(), [(other, json!({"success": true}))]);
}

#[test]
fn reading_unasked_makes_way_for_calls() {
    let mut bench = connected(PX4);
    bench.skip(Duration::from_secs(9));
    bench.message(&heartbeat(PX4));
    bench.skip(Duration::from_secs(6));
    bench.tick();
    assert_eq!(sent::<MissionRequestList>(&mut bench).len(), 1);
    let pull = bench.call("mission_pull", &json!({}));
    assert_eq!(bench.sent(), [], "takes part in it");
    bench.message(&count(0, 0));
    assert_eq!(bench.answers(), [(pull, json!({"success": true, "wp_received": 0}))]);
    // Now the fence is read.
    bench.call("mission_clear", &json!({}));
    let frames = bench.sent();
    let ids: Vec<u32> = frames.iter().map(|(_, frame)| Packet::parse(frame).unwrap().msgid).collect();
    assert_eq!(ids, [MissionAck::ID, MissionRequestList::ID, MissionAck::ID, MissionClearAll::ID]);
    let cancelled = MissionAck::decode(Packet::parse(&frames[2].1).unwrap().payload);
    assert_eq!((cancelled.kind, cancelled.mission_type), (15, 1));
}

#[test]
fn what_others_say_to_the_vehicle_and_it_to_them_confuses_nothing() {
    let mut bench = connected(PX4);
    bench.call("mission_push", &json!({"waypoints": [waypoint()]}));
    let theirs = |kind| MissionAck { target_system: 255, target_component: 190, ..ack(kind, 0) };
    bench.message(&theirs(1));
    bench.message(&MissionRequestInt { target_system: 255, target_component: 190, ..request(0, 0) });
    bench.message(&MissionRequestInt { target_component: 192, ..request(0, 0) });
    // Another system, another component.
    bench.frame(&v2(2, 1, &ack(1, 0))).unwrap();
    bench.frame(&v2(1, 100, &ack(1, 0))).unwrap();
    assert_eq!(bench.answers(), []);
    assert_eq!(sent::<MissionItemInt>(&mut bench).len(), 0);
    bench.message(&request(0, 0));
    bench.message(&ack(0, 0));
    assert_eq!(answer(&mut bench)["success"], true);
    // A ground station's success is worth a look.
    bench.sent();
    bench.message(&MissionCount { target_system: 255, ..count(7, 0) });
    bench.message(&theirs(0));
    bench.pass(Duration::from_secs(4));
    assert_eq!(bench.sent(), []);
    bench.pass(Duration::from_secs(1));
    assert_eq!(sent::<MissionRequestList>(&mut bench).len(), 1);
}

#[test]
fn ardupilot_is_sent_whole_numbers_although_it_asks_in_the_old_way() {
    let mut bench = connected(ARDUPILOT);
    bench.call("mission_push", &json!({"waypoints": [waypoint()]}));
    bench.sent();
    bench.message(&MissionRequest { seq: 0, target_system: US.0, target_component: US.1, mission_type: 0 });
    assert_eq!(sent::<MissionItemInt>(&mut bench).len(), 1);
    bench.message(&AutopilotVersion { capabilities: 0, ..zero() });
    bench.message(&MissionRequest { seq: 0, target_system: US.0, target_component: US.1, mission_type: 0 });
    assert_eq!(sent::<MissionItem>(&mut bench).len(), 1);
}

#[test]
fn part_of_a_mission_can_be_written_to_ardupilot_only() {
    for (autopilot, can) in [(PX4, false), (ARDUPILOT, true)] {
        let mut bench = connected(autopilot);
        bench.call("mission_pull", &json!({}));
        bench.message(&count(3, 0));
        (0..3).for_each(|seq| bench.message(&item(seq, 0)));
        assert_eq!(answer(&mut bench)["wp_received"], 3);
        bench.sent();
        bench.call("mission_push", &json!({"start_index": 1, "waypoints": [waypoint()]}));
        let partial = sent::<MissionWritePartialList>(&mut bench);
        if !can {
            assert_eq!(partial, []);
            assert_eq!(answer(&mut bench), json!({"success": false, "wp_transfered": 0}));
            continue;
        }
        assert_eq!((partial[0].start_index, partial[0].end_index), (1, 2));
        bench.message(&request(1, 0));
        bench.message(&ack(0, 0));
        assert_eq!(answer(&mut bench), json!({"success": true, "wp_transfered": 1}));
        // Fences have no parts.
        bench.call("geofence_push", &json!({"start_index": 1, "waypoints": [waypoint()]}));
        assert_eq!(answer(&mut bench)["success"], false);
    }
}

#[test]
fn current_item_is_set_and_reached_items_are_told() {
    let mut bench = connected(PX4);
    bench.call("mission_set_current", &json!({"wp_seq": 4}));
    let wanted = MissionSetCurrent { seq: 4, target_system: 1, target_component: 1 };
    assert_eq!(sent::<MissionSetCurrent>(&mut bench), [wanted]);
    bench.frame(&v1(1, 1, &MissionCurrent { seq: 4, ..zero() })).unwrap();
    assert_eq!(answer(&mut bench), json!({"success": true}));
    assert_eq!(bench.only("waypoints")["current_seq"], 4);
    bench.message(&MissionItemReached { seq: 4 });
    let reached = bench.only("reached");
    assert_eq!((&reached["wp_seq"], &reached["header"]["stamp"]["sec"]), (&json!(4), &json!(1_700_000_000)));
}

#[test]
fn every_call_is_answered_when_the_vehicle_goes_or_the_run_ends() {
    let calls = ["mission_pull", "geofence_push", "rallypoint_clear"];
    for close in [true, false] {
        let mut bench = connected(PX4);
        bench.message(&ack(0, 0));
        for call in calls {
            bench.call(
                call,
                &json!({"waypoints": [waypoint()]})
                    .as_object()
                    .filter(|_| call.ends_with("push"))
                    .map_or(json!({}), |o| json!(o)),
            );
        }
        assert_eq!(bench.answers(), []);
        if close {
            bench.close();
        } else {
            bench.pass(Duration::from_secs(10));
        }
        let answers = bench.answers();
        assert_eq!(answers.len(), 3);
        assert!(answers.iter().all(|(_, answer)| answer["success"] == false));
    }
    let mut never = Bench::new("mavlink.mission", json!({}));
    never.call("mission_pull", &json!({}));
    assert_eq!(answer(&mut never), json!({"success": false, "wp_received": 0}));
    assert_eq!(never.sent(), []);
}
