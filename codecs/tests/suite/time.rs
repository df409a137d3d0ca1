//! `mavlink.time`: the offset between the clocks, and what it does to stamps.

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{AttitudeQuaternion, Message, SystemTime, Timesync};
use rostrans_core::rule::Target;
use rostrans_mavlink::Packet;
use serde_json::{Value, json};

use crate::support::{Bench, PEER, START_NS, heartbeat, hex, rule, v2, zero};

/// The vehicle's time since boot at the start, nanoseconds.
const BOOT_NS: i64 = 60_000_000_000;
const HOUR_NS: i64 = 3_600_000_000_000;

fn stamp_ns(message: &Value) -> i64 {
    let stamp = &message["header"]["stamp"];
    stamp["sec"].as_i64().unwrap() * 1_000_000_000 + stamp["nanosec"].as_i64().unwrap()
}

/// A vehicle that answers requests, with time sync and IMU behind one link.
struct Vehicle {
    time: Bench,
    imu: Bench,
    /// Its time since boot minus that of the test, nanoseconds.
    boot_ns: i64,
    passed: Duration,
}

impl Vehicle {
    fn new(options: Value) -> Self {
        let mut talks = rule("mavlink.time", &options);
        talks.links[0].target = Some(Target::Udp(PEER));
        let (time, imu) = Bench::two(&talks, &rule("mavlink.imu", &json!({})));
        Self { time, imu, boot_ns: BOOT_NS, passed: Duration::ZERO }
    }

    fn own_boot_ns(&self) -> i64 {
        self.boot_ns + i64::try_from(self.passed.as_nanos()).unwrap()
    }

    /// Lets seconds pass; requests are answered, heartbeats are sent.
    fn run(&mut self, seconds: u64) {
        for step in 0..seconds * 10 {
            if step % 10 == 0 {
                self.time.message(&heartbeat(12));
            }
            for bench in [&mut self.time, &mut self.imu] {
                bench.pass(Duration::from_millis(100));
            }
            self.passed += Duration::from_millis(100);
            for (_, frame) in self.time.sent() {
                let packet = Packet::parse(&frame).unwrap();
                if packet.msgid == Timesync::ID {
                    let asked = Timesync::decode(packet.payload);
                    let answer = Timesync { tc1: self.own_boot_ns(), ts1: asked.ts1, ..zero() };
                    self.time.message(&answer);
                }
            }
        }
    }

    fn set_clock(&mut self, by_ns: i64) {
        self.time.set_clock(by_ns);
        self.imu.set_clock(by_ns);
    }

    /// How long before its receipt an attitude measured 30 ms ago is stamped, in milliseconds.
    fn age_ms(&mut self) -> i64 {
        let measured_ms = u32::try_from(self.own_boot_ns() / 1_000_000).unwrap().saturating_sub(30);
        self.imu.message(&AttitudeQuaternion { time_boot_ms: measured_ms, q1: 1.0, ..zero() });
        let stamp = stamp_ns(&self.imu.only("data"));
        (self.imu.clock_ns() - stamp + 500_000) / 1_000_000
    }
}

const QUICK: fn() -> Value = || json!({"convergence_window": 20});

#[test]
fn requests_and_answers_are_those_of_mavros() {
    let mut bench = Bench::with_target("mavlink.time", json!({"system_time_rate": 0}), PEER);
    bench.tick();
    let sent = bench.sent();
    let want = hex("fd1000000001bf6f0000000000000000000015cd853dfe9c97175e53");
    assert_eq!(sent, [(Some(PEER), want)]);
    let mut bench = Bench::new("mavlink.time", json!({"timesync_mode": "NONE", "system_time_rate": 0}));
    bench.message(&Timesync { ts1: 5_000_000, ..zero() });
    bench.tick();
    assert_eq!(bench.sent(), [], "nobody known to answer to");
}

#[test]
fn request_of_the_vehicle_is_answered_with_our_time() {
    let options = json!({"timesync_mode": "NONE", "system_time_rate": 0});
    let mut bench = Bench::with_target("mavlink.time", options, PEER);
    bench.message(&Timesync { ts1: 5_000_000, ..zero() });
    assert_eq!(bench.sent(), [(Some(PEER), hex("fd0b00000001bf6f000015cd853dfe9c9717404b4c6c86"))]);
    bench.message(&Timesync { ts1: 5_000_000, target_system: 9, ..zero() });
    bench.frame(&v2(1, 191, &Timesync { ts1: 5_000_000, ..zero() })).unwrap();
    bench.frame(&v2(7, 1, &Timesync { ts1: 5_000_000, ..zero() })).unwrap();
    assert_eq!(bench.sent(), [], "for another, our own echo, of another system");
}

#[test]
fn rates_are_those_of_the_shipped_configuration() {
    let mut bench = Bench::with_target("mavlink.time", json!({}), PEER);
    bench.pass(Duration::from_secs(10));
    let ids: Vec<u32> = bench.sent().iter().map(|(_, f)| Packet::parse(f).unwrap().msgid).collect();
    let count = |id| ids.iter().filter(|i| **i == id).count();
    assert_eq!((count(Timesync::ID), count(SystemTime::ID)), (100, 10));
}

#[test]
fn status_tells_offset_and_round_trip_of_each_reply() {
    let mut bench = Bench::with_target("mavlink.time", json!({"timesync_rate": 1}), PEER);
    bench.tick();
    bench.skip(Duration::from_millis(4));
    let reply = Timesync { tc1: 5_000_000_000, ts1: START_NS, ..zero() };
    bench.message(&Timesync { ts1: 77, ..reply });
    bench.message(&reply);
    bench.message(&reply);
    let status = bench.only("timesync_status");
    assert_eq!(status["remote_timestamp_ns"], 5_000_000_000_u64);
    assert_eq!(status["observed_offset_ns"], START_NS + 2_000_000 - 5_000_000_000);
    assert_eq!(status["estimated_offset_ns"], status["observed_offset_ns"]);
    assert_eq!(status["round_trip_time_ms"], 4.0);
}

#[test]
fn stamps_are_of_measurement_once_converged() {
    let mut vehicle = Vehicle::new(QUICK());
    vehicle.run(1);
    assert_eq!(vehicle.age_ms(), 0, "of receipt");
    vehicle.run(2);
    assert_eq!(vehicle.age_ms(), 30);
}

#[test]
fn restart_of_the_vehicle_is_noticed_with_the_next_reply_or_heartbeat() {
    let mut vehicle = Vehicle::new(QUICK());
    vehicle.run(3);
    vehicle.boot_ns = 2_000_000_000 - i64::try_from(vehicle.passed.as_nanos()).unwrap();
    assert_eq!(vehicle.age_ms(), 0, "a minute ago makes no sense");
    vehicle.run(1);
    assert_eq!(vehicle.age_ms(), 0);
    vehicle.run(2);
    assert_eq!(vehicle.age_ms(), 30);
}

#[test]
fn simulated_clock_that_is_set_back_starts_anew() {
    let mut vehicle = Vehicle::new(QUICK());
    let simulate = |vehicle: &mut Vehicle, epoch| {
        vehicle.time.simulate(epoch);
        vehicle.imu.simulate(epoch);
    };
    simulate(&mut vehicle, Some(0));
    vehicle.run(3);
    assert_eq!(vehicle.age_ms(), 30);
    // By less than what a stamp may be ahead of its receipt.
    vehicle.set_clock(-300_000_000);
    simulate(&mut vehicle, Some(1));
    vehicle.time.message(&heartbeat(12));
    assert_eq!(vehicle.age_ms(), 0, "of receipt again at once");
    vehicle.run(3);
    assert_eq!(vehicle.age_ms(), 30);
}

#[test]
fn without_a_time_nothing_is_asked_or_answered() {
    let mut bench = Bench::with_target("mavlink.time", json!({}), PEER);
    bench.simulate(None);
    bench.pass(Duration::from_secs(2));
    bench.message(&Timesync { ts1: 5_000_000, ..zero() });
    assert_eq!(bench.sent(), []);
}

#[test]
fn reconnection_starts_anew() {
    let mut vehicle = Vehicle::new(QUICK());
    vehicle.run(3);
    for bench in [&mut vehicle.time, &mut vehicle.imu] {
        bench.pass(Duration::from_secs(11));
    }
    vehicle.passed += Duration::from_secs(11);
    assert_eq!(vehicle.age_ms(), 0);
    vehicle.time.sent();
    vehicle.run(3);
    assert_eq!(vehicle.age_ms(), 30);
}

#[test]
fn own_clock_set_by_an_hour_leaves_stamps_near_their_receipt() {
    for by_ns in [HOUR_NS, -HOUR_NS] {
        let mut vehicle = Vehicle::new(QUICK());
        vehicle.run(3);
        vehicle.set_clock(by_ns);
        assert_eq!(vehicle.age_ms(), 0, "not noticed yet");
        vehicle.time.pass(Duration::from_millis(100));
        vehicle.imu.pass(Duration::from_millis(100));
        vehicle.passed += Duration::from_millis(100);
        assert_eq!(vehicle.age_ms(), 30);
        vehicle.time.sent();
        vehicle.run(3);
        assert_eq!(vehicle.age_ms(), 30);
    }
}

#[test]
fn modes_without_requests() {
    for (mode, age_ms) in [("NONE", Some(0)), ("PASSTHROUGH", None), ("ONBOARD", Some(0))] {
        let mut vehicle = Vehicle::new(json!({"timesync_mode": mode, "system_time_rate": 0}));
        vehicle.time.message(&heartbeat(12));
        vehicle.time.pass(Duration::from_secs(2));
        assert_eq!(vehicle.time.sent(), [], "{mode}");
        match age_ms {
            Some(age_ms) => assert_eq!(vehicle.age_ms(), age_ms, "{mode}"),
            None => {
                vehicle.imu.message(&AttitudeQuaternion { time_boot_ms: 12_345, q1: 1.0, ..zero() });
                assert_eq!(stamp_ns(&vehicle.imu.only("data")), 12_345_000_000);
            }
        }
        assert_eq!(vehicle.time.take("timesync_status").is_empty(), mode != "ONBOARD");
    }
}

#[test]
fn time_of_day_is_told_once_the_vehicle_knows_it() {
    let mut bench = Bench::new("mavlink.time", json!({"time_ref_source": "gps"}));
    bench.message(&SystemTime { time_unix_usec: 60_000_000, time_boot_ms: 60_000 });
    assert_eq!(bench.take("time_reference").len(), 0);
    bench.message(&SystemTime { time_unix_usec: 1_700_000_000_250_000, time_boot_ms: 61_000 });
    let reference = bench.only("time_reference");
    assert_eq!(reference["time_ref"], json!({"sec": 1_700_000_000, "nanosec": 250_000_000}));
    assert_eq!(reference["source"], "gps");
}
