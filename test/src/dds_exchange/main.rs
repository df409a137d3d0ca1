//! Many publishers and subscriptions of serialized samples on the DDS adapter, driven by a test.
//!
//! ```text
//! dds_exchange PLAN NAME...
//! ```
//!
//! Every NAME is a node, and so a DDS participant, of its own. The plan, the commands on stdin and the events on stdout
//! are those of `test/peers/exchange.py`; this program also answers `stats` with the counters of each node.

mod plan;
mod tally;

use std::{
    io::{BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery};
use rostrans_core::{
    adapter::{Guard, Publisher, RosAdapter},
    clock::RosTime,
    codec::Sample,
    topic::{Qos, TopicName, TopicSpec},
};
use rostrans_schema::{TypeName, TypeRegistry};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet, time::MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::{
    plan::{Endpoint, Kind, Plan},
    tally::Tally,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    let mut args = std::env::args().skip(1);
    let plan = Plan::load(&args.next().context("usage: dds_exchange PLAN NAME...")?)?;
    let discovery = Discovery::from_env(|name| std::env::var(name).ok())
        .map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
    let registry = Arc::new(TypeRegistry::bundled());
    let cancel = CancellationToken::new();
    let mut running = JoinSet::new();
    let mut nodes = Vec::new();
    for name in args {
        let config = DdsConfig::new(&name, discovery.clone(), Arc::clone(&registry));
        let adapter = DdsAdapter::new(config)?;
        running.spawn(Arc::clone(&adapter).run(cancel.clone()));
        nodes.push(Node::open(name, adapter, &plan).await?);
    }
    let count = |side: fn(&Node) -> usize| nodes.iter().map(side).sum::<usize>();
    say(&json!({ "event": "ready", "publishers": count(|n| n.publishers.len()),
        "subscriptions": count(|n| n.subscriptions.len()) }));

    let mut commands = stdin_lines();
    while let Some(line) = commands.recv().await {
        let command: Value = serde_json::from_str(&line)?;
        match command["do"].as_str() {
            Some("publish") => publish(&nodes, &command).await?,
            Some("report") => report(&nodes, command["topics"].as_str().unwrap_or_default()),
            Some("stats") => stats(&nodes),
            other => bail!("unknown command {other:?}"),
        }
    }
    drop(nodes);
    cancel.cancel();
    while running.join_next().await.is_some() {}
    Ok(())
}

/// One participant with its endpoints.
struct Node {
    name: String,
    adapter: Arc<DdsAdapter>,
    publishers: Vec<(Endpoint, Arc<Kind>, Arc<dyn Publisher>)>,
    subscriptions: Vec<(Endpoint, Arc<Mutex<Tally>>, Guard)>,
}

impl Node {
    async fn open(name: String, adapter: Arc<DdsAdapter>, plan: &Plan) -> Result<Self> {
        let (mut publishers, mut subscriptions) = (Vec::new(), Vec::new());
        for endpoint in plan.endpoints.iter().filter(|e| e.peer == name) {
            let kind = plan.kind(&endpoint.kind)?;
            let qos = match (endpoint.reliable, endpoint.latched) {
                (_, true) => Qos::latched(endpoint.depth),
                (true, false) => Qos::reliable().with_depth(endpoint.depth),
                (false, false) => Qos::sensor_data().with_depth(endpoint.depth),
            };
            let msg_type = TypeName::message(&kind.msg_type)?;
            let topic = TopicSpec { name: TopicName::parse(&endpoint.topic)?, msg_type, qos };
            if endpoint.publishes {
                publishers.push((endpoint.clone(), kind, adapter.advertise(&topic).await?));
            } else {
                let tally = Arc::new(Mutex::new(Tally::new(kind)));
                let counted = Arc::clone(&tally);
                let sink = Arc::new(move |sample: Sample| {
                    counted.lock().unwrap_or_else(PoisonError::into_inner).add(&sample.payload);
                });
                subscriptions.push((endpoint.clone(), tally, adapter.subscribe(&topic, sink).await?));
            }
        }
        Ok(Self { name, adapter, publishers, subscriptions })
    }
}

/// Publishes `count` samples, numbered from `from`, on every topic that starts with `topics`.
async fn publish(nodes: &[Node], command: &Value) -> Result<()> {
    let number = |key: &str| command[key].as_u64().with_context(|| format!("publish wants '{key}'"));
    let topics = command["topics"].as_str().unwrap_or_default();
    let (from, count) = (u32::try_from(number("from")?)?, u32::try_from(number("count")?)?);
    let hz = command["hz"].as_f64().filter(|hz| *hz > 0.0);
    let mut pace = hz.map(|hz| tokio::time::interval(Duration::from_secs_f64(1.0 / hz)));
    if let Some(pace) = &mut pace {
        pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    }
    let chosen: Vec<_> =
        nodes.iter().flat_map(|n| &n.publishers).filter(|(e, ..)| e.topic.starts_with(topics)).collect();
    for number in from..from + count {
        if let Some(pace) = &mut pace {
            pace.tick().await;
        }
        for (endpoint, kind, publisher) in &chosen {
            if let Err(error) = publisher.publish(RosTime::default(), &kind.build(number)) {
                say(&json!({ "event": "refused", "topic": endpoint.topic, "error": error.to_string() }));
            }
        }
    }
    say(&json!({ "event": "published", "topics": chosen.len(), "next": from + count }));
    Ok(())
}

fn report(nodes: &[Node], topics: &str) {
    let mut rows = Vec::new();
    for node in nodes {
        let head = |e: &Endpoint, side, matched| json!({ "peer": node.name, "side": side, "topic": e.topic, "matched": matched });
        for (endpoint, _, publisher) in node.publishers.iter().filter(|(e, ..)| e.topic.starts_with(topics)) {
            rows.push(head(endpoint, "pub", json!(publisher.matched())));
        }
        for (endpoint, tally, _) in node.subscriptions.iter().filter(|(e, ..)| e.topic.starts_with(topics)) {
            // An adapter does not tell how many publishers a subscription has.
            let mut row = head(endpoint, "sub", Value::Null);
            tally.lock().unwrap_or_else(PoisonError::into_inner).report(&mut row);
            rows.push(row);
        }
    }
    say(&json!({ "event": "report", "endpoints": rows }));
}

fn stats(nodes: &[Node]) {
    let text = |n: &Node| json!({ "node": n.name, "stats": format!("{:?}", n.adapter.stats()) });
    say(&json!({ "event": "stats", "nodes": nodes.iter().map(text).collect::<Vec<_>>() }));
}

/// The lines of stdin, read on a thread of their own.
fn stdin_lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Prints one event; stdout may be gone when the test has ended.
fn say(event: &Value) {
    writeln!(std::io::stdout().lock(), "{event}").unwrap_or_default();
}
