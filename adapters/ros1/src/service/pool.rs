//! Connections to a service that wait for the next call.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use tokio::net::TcpStream;

use crate::{lock, wire::Frames};

/// How long a connection is kept without a call. A service may move to another node; a client that keeps its
/// connection for ever would not notice.
const IDLE: Duration = Duration::from_secs(2);

/// Connections kept by one client.
const MAX_KEPT: usize = 8;

/// A connection whose headers are exchanged.
pub(crate) struct Connected {
    pub(crate) stream: TcpStream,
    pub(crate) frames: Frames,
}

/// Idle connections of one client.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<(Instant, Connected)>>);

impl Pool {
    /// One that is still connected.
    pub(crate) fn take(&self) -> Option<Connected> {
        self.prune(Instant::now());
        let mut kept = lock(&self.0);
        while let Some((_, connected)) = kept.pop() {
            let mut byte = [0];
            // Nothing to read is what a connection in order has; a closed one reads 0 bytes.
            let idle = connected.stream.try_read(&mut byte);
            if idle.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock) {
                return Some(connected);
            }
        }
        None
    }

    /// Keeps one for the next call.
    pub(crate) fn put(&self, connected: Connected) {
        let mut kept = lock(&self.0);
        if kept.len() < MAX_KEPT {
            kept.push((Instant::now(), connected));
        }
    }

    /// Closes those that have waited for too long.
    pub(crate) fn prune(&self, now: Instant) {
        lock(&self.0).retain(|(since, _)| now.saturating_duration_since(*since) < IDLE);
    }
}
