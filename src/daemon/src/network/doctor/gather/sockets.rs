//! What sockets are allowed to do. Everything sent is an empty RTPS message, which participants ignore.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher as _, Hasher as _},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket},
    time::{Duration, Instant},
};

use rostrans_adapter_dds::{Discovery, DiscoveryRange};
use rostrans_net::{
    BindOptions, bind, interfaces as system_interfaces, join_multicast, multicast_through, wait_readable,
};

use super::{
    super::{
        check::WANTED,
        facts::{Buffers, Interface, Ports, Try},
    },
    owners, system,
};
use crate::network::ports as domain_ports;

/// The groups of IPv4 and, as Fast DDS has it, of IPv6.
///
/// Source: DDSI-RTPS 2.5, 9.6.1.4.1.
const GROUP_V4: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff1e, 0, 0, 0, 0, 0xffff, 0xefff, 1);

/// How long a datagram to oneself may take.
const PATIENCE: Duration = Duration::from_millis(300);

/// Sockets for a test need no large buffers.
const SMALL: BindOptions =
    BindOptions { recv_buffer: 1 << 16, send_buffer: 1 << 16, reuse: false, broadcast: false };

/// The addresses of this machine in the versions of IP in use; in range SUBNET also whether the group is heard there.
///
/// `wanted` are names or addresses of interfaces; none means all.
pub(super) fn interfaces(discovery: &Discovery, wanted: &[String]) -> Vec<Interface> {
    let family = discovery.ip_family();
    let is_wanted = |i: &rostrans_net::Interface| wanted.is_empty() || wanted.iter().any(|w| names(w, i));
    let all = system_interfaces().unwrap_or_default();
    let found: Vec<_> = all.into_iter().filter(|i| family.includes(i.addr) && is_wanted(i)).collect();
    let mut tried: Vec<(u32, bool)> = Vec::new();
    let mut try_group = |interface: &rostrans_net::Interface| {
        let v4 = interface.addr.is_ipv4();
        let outer = found.iter().any(|i| !i.loopback && i.addr.is_ipv4() == v4);
        let subnet = discovery.range == DiscoveryRange::Subnet;
        // Once for each interface and version of IP.
        let new = !tried.contains(&(interface.index, v4));
        let fits = subnet && new && interface.multicast && !(interface.loopback && outer);
        fits.then(|| {
            tried.push((interface.index, v4));
            outcome(hears_group(discovery.domain, interface.addr, interface.index))
        })
    };
    let heard: Vec<_> = found.iter().map(&mut try_group).collect();
    let describe = |(interface, heard): (rostrans_net::Interface, _)| Interface {
        heard,
        name: interface.name,
        addr: interface.addr,
        loopback: interface.loopback,
        multicast: interface.multicast,
    };
    found.into_iter().zip(heard).map(describe).collect()
}

/// Those of the wanted interfaces that are not there.
pub(super) fn missing(wanted: &[String]) -> Vec<String> {
    let all = system_interfaces().unwrap_or_default();
    wanted.iter().filter(|word| !all.iter().any(|i| names(word, i))).cloned().collect()
}

/// Whether a word is the name or address of an interface.
fn names(word: &str, interface: &rostrans_net::Interface) -> bool {
    word == interface.name || word.parse() == Ok(interface.addr)
}

/// Sends to the group through one interface, and listens there as participants do.
fn hears_group(domain: u16, local: IpAddr, index: u32) -> io::Result<bool> {
    let (port, _) = domain_ports(domain);
    let port = u16::try_from(port).map_err(|_| io::ErrorKind::InvalidInput)?;
    let (group, v4) = match local {
        IpAddr::V4(local) => (SocketAddr::new(GROUP_V4.into(), port), local),
        IpAddr::V6(_) => (SocketAddrV6::new(GROUP_V6, port, 0, index).into(), Ipv4Addr::UNSPECIFIED),
    };
    let shared = BindOptions { reuse: true, ..SMALL };
    let (receiver, _) = bind(SocketAddr::new(any(local), port), &shared)?;
    join_multicast(&receiver, group.ip(), v4, index)?;
    let (sender, _) = bind(SocketAddr::new(any(local), 0), &SMALL)?;
    multicast_through(&sender, local, index)?;
    passes(&sender, &receiver, group)
}

/// The address that stands for all of the same version of IP.
pub(super) fn any(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

/// Sends datagrams to a port of the domain at each address of this machine.
pub(super) fn unicast(discovery: &Discovery, interfaces: &[Interface]) -> Vec<(IpAddr, Try)> {
    let outside = discovery.range == DiscoveryRange::Subnet;
    // A link-local IPv6 address says nothing without its interface.
    let plain = |addr: IpAddr| !matches!(addr, IpAddr::V6(v6) if v6.is_unicast_link_local());
    let wanted = interfaces.iter().filter(|i| (outside || i.loopback) && plain(i.addr)).map(|i| i.addr);
    let arrives = |addr| {
        let Some(receiver) = free_port(discovery.domain, any(addr)) else { return Ok(true) };
        let (sender, _) = bind(SocketAddr::new(any(addr), 0), &SMALL)?;
        passes(&sender, &receiver, SocketAddr::new(addr, receiver.local_addr()?.port()))
    };
    wanted.map(|addr| (addr, outcome(arrives(addr)))).collect()
}

/// A socket at the first free port for discovery traffic; `None` when there is none, which is another finding.
fn free_port(domain: u16, any: IpAddr) -> Option<UdpSocket> {
    (0..PARTICIPANTS).find_map(|id| {
        let at = SocketAddr::new(any, metatraffic(domain, id));
        bind(at, &SMALL).map(|(socket, _)| socket).ok()
    })
}

/// Whether a message gets from one socket to the other; sent three times, as one may be lost to a full buffer.
fn passes(sender: &UdpSocket, receiver: &UdpSocket, to: SocketAddr) -> io::Result<bool> {
    let message = empty_message();
    for _ in 0..3 {
        sender.send_to(&message, to)?;
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            wait_readable(&[receiver], Some(left))?;
            // Others may use the port, too.
            let mut buffer = [0; 64];
            while let Ok(len) = receiver.recv(&mut buffer) {
                if buffer.get(..len) == Some(&message[..]) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

fn outcome(passed: io::Result<bool>) -> Try {
    match passed {
        Ok(true) => Try::Arrived,
        Ok(false) => Try::Lost,
        Err(error) => Try::Refused(error.to_string()),
    }
}

/// An RTPS header of a participant that nobody else is: a message without content.
///
/// **Layout**: `RTPS`, version 2.3, vendor id (that of rostrans), 10 random bytes.
///
/// Source: DDSI-RTPS 2.5, 9.4.4.
pub(super) fn empty_message() -> [u8; 20] {
    let mut message = *b"RTPS\x02\x03\x01\x7e\x01\x7e\0\0\0\0\0\0\0\0\0\0";
    // Every `RandomState` has fresh keys, so the empty hash is a random number.
    let random = RandomState::new().build_hasher().finish().to_le_bytes();
    message.iter_mut().skip(12).zip(random).for_each(|(to, from)| *to = from);
    message
}

/// Participants on one host that find each other without multicast.
const PARTICIPANTS: u16 = 32;

/// Port of a participant's discovery traffic.
///
/// Source: DDSI-RTPS 2.5, 9.6.1.1.
pub(super) fn metatraffic(domain: u16, id: u16) -> u16 {
    u16::try_from(domain_ports(domain).0).unwrap_or(u16::MAX).saturating_add(10 + 2 * id)
}

fn try_bind(port: u16) -> io::Result<UdpSocket> {
    bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port), &SMALL).map(|(socket, _)| socket)
}

/// Which ports of the domain are taken, and by whom.
pub(super) fn ports(domain: u16, multicast: bool) -> Ports {
    let is_taken = |port| try_bind(port).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse);
    let taken: Vec<u16> = (0..PARTICIPANTS)
        .filter(|id| {
            let port = metatraffic(domain, *id);
            is_taken(port) || is_taken(port.saturating_add(1))
        })
        .collect();
    let (first, last) = domain_ports(domain);
    let shared = || {
        let port = u16::try_from(first).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port), &BindOptions { reuse: true, ..SMALL })
    };
    let multicast_refused = if multicast { shared().err().map(|error| error.to_string()) } else { None };
    let open = owners::open_ports();
    let in_domain = |port: u16| (first..=last).contains(&u32::from(port));
    let owners = if taken.is_empty() && multicast_refused.is_none() {
        Vec::new()
    } else {
        owners::programs(&open.iter().filter(|(port, _)| in_domain(*port)).map(|(_, inode)| *inode).collect())
    };
    let mut other_domains = owners::domains(&open);
    other_domains.retain(|other| *other != domain);
    Ports { multicast_refused, taken, owners, other_domains, ephemeral: system::ephemeral_ports() }
}

/// The system's limits, and what this program gets.
pub(super) fn buffers() -> Buffers {
    let wanted = usize::try_from(WANTED).unwrap_or(usize::MAX);
    let options = BindOptions { recv_buffer: wanted, send_buffer: wanted, ..SMALL };
    let granted = bind(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0), &options).ok().map(|(_, granted)| {
        let bytes = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        (bytes(granted.recv_buffer), bytes(granted.send_buffer))
    });
    Buffers {
        rmem_max: system::core_setting("rmem_max"),
        rmem_default: system::core_setting("rmem_default"),
        granted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_to_oneself_pass_and_to_nobody_are_lost() {
        let at = |port| bind(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port), &SMALL).unwrap().0;
        let (sender, receiver, other) = (at(0), at(0), at(0));
        assert!(passes(&sender, &receiver, receiver.local_addr().unwrap()).unwrap());
        assert!(!passes(&sender, &receiver, other.local_addr().unwrap()).unwrap());
    }

    #[test]
    fn wanted_interfaces_are_found_by_name_and_address() {
        let wanted = ["127.0.0.1".to_owned(), "no-such-interface".to_owned()];
        assert_eq!(missing(&wanted), ["no-such-interface"]);
    }

    #[test]
    fn a_taken_port_takes_its_participant_id() {
        // A domain beyond those that people and other tests use.
        let domain = 95 + u16::try_from(std::process::id() % 6).unwrap();
        let first = (0..PARTICIPANTS).find(|id| try_bind(metatraffic(domain, *id)).is_ok()).unwrap();
        let socket = try_bind(metatraffic(domain, first) + 1).unwrap();
        let found = ports(domain, false);
        assert!(found.taken.contains(&first), "{found:?}");
        drop(socket);
    }
}
