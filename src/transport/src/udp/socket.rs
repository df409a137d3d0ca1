//! Binding, multicast, buffer sizes.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::Once,
};

use rostrans_core::{rule::UdpBind, transport::TransportError};
use rostrans_net::{BindOptions, Interface, interfaces, join_multicast, set_multicast_if};
use tracing::warn;

/// Receive buffer asked for, in bytes: a burst of 100,000 MAVLink frames while the process is not scheduled.
const RECV_BUFFER: usize = 8 << 20;

/// Binds a non-blocking socket; joins the group when the address is a multicast one.
///
/// `multicast_if` may name several interfaces, separated by commas: the group is joined on each, and each is one that
/// multicast has to leave by. A socket leaves by one alone, so the others are told to whom sends; see [`UdpSink`].
///
/// [`UdpSink`]: super::sink::UdpSink
pub(crate) fn bind(to: &UdpBind) -> Result<(UdpSocket, Vec<Ipv4Addr>), TransportError> {
    let fail = |source| TransportError::Bind { addr: to.addr, source };
    let multicast = to.addr.ip().is_multicast();
    // Several programs of one host may listen to a group. A unicast port is ours alone: shared, it would be silently
    // deaf.
    let options = BindOptions { recv_buffer: RECV_BUFFER, reuse: multicast, ..BindOptions::default() };
    let (socket, granted) = rostrans_net::bind(to.addr, &options).map_err(fail)?;
    if granted.recv_buffer < RECV_BUFFER {
        warn_small_buffer(granted.recv_buffer);
    }
    let mut chosen = Vec::new();
    for wanted in to.multicast_if.split(',') {
        chosen.extend(choose_interface(wanted, to.addr).map_err(fail)?);
    }
    if multicast && chosen.is_empty() {
        join_multicast(&socket, to.addr.ip(), Ipv4Addr::UNSPECIFIED, 0)
            .map_err(|error| fail(explain_join(error)))?;
    }
    for interface in chosen.iter().filter(|_| multicast) {
        match join_multicast(&socket, to.addr.ip(), v4(interface), interface.index) {
            // One interface under its name and under its address.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            joined => joined.map_err(|error| fail(explain_join(error)))?,
        }
    }
    let leave: Vec<Ipv4Addr> =
        chosen.iter().filter(|i| i.addr.is_ipv4() && to.addr.is_ipv4()).map(v4).collect();
    if let Some(first) = leave.first() {
        set_multicast_if(&socket, *first, true).map_err(fail)?;
    }
    Ok((socket, leave))
}

/// Any port, of the family of `to`.
pub(crate) fn any_port(to: SocketAddr) -> SocketAddr {
    match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Finds the interface that `wanted` names or whose address it is; `None` for an empty text.
fn choose_interface(wanted: &str, group: SocketAddr) -> io::Result<Option<Interface>> {
    let wanted = wanted.trim();
    if wanted.is_empty() || wanted.parse().is_ok_and(|ip: IpAddr| ip.is_unspecified()) {
        return Ok(None);
    }
    let all = interfaces()?;
    let same_family = |i: &&Interface| i.addr.is_ipv4() == group.is_ipv4();
    let by_address = wanted.parse().ok().and_then(|ip: IpAddr| all.iter().find(|i| i.addr == ip));
    let by_name = || all.iter().filter(same_family).find(|i| i.name == wanted);
    match by_address.or_else(by_name) {
        Some(interface) => Ok(Some(interface.clone())),
        None => {
            let known: Vec<String> = all.iter().map(|i| format!("{} ({})", i.name, i.addr)).collect();
            let text = format!("no interface '{wanted}'; there are: {}", known.join(", "));
            Err(io::Error::new(io::ErrorKind::NotFound, text))
        }
    }
}

fn v4(interface: &Interface) -> Ipv4Addr {
    match interface.addr {
        IpAddr::V4(ip) => ip,
        IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
    }
}

/// Without a route for the group the kernel answers with "no such device", which names no remedy.
fn explain_join(error: io::Error) -> io::Error {
    const NO_DEVICE: i32 = 19;
    if error.raw_os_error() != Some(NO_DEVICE) {
        return error;
    }
    io::Error::new(error.kind(), "no interface for this multicast group; name one with 'udp_multicast_if'")
}

fn warn_small_buffer(granted: usize) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        warn!(
            granted_bytes = granted,
            wanted_bytes = RECV_BUFFER,
            "small UDP receive buffer, bursts may be lost; run 'sudo sysctl -w net.core.rmem_max={RECV_BUFFER}'"
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(addr: &str, multicast_if: &str) -> Result<UdpSocket, TransportError> {
        let to = UdpBind { multicast_if: multicast_if.into(), ..UdpBind::new(addr.parse().unwrap()) };
        bind(&to).map(|(socket, _)| socket)
    }

    #[test]
    fn unicast_port_is_not_shared() {
        let first = at("127.0.0.1:0", "").unwrap();
        let taken = first.local_addr().unwrap().to_string();
        let Err(TransportError::Bind { addr, source }) = at(&taken, "") else { panic!("bound twice") };
        assert_eq!(addr.to_string(), taken);
        assert_eq!(source.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn unknown_interface_is_answered_with_the_known_ones() {
        let Err(TransportError::Bind { source, .. }) = at("239.1.2.3:0", "nonesuch0") else {
            panic!("bound")
        };
        let text = source.to_string();
        assert!(text.contains("'nonesuch0'") && text.contains("127.0.0.1"), "{text}");
    }

    #[test]
    fn group_is_joined_by_address_and_by_name() {
        let loopback = interfaces().unwrap().into_iter().find(|i| i.loopback && i.addr.is_ipv4()).unwrap();
        let twice = format!("{}, 127.0.0.1", loopback.name);
        for name in [loopback.name.as_str(), "127.0.0.1", &twice] {
            let group = at("239.255.77.1:0", name).unwrap();
            let to = group.local_addr().unwrap();
            let shared = at(&to.to_string(), name).expect("a group's port is shared");
            let sender = at("127.0.0.1:0", name).unwrap();
            sender.send_to(b"hello", to).unwrap();
            for socket in [group, shared] {
                assert!(
                    rostrans_net::wait_readable(&[&socket], Some(std::time::Duration::from_secs(5))).unwrap()
                );
                let mut buf = [0; 16];
                assert_eq!(socket.recv(&mut buf).unwrap(), 5, "by {name}");
            }
        }
    }
}
