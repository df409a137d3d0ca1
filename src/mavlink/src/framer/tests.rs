use proptest::prelude::*;

use super::*;
use crate::{FLAG_SIGNED, SIGNATURE, Sender, message, write_v1, write_v2};

/// A HEARTBEAT, so numbered.
fn heartbeat(seq: u8) -> Vec<u8> {
    frame(seq, 0, &[1, 2, 3, 4, 5, 6, 7, 8, 3])
}

fn frame(seq: u8, msgid: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let crc_extra = message(msgid).map_or(0, |m| m.crc_extra);
    write_v2(&mut out, Sender { seq, sysid: 1, compid: 1 }, msgid, payload, crc_extra).unwrap();
    out
}

/// Events of one datagram: sequence numbers, or faults.
fn cut(datagram: &[u8]) -> Vec<Result<u8, Fault>> {
    frames(datagram).map(seq_or_fault).collect()
}

fn seq_or_fault(event: Event<'_>) -> Result<u8, Fault> {
    match event {
        Event::Packet(p) => Ok(p.seq),
        Event::Fault(f) => Err(f),
    }
}

#[test]
fn several_frames_of_both_versions_share_a_datagram() {
    let mut datagram = heartbeat(1);
    write_v1(&mut datagram, Sender { seq: 2, sysid: 1, compid: 1 }, 0, &[9; 9], 50).unwrap();
    datagram.extend(heartbeat(3));
    assert_eq!(cut(&datagram), [Ok(1), Ok(2), Ok(3)]);
    let bytes: usize =
        frames(&datagram).map(|e| if let Event::Packet(p) = e { p.bytes.len() } else { 0 }).sum();
    assert_eq!(bytes, datagram.len());
}

#[test]
fn garbage_around_frames_is_counted_and_loses_no_frame() {
    let mut datagram = b"no mavlink".to_vec();
    datagram.extend(heartbeat(1));
    datagram.extend([0, STX_V1, STX_V2, 0xFF]);
    datagram.extend(heartbeat(2));
    datagram.extend(b"tail");
    let want = [Err(Fault::Skipped(10)), Ok(1), Err(Fault::Skipped(4)), Ok(2), Err(Fault::Skipped(4))];
    assert_eq!(cut(&datagram), want);
}

#[test]
fn broken_checksum_costs_only_its_own_frame() {
    let mut datagram = heartbeat(1);
    datagram[12] ^= 0x40;
    datagram.extend(heartbeat(2));
    assert_eq!(cut(&datagram), [Err(Fault::Checksum { msgid: 0 }), Ok(2)]);
}

#[test]
fn broken_length_costs_only_its_own_frame() {
    let mut datagram = heartbeat(1);
    datagram[1] += 10;
    datagram.extend(heartbeat(2));
    datagram.extend(heartbeat(3));
    assert_eq!(cut(&datagram), [Err(Fault::Checksum { msgid: 0 }), Ok(2), Ok(3)]);
}

#[test]
fn tail_cut_by_its_datagram_is_truncated() {
    let mut datagram = heartbeat(1);
    let whole = heartbeat(2);
    for have in 1..whole.len() {
        datagram.truncate(whole.len());
        datagram.extend(&whole[..have]);
        let need = if have == 1 { 12 } else { whole.len() };
        assert_eq!(cut(&datagram), [Ok(1), Err(Fault::Truncated { need, have })]);
    }
}

#[test]
fn good_frame_inside_a_truncated_one_is_found() {
    let mut datagram = vec![STX_V1, 200];
    datagram.extend(heartbeat(1));
    let have = datagram.len();
    assert_eq!(cut(&datagram), [Err(Fault::Truncated { need: 208, have }), Ok(1)]);
}

#[test]
fn unknown_message_passes_in_step_but_not_after_garbage() {
    let unknown = frame(1, 65_000, &[1, 2, 3]);
    assert_eq!(message(65_000), None);
    assert_eq!(cut(&unknown), [Ok(1)]);

    let datagram = [b"xy".to_vec(), unknown.clone(), heartbeat(2), unknown.clone()].concat();
    assert_eq!(cut(&datagram), [Err(Fault::Skipped(2 + unknown.len())), Ok(2), Ok(1)]);
}

#[test]
fn unknown_incompatibility_flag_is_skipped() {
    let mut odd = heartbeat(1);
    odd[2] = 0x80;
    let datagram = [odd.clone(), heartbeat(2)].concat();
    assert_eq!(cut(&datagram), [Err(Fault::Skipped(odd.len())), Ok(2)]);
}

#[test]
fn signature_belongs_to_its_frame() {
    let mut signed = Vec::new();
    // The signed flag is part of the checksum, so the frame is built by hand.
    signed.extend([STX_V2, 9, FLAG_SIGNED, 0, 4, 1, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3]);
    let crc = crate::crc_with_extra(&signed[1..], 50);
    signed.extend(crc.to_le_bytes());
    signed.extend([0xFD; SIGNATURE]);
    let datagram = [signed, heartbeat(5)].concat();
    let Some(Event::Packet(first)) = frames(&datagram).next() else { panic!("no frame") };
    assert_eq!(first.signature, Some(&[0xFD; SIGNATURE]));
    assert_eq!(cut(&datagram), [Ok(4), Ok(5)]);
}

#[test]
fn stream_joins_what_reads_cut_apart() {
    let bytes = [heartbeat(1), b"zz".to_vec(), heartbeat(2)].concat();
    let mut stream = Stream::new();
    let mut seen = Vec::new();
    for b in bytes {
        assert_eq!(stream.push(&[b]), 1);
        while let Some(event) = stream.next() {
            seen.push(seq_or_fault(event));
        }
    }
    assert_eq!(seen, [Ok(1), Err(Fault::Skipped(1)), Err(Fault::Skipped(1)), Ok(2)]);
}

#[test]
fn reset_forgets_half_a_frame() {
    let mut stream = Stream::new();
    stream.push(&heartbeat(1)[..7]);
    assert_eq!(stream.next(), None);
    assert_eq!(stream.reset(), 7);
    stream.push(&heartbeat(2));
    assert_eq!(stream.next().map(seq_or_fault), Some(Ok(2)));
}

#[test]
fn ten_million_random_bytes_neither_panic_nor_stall_the_stream() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut stream = Stream::new();
    let capacity = stream.buf.len();
    let (mut packets, mut skipped) = (0_usize, 0_usize);
    for _ in 0..10_000 {
        let chunk: Vec<u8> = (0..125).flat_map(|_| random()).collect();
        assert_eq!(stream.push(&chunk), 1000, "room for a read");
        while let Some(event) = stream.next() {
            match event {
                Event::Packet(_) => packets += 1,
                Event::Fault(Fault::Skipped(n)) => skipped += n,
                Event::Fault(_) => {}
            }
        }
        assert!(stream.end - stream.at < MAX_FRAME, "at most one unfinished frame is kept");
    }
    assert_eq!(stream.buf.len(), capacity);
    // One marker in 128 bytes, one checksum in 65,536 right by chance.
    assert!(packets < 100, "{packets} frames found in noise");
    assert!(skipped > 9_000_000);

    // Noise ends: real traffic is picked up again within one frame's length.
    stream.push(&[0; MAX_FRAME]);
    while stream.next().is_some() {}
    stream.push(&heartbeat(9));
    assert_eq!(stream.next().map(seq_or_fault), Some(Ok(9)));
}

/// Pieces of a stream: good frames, frames of unknown messages, garbage rich in markers, broken frames.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let noise = prop::collection::vec(prop_oneof![Just(STX_V1), Just(STX_V2), Just(0), any::<u8>()], 0..40);
    prop_oneof![
        (any::<u8>(), prop::collection::vec(any::<u8>(), 9)).prop_map(|(seq, p)| frame(seq, 0, &p)),
        (any::<u8>(), prop::collection::vec(any::<u8>(), 0..255)).prop_map(|(seq, p)| frame(seq, 131, &p)),
        (any::<u8>(), prop::collection::vec(any::<u8>(), 0..50)).prop_map(|(seq, p)| frame(seq, 65_000, &p)),
        (any::<u8>(), any::<prop::sample::Index>(), 1..=255_u8).prop_map(|(seq, at, flip)| {
            let mut f = heartbeat(seq);
            let at = at.index(f.len());
            f[at] ^= flip;
            f
        }),
        noise,
    ]
}

/// Frames and faults with neighbouring skips joined, as their grouping is the one thing reads decide.
fn joined(events: impl Iterator<Item = Result<Vec<u8>, Fault>>) -> Vec<Result<Vec<u8>, Fault>> {
    let mut out: Vec<Result<Vec<u8>, Fault>> = Vec::new();
    for event in events {
        match (out.last_mut(), event) {
            (Some(Err(Fault::Skipped(sum))), Err(Fault::Skipped(n))) => *sum += n,
            (_, event) => out.push(event),
        }
    }
    out
}

fn bytes_or_fault(event: Event<'_>) -> Result<Vec<u8>, Fault> {
    match event {
        Event::Packet(p) => Ok(p.bytes.to_vec()),
        Event::Fault(f) => Err(f),
    }
}

fn run_stream<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<Result<Vec<u8>, Fault>> {
    let mut stream = Stream::new();
    let mut seen = Vec::new();
    for mut chunk in chunks {
        while !chunk.is_empty() {
            let taken = stream.push(chunk);
            chunk = &chunk[taken..];
            while let Some(event) = stream.next() {
                seen.push(bytes_or_fault(event));
            }
        }
    }
    joined(seen.into_iter())
}

proptest! {
    #[test]
    fn output_does_not_depend_on_chunking(pieces in prop::collection::vec(piece(), 0..30), size in 1_usize..600) {
        let bytes = pieces.concat();
        let by_size = run_stream(bytes.chunks(size));
        prop_assert_eq!(&by_size, &run_stream(bytes.chunks(1)));
        prop_assert_eq!(&by_size, &run_stream(std::iter::once(&bytes[..])));
    }

    #[test]
    fn pieces_put_together_are_the_stream(pieces in prop::collection::vec(piece(), 0..30), size in 1_usize..600) {
        let bytes = pieces.concat();
        let mut stream = Stream::new();
        let (mut seen, mut packets) = (Vec::<u8>::new(), Vec::new());
        for chunk in bytes.chunks(size) {
            prop_assert_eq!(stream.push(chunk), chunk.len());
            for piece in stream.pieces() {
                prop_assert!(!piece.bytes.is_empty());
                prop_assert!(piece.packet.is_none_or(|p| p.bytes == piece.bytes));
                seen.extend(piece.bytes);
                packets.extend(piece.packet.map(|p| Ok(p.bytes.to_vec())));
            }
        }
        seen.extend(stream.unfinished());
        prop_assert_eq!(seen, bytes.clone());
        let mut want = run_stream(bytes.chunks(size));
        want.retain(Result::is_ok);
        prop_assert_eq!(packets, want);
    }

    #[test]
    fn every_good_frame_after_garbage_is_found(noise in prop::collection::vec(any::<u8>(), 0..300), seq: u8) {
        // The noise may hold a whole good frame only by a checksum of one in 65,536, which the seed decides.
        let bytes = [noise, heartbeat(seq)].concat();
        prop_assert!(frames(&bytes).any(|e| matches!(e, Event::Packet(p) if p.bytes == heartbeat(seq))
            || matches!(e, Event::Packet(p) if p.checksum_ok().is_none())));
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        crate::fuzzing::framer(&bytes);
    }

    #[test]
    fn datagram_bytes_are_frames_or_accounted_for(pieces in prop::collection::vec(piece(), 0..10)) {
        let bytes = pieces.concat();
        let mut frame_bytes = 0;
        let mut skipped = 0;
        for event in frames(&bytes) {
            match event {
                Event::Packet(p) => frame_bytes += p.bytes.len(),
                Event::Fault(Fault::Skipped(n)) => skipped += n,
                Event::Fault(_) => {}
            }
        }
        prop_assert!(frame_bytes + skipped <= bytes.len());
    }
}
