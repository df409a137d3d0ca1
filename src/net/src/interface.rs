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
    /// Bits of the address that its network shares (24 for 255.255.255.0).
    pub prefix_len: u8,
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
    // SAFETY: the address belongs to an entry of the list that is not freed yet.
    let addr = unsafe { read_addr(entry.ifa_addr) }?;
    // SAFETY: as above; a netmask has the form of an address.
    let prefix_len = match unsafe { read_addr(entry.ifa_netmask) } {
        Some(IpAddr::V4(mask)) => mask.to_bits().leading_ones(),
        Some(IpAddr::V6(mask)) => mask.to_bits().leading_ones(),
        // A network of one.
        None => 128,
    };
    // SAFETY: `ifa_name` is not null and NUL-terminated.
    let name = unsafe { CStr::from_ptr(entry.ifa_name) };
    // SAFETY: as above; the call only reads the name.
    let index = unsafe { libc::if_nametoindex(entry.ifa_name) };
    Some(Interface {
        name: name.to_string_lossy().into_owned(),
        index,
        addr,
        prefix_len: u8::try_from(prefix_len).unwrap_or(128),
        loopback: flags & libc::IFF_LOOPBACK != 0,
        multicast: flags & libc::IFF_MULTICAST != 0,
    })
}

/// Reads an IP address; `None` for another family.
///
/// # Safety
///
/// `addr` is null or points to a socket address whose family says which structure it is.
unsafe fn read_addr(addr: *const libc::sockaddr) -> Option<IpAddr> {
    if addr.is_null() {
        return None;
    }
    // SAFETY: not null, and every socket address begins with its family.
    match libc::c_int::from(unsafe { (*addr).sa_family }) {
        libc::AF_INET => {
            // SAFETY: family AF_INET means a sockaddr_in; read unaligned because the type does not promise more.
            let raw: libc::sockaddr_in = unsafe { ptr::read_unaligned(addr.cast()) };
            Some(IpAddr::V4(Ipv4Addr::from(raw.sin_addr.s_addr.to_ne_bytes())))
        }
        libc::AF_INET6 => {
            // SAFETY: family AF_INET6 means a sockaddr_in6.
            let raw: libc::sockaddr_in6 = unsafe { ptr::read_unaligned(addr.cast()) };
            Some(IpAddr::V6(Ipv6Addr::from(raw.sin6_addr.s6_addr)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_listed() {
        let all = interfaces().unwrap();
        let found = all.iter().find(|i| i.loopback && i.addr == IpAddr::V4(Ipv4Addr::LOCALHOST));
        assert_eq!(found.map(|i| i.prefix_len), Some(8), "{all:?}");
    }
}
