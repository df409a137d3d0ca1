//! ROS 2 over DDS.

use std::sync::Arc;

use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery, IpFamily, ServiceStyle};
use rostrans_core::adapter::{AdapterError, RosAdapter};

use super::Joining;

/// Joins over the chosen engine.
///
/// **Errors**: no socket can be opened.
pub(super) fn open(cx: &Joining<'_>) -> Result<Arc<dyn RosAdapter>, AdapterError> {
    let Joining { settings, env, types } = cx;
    // Bad variables were reported before planning.
    let mut discovery = Discovery::from_env(env).unwrap_or_default();
    discovery.ip = match settings.text("dds_ip") {
        "v4" => Some(IpFamily::V4),
        "v6" => Some(IpFamily::V6),
        "both" => Some(IpFamily::Both),
        _ => discovery.ip,
    };
    let mut config = DdsConfig::new(settings.text("node_name"), discovery, Arc::clone(types));
    config.namespace = settings.text("node_namespace").to_owned();
    let interfaces = settings.text("dds_interfaces").split(',').map(str::trim);
    config.interfaces = interfaces.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    // As for the definitions: who runs beside Humble has it sourced.
    config.humble = env("ROS_DISTRO").as_deref() == Some("humble");
    config.service_style = match settings.text("dds_service_style") {
        "fastdds" => ServiceStyle::FastDds,
        "cyclone" => ServiceStyle::Cyclone,
        _ => ServiceStyle::Auto,
    };
    engine(config, settings.text("dds_engine") == "cyclone")
}

/// The chosen engine; that it is built in was checked before planning.
fn engine(config: DdsConfig, cyclone: bool) -> Result<Arc<dyn RosAdapter>, AdapterError> {
    #[cfg(feature = "dds-cyclone")]
    if cyclone {
        return Ok(rostrans_adapter_cyclone::CycloneAdapter::new(&config)?);
    }
    if cyclone {
        return Err(AdapterError::Unsupported { adapter: "dds", what: "dds_engine=cyclone" });
    }
    Ok(DdsAdapter::new(config)?)
}
