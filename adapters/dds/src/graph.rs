//! The ROS graph as people know it: nodes, topics, services, actions, and who cannot talk to whom.
//!
//! Made from what the RTPS engine discovered (participants and endpoints) and from the node lists that ROS participants
//! publish. An endpoint no node lists stays in the graph without a node: it belongs to a plain DDS program, to a ROS of
//! another kind, or its node list is not here yet.

mod build;
mod misfit;
mod observer;
#[cfg(test)]
mod tests;
mod view;

use std::net::SocketAddr;

use rostrans_rtps::{Guid, RemoteQos, VENDOR_ID};

pub(crate) use self::build::Own;
pub use self::{
    misfit::{Misfit, Reason, Trouble},
    observer::Observer,
    view::{Action, Service, Topic},
};
pub use crate::names::Place;

/// Everything known about a ROS graph at one moment; all lists are sorted.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// DDS participants, ours among them.
    pub participants: Vec<ParticipantInfo>,
    /// Nodes; the same name in two participants is two nodes, as in ROS.
    pub nodes: Vec<NodeInfo>,
    /// Writers and readers, by name.
    pub endpoints: Vec<EndpointInfo>,
    /// Writers and readers of one topic that do not fit.
    pub misfits: Vec<Misfit>,
    /// Endpoints that were not compared with others, because their topic has too many different ones.
    pub unchecked: usize,
}

/// A DDS participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParticipantInfo {
    /// Its id.
    pub guid: Guid,
    /// Where its samples go to.
    pub addresses: Vec<SocketAddr>,
    /// The enclave of a ROS participant; `None` for a plain DDS program.
    pub enclave: Option<String>,
    /// Whether its node list is here.
    pub lists_nodes: bool,
    /// Whether it is ours.
    pub own: bool,
}

impl ParticipantInfo {
    /// Who made its DDS implementation.
    ///
    /// Source: the vendor ids of <https://www.dds-foundation.org/dds-rtps-vendor-and-product-ids/>.
    pub fn vendor(&self) -> &'static str {
        match self.guid.vendor() {
            VENDOR_ID => "rostrans",
            [1, 0x01] => "Connext DDS",
            [1, 0x02] => "OpenSplice",
            [1, 0x03] => "OpenDDS",
            [1, 0x0f] => "Fast DDS",
            [1, 0x10] => "Cyclone DDS",
            [1, 0x11] => "GurumDDS",
            [1, 0x12] => "RustDDS",
            [1, 0x14] => "Dust DDS",
            _ => "DDS",
        }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    /// Its name, without slash.
    pub name: String,
    /// Its namespace, `/` or `/robot`.
    pub namespace: String,
    /// The participant it lives in.
    pub participant: Guid,
    /// Endpoints that it lists and that are not discovered.
    pub unseen: usize,
}

impl NodeInfo {
    /// `/name` or `/namespace/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace.trim_end_matches('/'), self.name)
    }
}

/// A writer or a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointInfo {
    /// Its id; ROS calls it GID.
    pub guid: Guid,
    /// Index of its node in [`Graph::nodes`]; `None` when no node lists it.
    pub node: Option<usize>,
    /// Whether it writes.
    pub is_writer: bool,
    /// What it is in ROS.
    pub place: Place,
    /// Name of its topic or service in ROS, else of its DDS topic.
    pub name: String,
    /// `pkg/msg/T`, or `pkg/srv/S` for both halves of a service; else the DDS type.
    pub type_name: String,
    /// `RIHS01_...`; `None` before Iron, in plain DDS programs and when it is malformed.
    pub type_hash: Option<String>,
    /// Its announced policies.
    pub qos: RemoteQos,
}

impl Graph {
    /// The node an endpoint belongs to.
    pub fn node_of(&self, endpoint: &EndpointInfo) -> Option<&NodeInfo> {
        self.nodes.get(endpoint.node?)
    }

    /// The name of an endpoint's node, else its participant's vendor and address.
    pub fn owner(&self, endpoint: &EndpointInfo) -> String {
        if let Some(node) = self.node_of(endpoint) {
            return node.full_name();
        }
        let participant = self.participants.iter().find(|p| p.guid.prefix == endpoint.guid.prefix);
        let address = participant.and_then(|p| p.addresses.first());
        let vendor = participant.map_or("DDS", ParticipantInfo::vendor);
        match address {
            Some(address) => format!("({vendor} at {address})"),
            None => format!("({vendor})"),
        }
    }
}

/// Whether ROS hides a name because a part of it begins with `_`.
pub fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('_'))
}

/// A GUID as ROS prints GIDs: 16 bytes in hexadecimal with dots between.
pub fn gid(guid: Guid) -> String {
    guid.as_bytes().map(|byte| format!("{byte:02x}")).join(".")
}

/// The details of an endpoint as `ros2 topic info -v` has them: what, and its value.
pub fn describe(endpoint: &EndpointInfo) -> Vec<(&'static str, String)> {
    let qos = &endpoint.qos;
    let mut details = vec![
        ("type", endpoint.type_name.clone()),
        ("type hash", endpoint.type_hash.clone().unwrap_or_else(|| "(none)".to_owned())),
        ("GID", gid(endpoint.guid)),
        ("reliability", if qos.reliable { "reliable" } else { "best effort" }.to_owned()),
        ("durability", misfit::durability(qos.durability).to_owned()),
        (
            "history",
            match qos.depth {
                _ if !qos.depth_announced => "(not announced)".to_owned(),
                Some(depth) => format!("keep last {depth}"),
                None => "keep all".to_owned(),
            },
        ),
        ("lifespan", misfit::duration(qos.lifespan)),
        ("deadline", misfit::duration(qos.deadline)),
        (
            "liveliness",
            format!(
                "{}, lease {}",
                misfit::liveliness(qos.liveliness),
                misfit::duration(qos.liveliness_lease)
            ),
        ),
    ];
    if !qos.partitions.is_empty() {
        details.push(("partition", qos.partitions.join(", ")));
    }
    if qos.exclusive_ownership {
        details.push(("ownership", "exclusive".to_owned()));
    }
    details
}
