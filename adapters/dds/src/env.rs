//! The environment variables every ROS 2 program honours.

use std::{io, net::SocketAddr};

use rostrans_rtps::{DiscoveryRange, IpFamily};
use thiserror::Error;
use tracing::warn;

use crate::hosts::Host;

/// Which part of the world to look for ROS nodes in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// DDS domain (`ROS_DOMAIN_ID`); on Linux 0 to 101 stay clear of the ephemeral ports.
    pub domain: u16,
    /// How far to search (`ROS_AUTOMATIC_DISCOVERY_RANGE`, `ROS_LOCALHOST_ONLY`).
    pub range: DiscoveryRange,
    /// Hosts to search in addition, as names or addresses, each perhaps with a port (`ROS_STATIC_PEERS`).
    pub static_peers: Vec<String>,
    /// Versions of IP to use; `None`: IPv4, and IPv6 too when a static peer is given by its IPv6 address.
    ///
    /// Where Fast DDS nodes are told to use IPv6 (`FASTDDS_BUILTIN_TRANSPORTS`), it is both.
    pub ip: Option<IpFamily>,
    /// What a person should know about these variables before they are used.
    pub warnings: Vec<String>,
}

/// A variable whose value ROS does not define.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{variable}: invalid value '{value}'; {allowed}")]
pub struct EnvError {
    /// Name of the variable.
    pub variable: &'static str,
    /// What it holds; of a list only the bad entry.
    pub value: String,
    /// What it may hold.
    pub allowed: &'static str,
}

impl Discovery {
    /// Reads the variables through `get`; an unset or empty variable means its default.
    ///
    /// `ROS_LOCALHOST_ONLY=1` wins over the newer variables, as in ROS.
    ///
    /// **Errors**: every variable with a bad value.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Self, Vec<EnvError>> {
        let mut problems = Vec::new();
        let mut read = |variable, allowed, parse: &dyn Fn(&str) -> Option<Parsed>| {
            let value = get(variable).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty())?;
            let parsed = parse(&value);
            if parsed.is_none() {
                problems.push(EnvError { variable, value, allowed });
            }
            parsed
        };
        let domain = read("ROS_DOMAIN_ID", "use a whole number from 0 to 232", &domain);
        let range =
            read("ROS_AUTOMATIC_DISCOVERY_RANGE", "use OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT", &range);
        let local = read("ROS_LOCALHOST_ONLY", "use 0 or 1", &localhost_only);
        let peers = read("ROS_STATIC_PEERS", "", &|value| Some(hosts(value)));
        if let Some(Parsed::Peers(hosts)) = &peers {
            let bad = hosts.iter().filter(|host| Host::parse(host).is_none());
            problems.extend(bad.map(|host| EnvError {
                variable: "ROS_STATIC_PEERS",
                value: host.clone(),
                allowed: HOSTS,
            }));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut discovery = Self::default();
        let mut with_peers = true;
        // The old variable last: it overrides the two before it.
        for parsed in [domain, range, peers, local].into_iter().flatten() {
            match parsed {
                Parsed::Domain(domain) => discovery.domain = domain,
                Parsed::Range(range) => discovery.range = range,
                Parsed::SystemDefault => with_peers = false,
                Parsed::Peers(hosts) => discovery.static_peers = hosts,
                Parsed::LocalhostOnly(false) => {}
                Parsed::LocalhostOnly(true) => {
                    discovery.range = DiscoveryRange::Localhost;
                    discovery.static_peers.clear();
                }
            }
        }
        let ignored = !with_peers || discovery.range == DiscoveryRange::Off;
        if ignored && !discovery.static_peers.is_empty() {
            if !with_peers {
                discovery.static_peers.clear();
            }
            discovery.warnings.push(
                "ROS_STATIC_PEERS is ignored, as the value of ROS_AUTOMATIC_DISCOVERY_RANGE demands; use SUBNET or \
                 LOCALHOST for static peers"
                    .to_owned(),
            );
        }
        discovery.follow_fast_dds(get("FASTDDS_BUILTIN_TRANSPORTS").unwrap_or_default().trim());
        if let Some(server) = get("ROS_DISCOVERY_SERVER").filter(|server| !server.trim().is_empty()) {
            discovery.warnings.push(format!(
                "ROS_DISCOVERY_SERVER={server}: rostrans asks no Fast DDS discovery server, and nodes that do will not \
                 see it; unset it for those nodes and name hosts that multicast does not reach in ROS_STATIC_PEERS"
            ));
        }
        if cfg!(target_os = "linux") && discovery.domain > LAST_CLEAR_DOMAIN {
            discovery.warnings.push(format!(
                "ROS_DOMAIN_ID={}: its ports may be taken by outgoing connections, from port 32768; use 0 to \
                 {LAST_CLEAR_DOMAIN}",
                discovery.domain
            ));
        }
        Ok(discovery)
    }

    /// Draws conclusions from what Fast DDS nodes started in the same environment do.
    fn follow_fast_dds(&mut self, transports: &str) {
        // The variable may have options: "UDPv6?max_msg_size=..".
        match transports.split('?').next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "UDPV6" | "DEFAULTV6" => self.ip = Some(IpFamily::Both),
            name @ ("SHM" | "LARGE_DATA" | "LARGE_DATAV6") => self.warnings.push(format!(
                "FASTDDS_BUILTIN_TRANSPORTS={name}: Fast DDS nodes with it exchange no data over UDP, and not with \
                 rostrans; use DEFAULT or UDPv4 for them"
            )),
            _ => {}
        }
    }

    /// The range as the variable spells it.
    pub fn range_name(&self) -> &'static str {
        match self.range {
            DiscoveryRange::Off => "OFF",
            DiscoveryRange::Localhost => "LOCALHOST",
            DiscoveryRange::Subnet => "SUBNET",
        }
    }

    /// The addresses of one of the static peers, at most one of each version of IP.
    ///
    /// Takes as long as the network likes.
    ///
    /// **Errors**: nobody knows the name.
    pub fn look_up(peer: &str) -> io::Result<Vec<SocketAddr>> {
        Host::parse(peer).ok_or(io::ErrorKind::InvalidInput)?.resolve()
    }

    /// The versions of IP to use.
    pub fn ip_family(&self) -> IpFamily {
        let named = || self.hosts().any(|host| host.is_v6());
        self.ip.unwrap_or_else(|| if named() { IpFamily::Both } else { IpFamily::V4 })
    }

    /// The static peers.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = Host> {
        self.static_peers.iter().filter_map(|peer| Host::parse(peer))
    }

    /// Addresses of the static peers. A name that does not resolve is logged and left out: on a robot that boots before
    /// its network this must not keep everything else from starting.
    ///
    /// Takes as long as the network likes.
    pub fn resolve(&self) -> Vec<SocketAddr> {
        let resolve = |host: Host| {
            host.resolve().unwrap_or_else(|error| {
                warn!(%host, %error, "cannot resolve a host of ROS_STATIC_PEERS; it is not searched");
                Vec::new()
            })
        };
        self.hosts().flat_map(resolve).collect()
    }
}

enum Parsed {
    Domain(u16),
    Range(DiscoveryRange),
    /// What the DDS does by itself: it searches the subnet, and no static peers.
    SystemDefault,
    LocalhostOnly(bool),
    Peers(Vec<String>),
}

fn domain(value: &str) -> Option<Parsed> {
    value.parse().ok().filter(|d| *d <= LAST_DOMAIN).map(Parsed::Domain)
}

const HOSTS: &str =
    "separate hosts by ';', each a name or an address, with a port if need be ('host:7410', '[::1]:7410')";

/// The last domain whose ports, from 7400 + 250 for each domain, are below 65536.
const LAST_DOMAIN: u16 = 232;

/// The last domain whose ports are below those that Linux gives to outgoing connections, from 32768.
const LAST_CLEAR_DOMAIN: u16 = 101;

fn range(value: &str) -> Option<Parsed> {
    let range = match value.to_ascii_uppercase().as_str() {
        "OFF" => DiscoveryRange::Off,
        "LOCALHOST" => DiscoveryRange::Localhost,
        "SUBNET" => DiscoveryRange::Subnet,
        "SYSTEM_DEFAULT" => return Some(Parsed::SystemDefault),
        _ => return None,
    };
    Some(Parsed::Range(range))
}

fn localhost_only(value: &str) -> Option<Parsed> {
    match value {
        "0" => Some(Parsed::LocalhostOnly(false)),
        "1" => Some(Parsed::LocalhostOnly(true)),
        _ => None,
    }
}

fn hosts(value: &str) -> Parsed {
    let hosts = value.split(';').map(str::trim).filter(|host| !host.is_empty());
    Parsed::Peers(hosts.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(vars: &[(&str, &str)]) -> Result<Discovery, Vec<EnvError>> {
        Discovery::from_env(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    #[test]
    fn unset_and_empty_variables_mean_the_defaults() {
        let default = Discovery { range: DiscoveryRange::Subnet, ..Discovery::default() };
        assert_eq!(parse(&[]), Ok(default.clone()));
        assert_eq!(parse(&[("ROS_DOMAIN_ID", ""), ("ROS_STATIC_PEERS", " ")]), Ok(default));
    }

    #[test]
    fn every_variable_is_honoured() {
        let vars = [
            ("ROS_DOMAIN_ID", "42"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "localhost"),
            ("ROS_STATIC_PEERS", "10.0.0.2; robot-7.local;"),
            ("ROS_LOCALHOST_ONLY", "0"),
        ];
        let peers = vec!["10.0.0.2".to_owned(), "robot-7.local".to_owned()];
        assert_eq!(
            parse(&vars),
            Ok(Discovery {
                domain: 42,
                range: DiscoveryRange::Localhost,
                static_peers: peers,
                ..Discovery::default()
            })
        );
        assert_eq!(parse(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")]).unwrap().range, DiscoveryRange::Off);
    }

    #[test]
    fn off_and_system_default_search_no_static_peers_and_say_so() {
        for (value, range, kept) in
            [("OFF", DiscoveryRange::Off, 1), ("SYSTEM_DEFAULT", DiscoveryRange::Subnet, 0)]
        {
            let vars = [("ROS_AUTOMATIC_DISCOVERY_RANGE", value), ("ROS_STATIC_PEERS", "10.0.0.2")];
            let found = parse(&vars).unwrap();
            assert_eq!(
                (found.range, found.static_peers.len(), found.warnings.len()),
                (range, kept, 1),
                "{value}"
            );
            assert_eq!(parse(&vars[..1]).unwrap().warnings.len(), 0);
        }
    }

    #[test]
    fn ipv6_is_used_where_a_peer_or_fast_dds_needs_it() {
        let family = |vars: &[(&str, &str)]| parse(vars).unwrap().ip_family();
        assert_eq!(family(&[("ROS_STATIC_PEERS", "10.0.0.2;host")]), IpFamily::V4);
        assert_eq!(family(&[("ROS_STATIC_PEERS", "10.0.0.2;fd00::2")]), IpFamily::Both);
        for value in ["UDPv6", "DEFAULTv6", "udpv6?max_msg_size=65000"] {
            assert_eq!(family(&[("FASTDDS_BUILTIN_TRANSPORTS", value)]), IpFamily::Both, "{value}");
        }
        assert_eq!(family(&[("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")]), IpFamily::V4);
        let no_udp = parse(&[("FASTDDS_BUILTIN_TRANSPORTS", "LARGE_DATA")]).unwrap();
        assert_eq!((no_udp.ip_family(), no_udp.warnings.len()), (IpFamily::V4, 1));
    }

    #[test]
    fn a_discovery_server_is_not_passed_over_in_silence() {
        let found = parse(&[("ROS_DISCOVERY_SERVER", "10.0.0.1:11811")]).unwrap();
        assert!(found.warnings[0].contains("ROS_STATIC_PEERS"), "{:?}", found.warnings);
        assert!(parse(&[("ROS_DISCOVERY_SERVER", "")]).unwrap().warnings.is_empty());
    }

    #[test]
    fn localhost_only_wins_over_range_and_peers() {
        let vars = [
            ("ROS_LOCALHOST_ONLY", "1"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
            ("ROS_STATIC_PEERS", "10.0.0.2"),
        ];
        let found = parse(&vars).unwrap();
        assert_eq!((found.range, found.static_peers), (DiscoveryRange::Localhost, Vec::new()));
    }

    #[test]
    fn all_bad_values_are_named_with_what_is_allowed() {
        let vars = [
            ("ROS_DOMAIN_ID", "233"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "NEAR"),
            ("ROS_LOCALHOST_ONLY", "yes"),
            ("ROS_STATIC_PEERS", "foo;;1.2.3.4.5;[::1];::1;10.0.0.2,10.0.0.3;10.0.0.2;foo:0"),
        ];
        let texts: Vec<String> = parse(&vars).unwrap_err().iter().map(EnvError::to_string).collect();
        assert_eq!(
            texts,
            [
                "ROS_DOMAIN_ID: invalid value '233'; use a whole number from 0 to 232",
                "ROS_AUTOMATIC_DISCOVERY_RANGE: invalid value 'NEAR'; use OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT",
                "ROS_LOCALHOST_ONLY: invalid value 'yes'; use 0 or 1",
                &format!("ROS_STATIC_PEERS: invalid value '1.2.3.4.5'; {HOSTS}"),
                &format!("ROS_STATIC_PEERS: invalid value '10.0.0.2,10.0.0.3'; {HOSTS}"),
                &format!("ROS_STATIC_PEERS: invalid value 'foo:0'; {HOSTS}"),
            ]
        );
    }

    #[test]
    fn domain_up_to_the_last_port_is_taken_and_a_risky_one_warned_about() {
        let domain = |id| parse(&[("ROS_DOMAIN_ID", id)]).unwrap();
        assert_eq!(domain("232").domain, 232);
        assert!(domain("101").warnings.is_empty());
        assert_eq!(domain("102").warnings.is_empty(), !cfg!(target_os = "linux"));
    }

    #[test]
    fn addresses_resolve_and_unknown_hosts_are_left_out() {
        let peers = vec!["127.0.0.9".to_owned(), "no-such-host.invalid".to_owned()];
        let discovery = Discovery { static_peers: peers, ..Discovery::default() };
        assert_eq!(discovery.resolve(), [SocketAddr::from(([127, 0, 0, 9], 0))]);
    }
}
