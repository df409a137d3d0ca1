//! The planned shape of a run: plain data, nothing opened yet.

use std::{net::SocketAddr, sync::Arc};

use rostrans_core::{
    rule::{ForwardRule, RuleId},
    transport::Framing,
};

pub use rostrans_transport::Device;

/// Index into [`Topology::transports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransportId(pub usize);

/// Everything a run consists of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// One entry per socket or port; rules that share a source share its transport.
    pub transports: Vec<TransportSpec>,
    /// One entry per enabled rule other than `bytes_route`.
    pub pipelines: Vec<PipelineSpec>,
    /// Byte routes whose ends are transports of their own.
    pub hubs: Vec<HubSpec>,
    /// Topics, services and links taken out by the blacklist filter.
    pub trimmed: Vec<Trimmed>,
    /// Topics and services that cannot be in a joined ROS 1 graph.
    pub absent: Vec<Absent>,
    /// Rules with `enable: false`.
    pub disabled: Vec<RuleId>,
}

/// One socket or port.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportSpec {
    /// What to open.
    pub device: Device,
    /// How bytes become frames for the pipelines that read from it.
    pub framing: Framing,
    /// Byte routing done by the same socket or port; its frames still reach the pipelines.
    pub route: Option<RouteSpec>,
    /// A UDP socket's frames without a receiver go to everybody heard of late.
    pub everyone: bool,
}

/// MAVLink between vehicles' transports and one of ground stations: `bytes_route` rules with the same `url` in a link.
#[derive(Clone, Debug, PartialEq)]
pub struct HubSpec {
    /// The rules, in planned order.
    pub rules: Vec<RuleId>,
    /// For each rule, where its vehicles are.
    pub vehicles: Vec<TransportId>,
    /// Where ground stations are.
    pub stations: TransportId,
}

/// A `bytes_route` rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteSpec {
    /// The rule.
    pub rule_id: RuleId,
    /// Where the flight controller's bytes go; bytes from these addresses go back to it.
    pub endpoints: Vec<SocketAddr>,
    /// For a serial source: the UDP port endpoints answer to. `None` makes the route one-way.
    pub upstream: Option<SocketAddr>,
}

/// One rule, bound to its transports.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineSpec {
    /// The rule after trimming.
    pub rule: Arc<ForwardRule>,
    /// Where its frames come from, and whose socket its frames leave by.
    pub source: Option<TransportId>,
    /// For each link of the rule, where outgoing frames go.
    pub targets: Vec<Option<LinkTarget>>,
}

/// Where a link's outgoing frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// A UDP address, sent from the rule's source socket if it has one, else from a socket of its own.
    Udp(SocketAddr),
    /// A serial transport (shared with the rules that read it).
    Serial(TransportId),
}

/// A topic or service whose type ROS 1 does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The rule.
    pub rule_id: RuleId,
    /// Its link.
    pub link_name: String,
    /// The topic or service.
    pub name: String,
    /// Why its type cannot be used.
    pub reason: String,
    /// Whether it is in a ROS 2 graph.
    pub ros2: bool,
}

/// Something the filter took out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trimmed {
    /// The rule.
    pub rule_id: RuleId,
    /// The link.
    pub link_name: String,
    /// The topic or service.
    pub name: String,
    /// The deciding filter line, e.g. `rostrans.filter:7: regex:^/mavros/imu/.*`.
    pub by: String,
}
