use std::net::{IpAddr, SocketAddr};

use crate::error::RtpsError;

/// Participants that are found without multicast: their ports are announced to one by one.
pub(crate) const SEARCHED: u16 = 32;
/// Participant ids of a domain; the ports of the next domain begin behind them.
const PARTICIPANTS: u16 = 120;

/// Standard ports of a domain.
///
/// Source: DDSI-RTPS 2.5, 9.6.1.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ports {
    base: u16,
}

impl Ports {
    /// **Errors**: the domain's ports exceed 65535.
    pub(crate) fn new(domain: u16) -> Result<Self, RtpsError> {
        let last = u32::from(domain) * 250 + 7400 + 11 + 2 * u32::from(SEARCHED);
        if last > u32::from(u16::MAX) {
            return Err(RtpsError::Domain(domain));
        }
        Ok(Self { base: 7400 + 250 * domain })
    }

    /// The ids that participants can have.
    pub(crate) fn participants(self) -> std::ops::Range<u16> {
        0..PARTICIPANTS.min((u16::MAX - self.base - 11) / 2 + 1)
    }

    pub(crate) fn multicast(self) -> u16 {
        self.base
    }

    pub(crate) fn metatraffic(self, participant: u16) -> u16 {
        self.base + 10 + 2 * participant
    }

    pub(crate) fn user(self, participant: u16) -> u16 {
        self.base + 11 + 2 * participant
    }

    /// Where participants of a host listen that are searched one by one; `host` may have a port and then is the place.
    pub(crate) fn searched(self, host: SocketAddr) -> impl Iterator<Item = SocketAddr> {
        let at = move |port| {
            let mut to = host;
            to.set_port(port);
            to
        };
        let known = (host.port() != 0).then_some(host);
        let all = if known.is_some() { 0..0 } else { 0..SEARCHED };
        known.into_iter().chain(all.map(move |p| at(self.metatraffic(p))))
    }

    /// [`Self::searched`] for an address.
    pub(crate) fn searched_at(self, host: impl Into<IpAddr>) -> impl Iterator<Item = SocketAddr> {
        self.searched(SocketAddr::new(host.into(), 0))
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

    #[test]
    fn ids_end_where_the_next_domain_or_the_port_range_does() {
        for domain in [0, 100, 232] {
            let ports = Ports::new(domain).unwrap();
            let last = ports.participants().end - 1;
            let next = u32::from(ports.multicast()) + 250;
            let port = u32::from(ports.user(last));
            assert!(port < next.min(65_536) && port + 2 >= next.min(65_536) - 1, "domain {domain}: {port}");
        }
    }

    #[test]
    fn a_host_is_searched_on_every_port_or_the_one_given() {
        let ports = Ports::new(0).unwrap();
        assert_eq!(ports.searched("10.0.0.1:0".parse().unwrap()).count(), 32);
        let one: Vec<_> = ports.searched("[fe80::1%3]:7412".parse().unwrap()).collect();
        assert_eq!(one, ["[fe80::1%3]:7412".parse().unwrap()]);
        assert_eq!(
            ports.searched("[fe80::1%3]:0".parse().unwrap()).nth(1).unwrap().to_string(),
            "[fe80::1%3]:7412"
        );
    }
}
