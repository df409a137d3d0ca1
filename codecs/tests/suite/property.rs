//! Nothing a peer sends breaks a codec.

use std::time::Duration;

use proptest::prelude::*;
use rostrans_cdr::CdrBytes;
use rostrans_codecs::{
    fuzzing,
    mavlink::dialect::{
        BatteryStatus, EstimatorStatus, ExtendedSysState, GpsRawInt, Heartbeat, Message, Statustext,
    },
};
use rostrans_core::codec::{Interest, Role};
use rostrans_mavlink::Packet;
use rostrans_rflysim::{Series, detect, port};
use serde_json::json;

use crate::support::{Bench, PEER, v2_raw};

/// Every telemetry codec with the ids it wants.
fn telemetry() -> Vec<(&'static str, &'static [u32])> {
    let registry = rostrans_codecs::builtin();
    let codecs = registry.iter().filter(|codec| codec.info().roles.contains(&Role::Decode));
    let ids = codecs.filter_map(|codec| match codec.info().interest {
        Interest::Tags(ids) if !ids.is_empty() => Some((codec.info().name, ids)),
        _ => None,
    });
    ids.collect()
}

#[test]
fn every_payload_length_of_every_message_is_published_or_used() {
    for (codec, ids) in telemetry() {
        let mut bench = Bench::new(codec, json!({}));
        for id in ids {
            for len in 0..=255 {
                bench.frame(&v2_raw(*id, &vec![0xff; len])).unwrap();
                bench.frame(&v2_raw(*id, &vec![0x00; len])).unwrap();
            }
        }
        bench.tick();
        for port in bench.ports() {
            bench.take(port);
        }
    }
}

/// The codecs that read topics or answer services.
fn talkative() -> Vec<&'static str> {
    let registry = rostrans_codecs::builtin();
    let infos = registry.iter().map(|codec| codec.info());
    infos.filter(|i| !i.inputs.is_empty() || !i.services.is_empty()).map(|i| i.name).collect()
}

proptest! {
    // Each case runs through every codec.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_payload_is_survived_and_what_is_published_is_valid(
        frames in proptest::collection::vec((any::<proptest::sample::Index>(), proptest::collection::vec(any::<u8>(), 0..=255)), 1..20),
    ) {
        for (codec, ids) in telemetry() {
            let mut bench = Bench::new(codec, json!({}));
            for (index, payload) in &frames {
                let sent = bench.frame(&v2_raw(ids[index.index(ids.len())], payload));
                prop_assert_eq!(sent, Ok(()));
            }
            bench.tick();
            for port in bench.ports() {
                // Validated while it is read.
                bench.take(port);
            }
        }
    }

    #[test]
    fn any_sample_and_any_request_is_survived(
        samples in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(0x7f), Just(0xff), any::<u8>()], 0..600),
            1..4,
        ),
    ) {
        for codec in talkative() {
            let mut bench = Bench::with_target(codec, json!({}), PEER);
            for body in &samples {
                // Little-endian CDR. Few fit a type; a panic is the only failure.
                let bytes = [&[0, 1, 0, 0], body.as_slice()].concat();
                let taken = bench.bytes(&CdrBytes::new(bytes).unwrap());
                prop_assert!(taken <= 64);
            }
            bench.pass(Duration::from_secs(6));
            // Read and validated.
            bench.answers();
            for port in bench.ports() {
                bench.take(port);
            }
            for (to, frame) in bench.sent() {
                let known = if codec == "rflysim3d.commands" {
                    let net = to.is_some_and(|to| to.port() == port::UE_NET);
                    detect(if net { Series::UeNet } else { Series::Ue }, &frame).is_some()
                } else {
                    Packet::parse(&frame).is_some()
                };
                prop_assert!(known, "{}: {} bytes to {:?}", codec, frame.len(), to);
            }
        }
    }

    #[test]
    fn any_enum_value_is_published(a: u8, b: u8, c: u32, flags: u16) {
        let mut state = Bench::new("mavlink.state", json!({}));
        state.message(&Heartbeat { kind: a, autopilot: b, base_mode: a, system_status: b, custom_mode: c, mavlink_version: 3 });
        prop_assert_eq!(state.take("state").len(), 1);
        state.message(&ExtendedSysState { vtol_state: a, landed_state: b });
        prop_assert_eq!(state.take("extended_state").len(), 1);
        let mut battery = Bench::new("mavlink.battery", json!({}));
        battery.message(&BatteryStatus { kind: a, battery_function: b, charge_state: a, ..BatteryStatus::decode(&[]) });
        prop_assert_eq!(battery.take("battery").len(), 1);
        let mut global = Bench::new("mavlink.global_position", json!({}));
        global.message(&GpsRawInt { fix_type: a, ..GpsRawInt::decode(&[]) });
        prop_assert_eq!(global.take("raw_fix").len(), 1);
        let mut estimator = Bench::new("mavlink.estimator_status", json!({}));
        estimator.message(&EstimatorStatus { flags, ..EstimatorStatus::decode(&[]) });
        prop_assert_eq!(estimator.take("estimator_status").len(), 1);
        let mut text = Bench::new("mavlink.statustext", json!({}));
        text.message(&Statustext { severity: a, ..Statustext::decode(&[]) });
        prop_assert_eq!(text.take("recv").len(), 1);
    }

    #[test]
    fn bytes_that_are_no_frame_are_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        fuzzing::decode(&bytes);
        for (codec, _) in telemetry() {
            // A panic is the only failure.
            let mut bench = Bench::new(codec, json!({}));
            prop_assert!(Packet::parse(&bytes).is_some() || bench.frame(&bytes).is_err());
        }
    }

    #[test]
    fn generic_codecs_survive_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        fuzzing::encode(&bytes);
        let mut raw = Bench::new("raw_bytes", json!({}));
        prop_assert_eq!(raw.frame(&bytes), Ok(()));
        prop_assert_eq!(raw.only("bytes")["data"].clone(), json!(bytes));
        let mut latin1 = Bench::new("string", json!({"encoding": "latin-1"}));
        prop_assert_eq!(latin1.frame(&bytes), Ok(()));
        prop_assert_eq!(latin1.only("text")["data"].as_str().unwrap().chars().count(), bytes.len());
    }
}
