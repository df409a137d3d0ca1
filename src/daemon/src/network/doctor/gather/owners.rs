//! Who has which UDP port, as far as Linux tells.

use std::{collections::BTreeSet, fs};

/// Local ports of all UDP sockets of this machine, with the number of the socket.
pub(super) fn open_ports() -> Vec<(u16, u64)> {
    let tables = ["/proc/net/udp", "/proc/net/udp6"];
    tables.iter().filter_map(|path| fs::read_to_string(path).ok()).flat_map(|table| parse(&table)).collect()
}

/// Reads a table of sockets: in each line the second word is address and port in hexadecimal, the tenth the number.
fn parse(table: &str) -> Vec<(u16, u64)> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (_, port) = words.nth(1)?.rsplit_once(':')?;
        let inode = words.nth(7)?.parse().ok()?;
        Some((u16::from_str_radix(port, 16).ok()?, inode))
    };
    table.lines().skip(1).filter_map(line).collect()
}

/// Domains with a participant: both ports of one id are open.
///
/// Only below the ports that outgoing connections get, where this means something.
pub(super) fn domains(open: &[(u16, u64)]) -> Vec<u16> {
    let ports: BTreeSet<u16> = open.iter().map(|(port, _)| *port).collect();
    let domain = |port: &u16| {
        let (domain, offset) = (port.checked_sub(7400)? / 250, (port - 7400) % 250);
        let metatraffic = (10..=72).contains(&offset) && offset % 2 == 0;
        (metatraffic && domain <= 101 && ports.contains(&(port + 1))).then_some(domain)
    };
    let found: BTreeSet<u16> = ports.iter().filter_map(domain).collect();
    found.into_iter().collect()
}

/// `name (pid N)` of the programs that have one of these sockets; only those that this user may look into.
pub(super) fn programs(sockets: &BTreeSet<u64>) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(processes) = fs::read_dir("/proc") else { return found };
    for process in processes.flatten() {
        let name = process.file_name();
        let Some(pid) = name.to_str().filter(|pid| pid.bytes().all(|b| b.is_ascii_digit())) else { continue };
        let Ok(files) = fs::read_dir(process.path().join("fd")) else { continue };
        let has_one = files.flatten().any(|file| {
            let target = fs::read_link(file.path()).unwrap_or_default();
            let target = target.to_string_lossy();
            let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            inode.and_then(|inode| inode.parse().ok()).is_some_and(|inode: u64| sockets.contains(&inode))
        });
        if has_one {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            found.push(format!("{} (pid {pid})", name.trim()));
        }
    }
    found.sort();
    let more = found.len().saturating_sub(MAX_PROGRAMS);
    found.truncate(MAX_PROGRAMS);
    if more > 0 {
        found.push(format!("{more} more"));
    }
    found
}

/// Programs named at most.
const MAX_PROGRAMS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_tables_are_read() {
        let table = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            12: 0100007F:1CF2 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 4711 2 0 0\n\
            13: 00000000000000000000000000000000:1CF3 0:0 07 0:0 0:0 0  1000 0 4712 2 0 0\nnonsense\n";
        assert_eq!(parse(table), [(7410, 4711), (7411, 4712)]);
    }

    #[test]
    fn a_domain_is_in_use_when_a_pair_of_ports_is() {
        let open = |ports: &[u16]| ports.iter().map(|port| (*port, 0)).collect::<Vec<_>>();
        assert_eq!(domains(&open(&[7410, 7411, 17_912, 17_913, 7400])), [0, 42]);
        // One port alone, MAVLink, and what outgoing connections have.
        assert_eq!(domains(&open(&[7660, 14_550, 14_551, 40_000, 40_001])), [0; 0]);
    }

    #[test]
    fn a_socket_of_this_test_has_an_owner() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let inodes =
            open_ports().into_iter().filter(|(open, _)| *open == port).map(|(_, inode)| inode).collect();
        let me = format!("(pid {})", std::process::id());
        let found = programs(&inodes);
        assert!(found.iter().any(|name| name.ends_with(&me)), "{found:?}");
    }
}
