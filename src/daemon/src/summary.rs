//! The start-up summary: what listens where, which topics and services there are.

use std::fmt::Write as _;

use rostrans_core::{
    adapter::AdapterInfo,
    registry::CodecRegistry,
    rule::{Direction, Ends, ForwardRule, LinkConfig},
    text::printable,
    topic::{ServiceSpec, TopicSpec},
    transport::Framing,
};
use rostrans_engine::topology::{Device, LinkTarget, PipelineSpec, Topology, TransportId};

use crate::{qos, table::Table};

/// How a socket or port does.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortState {
    /// One or a few words: `open`, `waiting`.
    pub(crate) short: String,
    /// Why it does not work, if it does not.
    pub(crate) reason: Option<String>,
}

/// Reasons that are spelt out; a host that lacks one thing often lacks it for every port.
pub(crate) const MAX_REASONS: usize = 10;

/// Prints a topology for people. `states` has one entry for each transport.
pub(crate) fn print(
    topology: &Topology,
    codecs: &CodecRegistry,
    adapters: &[AdapterInfo],
    states: &[PortState],
) -> String {
    let mut text = String::new();
    for adapter in adapters {
        let _infallible = writeln!(text, "ROS: {} ({})", adapter.name, adapter.summary);
    }
    if adapters.is_empty() {
        text.push_str("ROS: not needed\n");
    }
    section(&mut text, "bytes", &transports(topology, states));
    reasons(&mut text, topology, states);
    section(&mut text, "topics", &topics(topology, codecs));
    section(&mut text, "services", &services(topology));
    section(&mut text, "rules with many names (--print-rules lists them)", &crowded(topology, codecs));
    if !topology.trimmed.is_empty() {
        let count = topology.trimmed.len();
        let noun = if count == 1 { "name" } else { "names" };
        let _infallible =
            writeln!(text, "{count} {noun} switched off by the filter (--print-rules lists them)");
    }
    if let Some(first) = topology.absent.first() {
        let count = topology.absent.len();
        let noun = if count == 1 { "name is" } else { "names are" };
        let gone = if first.ros2 { "in ROS 2 alone" } else { "left out" };
        let _infallible = writeln!(
            text,
            "{count} {noun} {gone}, as ROS 1 does not have their type (--print-rules lists them)"
        );
    }
    if !topology.disabled.is_empty() {
        let ids: Vec<_> = topology.disabled.iter().map(ToString::to_string).collect();
        let _infallible = writeln!(text, "disabled rules: {}", ids.join(", "));
    }
    text
}

fn section(text: &mut String, title: &str, table: &Table) {
    if !table.is_empty() {
        let _infallible = write!(text, "{title}\n{table}");
    }
}

/// Why ports do not work, below the table: a reason is wider than any column.
fn reasons(text: &mut String, topology: &Topology, states: &[PortState]) {
    let failed = |state: &PortState| Some((state.short.clone(), state.reason.clone()?));
    let ports = topology.transports.iter().zip(states);
    let failed: Vec<_> = ports.filter_map(|(port, state)| Some((&port.device, failed(state)?))).collect();
    for (device, (state, reason)) in failed.iter().take(MAX_REASONS) {
        let line = format!("{device} is {state}: {reason}");
        let _infallible = writeln!(text, "  {}", printable(&line));
    }
    if let Some(more @ 1..) = failed.len().checked_sub(MAX_REASONS) {
        let _infallible = writeln!(text, "  and {more} more");
    }
}

fn transports(topology: &Topology, states: &[PortState]) -> Table {
    let mut table = Table::new(["PORT", "STATE", "FRAMING", "USED BY"]);
    for (index, transport) in topology.transports.iter().enumerate() {
        let id = TransportId(index);
        let readers = topology.pipelines.iter().filter(|pipeline| {
            let target = Some(LinkTarget::Serial(id));
            pipeline.source == Some(id) || pipeline.targets.contains(&target)
        });
        let mut users: Vec<String> = readers.map(|pipeline| pipeline.rule.rule_id.to_string()).collect();
        for hub in topology.hubs.iter().filter(|hub| hub.stations == id || hub.vehicles.contains(&id)) {
            let of_stations = hub.stations == id;
            let rules = hub.rules.iter().zip(&hub.vehicles).filter(|(_, v)| of_stations || **v == id);
            for (rule, _) in rules {
                let user = if of_stations { format!("{rule} (ground stations)") } else { rule.to_string() };
                if !users.contains(&user) {
                    users.push(user);
                }
            }
        }
        let framing = if users.is_empty() { "-" } else { describe(transport.framing) };
        if let Some(route) = &transport.route {
            let ends: Vec<_> = route.endpoints.iter().map(ToString::to_string).collect();
            let upstream = route.upstream.map(|addr| format!(", answers at {addr}")).unwrap_or_default();
            users.push(format!("{} -> {}{upstream}", route.rule_id, ends.join(" ")));
        }
        let device = match &transport.device {
            Device::Udp(bind) if !bind.multicast_if.is_empty() => {
                format!("{} via {}", transport.device, bind.multicast_if)
            }
            device => device.to_string(),
        };
        let state = states.get(index).map(|state| state.short.clone()).unwrap_or_default();
        table.row([device, state, framing.to_owned(), users.join(", ")]);
    }
    table
}

fn describe(framing: Framing) -> &'static str {
    match framing {
        Framing::Datagram => "datagram",
        Framing::Mavlink => "MAVLink",
    }
}

/// Rules with more names than this have a line instead of a line for each name.
const MANY_NAMES: usize = 40;

/// Whether a rule has so many topics and services that a list of them would hide everything else.
fn is_crowded(pipeline: &&PipelineSpec) -> bool {
    let names = |link: &LinkConfig| {
        link.ports.len()
            + link.services.len()
            + usize::from(link.topic.is_some())
            + usize::from(link.service.is_some())
    };
    pipeline.rule.links.iter().map(names).sum::<usize>() > MANY_NAMES
}

fn crowded(topology: &Topology, codecs: &CodecRegistry) -> Table {
    let mut table = Table::new(["RULE", "TOPICS OUT", "TOPICS IN", "SERVICES", "NAMES"]);
    for pipeline in topology.pipelines.iter().filter(is_crowded) {
        let rule = &pipeline.rule;
        let (mut sent, mut read, mut services) = (0, 0, 0);
        let mut roots: Vec<String> = Vec::new();
        let mut note = |name: &str| {
            let root = name.split('/').nth(1).unwrap_or_default();
            let root = format!("/{root}{}", if name.matches('/').count() > 1 { "/..." } else { "" });
            if !roots.contains(&root) {
                roots.push(root);
            }
        };
        for link in &rule.links {
            for (topic, is_read) in link_topics(rule, link, codecs) {
                *(if is_read { &mut read } else { &mut sent }) += 1;
                note(topic.name.as_str());
            }
            for (service, _) in link_services(rule, link) {
                services += 1;
                note(service.name.as_str());
            }
        }
        table.row([
            rule.rule_id.to_string(),
            sent.to_string(),
            read.to_string(),
            services.to_string(),
            roots.join(" "),
        ]);
    }
    table
}

fn topics(topology: &Topology, codecs: &CodecRegistry) -> Table {
    let mut table = Table::new(["TOPIC", "", "TYPE", "QOS", "RULE", "CODEC"]);
    let mut rows: Vec<[String; 6]> = Vec::new();
    for pipeline in topology.pipelines.iter().filter(|pipeline| !is_crowded(pipeline)) {
        for link in &pipeline.rule.links {
            for (topic, read) in link_topics(&pipeline.rule, link, codecs) {
                rows.push(topic_row(&pipeline.rule, link, topic, read));
            }
        }
    }
    rows.sort();
    rows.into_iter().for_each(|row| table.row(row));
    table
}

/// The topics of a link, and whether it reads them.
pub(crate) fn link_topics<'a>(
    rule: &'a ForwardRule,
    link: &'a LinkConfig,
    codecs: &'a CodecRegistry,
) -> impl Iterator<Item = (&'a TopicSpec, bool)> {
    let reads = matches!(rule.direction, Direction::RostopicToUdp | Direction::RosToSerial);
    let codec = link.codec.as_ref().and_then(|name| codecs.get(name.as_str()));
    let is_input = move |name: &str| codec.is_some_and(|codec| codec.info().reads(name));
    let ports = link.ports.iter().map(move |(name, topic)| (topic, reads || is_input(name.as_str())));
    link.topic.iter().map(move |topic| (topic, reads)).chain(ports)
}

fn topic_row(rule: &ForwardRule, link: &LinkConfig, topic: &TopicSpec, read: bool) -> [String; 6] {
    let arrow = if rule.direction == Direction::RostopicToRostopic {
        let Ends { from, to } = rule.ends;
        let there = link.to_topic.iter().map(|name| format!(" {name}"));
        format!("{} -> {}{}", from.as_str(), to.as_str(), there.collect::<String>())
    } else if read {
        "in".to_owned()
    } else {
        "out".to_owned()
    };
    [
        topic.name.to_string(),
        arrow,
        topic.msg_type.to_string(),
        if link.qos_as_offered { "as offered".to_owned() } else { qos::in_words(topic.qos) },
        rule.rule_id.to_string(),
        codec(link),
    ]
}

fn services(topology: &Topology) -> Table {
    let mut table = Table::new(["SERVICE", "", "TYPE", "RULE", "CODEC"]);
    for pipeline in topology.pipelines.iter().filter(|pipeline| !is_crowded(pipeline)) {
        for link in &pipeline.rule.links {
            for (service, called) in link_services(&pipeline.rule, link) {
                let role = if called { "called" } else { "offered" };
                table.row([
                    service.name.to_string(),
                    role.to_owned(),
                    service.srv_type.to_string(),
                    pipeline.rule.rule_id.to_string(),
                    codec(link),
                ]);
            }
        }
    }
    table
}

/// The services of a link, and whether it calls them.
pub(crate) fn link_services<'a>(
    rule: &ForwardRule,
    link: &'a LinkConfig,
) -> impl Iterator<Item = (&'a ServiceSpec, bool)> {
    let calls = rule.direction == Direction::UdpToRosservice;
    let answered = link.services.values().map(|service| (service, false));
    link.service.iter().map(move |service| (service, calls)).chain(answered)
}

fn codec(link: &LinkConfig) -> String {
    link.codec.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rostrans_core::{
        diag::Origin,
        topic::{Qos, TopicName},
    };
    use rostrans_schema::TypeName;

    use super::*;

    /// A rule that publishes `names`, each from a link of its own.
    fn rule(id: &str, names: &[String]) -> PipelineSpec {
        let mut rule = ForwardRule::new(id, Direction::UdpToRostopic, Origin::Default);
        rule.links = names
            .iter()
            .map(|name| LinkConfig {
                topic: Some(TopicSpec {
                    name: TopicName::parse(name).unwrap(),
                    msg_type: TypeName::message("std_msgs/msg/String").unwrap(),
                    qos: Qos::reliable(),
                }),
                ..LinkConfig::new("link", Some("string".into()), Origin::Default)
            })
            .collect();
        let targets = vec![None; names.len()];
        PipelineSpec { rule: Arc::new(rule), source: None, targets }
    }

    #[test]
    fn rule_with_many_names_does_not_hide_the_others() {
        let many: Vec<String> = (0..50).map(|i| format!("/mavros/t{i}")).chain(["/tf".to_owned()]).collect();
        let topology = Topology {
            pipelines: vec![rule("mavros_1", &many), rule("mine", &["/chatter".to_owned()])],
            ..Topology::default()
        };
        insta::assert_snapshot!(print(&topology, &rostrans_codecs::builtin(), &[], &[]), @r"
        ROS: not needed
        topics
          TOPIC          TYPE                 QOS       RULE  CODEC
          /chatter  out  std_msgs/msg/String  reliable  mine  string
        rules with many names (--print-rules lists them)
          RULE      TOPICS OUT  TOPICS IN  SERVICES  NAMES
          mavros_1  51          0          0         /mavros/... /tf
        ");
    }
}
