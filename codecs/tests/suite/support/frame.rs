//! MAVLink frames.

use bytes::BytesMut;
use rostrans_codecs::mavlink::dialect::{Heartbeat, Message};
use rostrans_mavlink::{Sender, write_v1, write_v2};

/// A MAVLink 2 frame.
pub(crate) fn v2<M: Message>(sysid: u8, compid: u8, message: &M) -> Vec<u8> {
    let mut payload = BytesMut::new();
    message.encode(&mut payload);
    let mut frame = Vec::new();
    write_v2(&mut frame, Sender { seq: 0, sysid, compid }, M::ID, &payload, M::CRC_EXTRA).unwrap();
    frame
}

/// A MAVLink 1 frame.
pub(crate) fn v1<M: Message>(sysid: u8, compid: u8, message: &M) -> Vec<u8> {
    let mut payload = BytesMut::new();
    message.encode(&mut payload);
    let mut frame = Vec::new();
    let payload = &payload[..M::BASE_LEN];
    write_v1(&mut frame, Sender { seq: 0, sysid, compid }, M::ID, payload, M::CRC_EXTRA).unwrap();
    frame
}

/// A MAVLink 2 frame of a message that may be unknown, with any payload.
pub(crate) fn v2_raw(msgid: u32, payload: &[u8]) -> Vec<u8> {
    let crc_extra = rostrans_mavlink::message(msgid).map_or(0, |info| info.crc_extra);
    let mut frame = Vec::new();
    write_v2(&mut frame, Sender { seq: 0, sysid: 1, compid: 1 }, msgid, payload, crc_extra).unwrap();
    frame
}

/// A message whose fields are all zero.
pub(crate) fn zero<M: Message>() -> M {
    M::decode(&[])
}

/// The heartbeat of a flying quadrotor.
pub(crate) fn heartbeat(autopilot: u8) -> Heartbeat {
    Heartbeat { kind: 2, autopilot, base_mode: 81, system_status: 4, mavlink_version: 3, custom_mode: 65_536 }
}

/// Bytes written as hexadecimal text.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| u8::try_from(c.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
