//! Publishes a ROS 2 topic: `rtps_pub KIND TOPIC RATE_HZ COUNT [best_effort|reliable|latched]`.
//!
//! KIND is `string`, `imu` or `image` (1280x720 rgb8). Waits for a reader (not for `latched`), writes COUNT samples,
//! stays for two seconds (`latched`: 15) and prints counters. `ROS_DOMAIN_ID` chooses the domain; only this host is
//! searched, unless `ROS_AUTOMATIC_DISCOVERY_RANGE` is `SUBNET`.
#![expect(clippy::print_stdout, reason = "a command line program")]

#[path = "common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use bytes::Bytes;
use common::{Kind, wait_until};
use rostrans_rtps::{EndpointQos, EndpointSpec, Participant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, topic, rate, count, rest @ ..] = &args[..] else {
        return Err("usage: rtps_pub KIND TOPIC RATE_HZ COUNT [best_effort|reliable|latched]".into());
    };
    let kind = Kind::parse(kind)?;
    let (rate, count): (f64, u64) = (rate.parse()?, count.parse()?);
    let mode = rest.first().map_or("reliable", String::as_str);
    let participant = Participant::new(common::config())?;
    let writer = participant.create_writer(EndpointSpec {
        topic: format!("rt/{topic}"),
        type_name: kind.type_name().into(),
        qos: EndpointQos {
            reliable: mode != "best_effort",
            transient_local: mode == "latched",
            ..EndpointQos::DEFAULT
        },
        ..EndpointSpec::default()
    })?;
    if mode != "latched" {
        wait_until(Instant::now() + Duration::from_secs(20), || writer.matched() > 0);
        // The other side needs its own moment to see us.
        wait_until(Instant::now() + Duration::from_secs(1), || false);
    }
    println!("matched {}", writer.matched());
    let start = Instant::now();
    for seq in 0..count {
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let due = start + Duration::from_secs_f64(seq as f64 / rate);
        wait_until(due, || false);
        writer.write(&Bytes::from(kind.build(seq)))?;
    }
    let stay = if mode == "latched" { 15 } else { 2 };
    wait_until(Instant::now() + Duration::from_secs(stay), || false);
    println!("wrote {count} to {} readers: {:?}", writer.matched(), participant.stats());
    Ok(())
}
