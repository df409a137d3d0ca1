//! ROS 1 over TCPROS.

use std::sync::Arc;

use rostrans_adapter_ros1::{ConfigError, Ros1Adapter, Ros1Config};
use rostrans_core::{
    adapter::{AdapterError, RosAdapter},
    diag::{Diagnostic, Origin},
    param::Settings,
};
use rostrans_schema::TypeRegistry;

use super::Joining;
use crate::load::Env;

/// Joins the graph of a master, which need not be there yet.
///
/// **Errors**: no socket can be opened.
pub(super) fn open(cx: &Joining<'_>) -> Result<Arc<dyn RosAdapter>, AdapterError> {
    Ok(Ros1Adapter::new(&config(cx.settings, cx.env, Arc::clone(cx.types)))?)
}

/// Checks what the parameters and the environment say. Bad values of `node_name` and `node_namespace` are reported elsewhere.
pub(super) fn check(settings: &Settings, env: Env<'_>, problems: &mut Vec<Diagnostic>) {
    let Err(error) = config(settings, env, Arc::new(TypeRegistry::builder().build())).check() else { return };
    let key = match error {
        ConfigError::Node { .. } => "node_namespace",
        ConfigError::Master(_) => "ros_master_uri",
        ConfigError::Host(_) => "ros_hostname",
    };
    let said = said(settings, key);
    if key == "node_namespace" && (said || env("ROS_NAMESPACE").is_none()) {
        return;
    }
    let origin = if said { settings.origin(key) } else { Origin::Environment };
    let text = error.to_string();
    let (message, help) = text.split_once("; ").unwrap_or((&text, ""));
    problems.push(Diagnostic::error(origin, message, help));
}

/// Parameters win over the environment.
fn config(settings: &Settings, env: Env<'_>, registry: Arc<TypeRegistry>) -> Ros1Config {
    let mut config = Ros1Config::new(settings.text("node_name"), registry).with_env(env);
    if said(settings, "node_namespace") {
        settings.text("node_namespace").clone_into(&mut config.namespace);
    }
    if said(settings, "ros_master_uri") {
        settings.text("ros_master_uri").clone_into(&mut config.master_uri);
    }
    if said(settings, "ros_hostname") {
        config.host = Some(settings.text("ros_hostname").to_owned());
    }
    config
}

fn said(settings: &Settings, key: &str) -> bool {
    settings.origin(key) != Origin::Default && !settings.text(key).is_empty()
}
