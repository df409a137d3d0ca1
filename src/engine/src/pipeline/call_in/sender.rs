//! From whom an answer is taken.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rostrans_core::transport::Peer;

/// Whose frames can answer a link's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// Anyone's: the requests go to a serial line, to many receivers, or to whoever was heard last.
    Any,
    /// Those of the address that the requests go to.
    Only(SocketAddr),
}

impl Sender {
    /// The senders that can answer requests sent to `to`.
    pub(super) fn answering(to: Option<SocketAddr>) -> Self {
        match to.map(canonical) {
            Some(to) if !many(to.ip()) => Self::Only(to),
            _ => Self::Any,
        }
    }

    pub(super) fn hears(self, peer: Peer) -> bool {
        match (self, peer) {
            (Self::Only(only), Peer::Udp(from)) => only == canonical(from),
            (Self::Any, _) | (_, Peer::Tcp(_) | Peer::Serial | Peer::Mem) => true,
        }
    }

    /// True when one frame could answer either's calls.
    pub(super) fn overlaps(self, other: Self) -> bool {
        self == Self::Any || other == Self::Any || self == other
    }
}

/// An address as its frames show it: a mapped one as IPv4, no IPv6 scope, and what the system makes of 0.0.0.0.
fn canonical(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip().to_canonical() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}

/// A group, or what looks like a network's broadcast address: the netmask is not known here.
fn many(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_multicast() || ip.octets()[3] == 255,
        IpAddr::V6(ip) => ip.is_multicast(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hears(to: &str, from: &str) -> bool {
        Sender::answering(Some(to.parse().unwrap())).hears(Peer::Udp(from.parse().unwrap()))
    }

    #[test]
    fn only_the_target_itself_is_heard() {
        for (to, from, heard) in [
            ("10.0.0.2:20", "10.0.0.2:20", true),
            ("10.0.0.2:20", "10.0.0.2:21", false),
            ("10.0.0.2:20", "10.0.0.3:20", false),
            ("10.0.0.2:20", "[::ffff:10.0.0.2]:20", true),
            ("0.0.0.0:20", "127.0.0.1:20", true),
            ("[fe80::1%2]:20", "[fe80::1%3]:20", true),
            ("[fe80::1]:20", "[fe80::2]:20", false),
        ] {
            assert_eq!(hears(to, from), heard, "{to} {from}");
        }
    }

    #[test]
    fn many_receivers_and_unknown_ones_may_all_answer() {
        for to in ["239.0.0.1:20", "255.255.255.255:20", "192.168.1.255:20", "[ff02::1]:20"] {
            assert!(hears(to, if to.starts_with('[') { "[fe80::7]:9" } else { "10.9.9.9:9" }), "{to}");
        }
        assert!(Sender::answering(None).hears(Peer::Serial));
    }
}
