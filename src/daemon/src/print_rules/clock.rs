//! Clocks, and the stamps of rules.

use std::time::Duration;

use rostrans_core::{
    clock::{
        Authority, ClockOutput, ClockSource, ClockSpec, Fallback, Implausible, Lost, Project, StampPolicy,
        Stamping,
    },
    rule::{ForwardRule, RosSelector},
};

use super::{Out, scalar};
use crate::load::clocks::ANY;

/// Prints clocks as they stand before the rules; nothing when there are none.
pub(crate) fn clocks(clocks: &[ClockSpec]) -> String {
    let mut out = Out(String::new());
    if !clocks.is_empty() {
        out.line(0, "clocks:");
    }
    clocks.iter().for_each(|each| clock(&mut out, each));
    out.0
}

fn clock(out: &mut Out, clock: &ClockSpec) {
    out.line(2, &format!("- name: {}  # {}", scalar(clock.name.as_str()), clock.origin));
    let source = match &clock.source {
        ClockSource::Topic { adapter, topic } => format!("{{topic: {topic}{}}}", graph(*adapter)),
        ClockSource::Field { rule, link, field } => {
            let link = link.as_ref().map(|link| format!(", link: {}", scalar(link.as_str())));
            let (rule, field) = (scalar(rule.as_str()), scalar(field));
            format!("{{rule: {rule}, field: {field}{}}}", link.unwrap_or_default())
        }
    };
    out.field(4, "source", &source);
    let tuning = &clock.tuning;
    let fallback = match tuning.fallback {
        Fallback::Wall => "wall",
        Fallback::Wait => "wait",
        Fallback::Exit => "fail",
    };
    let lost = match tuning.lost {
        Lost::Hold => "hold",
        Lost::Wall => "wall",
        Lost::Extrapolate => "extrapolate",
    };
    let project = match tuning.project {
        Project::Offset => "offset",
        Project::Rate => "rate",
    };
    out.field(4, "acquire_timeout", &period(tuning.acquire_timeout));
    out.field(4, "fallback", fallback);
    out.field(4, "lost_after", &period(tuning.lost_after));
    out.field(4, "lost", lost);
    out.field(4, "project", project);
    out.field(4, "max_lead", &period(tuning.max_lead));
    if !clock.outputs.is_empty() {
        let outputs: Vec<_> = clock.outputs.iter().map(output).collect();
        out.field(4, "publish", &format!("[{}]", outputs.join(", ")));
    }
}

fn output(output: &ClockOutput) -> String {
    let authority = match output.authority {
        Authority::Refuse => "refuse",
        Authority::Yield => "yield",
        Authority::Force => "force",
    };
    let (topic, rate, adapter) = (&output.topic, output.max_rate.0, graph(output.adapter));
    format!("{{topic: {topic}{adapter}, max_rate: {rate}, authority: {authority}}}")
}

fn graph(adapter: RosSelector) -> String {
    if adapter == RosSelector::All { String::new() } else { format!(", adapter: {}", adapter.as_str()) }
}

/// `clock` and `stamp` of a rule, where they say something.
pub(super) fn stamps(out: &mut Out, rule: &ForwardRule) {
    let any = rule.clock.as_ref().is_some_and(|clock| clock.as_str() == ANY);
    if let Some(clock) = rule.clock.as_ref().filter(|_| !any) {
        out.field(4, "clock", &scalar(clock.as_str()));
    }
    let Stamping { policy, window } = rule.stamping;
    let word = match policy {
        StampPolicy::Receive if any => "sim",
        StampPolicy::Source => "source",
        StampPolicy::Receive => "receive",
        StampPolicy::Now => "now",
        StampPolicy::Passthrough => "passthrough",
        StampPolicy::None => "none",
    };
    match window {
        None if rule.stamping == Stamping::AS_IS => {}
        None => out.field(4, "stamp", word),
        Some(window) => {
            let implausible = match window.implausible {
                Implausible::Receive => "receive",
                Implausible::Drop => "drop",
                Implausible::Keep => "keep",
            };
            let (age, ahead) = (period(window.max_age), period(window.max_ahead));
            let checks = format!("max_age: {age}, max_ahead: {ahead}, implausible: {implausible}");
            out.field(4, "stamp", &format!("{{policy: {word}, {checks}}}"));
        }
    }
}

/// A period that reads back.
fn period(period: Duration) -> String {
    format!("{}s", period.as_secs_f64())
}
