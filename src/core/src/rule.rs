//! Forward rules: what a user writes in `ros_trans_config.yaml` and what plugins produce.

use std::{borrow::Borrow, collections::BTreeMap, fmt, net::SocketAddr, sync::Arc};

use crate::{
    adapter::{Fabric, RosVersion},
    clock::{ClockName, Stamping},
    diag::Origin,
    text::printable,
    topic::{ServiceSpec, TopicName, TopicSpec},
};

mod device;
mod url;

pub use self::{
    device::{Device, Host, SerialSpec, SerialSpecError, TcpSpec, UdpBind, UdpPeer},
    url::{MavUrl, UrlError},
};

/// Unique name of a rule; the `rule` field of every log line about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub Arc<str>);

/// Name of a link within its rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkName(pub Arc<str>);

/// Name of a codec, `family.what`, e.g. `mavlink.imu`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodecName(pub Arc<str>);

/// Name of one output or input of a codec, e.g. `data_raw`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortName(pub Arc<str>);

macro_rules! name {
    ($($t:ty),*) => {$(
        impl $t {
            /// The name as it was written; printing escapes control characters.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl Borrow<str> for $t {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
        impl From<&str> for $t {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // Names come from files; what prints them must not obey them.
                f.write_str(&printable(&self.0))
            }
        }
    )*};
}
name!(RuleId, LinkName, CodecName, PortName);

/// Which way a rule moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Datagrams to topics.
    UdpToRostopic,
    /// A topic to datagrams.
    RostopicToUdp,
    /// Datagrams become service calls.
    UdpToRosservice,
    /// A service answered over datagrams.
    RosserviceToUdp,
    /// Shared memory to topics.
    MemToRostopic,
    /// A serial port to topics.
    SerialToRos,
    /// A topic to a serial port.
    RosToSerial,
    /// Bytes between UDP and serial ports, undecoded.
    BytesRoute,
    /// A topic of one ROS graph to the others.
    RostopicToRostopic,
}

impl Direction {
    /// Every direction with the name the manual gives it.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::UdpToRostopic, "udp_to_rostopic"),
        (Self::RostopicToUdp, "rostopic_to_udp"),
        (Self::UdpToRosservice, "udp_to_rosservice"),
        (Self::RosserviceToUdp, "rosservice_to_udp"),
        (Self::MemToRostopic, "mem_to_rostopic"),
        (Self::SerialToRos, "serial_to_ros"),
        (Self::RosToSerial, "ros_to_serial"),
        (Self::BytesRoute, "bytes_route"),
        (Self::RostopicToRostopic, "rostopic_to_rostopic"),
    ];

    /// The manual's name.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(d, _)| *d == self).map_or("", |(_, name)| name)
    }

    /// The direction of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(d, _)| *d)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of the ROS graphs that rostrans has joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RosSelector {
    /// ROS 1 only.
    Ros1,
    /// ROS 2 only.
    Ros2,
    /// Every adapter that runs.
    #[default]
    All,
    /// Only that one.
    Only(Fabric),
}

impl RosSelector {
    /// Every selector by the names that users write.
    pub const NAMES: [(&'static str, Self); 9] = [
        ("ros1", Self::Ros1),
        ("1", Self::Ros1),
        ("ros2", Self::Ros2),
        ("2", Self::Ros2),
        ("all", Self::All),
        ("both", Self::All),
        ("dds", Self::Only(Fabric::Dds)),
        ("zenoh", Self::Only(Fabric::Zenoh)),
        ("r2r", Self::Only(Fabric::R2r)),
    ];

    /// Whether it means an adapter of this name and version.
    pub fn means(self, name: &str, version: RosVersion) -> bool {
        match self {
            Self::Ros1 => version == RosVersion::Ros1,
            Self::Ros2 => version == RosVersion::Ros2,
            Self::All => true,
            Self::Only(fabric) => fabric.as_str() == name,
        }
    }

    /// The name that users write.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ros1 => "ros1",
            Self::Ros2 => "ros2",
            Self::All => "all",
            Self::Only(fabric) => fabric.as_str(),
        }
    }
}

/// The graphs that a `rostopic_to_rostopic` rule joins; one that is at both ends is carried both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Where messages come from.
    pub from: RosSelector,
    /// Where they go; never back to the graph that they come from.
    pub to: RosSelector,
}

/// Where a rule's bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The rule reads no bytes (its data comes from ROS).
    None,
    /// A UDP socket.
    Udp(UdpBind),
    /// A serial port.
    Serial(SerialSpec),
    /// A TCP connection, or a server that several peers connect to.
    Tcp(TcpSpec),
    /// A named shared-memory segment.
    Mem(Arc<str>),
}

/// Where a link's bytes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `udp_dst_ip` and `udp_dst_port`; a broadcast or multicast address is allowed.
    Udp(SocketAddr),
    /// `serial_port`.
    Serial(SerialSpec),
    /// `url` of a link under `bytes_route`: a socket or port of its own, that is read as well.
    Device(Device),
}

/// At most this many messages a second, more than 0; 0.5 is one message in two seconds.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct RateLimit(pub f64);

/// Options of one link's codec (`options:` in YAML), checked by the codec itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodecOptions(pub serde_json::Map<String, serde_json::Value>);

/// One input and its links.
#[derive(Clone, Debug, PartialEq)]
pub struct ForwardRule {
    /// Unique name.
    pub rule_id: RuleId,
    /// A disabled rule is checked but not started.
    pub enable: bool,
    /// Which way data moves.
    pub direction: Direction,
    /// Which ROS graphs it serves.
    pub ros_version: RosSelector,
    /// The graphs that it joins, for `rostopic_to_rostopic`.
    pub ends: Ends,
    /// Where bytes come from; also the socket that answers are sent from.
    pub source: Source,
    /// For a `bytes_route` from a serial port: the UDP address its endpoints answer to (`udp_listen_ip`,
    /// `udp_listen_port`). `None` makes the route one-way.
    pub upstream: Option<SocketAddr>,
    /// The clock that stamps are of; `None` is wall time.
    pub clock: Option<ClockName>,
    /// How messages are stamped.
    pub stamping: Stamping,
    /// What to do with them.
    pub links: Vec<LinkConfig>,
    /// Where the rule was written.
    pub origin: Origin,
}

impl From<Device> for Source {
    fn from(device: Device) -> Self {
        match device {
            Device::Udp(bind) => Self::Udp(bind),
            Device::Serial(spec) => Self::Serial(spec),
            Device::Tcp(spec) => Self::Tcp(spec),
        }
    }
}

impl ForwardRule {
    /// An enabled rule for every ROS, without source and links yet.
    pub fn new(rule_id: impl Into<RuleId>, direction: Direction, origin: Origin) -> Self {
        Self {
            rule_id: rule_id.into(),
            enable: true,
            direction,
            ros_version: RosSelector::All,
            ends: Ends::default(),
            source: Source::None,
            upstream: None,
            clock: None,
            stamping: Stamping::AS_IS,
            links: Vec::new(),
            origin,
        }
    }
}

/// One codec bound to topics, a service, or a byte target.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Name within the rule.
    pub link_name: LinkName,
    /// The codec; `None` only under `bytes_route`.
    pub codec: Option<CodecName>,
    /// Topic bound to the codec's first port (`topic`+`msg_type`, or `send_ros_config`).
    pub topic: Option<TopicSpec>,
    /// The topic's name at the other end of a `rostopic_to_rostopic`, where it differs.
    pub to_topic: Option<TopicName>,
    /// Whether the topic's QoS is that of its publishers, and not [`TopicSpec::qos`]: the default of
    /// `rostopic_to_rostopic`.
    pub qos_as_offered: bool,
    /// Topics bound to the codec's other ports and inputs by name.
    pub ports: BTreeMap<PortName, TopicSpec>,
    /// Services bound to those the codec answers, by name.
    pub services: BTreeMap<PortName, ServiceSpec>,
    /// Service, for the two service directions.
    pub service: Option<ServiceSpec>,
    /// Where outgoing bytes go.
    pub target: Option<Target>,
    /// Messages per second and topic.
    pub rate_limit: Option<RateLimit>,
    /// Codec options.
    pub options: CodecOptions,
    /// Where the link was written.
    pub origin: Origin,
}

impl LinkConfig {
    /// A link with nothing bound yet.
    pub fn new(link_name: impl Into<LinkName>, codec: Option<CodecName>, origin: Origin) -> Self {
        Self {
            link_name: link_name.into(),
            codec,
            topic: None,
            to_topic: None,
            qos_as_offered: false,
            ports: BTreeMap::new(),
            services: BTreeMap::new(),
            service: None,
            target: None,
            rate_limit: None,
            options: CodecOptions::default(),
            origin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_direction_reads_back() {
        for (direction, name) in Direction::ALL {
            assert_eq!(Direction::parse(name), Some(direction));
            assert_eq!(direction.as_str(), name);
        }
    }
}
