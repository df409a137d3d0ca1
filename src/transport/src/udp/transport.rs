//! The task of a UDP socket.

use std::{
    future::pending,
    io,
    net::{SocketAddr, UdpSocket},
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    rule::{Host, UdpPeer},
    transport::{BoxFuture, DeviceState, Framing, Ingress, Peer, Transport, TransportError},
};
use rostrans_net::RecvBatch;
use tokio::{
    io::Interest,
    net::{UdpSocket as Readiness, lookup_host},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{Target, io_error};
use crate::{
    framing::cut_datagram,
    router::UdpRoute,
    timer::{TickTimer, tick_if_due},
};

/// Datagrams per system call.
pub(crate) const BATCH: usize = 64;
/// Largest datagram.
pub(crate) const SLOT: usize = 65_536;
/// Batches taken before other tasks of the runtime get their turn.
const BATCHES_PER_POLL: usize = 8;

pub(crate) struct UdpTransport {
    socket: Arc<UdpSocket>,
    framing: Framing,
    target: Arc<Target>,
    route: Option<UdpRoute>,
    peer: UdpPeer,
    /// Who was noted in `target` last and when, kept here so that it is only locked on a change.
    heard_last: Option<(SocketAddr, Instant)>,
}

impl UdpTransport {
    pub(crate) fn new(
        socket: Arc<UdpSocket>,
        framing: Framing,
        target: Arc<Target>,
        route: Option<UdpRoute>,
        peer: UdpPeer,
    ) -> Self {
        match &peer {
            UdpPeer::Heard => {}
            UdpPeer::Remote(host) => host.addr().into_iter().for_each(|addr| target.configure(addr, false)),
            UdpPeer::Broadcast(addr) => target.configure(*addr, true),
            UdpPeer::Always(addr) => target.configure(*addr, false),
        }
        Self { socket, framing, target, route, peer, heard_last: None }
    }

    async fn serve(mut self, mut ingress: Box<dyn Ingress>, cancel: CancellationToken) -> io::Result<()> {
        // A second handle of the same socket: the runtime watches this one, the batches are taken from the other.
        let watched = Readiness::from_std(self.socket.try_clone()?)?;
        let mut batch = RecvBatch::new(BATCH, SLOT);
        let mut timer = TickTimer::default();
        let mut cancelled = pin!(cancel.cancelled());
        let mut found = pin!(look_up(self.unknown_host(), self.socket.local_addr()?.is_ipv4()));
        ingress.device(DeviceState::Up);
        loop {
            tokio::select! {
                biased;
                () = &mut cancelled => return Ok(()),
                ready = watched.readable() => {
                    ready?;
                    match watched.try_io(Interest::READABLE, || self.drain(&mut batch, &mut *ingress)) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        result => {
                            result?;
                            tokio::task::yield_now().await;
                        }
                    }
                }
                () = timer.due(ingress.next_tick()) => ingress.tick(Instant::now()),
                addr = &mut found => {
                    self.target.configure(addr, false);
                    found.set(look_up(None, true));
                }
            }
        }
    }

    /// The remote whose address is not known yet.
    fn unknown_host(&self) -> Option<Host> {
        match &self.peer {
            UdpPeer::Remote(host) if host.addr().is_none() => Some(host.clone()),
            _ => None,
        }
    }

    /// Takes what the socket holds, up to a limit.
    ///
    /// **Errors**: `WouldBlock` when nothing is left, any other when the socket is broken.
    fn drain(&mut self, batch: &mut RecvBatch, ingress: &mut dyn Ingress) -> io::Result<()> {
        for _ in 0..BATCHES_PER_POLL {
            match batch.recv(&self.socket) {
                Ok(count) => {
                    self.take(batch, ingress);
                    // A short batch says that the queue was empty, which saves asking; what comes later makes the
                    // socket ready again.
                    if count < batch.slots() {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                }
                Err(error) if is_icmp(&error) => debug!(%error, "a peer does not listen"),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn take(&mut self, batch: &RecvBatch, ingress: &mut dyn Ingress) {
        let received = Instant::now();
        match &mut self.route {
            Some(route) => route.forward(&self.socket, batch, received),
            None => batch.iter().for_each(|datagram| self.hear(datagram.from, received)),
        }
        if !ingress.idle() {
            for (index, datagram) in batch.iter().enumerate() {
                // Of a routed socket the links see what vehicles send, not what ground stations answer.
                if self.route.as_ref().is_none_or(|route| route.is_from_vehicle(index)) {
                    cut_datagram(self.framing, datagram.bytes, Peer::Udp(datagram.from), received, ingress);
                }
            }
            ingress.batch_end();
        }
        tick_if_due(ingress, received);
    }

    fn hear(&mut self, from: SocketAddr, now: Instant) {
        let is_news =
            |(last, at): (SocketAddr, Instant)| last != from || now.saturating_duration_since(at) >= REFRESH;
        if self.heard_last.is_none_or(is_news) && !matches!(self.peer, UdpPeer::Always(_)) {
            self.heard_last = Some((from, now));
            self.target.set(from);
        }
    }
}

impl Transport for UdpTransport {
    fn run(
        self: Box<Self>,
        ingress: Box<dyn Ingress>,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<(), TransportError>> {
        Box::pin(async move {
            let addr = self.socket.local_addr().unwrap_or_else(|_| super::socket::any_port(UNKNOWN));
            self.serve(ingress, cancel).await.map_err(|source| io_error(addr, source))
        })
    }
}

/// Finds a host's address; never resolves without a host.
async fn look_up(host: Option<Host>, v4: bool) -> SocketAddr {
    let Some(host) = host else { return pending().await };
    let mut told = false;
    loop {
        let found = match lookup_host((&*host.name, host.port)).await {
            Ok(mut addrs) => {
                addrs.find(|addr| addr.is_ipv4() == v4).ok_or_else(|| "no address of its kind".to_owned())
            }
            Err(error) => Err(error.to_string()),
        };
        match found {
            Ok(addr) => return addr,
            Err(error) if !told => {
                told = true;
                warn!(%host, error, "host not found; it is looked up again and again");
            }
            Err(_) => {}
        }
        sleep(LOOK_UP).await;
    }
}

/// Before a name that was not found is looked up again.
const LOOK_UP: Duration = Duration::from_secs(5);
/// How often a peer that goes on sending is noted again.
const REFRESH: Duration = Duration::from_secs(1);

const UNKNOWN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);

/// True for what the network says about an earlier datagram; the socket itself is fine.
pub(crate) fn is_icmp(error: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(
        error.kind(),
        K::ConnectionRefused
            | K::ConnectionReset
            | K::HostUnreachable
            | K::NetworkUnreachable
            | K::NetworkDown
            | K::Interrupted
    )
}
