//! Reads a ROS 2 topic: `rtps_sub KIND TOPIC SECONDS [best_effort|reliable|latched]`.
//!
//! Prints what arrived with the latency between the stamp in the sample and now, for samples of `rtps_pub` and for
//! stamped samples of other senders on this host.
#![expect(clippy::print_stdout, reason = "a command line program")]

#[path = "common/mod.rs"]
mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Kind, wait_until};
use rostrans_rtps::{EndpointQos, EndpointSpec, Participant, Sample};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, topic, seconds, rest @ ..] = &args[..] else {
        return Err("usage: rtps_sub KIND TOPIC SECONDS [best_effort|reliable|latched]".into());
    };
    let kind = Kind::parse(kind)?;
    let mode = rest.first().map_or("reliable", String::as_str);
    let participant = Participant::new(common::config())?;
    let seen = Arc::new(Mutex::new(Vec::<(i64, usize, Option<i64>)>::with_capacity(1 << 16)));
    let sink = {
        let seen = seen.clone();
        move |sample: Sample| {
            let latency = kind.stamp_ns(&sample.payload).map(|stamp| common::wall_ns() - stamp);
            seen.lock().expect("invariant: no panic under this lock").push((
                sample.seq,
                sample.payload.len(),
                latency,
            ));
        }
    };
    let _reader = participant.create_reader(
        EndpointSpec {
            topic: format!("rt/{topic}"),
            type_name: kind.type_name().into(),
            qos: EndpointQos {
                reliable: mode != "best_effort",
                transient_local: mode == "latched",
                ..EndpointQos::DEFAULT
            },
            ..EndpointSpec::default()
        },
        Arc::new(sink),
    )?;
    wait_until(Instant::now() + Duration::from_secs_f64(seconds.parse()?), || false);
    let seen = seen.lock().expect("invariant: no panic under this lock");
    let bytes: usize = seen.iter().map(|(_, len, _)| len).sum();
    let mut latencies: Vec<i64> = seen.iter().filter_map(|(_, _, latency)| *latency).collect();
    latencies.sort_unstable();
    let at =
        |percent: usize| latencies.get(latencies.len().saturating_sub(1) * percent / 100).map(|ns| ns / 1000);
    let ends = (seen.first().map(|s| s.0), seen.last().map(|s| s.0));
    println!(
        "samples {} bytes {bytes} sequence {ends:?} latency us p50 {:?} p99 {:?} max {:?}",
        seen.len(),
        at(50),
        at(99),
        at(100)
    );
    println!("{:?}", participant.stats());
    Ok(())
}
