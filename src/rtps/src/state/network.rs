//! This host's addresses, and which of a peer's addresses to use.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};

use super::lane::Path;
use super::peer::Address;
use crate::config::IpFamily;

/// The network as it is now, and who is to hear of us.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Network {
    /// Where we are reached.
    pub(crate) own: Reach,
    /// Where we are reached once a participant of another host has turned up; `None`: at `own`, too.
    pub(crate) outside: Option<Reach>,
    /// Where announcements go, besides to known peers.
    pub(crate) announce_to: Vec<SocketAddr>,
    pub(crate) local: Locals,
}

/// Addresses at which a participant is reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reach {
    /// Discovery traffic.
    pub(crate) metatraffic: Vec<SocketAddr>,
    /// Samples.
    pub(crate) user: Vec<SocketAddr>,
}

/// The addresses of this host.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Locals {
    /// What our sockets can send to.
    family: IpFamily,
    addrs: Vec<LocalAddr>,
}

/// An address of this host and the network it is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LocalAddr {
    pub(crate) ip: IpAddr,
    /// Bits shared by all addresses of that network.
    pub(crate) prefix_len: u8,
    /// Kernel index of the interface.
    pub(crate) index: u32,
}

/// Where an announcement came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub(crate) from: SocketAddr,
    pub(crate) same_host: bool,
}

impl Locals {
    pub(crate) fn new(family: IpFamily, addrs: Vec<LocalAddr>) -> Self {
        Self { family, addrs }
    }

    /// Whether it is an address of this host.
    pub(crate) fn is_own(&self, ip: IpAddr) -> bool {
        ip.is_loopback() || self.addrs.iter().any(|a| a.ip == ip)
    }

    /// The origin of a datagram.
    pub(crate) fn origin(&self, from: SocketAddr) -> Origin {
        Origin { from, same_host: self.is_own(from.ip()) }
    }

    /// The smallest network that this host shares with an address.
    fn net_of(&self, ip: IpAddr) -> Option<&LocalAddr> {
        let nets = self.addrs.iter().filter(|a| !a.ip.is_loopback() && same_net(a.ip, ip, a.prefix_len));
        nets.max_by_key(|a| a.prefix_len)
    }

    /// Whether one of our addresses is in the same network as another address.
    pub(crate) fn share_net(&self, own: IpAddr, other: IpAddr) -> bool {
        self.addrs.iter().any(|a| a.ip == own && same_net(own, other, a.prefix_len))
    }

    /// Gives a link-local address the interface behind which it is; `None` when nothing tells.
    fn scoped(&self, locator: SocketAddr, origin: Origin) -> Option<SocketAddr> {
        let SocketAddr::V6(addr) = locator else { return Some(locator) };
        if !is_link_local(*addr.ip()) {
            return Some(locator);
        }
        let scope = match origin.from {
            SocketAddr::V6(from) if from.scope_id() != 0 => from.scope_id(),
            _ if origin.same_host => self.addrs.iter().find(|a| a.ip == locator.ip())?.index,
            from => self.net_of(from.ip())?.index,
        };
        Some(SocketAddrV6::new(*addr.ip(), addr.port(), 0, scope).into())
    }

    /// How good a locator is, the least being the best; `None` for one that leads nowhere.
    fn rank(&self, locator: SocketAddr, origin: Origin) -> Option<impl Ord + use<>> {
        let ip = locator.ip();
        // Another host's loopback address, or its address on a network that both hosts have for themselves (as the
        // bridges of container engines), is ours.
        if !self.family.includes(ip) || (!origin.same_host && self.is_own(ip)) {
            return None;
        }
        let net = self.net_of(ip).map(|net| net.prefix_len);
        let proven = ip == origin.from.ip();
        let distance = match () {
            () if ip.is_loopback() => 0,
            () if self.is_own(ip) => 1,
            () if net.is_some() || proven => 2,
            () => 3,
        };
        let link_local = matches!(ip, IpAddr::V6(ip) if is_link_local(ip));
        Some((distance, ip.is_ipv6(), link_local, !proven, Reverse(net)))
    }
}

/// Chooses where to send among the addresses a peer announces.
///
/// Loopback comes first, for a peer of this host that listens there; then an address of a network that this host is in,
/// or the one the announcement came from; IPv4 before IPv6. A loopback address of any other host means that host itself
/// and is of no use.
pub(crate) fn choose(locators: &[SocketAddr], origin: Origin, local: &Locals) -> Option<Address> {
    let ranked = locators.iter().filter_map(|l| Some((local.rank(*l, origin)?, local.scoped(*l, origin)?)));
    let (_, to) = ranked.min_by(|(a, _), (b, _)| a.cmp(b))?;
    let path = if local.is_own(to.ip()) { Path::Loopback } else { Path::Lan };
    Some(Address { to, path })
}

/// Whether two addresses agree in their first bits.
fn same_net(a: IpAddr, b: IpAddr, prefix_len: u8) -> bool {
    let differ = match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
        _ => return false,
    };
    differ >= u32::from(prefix_len)
}

/// Whether an address means something on one link only.
pub(crate) fn is_link_local(ip: Ipv6Addr) -> bool {
    ip.segments()[0] & 0xffc0 == 0xfe80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locals(family: IpFamily) -> Locals {
        let addr = |text: &str, prefix_len, index| LocalAddr { ip: text.parse().unwrap(), prefix_len, index };
        let addrs = vec![
            addr("127.0.0.1", 8, 1),
            addr("::1", 128, 1),
            addr("10.0.0.1", 8, 2),
            addr("192.168.1.5", 24, 3),
            addr("172.17.0.1", 16, 4),
            addr("2001:db8:1::5", 64, 3),
            addr("fe80::5", 64, 3),
        ];
        Locals::new(family, addrs)
    }

    fn chosen(family: IpFamily, from: &str, locators: &[&str]) -> Option<(String, Path)> {
        let locators: Vec<_> = locators.iter().map(|l| l.parse().unwrap()).collect();
        let local = locals(family);
        let origin = local.origin(from.parse().unwrap());
        choose(&locators, origin, &local).map(|a| (a.to.to_string(), a.path))
    }

    fn lan(to: &str) -> Option<(String, Path)> {
        Some((to.into(), Path::Lan))
    }

    fn loopback(to: &str) -> Option<(String, Path)> {
        Some((to.into(), Path::Loopback))
    }

    const HERE: &str = "127.0.0.1:7412";
    const THERE: &str = "192.168.1.9:7412";

    #[test]
    fn a_peer_of_this_host_is_reached_over_loopback() {
        use IpFamily::{Both, V4, V6};
        let got = chosen(V4, HERE, &["192.168.1.5:7411", "127.0.0.1:7411"]);
        assert_eq!(got, loopback("127.0.0.1:7411"));
        assert_eq!(chosen(V4, HERE, &["192.168.1.5:7411"]), loopback("192.168.1.5:7411"));
        assert_eq!(chosen(Both, HERE, &["[::1]:7411", "127.0.0.1:7411"]), loopback("127.0.0.1:7411"));
        assert_eq!(chosen(V6, "[::1]:7412", &["[2001:db8:1::5]:7411"]), loopback("[2001:db8:1::5]:7411"));
        assert_eq!(chosen(V6, "[::1]:7412", &["[fe80::5]:7411"]), loopback("[fe80::5%3]:7411"));
    }

    #[test]
    fn a_peer_elsewhere_is_reached_through_the_shared_net() {
        let got = chosen(IpFamily::V4, THERE, &["127.0.0.1:7411", "172.20.0.9:7411", "192.168.1.9:7411"]);
        assert_eq!(got, lan("192.168.1.9:7411"));
        assert_eq!(chosen(IpFamily::V4, THERE, &["127.0.0.1:7411"]), None);
    }

    #[test]
    fn the_mask_decides_what_a_shared_net_is() {
        let far = "203.0.113.1:7412";
        let got = chosen(IpFamily::V4, far, &["192.168.2.9:7411", "10.200.1.1:7411"]);
        assert_eq!(got, lan("10.200.1.1:7411"));
        let got = chosen(IpFamily::V4, far, &["10.200.1.1:7411", "192.168.1.9:7411"]);
        assert_eq!(got, lan("192.168.1.9:7411"), "the smaller net is the closer one");
    }

    #[test]
    fn where_an_announcement_came_from_wins_over_a_net_that_only_looks_shared() {
        let got = chosen(IpFamily::V4, "10.0.7.7:7412", &["172.17.0.2:7411", "10.0.7.7:7411"]);
        assert_eq!(got, lan("10.0.7.7:7411"));
        let got = chosen(IpFamily::V4, "203.0.113.9:7412", &["172.17.0.1:7411", "203.0.113.9:7411"]);
        assert_eq!(got, lan("203.0.113.9:7411"), "172.17.0.1 is our own address");
    }

    #[test]
    fn families_that_our_sockets_lack_are_left_out_and_v4_comes_first() {
        let both = ["[2001:db8:1::9]:7411", "192.168.1.9:7411"];
        assert_eq!(chosen(IpFamily::V4, THERE, &both), lan("192.168.1.9:7411"));
        assert_eq!(chosen(IpFamily::Both, THERE, &both), lan("192.168.1.9:7411"));
        assert_eq!(chosen(IpFamily::V6, THERE, &both), lan("[2001:db8:1::9]:7411"));
        assert_eq!(chosen(IpFamily::V4, THERE, &both[..1]), None);
        let got = chosen(IpFamily::Both, "[2001:db8:1::9]:7412", &["203.0.113.9:7411", both[0]]);
        assert_eq!(got, lan("[2001:db8:1::9]:7411"), "a shared net comes before IPv4");
    }

    #[test]
    fn a_link_local_address_belongs_to_the_link_it_was_heard_on() {
        let there = ["[fe80::9]:7411"];
        assert_eq!(chosen(IpFamily::V6, "[fe80::9%7]:7412", &there), lan("[fe80::9%7]:7411"));
        assert_eq!(chosen(IpFamily::V6, "[2001:db8:1::9]:7412", &there), lan("[fe80::9%3]:7411"));
        assert_eq!(chosen(IpFamily::V6, "[2001:db8:2::9]:7412", &there), None);
        let got = chosen(IpFamily::V6, "[fe80::9%3]:7412", &["[fe80::9]:7411", "[2001:db8:1::9]:7411"]);
        assert_eq!(got, lan("[2001:db8:1::9]:7411"));
    }
}
