//! Forward rules: what a user writes in `ros_trans_config.yaml` and what plugins produce.

use std::{collections::BTreeMap, fmt, net::SocketAddr, sync::Arc};

use thiserror::Error;

use crate::{
    diag::Origin,
    text::{excerpt, printable},
    topic::{ServiceSpec, TopicSpec},
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
}

impl Direction {
    /// Every direction with the name the manual gives it.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::UdpToRostopic, "udp_to_rostopic"),
        (Self::RostopicToUdp, "rostopic_to_udp"),
        (Self::UdpToRosservice, "udp_to_rosservice"),
        (Self::RosserviceToUdp, "rosservice_to_udp"),
        (Self::MemToRostopic, "mem_to_rostopic"),
        (Self::SerialToRos, "serial_to_ros"),
        (Self::RosToSerial, "ros_to_serial"),
        (Self::BytesRoute, "bytes_route"),
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

/// Which ROS graphs a rule serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RosSelector {
    /// ROS 1 only.
    Ros1,
    /// ROS 2 only.
    Ros2,
    /// Every adapter that runs.
    #[default]
    All,
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
    /// A named shared-memory segment.
    Mem(Arc<str>),
}

/// A UDP address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UdpBind {
    /// `udp_listen_ip` and `udp_listen_port`. A multicast address joins that group.
    pub addr: SocketAddr,
    /// Interface to join multicast on (`udp_multicast_if`): an address or a name; empty lets the kernel choose.
    pub multicast_if: Arc<str>,
}

/// A serial port: `/dev/ttyUSB0:921600`, `COM3:921600`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SerialSpec {
    /// Device path or COM name.
    pub device: Arc<str>,
    /// Bits per second.
    pub baud: u32,
}

impl fmt::Display for SerialSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.device, self.baud)
    }
}

/// Where a link's bytes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `udp_dst_ip` and `udp_dst_port`; a broadcast or multicast address is allowed.
    Udp(SocketAddr),
    /// `serial_port`.
    Serial(SerialSpec),
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
    /// Where bytes come from; also the socket that answers are sent from.
    pub source: Source,
    /// For a `bytes_route` from a serial port: the UDP address its endpoints answer to (`udp_listen_ip`,
    /// `udp_listen_port`). `None` makes the route one-way.
    pub upstream: Option<SocketAddr>,
    /// What to do with them.
    pub links: Vec<LinkConfig>,
    /// Where the rule was written.
    pub origin: Origin,
}

impl ForwardRule {
    /// An enabled rule for every ROS, without source and links yet.
    pub fn new(rule_id: impl Into<RuleId>, direction: Direction, origin: Origin) -> Self {
        Self {
            rule_id: rule_id.into(),
            enable: true,
            direction,
            ros_version: RosSelector::All,
            source: Source::None,
            upstream: None,
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

impl SerialSpec {
    /// Reads `device:baud`, e.g. `/dev/ttyUSB0:921600` or `COM3:921600`.
    ///
    /// `default_baud` stands in when the text names a device only.
    ///
    /// **Errors**: an empty device, or a baud rate that is no whole number from 1 to 20,000,000.
    pub fn parse(text: &str, default_baud: Option<u32>) -> Result<Self, SerialSpecError> {
        let bad = || SerialSpecError(excerpt(text));
        let (device, baud) = match text.rsplit_once(':') {
            Some((device, baud)) => (device, baud.trim().parse().map_err(|_| bad())?),
            None => (text, default_baud.ok_or_else(bad)?),
        };
        let device = device.trim();
        if device.is_empty() || device.contains(char::is_control) || !(1..=MAX_BAUD).contains(&baud) {
            return Err(bad());
        }
        Ok(Self { device: device.into(), baud })
    }
}

/// Why a text is not a serial port.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("invalid serial port '{0}'; write device and baud rate, e.g. '/dev/ttyUSB0:921600' or 'COM3:921600'")]
pub struct SerialSpecError(pub String);

/// Faster than any UART driver goes; a larger number is a typing error.
const MAX_BAUD: u32 = 20_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_port_is_device_and_baud() {
        for (text, device, baud) in [
            ("/dev/ttyUSB0:921600", "/dev/ttyUSB0", 921_600),
            ("COM3:57600", "COM3", 57_600),
            (" /dev/serial/by-id/usb-3D:x : 115200", "/dev/serial/by-id/usb-3D:x", 115_200),
            ("/dev/ttyACM0", "/dev/ttyACM0", 9600),
        ] {
            let spec = SerialSpec::parse(text, Some(9600)).unwrap();
            assert_eq!((&*spec.device, spec.baud), (device, baud), "{text}");
        }
    }

    #[test]
    fn odd_serial_ports_are_refused() {
        for bad in
            ["", ":", ":9600", "/dev/x:", "/dev/x:fast", "/dev/x:0", "/dev/x:99999999999", "/dev/x", "a\0:1"]
        {
            assert!(SerialSpec::parse(bad, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_direction_reads_back() {
        for (direction, name) in Direction::ALL {
            assert_eq!(Direction::parse(name), Some(direction));
            assert_eq!(direction.as_str(), name);
        }
    }
}
