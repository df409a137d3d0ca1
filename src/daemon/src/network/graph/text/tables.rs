//! Lists: a line for each thing.

use rostrans_adapter_dds::graph::{Place, Topic, gid};

use super::{
    super::select::{Selected, What},
    Page, home,
};
use crate::table::Table;

/// Lists with counts.
pub(super) fn tables(selected: &Selected<'_>, page: &mut Page) {
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
    let twins = twins(selected);
    if !twins.is_empty() {
        page.section(&format!("several nodes share a name, which confuses ROS: {}", twins.join(", ")));
    }
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
        let noun = if of_parameters == 1 { "service" } else { "services" };
        page.section(&format!(
            "{also}{of_parameters} {noun} of parameters; 'rostrans graph services' lists all"
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

/// Participants with what they hold.
pub(super) fn participants(selected: &Selected<'_>) -> Table {
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

/// Names that more than one of the nodes has, once each; nodes are sorted by name.
fn twins(selected: &Selected<'_>) -> Vec<String> {
    let nodes = selected.nodes.iter().filter_map(|node| selected.node(*node));
    let names: Vec<_> = nodes.map(|node| node.full_name()).collect();
    let same = names.chunk_by(|a, b| a == b).filter(|names| names.len() > 1);
    same.filter_map(|names| names.first().cloned()).collect()
}
