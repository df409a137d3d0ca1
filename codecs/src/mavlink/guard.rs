//! Only signed frames reach the decoders of a vehicle that has a key.

use std::{
    collections::VecDeque,
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Instant, SystemTime},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{CallId, DecodeError, Decoder, EncodeError, Port, Sample},
    emit::Emit,
    transport::Frame,
};
use rostrans_mavlink::{
    Key, Packet, Refusal, SIGNATURE, Sender, SignTime, Signing, WriteError, write_v2_signed,
};

use super::{
    dialect::{Message, RadioStatus},
    uas::Uas,
};

/// The signatures of one vehicle's frames, ours and its.
#[derive(Debug)]
pub(super) struct Guard(Mutex<State>);

#[derive(Debug)]
struct State {
    signing: Signing,
    /// Frames of late and whether they were good: each is checked once, though many decoders see it.
    recent: VecDeque<(Seen, bool)>,
}

/// One frame of one receipt.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    received: Instant,
    sysid: u8,
    compid: u8,
    seq: u8,
    msgid: u32,
    checksum: u16,
    signature: Option<[u8; SIGNATURE]>,
}

/// What is to be done with a frame.
enum Verdict {
    Good,
    /// Refused before, for another decoder.
    Known,
    Refused(Refusal),
}

impl Guard {
    /// Reads the key: see [`Key::from_file`]. No signature older than the file is taken, should the clock be wrong.
    ///
    /// **Errors**: the file cannot be read, or is empty.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let empty = || io::Error::new(io::ErrorKind::InvalidData, "no key in it");
        let key = Key::from_file(&std::fs::read(path)?).ok_or_else(empty)?;
        let written = std::fs::metadata(path)?.modified()?;
        Ok(Self::new(key, SignTime::of(written)))
    }

    /// With a key that nobody knows: nothing gets through.
    pub(super) fn shut() -> Self {
        let unknown = std::hash::RandomState::new();
        let part = |n: u64| std::hash::BuildHasher::hash_one(&unknown, n).to_le_bytes();
        let mut key = [0; 32];
        for (n, bytes) in (0..).zip(key.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&part(n));
        }
        Self::new(Key::new(key), SignTime::default())
    }

    fn new(key: Key, not_before: SignTime) -> Self {
        let signing = Signing::new(key, LINK_ID, not_before);
        Self(Mutex::new(State { signing, recent: VecDeque::new() }))
    }

    /// Appends a signed frame.
    ///
    /// **Errors**: as [`write_v2_signed`].
    pub(super) fn write<M: Message>(
        &self,
        out: &mut Vec<u8>,
        from: Sender,
        payload: &[u8],
    ) -> Result<usize, WriteError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SignTime::of(SystemTime::now());
        write_v2_signed(out, from, M::ID, payload, M::CRC_EXTRA, &mut state.signing, now)
    }

    fn judge(&self, packet: &Packet<'_>, received: Instant) -> Verdict {
        // A modem between us puts it in, and knows no key.
        if packet.msgid == RadioStatus::ID {
            return Verdict::Good;
        }
        let Packet { sysid, compid, seq, msgid, checksum, .. } = *packet;
        let seen =
            Seen { received, sysid, compid, seq, msgid, checksum, signature: packet.signature.copied() };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, good)) = state.recent.iter().rev().find(|(s, _)| *s == seen) {
            return if *good { Verdict::Good } else { Verdict::Known };
        }
        let verdict = state.signing.verify(packet, SignTime::of(SystemTime::now()));
        if state.recent.len() >= RECENT {
            state.recent.pop_front();
        }
        state.recent.push_back((seen, verdict.is_ok()));
        match verdict {
            Ok(()) => Verdict::Good,
            Err(refusal) => Verdict::Refused(refusal),
        }
    }
}

/// A decoder that sees only what the vehicle's guard lets through, if the vehicle has one.
pub(super) struct Guarded {
    pub(super) inner: Box<dyn Decoder>,
    pub(super) uas: Arc<Uas>,
}

impl Decoder for Guarded {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        if let Some(guard) = self.uas.guard() {
            let packet = Packet::parse(frame.bytes).ok_or(DecodeError::BadMagic)?;
            // Others' frames are none of its business; the decoder leaves them out itself.
            let ours = self.uas.target_system() == 0 || packet.sysid == self.uas.target_system();
            match guard.judge(&packet, frame.received) {
                Verdict::Good => {}
                _ if !ours => return Ok(()),
                Verdict::Known => return Ok(()),
                Verdict::Refused(refusal) => return Err(DecodeError::Signature(text(refusal))),
            }
        }
        self.inner.decode(frame, out)
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        self.inner.tick(now, out);
    }

    fn next_due(&self) -> Option<Instant> {
        self.inner.next_due()
    }

    fn sample(&mut self, input: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        self.inner.sample(input, sample, out)
    }

    fn call(
        &mut self,
        service: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        self.inner.call(service, call, request, out)
    }

    fn close(&mut self, out: &mut Emit<'_>) {
        self.inner.close(out);
    }

    fn explain(&self) -> Option<String> {
        self.inner.explain()
    }
}

fn text(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Unsigned => {
            "not signed, but 'mavros_signing_key' is set; give the vehicle the key, or unset it"
        }
        Refusal::Key => "signed with another key than that of 'mavros_signing_key'",
        Refusal::Replay => "it came before, or more than a second behind the latest of its sender",
        Refusal::Old => "its signature is more than a minute old; are the clocks right?",
    }
}

/// Our link id: one connection, one stream.
const LINK_ID: u8 = 0;
/// Frames that may wait in a rule's queue while others are checked.
const RECENT: usize = 2048;
