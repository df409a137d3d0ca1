//! What is known about this machine before anybody judges it.

use std::{collections::BTreeMap, net::IpAddr};

use rostrans_adapter_dds::{Discovery, graph::Graph};

/// Everything that was looked at and tried. What cannot be known here is `None` or empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Where ROS is looked for.
    pub(super) discovery: Discovery,
    /// The variables that matter, those that are set.
    pub(super) env: BTreeMap<String, String>,
    /// The text of files that variables name, or why it cannot be read.
    pub(super) files: BTreeMap<String, Result<String, String>>,
    pub(super) interfaces: Vec<Interface>,
    /// Interfaces asked for that are not there.
    pub(super) missing: Vec<String>,
    pub(super) ports: Ports,
    pub(super) buffers: Buffers,
    /// The way of a datagram from one socket of this machine to another, by the address it was sent to.
    pub(super) unicast: Vec<(IpAddr, Try)>,
    pub(super) host: Host,
    /// Hosts of `ROS_STATIC_PEERS`.
    pub(super) peers: Vec<Peer>,
    /// Who answered; an error when the participant could not be opened.
    pub(super) graph: Option<Result<Graph, String>>,
    pub(super) serial: Vec<SerialPort>,
}

/// An address of an interface that is up.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) addr: IpAddr,
    pub(super) loopback: bool,
    /// Whether it has the multicast flag.
    pub(super) multicast: bool,
    /// What became of a datagram to the group; `None` when it was not tried.
    pub(super) heard: Option<Try>,
}

/// Outcome of sending something to oneself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Try {
    /// It came back.
    Arrived,
    /// It was sent and did not come.
    Lost,
    /// The system refused, and said why.
    Refused(String),
}

/// UDP ports of the domain.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    /// Why multicast cannot be received at the domain's port; `None` when it can or was not tried.
    pub(super) multicast_refused: Option<String>,
    /// Participant ids, of 0 to 31, of which a port is taken.
    pub(super) taken: Vec<u16>,
    /// Programs that have ports of the domain, as far as this user may know.
    pub(super) owners: Vec<String>,
    /// Other domains that have a participant on this machine.
    pub(super) other_domains: Vec<u16>,
    /// Ports that the system gives to outgoing connections.
    pub(super) ephemeral: Option<(u16, u16)>,
}

/// Socket buffers, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffers {
    pub(super) rmem_max: Option<u64>,
    pub(super) rmem_default: Option<u64>,
    /// What this program got when it asked for [`WANTED`](super::check::WANTED); for receiving and for sending.
    pub(super) granted: Option<(u64, u64)>,
}

/// What kind of machine this is.
#[derive(Clone, Debug, Default)]
pub(super) struct Host {
    pub(super) wsl: Option<Wsl>,
    pub(super) container: Option<Container>,
}

/// A Windows Subsystem for Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wsl {
    /// Version 1: no Linux kernel.
    One,
    /// Version 2 behind network address translation.
    Nat,
    /// Version 2 with the interfaces of Windows.
    Mirrored,
}

/// A container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Container {
    /// Whether its network is a bridge of its own instead of the host's.
    pub(super) own_network: bool,
}

/// A host named in `ROS_STATIC_PEERS`.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) host: String,
    /// Its addresses, or why there are none.
    pub(super) addresses: Result<Vec<IpAddr>, String>,
    pub(super) answer: Answer,
}

/// How a host reacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// So many participants there were found.
    Found(usize),
    /// It says that nobody listens.
    NobodyThere,
    /// Nothing came back.
    Silence,
}

/// A serial port.
#[derive(Clone, Debug)]
pub(super) struct SerialPort {
    pub(super) path: String,
    /// Whether this user may read and write it.
    pub(super) usable: bool,
    /// The group that may.
    pub(super) group: Option<String>,
}
