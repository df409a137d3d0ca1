//! Blocks: everything about one thing, as `ros2 topic info -v` and `ros2 node info` show it.

use rostrans_adapter_dds::graph::{Action, EndpointInfo, Graph, Place, Service, describe, gid, is_hidden};

use super::{super::select::Selected, Page, home, tables::participants};

/// What there is to know about each thing.
pub(super) fn details(selected: &Selected<'_>, page: &mut Page) {
    let verbose = selected.selection.verbose;
    page.table("participants", &participants(selected));
    let actions = if selected.nodes.is_empty() { Vec::new() } else { selected.graph.actions() };
    for index in &selected.nodes {
        node(selected, *index, &actions, page);
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

fn node(selected: &Selected<'_>, index: usize, actions: &[Action<'_>], page: &mut Page) {
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
        let shown = |name: &str| selected.selection.all || !is_hidden(name);
        let wanted = |e: &&EndpointInfo| (e.place, e.is_writer) == (place, is_writer) && shown(&e.name);
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
    for (title, serves) in [("action servers", true), ("action clients", false)] {
        let of_node: Vec<_> = actions
            .iter()
            .filter(|action| {
                let side = if serves { &action.servers } else { &action.clients };
                side.iter().any(|e| e.node == Some(index))
            })
            .collect();
        if !of_node.is_empty() {
            page.line(2, title);
            of_node.iter().for_each(|a| page.line(4, &format!("{}  {}", a.name, a.types.join(", "))));
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
