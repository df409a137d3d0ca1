use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::cursor::{Cursor, Malformed};

const KIND_UDP_V4: i32 = 1;
const KIND_UDP_V6: i32 = 2;

/// Reads a locator; `None` for one that is not UDP or that nothing can be sent to.
///
/// **Layout**: kind (i32; 1 UDPv4, 2 UDPv6), port (u32), address (16 bytes, an IPv4 address in the last four).
///
/// Source: DDSI-RTPS 2.5, 9.3.2.3.
pub(crate) fn read_locator(cursor: &mut Cursor<'_>) -> Result<Option<SocketAddr>, Malformed> {
    let (kind, port) = (cursor.i32()?, cursor.u32()?);
    let address @ [.., a, b, c, d] = cursor.array::<16>()?;
    let ip = match kind {
        KIND_UDP_V4 => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        KIND_UDP_V6 => IpAddr::V6(Ipv6Addr::from(address)),
        _ => return Ok(None),
    };
    let broadcast = ip == IpAddr::V4(Ipv4Addr::BROADCAST);
    // An IPv4 address in IPv6's clothes would be a second name of the same place.
    let mapped = matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some());
    let port = u16::try_from(port).unwrap_or(0);
    let usable = port != 0 && !ip.is_unspecified() && !ip.is_multicast() && !broadcast && !mapped;
    Ok(usable.then(|| SocketAddr::new(ip, port)))
}

/// The 24 bytes of a locator, little endian. A scope id means something on this host only and is left out.
pub(crate) fn write_locator(addr: SocketAddr) -> [u8; 24] {
    let (kind, address) = match addr.ip() {
        IpAddr::V4(ip) => (KIND_UDP_V4, u128::from(ip.to_bits())),
        IpAddr::V6(ip) => (KIND_UDP_V6, ip.to_bits()),
    };
    let mut bytes = [0; 24];
    let value = kind
        .to_le_bytes()
        .into_iter()
        .chain(u32::from(addr.port()).to_le_bytes())
        .chain(address.to_be_bytes());
    for (to, from) in bytes.iter_mut().zip(value) {
        *to = from;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8; 24]) -> Option<SocketAddr> {
        read_locator(&mut Cursor::new(bytes, true)).unwrap()
    }

    #[test]
    fn locators_of_both_families_round_trip() {
        for text in ["192.168.1.5:7411", "[2001:db8::5]:7411", "[fe80::1]:7410", "[::1]:7410"] {
            let addr: SocketAddr = text.parse().unwrap();
            assert_eq!(read(&write_locator(addr)), Some(addr));
        }
    }

    #[test]
    fn bytes_are_kind_port_and_address_at_the_end() {
        let mut v4 = [0; 24];
        v4[..6].copy_from_slice(&[1, 0, 0, 0, 0xf3, 0x1c]);
        v4[20..].copy_from_slice(&[10, 0, 0, 7]);
        assert_eq!(write_locator("10.0.0.7:7411".parse().unwrap()), v4);
        let v6 = write_locator("[fe80::7]:7411".parse().unwrap());
        assert_eq!((v6[0], v6[8], v6[9], v6[23]), (2, 0xfe, 0x80, 7));
    }

    #[test]
    fn places_nothing_can_be_sent_to_are_left_out() {
        let places = [
            "0.0.0.0:1",
            "239.255.0.1:1",
            "255.255.255.255:1",
            "10.0.0.1:0",
            "[::]:1",
            "[ff02::1]:1",
            "[::ffff:10.0.0.1]:1",
        ];
        for text in places {
            assert_eq!(read(&write_locator(text.parse().unwrap())), None, "{text}");
        }
        let mut shared_memory = write_locator("10.0.0.1:1".parse().unwrap());
        shared_memory[3] = 1;
        assert_eq!(read(&shared_memory), None);
    }
}
