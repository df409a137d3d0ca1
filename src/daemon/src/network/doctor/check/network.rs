//! Ports, interfaces, buffers: what the system lets datagrams do.

use rostrans_adapter_dds::DiscoveryRange;

use super::{
    super::{
        facts::{Facts, Try},
        finding::Finding,
    },
    WANTED,
};
use crate::network::ports as domain_ports;

/// Participants on one host that find each other without multicast.
const PARTICIPANTS: usize = 32;

/// Ports of the domain.
pub(super) fn ports(facts: &Facts) -> Vec<Finding> {
    let (domain, ports) = (facts.discovery.domain, &facts.ports);
    let (first, last) = domain_ports(domain);
    let mut found = Vec::new();
    if facts.discovery.range == DiscoveryRange::Off {
        return found;
    }
    let owners = match &ports.owners[..] {
        [] => String::new(),
        owners => format!(" ({})", owners.join(", ")),
    };
    let taken = ports.taken.len();
    match PARTICIPANTS - taken.min(PARTICIPANTS) {
        0 => found.push(Finding::problem(
            "ports",
            format!(
                "the {PARTICIPANTS} participant ids of domain {domain} that are found without multicast are all \
                 taken{owners}"
            ),
            "end some ROS programs, or use another ROS_DOMAIN_ID",
        )),
        free @ 1..=4 => found.push(Finding::warning(
            "ports",
            format!("only {free} of {PARTICIPANTS} participant ids of domain {domain} are free{owners}"),
            "end some ROS programs, or use another ROS_DOMAIN_ID",
        )),
        _ if taken == 0 => {
            found.push(Finding::ok("ports", format!("UDP {first} to {last}: all free")));
        }
        _ => found.push(Finding::ok(
            "ports",
            format!("UDP {first} to {last}: {taken} of {PARTICIPANTS} participant ids in use{owners}"),
        )),
    }
    if let Some(error) = &ports.multicast_refused {
        found.push(Finding::problem(
            "ports",
            format!("UDP {first}, where multicast arrives: {error}{owners}"),
            "end the program that has the port for itself alone, or use another ROS_DOMAIN_ID",
        ));
    }
    if let Some((low, high)) = ports.ephemeral
        && first <= u32::from(high)
        && last >= u32::from(low)
    {
        found.push(Finding::warning(
            "ports",
            format!("UDP {first} to {last} overlap with {low} to {high}, which outgoing connections get"),
            "use ROS_DOMAIN_ID 0 to 101, or raise net.ipv4.ip_local_port_range",
        ));
    }
    if !ports.other_domains.is_empty() {
        let others: Vec<_> = ports.other_domains.iter().map(ToString::to_string).collect();
        found.push(Finding::ok(
            "domains",
            format!("also in use on this machine: domain {}", others.join(", ")),
        ));
    }
    found
}

/// Interfaces and multicast.
pub(super) fn interfaces(facts: &Facts) -> Vec<Finding> {
    let missing = |name: &String| {
        Finding::problem(
            "network",
            format!("no interface '{name}' here"),
            "'ip address' lists those there are",
        )
    };
    let mut found: Vec<_> = facts.missing.iter().map(missing).collect();
    if facts.discovery.range != DiscoveryRange::Subnet {
        return found;
    }
    let outer = facts.interfaces.iter().any(|i| !i.loopback);
    if !outer && facts.missing.is_empty() {
        found.push(Finding::warning(
            "network",
            "no interface but loopback has an address: other machines are out of reach",
            "connect a network, or use ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
        ));
    }
    let tried = facts.interfaces.iter().filter(|i| !(i.loopback && outer));
    let (mut heard, mut silent) = (0, Vec::new());
    for interface in tried {
        let (name, addr) = (&interface.name, interface.addr);
        let remedy = "name hosts in ROS_STATIC_PEERS instead of searching by multicast";
        if !interface.multicast && silent.contains(&name) {
            continue;
        }
        found.push(match &interface.heard {
            _ if !interface.multicast && interface.loopback => Finding::ok(
                "multicast",
                format!("{name} has no multicast; programs of this machine find each other without it"),
            ),
            _ if !interface.multicast => {
                silent.push(name);
                Finding::warning(
                    "multicast",
                    format!("{name} ({addr}) has no multicast; nobody is found through it by searching"),
                    format!("sudo ip link set {name} multicast on, or {remedy}"),
                )
            }
            None => continue,
            Some(Try::Arrived) => {
                heard += 1;
                Finding::ok("multicast", format!("{name} ({addr}) sends to the group and hears it"))
            }
            Some(Try::Lost) => Finding::problem(
                "multicast",
                format!("{name} ({addr}) does not hear what it sends to the group; a firewall drops it"),
                format!("let UDP to the group in, e.g. sudo iptables -I INPUT -d 239.255.0.1 -p udp -j ACCEPT; or {remedy}"),
            ),
            Some(Try::Refused(error)) => Finding::problem(
                "multicast",
                format!("{name} ({addr}) refuses multicast: {error}"),
                match addr.is_ipv4() {
                    true => format!("sudo ip route add 224.0.0.0/4 dev {name}, or {remedy}"),
                    false => format!("look for 'tentative' in 'ip -6 addr show dev {name}', or {remedy}"),
                },
            ),
        });
    }
    if heard > 1 {
        found.push(Finding::ok(
            "multicast",
            format!("{heard} interfaces: others may know this machine by any of their addresses"),
        ));
    }
    found
}

/// Datagrams from this machine to itself, at a port of the domain.
pub(super) fn unicast(facts: &Facts) -> Vec<Finding> {
    let (first, last) = domain_ports(facts.discovery.domain);
    let bad = facts.unicast.iter().filter(|(_, outcome)| *outcome != Try::Arrived);
    let mut found: Vec<_> = bad
        .map(|(addr, outcome)| {
            let why = match outcome {
                Try::Refused(error) => error.as_str(),
                _ => "they do not arrive",
            };
            Finding::problem(
                "firewall",
                format!("datagrams from this machine to itself at {addr}: {why}"),
                format!("let UDP {first} to {last} in: sudo ufw allow {first}:{last}/udp, or the like"),
            )
        })
        .collect();
    if found.is_empty() && !facts.unicast.is_empty() {
        let addrs: Vec<_> = facts.unicast.iter().map(|(addr, _)| addr.to_string()).collect();
        found.push(Finding::ok("firewall", format!("datagrams to itself arrive at {}", addrs.join(", "))));
    }
    found
}

/// Receive buffer a reader of big best-effort messages needs, bytes.
const DEFAULT_WANTED: u64 = 4 << 20;

/// Socket buffers.
pub(super) fn buffers(facts: &Facts) -> Vec<Finding> {
    let buffers = facts.buffers;
    let mut found = Vec::new();
    let mut lines = Vec::new();
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    if let Some((receive, send)) = buffers.granted {
        if receive < WANTED / 8 {
            let text = format!(
                "rostrans gets {} of {} for receiving: images and point clouds from others get lost",
                mib(receive),
                mib(WANTED)
            );
            found.push((text, vec![format!("net.core.rmem_max={WANTED}")]));
        } else {
            lines.push(format!("receive {}, send {}", mib(receive), mib(send)));
        }
        if send < WANTED / 32 {
            let text = format!(
                "rostrans gets {} of {} for sending: big messages are slow",
                mib(send),
                mib(WANTED / 2)
            );
            found.push((text, vec![format!("net.core.wmem_max={}", WANTED / 2)]));
        }
    }
    if let Some(default) = buffers.rmem_default.filter(|default| *default < DEFAULT_WANTED / 4) {
        let text = format!(
            "other programs get {} for receiving unless they ask for more: ROS nodes here lose big best-effort messages",
            mib(default)
        );
        let mut settings = vec![format!("net.core.rmem_default={DEFAULT_WANTED}")];
        // The default may not be larger than the largest.
        if buffers.rmem_max.is_some_and(|max| max < DEFAULT_WANTED) {
            settings.insert(0, format!("net.core.rmem_max={WANTED}"));
        }
        found.push((text, settings));
    }
    let mut findings: Vec<_> = found
        .into_iter()
        .map(|(text, settings)| {
            Finding::warning("buffers", text, format!("sudo sysctl -w {}", settings.join(" ")))
        })
        .collect();
    if findings.is_empty() && !lines.is_empty() {
        findings.push(Finding::ok("buffers", lines.join(", ")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use rostrans_adapter_dds::Discovery;

    use super::{super::lines, *};
    use crate::network::doctor::facts::{Buffers, Interface, Ports};

    fn on(domain: u16, range: DiscoveryRange) -> Facts {
        Facts { discovery: Discovery { domain, range, ..Discovery::default() }, ..Facts::default() }
    }

    fn interface(name: &str, addr: &str, multicast: bool, heard: Option<Try>) -> Interface {
        let addr: IpAddr = addr.parse().unwrap();
        Interface { name: name.to_owned(), addr, loopback: addr.is_loopback(), multicast, heard }
    }

    #[test]
    fn crowded_and_ephemeral_ports_are_told() {
        let mut text = String::new();
        for taken in [0, 3, 30, 32] {
            let mut facts = on(1, DiscoveryRange::Localhost);
            facts.ports = Ports {
                taken: (0..taken).collect(),
                owners: vec!["python3 (pid 7)".into()],
                ..Ports::default()
            };
            text += &lines(&ports(&facts));
        }
        let mut facts = on(120, DiscoveryRange::Subnet);
        facts.ports = Ports {
            multicast_refused: Some("address already in use".into()),
            ephemeral: Some((32768, 60999)),
            other_domains: vec![0, 42],
            ..Ports::default()
        };
        text += &lines(&ports(&facts));
        insta::assert_snapshot!(text);
        assert!(ports(&on(0, DiscoveryRange::Off)).is_empty());
    }

    #[test]
    fn each_interface_says_whether_it_carries_multicast() {
        let mut facts = on(0, DiscoveryRange::Subnet);
        facts.interfaces = vec![
            interface("lo", "127.0.0.1", false, None),
            interface("eth0", "10.0.0.1", true, Some(Try::Arrived)),
            interface("eth1", "10.0.1.1", true, Some(Try::Lost)),
            interface("wlan0", "10.0.2.1", true, Some(Try::Refused("network is unreachable".into()))),
            interface("tun0", "10.8.0.2", false, None),
            interface("eth2", "10.0.3.1", true, Some(Try::Arrived)),
        ];
        insta::assert_snapshot!(lines(&interfaces(&facts)));
        facts.interfaces.truncate(1);
        insta::assert_snapshot!("loopback_alone", lines(&interfaces(&facts)));
        assert!(interfaces(&on(0, DiscoveryRange::Localhost)).is_empty());
        // Who asked for an interface is told of that, not of the network.
        let missing = vec!["eth7".to_owned()];
        assert_eq!(
            lines(&interfaces(&Facts { missing, ..on(0, DiscoveryRange::Subnet) })),
            "Problem network: no interface 'eth7' here -> 'ip address' lists those there are\n"
        );
    }

    #[test]
    fn small_buffers_come_with_the_sysctl_lines() {
        let check = |max, default, granted| {
            let buffers = Buffers { rmem_max: Some(max), rmem_default: Some(default), granted };
            lines(&buffers_of(buffers))
        };
        fn buffers_of(buffers: Buffers) -> Vec<Finding> {
            super::buffers(&Facts { buffers, ..Facts::default() })
        }
        let text = check(212_992, 212_992, Some((212_992, 212_992)))
            + &check(8 << 20, 8 << 20, Some((8 << 20, 4 << 20)));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_firewall_in_the_way_is_a_problem() {
        let mut facts = on(0, DiscoveryRange::Localhost);
        assert!(unicast(&facts).is_empty());
        let (lo, eth) = ("127.0.0.1".parse().unwrap(), "10.0.0.1".parse().unwrap());
        facts.unicast = vec![(lo, Try::Arrived), (eth, Try::Arrived)];
        assert_eq!(
            lines(&unicast(&facts)),
            "Ok firewall: datagrams to itself arrive at 127.0.0.1, 10.0.0.1 -> \n"
        );
        facts.unicast[1].1 = Try::Lost;
        assert!(
            lines(&unicast(&facts))
                .starts_with("Problem firewall: datagrams from this machine to itself at 10.0.0.1")
        );
    }
}
