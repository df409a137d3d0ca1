//! Rules to [`Topology`]: check, trim, merge. Pure; opens nothing.
//!
//! ```text
//! rules --check--> problems
//!       --trim(filter)--> rules that still have something to do
//!       --ros1--> the same without what a module has for ROS 2 alone, where only ROS 1 is joined
//!       --loops--> problems of what would come back for ever
//!       --merge--> one transport per socket or port, pipelines and routes bound to it
//! ```
//!
//! All problems of all rules are reported at once. Problems of a rule with `enable: false` are warnings.

mod binding;
mod bridge;
mod check;
mod loops;
mod merge;
mod ros1;
mod trim;

use std::{collections::HashMap, net::IpAddr, sync::Arc};

use rostrans_core::{
    adapter::Fabric,
    diag::{Diagnostic, Origin, Severity},
    filter::TopicFilter,
    registry::CodecRegistry,
    rule::ForwardRule,
    text::excerpt,
};
use rostrans_schema::TypeRegistry;

use crate::topology::Topology;

/// What rules are planned against.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// The blacklist.
    pub filter: &'a TopicFilter,
    /// The codecs rules may name.
    pub codecs: &'a CodecRegistry,
    /// The types topics and services may have.
    pub types: &'a Arc<TypeRegistry>,
    /// The graphs that this run joins.
    pub adapters: &'a [Fabric],
    /// The addresses of this machine's interfaces; what is sent there may come back.
    pub own_addresses: &'a [IpAddr],
}

/// A plan without errors.
#[derive(Debug)]
pub struct Planned {
    /// What to start.
    pub topology: Topology,
    /// Worth telling.
    pub warnings: Vec<Diagnostic>,
}

/// Plans a run.
///
/// **Errors**: every problem found, warnings included, in the order of the rules.
pub fn plan(rules: Vec<ForwardRule>, cx: &PlanContext<'_>) -> Result<Planned, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    duplicates(&rules, &mut problems);
    for rule in &rules {
        let mut found = Vec::new();
        check::rule(rule, cx, &mut found);
        if !rule.enable {
            found.iter_mut().for_each(|problem| problem.severity = Severity::Warning);
        }
        problems.append(&mut found);
    }
    check::names(&rules, &mut problems);
    bridge::own_topics(&rules, cx, &mut problems);
    let (enabled, disabled): (Vec<_>, Vec<_>) = rules.into_iter().partition(|rule| rule.enable);
    let mut topology =
        Topology { disabled: disabled.into_iter().map(|rule| rule.rule_id).collect(), ..Topology::default() };
    let kept = enabled.into_iter().filter_map(|rule| trim::rule(rule, cx.filter, &mut topology.trimmed));
    let mut known = ros1::Known::default();
    let kept = kept.filter_map(|rule| ros1::rule(rule, cx, &mut known, &mut topology.absent, &mut problems));
    let kept: Vec<ForwardRule> = kept.collect();
    loops::find(&kept, cx.codecs, cx.own_addresses, &mut problems);
    merge::rules(kept, cx.codecs, &mut topology, &mut problems);
    if problems.iter().any(Diagnostic::is_error) {
        return Err(problems);
    }
    Ok(Planned { topology, warnings: problems })
}

/// The answer to a codec name that is not registered.
pub fn unknown_codec(codecs: &CodecRegistry, name: &str, origin: Origin) -> Diagnostic {
    let help = codecs.nearest(name).map_or_else(
        || "see --list-codecs".to_owned(),
        |near| format!("did you mean '{near}'? see --list-codecs"),
    );
    Diagnostic::error(origin, format!("unknown codec '{}'", excerpt(name)), help)
}

/// A rule_id names one rule in logs and statistics.
fn duplicates(rules: &[ForwardRule], problems: &mut Vec<Diagnostic>) {
    let mut first: HashMap<&str, &ForwardRule> = HashMap::new();
    for rule in rules {
        if let Some(earlier) = first.get(rule.rule_id.as_str()) {
            let message = format!("rule_id '{}' is taken by the rule at {}", rule.rule_id, earlier.origin);
            let help = "give each rule its own rule_id";
            // One of two switched off is how people keep a variant at hand.
            let problem = if rule.enable && earlier.enable {
                Diagnostic::error(rule.origin.clone(), message, help)
            } else {
                Diagnostic::warning(rule.origin.clone(), message, help)
            };
            problems.push(problem);
        } else {
            first.insert(rule.rule_id.as_str(), rule);
        }
    }
}

#[cfg(test)]
mod tests;
