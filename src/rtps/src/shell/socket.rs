use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use rostrans_net::{BindOptions, Interface, bind, interfaces, join_multicast, set_multicast_if};
use tracing::{info, warn};

use crate::config::{DiscoveryRange, ParticipantConfig};
use crate::error::RtpsError;

/// The sockets of a participant; none at all when its range is off.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    /// Receives and sends discovery traffic and samples.
    pub(crate) receive: Vec<UdpSocket>,
    /// Sends everything that must not wait.
    pub(crate) user: Option<UdpSocket>,
    /// Sends paced traffic; waits when the send buffer is full.
    pub(crate) bulk: Option<UdpSocket>,
    /// Send multicast, one per interface.
    pub(crate) multicast: Vec<UdpSocket>,
    /// Where a datagram wakes the receive thread.
    doorbell: Option<SocketAddr>,
}

/// What the core has to know about the sockets.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    pub(crate) metatraffic: Vec<SocketAddr>,
    pub(crate) user: Vec<SocketAddr>,
    pub(crate) announce_to: Vec<SocketAddr>,
    pub(crate) local: Vec<IpAddr>,
}

/// Participants on one host that find each other without multicast.
const PARTICIPANTS: u16 = 32;
/// The group every participant listens to.
///
/// Source: DDSI-RTPS 2.5, 9.6.1.4.1.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
/// A receive buffer below this loses big samples.
const SMALL_BUFFER: usize = 1 << 20;

/// Standard ports of a domain.
///
/// Source: DDSI-RTPS 2.5, 9.6.1.1.
#[derive(Clone, Copy, Debug)]
struct Ports {
    base: u16,
}

impl Ports {
    /// **Errors**: the domain's ports exceed 65535.
    fn new(domain: u16) -> Result<Self, RtpsError> {
        let last = u32::from(domain) * 250 + 7400 + 11 + 2 * u32::from(PARTICIPANTS);
        if last > u32::from(u16::MAX) {
            return Err(RtpsError::Domain(domain));
        }
        Ok(Self { base: 7400 + 250 * domain })
    }

    fn multicast(self) -> u16 {
        self.base
    }

    fn metatraffic(self, participant: u16) -> u16 {
        self.base + 10 + 2 * participant
    }

    fn user(self, participant: u16) -> u16 {
        self.base + 11 + 2 * participant
    }
}

/// Opens the sockets on the first free standard ports.
///
/// **Errors**: bad domain, no free participant id, socket failure.
pub(crate) fn open(config: &ParticipantConfig) -> Result<(Sockets, Addresses), RtpsError> {
    let ports = Ports::new(config.domain)?;
    if config.range == DiscoveryRange::Off {
        return Ok((Sockets::default(), Addresses::default()));
    }
    let all = interfaces().map_err(RtpsError::Socket)?;
    let local = all.iter().map(|i| i.addr).collect();
    let wanted = |i: &&Interface| config.interfaces.is_empty() || config.interfaces.contains(&i.addr);
    let with_v4 = |loopback: bool| all.iter().filter(move |i| i.loopback == loopback && v4(i).is_some());
    let mut chosen: Vec<&Interface> = with_v4(false).filter(wanted).collect();
    if chosen.is_empty() {
        // A host without a network may still carry multicast on its loopback interface.
        chosen.extend(with_v4(true));
    }
    let static_peers: Vec<_> = config.static_peers.iter().filter_map(|p| static_peer(*p)).collect();
    let subnet = config.range == DiscoveryRange::Subnet;
    // Whoever names a peer elsewhere wants to reach it, whatever the range says about searching.
    let wide = subnet || static_peers.iter().any(|p| !p.ip().is_loopback());
    let host = if wide { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
    let (participant, metatraffic, user) = bind_pair(ports, host, config)?;

    let mut sockets =
        Sockets { doorbell: Some(doorbell(ports.metatraffic(participant))), ..Sockets::default() };
    if subnet {
        match open_multicast(ports.multicast(), &chosen, config, &mut sockets.multicast) {
            Ok(socket) => sockets.receive.push(socket),
            Err(error) => {
                warn!(%error, "no multicast discovery; only this host and static peers will be found")
            }
        }
    }
    let (bulk, _) = bind(SocketAddr::new(host.into(), 0), &options(config)).map_err(RtpsError::Socket)?;
    bulk.set_nonblocking(false).map_err(RtpsError::Socket)?;
    sockets.bulk = Some(bulk);
    sockets.user = Some(user.try_clone().map_err(RtpsError::Socket)?);
    sockets.receive.extend([metatraffic, user]);

    let mut own: Vec<Ipv4Addr> =
        if wide { chosen.iter().filter_map(|i| v4(i)).collect() } else { Vec::new() };
    if own.is_empty() {
        own.push(Ipv4Addr::LOCALHOST);
    }
    let at = |port: u16| own.iter().map(|ip| SocketAddr::from((*ip, port))).collect::<Vec<_>>();
    let mut announce_to: Vec<_> = standard_ports(Ipv4Addr::LOCALHOST.into(), ports)
        .filter(|to| to.port() != ports.metatraffic(participant))
        .collect();
    if subnet {
        announce_to.push(SocketAddr::from((GROUP, ports.multicast())));
    }
    for peer in static_peers {
        match peer.port() {
            0 => announce_to.extend(standard_ports(peer.ip(), ports)),
            _ => announce_to.push(peer),
        }
    }
    info!(domain = config.domain, participant, range = ?config.range, addresses = ?own, "RTPS participant open");
    let addresses = Addresses {
        metatraffic: at(ports.metatraffic(participant)),
        user: at(ports.user(participant)),
        announce_to,
        local,
    };
    Ok((sockets, addresses))
}

impl Sockets {
    /// Makes the receive thread look around.
    pub(crate) fn wake_receiver(&self) {
        if let (Some(socket), Some(to)) = (&self.user, self.doorbell)
            && let Err(error) = socket.send_to(&[], to)
        {
            // The thread wakes by itself soon.
            tracing::debug!(%error, "receive thread not woken");
        }
    }
}

fn bind_pair(
    ports: Ports,
    host: Ipv4Addr,
    config: &ParticipantConfig,
) -> Result<(u16, UdpSocket, UdpSocket), RtpsError> {
    for participant in 0..PARTICIPANTS {
        let at = |port| bind(SocketAddr::new(host.into(), port), &options(config));
        let pair = at(ports.metatraffic(participant)).and_then(|m| Ok((m, at(ports.user(participant))?)));
        match pair {
            Ok(((metatraffic, _), (user, granted))) => {
                if granted.recv_buffer < SMALL_BUFFER {
                    warn!(
                        bytes = granted.recv_buffer,
                        "small receive buffer, big samples may get lost; raise net.core.rmem_max"
                    );
                }
                return Ok((participant, metatraffic, user));
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(RtpsError::Socket(error)),
        }
    }
    Err(RtpsError::NoFreeParticipant { domain: config.domain })
}

/// Opens the multicast receiver and one sender per interface.
fn open_multicast(
    port: u16,
    chosen: &[&Interface],
    config: &ParticipantConfig,
    senders: &mut Vec<UdpSocket>,
) -> io::Result<UdpSocket> {
    let reuse = BindOptions { reuse: true, ..options(config) };
    let (receiver, _) = bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port), &reuse)?;
    for interface in chosen.iter().filter(|i| i.multicast) {
        let Some(ip) = v4(interface) else { continue };
        let joined = join_multicast(&receiver, GROUP.into(), ip, interface.index);
        let opened = joined.and_then(|()| {
            let (sender, _) = bind(SocketAddr::new(ip.into(), 0), &BindOptions::default())?;
            set_multicast_if(&sender, ip, true)?;
            Ok(sender)
        });
        match opened {
            Ok(sender) => senders.push(sender),
            Err(error) => warn!(interface = %interface.name, %ip, %error, "no multicast on this interface"),
        }
    }
    Ok(receiver)
}

fn options(config: &ParticipantConfig) -> BindOptions {
    BindOptions {
        recv_buffer: config.socket_buffer,
        send_buffer: config.socket_buffer,
        reuse: false,
        broadcast: false,
    }
}

fn standard_ports(host: IpAddr, ports: Ports) -> impl Iterator<Item = SocketAddr> {
    (0..PARTICIPANTS).map(move |p| SocketAddr::new(host, ports.metatraffic(p)))
}

fn doorbell(port: u16) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)
}

fn v4(interface: &Interface) -> Option<Ipv4Addr> {
    match interface.addr {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(_) => None,
    }
}

fn static_peer(peer: SocketAddr) -> Option<SocketAddr> {
    match peer {
        SocketAddr::V4(_) => Some(peer),
        SocketAddr::V6(_) => {
            warn!(%peer, "static peer ignored; only IPv4 is supported");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_follow_the_standard() {
        let ports = Ports::new(1).unwrap();
        assert_eq!((ports.multicast(), ports.metatraffic(0), ports.user(3)), (7650, 7660, 7667));
    }

    #[test]
    fn a_domain_beyond_the_port_range_is_refused() {
        assert!(Ports::new(231).is_ok());
        assert!(matches!(Ports::new(233), Err(RtpsError::Domain(233))));
    }
}
