use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Whom a participant looks for, as `ROS_AUTOMATIC_DISCOVERY_RANGE` defines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DiscoveryRange {
    /// Nobody is searched and nobody is accepted; static peers are ignored as well.
    Off,
    /// Participants on this host: announcements go to its loopback address only. As in every ROS 2 program, one of
    /// another host that names this host as a static peer is answered.
    Localhost,
    /// Every participant that multicast reaches, and those of this host.
    #[default]
    Subnet,
}

/// The versions of IP that a participant uses.
///
/// IPv6 interoperates with Fast DDS (`FASTDDS_BUILTIN_TRANSPORTS=UDPv6`) and Cyclone DDS
/// (`<General><Transport>udp6</Transport></General>`). Both use one version only, so a participant with [`Self::Both`] is
/// the one that meets all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IpFamily {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
    /// Both. A peer that announces addresses of both is sent everything once, by IPv4 if that reaches it as directly.
    Both,
}

impl IpFamily {
    /// Whether addresses like this one can be used.
    pub fn includes(self, ip: IpAddr) -> bool {
        match self {
            Self::V4 => ip.is_ipv4(),
            Self::V6 => ip.is_ipv6(),
            Self::Both => true,
        }
    }
}

/// Everything a [`Participant`](crate::Participant) needs to know before it opens a socket.
#[derive(Clone, Debug)]
pub struct ParticipantConfig {
    /// DDS domain, 0 to 232; on Linux 0 to 101 stay clear of the ephemeral ports.
    pub domain: u16,
    /// Whom to discover.
    pub range: DiscoveryRange,
    /// Hosts to announce to in addition; port 0 means the standard ports of participants 0 to 31 there.
    pub static_peers: Vec<SocketAddr>,
    /// Interfaces to search on and to be reached at, by name (`eth0`) or by one of their addresses; empty means all of
    /// them. One that appears later is used from then on.
    pub interfaces: Vec<String>,
    /// Versions of IP to use. ROS 2 programs use IPv4 unless told otherwise.
    pub family: IpFamily,
    /// USER_DATA of the participant; ROS peers expect `enclave=/;`.
    pub user_data: Vec<u8>,
    /// Whether writers and readers of this participant talk to each other, as they do between participants. They
    /// use the sockets for it, so not with [`DiscoveryRange::Off`].
    pub match_own: bool,
    /// How long peers keep us without hearing an announcement.
    pub lease: Duration,
    /// Bounds on what datagrams from outside can make us store.
    pub limits: Limits,
    /// Starting rate of fragments to one destination, bytes per second.
    ///
    /// Losses halve it, undisturbed samples raise it slowly again. A receiver with the default socket buffer of 208 KiB
    /// keeps up with about 200 MB/s.
    pub pace_bytes_per_s: u64,
    /// Requested socket buffer size in bytes; the kernel caps it at `net.core.rmem_max`/`wmem_max`.
    pub socket_buffer: usize,
}

impl Default for ParticipantConfig {
    fn default() -> Self {
        Self {
            domain: 0,
            range: DiscoveryRange::default(),
            static_peers: Vec::new(),
            interfaces: Vec::new(),
            family: IpFamily::default(),
            user_data: b"enclave=/;".to_vec(),
            match_own: false,
            lease: Duration::from_secs(20),
            limits: Limits::default(),
            pace_bytes_per_s: 200_000_000,
            socket_buffer: 8 << 20,
        }
    }
}

/// Bounds on the state that input from the network can create.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Remote participants.
    pub peers: usize,
    /// Endpoints of one remote participant.
    pub endpoints_per_peer: usize,
    /// Size of one received sample in bytes.
    pub sample_bytes: usize,
    /// Partly received samples of one remote writer.
    pub partial_samples: usize,
    /// Bytes of all partly received or out-of-order samples together.
    pub pending_bytes: usize,
    /// Out-of-order samples one reader holds per remote writer.
    pub reorder_samples: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            peers: 256,
            // A rostrans with 50 MAVROS vehicles has 14,000.
            endpoints_per_peer: 16_384,
            sample_bytes: 64 << 20,
            partial_samples: 4,
            pending_bytes: 64 << 20,
            reorder_samples: 256,
        }
    }
}
