//! The environment variables every ROS 2 program honours.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

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
            let bad = hosts.iter().filter(|host| !is_host(host));
            problems.extend(bad.map(|host| EnvError {
                variable: "ROS_STATIC_PEERS",
                value: host.clone(),
                allowed: "use host names or IPv4 addresses separated by ';'",
            }));
        }
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

    /// What a person should know about these values before they are used.
    pub fn warning(&self) -> Option<String> {
        let risky = cfg!(target_os = "linux") && self.domain > LAST_CLEAR_DOMAIN;
        risky.then(|| {
            format!(
                "ROS_DOMAIN_ID={}: its ports may be taken by outgoing connections, from port 32768; use 0 to \
                 {LAST_CLEAR_DOMAIN}",
                self.domain
            )
        })
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
            Ok(found) => {
                let first: Vec<_> = found.filter(SocketAddr::is_ipv4).take(1).collect();
                if first.is_empty() {
                    warn!(%host, "a host of ROS_STATIC_PEERS has no IPv4 address; it is not searched");
                }
                first
            }
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
    value.parse().ok().filter(|d| *d <= LAST_DOMAIN).map(Parsed::Domain)
}

/// The last domain whose ports, from 7400 + 250 for each domain, are below 65536.
const LAST_DOMAIN: u16 = 232;

/// The last domain whose ports are below those that Linux gives to outgoing connections, from 32768.
const LAST_CLEAR_DOMAIN: u16 = 101;

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

fn hosts(value: &str) -> Parsed {
    let hosts = value.split(';').map(str::trim).filter(|host| !host.is_empty());
    Parsed::Peers(hosts.map(str::to_owned).collect())
}

/// An IPv4 address, or what may be the name of a host.
fn is_host(host: &str) -> bool {
    let letters = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    // No top-level domain is a number: what ends in one is meant as an address.
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let number = last.is_empty() || last.bytes().all(|b| b.is_ascii_digit());
    letters && (!number || host.parse::<Ipv4Addr>().is_ok())
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
            ("ROS_DOMAIN_ID", "233"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "NEAR"),
            ("ROS_LOCALHOST_ONLY", "yes"),
            ("ROS_STATIC_PEERS", "foo;;1.2.3.4.5;[::1];::1;10.0.0.2,10.0.0.3;10.0.0.2;1."),
        ];
        let texts: Vec<String> = parse(&vars).unwrap_err().iter().map(EnvError::to_string).collect();
        assert_eq!(
            texts,
            [
                "ROS_DOMAIN_ID: invalid value '233'; use a whole number from 0 to 232",
                "ROS_AUTOMATIC_DISCOVERY_RANGE: invalid value 'NEAR'; use OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT",
                "ROS_LOCALHOST_ONLY: invalid value 'yes'; use 0 or 1",
                "ROS_STATIC_PEERS: invalid value '1.2.3.4.5'; use host names or IPv4 addresses separated by ';'",
                "ROS_STATIC_PEERS: invalid value '[::1]'; use host names or IPv4 addresses separated by ';'",
                "ROS_STATIC_PEERS: invalid value '::1'; use host names or IPv4 addresses separated by ';'",
                "ROS_STATIC_PEERS: invalid value '10.0.0.2,10.0.0.3'; use host names or IPv4 addresses separated by ';'",
                "ROS_STATIC_PEERS: invalid value '1.'; use host names or IPv4 addresses separated by ';'",
            ]
        );
    }

    #[test]
    fn domain_up_to_the_last_port_is_taken_and_a_risky_one_warned_about() {
        let domain = |id| parse(&[("ROS_DOMAIN_ID", id)]).unwrap();
        assert_eq!(domain("232").domain, 232);
        assert_eq!(domain("101").warning(), None);
        assert_eq!(domain("102").warning().is_some(), cfg!(target_os = "linux"));
    }

    #[test]
    fn addresses_resolve_and_unknown_hosts_are_left_out() {
        let peers = vec!["127.0.0.9".to_owned(), "no-such-host.invalid".to_owned()];
        let discovery = Discovery { static_peers: peers, ..Discovery::default() };
        assert_eq!(discovery.resolve(), [SocketAddr::from(([127, 0, 0, 9], 0))]);
    }
}
