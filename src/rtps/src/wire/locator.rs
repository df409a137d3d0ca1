use std::net::{Ipv4Addr, SocketAddrV4};

use super::cursor::{Cursor, Malformed};

const KIND_UDP_V4: i32 = 1;

/// Reads a locator; `None` for one that is not UDP over IPv4.
///
/// **Layout**: kind (i32), port (u32), address (16 bytes, an IPv4 address in the last four).
pub(crate) fn read_locator(cursor: &mut Cursor<'_>) -> Result<Option<SocketAddrV4>, Malformed> {
    let (kind, port) = (cursor.i32()?, cursor.u32()?);
    let [.., a, b, c, d] = cursor.array::<16>()?;
    let ip = Ipv4Addr::new(a, b, c, d);
    let port = u16::try_from(port).unwrap_or(0);
    let usable =
        kind == KIND_UDP_V4 && port != 0 && !ip.is_unspecified() && !ip.is_multicast() && !ip.is_broadcast();
    Ok(usable.then(|| SocketAddrV4::new(ip, port)))
}

/// The 24 bytes of a UDPv4 locator, little endian.
pub(crate) fn write_locator(addr: SocketAddrV4) -> [u8; 24] {
    let mut bytes = [0; 24];
    let value = KIND_UDP_V4
        .to_le_bytes()
        .into_iter()
        .chain(u32::from(addr.port()).to_le_bytes())
        .chain([0; 12])
        .chain(addr.ip().octets());
    for (to, from) in bytes.iter_mut().zip(value) {
        *to = from;
    }
    bytes
}
