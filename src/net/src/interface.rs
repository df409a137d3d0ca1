//! Local network interfaces.
#![expect(unsafe_code, reason = "getifaddrs has no safe form in the standard library")]

use std::{
    ffi::CStr,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    ptr,
};

/// One address of one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name, e.g. `eth0`.
    pub name: String,
    /// Kernel index, for IPv6 multicast.
    pub index: u32,
    /// Its address.
    pub addr: IpAddr,
    /// True for the loopback interface.
    pub loopback: bool,
    /// True when the interface can send multicast.
    pub multicast: bool,
}

/// Lists the addresses of all interfaces that are up.
///
/// **Errors**: the system call failed.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    let mut head: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: `head` is a valid place for the list's address; it is freed below.
    if unsafe { libc::getifaddrs(&raw mut head) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut next = head;
    while !next.is_null() {
        // SAFETY: `next` is an entry of the list that getifaddrs returned and that is not freed yet.
        let entry = unsafe { &*next };
        next = entry.ifa_next;
        found.extend(read_entry(entry));
    }
    // SAFETY: `head` came from getifaddrs and no reference into the list is left.
    unsafe { libc::freeifaddrs(head) };
    Ok(found)
}

fn read_entry(entry: &libc::ifaddrs) -> Option<Interface> {
    let flags = libc::c_int::try_from(entry.ifa_flags).ok()?;
    if entry.ifa_addr.is_null() || entry.ifa_name.is_null() || flags & libc::IFF_UP == 0 {
        return None;
    }
    // SAFETY: `ifa_addr` is not null and points to a socket address whose family says which structure it is.
    let addr = match libc::c_int::from(unsafe { (*entry.ifa_addr).sa_family }) {
        libc::AF_INET => {
            // SAFETY: family AF_INET means a sockaddr_in; read unaligned because the type does not promise more.
            let raw: libc::sockaddr_in = unsafe { ptr::read_unaligned(entry.ifa_addr.cast()) };
            IpAddr::V4(Ipv4Addr::from(raw.sin_addr.s_addr.to_ne_bytes()))
        }
        libc::AF_INET6 => {
            // SAFETY: family AF_INET6 means a sockaddr_in6.
            let raw: libc::sockaddr_in6 = unsafe { ptr::read_unaligned(entry.ifa_addr.cast()) };
            IpAddr::V6(Ipv6Addr::from(raw.sin6_addr.s6_addr))
        }
        _ => return None,
    };
    // SAFETY: `ifa_name` is not null and NUL-terminated.
    let name = unsafe { CStr::from_ptr(entry.ifa_name) };
    // SAFETY: as above; the call only reads the name.
    let index = unsafe { libc::if_nametoindex(entry.ifa_name) };
    Some(Interface {
        name: name.to_string_lossy().into_owned(),
        index,
        addr,
        loopback: flags & libc::IFF_LOOPBACK != 0,
        multicast: flags & libc::IFF_MULTICAST != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_listed() {
        let all = interfaces().unwrap();
        assert!(all.iter().any(|i| i.loopback && i.addr == IpAddr::V4(Ipv4Addr::LOCALHOST)), "{all:?}");
    }
}
