//! ROS 2 through the sourced ROS.

use std::sync::Arc;

use rostrans_adapter_dds::Discovery;
use rostrans_adapter_r2r::{R2rAdapter, R2rConfig};
use rostrans_core::{
    adapter::{AdapterError, RosAdapter},
    diag::{Diagnostic, Origin},
};

use super::Joining;
use crate::load::Env;

/// Joins over what `RMW_IMPLEMENTATION` names.
///
/// **Errors**: a library is missing; what the RMW says.
pub(super) fn open(cx: &Joining<'_>) -> Result<Arc<dyn RosAdapter>, AdapterError> {
    let Joining { settings, env, types } = cx;
    Ok(R2rAdapter::new(R2rConfig {
        node_name: settings.text("node_name").to_owned(),
        namespace: settings.text("node_namespace").to_owned(),
        // Bad variables were reported before planning.
        domain: Discovery::from_env(env).unwrap_or_default().domain,
        registry: Arc::clone(types),
    })?)
}

/// Checks that the ROS is sourced that this program was built for.
pub(super) fn check(env: Env<'_>, problems: &mut Vec<Diagnostic>) {
    let Err(text) = rostrans_adapter_r2r::check(env) else { return };
    let (message, help) = text.split_once("; ").unwrap_or((&text, ""));
    problems.push(Diagnostic::error(Origin::Environment, message, help));
}
