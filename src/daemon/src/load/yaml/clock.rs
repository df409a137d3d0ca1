//! Clocks, and the keys of a rule that say which stamps its messages get.

use std::time::Duration;

use rostrans_core::{
    clock::{
        Authority, ClockName, ClockOutput, ClockSource, ClockSpec, Fallback, Implausible, Lost, Project,
        StampPolicy, Stamping, Tuning, Window,
    },
    rule::{Direction, LinkName, RateLimit, RosSelector, RuleId},
    text::excerpt,
    topic::TopicName,
};

use super::{
    fields::{Cx, Fields},
    tree::{Entry, Kind, Node},
    value,
};
use crate::load::clocks::{ANY, CLOCK_TOPIC, WALL};

/// Messages of a published clock a second, unless said otherwise.
const MAX_RATE: RateLimit = RateLimit(250.0);

/// The list under `clocks:`.
pub(super) fn clocks(entry: &Entry, cx: &mut Cx<'_>) -> Vec<ClockSpec> {
    let Kind::List(items) = &entry.value.kind else {
        let message = format!("'clocks' must be a list, not {}", entry.value.describe());
        cx.error(entry.line, message, "begin each clock with '- name: ...'");
        return Vec::new();
    };
    let mut clocks: Vec<ClockSpec> = Vec::new();
    for node in items {
        let Some(clock) = clock(node, cx) else { continue };
        if clocks.iter().any(|other| other.name == clock.name) {
            let message = format!("clock '{}' is given twice", clock.name);
            cx.error(node.line, message, "give each clock its own name");
        }
        clocks.push(clock);
    }
    clocks
}

/// `wall`, or the name of a clock.
pub(super) fn clock_name(entry: &Entry, cx: &mut Cx<'_>) -> Option<ClockName> {
    let text = value::text(entry, cx)?;
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if text.is_empty() || !text.chars().all(good) {
        let message = format!("'{}' is no name of a clock: {}", entry.key, entry.value.describe());
        cx.error(entry.line, message, "use letters, digits, '_', '-' and '.'");
        return None;
    }
    Some(text.into())
}

fn clock(node: &Node, cx: &mut Cx<'_>) -> Option<ClockSpec> {
    let mut fields = Fields::open(node, "a clock", cx)?;
    let name = fields.take("name");
    let origin = cx.origin(name.map_or(fields.line, |entry| entry.line));
    if name.is_none() {
        cx.error(fields.line, "clock without 'name'", "give it a unique name, e.g. 'name: sim'");
    }
    let line = fields.line;
    let name = name.and_then(|entry| clock_name(entry, cx));
    if name.as_ref().is_some_and(|name| name.as_str() == WALL) {
        cx.error(line, "a clock cannot be called 'wall'", "that is the computer's own; choose another name");
    }
    let source = fields.take("source").and_then(|entry| source(entry, cx));
    let tuning = tuning(&mut fields, cx);
    let outputs = fields.take("publish").map(|entry| outputs(entry, cx)).unwrap_or_default();
    let what = name.as_ref().map_or_else(|| "a clock".to_owned(), |name| format!("clock '{name}'"));
    fields.finish(&what, cx);
    let source = source
        .unwrap_or_else(|| ClockSource::Topic { adapter: RosSelector::All, topic: CLOCK_TOPIC.clone() });
    Some(ClockSpec { name: name?, source, tuning, outputs, origin })
}

fn tuning(fields: &mut Fields<'_>, cx: &mut Cx<'_>) -> Tuning {
    let default = Tuning::default();
    let mut period = |key, default: Duration| {
        fields.take(key).and_then(|entry| value::period(entry, cx)).unwrap_or(default)
    };
    let acquire_timeout = period("acquire_timeout", default.acquire_timeout);
    let lost_after = period("lost_after", default.lost_after);
    let max_lead = period("max_lead", default.max_lead);
    let fallback = [("wall", Fallback::Wall), ("wait", Fallback::Wait), ("fail", Fallback::Exit)];
    let lost = [("hold", Lost::Hold), ("wall", Lost::Wall), ("extrapolate", Lost::Extrapolate)];
    let project = [("offset", Project::Offset), ("rate", Project::Rate)];
    Tuning {
        acquire_timeout,
        fallback: choice(fields, "fallback", &fallback, default.fallback, cx),
        lost_after,
        lost: choice(fields, "lost", &lost, default.lost, cx),
        project: choice(fields, "project", &project, default.project, cx),
        max_lead,
    }
}

fn choice<T: Copy>(
    fields: &mut Fields<'_>,
    key: &'static str,
    words: &[(&str, T)],
    default: T,
    cx: &mut Cx<'_>,
) -> T {
    fields.take(key).and_then(|entry| value::choice(entry, words, cx)).unwrap_or(default)
}

/// A topic, or a field of a rule's packets.
fn source(entry: &Entry, cx: &mut Cx<'_>) -> Option<ClockSource> {
    if let Kind::Scalar { .. } = entry.value.kind {
        return Some(ClockSource::Topic { adapter: RosSelector::All, topic: topic(entry, cx)? });
    }
    let mut fields = Fields::open(&entry.value, "'source'", cx)?;
    let (field, rule) = (fields.take("field"), fields.take("rule"));
    let source = match (field, rule) {
        (Some(field), Some(rule)) => {
            let link = fields.take("link").and_then(|entry| value::text(entry, cx));
            let (field, rule) = (value::text(field, cx)?, value::text(rule, cx)?);
            Some(ClockSource::Field {
                rule: RuleId::from(rule),
                link: link.map(LinkName::from),
                field: field.into(),
            })
        }
        (Some(only), None) | (None, Some(only)) => {
            cx.error(
                only.line,
                "'field' and 'rule' go together",
                "name the rule whose packets have the field",
            );
            None
        }
        (None, None) => {
            let topic = fields.take("topic").map(|entry| topic(entry, cx));
            let topic = topic.unwrap_or_else(|| Some(CLOCK_TOPIC.clone()))?;
            Some(ClockSource::Topic { adapter: adapter(&mut fields, cx), topic })
        }
    };
    fields.finish("'source'", cx);
    source
}

fn topic(entry: &Entry, cx: &mut Cx<'_>) -> Option<TopicName> {
    let text = value::text(entry, cx)?;
    match TopicName::parse(text) {
        Ok(name) => Some(name),
        Err(error) => {
            cx.error(entry.line, format!("invalid topic '{}': {error}", excerpt(text)), "write e.g. /clock");
            None
        }
    }
}

fn adapter(fields: &mut Fields<'_>, cx: &mut Cx<'_>) -> RosSelector {
    let entry = fields.take("adapter");
    entry.and_then(|entry| value::choice(entry, &RosSelector::NAMES, cx)).unwrap_or_default()
}

/// A topic, or a list of topics and blocks.
fn outputs(entry: &Entry, cx: &mut Cx<'_>) -> Vec<ClockOutput> {
    let plain = |topic| ClockOutput {
        adapter: RosSelector::All,
        topic,
        max_rate: MAX_RATE,
        authority: Authority::default(),
    };
    match &entry.value.kind {
        Kind::Scalar { .. } => topic(entry, cx).map(plain).into_iter().collect(),
        Kind::List(items) => items.iter().filter_map(|node| output(node, cx)).collect(),
        Kind::Map(_) => output(&entry.value, cx).into_iter().collect(),
    }
}

fn output(node: &Node, cx: &mut Cx<'_>) -> Option<ClockOutput> {
    let mut fields = Fields::open(node, "'publish'", cx)?;
    let topic = fields.take("topic").map(|entry| topic(entry, cx));
    let max_rate = fields.take("max_rate").and_then(|entry| value::rate(entry, cx));
    let words = [("refuse", Authority::Refuse), ("yield", Authority::Yield), ("force", Authority::Force)];
    let output = ClockOutput {
        adapter: adapter(&mut fields, cx),
        topic: topic.unwrap_or_else(|| Some(CLOCK_TOPIC.clone()))?,
        max_rate: max_rate.filter(|rate| *rate > 0.0).map_or(MAX_RATE, RateLimit),
        authority: choice(&mut fields, "authority", &words, Authority::default(), cx),
    };
    fields.finish("'publish'", cx);
    Some(output)
}

/// `clock` and `stamp` of a rule.
pub(super) fn stamps(
    fields: &mut Fields<'_>,
    direction: Option<Direction>,
    cx: &mut Cx<'_>,
) -> (Option<ClockName>, Stamping) {
    let (clock, stamp) = (fields.take("clock"), fields.take("stamp"));
    let stamps = matches!(direction, None | Some(Direction::UdpToRostopic | Direction::SerialToRos));
    if let Some(entry) = clock.or(stamp).filter(|_| !stamps) {
        let message = format!("'{}' in a rule that makes no messages", entry.key);
        cx.error(entry.line, message, "stamps are made by 'udp_to_rostopic' and 'serial_to_ros'; delete it");
        return (None, Stamping::AS_IS);
    }
    let mut clock = clock.and_then(|entry| clock_name(entry, cx));
    let Some(entry) = stamp else { return (clock, Stamping::AS_IS) };
    let (stamping, simulated) = stamping(entry, cx);
    if simulated && clock.as_ref().is_some_and(|name| name.as_str() == WALL) {
        cx.error(entry.line, "'stamp: sim' with 'clock: wall'", "delete one of them");
    } else if simulated && clock.is_none() {
        clock = Some(ANY.into());
    }
    (clock, stamping)
}

/// The policy, and whether it wants a simulated clock.
fn stamping(entry: &Entry, cx: &mut Cx<'_>) -> (Stamping, bool) {
    let words = [
        ("source", (StampPolicy::Source, false)),
        ("receive", (StampPolicy::Receive, false)),
        ("sim", (StampPolicy::Receive, true)),
        ("now", (StampPolicy::Now, false)),
        ("passthrough", (StampPolicy::Passthrough, false)),
        ("none", (StampPolicy::None, false)),
    ];
    let default = (StampPolicy::Source, false);
    if let Kind::Scalar { .. } = entry.value.kind {
        let (policy, simulated) = value::choice(entry, &words, cx).unwrap_or(default);
        return (Stamping::new(policy), simulated);
    }
    let Some(mut fields) = Fields::open(&entry.value, "'stamp'", cx) else { return (Stamping::AS_IS, false) };
    let (policy, simulated) = choice(&mut fields, "policy", &words, default, cx);
    let window = Window::default();
    let checks = ["max_age", "max_ahead", "implausible"].map(|key| fields.take(key));
    if let Some(check) = checks.into_iter().flatten().next().filter(|_| policy != StampPolicy::Source) {
        let message = format!("'{}' with a policy that takes no stamp of the sender's", check.key);
        cx.error(check.line, message, "it checks 'policy: source'; delete it");
    }
    let [max_age, max_ahead, implausible] = checks;
    let mut period = |entry: Option<&Entry>, default: Duration| {
        entry.and_then(|entry| value::period(entry, cx)).unwrap_or(default)
    };
    let (max_age, max_ahead) = (period(max_age, window.max_age), period(max_ahead, window.max_ahead));
    let words = [("receive", Implausible::Receive), ("drop", Implausible::Drop), ("keep", Implausible::Keep)];
    let implausible = implausible.and_then(|entry| value::choice(entry, &words, cx)).unwrap_or_default();
    fields.finish("'stamp'", cx);
    let window = Window { max_age, max_ahead, implausible };
    let window = (policy == StampPolicy::Source).then_some(window);
    (Stamping { policy, window }, simulated)
}
