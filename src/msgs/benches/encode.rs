//! Typed messages against the registry's dynamic ones, and a camera image against a plain copy of its size.
//!
//!     cargo bench -p rostrans-msgs

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use divan::{Bencher, black_box, counter::BytesCount};
use rostrans_cdr::{from_cdr, to_cdr};
use rostrans_msgs::{
    RosType,
    sensor_msgs::msg::{Image, Imu},
};
use rostrans_schema::{MessageType, Transcoder, TypeName, TypeRegistry, Value};

/// 1280 x 720 pixels of three octets.
const IMAGE_OCTETS: usize = 1280 * 720 * 3;

fn main() {
    divan::main();
}

fn imu() -> Imu {
    let mut imu = Imu::default();
    imu.header.stamp.sec = 1_700_000_000;
    imu.header.frame_id = "base_link".into();
    imu.orientation.x = 0.5;
    imu.linear_acceleration.z = 9.81;
    imu.orientation_covariance[0] = 0.01;
    imu
}

fn dynamic() -> (Arc<MessageType>, Bytes) {
    let name = TypeName::message(Imu::TYPE).expect("a valid name");
    let message = TypeRegistry::bundled().message(&name).expect("a bundled type");
    (message, to_cdr(&imu(), &mut BytesMut::new()).into_bytes())
}

#[divan::bench_group]
mod imu_encode {
    use super::*;

    #[divan::bench]
    fn typed(bencher: Bencher<'_, '_>) {
        let imu = imu();
        let mut pool = BytesMut::new();
        bencher.bench_local(|| to_cdr(black_box(&imu), &mut pool).len());
    }

    #[divan::bench]
    fn registry_value(bencher: Bencher<'_, '_>) {
        let (message, sample) = dynamic();
        let value: Value = message.decode(&sample).expect("a valid sample");
        let mut pool = BytesMut::new();
        bencher.bench_local(|| message.encode(black_box(&value), &mut pool).map(|s| s.len()));
    }

    #[divan::bench]
    fn registry_json(bencher: Bencher<'_, '_>) {
        let (message, sample) = dynamic();
        let value = message.cdr_to_json(&sample).expect("a valid sample");
        let mut pool = BytesMut::new();
        bencher.bench_local(|| message.json_to_cdr(black_box(&value), &mut pool).map(|s| s.len()));
    }

    #[divan::bench]
    fn registry_json_text(bencher: Bencher<'_, '_>) {
        let (message, sample) = dynamic();
        let text = message.cdr_to_json(&sample).expect("a valid sample").to_string();
        let mut pool = BytesMut::new();
        bencher.bench_local(|| {
            let value: serde_json::Value = serde_json::from_str(black_box(&text)).expect("valid JSON");
            message.json_to_cdr(&value, &mut pool).map(|s| s.len())
        });
    }
}

#[divan::bench_group]
mod imu_decode {
    use super::*;

    #[divan::bench]
    fn typed(bencher: Bencher<'_, '_>) {
        let (_, sample) = dynamic();
        bencher.bench_local(|| from_cdr::<Imu>(black_box(&sample)).map(|imu| imu.header.stamp.sec));
    }

    #[divan::bench]
    fn registry_json(bencher: Bencher<'_, '_>) {
        let (message, sample) = dynamic();
        bencher.bench_local(|| message.cdr_to_json(black_box(&sample)).is_ok());
    }

    #[divan::bench]
    fn registry_validate(bencher: Bencher<'_, '_>) {
        let (message, sample) = dynamic();
        bencher.bench_local(|| message.validate(black_box(&sample)).is_ok());
    }

    #[divan::bench]
    fn transcode_to_ros1(bencher: Bencher<'_, '_>) {
        let (message, sample) = dynamic();
        let types = TypeRegistry::bundled();
        let ros1 = types.ros1_message(message.name()).expect("a bundled type");
        let transcoder = Transcoder::new(&message, &ros1).expect("one definition");
        let mut pool = BytesMut::new();
        bencher.bench_local(|| transcoder.to_ros1(black_box(&sample), 0, &mut pool).map(|b| b.len()));
    }
}

/// Both write into the same reused pool, so the difference is what the encoder adds to the copy.
#[divan::bench_group]
mod image_2_7_mb {
    use super::*;

    #[divan::bench]
    fn typed_encode(bencher: Bencher<'_, '_>) {
        let image = Image { encoding: "bgr8".into(), data: vec![7; IMAGE_OCTETS], ..Image::default() };
        let mut pool = BytesMut::new();
        bencher
            .counter(BytesCount::new(IMAGE_OCTETS))
            .bench_local(|| to_cdr(black_box(&image), &mut pool).len());
    }

    #[divan::bench]
    fn memcpy(bencher: Bencher<'_, '_>) {
        let data = vec![7_u8; IMAGE_OCTETS];
        let mut pool = BytesMut::new();
        bencher.counter(BytesCount::new(IMAGE_OCTETS)).bench_local(|| {
            pool.reserve(IMAGE_OCTETS);
            pool.extend_from_slice(black_box(&data));
            pool.split().freeze().len()
        });
    }
}
