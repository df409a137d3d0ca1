//! What a frame costs between the transport's buffer and the publisher.
//!
//! `cargo bench -p rostrans-engine`

use std::time::Instant;

use divan::{Bencher, black_box, counter::ItemsCount};

use self::telemetry::{Harness, WANTED};

#[path = "../tests/telemetry/mod.rs"]
mod telemetry;

fn main() {
    divan::main();
}

fn harness() -> (tokio::runtime::Runtime, Harness) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let harness = runtime.block_on(Harness::start());
    (runtime, harness)
}

/// A frame that no link wants.
#[divan::bench]
fn unwanted_frame(bencher: Bencher<'_, '_>) {
    let (_runtime, mut harness) = harness();
    let (frame, now) = ([1; 40], Instant::now());
    let run = || {
        for _ in 0..BATCH {
            harness.frame(black_box(&frame), WANTED + 1, now);
        }
    };
    bencher.counter(ItemsCount::new(BATCH)).bench_local(run);
}

/// A datagram of MAVLink 2 packets, cut into frames that no link wants; per packet.
#[divan::bench]
fn framing_and_unwanted_frame(bencher: Bencher<'_, '_>) {
    let (_runtime, mut harness) = harness();
    let mut datagram = Vec::new();
    for seq in 0..BATCH {
        let from = rostrans_mavlink::Sender { seq, sysid: 1, compid: 1 };
        // HEARTBEAT, CRC_EXTRA 50.
        let written = rostrans_mavlink::write_v2(&mut datagram, from, 0, &[0, 0, 0, 0, 2, 12, 81, 4, 3], 50);
        written.expect("a valid packet");
    }
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        let now = Instant::now();
        for event in rostrans_mavlink::frames(black_box(&datagram)) {
            if let rostrans_mavlink::Event::Packet(packet) = event {
                harness.frame(packet.bytes, packet.msgid, now);
            }
        }
    });
}

/// A frame that two links decode into 20 doubles with stamp and frame id, one of them over its rate limit.
#[divan::bench]
fn decoded_frame(bencher: Bencher<'_, '_>) {
    let (_runtime, mut harness) = harness();
    let (frame, now) = ([1; 40], Instant::now());
    let run = || {
        for _ in 0..BATCH {
            harness.frame(black_box(&frame), WANTED, now);
        }
    };
    bencher.counter(ItemsCount::new(BATCH)).bench_local(run);
    let snapshot = harness.running.snapshot();
    assert!(snapshot.rules[0].links[0].counters.messages > 0, "the frames were published");
}

/// Frames per datagram or receive call.
const BATCH: u8 = 16;
