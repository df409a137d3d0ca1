//! Decoding plus writing CDR, with publishers that keep nothing.

#![expect(clippy::unwrap_used, reason = "a bench stops at the first surprise")]

use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

use bytes::BytesMut;
use divan::{Bencher, black_box};
use rostrans_cdr::CdrBytes;
use rostrans_codecs::mavlink::dialect::{
    AttitudeQuaternion, GlobalPositionInt, GpsRawInt, HighresImu, LocalPositionNed, Message,
};
use rostrans_core::{
    adapter::{PublishError, Publisher},
    clock::{Clock, NoTime, RosTime, Stamped},
    codec::{CodecContext, Decoder},
    diag::Origin,
    emit::{Emit, Outlet},
    rule::{Direction, ForwardRule, LinkConfig},
    stats::LinkStats,
    transport::{Frame, Peer},
};
use rostrans_mavlink::{Sender, write_v2};
use rostrans_schema::TypeRegistry;

fn main() {
    divan::main();
}

/// ATTITUDE_QUATERNION and HIGHRES_IMU to `imu/data`, `imu/data_raw` and four more topics.
#[divan::bench]
fn imu_pair(bencher: Bencher<'_, '_>) {
    run(bencher, "mavlink.imu", &[frame(&*ATTITUDE), frame(&*HIGHRES)], 1);
}

/// ATTITUDE_QUATERNION to `imu/data`.
#[divan::bench]
fn imu_attitude(bencher: Bencher<'_, '_>) {
    run(bencher, "mavlink.imu", &[frame(&*ATTITUDE)], 1);
}

/// The pair while nobody listens: what is kept for later is kept.
#[divan::bench]
fn imu_pair_unwanted(bencher: Bencher<'_, '_>) {
    run(bencher, "mavlink.imu", &[frame(&*ATTITUDE), frame(&*HIGHRES)], 0);
}

/// LOCAL_POSITION_NED to four topics.
#[divan::bench]
fn local_position(bencher: Bencher<'_, '_>) {
    run(bencher, "mavlink.local_position", &[frame(&LocalPositionNed::decode(&[1; 28]))], 1);
}

/// GLOBAL_POSITION_INT to three topics.
#[divan::bench]
fn global_position(bencher: Bencher<'_, '_>) {
    run(bencher, "mavlink.global_position", &[frame(&GlobalPositionInt::decode(&[1; 28]))], 1);
}

/// GPS_RAW_INT to `gpsstatus/gps1/raw`: a relay that copies fields.
#[divan::bench]
fn gps_raw(bencher: Bencher<'_, '_>) {
    run(bencher, "mavlink.gps_status", &[frame(&GpsRawInt::decode(&[1; 52]))], 1);
}

/// The same while nobody listens.
#[divan::bench]
fn gps_raw_unwanted(bencher: Bencher<'_, '_>) {
    run(bencher, "mavlink.gps_status", &[frame(&GpsRawInt::decode(&[1; 52]))], 0);
}

/// A frame of another vehicle.
#[divan::bench]
fn other_vehicle(bencher: Bencher<'_, '_>) {
    let mut other = frame(&*ATTITUDE);
    other[5] = 9;
    run(bencher, "mavlink.imu", &[other], 1);
}

fn run(bencher: Bencher<'_, '_>, codec: &str, frames: &[Vec<u8>], listeners: usize) {
    static TYPES: LazyLock<Arc<TypeRegistry>> = LazyLock::new(|| Arc::new(TypeRegistry::bundled()));
    let mut rule = ForwardRule::new("bench", Direction::UdpToRostopic, Origin::Default);
    rule.links.push(LinkConfig::new("bench", Some(codec.into()), Origin::Default));
    let registry = rostrans_codecs::builtin();
    let codec = registry.get(codec).unwrap();
    let cx = CodecContext { rule: &rule, link: &rule.links[0], types: &TYPES };
    let mut decoder: Box<dyn Decoder> = codec.decoder(&cx).unwrap();
    let publisher: Arc<dyn Publisher> = Arc::new(Nobody(listeners));
    let outlet = |_| {
        Some(Outlet {
            publisher: Arc::clone(&publisher),
            stamped: Stamped::Header,
            latched: false,
            limiter: None,
        })
    };
    let mut outlets: Vec<Option<Outlet>> = codec.info().ports.iter().map(outlet).collect();
    let (mut pool, stats, received) =
        (BytesMut::with_capacity(1 << 16), LinkStats::default(), Instant::now());
    bencher.bench_local(|| {
        for bytes in frames {
            let frame =
                Frame { bytes: black_box(bytes), peer: Peer::Serial, received, tag: None, sender: None };
            let mut out =
                Emit::new(&mut outlets, &mut pool, None, Some(frame.peer), &Midnight, received, &stats);
            decoder.decode(&frame, &mut out).unwrap();
        }
    });
}

fn frame<M: Message>(message: &M) -> Vec<u8> {
    let (mut payload, mut frame) = (BytesMut::new(), Vec::new());
    message.encode(&mut payload);
    let from = Sender { seq: 0, sysid: 1, compid: 1 };
    write_v2(&mut frame, from, M::ID, &payload, M::CRC_EXTRA).unwrap();
    frame
}

static ATTITUDE: LazyLock<AttitudeQuaternion> = LazyLock::new(|| AttitudeQuaternion {
    q1: 0.98,
    q2: 0.03,
    q3: 0.1,
    q4: 0.14,
    ..AttitudeQuaternion::decode(&[])
});
static HIGHRES: LazyLock<HighresImu> =
    LazyLock::new(|| HighresImu { fields_updated: 0x1fff, zacc: -9.8, ..HighresImu::decode(&[]) });

/// Counts as `self.0` subscribers and keeps nothing.
struct Nobody(usize);

impl Publisher for Nobody {
    fn publish(&self, _: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        black_box(msg);
        Ok(())
    }

    fn matched(&self) -> usize {
        self.0
    }
}

/// A clock without a system call.
struct Midnight;

impl Clock for Midnight {
    fn time(&self, _: Instant) -> Result<RosTime, NoTime> {
        Ok(RosTime::default())
    }
}
