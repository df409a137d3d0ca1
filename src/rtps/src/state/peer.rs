use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use super::lane::{Lane, Path};
use super::partial::Partials;
use super::reader::WriterProxy;
use super::watch::Lease;
use crate::discovery::{EndpointData, ParticipantData};
use crate::graph::RemoteQos;
use crate::wire::Entity;

/// A remote participant.
pub(crate) struct Peer {
    pub(crate) data: ParticipantData,
    pub(crate) expires: Instant,
    /// When the last datagram came from it.
    pub(crate) heard: Instant,
    /// When its application last asserted its writers.
    pub(crate) asserted: Instant,
    /// A writer with automatic liveliness that is read here is not alive.
    pub(crate) lapsed: bool,
    /// The same of liveliness manual by participant.
    pub(crate) lapsed_manual: bool,
    /// Where discovery traffic goes.
    pub(crate) metatraffic: Address,
    /// Where samples go unless an endpoint says otherwise.
    pub(crate) user: Address,
    pub(crate) writers: BTreeMap<Entity, RemoteWriter>,
    pub(crate) readers: BTreeMap<Entity, RemoteReader>,
    /// Queues for the addresses in use.
    pub(crate) lanes: Vec<Lane>,
    /// It announces from this host.
    pub(crate) is_local: bool,
}

/// An address and how to get there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    pub(crate) to: SocketAddr,
    pub(crate) path: Path,
}

/// A remote writer, and our readers of it.
pub(crate) struct RemoteWriter {
    /// `None` for the builtin ones.
    pub(crate) data: Option<EndpointData>,
    pub(crate) to: SocketAddr,
    pub(crate) proxies: Vec<WriterProxy>,
    /// Shared by the proxies, so that a sample is put together once.
    pub(crate) partials: Partials,
    /// Its promise to be alive, when that is limited in time.
    pub(crate) lease: Option<Lease>,
}

/// A remote reader. The writers matched to it keep its state.
pub(crate) struct RemoteReader {
    pub(crate) data: EndpointData,
    pub(crate) address: Address,
}

impl RemoteWriter {
    pub(crate) fn new(data: Option<EndpointData>, to: SocketAddr, lease: Option<Lease>) -> Self {
        Self { data, to, proxies: Vec::new(), partials: Partials::default(), lease }
    }

    /// Its policies; the builtin ones have none worth mentioning.
    pub(crate) fn qos(&self) -> Option<&RemoteQos> {
        self.data.as_ref().map(|data| &data.qos)
    }
}

impl Peer {
    /// Who was just found.
    pub(crate) fn new(data: ParticipantData, metatraffic: Address, user: Address, now: Instant) -> Self {
        Self {
            expires: now + data.lease,
            heard: now,
            asserted: now,
            lapsed: false,
            lapsed_manual: false,
            data,
            metatraffic,
            user,
            writers: BTreeMap::new(),
            readers: BTreeMap::new(),
            lanes: Vec::new(),
            is_local: false,
        }
    }

    /// The lane to an address, opened when there is none.
    pub(crate) fn lane(&mut self, address: Address, bytes_per_s: u64, now: Instant) -> &mut Lane {
        let index = self.lanes.iter().position(|lane| lane.to == address.to).unwrap_or_else(|| {
            self.lanes.push(Lane::new(address.to, address.path, bytes_per_s, now));
            self.lanes.len() - 1
        });
        self.lanes.get_mut(index).expect("invariant: found or pushed above")
    }
}

/// Chooses where to send among the addresses a peer announces.
///
/// A peer on this host is reached over loopback when it listens there. A loopback address of any other host means
/// that host itself and is of no use.
pub(crate) fn choose(locators: &[SocketAddr], same_host: bool, local: &[IpAddr]) -> Option<Address> {
    let is_local = |ip: &IpAddr| ip.is_loopback() || local.contains(ip);
    let usable = || locators.iter().filter(|l| l.is_ipv4() && (same_host || !l.ip().is_loopback()));
    let best = usable()
        .find(|l| same_host && l.ip().is_loopback())
        .or_else(|| usable().find(|l| same_host && is_local(&l.ip())))
        .or_else(|| usable().find(|l| local.iter().any(|ip| same_net(*ip, l.ip()))))
        .or_else(|| usable().next())?;
    let path = if is_local(&best.ip()) { Path::Loopback } else { Path::Lan };
    Some(Address { to: *best, path })
}

/// Whether two addresses share their first three bytes: the netmask is unknown, so this is only a preference.
fn same_net(a: IpAddr, b: IpAddr) -> bool {
    let (IpAddr::V4(a), IpAddr::V4(b)) = (a, b) else { return false };
    a.octets().iter().zip(b.octets()).take(3).all(|(x, y)| *x == y)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const LOCAL: [IpAddr; 2] =
        [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(192, 168, 1, 5))];

    fn chosen(locators: &[&str], same_host: bool) -> Option<(String, Path)> {
        let locators: Vec<_> = locators.iter().map(|l| l.parse().unwrap()).collect();
        choose(&locators, same_host, &LOCAL).map(|a| (a.to.ip().to_string(), a.path))
    }

    #[test]
    fn a_peer_of_this_host_is_reached_over_loopback() {
        let got = chosen(&["192.168.1.5:7411", "127.0.0.1:7411"], true);
        assert_eq!(got, Some(("127.0.0.1".into(), Path::Loopback)));
        assert_eq!(chosen(&["192.168.1.5:7411"], true), Some(("192.168.1.5".into(), Path::Loopback)));
    }

    #[test]
    fn a_peer_elsewhere_is_reached_through_the_shared_net() {
        let got = chosen(&["127.0.0.1:7411", "172.17.0.1:7411", "192.168.1.9:7411"], false);
        assert_eq!(got, Some(("192.168.1.9".into(), Path::Lan)));
        assert_eq!(chosen(&["127.0.0.1:7411"], false), None);
    }
}
