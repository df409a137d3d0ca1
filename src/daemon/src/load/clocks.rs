//! Which clock each rule's stamps are of.
//!
//! Files name clocks (`clocks:`, `default_clock:`, a rule's `clock:`); `use_sim_time` and its variable stand for the
//! usual case, one clock on `/clock` for all.

use std::sync::LazyLock;

use rostrans_core::{
    adapter::Fabric,
    clock::{ClockName, ClockSource, ClockSpec, StampPolicy, Stamping, Tuning},
    codec::Codec,
    diag::{Diagnostic, Origin},
    param::Settings,
    registry::CodecRegistry,
    rule::{Direction, ForwardRule, RosSelector},
    suggest::did_you_mean,
    text,
    topic::TopicName,
};

use super::Env;

/// What files say about clocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) clocks: Vec<ClockSpec>,
    pub(super) default: Option<(ClockName, Origin)>,
}

/// The computer's own clock.
pub(super) const WALL: &str = "wall";

/// Stands for the only clock there is, until rules are resolved.
pub(crate) const ANY: &str = "*";

/// Where simulators publish their time.
pub(super) static CLOCK_TOPIC: LazyLock<TopicName> =
    LazyLock::new(|| TopicName::parse("/clock").expect("invariant: a valid name"));

/// The variable beside the parameter `use_sim_time`.
const VARIABLE: &str = "ROSTRANS_USE_SIM_TIME";

impl Said {
    /// Adds what another file says.
    pub(super) fn add(&mut self, mut more: Self, problems: &mut Vec<Diagnostic>) {
        for clock in &more.clocks {
            if self.clocks.iter().any(|other| other.name == clock.name) {
                let message = format!("clock '{}' is given in another file, too", clock.name);
                problems.push(Diagnostic::error(clock.origin.clone(), message, "delete one of them"));
            }
        }
        self.clocks.append(&mut more.clocks);
        match (&self.default, more.default) {
            (None, default) => self.default = default,
            (Some((name, _)), Some((other, origin))) if *name != other => {
                let message = format!("'default_clock: {other}', but another file says '{name}'");
                problems.push(Diagnostic::error(origin, message, "delete one of them"));
            }
            _ => {}
        }
    }

    /// Gives each rule its clock; returns those that are used, or published.
    pub(super) fn resolve(
        mut self,
        settings: &Settings,
        env: Env<'_>,
        codecs: &CodecRegistry,
        rules: &mut [ForwardRule],
        problems: &mut Vec<Diagnostic>,
    ) -> Vec<ClockSpec> {
        let default = self.default_clock(settings, env, problems);
        for rule in rules.iter_mut() {
            self.give(rule, default.as_ref(), problems);
        }
        for clock in &mut self.clocks {
            source(clock, rules, codecs, problems);
        }
        let used = |clock: &ClockSpec| rules.iter().any(|rule| rule.clock.as_ref() == Some(&clock.name));
        self.clocks.retain(|clock| used(clock) || !clock.outputs.is_empty());
        self.clocks
    }

    /// The clock of rules that name none.
    fn default_clock(
        &mut self,
        settings: &Settings,
        env: Env<'_>,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<ClockName> {
        let asked = asked(settings, env, problems);
        let mut error = |origin: &Origin, message: String, help: String| {
            problems.push(Diagnostic::error(origin.clone(), message, help));
        };
        match (asked, &self.default, self.clocks.as_slice()) {
            (Some(origin), Some((name, _)), _) if name.as_str() == WALL => {
                let message = "simulated time is asked for, but 'default_clock' is 'wall'".to_owned();
                error(&origin, message, "change one of them".to_owned());
                None
            }
            (_, Some((name, _)), _) if name.as_str() == WALL => None,
            (_, Some((name, origin)), clocks) => {
                if !clocks.iter().any(|clock| clock.name == *name) {
                    let message = format!("'default_clock' names the clock '{name}', which is not there");
                    error(origin, message, self.names(name));
                }
                Some(name.clone())
            }
            (Some(origin), None, []) => {
                let source = ClockSource::Topic { adapter: RosSelector::All, topic: CLOCK_TOPIC.clone() };
                let (tuning, outputs) = (Tuning::default(), Vec::new());
                self.clocks.push(ClockSpec { name: "sim".into(), source, tuning, outputs, origin });
                Some("sim".into())
            }
            (Some(_), None, [only]) => Some(only.name.clone()),
            (Some(origin), None, [_, _, ..]) => {
                let message = "simulated time is asked for, and there are several clocks".to_owned();
                error(&origin, message, "say which with 'default_clock'".to_owned());
                None
            }
            (None, None, _) => None,
        }
    }

    fn give(&self, rule: &mut ForwardRule, default: Option<&ClockName>, problems: &mut Vec<Diagnostic>) {
        if !stamps(rule) {
            return;
        }
        let mut error = |message: String, help: String| {
            problems.push(Diagnostic::error(rule.origin.clone(), message, help));
        };
        rule.clock = match (rule.clock.take(), self.clocks.as_slice()) {
            (None, _) => default.cloned(),
            (Some(name), _) if name.as_str() == WALL => None,
            (Some(name), clocks) if name.as_str() == ANY => {
                if let Some(clock) = default.or(match clocks {
                    [only] => Some(&only.name),
                    _ => None,
                }) {
                    Some(clock.clone())
                } else {
                    let message =
                        format!("rule '{}' wants simulated time, but no clock is chosen", rule.rule_id);
                    let help = "name one with 'clock', or start with 'use_sim_time=true'";
                    error(message, help.to_owned());
                    None
                }
            }
            (Some(name), clocks) => {
                if !clocks.iter().any(|clock| clock.name == name) {
                    let message =
                        format!("rule '{}' names the clock '{name}', which is not there", rule.rule_id);
                    error(message, self.names(&name));
                }
                Some(name)
            }
        };
        if rule.clock.is_some() && rule.stamping == Stamping::AS_IS {
            // Wall time in a simulated graph is a mistake that tf2 never forgives.
            rule.stamping = Stamping::new(StampPolicy::Source);
        }
    }

    fn names(&self, name: &ClockName) -> String {
        let names = || self.clocks.iter().map(|clock| clock.name.as_str());
        let all = names().chain([WALL]).collect::<Vec<_>>().join(", ");
        did_you_mean(name.as_str(), names(), format!("there are: {all}"))
    }
}

/// Whether a rule makes messages.
fn stamps(rule: &ForwardRule) -> bool {
    matches!(rule.direction, Direction::UdpToRostopic | Direction::SerialToRos)
}

/// Where simulated time is asked for, if it is.
fn asked(settings: &Settings, env: Env<'_>, problems: &mut Vec<Diagnostic>) -> Option<Origin> {
    let origin = settings.origin("use_sim_time");
    if origin != Origin::Default {
        return settings.flag("use_sim_time").then_some(origin);
    }
    let value = env(VARIABLE)?;
    match text::boolean(&value) {
        Some(on) => on.then_some(Origin::Environment),
        None => {
            let message = format!("{VARIABLE}: invalid value '{}'", text::excerpt(&value));
            problems.push(Diagnostic::error(Origin::Environment, message, "write 1 or 0"));
            None
        }
    }
}

/// Checks that a clock's field is there, and fixes on one link.
fn source(
    clock: &mut ClockSpec,
    rules: &[ForwardRule],
    codecs: &CodecRegistry,
    problems: &mut Vec<Diagnostic>,
) {
    let ClockSource::Field { rule: id, link, field } = &mut clock.source else { return };
    let mut error = |message: String, help: &str| {
        problems.push(Diagnostic::error(clock.origin.clone(), message, help));
    };
    let Some(rule) = rules.iter().find(|rule| rule.rule_id == *id && stamps(rule)) else {
        let message = format!("clock '{}': no rule '{id}' that decodes packets", clock.name);
        return error(message, "name a rule 'udp_to_rostopic' or 'serial_to_ros'");
    };
    let links = rule.links.iter().filter(|each| link.as_ref().is_none_or(|name| *name == each.link_name));
    let told = links.filter_map(|link| {
        let codec = codecs.get(link.codec.as_ref()?.as_str())?;
        Some((link, Codec::clock_field(&**codec)?))
    });
    let told: Vec<_> = told.collect();
    if let Some((first, _)) = told.iter().find(|(_, name)| *name == &**field) {
        *link = Some(first.link_name.clone());
    } else {
        let known: Vec<&str> = told.iter().map(|(_, name)| *name).collect();
        let field = text::excerpt(field);
        let message =
            format!("clock '{}': no codec of rule '{id}' tells a time called '{field}'", clock.name);
        let help = if known.is_empty() {
            "'runnedTime' of 'coptersim.truth' is one".to_owned()
        } else {
            format!("there is: {}", known.join(", "))
        };
        error(message, &help);
    }
}

/// Checks that clocks have graphs to come from and go to.
pub(crate) fn check_graphs(clocks: &[ClockSpec], joined: &[Fabric], problems: &mut Vec<Diagnostic>) {
    let first = |selector: RosSelector| {
        joined.iter().copied().find(|fabric| selector.means(fabric.as_str(), fabric.version()))
    };
    for clock in clocks {
        let from = match &clock.source {
            ClockSource::Topic { adapter, topic } => Some((*adapter, topic)),
            ClockSource::Field { .. } => None,
        };
        let to = clock.outputs.iter().map(|output| (output.adapter, &output.topic));
        for (selector, _) in from.into_iter().chain(to.clone()) {
            if first(selector).is_none() {
                let message = format!("clock '{}': no {} adapter runs", clock.name, selector.as_str());
                let help = "change its 'adapter', or ros_version and ros2_transport";
                problems.push(Diagnostic::error(clock.origin.clone(), message, help));
            }
        }
        let place = |(selector, topic): (RosSelector, &TopicName)| (first(selector), topic.clone());
        if from.is_some_and(|from| to.clone().any(|to| place(to) == place(from))) {
            let message = format!("clock '{}' is published where it comes from", clock.name);
            problems.push(Diagnostic::error(
                clock.origin.clone(),
                message,
                "publish it on another adapter or topic",
            ));
        }
    }
}

#[cfg(test)]
mod tests;
