//! The environment variables every ROS 2 program honours.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use rostrans_rtps::DiscoveryRange;
use thiserror::Error;
use tracing::warn;

/// Which part of the world to look for ROS nodes in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// DDS domain (`ROS_DOMAIN_ID`); on Linux 0 to 101 stay clear of the ephemeral ports.
    pub domain: u16,
    /// How far to search (`ROS_AUTOMATIC_DISCOVERY_RANGE`, `ROS_LOCALHOST_ONLY`).
    pub range: DiscoveryRange,
    /// Hosts to search in addition, as names or IPv4 addresses (`ROS_STATIC_PEERS`).
    pub static_peers: Vec<String>,
}

/// A variable whose value ROS does not define.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{variable}: invalid value '{value}'; {allowed}")]
pub struct EnvError {
    /// Name of the variable.
    pub variable: &'static str,
    /// What it holds.
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
        let domain = read("ROS_DOMAIN_ID", "use a whole number from 0 to 230", &domain);
        let range =
            read("ROS_AUTOMATIC_DISCOVERY_RANGE", "use OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT", &range);
        let local = read("ROS_LOCALHOST_ONLY", "use 0 or 1", &localhost_only);
        let peers = read("ROS_STATIC_PEERS", "use host names or IPv4 addresses separated by ';'", &hosts);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut discovery = Self::default();
        // The old variable last: it overrides the two before it.
        for parsed in [domain, range, peers, local].into_iter().flatten() {
            match parsed {
                Parsed::Domain(domain) => discovery.domain = domain,
                Parsed::Range(range) => discovery.range = range,
                Parsed::Peers(hosts) => discovery.static_peers = hosts,
                Parsed::LocalhostOnly(false) => {}
                Parsed::LocalhostOnly(true) => {
                    discovery.range = DiscoveryRange::Localhost;
                    discovery.static_peers.clear();
                }
            }
        }
        Ok(discovery)
    }

    /// The range as the variable spells it.
    pub fn range_name(&self) -> &'static str {
        match self.range {
            DiscoveryRange::Off => "OFF",
            DiscoveryRange::Localhost => "LOCALHOST",
            DiscoveryRange::Subnet => "SUBNET",
        }
    }

    /// Addresses of the static peers, port 0. A name that does not resolve is logged and left out: on a robot that
    /// boots before its network this must not keep everything else from starting.
    pub(crate) fn resolve(&self) -> Vec<SocketAddr> {
        let resolve = |host: &String| match (host.as_str(), 0).to_socket_addrs() {
            Ok(found) => found.filter(SocketAddr::is_ipv4).take(1).collect(),
            Err(error) => {
                warn!(%host, %error, "cannot resolve a host of ROS_STATIC_PEERS; it is not searched");
                Vec::new()
            }
        };
        self.static_peers.iter().flat_map(resolve).collect()
    }
}

enum Parsed {
    Domain(u16),
    Range(DiscoveryRange),
    LocalhostOnly(bool),
    Peers(Vec<String>),
}

fn domain(value: &str) -> Option<Parsed> {
    value.parse().ok().filter(|d| *d <= 230).map(Parsed::Domain)
}

fn range(value: &str) -> Option<Parsed> {
    let range = match value.to_ascii_uppercase().as_str() {
        "OFF" => DiscoveryRange::Off,
        "LOCALHOST" => DiscoveryRange::Localhost,
        "SUBNET" | "SYSTEM_DEFAULT" => DiscoveryRange::Subnet,
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

fn hosts(value: &str) -> Option<Parsed> {
    let host_like = |host: &str| {
        let name = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
        name && !matches!(host.parse(), Ok(IpAddr::V6(_)))
    };
    let hosts: Vec<&str> = value.split(';').map(str::trim).filter(|h| !h.is_empty()).collect();
    hosts.iter().all(|h| host_like(h)).then(|| Parsed::Peers(hosts.into_iter().map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(vars: &[(&str, &str)]) -> Result<Discovery, Vec<EnvError>> {
        Discovery::from_env(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    #[test]
    fn unset_and_empty_variables_mean_the_defaults() {
        let default = Discovery { domain: 0, range: DiscoveryRange::Subnet, static_peers: Vec::new() };
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
            Ok(Discovery { domain: 42, range: DiscoveryRange::Localhost, static_peers: peers })
        );
        assert_eq!(
            parse(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "SYSTEM_DEFAULT")]).unwrap().range,
            DiscoveryRange::Subnet
        );
        assert_eq!(parse(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")]).unwrap().range, DiscoveryRange::Off);
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
            ("ROS_DOMAIN_ID", "231"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "NEAR"),
            ("ROS_LOCALHOST_ONLY", "yes"),
            ("ROS_STATIC_PEERS", "10.0.0.2,10.0.0.3"),
        ];
        let texts: Vec<String> = parse(&vars).unwrap_err().iter().map(EnvError::to_string).collect();
        assert_eq!(
            texts,
            [
                "ROS_DOMAIN_ID: invalid value '231'; use a whole number from 0 to 230",
                "ROS_AUTOMATIC_DISCOVERY_RANGE: invalid value 'NEAR'; use OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT",
                "ROS_LOCALHOST_ONLY: invalid value 'yes'; use 0 or 1",
                "ROS_STATIC_PEERS: invalid value '10.0.0.2,10.0.0.3'; use host names or IPv4 addresses separated by ';'",
            ]
        );
    }

    #[test]
    fn addresses_resolve_and_unknown_hosts_are_left_out() {
        let peers = vec!["127.0.0.9".to_owned(), "no-such-host.invalid".to_owned()];
        let discovery = Discovery { static_peers: peers, ..Discovery::default() };
        assert_eq!(discovery.resolve(), [SocketAddr::from(([127, 0, 0, 9], 0))]);
    }
}
