//! Byte streams, serial ports and TCP connections: opened, lost and opened again by one task.
//!
//! ```text
//! Closed --> Opening --> Open --> Lost --+
//!               ^                        |
//!               +---- 0.2 s .. 1 s ------+
//! ```
//!
//! A missing port or server is waited for. Each change of state is told to the ingress once, with what to do about it.

use std::{fmt, fs::File, future::Future};

use rostrans_core::transport::Peer;
use tokio::io::{AsyncRead, AsyncWrite};

mod queue;
mod transport;

pub(crate) use self::{queue::WriteQueue, transport::StreamTransport};

/// Where a byte stream comes from; prints as what it is.
pub(crate) trait Line: fmt::Display + Send + 'static {
    /// Bytes in and out.
    type Stream: AsyncRead + AsyncWrite + Send;

    /// Opens it once.
    ///
    /// **Errors**: the reason, with what to do about it.
    ///
    /// **Cancel safety**: nothing is left open when dropped.
    fn open(&self) -> impl Future<Output = Result<Open<Self::Stream>, String>> + Send;
}

/// An open stream.
pub(crate) struct Open<S> {
    /// Bytes in and out.
    pub(crate) stream: S,
    /// The other end.
    pub(crate) peer: Peer,
    /// Keeps other programs out while it lives.
    pub(crate) claim: Option<File>,
}
