//! The DDS adapter on its own, driven by the Python interop tests; options as in [`rostrans_test::probe`].

use std::sync::Arc;

use anyhow::Result;
use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery};
use rostrans_core::adapter::RosAdapter;
use rostrans_schema::TypeRegistry;
use rostrans_test::probe;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    let discovery = Discovery::from_env(|name| std::env::var(name).ok())
        .map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
    let registry = Arc::new(TypeRegistry::bundled());
    let adapter = DdsAdapter::new(DdsConfig::new("dds_probe", discovery, registry))?;
    let counted = Arc::clone(&adapter);
    let stats = move || {
        let stats = counted.stats();
        json!({ "malformed": stats.malformed, "lost": stats.lost })
    };
    probe::drive(adapter as Arc<dyn RosAdapter>, std::env::args().skip(1), stats).await
}
