//! The write half of a UDP socket.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rostrans_core::transport::{ByteSink, SendError};
use rostrans_net::multicast_through;

/// Where frames without a receiver go: a configured address, the peer heard last, the learned flight controller, or
/// everybody.
///
/// The socket's task writes it when it changes; a send reads it. The lock is free nearly always and costs little beside
/// the system call of a send.
#[derive(Debug, Default)]
pub(crate) struct Target {
    state: Mutex<State>,
    /// Frames go to everybody heard of late, and to the configured address.
    everyone: bool,
}

#[derive(Debug, Default)]
struct State {
    /// The configured address; with [`Target::everyone`] unset, overwritten by who is heard.
    main: Option<SocketAddr>,
    /// The configured address is a broadcast one, which ends with the first answer.
    until_answered: bool,
    heard: Vec<(SocketAddr, Instant)>,
}

impl Target {
    /// Frames go to everybody heard of late.
    pub(crate) fn everyone() -> Self {
        Self { everyone: true, ..Self::default() }
    }

    /// Sets the configured address.
    pub(crate) fn configure(&self, addr: SocketAddr, until_answered: bool) {
        let mut state = self.lock();
        state.main = Some(addr);
        state.until_answered = until_answered;
    }

    /// A frame came from `addr`.
    pub(crate) fn set(&self, addr: SocketAddr) {
        let mut state = self.lock();
        if !self.everyone {
            state.main = Some(addr);
            return;
        }
        let now = Instant::now();
        state.heard.retain(|(of, at)| *of != addr && now.saturating_duration_since(*at) < FORGOTTEN);
        if state.heard.len() < MAX_PEERS {
            state.heard.push((addr, now));
        }
    }

    /// Calls `send` with each receiver; the last error counts when nobody got it.
    fn each(&self, mut send: impl FnMut(SocketAddr) -> Result<(), SendError>) -> Result<(), SendError> {
        let (receivers, count) = self.receivers();
        let mut result = Err(SendError::NoTarget);
        for to in receivers.into_iter().take(count).flatten() {
            match (send(to), result) {
                (Ok(()), _) | (_, Ok(())) => result = Ok(()),
                (Err(error), Err(_)) => result = Err(error),
            }
        }
        result
    }

    /// The receivers, taken out of the lock: a send may take a while.
    fn receivers(&self) -> ([Option<SocketAddr>; MAX_PEERS + 1], usize) {
        let mut receivers = [None; MAX_PEERS + 1];
        let state = self.lock();
        let now = Instant::now();
        let lately = |at: &Instant| now.saturating_duration_since(*at) < FORGOTTEN;
        let heard = state.heard.iter().filter(|(_, at)| lately(at)).map(|(addr, _)| *addr);
        let answered = state.until_answered && heard.clone().next().is_some();
        let main = state.main.filter(|main| !answered && heard.clone().all(|addr| addr != *main));
        let mut count = 0;
        for (slot, addr) in receivers.iter_mut().zip(main.into_iter().chain(heard)) {
            *slot = Some(addr);
            count += 1;
        }
        (receivers, count)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends from a socket without waiting.
#[derive(Debug)]
pub(crate) struct UdpSink {
    socket: Arc<UdpSocket>,
    target: Arc<Target>,
    /// Interfaces that multicast leaves by, by their addresses. Where there are several, who holds the lock has the socket's choice
    /// of one to himself.
    leave_by: Mutex<Vec<Ipv4Addr>>,
    /// There are several.
    several: bool,
}

impl UdpSink {
    pub(crate) fn new(socket: Arc<UdpSocket>, target: Arc<Target>, leave_by: Vec<Ipv4Addr>) -> Self {
        let several = leave_by.len() > 1;
        Self { socket, target, leave_by: Mutex::new(leave_by), several }
    }
}

impl ByteSink for UdpSink {
    fn try_send(&self, frame: &[u8], to: Option<SocketAddr>) -> Result<(), SendError> {
        match to {
            Some(to) => self.send(frame, to),
            None => self.target.each(|to| self.send(frame, to)),
        }
    }
}

impl UdpSink {
    fn send(&self, frame: &[u8], to: SocketAddr) -> Result<(), SendError> {
        if !(self.several && to.ip().is_multicast()) {
            return self.send_once(frame, to);
        }
        let mut result = Err(SendError::NoTarget);
        for interface in &*self.leave_by.lock().unwrap_or_else(PoisonError::into_inner) {
            let chosen = multicast_through(&self.socket, IpAddr::V4(*interface), 0);
            let sent = chosen
                .map_err(|error| SendError::Os(error.raw_os_error().unwrap_or(0)))
                .and_then(|()| self.send_once(frame, to));
            // One that is down does not keep the others from it.
            result = result.or(sent);
        }
        result
    }

    fn send_once(&self, frame: &[u8], to: SocketAddr) -> Result<(), SendError> {
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

/// A ground station sends a heartbeat each second.
const FORGOTTEN: Duration = Duration::from_secs(10);
/// Peers of a socket that sends to everyone; more than anybody has ground stations.
const MAX_PEERS: usize = 16;
/// Payload bytes of the largest IPv4 datagram; IPv6 carries 20 more without jumbograms, which nobody relies on.
const MAX_DATAGRAM: usize = 65_507;
/// `ENOBUFS`: the network device's queue is full.
const NO_BUFFERS: i32 = 105;
/// `EMSGSIZE`: larger than the path allows.
const MESSAGE_SIZE: i32 = 90;
