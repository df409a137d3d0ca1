//! Windows, containers and serial ports.

use rostrans_adapter_dds::DiscoveryRange;

use super::super::{
    facts::{Facts, Wsl},
    finding::Finding,
};
use crate::network::ports;

/// Virtual machines and containers with a network of their own.
pub(super) fn host(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    let (first, last) = ports(facts.discovery.domain);
    match facts.host.wsl {
        None => {}
        Some(Wsl::One) => found.push(Finding::problem(
            "wsl",
            "WSL 1: its network lacks what discovery needs",
            "convert it in Windows: wsl --set-version NAME 2",
        )),
        Some(Wsl::Nat) => found.push(Finding::warning(
            "wsl",
            "WSL 2 behind NAT: multicast and connections from outside do not reach it",
            "set networkingMode=mirrored in .wslconfig (Windows 11 22H2), then 'wsl --shutdown'; see docs/network.md",
        )),
        Some(Wsl::Mirrored) => found.push(Finding::warning(
            "wsl",
            "WSL 2 in mirrored mode: the Hyper-V firewall of Windows lets nothing in by itself",
            format!(
                "in an administrator's PowerShell: New-NetFirewallHyperVRule -Name ROS -DisplayName ROS -Direction \
                 Inbound -Action Allow -Protocol UDP -LocalPorts {first}-{last} -VMCreatorId \
                 '{{40E0AC32-46A5-438A-A0B2-2B479E8F2E90}}'"
            ),
        )),
    }
    if let Some(container) = facts.host.container {
        let wide =
            facts.discovery.range == DiscoveryRange::Subnet || !facts.discovery.static_peers.is_empty();
        found.push(match container.own_network {
            true if wide => Finding::warning(
                "container",
                "container with a network of its own: the host's network is not reached by multicast, and cannot reach in",
                "run it with --network=host, or name hosts in ROS_STATIC_PEERS on both sides of a routed network",
            ),
            true => Finding::ok("container", "container with a network of its own"),
            false => Finding::ok("container", "container in the host's network"),
        });
        found.push(Finding::ok(
            "shm",
            "rostrans needs no shared memory; Fast DDS nodes of different containers with the host's network do: run \
             them with --ipc=host or FASTDDS_BUILTIN_TRANSPORTS=UDPv4",
        ));
    }
    found
}

/// Whether flight controllers can be reached.
pub(super) fn serial(facts: &Facts) -> Vec<Finding> {
    let (usable, refused): (Vec<_>, Vec<_>) = facts.serial.iter().partition(|port| port.usable);
    let names = |ports: &[&super::super::facts::SerialPort]| {
        ports.iter().map(|port| port.path.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut found = Vec::new();
    if !usable.is_empty() {
        found.push(Finding::ok("serial", format!("{} can be opened", names(&usable))));
    }
    if let Some(port) = refused.first() {
        let group = port.group.as_deref().unwrap_or("dialout");
        found.push(Finding::warning(
            "serial",
            format!("{} may not be opened by this user", names(&refused)),
            format!("sudo usermod -aG {group} $USER, then log in again"),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{super::lines, *};
    use crate::network::doctor::facts::{Container, Host, SerialPort};

    #[test]
    fn each_kind_of_machine_has_its_advice() {
        let mut text = String::new();
        for wsl in [Wsl::One, Wsl::Nat, Wsl::Mirrored] {
            let facts = Facts { host: Host { wsl: Some(wsl), container: None }, ..Facts::default() };
            text += &lines(&host(&facts));
        }
        for own_network in [true, false] {
            let container = Some(Container { own_network });
            text += &lines(&host(&Facts { host: Host { wsl: None, container }, ..Facts::default() }));
        }
        insta::assert_snapshot!(text);
        assert_eq!(lines(&host(&Facts::default())), "");
    }

    #[test]
    fn serial_ports_of_another_group_need_membership() {
        let port =
            |path: &str, usable| SerialPort { path: path.to_owned(), usable, group: Some("uucp".to_owned()) };
        let facts = Facts {
            serial: vec![port("/dev/ttyUSB0", true), port("/dev/ttyACM0", false)],
            ..Facts::default()
        };
        assert_eq!(
            lines(&serial(&facts)),
            "Ok serial: /dev/ttyUSB0 can be opened -> \nWarning serial: /dev/ttyACM0 may not be opened by this user -> \
             sudo usermod -aG uucp $USER, then log in again\n"
        );
    }
}
