//! Signatures of MAVLink 2 frames.
//!
//! A signature proves that its sender knows a key of 32 bytes, and its time that the frame is no recording. Times count
//! from 2015 in steps of 10 us and only grow, for each stream (system, component and link id) by itself.
//!
//! Source: <https://mavlink.io/en/guide/message_signing.html>.

use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::{Packet, SIGNATURE};

/// A secret shared by those who may talk to each other.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// The key itself.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key from the contents of a file: 32 bytes, or a line of 64 hexadecimal digits, or else a line with a
    /// passphrase, whose SHA-256 is the key, as in MAVProxy and QGroundControl.
    ///
    /// `None` when it is empty.
    pub fn from_file(contents: &[u8]) -> Option<Self> {
        if let Ok(bytes) = contents.try_into() {
            return Some(Self(bytes));
        }
        let line = contents.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
        if line.is_empty() {
            return None;
        }
        Some(Self(from_hex(line).unwrap_or_else(|| Sha256::digest(line).into())))
    }

    /// The first 48 bits of the SHA-256 of the key and what comes before them: the frame and the signature's head.
    fn sign(&self, frame: &[u8], head: &[u8]) -> [u8; 6] {
        let hash = Sha256::new_with_prefix(self.0).chain_update(frame).chain_update(head);
        let digest: [u8; 32] = hash.finalize().into();
        digest.first_chunk().copied().unwrap_or_default()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

fn from_hex(line: &[u8]) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    if line.len() != 2 * key.len() {
        return None;
    }
    for (byte, digits) in key.iter_mut().zip(line.chunks_exact(2)) {
        let mut digits = digits.iter().map(|d| char::from(*d).to_digit(16));
        let (Some(Some(high)), Some(Some(low))) = (digits.next(), digits.next()) else { return None };
        *byte = u8::try_from(high << 4 | low).ok()?;
    }
    Some(key)
}

/// A signature's time: steps of 10 us since 2015-01-01; 48 bits are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignTime(pub u64);

impl SignTime {
    /// The time that a clock shows; 0 before 2015.
    pub fn of(time: SystemTime) -> Self {
        let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since_2015 = since_1970.saturating_sub(EPOCH_2015);
        Self(u64::try_from(since_2015.as_micros() / 10).unwrap_or(u64::MAX).min(MAX_TIME))
    }
}

/// Why a frame was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It has no signature.
    #[error("not signed")]
    Unsigned,
    /// It was signed with another key, or changed on its way.
    #[error("signed with another key")]
    Key,
    /// It came before, or is more than a second behind the latest of its stream: a recording.
    #[error("came before, or too late")]
    Replay,
    /// The first one of its stream is more than a minute old: a recording, or the clocks differ.
    #[error("older than a minute")]
    Old,
}

/// Signs what is sent and checks what is received over one connection.
#[derive(Debug)]
pub struct Signing {
    key: Key,
    link_id: u8,
    /// The latest time that was sent, or received rightly signed.
    time: SignTime,
    /// The latest times of each stream.
    streams: HashMap<(u8, u8, u8), Window>,
}

impl Signing {
    /// No time before `not_before` is used or taken for a new stream, whatever the clock says.
    pub fn new(key: Key, link_id: u8, not_before: SignTime) -> Self {
        Self { key, link_id, time: not_before, streams: HashMap::new() }
    }

    /// The 13 bytes behind the checksum of a frame that ends there.
    ///
    /// `now` is what the clock shows; the time sent is later than all before, even when the clock goes back.
    pub fn sign(&mut self, frame: &[u8], now: SignTime) -> [u8; SIGNATURE] {
        self.time = now.max(SignTime(self.time.0.saturating_add(1).min(MAX_TIME)));
        let [t0, t1, t2, t3, t4, t5, ..] = self.time.0.to_le_bytes();
        let head = [self.link_id, t0, t1, t2, t3, t4, t5];
        let [s0, s1, s2, s3, s4, s5] = self.key.sign(frame, &head);
        [self.link_id, t0, t1, t2, t3, t4, t5, s0, s1, s2, s3, s4, s5]
    }

    /// Checks a frame's signature and time, and notes the time.
    ///
    /// **Errors**: why it is not to be believed.
    pub fn verify(&mut self, packet: &Packet<'_>, now: SignTime) -> Result<(), Refusal> {
        let Some(&[link_id, t0, t1, t2, t3, t4, t5, ref signature @ ..]) = packet.signature else {
            return Err(Refusal::Unsigned);
        };
        let signed =
            packet.bytes.split_at_checked(packet.bytes.len().saturating_sub(6)).unwrap_or_default().0;
        let right = self.key.sign(signed, &[]);
        // All bytes are looked at, so that the time it takes tells nothing.
        let differs = right.iter().zip(signature).fold(0, |acc, (a, b)| acc | (a ^ b));
        if differs != 0 {
            return Err(Refusal::Key);
        }
        let time = SignTime(u64::from_le_bytes([t0, t1, t2, t3, t4, t5, 0, 0]));
        let stream = (packet.sysid, packet.compid, link_id);
        let own = self.time.max(now);
        match self.streams.entry(stream) {
            Entry::Occupied(mut window) => {
                if !window.get_mut().take(time) {
                    return Err(Refusal::Replay);
                }
            }
            Entry::Vacant(_) if SignTime(time.0.saturating_add(TOLERANCE)) < own => return Err(Refusal::Old),
            Entry::Vacant(window) => {
                window.insert(Window::default()).take(time);
            }
        }
        self.time = self.time.max(time);
        Ok(())
    }
}

/// The times of one stream that were seen of late.
///
/// Frames overtake each other, on the way and in the queues of those that check them. So a time behind the latest is
/// taken too, once, if it is not far behind.
#[derive(Debug, Default)]
struct Window {
    /// Times up to this one are refused.
    floor: SignTime,
    seen: BTreeSet<SignTime>,
}

impl Window {
    /// Notes a time; `false` if it was seen, or may have been.
    fn take(&mut self, time: SignTime) -> bool {
        if time <= self.floor || !self.seen.insert(time) {
            return false;
        }
        let latest = self.seen.last().copied().unwrap_or(time);
        self.floor = self.floor.max(SignTime(latest.0.saturating_sub(LATE)));
        while self.seen.first().is_some_and(|oldest| *oldest <= self.floor) {
            self.seen.pop_first();
        }
        if self.seen.len() > MOST
            && let Some(oldest) = self.seen.pop_first()
        {
            self.floor = oldest;
        }
        true
    }
}

/// A second.
const LATE: u64 = 100_000;
/// Times a window holds at most.
const MOST: usize = 4096;
/// From 1970 to 2015.
const EPOCH_2015: Duration = Duration::from_secs(1_420_070_400);
/// 48 bits.
const MAX_TIME: u64 = (1 << 48) - 1;
/// A minute.
const TOLERANCE: u64 = 6_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sender, write_v2, write_v2_signed};

    const FROM: Sender = Sender { seq: 0, sysid: 1, compid: 191 };
    const NOW: SignTime = SignTime(1_000_000_000);

    fn side(passphrase: &str) -> Signing {
        Signing::new(Key::from_file(passphrase.as_bytes()).unwrap(), 0, SignTime::default())
    }

    fn heartbeat(signing: &mut Signing, now: SignTime) -> Vec<u8> {
        let mut frame = Vec::new();
        write_v2_signed(&mut frame, FROM, 0, &[0, 0, 0, 0, 18, 8, 192, 4, 3], 50, signing, now).unwrap();
        frame
    }

    fn check(signing: &mut Signing, frame: &[u8], now: SignTime) -> Result<(), Refusal> {
        let packet = Packet::parse(frame).unwrap();
        assert_eq!(packet.checksum_ok(), Some(true));
        signing.verify(&packet, now)
    }

    #[test]
    fn signed_frame_is_that_of_pymavlink() {
        let mut signing = Signing::new(Key::new([7; 32]), 3, SignTime::default());
        let hex: String = heartbeat(&mut signing, NOW).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, PYMAVLINK);
    }

    #[test]
    fn frames_are_taken_once_and_only_with_the_key() {
        let (mut sender, mut receiver) = (side("secret"), side("secret"));
        let frame = heartbeat(&mut sender, NOW);
        assert_eq!(check(&mut receiver, &frame, NOW), Ok(()));
        assert_eq!(check(&mut receiver, &frame, NOW), Err(Refusal::Replay));
        assert_eq!(check(&mut side("other"), &frame, NOW), Err(Refusal::Key));
        let next = heartbeat(&mut sender, SignTime(0));
        assert_eq!(check(&mut receiver, &next, NOW), Ok(()), "the clock went back, the time did not");
        let mut unsigned = Vec::new();
        write_v2(&mut unsigned, FROM, 0, &[1; 9], 50).unwrap();
        assert_eq!(check(&mut receiver, &unsigned, NOW), Err(Refusal::Unsigned));
    }

    #[test]
    fn overtaken_frames_are_taken_once_and_not_for_long() {
        let (mut sender, mut receiver) = (side("secret"), side("secret"));
        let mut at = |by| heartbeat(&mut sender, SignTime(NOW.0 + by));
        let (first, overtaken, latest) = (at(0), at(1), at(LATE));
        let (behind, end) = (at(LATE + 10), at(2 * LATE + 10));
        assert_eq!(check(&mut receiver, &first, NOW), Ok(()));
        assert_eq!(check(&mut receiver, &latest, NOW), Ok(()));
        assert_eq!(check(&mut receiver, &overtaken, NOW), Ok(()));
        assert_eq!(check(&mut receiver, &overtaken, NOW), Err(Refusal::Replay));
        assert_eq!(check(&mut receiver, &end, NOW), Ok(()));
        assert_eq!(check(&mut receiver, &behind, NOW), Err(Refusal::Replay), "a second behind");
        assert_eq!(check(&mut receiver, &latest, NOW), Err(Refusal::Replay), "forgotten, but too old");
    }

    #[test]
    fn window_is_bounded() {
        let mut window = Window::default();
        let count = 2 * u64::try_from(MOST).unwrap();
        for time in 1..=count {
            assert!(window.take(SignTime(time)));
        }
        assert_eq!(window.seen.len(), MOST);
        assert!(!window.take(SignTime(count - u64::try_from(MOST).unwrap())));
    }

    #[test]
    fn new_stream_may_be_a_minute_old() {
        let frame = heartbeat(&mut side("secret"), NOW);
        let late = |by| SignTime(NOW.0 + by);
        assert_eq!(check(&mut side("secret"), &frame, late(TOLERANCE)), Ok(()));
        assert_eq!(check(&mut side("secret"), &frame, late(TOLERANCE + 1)), Err(Refusal::Old));
        let mut persisted = Signing::new(Key::from_file(b"secret").unwrap(), 0, late(2 * TOLERANCE));
        assert_eq!(check(&mut persisted, &frame, SignTime(0)), Err(Refusal::Old));
    }

    #[test]
    fn changed_byte_is_noticed() {
        let frame = heartbeat(&mut side("secret"), NOW);
        for index in frame.len() - SIGNATURE..frame.len() {
            let mut changed = frame.clone();
            changed[index] ^= 1;
            assert_eq!(check(&mut side("secret"), &changed, NOW), Err(Refusal::Key), "byte {index}");
        }
    }

    #[test]
    fn key_file_has_three_forms() {
        let hex = "00".repeat(31) + "fF\n";
        let mut want = [0; 32];
        want[31] = 255;
        assert_eq!(Key::from_file(hex.as_bytes()), Some(Key::new(want)));
        assert_eq!(Key::from_file(&want), Some(Key::new(want)));
        let passphrase: [u8; 32] = Sha256::digest(b"secret").into();
        assert_eq!(Key::from_file(b"secret\r\n"), Some(Key::new(passphrase)));
        assert_eq!((Key::from_file(b""), Key::from_file(b"\n")), (None, None));
    }

    #[test]
    fn time_counts_from_2015() {
        let at = |secs| SignTime::of(UNIX_EPOCH + Duration::from_secs(secs));
        assert_eq!((at(0), at(1_420_070_401)), (SignTime(0), SignTime(100_000)));
    }

    /// HEARTBEAT by pymavlink 2 with the key 07..07, link id 3, time 1,000,000,000.
    const PYMAVLINK: &str = "fd0901000001bf000000000000001208c0040390050300ca9a3b0000b31ea00c9aee";
}
