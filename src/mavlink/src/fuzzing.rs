//! Entry points for fuzzers: plain functions that must hold for any input.

use crate::{Event, Fault, Stream, frames};

/// Cuts `bytes` as a datagram and, in uneven reads, as a stream; checks that no byte is counted twice.
pub fn framer(bytes: &[u8]) {
    let mut counted = 0;
    for event in frames(bytes) {
        match event {
            Event::Packet(packet) => counted += packet.bytes.len(),
            Event::Fault(Fault::Skipped(n)) => counted += n,
            Event::Fault(_) => {}
        }
    }
    assert!(counted <= bytes.len(), "{counted} of {} bytes", bytes.len());

    let mut stream = Stream::new();
    let mut passed = 0;
    for chunk in bytes.chunks(1 + bytes.len() % 97) {
        assert_eq!(stream.push(chunk), chunk.len(), "room for a read");
        passed += stream.pieces().map(|piece| piece.bytes.len()).sum::<usize>();
    }
    assert_eq!(passed + stream.unfinished().len(), bytes.len());
}
