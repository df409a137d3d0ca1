//! A rule whose stamps are of a simulated clock begins when the clock has a time.
//!
//! Until then it has no endpoints, so nothing latched or static can slip out; its source is open, and its frames are
//! counted.

use std::sync::Arc;

use super::Env;
use crate::{
    ingress::Reader,
    supervisor::{Context, Failure},
};

/// Waits for the rule's clock; false when the rule is to end.
pub(super) async fn opened(env: &Env, context: &Context) -> Result<bool, Failure> {
    let followed = env.rule.clock.as_ref().and_then(|name| env.clocks.get(name));
    let Some(followed) = followed.filter(|_| env.rule.stamping.is_gated()) else { return Ok(true) };
    // A rule that tells the clock must run for it to come.
    let tells = |link| env.clocks.told_by(link).is_some_and(|told| Arc::ptr_eq(&told.clock, &followed.clock));
    if followed.clock.is_open() || env.links.iter().any(|link| tells(link)) {
        return Ok(true);
    }
    let _counted = env.source()?.attach(vec![Reader::Gated(env.links.clone().into())]);
    // It does what it is there for: the clock's task says what it waits for.
    context.up();
    tokio::select! {
        () = context.cancel().cancelled() => Ok(false),
        () = followed.clock.opened() => Ok(true),
    }
}
