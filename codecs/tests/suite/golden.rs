//! Frames packed by pymavlink; `data/README.md` tells how they were made.

use rostrans_codecs::mavlink::dialect::{crc_extra, describe};
use rostrans_mavlink::Packet;
use serde_json::Value;

use crate::support::hex;

fn messages() -> Vec<Value> {
    let text = include_str!("../data/pymavlink.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn checksum_seeds_are_those_of_pymavlink() {
    let messages = messages();
    assert!(messages.len() > 130, "{}", messages.len());
    for message in messages {
        let msgid = u32::try_from(message["msgid"].as_u64().unwrap()).unwrap();
        assert_eq!(crc_extra(msgid).map(u64::from), message["crc_extra"].as_u64(), "{}", message["name"]);
    }
}

#[test]
fn every_field_of_full_cut_and_old_frames_is_that_of_pymavlink() {
    let mut frames = 0;
    for message in messages() {
        for case in message["cases"].as_array().into_iter().flatten() {
            let bytes = hex(case["hex"].as_str().unwrap());
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!(packet.checksum_ok(), Some(true));
            let text = describe(packet.msgid, packet.payload).unwrap();
            let fields = text.split_once("{ ").unwrap().1.strip_suffix(" }").unwrap();
            assert_eq!(fields, case["fields"].as_str().unwrap(), "{}", message["name"]);
            frames += 1;
        }
    }
    assert_eq!(frames, 28 * 3);
}
