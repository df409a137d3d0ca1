//! The byte side: frames, transports and sinks.

use std::{future::Future, net::SocketAddr, pin::Pin, time::Instant};

use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// A boxed future; used on cold paths only.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who sent a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A UDP sender.
    Udp(SocketAddr),
    /// The other end of a TCP connection.
    Tcp(SocketAddr),
    /// The other end of a serial line.
    Serial,
    /// A shared-memory segment.
    Mem,
}

impl Peer {
    /// Its address, where it has one; frames can be sent to it.
    pub fn addr(self) -> Option<SocketAddr> {
        match self {
            Self::Udp(addr) | Self::Tcp(addr) => Some(addr),
            Self::Serial | Self::Mem => None,
        }
    }
}

/// One datagram, one MAVLink packet or one shared-memory item, still in the transport's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The bytes of exactly one frame.
    pub bytes: &'a [u8],
    /// Who sent it.
    pub peer: Peer,
    /// When the kernel handed it over.
    pub received: Instant,
    /// Protocol discriminator set by the framer: the MAVLink msgid. `None` for datagrams.
    pub tag: Option<u32>,
    /// Who wrote it, as the framer tells: the MAVLink system id. `None` for datagrams.
    pub sender: Option<u8>,
}

/// How bytes are cut into frames; a property of the source, asked for by the codecs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// A datagram is a frame; on serial ports, whatever one read returned.
    Datagram,
    /// MAVLink 1 and 2, checksum checked, several packets per datagram allowed.
    Mavlink,
}

/// What a transport feeds: the links that read from it.
pub trait Ingress: Send {
    /// Handles one frame. Must not block.
    fn frame(&mut self, frame: &Frame<'_>);

    /// Called after a batch of frames, before the transport waits again.
    fn batch_end(&mut self) {}

    /// Called at or after the instant that [`Ingress::next_tick`] named.
    fn tick(&mut self, _now: Instant) {}

    /// When [`Ingress::tick`] wants to run next.
    fn next_tick(&self) -> Option<Instant> {
        None
    }

    /// True while no link reads frames: a byte router then does not cut its datagrams into frames.
    fn idle(&self) -> bool {
        false
    }

    /// Counts bytes or frames the framer threw away.
    fn malformed(&mut self, _error: Malformed) {}

    /// Told once frames can arrive, and whenever the device is lost or found again.
    fn device(&mut self, _state: DeviceState<'_>) {}
}

/// Whether a transport's socket or port is usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState<'a> {
    /// Open; frames can arrive.
    Up,
    /// Absent or lost, with the reason; the transport goes on trying to open it.
    Down(&'a str),
}

/// What a framer or socket could not use.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Malformed {
    /// Bytes skipped while looking for a start marker.
    #[error("{0} bytes that are no MAVLink")]
    Skipped(usize),
    /// A frame whose checksum was wrong.
    #[error("wrong checksum of MAVLink message {msgid}")]
    Checksum {
        /// Its MAVLink message id.
        msgid: u32,
    },
    /// A frame cut short by the end of its datagram.
    #[error("MAVLink frame of {need} bytes cut short after {have}")]
    Truncated {
        /// Bytes the header announced.
        need: usize,
        /// Bytes there were.
        have: usize,
    },
}

/// A running source of frames: one socket or port.
pub trait Transport: Send {
    /// Runs until cancelled. Device loss is handled inside, with reconnects; only a fatal error returns `Err`.
    ///
    /// **Cancel safety**: resolves soon after `cancel` fires; dropping it closes the device.
    fn run(
        self: Box<Self>,
        ingress: Box<dyn Ingress>,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<(), TransportError>>;
}

/// The write half of a transport; valid before and across reconnects.
pub trait ByteSink: Send + Sync {
    /// Sends one frame now or fails; never waits.
    ///
    /// `to` names a UDP receiver or a client of a TCP server. `None` means the sink's own target: the configured
    /// destination, else the peer heard last (UDP), all clients (TCP server), or the other end (serial, TCP client).
    ///
    /// **Errors**: [`SendError::Full`] when the kernel or the writer's queue has no room,
    /// [`SendError::NoTarget`] when nobody was heard yet, [`SendError::Down`] while a port is closed.
    fn try_send(&self, frame: &[u8], to: Option<SocketAddr>) -> Result<(), SendError>;
}

/// Why a frame was not sent.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SendError {
    /// No room in the socket or queue.
    #[error("no room to send; frame dropped")]
    Full,
    /// No destination known yet.
    #[error("no destination; nobody was heard yet")]
    NoTarget,
    /// The port is closed.
    #[error("port is down; frame dropped")]
    Down,
    /// The frame is larger than a datagram can be.
    #[error("frame of {0} bytes is larger than a datagram")]
    TooLarge(usize),
    /// The operating system refused, with its error number.
    #[error("system error {0}")]
    Os(i32),
}

/// A fatal transport error.
#[derive(Debug, Error)]
pub enum TransportError {
    /// A socket could not be opened; rostrans waits and tries again.
    #[error("cannot listen on {addr}")]
    Bind {
        /// The address asked for.
        addr: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A TCP server could not be started; rostrans waits and tries again.
    #[error("cannot listen on TCP {addr}")]
    Listen {
        /// The address asked for.
        addr: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A running device failed.
    #[error("{device} failed")]
    Io {
        /// Socket or port.
        device: String,
        /// The system's reason.
        source: std::io::Error,
    },
}
