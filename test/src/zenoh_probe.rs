//! The Zenoh adapter on its own, driven by the Python interop tests.
//!
//! ```text
//! zenoh_probe MODE ADDRESS OPTION...
//! ```
//!
//! MODE is `peer` or `client` of what is at ADDRESS, or `router`, which listens there; options as in
//! [`rostrans_test::probe`].

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use rostrans_adapter_zenoh::{Mode, ZenohAdapter, ZenohConfig};
use rostrans_core::adapter::RosAdapter;
use rostrans_schema::TypeRegistry;
use rostrans_test::probe;
use serde_json::json;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let quiet = tracing_subscriber::EnvFilter::new("info,zenoh=error");
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_env_filter(quiet).init();
    let mut args = std::env::args().skip(1);
    let (mode, address) = args.next().zip(args.next()).context("MODE and ADDRESS")?;
    let domain = std::env::var("ROS_DOMAIN_ID").unwrap_or_default().parse().unwrap_or(0);
    let mut config = ZenohConfig::new("zenoh_probe", domain, Arc::new(TypeRegistry::bundled()));
    let mode = match mode.as_str() {
        "peer" => Mode::Peer,
        "client" => Mode::Client,
        "router" => Mode::Router,
        other => bail!("unknown mode {other}"),
    };
    config.mode = Some(mode);
    match mode {
        Mode::Router => config.listen.push(address),
        Mode::Client | Mode::Peer => config.connect.push(address),
    }
    let adapter = ZenohAdapter::new(config)?;
    let counted = Arc::clone(&adapter);
    let stats = move || {
        let stats = counted.stats();
        json!({
            "received": stats.received, "malformed": stats.malformed, "wrong_type": stats.wrong_type,
            "malformed_tokens": stats.malformed_tokens,
        })
    };
    probe::drive(adapter as Arc<dyn RosAdapter>, args, stats).await
}
