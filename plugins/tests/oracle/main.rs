//! What a real MAVROS did with the same stimuli: frames in, topics in, services, over the whole vehicle.
//!
//! `data/README.md` tells where the recording comes from. Every difference is either wrong or listed in [`meant`]
//! with its reason; an entry of that list that no longer applies is wrong too.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

mod compare;
mod meant;
mod world;

use std::{collections::BTreeMap, time::Duration};

use bytes::BytesMut;
use rostrans_codecs::mavlink::dialect::{AutopilotVersion, Message, Timesync};
use rostrans_mavlink::{Packet, Sender, write_v2};
use serde_json::{Value, json};

use compare::Differences;
use world::{World, describe};

#[test]
fn corrected_mode_differs_from_mavros_only_where_it_is_meant_to() {
    replay("", meant::CORRECTED);
}

#[test]
fn exact_mode_does_what_mavros_did() {
    replay("mavros_compat = exact", meant::EXACT);
}

/// Replays all stimuli and compares.
fn replay(params: &str, meant: &'static [meant::Meant]) {
    let mut world = World::new(params);
    let mut differences = Differences::new(&[meant::ALWAYS, meant]);
    let mut vehicle = Vehicle::default();
    prepare(&mut world);
    for stimulus in stimuli() {
        let at = stimulus["t"].as_f64().unwrap();
        let phase = stimulus["phase"].as_str().unwrap();
        vehicle.wait(&mut world, at, phase);
        world.take();
        world.sent();
        differences.stimulus(stimulus["name"].as_str().unwrap(), phase == "timesync");
        let answer = match phase {
            // The vehicle's state is set by `prepare`.
            "startup" => continue,
            // The exchange itself takes place while time passes.
            "timesync" if stimulus["count"].is_u64() => continue,
            _ => vehicle.apply(&mut world, &stimulus),
        };
        if let Some(answer) = answer {
            differences.response(&answer, &stimulus["response"]);
        }
        topics(&mut world, &stimulus, &mut differences);
        frames(&vehicle.sent, &stimulus, &mut differences);
        vehicle.sent.clear();
    }
    differences.finish();
}

/// The vehicle's side of the recording.
#[derive(Default)]
struct Vehicle {
    heartbeat: Vec<u8>,
    sent: Vec<Vec<u8>>,
}

impl Vehicle {
    /// Time passes until `at`, with the heartbeats of a vehicle that is there.
    fn wait(&mut self, world: &mut World, at: f64, phase: &str) {
        self.heartbeat = match phase {
            "lost" => Vec::new(),
            "ros_in" | "service" | "timesync" => hex(FLYING),
            _ if self.heartbeat.is_empty() => hex(FLYING),
            _ => std::mem::take(&mut self.heartbeat),
        };
        let mut left = at - world.elapsed_s();
        while left > 0.0 {
            let step = left.min(if phase == "timesync" { 0.004 } else { 0.9 });
            world.pass(Duration::from_secs_f64(step));
            left -= step;
            if !self.heartbeat.is_empty() {
                world.frame(&self.heartbeat);
            }
            if phase == "timesync" {
                answer_timesync(world);
            }
        }
    }

    /// Applies a stimulus; the response to a call.
    fn apply(&mut self, world: &mut World, stimulus: &Value) -> Option<Value> {
        if stimulus["name"] == "11.5 s without heartbeat" {
            // Between the phases the vehicle was a PX4 quadrotor again.
            prepare(world);
            world.take();
            world.pass(Duration::from_millis(11_500));
        }
        for frame in stimulus["send"].as_array().into_iter().flatten() {
            let frame = hex(frame.as_str().unwrap());
            // The framer drops what is damaged.
            if Packet::parse(&frame).is_some_and(|packet| packet.checksum_ok() != Some(false)) {
                if Packet::parse(&frame).is_some_and(|packet| packet.msgid == 0 && packet.compid == 1) {
                    self.heartbeat.clone_from(&frame);
                }
                world.frame(&frame);
            }
        }
        for message in stimulus["publish"].as_array().into_iter().flatten() {
            world.publish(message["topic"].as_str().unwrap(), &message["msg"]);
        }
        if stimulus["name"] == "setpoint_trajectory" {
            world.pass(Duration::from_millis(300));
        }
        let call = &stimulus["call"];
        let answer = call["service"].as_str().map(|service| {
            let Some((call, srv_type)) = world.call(service, &call["msg"]) else {
                return json!("no such service");
            };
            self.acknowledge(world, &stimulus["ack"]);
            world.answer(call, &srv_type).unwrap_or_else(|| json!("no answer"))
        });
        self.sent.append(&mut world.sent());
        answer
    }

    /// Answers commands as the vehicle of the recording did.
    fn acknowledge(&mut self, world: &mut World, ack: &Value) {
        let sent = world.sent();
        let commands: Vec<u16> = sent.iter().filter_map(|frame| command(frame)).collect();
        self.sent.extend(sent);
        let result = u8::try_from(ack["result"].as_u64().unwrap()).unwrap();
        let results: &[u8] = match ack["mode"].as_str().unwrap() {
            "ack" => &[result],
            "progress" => &[5, result],
            _ => &[],
        };
        for result in results {
            for command in &commands {
                world.frame(&command_ack(*command, *result));
                if *command == GET_HOME_POSITION {
                    world.frame(&hex(HOME));
                }
            }
        }
        if results.is_empty() {
            for _ in 0..10 {
                world.pass(Duration::from_millis(750));
                world.frame(&self.heartbeat);
            }
        }
    }
}

/// Answers requests for the vehicle's time at once.
fn answer_timesync(world: &mut World) {
    for frame in world.sent() {
        let packet = Packet::parse(&frame).unwrap();
        let m = Timesync::decode(packet.payload);
        if packet.msgid == Timesync::ID && m.tc1 == 0 {
            let mut payload = BytesMut::new();
            Timesync { tc1: world.time_ns() + BOOT_OFFSET_NS, ..m }.encode(&mut payload);
            let mut answer = Vec::new();
            let from = Sender { seq: 0, sysid: 1, compid: 1 };
            write_v2(&mut answer, from, Timesync::ID, &payload, Timesync::CRC_EXTRA).unwrap();
            world.frame(&answer);
        }
    }
}

/// Compares what was published.
fn topics(world: &mut World, stimulus: &Value, differences: &mut Differences) {
    let mut got = world.take();
    let mut want: BTreeMap<&str, &Value> = BTreeMap::new();
    for message in stimulus["ros"].as_array().unwrap() {
        let heartbeat = message["topic"] == "/mavros/state";
        if heartbeat && (stimulus["phase"] == "ros_in" || stimulus["phase"] == "service") {
            // Of the vehicle's own heartbeats, which came when they came.
            continue;
        }
        want.insert(message["topic"].as_str().unwrap(), &message["msg"]);
    }
    for (topic, want) in want {
        match got.remove(topic) {
            Some(got) => differences.message(topic, &got, want),
            None if world.has_topic(topic) => differences.missing(topic),
            None => differences.absent(topic),
        }
    }
    // The recording of the other phases holds what followed, not the packets themselves.
    let phase = stimulus["phase"].as_str().unwrap();
    got.retain(|topic, _| topic != "/uas1/mavlink_source" || phase == "telemetry");
    got.retain(|topic, _| topic != "/mavros/state" || !matches!(phase, "ros_in" | "service"));
    for (topic, message) in got {
        differences.surplus(&topic, &message);
    }
}

/// Compares what was sent.
fn frames(sent: &[Vec<u8>], stimulus: &Value, differences: &mut Differences) {
    let mut sent: Vec<(u32, String)> =
        sent.iter().filter(|frame| !is_background(frame)).map(|frame| describe(frame)).collect();
    for frame in stimulus["mavlink"].as_array().unwrap() {
        let frame = hex(frame.as_str().unwrap());
        if is_background(&frame) {
            continue;
        }
        let (msgid, want) = describe(&frame);
        match sent.iter().position(|(id, _)| *id == msgid) {
            Some(at) => differences.frame(&sent.remove(at).1, &want),
            None => differences.missing(&want),
        }
    }
    for (_, text) in sent {
        differences.surplus("frame", &json!(text));
    }
}

/// What is sent all the time, or asked for by itself.
fn is_background(frame: &[u8]) -> bool {
    let packet = Packet::parse(frame).unwrap();
    match packet.msgid {
        // HEARTBEAT, SYSTEM_TIME, TIMESYNC; parameters, missions; streams of an ArduPilot.
        0 | 2 | 111 | 20 | 21 | 40 | 43 | 47 | 51 => true,
        76 => matches!(command(frame), Some(512 | 520)),
        _ => false,
    }
}

/// The command of COMMAND_INT and COMMAND_LONG.
fn command(frame: &[u8]) -> Option<u16> {
    let packet = Packet::parse(frame).unwrap();
    let bytes = matches!(packet.msgid, 75 | 76).then(|| packet.payload.get(28..30))??;
    Some(u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn command_ack(command: u16, result: u8) -> Vec<u8> {
    let [low, high] = command.to_le_bytes();
    let mut frame = Vec::new();
    let from = Sender { seq: 0, sysid: 1, compid: 1 };
    write_v2(&mut frame, from, 77, &[low, high, result], 143).unwrap();
    frame
}

/// What happened to MAVROS before the recording starts: connected to a PX4 quadrotor, home and
/// version known.
fn prepare(world: &mut World) {
    let mut payload = BytesMut::new();
    let version = AutopilotVersion {
        capabilities: 64_511,
        flight_sw_version: 17_694_975,
        middleware_sw_version: 17_694_975,
        os_sw_version: 184_549_631,
        board_version: 56,
        vendor_id: 9900,
        product_id: 17,
        uid: 1_234_605_616_436_508_552,
        flight_custom_version: [1, 2, 3, 4, 5, 6, 7, 8],
        ..AutopilotVersion::decode(&[])
    };
    version.encode(&mut payload);
    let mut frame = Vec::new();
    let from = Sender { seq: 0, sysid: 1, compid: 1 };
    write_v2(&mut frame, from, AutopilotVersion::ID, &payload, AutopilotVersion::CRC_EXTRA).unwrap();
    for frame in [hex(FLYING), hex(HOME), frame] {
        world.frame(&frame);
    }
}

fn stimuli() -> Vec<Value> {
    let text = include_str!("../data/mavros.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| u8::try_from(c.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The vehicle's time since boot minus Unix time, in the phase `timesync`.
const BOOT_OFFSET_NS: i64 = -1_796_063_065_281_776_943;
/// HEARTBEAT of a flying PX4 quadrotor in AUTO.LOITER.
const FLYING: &str = "fd090000e1010100000000000403020cd10403c390";
/// HOME_POSITION.
const HOME: &str = "fd370000860101f200004c52401c44f41705bb7207000000c03f000020c00000403f5e836c3f000000000000000014efc33ecdcccc3dcdcc4c3e9a9999be4e61bca902";
const GET_HOME_POSITION: u16 = 410;
