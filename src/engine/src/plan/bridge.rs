//! Checks of `rostopic_to_rostopic`.

use std::collections::HashMap;

use rostrans_core::{
    adapter::{Fabric, RosVersion},
    codec::Role,
    diag::Diagnostic,
    rule::{Direction, Ends, ForwardRule, LinkConfig, RosSelector, Source},
    text::chain,
    topic::TopicName,
};

use super::{PlanContext, check};

/// Whether a selector means a graph.
fn means(selector: RosSelector, graph: Fabric) -> bool {
    selector.means(graph.as_str(), graph.version())
}

/// Checks a rule that carries topics from graph to graph.
pub(super) fn rule(rule: &ForwardRule, cx: &PlanContext<'_>, problems: &mut Vec<Diagnostic>) {
    let mut complain = |problem: &str, help: &str| check::complain(rule, problem, help, problems);
    let Ends { from, to } = rule.ends;
    let pairs = |a: &Fabric| cx.adapters.iter().any(|b| a != b && means(from, *a) && means(to, *b));
    if rule.ros_version != RosSelector::All {
        complain(
            "names 'ros_version'",
            "write 'from' and 'to' for the two graphs, or neither for all of them",
        );
    }
    if rule.source != Source::None || rule.upstream.is_some() {
        complain(
            "listens on a socket or port, but carries topics alone",
            "delete it, or choose another direction",
        );
    }
    if !cx.adapters.iter().any(pairs) {
        let joined: Vec<_> = cx.adapters.iter().map(|graph| graph.as_str()).collect();
        let problem = format!(
            "carries from {} to {}, but rostrans has joined {}",
            from.as_str(),
            to.as_str(),
            if joined.is_empty() { "no graph".to_owned() } else { joined.join(" and ") }
        );
        let help = "join both graphs: ros_version=all for ROS 1 and ROS 2, ros2_transport=dds,zenoh for both of those";
        complain(&problem, help);
    }
    let both_ends = |graph: &&Fabric| means(from, **graph) && means(to, **graph);
    let both_ways = cx.adapters.iter().filter(both_ends).count() > 1;
    let of_ros2 = |graph: &&Fabric| graph.version() == RosVersion::Ros2;
    let needs_ros1 = !cx
        .adapters
        .iter()
        .filter(of_ros2)
        .any(|a| cx.adapters.iter().filter(of_ros2).any(|b| a != b && means(from, *a) && means(to, *b)));
    for link in &rule.links {
        self::link(rule, link, (both_ways, needs_ros1), cx, problems);
    }
}

fn link(
    rule: &ForwardRule,
    link: &LinkConfig,
    (both_ways, needs_ros1): (bool, bool),
    cx: &PlanContext<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut error = |what: &str, help: &str| {
        let message = format!("{}: {what}", check::place(rule, link));
        problems.push(Diagnostic::error(link.origin.clone(), message, help));
    };
    match &link.topic {
        None => error("carries no topic", "add 'topic' and 'msg_type'"),
        Some(topic) => {
            if let Err(unknown) = cx.types.message(&topic.msg_type) {
                error(&format!("topic '{}': {}", topic.name, chain(&unknown)), "");
            } else if needs_ros1 && let Err(other) = cx.types.paired_message(&topic.msg_type) {
                error(&format!("topic '{}' cannot be in ROS 1: {}", topic.name, chain(&other)), "");
            }
        }
    }
    if link.codec.is_some() || !link.options.0.is_empty() {
        error("has 'codec' or 'options', but messages pass as they are", "delete them");
    }
    if link.service.is_some() || !link.services.is_empty() || !link.ports.is_empty() {
        error("has a service or 'ports', but a link carries one topic", "make one link for each topic");
    }
    if link.target.is_some() {
        error("sends to a socket or port", "delete it, or choose another direction");
    }
    if link.to_topic.is_some() && both_ways {
        let help = "write 'from' and 'to' in the rule, and a second rule for the way back";
        error("has 'to_topic', but the rule carries both ways", help);
    }
}

/// Warns of topics that this rostrans publishes itself and is told to carry on: those stay where they are.
pub(super) fn own_topics(rules: &[ForwardRule], cx: &PlanContext<'_>, problems: &mut Vec<Diagnostic>) {
    let mut published: HashMap<&TopicName, &ForwardRule> = HashMap::new();
    for rule in rules.iter().filter(|rule| rule.enable && check::role(rule.direction) == Some(Role::Decode)) {
        for link in &rule.links {
            let codec = link.codec.as_ref().and_then(|name| cx.codecs.get(name.as_str()));
            let reads = |port: &str| codec.is_some_and(|codec| codec.info().reads(port));
            let ports = link.ports.iter().filter(|(port, _)| !reads(port.as_str())).map(|(_, topic)| topic);
            published.extend(link.topic.iter().chain(ports).map(|topic| (&topic.name, rule)));
        }
    }
    for rule in rules.iter().filter(|rule| rule.enable && rule.direction == Direction::RostopicToRostopic) {
        for link in &rule.links {
            let Some((topic, by)) =
                link.topic.as_ref().and_then(|topic| published.get_key_value(&topic.name))
            else {
                continue;
            };
            let message = format!(
                "{}: topic '{topic}' is published by rule '{}' of this rostrans, whose messages are not carried",
                check::place(rule, link),
                by.rule_id
            );
            let help = format!("let rule '{}' publish to every graph: ros_version: all", by.rule_id);
            problems.push(Diagnostic::warning(link.origin.clone(), message, help));
        }
    }
}
