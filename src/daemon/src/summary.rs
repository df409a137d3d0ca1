//! The start-up summary: what listens where, which topics and services there are.

use std::fmt::Write as _;

use rostrans_core::{
    adapter::AdapterInfo,
    registry::CodecRegistry,
    rule::{Direction, ForwardRule, LinkConfig},
    text::printable,
    topic::{ServiceSpec, TopicSpec},
    transport::Framing,
};
use rostrans_engine::topology::{Device, LinkTarget, Topology, TransportId};

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
    if !topology.trimmed.is_empty() {
        let count = topology.trimmed.len();
        let noun = if count == 1 { "name" } else { "names" };
        let _infallible =
            writeln!(text, "{count} {noun} switched off by the filter (--print-rules lists them)");
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

fn topics(topology: &Topology, codecs: &CodecRegistry) -> Table {
    let mut table = Table::new(["TOPIC", "", "TYPE", "QOS", "RULE", "CODEC"]);
    let mut rows: Vec<[String; 6]> = Vec::new();
    for pipeline in &topology.pipelines {
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
    let arrow = if read { "in" } else { "out" };
    [
        topic.name.to_string(),
        arrow.to_owned(),
        topic.msg_type.to_string(),
        qos::in_words(topic.qos),
        rule.rule_id.to_string(),
        codec(link),
    ]
}

fn services(topology: &Topology) -> Table {
    let mut table = Table::new(["SERVICE", "", "TYPE", "RULE", "CODEC"]);
    for pipeline in &topology.pipelines {
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
