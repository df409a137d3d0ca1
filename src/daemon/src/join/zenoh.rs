//! ROS 2 over Zenoh.

use std::{path::PathBuf, sync::Arc};

use rostrans_adapter_dds::{Discovery, DiscoveryRange};
use rostrans_adapter_zenoh::{Mode, ZenohAdapter, ZenohConfig};
use rostrans_core::{
    adapter::{AdapterError, RosAdapter},
    diag::{Diagnostic, Origin},
    param::Settings,
};
use rostrans_schema::TypeRegistry;

use super::Joining;
use crate::load::Env;

/// Joins; a router that is not there is waited for.
///
/// **Errors**: an address that cannot be listened at.
pub(super) fn open(cx: &Joining<'_>) -> Result<Arc<dyn RosAdapter>, AdapterError> {
    Ok(ZenohAdapter::new(config(cx.settings, cx.env, Arc::clone(cx.types)))?)
}

/// Checks what the parameters, the environment and the files it names say.
pub(super) fn check(settings: &Settings, env: Env<'_>, problems: &mut Vec<Diagnostic>) {
    let config = config(settings, env, Arc::new(TypeRegistry::builder().build()));
    let Err(text) = config.check() else { return };
    let keys = ["zenoh_connect", "zenoh_listen", "zenoh_mode"];
    let said = keys.into_iter().find(|key| settings.origin(key) != Origin::Default);
    let origin = said.map_or(Origin::Environment, |key| settings.origin(key));
    let (message, help) = text.split_once("; ").unwrap_or((&text, ""));
    problems.push(Diagnostic::error(origin, message, help));
}

/// Parameters win over files.
fn config(settings: &Settings, env: Env<'_>, registry: Arc<TypeRegistry>) -> ZenohConfig {
    // Bad variables are reported elsewhere.
    let discovery = Discovery::from_env(env).unwrap_or_default();
    let mut config = ZenohConfig::new(settings.text("node_name"), discovery.domain, registry);
    settings.text("node_namespace").clone_into(&mut config.namespace);
    config.mode = match settings.text("zenoh_mode") {
        "client" => Some(Mode::Client),
        "peer" => Some(Mode::Peer),
        "router" => Some(Mode::Router),
        _ => None,
    };
    let endpoints = |key| {
        let endpoints = settings.text(key).split(',').map(str::trim);
        endpoints.filter(|endpoint| !endpoint.is_empty()).map(str::to_owned).collect()
    };
    config.connect = endpoints("zenoh_connect");
    config.listen = endpoints("zenoh_listen");
    let file = |name| {
        let uri = env(name).filter(|uri| !uri.is_empty())?;
        Some(PathBuf::from(uri.strip_prefix("file://").unwrap_or(&uri)))
    };
    config.session_file = file("ZENOH_SESSION_CONFIG_URI");
    config.router_file = file("ZENOH_ROUTER_CONFIG_URI");
    config.overrides = env("ZENOH_CONFIG_OVERRIDE").unwrap_or_default();
    config.localhost = discovery.range != DiscoveryRange::Subnet;
    // Who runs beside Humble has it sourced.
    config.type_hashes = env("ROS_DISTRO").as_deref() != Some("humble");
    config
}
