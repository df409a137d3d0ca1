//! An adapter on its own, driven by the Python interop tests.
//!
//! ```text
//! [--relay TYPE IN OUT QOS]... [--latch TYPE TOPIC DEPTH HEX,HEX..]... [--forward TYPE OFFER CALL]...
//! ```
//!
//! `--relay` publishes on OUT, byte for byte, what it hears on IN; QOS is `reliable`, `sensor` or `latched`.
//! `--latch` publishes CDR samples on a transient-local topic. `--forward` offers the service OFFER and answers it by
//! calling CALL. One JSON object a line says what happens; it runs until its stdin ends.

use std::{
    io::{Read, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, Guard, RosAdapter, ServiceClient, ServiceHandler},
    clock::RosTime,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::BoxFuture,
};
use rostrans_schema::TypeName;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Does with an adapter what the arguments say, until stdin ends; `stats` are told last.
///
/// **Errors**: an argument that is not understood, or the adapter refuses.
pub async fn drive(
    adapter: Arc<dyn RosAdapter>,
    args: impl IntoIterator<Item = String>,
    stats: impl Fn() -> Value,
) -> Result<()> {
    let cancel = CancellationToken::new();
    let mut running = tokio::task::JoinSet::new();
    running.spawn(Arc::clone(&adapter).run(cancel.clone()));
    let held = set_up(&*adapter, args).await?;
    say(&json!({ "event": "ready", "summary": adapter.info().summary }));

    let (ended, stdin_end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        std::io::stdin().lock().read_to_end(&mut Vec::new()).unwrap_or_default();
        ended.send(()).unwrap_or_default();
    });
    stdin_end.await.unwrap_or_default();
    drop(held);
    cancel.cancel();
    while running.join_next().await.is_some() {}
    let mut summary = stats();
    summary["event"] = "summary".into();
    say(&summary);
    Ok(())
}

async fn set_up(adapter: &dyn RosAdapter, args: impl IntoIterator<Item = String>) -> Result<Vec<Guard>> {
    let mut held: Vec<Guard> = Vec::new();
    let mut args = args.into_iter();
    while let Some(option) = args.next() {
        let mut next = || args.next().with_context(|| format!("{option} wants more arguments"));
        match option.as_str() {
            "--relay" => held.push(relay(adapter, &next()?, &next()?, &next()?, &next()?).await?),
            "--latch" => held.push(latch(adapter, &next()?, &next()?, &next()?, &next()?).await?),
            "--forward" => held.push(forward(adapter, &next()?, &next()?, &next()?).await?),
            other => bail!("unknown option {other}"),
        }
    }
    Ok(held)
}

async fn relay(
    adapter: &dyn RosAdapter,
    msg_type: &str,
    input: &str,
    output: &str,
    qos: &str,
) -> Result<Guard> {
    let qos = match qos {
        "reliable" => Qos::reliable(),
        "sensor" => Qos::sensor_data(),
        "latched" => Qos::latched(10),
        other => bail!("unknown QoS {other}"),
    };
    let publisher = adapter.advertise(&topic(msg_type, output, qos)?).await?;
    let output = output.to_owned();
    let sink = Arc::new(move |sample: rostrans_core::codec::Sample| {
        let result = publisher.publish(sample.stamp, &sample.payload);
        let error = result.err().map(|e| e.to_string());
        let (len, matched) = (sample.payload.len(), publisher.matched());
        say(
            &json!({ "event": "relayed", "topic": output, "len": len, "matched": matched, "error": error, "stamp_ns": sample.stamp.ns }),
        );
    });
    Ok(adapter.subscribe(&topic(msg_type, input, qos)?, sink).await?)
}

async fn latch(
    adapter: &dyn RosAdapter,
    msg_type: &str,
    name: &str,
    depth: &str,
    samples: &str,
) -> Result<Guard> {
    let publisher = adapter.advertise(&topic(msg_type, name, Qos::latched(depth.parse()?))?).await?;
    for sample in samples.split(',') {
        let sample = CdrBytes::new(unhex(sample)?).context("a sample starts with 4 header bytes")?;
        publisher.publish(RosTime::default(), &sample)?;
    }
    Ok(Guard::new(publisher))
}

async fn forward(adapter: &dyn RosAdapter, srv_type: &str, offer: &str, call: &str) -> Result<Guard> {
    let service = |name| -> Result<ServiceSpec> {
        Ok(ServiceSpec { name: TopicName::parse(name)?, srv_type: TypeName::service(srv_type)? })
    };
    let client = adapter.service_client(&service(call)?).await?;
    Ok(adapter.advertise_service(&service(offer)?, Arc::new(Forward(client))).await?)
}

struct Forward(Arc<dyn ServiceClient>);

impl ServiceHandler for Forward {
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(async move {
            let start = Instant::now();
            let answer = self.0.call(request, start + Duration::from_secs(5)).await;
            let error = answer.as_ref().err().map(CallError::to_string);
            say(&json!({ "event": "forwarded", "ms": start.elapsed().as_secs_f64() * 1e3, "error": error }));
            answer
        })
    }
}

fn topic(msg_type: &str, name: &str, qos: Qos) -> Result<TopicSpec> {
    Ok(TopicSpec { name: TopicName::parse(name)?, msg_type: TypeName::message(msg_type)?, qos })
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}

/// Prints one event; stdout may be gone when the test has ended.
fn say(event: &Value) {
    writeln!(std::io::stdout().lock(), "{event}").unwrap_or_default();
}
