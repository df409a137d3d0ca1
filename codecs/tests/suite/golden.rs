//! Frames packed by pymavlink; `data/README.md` tells how they were made.

use std::collections::BTreeSet;

use rostrans_codecs::mavlink::dialect::{crc_extra, describe, repack};
use rostrans_mavlink::{Packet, Sender, Version, write_v2};
use serde_json::Value;

use crate::support::hex;

fn messages() -> Vec<Value> {
    let text = include_str!("../data/pymavlink.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn id(message: &Value) -> u32 {
    u32::try_from(message["msgid"].as_u64().unwrap()).unwrap()
}

#[test]
fn checksum_seeds_are_those_of_pymavlink() {
    for message in messages() {
        assert_eq!(
            crc_extra(id(&message)).map(u64::from),
            message["crc_extra"].as_u64(),
            "{}",
            message["name"]
        );
    }
}

/// A message of the table without frames needs `scripts/gen-mavlink-golden`.
#[test]
fn every_message_of_the_table_that_pymavlink_knows_has_frames() {
    let golden: BTreeSet<u32> = messages().iter().map(id).collect();
    let missing = (0..65_536).filter(|id| crc_extra(*id).is_some() && !golden.contains(id));
    // ESC_INFO, ESC_STATUS, PROTOCOL_VERSION, CELLULAR_STATUS, PLAY_TUNE_V2, EVENT.
    assert_eq!(missing.collect::<Vec<_>>(), [290, 291, 300, 334, 400, 410]);
}

#[test]
fn every_field_of_full_cut_and_old_frames_is_that_of_pymavlink() {
    let mut frames = 0;
    for message in messages() {
        let cases = message["cases"].as_array().unwrap();
        assert_eq!(cases.len(), if id(&message) < 256 { 3 } else { 2 }, "{}", message["name"]);
        for case in cases {
            let bytes = hex(case["hex"].as_str().unwrap());
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!(packet.checksum_ok(), Some(true));
            let text = describe(packet.msgid, packet.payload).unwrap();
            let fields = text.split_once("{ ").unwrap().1.strip_suffix(" }").unwrap();
            let want = case["fields"].as_str().unwrap();
            let newer = fields.strip_prefix(want).unwrap_or_else(|| panic!("{text}, not {want}"));
            assert!(newer.split(", ").all(is_zero), "{text}, not {want}");
            frames += 1;
        }
    }
    assert!(frames > 300, "{frames}");
}

#[test]
fn every_message_is_packed_as_pymavlink_packs_it() {
    let mut frames = 0;
    for message in messages() {
        for case in message["cases"].as_array().unwrap() {
            let bytes = hex(case["hex"].as_str().unwrap());
            let packet = Packet::parse(&bytes).unwrap();
            if packet.version == Version::V1 {
                // pymavlink sends extensions in these too.
                continue;
            }
            let from = Sender { seq: packet.seq, sysid: packet.sysid, compid: packet.compid };
            let payload = repack(packet.msgid, packet.payload).unwrap();
            let mut frame = Vec::new();
            write_v2(&mut frame, from, packet.msgid, &payload, crc_extra(packet.msgid).unwrap()).unwrap();
            assert_eq!(frame, bytes, "{}", message["name"]);
            frames += 1;
        }
    }
    assert!(frames > 200, "{frames}");
}

/// An extension field that this pymavlink does not know.
fn is_zero(field: &str) -> bool {
    let value = field.rsplit(": ").next().unwrap_or_default();
    value.trim_matches(['[', ']']).parse() == Ok(0.0) || field.is_empty()
}
