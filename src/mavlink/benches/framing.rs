//! Framing speed: `cargo bench -p rostrans-mavlink`.

use divan::{
    Bencher, black_box,
    counter::{BytesCount, ItemsCount},
};
use rostrans_mavlink::{Event, Sender, Stream, crc, frames, message, write_v2};

fn main() {
    divan::main();
}

/// Frames of a PX4-like mix: ATTITUDE, HIGHRES_IMU, LOCAL_POSITION_NED, HEARTBEAT.
fn mix(count: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for (seq, msgid) in (0..=255_u8).cycle().zip([30, 105, 32, 0].into_iter().cycle()).take(count) {
        let info = message(msgid).expect("invariant: a known message");
        let payload: Vec<u8> = (1..=info.full_len).collect();
        let from = Sender { seq, sysid: 1, compid: 1 };
        write_v2(&mut out, from, msgid, &payload, info.crc_extra).expect("invariant: fits");
    }
    out
}

#[divan::bench]
fn datagram_of_one_frame(bencher: Bencher<'_, '_>) {
    let datagram = mix(1);
    bencher.counter(ItemsCount::new(1_usize)).bench(|| frames(black_box(&datagram)).count());
}

#[divan::bench]
fn datagram_of_sixteen_frames(bencher: Bencher<'_, '_>) {
    let datagram = mix(16);
    bencher.counter(ItemsCount::new(16_usize)).bench(|| frames(black_box(&datagram)).count());
}

#[divan::bench]
fn stream_of_frames(bencher: Bencher<'_, '_>) {
    let bytes = mix(32);
    let mut stream = Stream::new();
    bencher.counter(ItemsCount::new(32_usize)).bench_local(|| {
        stream.push(black_box(&bytes));
        let mut count = 0;
        while let Some(Event::Packet(p)) = stream.next() {
            black_box(p);
            count += 1;
        }
        assert_eq!(count, 32);
    });
}

#[divan::bench]
fn checksum_of_a_kilobyte(bencher: Bencher<'_, '_>) {
    let bytes = mix(16);
    let bytes = &bytes[..1024.min(bytes.len())];
    bencher.counter(BytesCount::of_slice(bytes)).bench(|| crc(black_box(bytes)));
}
