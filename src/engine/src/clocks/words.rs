//! What is said about clocks.

use rostrans_core::{
    clock::{ClockName, ClockSource, ClockSpec, Event, Fallback, Lost, RosTime, Tuning},
    rule::RuleId,
};
use tracing::{error, info, warn};

/// Says what is waited for, and who waits.
pub(super) fn awaited(spec: &ClockSpec, waiting: &[RuleId]) {
    let rules: Vec<&str> = waiting.iter().map(RuleId::as_str).collect();
    let timeout_s = spec.tuning.acquire_timeout.as_secs_f64();
    let (clock, source, rules) = (&spec.name, source(&spec.source), rules.join(" "));
    match spec.tuning.fallback {
        Fallback::Wait => info!(%clock, source, rules, "waiting for the simulated clock"),
        Fallback::Wall => {
            info!(%clock, source, rules, timeout_s, "waiting for the simulated clock; then wall time")
        }
        Fallback::Exit => {
            info!(%clock, source, rules, timeout_s, "waiting for the simulated clock; then the end")
        }
    }
}

fn source(source: &ClockSource) -> String {
    match source {
        ClockSource::Topic { topic, .. } => topic.to_string(),
        ClockSource::Field { rule, field, .. } => format!("{field} of rule {rule}"),
    }
}

/// What a person can do when no sample comes.
pub(super) fn remedy(source: &ClockSource) -> String {
    match source {
        ClockSource::Topic { topic, .. } => format!(
            "start the simulator and its clock bridge; '{topic}' must be published in this graph (domain, discovery range)"
        ),
        ClockSource::Field { rule, .. } => format!("start the simulator that sends to rule '{rule}'"),
    }
}

/// Logs an event.
pub(super) fn tell(clock: &ClockName, event: &Event, tuning: Tuning) {
    match event {
        Event::Acquired { now } => info!(%clock, now_s = secs(*now), "simulated clock acquired"),
        Event::Paused { now } => info!(%clock, now_s = secs(*now), "simulated clock stands still"),
        Event::Resumed { now, after } => {
            let after_s = after.as_secs_f64();
            info!(%clock, now_s = secs(*now), after_s, "simulated clock goes on");
        }
        Event::Jumped { from, to } if to < from => {
            let (from_s, to_s) = (secs(*from), secs(*to));
            warn!(%clock, from_s, to_s, "simulated clock was set back; messages of before are dropped");
        }
        Event::Jumped { from, to } => {
            warn!(%clock, from_s = secs(*from), to_s = secs(*to), "simulated clock jumped ahead");
        }
        Event::Conflict { kept, ignored } => {
            let (kept_s, ignored_s) = (secs(*kept), secs(*ignored));
            warn!(%clock, kept_s, ignored_s, "two publishers of the simulated clock; the first one is followed");
        }
        Event::Lost { last } => {
            let stamps = match tuning.lost {
                Lost::Hold => "nothing with a stamp is published until it is back",
                Lost::Wall => "stamps are wall time until it is back",
                Lost::Extrapolate => "stamps go on as if it did",
            };
            warn!(%clock, last_s = secs(*last), stamps, "simulated clock is silent");
        }
        Event::FellBack => match tuning.fallback {
            Fallback::Exit => error!(%clock, "no simulated clock in time"),
            Fallback::Wall | Fallback::Wait => {
                warn!(%clock, "no simulated clock in time; stamps are wall time from now on");
            }
        },
        Event::Late => {
            warn!(%clock, "a simulated clock came too late and is ignored; restart rostrans to follow it");
        }
        Event::Imprecise { error } => {
            let error_ms = error.as_secs_f64() * 1e3;
            warn!(%clock, error_ms, "simulated clock runs at another speed than time; write 'project: rate'");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn secs(time: RosTime) -> f64 {
    time.ns as f64 / 1e9
}
