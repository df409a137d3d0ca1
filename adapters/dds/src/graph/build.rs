//! From discovered endpoints and node lists to a graph.

use std::collections::{HashMap, HashSet};

use rostrans_rtps::{GraphSnapshot, Guid, RemoteEndpoint};

use super::{EndpointInfo, Graph, NodeInfo, ParticipantInfo, misfit};
use crate::{entities::ParticipantEntities, names};

/// A participant's own part of a graph.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    /// Its id.
    pub(crate) guid: Guid,
    /// Its node list; `None` when it has no node.
    pub(crate) list: Option<&'a ParticipantEntities>,
}

impl Graph {
    /// `lists` are node lists by the prefix of who sent them.
    pub(crate) fn build(
        found: GraphSnapshot,
        lists: &HashMap<[u8; 12], ParticipantEntities>,
        own: Own<'_>,
    ) -> Self {
        let mut participants: Vec<_> = found
            .participants
            .into_iter()
            .map(|p| ParticipantInfo {
                guid: p.guid,
                addresses: p.locators,
                enclave: names::user_value(&p.user_data, "enclave").map(text),
                lists_nodes: lists.contains_key(&p.guid.prefix),
                own: false,
            })
            .collect();
        let own_list = own.list.map(|list| {
            participants.push(ParticipantInfo {
                guid: own.guid,
                addresses: Vec::new(),
                enclave: Some("/".to_owned()),
                lists_nodes: true,
                own: true,
            });
            (own.guid.prefix, list)
        });
        participants.sort_by_key(|p| p.guid);
        let alive: HashMap<[u8; 12], Guid> = participants.iter().map(|p| (p.guid.prefix, p.guid)).collect();

        // An observer without a node has endpoints that are nobody's business.
        let own_endpoints = found.own.into_iter().filter(|_| own_list.is_some());
        let known: Vec<RemoteEndpoint> = found.endpoints.into_iter().chain(own_endpoints).collect();
        let seen: HashSet<Guid> = known.iter().map(|e| e.guid).collect();
        let (nodes, owners) =
            list_nodes(lists.iter().map(|(prefix, list)| (*prefix, list)).chain(own_list), &alive, &seen);
        let mut endpoints: Vec<_> = known.into_iter().map(|e| endpoint(e, &owners)).collect();
        endpoints.sort_by(|a, b| {
            (&a.name, a.place, !a.is_writer, a.guid).cmp(&(&b.name, b.place, !b.is_writer, b.guid))
        });
        let (misfits, unchecked) = misfit::find(&endpoints);
        Self { participants, nodes, endpoints, misfits, unchecked }
    }
}

/// Nodes in order, and which of them each endpoint belongs to.
fn list_nodes<'a>(
    lists: impl Iterator<Item = ([u8; 12], &'a ParticipantEntities)>,
    alive: &HashMap<[u8; 12], Guid>,
    seen: &HashSet<Guid>,
) -> (Vec<NodeInfo>, HashMap<Guid, usize>) {
    let mut listed: Vec<(NodeInfo, Vec<Guid>)> = Vec::new();
    for (prefix, list) in lists {
        let Some(participant) = alive.get(&prefix) else { continue };
        for node in &list.nodes {
            // A participant speaks for its own endpoints only.
            let own = node.readers.iter().chain(&node.writers).filter(|guid| guid.prefix == prefix);
            let (there, unseen): (Vec<_>, Vec<_>) = own.copied().partition(|guid| seen.contains(guid));
            let info = NodeInfo {
                name: shorten(&node.name),
                namespace: shorten(&node.namespace),
                participant: *participant,
                unseen: unseen.len(),
            };
            listed.push((info, there));
        }
    }
    listed.sort_by_cached_key(|(node, _)| (node.full_name(), node.participant));
    let owners =
        listed.iter().enumerate().flat_map(|(index, (_, guids))| guids.iter().map(move |g| (*g, index)));
    let owners = owners.collect();
    (listed.into_iter().map(|(node, _)| node).collect(), owners)
}

fn endpoint(found: RemoteEndpoint, owners: &HashMap<Guid, usize>) -> EndpointInfo {
    let (place, name) = names::ros_place(&found.topic);
    let hash = names::user_value(&found.user_data, "typehash").filter(|hash| hash.starts_with(b"RIHS"));
    EndpointInfo {
        guid: found.guid,
        node: owners.get(&found.guid).copied(),
        is_writer: found.is_writer,
        place,
        name: name.to_owned(),
        type_name: names::ros_type(&found.type_name, place),
        type_hash: hash.map(text),
        qos: found.qos,
    }
}

/// What another participant wrote, as text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A name as long as names may be in ROS; what is longer is meant to annoy.
fn shorten(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}

/// Letters of a node's name or namespace.
///
/// Source: rmw, `RMW_NODE_NAME_MAX_NAME_LENGTH`.
const MAX_NAME: usize = 255;
