use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Mutex;

use rostrans_net::{BindOptions, bind};
use tracing::{info, warn};

use super::plan::Plan;
use super::ports::{Ports, SEARCHED};
use super::watch::{Exit, Watch};
use crate::config::{DiscoveryRange, IpFamily, ParticipantConfig};
use crate::error::RtpsError;
use crate::state::Network;

/// The sockets of a participant; none at all when its range is off.
///
/// They are bound to no address and stay the same when interfaces come and go.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    /// Receives and sends discovery traffic and samples.
    pub(crate) receive: Vec<UdpSocket>,
    /// Sends everything that must not wait.
    pub(crate) user: Pair,
    /// Sends paced traffic; waits when the send buffer is full.
    pub(crate) bulk: Pair,
    /// Sends multicast; locked, as each datagram leaves by every interface in turn.
    pub(crate) multicast: Pair,
    /// Where multicast leaves.
    pub(crate) exits: Mutex<Vec<Exit>>,
    /// What the sockets for samples hold, in bytes.
    pub(crate) receive_buffer: usize,
    /// Where a datagram wakes the receive thread.
    doorbell: Option<SocketAddr>,
}

/// A socket for each version of IP in use.
#[derive(Debug, Default)]
pub(crate) struct Pair {
    pub(crate) v4: Option<UdpSocket>,
    pub(crate) v6: Option<UdpSocket>,
}

impl Pair {
    /// Opens the sockets of a family; `open` gets the address that stands for all addresses.
    fn open(family: IpFamily, mut open: impl FnMut(IpAddr) -> io::Result<UdpSocket>) -> io::Result<Self> {
        let mut of = |any: IpAddr| family.includes(any).then(|| open(any)).transpose();
        Ok(Self { v4: of(Ipv4Addr::UNSPECIFIED.into())?, v6: of(Ipv6Addr::UNSPECIFIED.into())? })
    }

    /// The socket that can send to an address like this one.
    pub(crate) fn of(&self, to: IpAddr) -> Option<&UdpSocket> {
        if to.is_ipv4() { self.v4.as_ref() } else { self.v6.as_ref() }
    }

    fn try_clone(&self) -> io::Result<Self> {
        let clone = |socket: &Option<UdpSocket>| socket.as_ref().map(UdpSocket::try_clone).transpose();
        Ok(Self { v4: clone(&self.v4)?, v6: clone(&self.v6)? })
    }

    fn into_iter(self) -> impl Iterator<Item = UdpSocket> {
        self.v4.into_iter().chain(self.v6)
    }
}

/// A receive buffer below this loses big samples.
const SMALL_BUFFER: usize = 1 << 20;

/// Opens the sockets on the first free standard ports.
///
/// **Errors**: bad domain, no free participant id, socket failure.
pub(crate) fn open(config: &ParticipantConfig) -> Result<(Sockets, Watch, Network), RtpsError> {
    let ports = Ports::new(config.domain)?;
    let range = config.range;
    let mut plan = Plan {
        ports,
        participant: 0,
        range,
        family: config.family,
        interfaces: config.interfaces.clone(),
        static_peers: config.static_peers.clone(),
    };
    if range == DiscoveryRange::Off {
        return Ok((Sockets::default(), Watch::idle(plan), Network::default()));
    }
    plan.family = available(config.family);
    let (participant, metatraffic, user, receive_buffer) = bind_pair(ports, plan.family, config)?;
    plan.participant = participant;
    if participant >= SEARCHED {
        warn!(
            participant,
            "more than {SEARCHED} participants on this host; without multicast not all of them find each other, end \
             some or use another ROS_DOMAIN_ID"
        );
    }

    let mut sockets = Sockets { receive_buffer, doorbell: Some(doorbell(&plan)), ..Sockets::default() };
    let failed = RtpsError::Socket;
    let receivers =
        if range == DiscoveryRange::Subnet { open_multicast(&plan, config) } else { Pair::default() };
    let mut watch = Watch::new(plan, receivers.try_clone().map_err(failed)?);
    sockets.bulk = Pair::open(watch.plan.family, |any| {
        let (bulk, _) = bind(SocketAddr::new(any, 0), &options(config))?;
        bulk.set_nonblocking(false)?;
        Ok(bulk)
    })
    .map_err(failed)?;
    sockets.multicast = sockets.bulk.try_clone().map_err(failed)?;
    sockets.user = user.try_clone().map_err(failed)?;
    sockets.receive.extend(receivers.into_iter().chain(metatraffic.into_iter()).chain(user.into_iter()));

    let network = watch.look(&sockets.exits).map_err(failed)?.unwrap_or_default();
    info!(domain = config.domain, participant, ?range, addresses = ?network.own.user, "RTPS participant open");
    Ok((sockets, watch, network))
}

impl Sockets {
    /// Makes the receive thread look around.
    pub(crate) fn wake_receiver(&self) {
        if let Some(to) = self.doorbell
            && let Some(socket) = self.user.of(to.ip())
            && let Err(error) = socket.send_to(&[], to)
        {
            // The thread wakes by itself soon.
            tracing::debug!(%error, "receive thread not woken");
        }
    }
}

/// Leaves out IPv6 where the system has none and IPv4 will do.
fn available(family: IpFamily) -> IpFamily {
    if family != IpFamily::Both {
        return family;
    }
    match UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)) {
        Ok(_) => family,
        Err(error) => {
            warn!(%error, "no IPv6 on this system; only IPv4 is used");
            IpFamily::V4
        }
    }
}

fn bind_pair(
    ports: Ports,
    family: IpFamily,
    config: &ParticipantConfig,
) -> Result<(u16, Pair, Pair, usize), RtpsError> {
    let mut buffer = 0;
    for participant in ports.participants() {
        let mut at = |port| {
            Pair::open(family, |any| {
                let (socket, granted) = bind(SocketAddr::new(any, port), &options(config))?;
                buffer = granted.recv_buffer;
                Ok(socket)
            })
        };
        let pair = at(ports.metatraffic(participant)).and_then(|m| Ok((m, at(ports.user(participant))?)));
        match pair {
            Ok((metatraffic, user)) => {
                if buffer < SMALL_BUFFER {
                    warn!(
                        bytes = buffer,
                        "small receive buffer, big samples may get lost; raise net.core.rmem_max"
                    );
                }
                return Ok((participant, metatraffic, user, buffer));
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(RtpsError::Socket(error)),
        }
    }
    Err(RtpsError::NoFreeParticipant { domain: config.domain, taken: ports.participants().end })
}

/// Opens the receivers of multicast; without one, only this host and static peers are found.
fn open_multicast(plan: &Plan, config: &ParticipantConfig) -> Pair {
    let reuse = BindOptions { reuse: true, ..options(config) };
    let opened = Pair::open(plan.family, |any| {
        let (receiver, _) = bind(SocketAddr::new(any, plan.ports.multicast()), &reuse)?;
        Ok(receiver)
    });
    opened.unwrap_or_else(|error| {
        warn!(%error, "no multicast discovery; only this host and static peers will be found");
        Pair::default()
    })
}

fn options(config: &ParticipantConfig) -> BindOptions {
    BindOptions {
        recv_buffer: config.socket_buffer,
        send_buffer: config.socket_buffer,
        reuse: false,
        broadcast: false,
    }
}

fn doorbell(plan: &Plan) -> SocketAddr {
    let v4 = IpAddr::from(Ipv4Addr::LOCALHOST);
    let host = if plan.family.includes(v4) { v4 } else { Ipv6Addr::LOCALHOST.into() };
    SocketAddr::new(host, plan.ports.metatraffic(plan.participant))
}
