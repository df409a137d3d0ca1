use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rostrans_net::{Interface, interfaces, join_multicast, leave_multicast};
use tracing::{debug, warn};

use super::lock;
use super::plan::{GROUPS, Plan};
use super::socket::Pair;
use crate::config::DiscoveryRange;
use crate::state::Network;

/// How often the interfaces are compared with those before: asking the kernel takes some 50 us, and what waits for a
/// network waits for seconds anyway.
const PERIOD: Duration = Duration::from_secs(2);

/// An interface through which multicast leaves, in one version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exit {
    /// Its address.
    pub(crate) local: IpAddr,
    /// Its kernel index.
    pub(crate) index: u32,
}

/// Follows the interfaces of this host as they come and go.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) plan: Plan,
    /// Members of the multicast groups.
    receivers: Pair,
    /// What was there the last time; `None` when something else has changed since.
    seen: Option<Vec<Interface>>,
    /// Where the groups are joined: version of IP (IPv4 or not) and interface.
    joined: Vec<(bool, u32)>,
    next: Instant,
}

impl Watch {
    pub(crate) fn new(plan: Plan, receivers: Pair) -> Self {
        Self { plan, receivers, seen: None, joined: Vec::new(), next: Instant::now() }
    }

    /// A watch for a participant without sockets.
    pub(crate) fn idle(plan: Plan) -> Self {
        Self::new(plan, Pair::default())
    }

    /// Takes other static peers; the next look returns a network.
    pub(crate) fn set_static_peers(&mut self, peers: Vec<SocketAddr>) {
        if self.plan.static_peers != peers {
            self.plan.static_peers = peers;
            self.seen = None;
        }
    }

    /// Whether it is time to look again. Says so once in a period.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let due = now >= self.next;
        if due {
            self.next = now + PERIOD;
        }
        due
    }

    /// Looks at the interfaces. When something has changed, it joins and leaves multicast groups, notes in `exits` where
    /// multicast leaves, and returns the network as it is now.
    ///
    /// **Errors**: the system does not tell its interfaces.
    pub(crate) fn look(&mut self, exits: &Mutex<Vec<Exit>>) -> io::Result<Option<Network>> {
        if self.plan.range == DiscoveryRange::Off {
            return Ok(None);
        }
        let all = interfaces()?;
        if self.seen.as_ref() == Some(&all) {
            return Ok(None);
        }
        for wanted in self.plan.missing(&all) {
            warn!(interface = wanted, "no such interface now; it is used when it comes");
        }
        let members = self.plan.multicast(&all);
        let now: Vec<_> = members.iter().map(|i| (i.addr.is_ipv4(), i.index)).collect();
        let (stay, gone): (Vec<_>, Vec<_>) = self.joined.iter().partition(|m| now.contains(m));
        self.joined = stay;
        gone.into_iter().for_each(|(v4, index)| self.leave(v4, index));
        for interface in &members {
            if !self.joined.contains(&(interface.addr.is_ipv4(), interface.index)) {
                self.join(interface);
            }
        }
        let left_by = members.iter().map(|i| Exit { local: i.addr, index: i.index });
        *lock(exits) = left_by.collect();
        let network = self.plan.network(&all);
        self.seen = Some(all);
        Ok(Some(network))
    }

    fn join(&mut self, interface: &Interface) {
        let Interface { name, index, addr, .. } = interface;
        let Some(socket) = self.receivers.of(*addr) else { return };
        for group in groups(addr.is_ipv4()) {
            if let Err(error) = join_multicast(socket, group, Ipv4Addr::UNSPECIFIED, *index) {
                warn!(interface = %name, %addr, %group, %error, "no multicast on this interface");
            }
        }
        // Also after a failure: it would fail again, and be logged again, whenever anything changes.
        self.joined.push((addr.is_ipv4(), *index));
    }

    fn leave(&self, v4: bool, index: u32) {
        let any: IpAddr = if v4 { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let Some(socket) = self.receivers.of(any) else { return };
        for group in groups(v4) {
            // The kernel has left already when the interface is gone, but the socket still counts its membership.
            if let Err(error) = leave_multicast(socket, group, index) {
                debug!(index, %group, %error, "multicast group not left");
            }
        }
    }
}

fn groups(v4: bool) -> impl Iterator<Item = IpAddr> {
    GROUPS.into_iter().filter(move |group| group.is_ipv4() == v4)
}
