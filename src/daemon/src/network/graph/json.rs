//! A graph for programs. Names are those of ros2cli, durations are nanoseconds, `null` is infinite or unknown.

use std::{collections::BTreeMap, time::Duration};

use rostrans_adapter_dds::{
    Discovery, Durability, Liveliness, RemoteQos,
    graph::{Action, EndpointInfo, Graph, Misfit, Place, Service, Topic, gid},
};
use serde_json::{Map, Value, json};

use super::select::{Selected, What};

/// One document; on one line when it is one of many.
pub(super) fn print(selected: &Selected<'_>, discovery: &Discovery, one_line: bool) -> String {
    let value = document(selected, discovery);
    if one_line { format!("{value}\n") } else { format!("{value:#}\n") }
}

fn document(selected: &Selected<'_>, discovery: &Discovery) -> Value {
    let graph = selected.graph;
    let mut document = Map::new();
    document.insert("domain".into(), discovery.domain.into());
    document.insert("range".into(), discovery.range_name().into());
    let mut put = |what, key: &str, values: Vec<Value>| {
        if selected.selection.shows(what) {
            document.insert(key.into(), values.into());
        }
    };
    let participants = selected.participants.iter().map(|participant| {
        let prefix = participant.guid.prefix;
        let nodes = graph.nodes.iter().filter(|n| n.participant.prefix == prefix);
        json!({
            "guid": gid(participant.guid),
            "vendor": participant.vendor(),
            "enclave": participant.enclave,
            "addresses": participant.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "lists_nodes": participant.lists_nodes,
            "nodes": nodes.map(|n| n.full_name()).collect::<Vec<_>>(),
            "endpoints": graph.endpoints.iter().filter(|e| e.guid.prefix == prefix).count(),
        })
    });
    put(What::Participants, "participants", participants.collect());
    put(What::Nodes, "nodes", selected.nodes.iter().map(|node| self::node(selected, *node)).collect());
    put(What::Topics, "topics", selected.topics.iter().map(|t| topic(graph, t)).collect());
    put(What::Services, "services", selected.services.iter().map(|s| service(graph, s)).collect());
    put(What::Actions, "actions", selected.actions.iter().map(|a| action(graph, a)).collect());
    put(What::Topics, "dds_topics", selected.dds_topics.iter().map(|t| topic(graph, t)).collect());
    document.insert("incompatible".into(), selected.misfits.iter().map(|m| misfit(graph, m)).collect());
    document.insert("unchecked_endpoints".into(), graph.unchecked.into());
    document.into()
}

fn node(selected: &Selected<'_>, index: usize) -> Value {
    let Some(node) = selected.node(index) else { return Value::Null };
    let participant = selected.participant(node.participant);
    let list = |place, is_writer| {
        let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let wanted = selected.endpoints_of(index).filter(|e| (e.place, e.is_writer) == (place, is_writer));
        for endpoint in wanted {
            let types = names.entry(&endpoint.name).or_default();
            if !types.contains(&endpoint.type_name.as_str()) {
                types.push(&endpoint.type_name);
            }
        }
        names
    };
    json!({
        "name": node.full_name(),
        "node_name": node.name,
        "namespace": node.namespace,
        "enclave": participant.and_then(|p| p.enclave.as_deref()),
        "participant": gid(node.participant),
        "publishers": list(Place::Topic, true),
        "subscribers": list(Place::Topic, false),
        "service_servers": list(Place::Request, false),
        "service_clients": list(Place::Reply, false),
        "unseen_endpoints": node.unseen,
    })
}

fn topic(graph: &Graph, topic: &Topic<'_>) -> Value {
    json!({
        "name": topic.name,
        "types": topic.types,
        "publishers": endpoints(graph, &topic.publishers),
        "subscribers": endpoints(graph, &topic.subscribers),
    })
}

fn service(graph: &Graph, service: &Service<'_>) -> Value {
    json!({
        "name": service.name,
        "types": service.types,
        "servers": endpoints(graph, &service.servers),
        "clients": endpoints(graph, &service.clients),
    })
}

fn action(graph: &Graph, action: &Action<'_>) -> Value {
    let owners = |side: &[&EndpointInfo]| {
        let owner = |e: &&EndpointInfo| {
            let node = graph.node_of(e).map(|node| node.full_name());
            json!({"node": node, "participant_prefix": prefix(e)})
        };
        side.iter().map(owner).collect::<Vec<_>>()
    };
    json!({
        "name": action.name,
        "types": action.types,
        "servers": owners(&action.servers),
        "clients": owners(&action.clients),
        "missing": action.missing,
    })
}

/// The part of a GID that all endpoints of a participant share.
fn prefix(endpoint: &EndpointInfo) -> String {
    endpoint.guid.prefix.map(|byte| format!("{byte:02x}")).join(".")
}

fn endpoints(graph: &Graph, endpoints: &[&EndpointInfo]) -> Vec<Value> {
    endpoints.iter().map(|endpoint| self::endpoint(graph, endpoint)).collect()
}

fn endpoint(graph: &Graph, endpoint: &EndpointInfo) -> Value {
    json!({
        "gid": gid(endpoint.guid),
        "node": graph.node_of(endpoint).map(|node| node.full_name()),
        "type": endpoint.type_name,
        "type_hash": endpoint.type_hash,
        "qos": qos(&endpoint.qos),
    })
}

fn qos(qos: &RemoteQos) -> Value {
    json!({
        "reliability": if qos.reliable { "reliable" } else { "best_effort" },
        "durability": match qos.durability {
            Durability::Volatile => "volatile",
            Durability::TransientLocal => "transient_local",
            Durability::Transient => "transient",
            Durability::Persistent => "persistent",
        },
        "history": match qos.depth {
            _ if !qos.depth_announced => None,
            Some(_) => Some("keep_last"),
            None => Some("keep_all"),
        },
        "depth": qos.depth.filter(|_| qos.depth_announced),
        "deadline_ns": nanoseconds(qos.deadline),
        "lifespan_ns": nanoseconds(qos.lifespan),
        "liveliness": match qos.liveliness {
            Liveliness::Automatic => "automatic",
            Liveliness::ManualByParticipant => "manual_by_participant",
            Liveliness::ManualByTopic => "manual_by_topic",
        },
        "liveliness_lease_ns": nanoseconds(qos.liveliness_lease),
        "partitions": qos.partitions,
        "exclusive_ownership": qos.exclusive_ownership,
    })
}

fn nanoseconds(duration: Option<Duration>) -> Option<u64> {
    duration.map(|duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

fn misfit(graph: &Graph, misfit: &Misfit) -> Value {
    let ends = |side: &[usize]| {
        let of = |at: &usize| graph.endpoints.get(*at);
        let end =
            |e: &EndpointInfo| json!({"gid": gid(e.guid), "node": graph.node_of(e).map(|n| n.full_name())});
        side.iter().filter_map(of).map(end).collect::<Vec<_>>()
    };
    let reasons = misfit.reasons.iter().map(|reason| {
        json!({
            "what": reason.what(),
            "offered": reason.offered,
            "requested": reason.requested,
            "remedy": reason.remedy(),
        })
    });
    json!({
        "name": misfit.name,
        "kind": match misfit.place {
            Place::Topic => "topic",
            Place::Request => "service_request",
            Place::Reply => "service_response",
            Place::Dds => "dds_topic",
        },
        "blocking": misfit.is_blocking(),
        "writers": ends(&misfit.writers),
        "readers": ends(&misfit.readers),
        "reasons": reasons.collect::<Vec<_>>(),
    })
}
