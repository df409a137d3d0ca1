//! What files of the system tell.

use std::{fs, path::Path};

use super::super::facts::{Container, Host, Interface, SerialPort, Wsl};

/// A number of `net.core`.
pub(super) fn core_setting(name: &str) -> Option<u64> {
    fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok()?.trim().parse().ok()
}

/// The ports that outgoing connections get.
pub(super) fn ephemeral_ports() -> Option<(u16, u16)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let (low, high) = text.trim().split_once(char::is_whitespace)?;
    Some((low.parse().ok()?, high.trim().parse().ok()?))
}

/// What kind of machine this is.
pub(super) fn host(interfaces: &[Interface]) -> Host {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let marks = ["/.dockerenv", "/run/.containerenv"];
    let contained = marks.iter().any(|mark| Path::new(mark).exists())
        || fs::read_to_string("/proc/1/cgroup").is_ok_and(|text| is_container(&text));
    let container = contained.then(|| Container {
        own_network: interfaces.iter().filter(|i| !i.loopback).all(|i| has_far_end(&i.name)),
    });
    Host { wsl: wsl(&kernel, interfaces.iter().map(|i| i.name.as_str())), container }
}

/// Which WSL a kernel is of, if any. Mirrored mode adds an interface of its own.
fn wsl<'a>(kernel: &str, mut interfaces: impl Iterator<Item = &'a str>) -> Option<Wsl> {
    let kernel = kernel.to_lowercase();
    if !kernel.contains("microsoft") {
        return None;
    }
    if !kernel.contains("wsl2") && !kernel.contains("microsoft-standard") {
        return Some(Wsl::One);
    }
    Some(if interfaces.any(|name| name == "loopback0") { Wsl::Mirrored } else { Wsl::Nat })
}

fn is_container(cgroup: &str) -> bool {
    ["/docker", "/kubepods", "/lxc", "/libpod", "/containerd"].iter().any(|mark| cgroup.contains(mark))
}

/// Whether an interface is one end of a cable whose other end is in another network namespace, as a container's is.
fn has_far_end(interface: &str) -> bool {
    let number = |name| fs::read_to_string(format!("/sys/class/net/{interface}/{name}")).ok();
    match (number("ifindex"), number("iflink")) {
        (Some(here), Some(there)) => here != there,
        _ => false,
    }
}

/// Names of serial ports that flight controllers are at.
const SERIAL: [&str; 5] = ["ttyUSB", "ttyACM", "ttyTHS", "ttyAMA", "ttySAC"];

/// The serial ports of this machine.
#[cfg(unix)]
pub(super) fn serial_ports() -> Vec<SerialPort> {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{Access, access};

    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let Ok(devices) = fs::read_dir("/dev") else { return Vec::new() };
    let mut found: Vec<_> = devices
        .flatten()
        .filter(|device| {
            let name = device.file_name();
            name.to_str().is_some_and(|name| SERIAL.iter().any(|start| name.starts_with(start)))
        })
        .map(|device| SerialPort {
            path: device.path().to_string_lossy().into_owned(),
            usable: access(device.path(), Access::READ_OK | Access::WRITE_OK).is_ok(),
            group: device.metadata().ok().and_then(|data| group_name(&groups, data.gid())),
        })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Nothing is known of serial ports here.
#[cfg(not(unix))]
pub(super) fn serial_ports() -> Vec<SerialPort> {
    Vec::new()
}

/// Name of a group in the text of `/etc/group`.
#[cfg(unix)]
fn group_name(groups: &str, id: u32) -> Option<String> {
    let id = id.to_string();
    let group = groups.lines().find(|line| line.split(':').nth(2) == Some(&id))?;
    group.split(':').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_is_told_by_its_kernel_and_its_mode_by_an_interface() {
        for (kernel, interfaces, expected) in [
            ("6.8.0-45-generic", &["eth0"][..], None),
            ("4.4.0-19041-Microsoft", &["eth0"], Some(Wsl::One)),
            ("5.15.153.1-microsoft-standard-WSL2", &["lo", "eth0"], Some(Wsl::Nat)),
            ("5.15.153.1-microsoft-standard-WSL2", &["lo", "loopback0", "eth0"], Some(Wsl::Mirrored)),
        ] {
            assert_eq!(wsl(kernel, interfaces.iter().copied()), expected, "{kernel}");
        }
    }

    #[test]
    fn containers_are_told_by_their_group_of_processes() {
        assert!(is_container("0::/docker/0123"));
        assert!(is_container("12:cpu:/kubepods/besteffort/pod1"));
        assert!(!is_container("0::/init.scope\n"));
    }

    #[cfg(unix)]
    #[test]
    fn groups_have_names() {
        let groups = "root:x:0:\ndialout:x:20:me,you\n";
        assert_eq!(group_name(groups, 20).as_deref(), Some("dialout"));
        assert_eq!(group_name(groups, 2), None);
    }
}
