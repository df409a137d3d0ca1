//! A graph for people.

use std::fmt::Write as _;

use rostrans_adapter_dds::{
    Discovery,
    graph::{EndpointInfo, Graph, Misfit, Place, Service, Topic, describe, gid},
};
use rostrans_core::{suggest::nearest, text::printable};

use super::select::{Selected, Selection, What};
use crate::{
    network::{place, ports},
    table::Table,
};

/// The selection as text.
pub(super) fn print(selected: &Selected<'_>, discovery: &Discovery) -> String {
    let selection = selected.selection;
    let mut page = Page::default();
    if selection.name.is_some() || selection.verbose && selection.what != What::Everything {
        details(selected, &mut page);
    } else {
        if selection.what == What::Everything {
            page.line(0, &headline(selected.graph, discovery));
        }
        tables(selected, &mut page);
    }
    misfits(selected, &mut page);
    if selected.graph.unchecked > 0 {
        let many = selected.graph.unchecked;
        page.section(&format!("{many} endpoints were not compared: too many different ones on one topic"));
    }
    page.0
}

/// Text made of indented lines; whatever came over the network is made harmless.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, indent: usize, text: &str) {
        let _infallible = writeln!(self.0, "{:indent$}{}", "", printable(text).trim_end());
    }

    fn section(&mut self, title: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.line(0, title);
    }

    fn table(&mut self, title: &str, table: &Table) {
        if !table.is_empty() {
            self.section(title);
            self.0 += &table.to_string();
        }
    }
}

fn headline(graph: &Graph, discovery: &Discovery) -> String {
    let mut vendors: Vec<(&str, usize)> = Vec::new();
    for vendor in graph.participants.iter().map(rostrans_adapter_dds::graph::ParticipantInfo::vendor) {
        match vendors.iter_mut().find(|(name, _)| *name == vendor) {
            Some((_, many)) => *many += 1,
            None => vendors.push((vendor, 1)),
        }
    }
    let vendors: Vec<_> = vendors.iter().map(|(name, many)| format!("{many} {name}")).collect();
    let many = graph.participants.len();
    let noun = if many == 1 { "participant" } else { "participants" };
    format!("{}: {many} {noun} ({})", place(discovery), vendors.join(", "))
}

fn tables(selected: &Selected<'_>, page: &mut Page) {
    let selection = selected.selection;
    if selection.what == What::Participants {
        page.table("participants", &participants(selected));
    }
    let mut nodes = Table::new(["NODE", "PUBLISHES", "SUBSCRIBES", "SERVES", "CALLS", "ON"]);
    for index in &selected.nodes {
        let Some(node) = selected.node(*index) else { continue };
        let mut counts = [0_usize; 4];
        for endpoint in selected.endpoints_of(*index) {
            let column = match (endpoint.place, endpoint.is_writer) {
                (Place::Topic, true) => 0,
                (Place::Topic, false) => 1,
                (Place::Request, false) => 2,
                (Place::Reply, false) => 3,
                _ => continue,
            };
            if let Some(count) = counts.get_mut(column) {
                *count += 1;
            }
        }
        let [publishes, subscribes, serves, calls] = counts.map(|count| count.to_string());
        nodes.row([node.full_name(), publishes, subscribes, serves, calls, home(selected, *index)]);
    }
    page.table("nodes", &nodes);
    topics("topics", ["TOPIC", "TYPE", "PUBLISHERS", "SUBSCRIBERS"], &selected.topics, page);
    topics("DDS topics", ["DDS TOPIC", "TYPE", "WRITERS", "READERS"], &selected.dds_topics, page);
    let (mut services, mut of_parameters) = (Table::new(["SERVICE", "TYPE", "SERVERS", "CLIENTS"]), 0);
    for service in &selected.services {
        // Seven for each node, which nobody looks for in the summary.
        let usual = service.types.iter().all(|name| name.starts_with("rcl_interfaces/"));
        if usual && selection.what == What::Everything && !selection.all {
            of_parameters += 1;
            continue;
        }
        let counts = [service.servers.len(), service.clients.len()].map(|many| many.to_string());
        let [servers, clients] = counts;
        services.row([service.name.to_owned(), service.types.join(", "), servers, clients]);
    }
    page.table("services", &services);
    if of_parameters > 0 {
        let also = if services.is_empty() { "" } else { "and " };
        page.section(&format!(
            "{also}{of_parameters} services of parameters; 'rostrans graph services' lists them"
        ));
    }
    let mut actions = Table::new(["ACTION", "TYPE", "SERVERS", "CLIENTS"]);
    for action in &selected.actions {
        let [servers, clients] = [&action.servers, &action.clients].map(|side| side.len().to_string());
        actions.row([action.name.to_owned(), action.types.join(", "), servers, clients]);
    }
    page.table("actions", &actions);
    if selection.what == What::Everything {
        let bare: Vec<_> = selected.graph.participants.iter().filter(|p| !p.lists_nodes).collect();
        if !bare.is_empty() {
            let mut table = Table::new(["GID", "MADE BY", "ADDRESS"]);
            for participant in bare {
                let address = participant.addresses.first().map(ToString::to_string).unwrap_or_default();
                table.row([gid(participant.guid), participant.vendor().to_owned(), address]);
            }
            page.table("participants without nodes", &table);
        }
    }
}

fn topics(title: &str, head: [&str; 4], topics: &[Topic<'_>], page: &mut Page) {
    let mut table = Table::new(head);
    for topic in topics {
        let counts = [topic.publishers.len(), topic.subscribers.len()].map(|many| many.to_string());
        let [publishers, subscribers] = counts;
        table.row([topic.name.to_owned(), topic.types.join(", "), publishers, subscribers]);
    }
    page.table(title, &table);
}

fn participants(selected: &Selected<'_>) -> Table {
    let graph = selected.graph;
    let mut table = Table::new(["GID", "MADE BY", "ADDRESS", "ENCLAVE", "ENDPOINTS", "NODES"]);
    for participant in &selected.participants {
        let prefix = participant.guid.prefix;
        let nodes = graph.nodes.iter().filter(|node| node.participant.prefix == prefix);
        let nodes = match participant.lists_nodes {
            true => nodes.map(|node| node.full_name()).collect::<Vec<_>>().join(", "),
            false => "(lists none)".to_owned(),
        };
        table.row([
            gid(participant.guid),
            participant.vendor().to_owned(),
            participant.addresses.first().map(ToString::to_string).unwrap_or_default(),
            participant.enclave.clone().unwrap_or_else(|| "(none)".to_owned()),
            graph.endpoints.iter().filter(|e| e.guid.prefix == prefix).count().to_string(),
            nodes,
        ]);
    }
    table
}

/// Whose participant a node lives in, and where.
fn home(selected: &Selected<'_>, node: usize) -> String {
    let participant = selected.node(node).and_then(|node| selected.participant(node.participant));
    let Some(participant) = participant else { return String::new() };
    match participant.addresses.first() {
        Some(address) => format!("{} at {address}", participant.vendor()),
        None => participant.vendor().to_owned(),
    }
}

fn details(selected: &Selected<'_>, page: &mut Page) {
    let verbose = selected.selection.verbose;
    page.table("participants", &participants(selected));
    for index in &selected.nodes {
        node(selected, *index, page);
    }
    for topic in selected.topics.iter().chain(&selected.dds_topics) {
        page.section(&format!("{}  {}", topic.name, topic.types.join(", ")));
        side(selected.graph, "published by", &topic.publishers, verbose, page);
        side(selected.graph, "subscribed by", &topic.subscribers, verbose, page);
    }
    for service in &selected.services {
        self::service(selected.graph, service, verbose, page);
    }
    for action in &selected.actions {
        page.section(&format!("{}  {}", action.name, action.types.join(", ")));
        side(selected.graph, "served by", &action.servers, false, page);
        side(selected.graph, "called by", &action.clients, false, page);
        if !action.missing.is_empty() {
            page.line(2, &format!("the server lacks {}", action.missing.join(", ")));
        }
    }
}

fn node(selected: &Selected<'_>, index: usize, page: &mut Page) {
    let Some(node) = selected.node(index) else { return };
    page.section(&format!("{}  on {}", node.full_name(), home(selected, index)));
    let participant = selected.participant(node.participant);
    if let Some(enclave) = participant.and_then(|p| p.enclave.as_deref()) {
        page.line(2, &format!("enclave {enclave}, participant {}", gid(node.participant)));
    }
    for (title, place, is_writer) in [
        ("publishes", Place::Topic, true),
        ("subscribes", Place::Topic, false),
        ("serves", Place::Request, false),
        ("calls", Place::Reply, false),
    ] {
        let wanted = |e: &&EndpointInfo| (e.place, e.is_writer) == (place, is_writer);
        let endpoints: Vec<_> = selected.endpoints_of(index).filter(wanted).collect();
        if endpoints.is_empty() {
            continue;
        }
        page.line(2, title);
        for endpoint in endpoints {
            page.line(4, &format!("{}  {}", endpoint.name, endpoint.type_name));
            if selected.selection.verbose {
                endpoint_details(endpoint, page);
            }
        }
    }
    if node.unseen > 0 {
        page.line(2, &format!("and {} endpoints that it lists and that are not discovered", node.unseen));
    }
}

fn service(graph: &Graph, service: &Service<'_>, verbose: bool, page: &mut Page) {
    page.section(&format!("{}  {}", service.name, service.types.join(", ")));
    side(graph, "served by", &service.servers, verbose, page);
    side(graph, "called by", &service.clients, verbose, page);
    if verbose {
        side(graph, "requests and responses are written by", &service.writers, true, page);
    }
}

fn side(graph: &Graph, title: &str, endpoints: &[&EndpointInfo], verbose: bool, page: &mut Page) {
    if endpoints.is_empty() {
        page.line(2, &format!("{title} nobody"));
        return;
    }
    page.line(2, title);
    for endpoint in endpoints {
        page.line(4, &graph.owner(endpoint));
        if verbose {
            endpoint_details(endpoint, page);
        }
    }
}

fn endpoint_details(endpoint: &EndpointInfo, page: &mut Page) {
    for (name, value) in describe(endpoint) {
        page.line(6, &format!("{name:<13}{value}"));
    }
}

fn misfits(selected: &Selected<'_>, page: &mut Page) {
    let (apart, risky): (Vec<&Misfit>, Vec<&Misfit>) =
        selected.misfits.iter().copied().partition(|misfit| misfit.is_blocking());
    for (title, misfits) in [("cannot talk to each other", apart), ("may misunderstand each other", risky)] {
        if misfits.is_empty() {
            continue;
        }
        page.section(title);
        for misfit in misfits {
            let kind = match misfit.place {
                Place::Topic | Place::Dds => "",
                Place::Request => " (requests)",
                Place::Reply => " (responses)",
            };
            let owners = |side: &[usize]| owners(selected.graph, side);
            let (writers, readers) = (owners(&misfit.writers), owners(&misfit.readers));
            page.line(2, &format!("{}{kind}: {writers} -> {readers}", misfit.name));
            for reason in &misfit.reasons {
                page.line(4, &reason.to_string());
                page.line(6, reason.remedy());
            }
        }
    }
}

/// Names shown of one side of a misfit.
const MAX_OWNERS: usize = 8;

fn owners(graph: &Graph, side: &[usize]) -> String {
    let mut names: Vec<_> =
        side.iter().filter_map(|at| graph.endpoints.get(*at)).map(|e| graph.owner(e)).collect();
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(MAX_OWNERS);
    names.truncate(MAX_OWNERS);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

/// What to say when there is nothing to show.
pub(super) fn nothing(selection: &Selection, graph: &Graph, discovery: &Discovery) -> String {
    let mut page = Page::default();
    let place = place(discovery);
    if graph.participants.is_empty() {
        let (first, last) = ports(discovery.domain);
        page.line(0, &format!("nobody found on {place}; check"));
        page.line(2, "the domain: every program needs the same ROS_DOMAIN_ID");
        page.line(
            2,
            match discovery.range_name() {
                "SUBNET" => "the range: programs with LOCALHOST or OFF are not found from other machines",
                "OFF" => "the range: OFF finds nobody; try --range SUBNET",
                _ => "the range: only this machine was searched; --range SUBNET or --peer HOST look further",
            },
        );
        page.line(
            2,
            "multicast: Wi-Fi, VPN, WSL and container networks often drop it; name hosts with --peer HOST",
        );
        page.line(2, &format!("the firewall: UDP ports {first} to {last} must be open on both machines"));
        page.line(2, "'rostrans doctor' tests all of this");
        return page.0;
    }
    let Some(name) = &selection.name else {
        let kind =
            What::KINDS.iter().find(|(_, what)| *what == selection.what).map_or("names", |(kind, _)| kind);
        page.line(0, &format!("no {kind} on {place}; hidden ones are shown with --all"));
        return page.0;
    };
    page.line(0, &format!("no '{name}' on {place}"));
    let everything = Selection { name: None, all: true, ..selection.clone() };
    let all = everything.of(graph);
    let nodes = all.nodes.iter().filter_map(|node| all.node(*node)).map(|node| node.full_name());
    let topics = all.topics.iter().map(|t| t.name);
    let rest = all.services.iter().map(|s| s.name).chain(all.actions.iter().map(|a| a.name));
    let names: Vec<String> = nodes.chain(topics.chain(rest).map(str::to_owned)).collect();
    if let Some(near) = nearest(name, names.iter().map(String::as_str)) {
        page.line(0, &format!("did you mean '{near}'?"));
    }
    page.0
}
