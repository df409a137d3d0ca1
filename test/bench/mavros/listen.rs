//! Counts what rostrans publishes.

use std::{
    error::Error,
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::RecvTimeoutError,
    },
    time::Duration,
};

use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery};
use rostrans_core::{
    adapter::{Guard, RosAdapter},
    topic::{Qos, TopicName, TopicSpec},
};
use rostrans_schema::{TypeName, TypeRegistry};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::{kind::KINDS, orders};

/// One subscription's count.
struct Counted {
    sysid: u8,
    topic: &'static str,
    count: Arc<AtomicU64>,
    _guard: Guard,
}

/// Topics below a vehicle's prefix, with their types.
pub(crate) type Topics = &'static [(&'static str, &'static str)];

/// What CopterSim's truth packets make.
pub(crate) const COPTER: Topics = &[
    ("local_position/pose", "geometry_msgs/msg/PoseStamped"),
    ("local_position/velocity_local", "geometry_msgs/msg/TwistStamped"),
    ("local_position/velocity_body", "geometry_msgs/msg/TwistStamped"),
    ("local_position/odom", "nav_msgs/msg/Odometry"),
    ("global_position/global", "sensor_msgs/msg/NavSatFix"),
    ("imu/data", "sensor_msgs/msg/Imu"),
];

/// What [`KINDS`] make.
pub(crate) fn of_kinds() -> Vec<(&'static str, &'static str)> {
    KINDS.iter().map(|kind| kind.topic).collect()
}

/// Subscribes and serves the orders of the input.
pub(crate) fn run(
    numbers: RangeInclusive<u8>,
    topics: &[(&'static str, &'static str)],
) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let discovery = Discovery::from_env(|name| std::env::var(name).ok())
        .map_err(|problems| problems.first().map(ToString::to_string).unwrap_or_default())?;
    let config = DdsConfig::new("mavros_bench", discovery, Arc::new(TypeRegistry::bundled()));
    let adapter = {
        let _entered = runtime.enter();
        DdsAdapter::new(config)?
    };
    let cancel = CancellationToken::new();
    let running = Arc::clone(&adapter).run(cancel.clone());
    let running = runtime.spawn(running);
    let counted = runtime.block_on(subscribe(&adapter, numbers, topics))?;
    println!("{}", json!({"event": "listening"}));
    let orders = orders();
    loop {
        match orders.recv_timeout(Duration::from_secs(1)) {
            Ok(order) if order == "reset" => {
                counted.iter().for_each(|each| each.count.store(0, Relaxed));
                println!("{}", json!({"event": "reset"}));
            }
            Ok(_) => println!("{}", json!({"event": "count", "vehicles": counts(&counted)})),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    drop(counted);
    cancel.cancel();
    runtime.block_on(running)??;
    Ok(())
}

async fn subscribe(
    adapter: &Arc<DdsAdapter>,
    numbers: RangeInclusive<u8>,
    topics: &[(&'static str, &'static str)],
) -> Result<Vec<Counted>, Box<dyn Error>> {
    let mut counted = Vec::new();
    for sysid in numbers {
        let prefix = if sysid == 1 { "/mavros".to_owned() } else { format!("/mavros{sysid}") };
        for &(topic, msg_type) in topics {
            let spec = TopicSpec {
                name: TopicName::parse(&format!("{prefix}/{topic}"))?,
                msg_type: TypeName::message(msg_type)?,
                qos: Qos::sensor_data(),
            };
            let count = Arc::new(AtomicU64::new(0));
            let counter = Arc::clone(&count);
            let sink = Arc::new(move |_| {
                counter.fetch_add(1, Relaxed);
            });
            let guard = adapter.subscribe(&spec, sink).await?;
            counted.push(Counted { sysid, topic, count, _guard: guard });
        }
    }
    Ok(counted)
}

fn counts(counted: &[Counted]) -> Value {
    let mut vehicles: Map<String, Value> = Map::new();
    for Counted { sysid, topic, count, .. } in counted {
        let vehicle = vehicles.entry(sysid.to_string()).or_insert_with(|| Value::Object(Map::new()));
        vehicle[*topic] = count.load(Relaxed).into();
    }
    Value::Object(vehicles)
}
