//! Asking the hosts of `ROS_STATIC_PEERS`.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use rostrans_adapter_dds::{Discovery, graph::Graph};

use super::{
    super::facts::{Answer, Interface, Peer},
    sockets::{any, empty_message, metatraffic},
};

/// How long a host may take to say that nobody listens.
const PATIENCE: Duration = Duration::from_millis(500);

/// Participants asked of each host.
const ASKED: u16 = 4;

/// Hosts asked at the same time: with two addresses each they take 256 of the 1024 files a process may have open.
const AT_ONCE: usize = 32;

/// Looks up and asks every host.
///
/// To be done before participants are searched there: a system says only so often that nobody listens.
pub(super) fn ask(discovery: &Discovery) -> Vec<Peer> {
    discovery.static_peers.chunks(AT_ONCE).flat_map(|hosts| ask_these(hosts, discovery.domain)).collect()
}

/// Asks some hosts at the same time, as each may take all of [`PATIENCE`].
fn ask_these(hosts: &[String], domain: u16) -> Vec<Peer> {
    let found: Vec<_> = hosts.iter().map(|host| Discovery::look_up(host)).collect();
    let asked = |found: &io::Result<Vec<SocketAddr>>| -> Vec<UdpSocket> {
        found.iter().flatten().flat_map(|at| questions(*at, domain)).collect()
    };
    let asked: Vec<_> = found.iter().map(asked).collect();
    let end = Instant::now() + PATIENCE;
    let judge = |((host, found), sockets): ((&String, io::Result<Vec<SocketAddr>>), Vec<UdpSocket>)| Peer {
        host: host.clone(),
        answer: if says_nobody(&sockets, end) { Answer::NobodyThere } else { Answer::Silence },
        addresses: found
            .map(|found| found.iter().map(SocketAddr::ip).collect())
            .map_err(|error| error.to_string()),
    };
    hosts.iter().zip(found).zip(asked).map(judge).collect()
}

/// Notes the hosts where somebody was found after all.
pub(super) fn count(peers: &mut [Peer], graph: &Graph, own: &[Interface]) {
    for peer in peers {
        let addresses = peer.addresses.as_deref().unwrap_or_default();
        if let found @ 1.. = participants_at(graph, addresses, own) {
            peer.answer = Answer::Found(found);
        }
    }
}

/// How many participants can be reached at one of these addresses.
fn participants_at(graph: &Graph, addresses: &[IpAddr], own: &[Interface]) -> usize {
    let is_own = |ip: IpAddr| ip.is_loopback() || own.iter().any(|interface| interface.addr == ip);
    // A participant of this machine need not name its loopback address.
    let here = addresses.iter().any(|ip| is_own(*ip));
    let at = |ip: IpAddr| addresses.contains(&ip) || (here && is_own(ip));
    graph.participants.iter().filter(|p| p.addresses.iter().any(|address| at(address.ip()))).count()
}

/// Sends something to the ports of the first participants of a host.
fn questions(at: SocketAddr, domain: u16) -> Vec<UdpSocket> {
    let ask = |id| -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind((any(at.ip()), 0))?;
        let mut to = at;
        if at.port() == 0 {
            to.set_port(metatraffic(domain, id));
        }
        // Only a connected socket hears of it.
        socket.connect(to)?;
        socket.send(&empty_message())?;
        Ok(socket)
    };
    (0..ASKED).filter_map(|id| ask(id).ok()).collect()
}

/// Whether a host answers that nothing has these ports: then it can be reached at least.
fn says_nobody(sockets: &[UdpSocket], end: Instant) -> bool {
    sockets.iter().any(|socket| {
        let left = end.saturating_duration_since(Instant::now());
        // A read timeout of zero would be none at all.
        let limited =
            if left.is_zero() { socket.set_nonblocking(true) } else { socket.set_read_timeout(Some(left)) };
        let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        limited.is_ok() && socket.recv(&mut [0; 64]).is_err_and(refused)
    })
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rostrans_adapter_dds::{DiscoveryRange, Guid, graph::ParticipantInfo};

    use super::*;

    #[test]
    fn a_host_where_nobody_listens_says_so() {
        // A domain beyond those that people and other tests use.
        let domain = 101;
        let host = "127.0.0.1".to_owned();
        let discovery = Discovery {
            domain,
            range: DiscoveryRange::Localhost,
            static_peers: vec![host],
            ..Discovery::default()
        };
        let [peer] = &ask(&discovery)[..] else { panic!("one host, one answer") };
        assert_eq!(
            (peer.answer, peer.addresses.clone()),
            (Answer::NobodyThere, Ok(vec![Ipv4Addr::LOCALHOST.into()]))
        );
    }

    #[test]
    fn many_silent_hosts_are_asked_at_the_same_time() {
        // Addresses for documentation, RFC 5737: nobody answers there.
        let hosts: Vec<_> = (1..=20).map(|n| format!("198.51.100.{n}")).collect();
        let begin = Instant::now();
        let peers = ask(&Discovery { domain: 101, static_peers: hosts, ..Discovery::default() });
        assert_eq!(peers.len(), 20);
        assert!(begin.elapsed() < 8 * PATIENCE, "{:?}", begin.elapsed());
    }

    #[test]
    fn a_participant_of_this_machine_is_at_its_loopback_address() {
        let own = Interface {
            name: "eth0".to_owned(),
            addr: [10, 0, 0, 1].into(),
            loopback: false,
            multicast: true,
            heard: None,
        };
        let participant = |ip: [u8; 4]| ParticipantInfo {
            guid: Guid::UNKNOWN,
            addresses: vec![(ip, 7411).into()],
            enclave: None,
            lists_nodes: false,
            own: false,
        };
        let graph = Graph {
            participants: vec![participant([10, 0, 0, 1]), participant([10, 0, 0, 2])],
            ..Graph::default()
        };
        let count = |ip: [u8; 4]| participants_at(&graph, &[ip.into()], std::slice::from_ref(&own));
        assert_eq!([count([127, 0, 0, 1]), count([10, 0, 0, 2]), count([10, 0, 0, 3])], [1, 1, 0]);
    }
}
