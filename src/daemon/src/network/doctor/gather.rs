//! Looking at this machine, and trying what ROS does on it.

mod owners;
mod peers;
mod sockets;
mod system;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read as _},
    time::Duration,
};

use rostrans_adapter_dds::{
    Discovery, DiscoveryRange,
    graph::{Graph, Observer},
};
use rostrans_core::text::chain;

use super::facts::Facts;
use crate::{network::settle::settled, signals::Signals};

/// Variables that decide who meets whom.
const VARIABLES: &[&str] = &[
    "ROS_LOCALHOST_ONLY",
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_STATIC_PEERS",
    "ROS_DISCOVERY_SERVER",
    "ROS_SECURITY_ENABLE",
    "RMW_IMPLEMENTATION",
    "FASTDDS_BUILTIN_TRANSPORTS",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "CYCLONEDDS_URI",
];

/// Variables that name a file; a URI is a file only behind `file://`.
const FILES: &[(&str, &str)] = &[
    ("FASTDDS_DEFAULT_PROFILES_FILE", ""),
    ("FASTRTPS_DEFAULT_PROFILES_FILE", ""),
    ("CYCLONEDDS_URI", "file://"),
];

/// Looks for others for `wait` at most; all else takes about a second. `None` when a signal ended that.
pub(super) fn gather(
    discovery: &Discovery,
    wanted: &[String],
    wait: Duration,
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<Facts> {
    let env: BTreeMap<String, String> =
        VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), env(name)?))).collect();
    let file = |(name, prefix): &(&str, &str)| {
        let path = env.get(*name)?.strip_prefix(prefix)?;
        Some(((*name).to_owned(), read(path).map_err(|error| error.to_string())))
    };
    let files = FILES.iter().filter_map(file).collect();
    let subnet = discovery.range == DiscoveryRange::Subnet;
    let interfaces = sockets::interfaces(discovery, wanted);
    let mut facts = Facts {
        discovery: discovery.clone(),
        env,
        files,
        ports: sockets::ports(discovery.domain, subnet),
        buffers: sockets::buffers(),
        unicast: if discovery.range == DiscoveryRange::Off {
            Vec::new()
        } else {
            sockets::unicast(discovery, &interfaces)
        },
        host: system::host(&interfaces),
        missing: sockets::missing(wanted),
        serial: system::serial_ports(),
        interfaces,
        peers: Vec::new(),
        graph: None,
    };
    if discovery.range != DiscoveryRange::Off {
        facts.peers = peers::ask(discovery);
        let found = look(discovery, wanted, wait).transpose()?;
        if let Ok(graph) = &found {
            peers::count(&mut facts.peers, graph, &facts.interfaces);
        }
        facts.graph = Some(found);
    }
    Some(facts)
}

/// Who is there; `None` when a signal came. Until then a signal ends the program as usual: nobody was told of it.
fn look(discovery: &Discovery, wanted: &[String], wait: Duration) -> Result<Option<Graph>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let observer = Observer::new(discovery, wanted.to_vec()).map_err(|error| chain(&error))?;
    let found = runtime.block_on(async {
        let mut signals = Signals::new().map_err(|error| error.to_string())?;
        tokio::select! {
            graph = settled(&observer, wait, |_| ()) => Ok(Some(graph)),
            _ = signals.next() => Ok(None),
        }
    });
    // The others must not take it for alive until its lease ends.
    observer.close();
    found
}

/// The text of a file, as much as a configuration can have.
fn read(path: &str) -> io::Result<String> {
    let kind = std::fs::metadata(path)?.file_type();
    // Opening a pipe would wait for its writer.
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(1 << 20).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
