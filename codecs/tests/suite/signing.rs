//! A vehicle with a key, and MAVLink 1.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

use bytes::BytesMut;
use rostrans_codecs::mavlink::dialect::{Heartbeat, Message, RadioStatus};
use rostrans_core::{codec::DecodeError, rule::Target};
use rostrans_mavlink::{Key, Packet, Sender, SignTime, Signing, Version, write_v2_signed};
use serde_json::json;

use crate::support::{Bench, PEER, build, heartbeat, rule, v2, zero};

/// A key file that is removed again.
struct KeyFile(PathBuf);

impl KeyFile {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rostrans-key-{}-{name}", std::process::id()));
        std::fs::write(&path, "secret\n").unwrap();
        Self(path)
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

fn signing(passphrase: &str) -> Signing {
    Signing::new(Key::from_file(passphrase.as_bytes()).unwrap(), 0, SignTime::default())
}

fn signed<M: Message>(message: &M, signing: &mut Signing) -> Vec<u8> {
    let (mut payload, mut frame) = (BytesMut::new(), Vec::new());
    message.encode(&mut payload);
    let from = Sender { seq: 0, sysid: 1, compid: 1 };
    let now = SignTime::of(SystemTime::now());
    write_v2_signed(&mut frame, from, M::ID, &payload, M::CRC_EXTRA, signing, now).unwrap();
    frame
}

#[test]
fn only_signed_frames_are_understood_and_each_is_counted_once() {
    let key = KeyFile::new("receive");
    let mut state = rule("mavlink.state", &json!({}));
    let mut other = rule("mavlink.link", &json!({"signing_key": key.0}));
    // The key is the vehicle's, whichever link names it.
    state.links.push(other.links[0].clone());
    other.links.push(state.links[0].clone());
    let (mut state, mut link) = Bench::two(&state, &other);
    let mut vehicle = signing("secret");
    let good = signed(&heartbeat(12), &mut vehicle);
    assert_eq!((state.frame(&good), link.frame(&good)), (Ok(()), Ok(())));
    assert_eq!(state.take("state").len(), 1);
    state.skip(Duration::from_millis(1));
    link.skip(Duration::from_millis(1));
    for bad in [v2(1, 1, &heartbeat(12)), good, signed(&heartbeat(12), &mut signing("guess"))] {
        assert!(matches!(state.frame(&bad), Err(DecodeError::Signature(_))));
        assert_eq!(link.frame(&bad), Ok(()), "counted by the first");
    }
    assert_eq!(state.take("state").len(), 0);
    assert_eq!(state.frame(&v2(51, 68, &zero::<RadioStatus>())), Ok(()));
    assert_eq!(state.frame(&v2(2, 1, &heartbeat(12))), Ok(()), "another system");
}

#[test]
fn what_is_sent_is_signed() {
    let key = KeyFile::new("send");
    let mut bench = Bench::with_target("mavlink.link", json!({"signing_key": key.0}), PEER);
    bench.pass(Duration::from_secs(3));
    let mut vehicle = signing("secret");
    let sent = bench.sent();
    assert_eq!(sent.len(), 3);
    for (_, frame) in sent {
        let packet = Packet::parse(&frame).unwrap();
        assert_eq!((packet.msgid, packet.checksum_ok()), (Heartbeat::ID, Some(true)));
        assert_eq!(vehicle.verify(&packet, SignTime::of(SystemTime::now())), Ok(()));
    }
}

#[test]
fn key_that_cannot_be_read_stops_the_link_and_shuts_the_others() {
    let without = rule("mavlink.link", &json!({"signing_key": "/nowhere/key"}));
    let error = build(&without, |codec, cx| codec.decoder(cx)).err().unwrap().to_string();
    assert!(error.starts_with("option 'signing_key': '/nowhere/key': "), "{error}");
    let mut state = rule("mavlink.state", &json!({}));
    state.links.push(without.links[0].clone());
    let mut state = Bench::of(&state);
    assert!(state.frame(&v2(1, 1, &heartbeat(12))).is_err());
    let key = KeyFile::new("old");
    let old = rule("mavlink.link", &json!({"signing_key": key.0, "protocol": "v1.0"}));
    assert!(build(&old, |codec, cx| codec.decoder(cx)).is_err(), "MAVLink 1 cannot be signed");
}

#[test]
fn mavlink_1_is_sent_when_asked_for() {
    let mut old = rule("mavlink.link", &json!({"protocol": "v1.0", "request_streams": false}));
    old.links[0].target = Some(Target::Udp(PEER));
    let mut bench = Bench::of(&old);
    bench.pass(Duration::from_secs(1));
    let sent = bench.sent();
    let packet = Packet::parse(&sent[0].1).unwrap();
    assert_eq!((packet.version, packet.checksum_ok()), (Version::V1, Some(true)));
    assert_eq!((packet.payload.len(), packet.sysid, packet.compid), (Heartbeat::BASE_LEN, 1, 191));
}
