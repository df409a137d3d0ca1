//! What the router and the framer cost beside the system calls: `cargo bench -p rostrans-transport`.
//!
//! A datagram on loopback costs the kernel about 2,000 ns in and out; what is measured here comes on top.

use std::{
    hint::black_box,
    net::{SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use divan::{Bencher, counter::ItemsCount};
use rostrans_core::transport::{Frame, Framing, Ingress};
use rostrans_mavlink::{Sender, message, write_v2};
use rostrans_transport::bench::{Router, cut};

fn main() {
    divan::main();
}

/// HIGHRES_IMU (63 bytes of payload) of one vehicle.
fn frame(sysid: u8) -> Vec<u8> {
    let info = message(105).expect("invariant: HIGHRES_IMU is known");
    let payload: Vec<u8> = (1..=info.full_len).collect();
    let mut out = Vec::new();
    let from = Sender { seq: 0, sysid, compid: 1 };
    write_v2(&mut out, from, info.msgid, &payload, info.crc_extra).expect("invariant: fits");
    out
}

/// Dispatch of frames that no link wants: one look at the tag.
struct Unwanted(u64);

impl Ingress for Unwanted {
    fn frame(&mut self, frame: &Frame<'_>) {
        self.0 += u64::from(black_box(frame.tag) == Some(u32::MAX));
    }
}

#[divan::bench]
fn frame_and_dispatch_an_unwanted_datagram(bencher: Bencher<'_, '_>) {
    let (datagram, from, now) = (frame(1), addr(14_560), Instant::now());
    let mut ingress = Unwanted(0);
    bencher
        .counter(ItemsCount::new(1_usize))
        .bench_local(|| cut(Framing::Mavlink, black_box(&datagram), from, now, &mut ingress));
}

#[divan::bench(args = [1, 50])]
fn tell_vehicles_apart(bencher: Bencher<'_, '_>, vehicles: u8) {
    let mut router = Router::new(&[addr(14_550), addr(14_552)]);
    let known: Vec<_> = (1..=vehicles).map(|v| (addr(20_000 + u16::from(v)), frame(v))).collect();
    let now = Instant::now();
    bencher.counter(ItemsCount::new(known.len())).bench_local(|| {
        for (from, datagram) in &known {
            black_box(router.is_vehicle(*from, datagram, now));
        }
    });
}

#[divan::bench]
fn choose_among_fifty_vehicles_for_a_command(bencher: Bencher<'_, '_>) {
    let mut router = Router::new(&[addr(14_550)]);
    let now = Instant::now();
    for v in 1..=50 {
        router.is_vehicle(addr(20_000 + u16::from(v)), &frame(v), now);
    }
    let mut payload = [1; 33];
    payload[30] = 33;
    let mut command = Vec::new();
    let from = Sender { seq: 0, sysid: 255, compid: 190 };
    write_v2(&mut command, from, 76, &payload, 152).expect("invariant: fits");
    bencher.bench_local(|| router.targets(black_box(&command), now + Duration::from_secs(1)));
}

/// Sends and receives without a router between, to compare with.
#[divan::bench(args = [1, 64])]
fn system_calls(bencher: Bencher<'_, '_>, batch: usize) {
    let open = || UdpSocket::bind(addr(0)).expect("invariant: loopback has free ports");
    let (a, b) = (open(), open());
    let to = b.local_addr().ok();
    let datagram = frame(1);
    let mut received = rostrans_net::RecvBatch::new(batch, 2048);
    bencher.counter(ItemsCount::new(batch)).bench_local(|| {
        let out: Vec<_> = (0..batch).map(|_| rostrans_net::Datagram::new(&datagram, to)).collect();
        drop(black_box(rostrans_net::send_batch(&a, &out)));
        drop(black_box(received.recv(&b)));
    });
}

fn addr(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}
