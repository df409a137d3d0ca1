//! The task of a UDP socket.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    pin::pin,
    sync::Arc,
    time::Instant,
};

use rostrans_core::transport::{BoxFuture, DeviceState, Framing, Ingress, Peer, Transport, TransportError};
use rostrans_net::RecvBatch;
use tokio::{io::Interest, net::UdpSocket as Readiness};
use tokio_util::sync::CancellationToken;
use tracing::debug;

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
    /// What `target` holds, kept here so that it is only locked on a change.
    heard_last: Option<SocketAddr>,
}

impl UdpTransport {
    pub(crate) fn new(
        socket: Arc<UdpSocket>,
        framing: Framing,
        target: Arc<Target>,
        route: Option<UdpRoute>,
    ) -> Self {
        Self { socket, framing, target, route, heard_last: None }
    }

    async fn serve(mut self, mut ingress: Box<dyn Ingress>, cancel: CancellationToken) -> io::Result<()> {
        // A second handle of the same socket: the runtime watches this one, the batches are taken from the other.
        let watched = Readiness::from_std(self.socket.try_clone()?)?;
        let mut batch = RecvBatch::new(BATCH, SLOT);
        let mut timer = TickTimer::default();
        let mut cancelled = pin!(cancel.cancelled());
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
            }
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
            None => batch.iter().for_each(|datagram| self.hear(datagram.from)),
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

    fn hear(&mut self, from: SocketAddr) {
        if self.heard_last != Some(from) {
            self.heard_last = Some(from);
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
