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

/// Looks up and asks every host.
///
/// To be done before participants are searched there: a system says only so often that nobody listens.
pub(super) fn ask(discovery: &Discovery) -> Vec<Peer> {
    let judge = |host: &String| {
        let found = Discovery::look_up(host);
        let refuses = |found: &Vec<SocketAddr>| found.iter().any(|at| says_nobody(*at, discovery.domain));
        Peer {
            host: host.clone(),
            answer: if found.as_ref().is_ok_and(refuses) { Answer::NobodyThere } else { Answer::Silence },
            addresses: found
                .map(|found| found.iter().map(SocketAddr::ip).collect())
                .map_err(|error| error.to_string()),
        }
    };
    discovery.static_peers.iter().map(judge).collect()
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

/// Whether a host answers that nothing has the ports of the first participants: then it can be reached at least.
fn says_nobody(at: SocketAddr, domain: u16) -> bool {
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
    let sockets: Vec<_> = (0..ASKED).filter_map(|id| ask(id).ok()).collect();
    let end = Instant::now() + PATIENCE;
    sockets.iter().any(|socket| {
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        socket.set_read_timeout(Some(left)).is_ok() && socket.recv(&mut [0; 64]).is_err_and(refused)
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
