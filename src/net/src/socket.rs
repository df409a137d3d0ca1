//! Opening sockets and waiting for them.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    os::fd::AsRawFd,
    time::Duration,
};

use socket2::{Domain, InterfaceIndexOrAddress, Protocol, SockRef, Socket, Type};

/// How a socket is opened.
#[derive(Clone, Copy, Debug)]
pub struct BindOptions {
    /// Receive buffer to ask for, in bytes.
    pub recv_buffer: usize,
    /// Send buffer to ask for, in bytes.
    pub send_buffer: usize,
    /// Let several sockets bind the same address (multicast receivers on one host need it).
    pub reuse: bool,
    /// Allow sending to broadcast addresses.
    pub broadcast: bool,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self { recv_buffer: 8 << 20, send_buffer: 4 << 20, reuse: false, broadcast: true }
    }
}

/// Buffer sizes the kernel granted, in payload bytes (half of what Linux reports, which counts its overhead).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Receive buffer.
    pub recv_buffer: usize,
    /// Send buffer.
    pub send_buffer: usize,
}

/// Opens a non-blocking UDP socket on `addr`.
///
/// **Errors**: the address is in use, not local, or the port needs privileges.
pub fn bind(addr: SocketAddr, options: &BindOptions) -> io::Result<(UdpSocket, Granted)> {
    let socket =
        Socket::new(Domain::for_address(addr), Type::DGRAM.cloexec().nonblocking(), Some(Protocol::UDP))?;
    if options.reuse {
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
    }
    if addr.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_broadcast(options.broadcast)?;
    // A refused size is not an error: the kernel caps it silently, and the caller is told what it got.
    socket.set_recv_buffer_size(options.recv_buffer)?;
    if socket.recv_buffer_size()? / 2 < options.recv_buffer {
        // Past the system's limit where the process may; `Granted` tells the outcome.
        crate::mmsg::force_recv_buffer(&socket, options.recv_buffer);
    }
    socket.set_send_buffer_size(options.send_buffer)?;
    socket.bind(&addr.into())?;
    let granted =
        Granted { recv_buffer: socket.recv_buffer_size()? / 2, send_buffer: socket.send_buffer_size()? / 2 };
    Ok((socket.into(), granted))
}

/// Joins a multicast group on the interface with `local` as its address (unspecified lets the kernel choose; for
/// IPv6 give the interface index).
///
/// **Errors**: the interface does not exist or the group is already joined on it.
pub fn join_multicast(socket: &UdpSocket, group: IpAddr, local: Ipv4Addr, index: u32) -> io::Result<()> {
    let socket = SockRef::from(socket);
    match group {
        IpAddr::V4(group) if index != 0 => {
            socket.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(index))
        }
        IpAddr::V4(group) => socket.join_multicast_v4(&group, &local),
        IpAddr::V6(group) => socket.join_multicast_v6(&group, index),
    }
}

/// Leaves a multicast group on the interface with this index; the interface may be gone already.
///
/// **Errors**: the group is not joined there.
pub fn leave_multicast(socket: &UdpSocket, group: IpAddr, index: u32) -> io::Result<()> {
    let socket = SockRef::from(socket);
    match group {
        IpAddr::V4(group) => socket.leave_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(index)),
        IpAddr::V6(group) => socket.leave_multicast_v6(&group, index),
    }
}

/// Has multicast of the socket leave by the interface with address `local` and this index from now on.
///
/// **Errors**: the interface does not exist, or the socket is of the other family.
pub fn multicast_through(socket: &UdpSocket, local: IpAddr, index: u32) -> io::Result<()> {
    let socket = SockRef::from(socket);
    match local {
        IpAddr::V4(local) => socket.set_multicast_if_v4(&local),
        IpAddr::V6(_) => socket.set_multicast_if_v6(index),
    }
}

/// Chooses the interface that multicast leaves by, and whether this host hears it.
///
/// **Errors**: the interface does not exist.
pub fn set_multicast_if(socket: &UdpSocket, local: Ipv4Addr, loopback: bool) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_multicast_if_v4(&local)?;
    socket.set_multicast_loop_v4(loopback)
}

/// Waits until one of `sockets` can be read or `timeout` passes; `None` waits for ever.
///
/// Returns true when something is readable. A signal ends the wait early with false.
///
/// **Errors**: the sockets are not valid; more than 64 sockets.
pub fn wait_readable(sockets: &[&UdpSocket], timeout: Option<Duration>) -> io::Result<bool> {
    Ok(readable(sockets, timeout)? != 0)
}

/// [`wait_readable`] that tells which sockets can be read: bit 0 stands for the first one. A pending error counts as
/// readable.
///
/// **Errors**: the sockets are not valid; more than 64 sockets.
pub fn readable(sockets: &[&UdpSocket], timeout: Option<Duration>) -> io::Result<u64> {
    let mut fds = [libc::pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; 64];
    let Some(used) = fds.get_mut(..sockets.len()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "more than 64 sockets"));
    };
    for (slot, socket) in used.iter_mut().zip(sockets) {
        slot.fd = socket.as_raw_fd();
    }
    if !crate::mmsg::poll(used, timeout)? {
        return Ok(0);
    }
    Ok(used.iter().rev().fold(0, |bits, fd| bits << 1 | u64::from(fd.revents != 0)))
}
