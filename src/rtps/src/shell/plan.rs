//! What a participant makes of the interfaces that are there: pure, so that networks need not exist to be tested.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rostrans_net::Interface;

use super::ports::Ports;
use crate::config::{DiscoveryRange, IpFamily};
use crate::state::{LocalAddr, Locals, Network, Reach, is_link_local};

/// The multicast groups of discovery.
///
/// Source: DDSI-RTPS 2.5, 9.6.1.4.1 for IPv4. The standard names none for IPv6; Fast DDS uses the second, Cyclone DDS
/// the third.
pub(crate) const GROUPS: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(239, 255, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0xff1e, 0, 0, 0, 0, 0xffff, 0xefff, 1)),
    IpAddr::V6(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0xffff, 0xefff, 1)),
];

/// What stays the same when interfaces come and go.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) ports: Ports,
    pub(crate) participant: u16,
    pub(crate) range: DiscoveryRange,
    pub(crate) family: IpFamily,
    /// Names or addresses of the interfaces to use; empty means all of them.
    pub(crate) interfaces: Vec<String>,
    pub(crate) static_peers: Vec<SocketAddr>,
}

impl Plan {
    /// Addresses and destinations of announcements.
    pub(crate) fn network(&self, all: &[Interface]) -> Network {
        let subnet = self.range == DiscoveryRange::Subnet;
        let usable = |peer: &&SocketAddr| self.family.includes(peer.ip());
        let elsewhere = self.static_peers.iter().filter(usable).any(|p| !p.ip().is_loopback());
        let here = self.reach(self.loopbacks());
        let outside = self.reach(self.addresses(all).into_iter());
        // Whoever names a peer elsewhere wants to be reached by it, whatever the range says about searching.
        let (own, outside) = if subnet || elsewhere { (outside, None) } else { (here, Some(outside)) };
        Network { own, outside, announce_to: self.announce_to(), local: self.locals(all) }
    }

    /// Interfaces on which multicast is received and sent, one entry for each interface and version of IP.
    pub(crate) fn multicast<'a>(&self, all: &'a [Interface]) -> Vec<&'a Interface> {
        let mut found: Vec<&Interface> = Vec::new();
        if self.range == DiscoveryRange::Subnet {
            for interface in self.chosen(all).into_iter().filter(|i| i.multicast) {
                let same = |f: &&Interface| {
                    f.index == interface.index && f.addr.is_ipv4() == interface.addr.is_ipv4()
                };
                if !found.iter().any(same) {
                    found.push(interface);
                }
            }
        }
        found
    }

    /// Those names and addresses that no interface has now.
    pub(crate) fn missing(&self, all: &[Interface]) -> impl Iterator<Item = &str> {
        self.interfaces.iter().map(String::as_str).filter(|wanted| !all.iter().any(|i| is_meant(i, wanted)))
    }

    /// The addresses to use, of each version of IP. A host without a network of one version has its loopback address.
    fn chosen<'a>(&self, all: &'a [Interface]) -> Vec<&'a Interface> {
        let wanted =
            |i: &Interface| self.interfaces.is_empty() || self.interfaces.iter().any(|w| is_meant(i, w));
        let mut chosen = Vec::new();
        for v4 in [true, false] {
            let of_version = || all.iter().filter(|i| i.addr.is_ipv4() == v4 && self.family.includes(i.addr));
            let before = chosen.len();
            chosen.extend(of_version().filter(|i| !i.loopback && wanted(i)));
            if chosen.len() == before {
                chosen.extend(of_version().filter(|i| i.loopback));
            }
        }
        chosen
    }

    /// The addresses to announce.
    ///
    /// One of each network: a Fast DDS peer sends everything to every address. A link-local one only where there is no
    /// other, as it is of no use without knowing the interface.
    fn addresses(&self, all: &[Interface]) -> Vec<IpAddr> {
        let chosen = self.chosen(all);
        let mut found: Vec<&Interface> = Vec::new();
        for interface in &chosen {
            let neighbours = || chosen.iter().filter(|c| c.index == interface.index && c.addr.is_ipv6());
            let spare = is_scoped(interface.addr) && neighbours().any(|n| !is_scoped(n.addr));
            let same_net = |f: &&Interface| f.index == interface.index && network(f) == network(interface);
            if !spare && !found.iter().any(same_net) {
                found.push(interface);
            }
        }
        if found.is_empty() { self.loopbacks().collect() } else { found.iter().map(|i| i.addr).collect() }
    }

    fn announce_to(&self) -> Vec<SocketAddr> {
        let own_port = self.ports.metatraffic(self.participant);
        let near =
            self.loopbacks().flat_map(|ip| self.ports.searched_at(ip)).filter(|to| to.port() != own_port);
        let groups = GROUPS
            .iter()
            .filter(|group| self.range == DiscoveryRange::Subnet && self.family.includes(**group));
        let far = self.static_peers.iter().filter(|peer| self.family.includes(peer.ip()));
        let mut targets: Vec<_> =
            near.chain(groups.map(|g| SocketAddr::new(*g, self.ports.multicast()))).collect();
        for to in far.flat_map(|peer| self.ports.searched(*peer)) {
            if !targets.contains(&to) {
                targets.push(to);
            }
        }
        targets
    }

    fn loopbacks(&self) -> impl Iterator<Item = IpAddr> + use<> {
        let family = self.family;
        [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
            .into_iter()
            .filter(move |ip| family.includes(*ip))
    }

    fn reach(&self, addresses: impl Iterator<Item = IpAddr>) -> Reach {
        let mut reach = Reach::default();
        for ip in addresses {
            reach.metatraffic.push(SocketAddr::new(ip, self.ports.metatraffic(self.participant)));
            reach.user.push(SocketAddr::new(ip, self.ports.user(self.participant)));
        }
        reach
    }

    fn locals(&self, all: &[Interface]) -> Locals {
        let local = |i: &Interface| LocalAddr { ip: i.addr, prefix_len: i.prefix_len, index: i.index };
        Locals::new(self.family, all.iter().map(local).collect())
    }
}

/// Whether `wanted` is the name of the interface or its address.
fn is_meant(interface: &Interface, wanted: &str) -> bool {
    interface.name == wanted || wanted.parse() == Ok(interface.addr)
}

fn is_scoped(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if is_link_local(ip))
}

/// The part of an address that its network shares.
fn network(interface: &Interface) -> (bool, u128) {
    let (bits, len) = match interface.addr {
        IpAddr::V4(ip) => (u128::from(ip.to_bits()), 32),
        IpAddr::V6(ip) => (ip.to_bits(), 128),
    };
    let host = u32::from(len - interface.prefix_len.min(len));
    (interface.addr.is_ipv4(), bits.checked_shr(host).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, index: u32, addr: &str) -> Interface {
        let (ip, prefix_len) = addr.split_once('/').unwrap();
        let addr: IpAddr = ip.parse().unwrap();
        let prefix_len = prefix_len.parse().unwrap();
        let loopback = name == "lo";
        Interface { name: name.into(), index, addr, prefix_len, loopback, multicast: !loopback }
    }

    fn host() -> Vec<Interface> {
        vec![
            interface("lo", 1, "127.0.0.1/8"),
            interface("lo", 1, "::1/128"),
            interface("eth0", 2, "10.0.0.5/24"),
            interface("eth0", 2, "2001:db8::5/64"),
            interface("eth0", 2, "2001:db8::77/64"),
            interface("eth0", 2, "fe80::5/64"),
            interface("wlan0", 3, "192.168.1.5/24"),
            interface("wlan0", 3, "fe80::6/64"),
        ]
    }

    fn plan(range: DiscoveryRange, family: IpFamily) -> Plan {
        Plan {
            ports: Ports::new(0).unwrap(),
            participant: 1,
            range,
            family,
            interfaces: Vec::new(),
            static_peers: Vec::new(),
        }
    }

    fn text(addrs: &[SocketAddr]) -> Vec<String> {
        addrs.iter().map(SocketAddr::to_string).collect()
    }

    #[test]
    fn one_address_of_each_network_is_announced() {
        let network = plan(DiscoveryRange::Subnet, IpFamily::Both).network(&host());
        let want = ["10.0.0.5:7413", "192.168.1.5:7413", "[2001:db8::5]:7413", "[fe80::6]:7413"];
        assert_eq!(text(&network.own.user), want);
        let network = plan(DiscoveryRange::Subnet, IpFamily::V4).network(&host());
        assert_eq!(text(&network.own.metatraffic), ["10.0.0.5:7412", "192.168.1.5:7412"]);
    }

    #[test]
    fn a_host_without_a_network_is_reached_over_loopback() {
        let all = &host()[..3];
        let network = plan(DiscoveryRange::Subnet, IpFamily::Both).network(all);
        assert_eq!(text(&network.own.user), ["10.0.0.5:7413", "[::1]:7413"]);
        let network = plan(DiscoveryRange::Subnet, IpFamily::V4).network(&all[..1]);
        assert_eq!(text(&network.own.user), ["127.0.0.1:7413"]);
        assert_eq!(plan(DiscoveryRange::Subnet, IpFamily::V4).network(&[]).own, network.own);
    }

    #[test]
    fn interfaces_are_chosen_by_name_or_address() {
        let by = |wanted: &str| {
            let interfaces = vec![wanted.to_owned()];
            let plan = Plan { interfaces, ..plan(DiscoveryRange::Subnet, IpFamily::Both) };
            (
                text(&plan.network(&host()).own.user),
                plan.multicast(&host()).len(),
                plan.missing(&host()).count(),
            )
        };
        let wlan = vec!["192.168.1.5:7413".to_owned(), "[fe80::6]:7413".to_owned()];
        assert_eq!(by("wlan0"), (wlan, 2, 0));
        // Loopback carries no multicast here.
        assert_eq!(by("10.0.0.5"), (vec!["10.0.0.5:7413".to_owned(), "[::1]:7413".to_owned()], 1, 0));
        assert_eq!(by("usb0"), (vec!["127.0.0.1:7413".to_owned(), "[::1]:7413".to_owned()], 0, 1));
    }

    #[test]
    fn searching_this_host_stays_on_loopback_until_somebody_else_turns_up() {
        let network = plan(DiscoveryRange::Localhost, IpFamily::V4).network(&host());
        assert_eq!(text(&network.own.user), ["127.0.0.1:7413"]);
        assert_eq!(text(&network.outside.unwrap().user), ["10.0.0.5:7413", "192.168.1.5:7413"]);
        assert!(network.announce_to.iter().all(|to| to.ip().is_loopback() && to.port() != 7412));
        assert_eq!(network.announce_to.len(), 31);
    }

    #[test]
    fn a_static_peer_elsewhere_opens_the_network() {
        let static_peers = vec!["10.0.0.9:7500".parse().unwrap(), "[2001:db8::9]:0".parse().unwrap()];
        let plan = Plan { static_peers, ..plan(DiscoveryRange::Localhost, IpFamily::V4) };
        let network = plan.network(&host());
        assert_eq!((text(&network.own.user).len(), network.outside), (2, None));
        assert_eq!(text(&network.announce_to[31..]), ["10.0.0.9:7500"], "no IPv6 socket, no IPv6 peer");
        assert_eq!(
            Plan { family: IpFamily::Both, ..plan }.network(&host()).announce_to.len(),
            31 + 31 + 1 + 32
        );
    }

    #[test]
    fn the_groups_of_every_implementation_are_announced_to() {
        let network = plan(DiscoveryRange::Subnet, IpFamily::Both).network(&host());
        let groups: Vec<_> =
            network.announce_to.iter().filter(|to| to.ip().is_multicast()).copied().collect();
        let want = ["239.255.0.1:7400", "[ff1e::ffff:efff:1]:7400", "[ff02::ffff:efff:1]:7400"];
        assert_eq!(text(&groups), want);
    }
}
