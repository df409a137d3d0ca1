//! The write half of a UDP socket.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::{Arc, Mutex, PoisonError},
};

use rostrans_core::transport::{ByteSink, SendError};

/// Where frames without a receiver go: a configured address, the peer heard last or the learned flight controller.
///
/// The socket's task writes it when it changes; a send reads it. The lock is free nearly always and costs little beside
/// the system call of a send.
#[derive(Debug, Default)]
pub(crate) struct Target(Mutex<Option<SocketAddr>>);

impl Target {
    pub(crate) fn set(&self, addr: SocketAddr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(addr);
    }

    pub(crate) fn load(&self) -> Option<SocketAddr> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends from a socket without waiting.
#[derive(Debug)]
pub(crate) struct UdpSink {
    socket: Arc<UdpSocket>,
    target: Arc<Target>,
}

impl UdpSink {
    pub(crate) fn new(socket: Arc<UdpSocket>, target: Arc<Target>) -> Self {
        Self { socket, target }
    }
}

impl ByteSink for UdpSink {
    fn try_send(&self, frame: &[u8], to: Option<SocketAddr>) -> Result<(), SendError> {
        let to = to.or_else(|| self.target.load()).ok_or(SendError::NoTarget)?;
        if frame.len() > MAX_DATAGRAM {
            return Err(SendError::TooLarge(frame.len()));
        }
        match self.socket.send_to(frame, to) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(SendError::Full),
            Err(error) => Err(match error.raw_os_error() {
                Some(NO_BUFFERS) => SendError::Full,
                Some(MESSAGE_SIZE) => SendError::TooLarge(frame.len()),
                code => SendError::Os(code.unwrap_or(0)),
            }),
        }
    }
}

/// Payload bytes of the largest IPv4 datagram; IPv6 carries 20 more without jumbograms, which nobody relies on.
const MAX_DATAGRAM: usize = 65_507;
/// `ENOBUFS`: the network device's queue is full.
const NO_BUFFERS: i32 = 105;
/// `EMSGSIZE`: larger than the path allows.
const MESSAGE_SIZE: i32 = 90;
