//! Hosts to search, by address or name, as `ROS_STATIC_PEERS` has them.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    time::Duration,
};

use tracing::{info, warn};

/// A host to search: a name or an address, and a port where only one participant of it is meant.
///
/// `10.0.0.2`, `robot-7.local`, `robot-7.local:7412`, `fd00::2`, `fe80::2%eth0`, `[fd00::2]`, `[fd00::2]:7412`. Fast DDS
/// takes names and IPv4 addresses without port, Cyclone DDS all of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    name: String,
    /// 0: the ports of participants 0 to 31.
    port: u16,
}

impl Host {
    /// Reads one entry of the list; `None` when it cannot be a host.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, port) = rest.split_once(']')?;
                let port = if port.is_empty() { None } else { Some(port.strip_prefix(':')?) };
                is_v6(name).then_some((name, port))?
            }
            None if is_v6(text) => (text, None),
            None => {
                let (name, port) =
                    text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
                is_name(name).then_some((name, port))?
            }
        };
        let port = port.map_or(Some(0), |port| port.parse().ok().filter(|port| *port != 0))?;
        Some(Self { name: name.to_owned(), port })
    }

    /// The address, where no name has to be looked up for it.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.name.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip, self.port))
    }

    /// Whether it is an IPv6 address.
    pub(crate) fn is_v6(&self) -> bool {
        is_v6(&self.name)
    }

    /// The first address of each version of IP.
    ///
    /// Takes as long as the network likes.
    ///
    /// **Errors**: nobody knows the name.
    pub(crate) fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        let all: Vec<_> = (self.name.as_str(), self.port).to_socket_addrs()?.collect();
        let first = |v4: bool| all.iter().copied().find(|a| a.is_ipv4() == v4);
        Ok(first(true).into_iter().chain(first(false)).collect())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            0 => write!(f, "{}", self.name),
            port if self.is_v6() => write!(f, "[{}]:{port}", self.name),
            port => write!(f, "{}:{port}", self.name),
        }
    }
}

/// Looks the hosts up again and again and hands their addresses over when they change. Never resolves.
///
/// A daemon may start before its network, and a robot may come back with another address.
pub(crate) async fn follow(hosts: Vec<Host>, set: impl Fn(Vec<SocketAddr>)) {
    if hosts.iter().all(|host| host.address().is_some()) {
        return std::future::pending().await;
    }
    let mut known = Known::default();
    loop {
        let asked = hosts.clone();
        let look_up = move || asked.iter().map(Host::resolve).collect::<Vec<_>>();
        let Ok(answers) = tokio::task::spawn_blocking(look_up).await else {
            // Only at the end of the program.
            return std::future::pending().await;
        };
        let complete = answers.iter().all(Result::is_ok);
        if let Some(addresses) = known.update(&hosts, answers) {
            set(addresses);
        }
        tokio::time::sleep(if complete { REFRESH } else { RETRY }).await;
    }
}

/// How soon a name is tried again that nobody knew.
const RETRY: Duration = Duration::from_secs(5);
/// How often known names are looked up again.
const REFRESH: Duration = Duration::from_secs(60);

/// What was found out about each host so far.
#[derive(Debug, Default)]
struct Known {
    addresses: Vec<Vec<SocketAddr>>,
    /// Names that the log says are unknown.
    complained: Vec<bool>,
}

impl Known {
    /// Takes new answers; returns all addresses when they are others than before. A name that is unknown for the time
    /// being keeps its addresses.
    fn update(
        &mut self,
        hosts: &[Host],
        answers: Vec<io::Result<Vec<SocketAddr>>>,
    ) -> Option<Vec<SocketAddr>> {
        self.addresses.resize(hosts.len(), Vec::new());
        self.complained.resize(hosts.len(), false);
        let before = self.addresses.clone();
        let slots = self.addresses.iter_mut().zip(&mut self.complained);
        for ((host, answer), (known, complained)) in hosts.iter().zip(answers).zip(slots) {
            match answer {
                Ok(found) => {
                    if std::mem::take(complained) {
                        info!(%host, "host of ROS_STATIC_PEERS found");
                    }
                    *known = found;
                }
                Err(_) if *complained || !known.is_empty() => {}
                Err(error) => {
                    *complained = true;
                    warn!(%host, %error, "cannot resolve a host of ROS_STATIC_PEERS; trying again");
                }
            }
        }
        (self.addresses != before).then(|| self.addresses.concat())
    }
}

/// An IPv6 address, possibly with the interface of a link-local one.
fn is_v6(text: &str) -> bool {
    let (ip, scope) = text.split_once('%').map_or((text, None), |(ip, scope)| (ip, Some(scope)));
    ip.parse::<Ipv6Addr>().is_ok()
        && scope.is_none_or(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_graphic()))
}

/// An IPv4 address, or what may be the name of a host.
fn is_name(host: &str) -> bool {
    let letters = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    // No top-level domain is a number: what ends in one is meant as an address.
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let number = last.is_empty() || last.bytes().all(|b| b.is_ascii_digit());
    letters && (!number || host.parse::<Ipv4Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_of_both_kinds_are_hosts() {
        let good = [
            "10.0.0.2",
            "10.0.0.2:7412",
            "robot-7.local",
            "robot-7.local:7412",
            "a_b",
            "fd00::2",
            "::1",
            "[::1]",
            "[fd00::2]:7412",
            "fe80::2%eth0",
            "[fe80::2%3]:7412",
        ];
        for text in good {
            let host = Host::parse(text).unwrap_or_else(|| panic!("{text} is refused"));
            let shown = host.to_string();
            assert_eq!(shown, if text == "[::1]" { "::1" } else { text });
            assert_eq!(Host::parse(&shown), Some(host));
        }
    }

    #[test]
    fn addresses_are_handed_over_when_they_change_and_kept_when_a_name_server_is_gone() {
        let hosts: Vec<_> = ["10.0.0.2", "robot"].iter().filter_map(|text| Host::parse(text)).collect();
        let first: SocketAddr = "10.0.0.2:0".parse().unwrap();
        let second: SocketAddr = "10.0.0.3:0".parse().unwrap();
        let unknown = || Err(io::ErrorKind::NotFound.into());
        let mut known = Known::default();
        assert_eq!(known.update(&hosts, vec![Ok(vec![first]), unknown()]), Some(vec![first]));
        assert_eq!(known.update(&hosts, vec![Ok(vec![first]), unknown()]), None);
        assert_eq!(known.update(&hosts, vec![Ok(vec![first]), Ok(vec![second])]), Some(vec![first, second]));
        assert_eq!(known.update(&hosts, vec![unknown(), unknown()]), None);
    }

    #[test]
    fn anything_else_is_refused() {
        let bad = [
            "",
            "1.2.3.4.5",
            "1.",
            ":7412",
            "host:",
            "host:0",
            "host:65536",
            "host:x",
            "[::1",
            "[::1]7412",
            "[host]",
            "[::1]:",
            "::1::",
            "fe80::1%",
            "10.0.0.2,10.0.0.3",
            "a b",
            "udp/10.0.0.2",
        ];
        for text in bad {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_address_needs_no_look_up_and_a_name_that_nobody_knows_is_an_error() {
        let host = Host::parse("127.0.0.9:7500").unwrap();
        assert_eq!(host.address(), Some(SocketAddr::from(([127, 0, 0, 9], 7500))));
        assert_eq!(host.resolve().unwrap(), [host.address().unwrap()]);
        let unknown = Host::parse("no-such-host.invalid").unwrap();
        assert_eq!(unknown.address(), None);
        assert!(unknown.resolve().is_err());
        assert_eq!(Host::parse("::1").unwrap().resolve().unwrap(), ["[::1]:0".parse().unwrap()]);
    }
}
