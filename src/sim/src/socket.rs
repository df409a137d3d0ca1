//! UDP sockets that do not wait.

use std::{
    io::ErrorKind,
    net::{SocketAddr, UdpSocket},
};

use crate::SimError;

/// A socket that does not wait.
pub(crate) fn open(addr: SocketAddr, what: &'static str) -> Result<UdpSocket, SimError> {
    let error = |source| SimError::Open { addr, what, source };
    let socket = UdpSocket::bind(addr).map_err(error)?;
    socket.set_nonblocking(true).map_err(error)?;
    Ok(socket)
}

/// A datagram that has come.
pub(crate) fn receive<'a>(socket: &UdpSocket, bytes: &'a mut [u8]) -> Option<(&'a [u8], SocketAddr)> {
    loop {
        match socket.recv_from(bytes) {
            Ok((length, from)) => return Some((bytes.get(..length)?, from)),
            // Nobody listens where the last packet went.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(_) => return None,
        }
    }
}

/// Sends; what is lost is lost.
pub(crate) fn send(socket: &UdpSocket, bytes: &[u8], to: SocketAddr) {
    if let Err(error) = socket.send_to(bytes, to) {
        tracing::debug!(%to, %error, "not sent");
    }
}
