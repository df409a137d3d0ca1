//! A route whose vehicle is on a serial port.

use std::{
    future::pending,
    io,
    net::{SocketAddr, UdpSocket},
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    rule::UdpBind,
    throttle::LogThrottle,
    transport::{SendError, TransportError},
};
use rostrans_mavlink::Piece;
use rostrans_net::RecvBatch;
use tokio::{io::Interest, net::UdpSocket as Readiness, time::sleep};
use tracing::warn;

use super::{
    RouteConfig, RouteStats,
    evidence::holds_mavlink,
    fanout::{Outbox, Spare},
};
use crate::{
    stream::WriteQueue,
    udp::{BATCH, SLOT, any_port, bind, is_icmp},
};

/// Forwards a port's bytes to endpoints and endpoints' datagrams to the port.
pub(crate) struct SerialRoute {
    config: RouteConfig,
    stats: Arc<RouteStats>,
    queue: Arc<WriteQueue>,
    socket: UdpSocket,
    spare: Spare,
    refused: LogThrottle,
    foreign: LogThrottle,
    /// The way back, where it is wanted.
    upstream: Option<Upstream>,
}

struct Upstream {
    batch: RecvBatch,
    /// Datagrams of `batch` that are with the port already.
    queued: usize,
    received: usize,
    /// Made on first use, inside the runtime.
    readiness: Option<Readiness>,
}

/// Most bytes of a run without MAVLink that go in one datagram: what crosses an Ethernet unbroken.
const RAW_DATAGRAM: usize = 1400;

/// Before the upstream socket is tried again after an error.
const PAUSE: Duration = Duration::from_millis(200);

impl SerialRoute {
    /// Binds the upstream socket, or one that only sends.
    pub(crate) fn bind(config: RouteConfig, queue: Arc<WriteQueue>) -> Result<Self, TransportError> {
        let first = config.endpoints.first().copied();
        let addr = config.upstream.or_else(|| first.map(any_port));
        let addr = addr.unwrap_or_else(|| any_port(SocketAddr::from(([0, 0, 0, 0], 0))));
        let (socket, _) = bind(&UdpBind::new(addr))?;
        let upstream = config.upstream.map(|_| Upstream {
            batch: RecvBatch::new(BATCH, SLOT),
            queued: 0,
            received: 0,
            readiness: None,
        });
        let stats = Arc::new(RouteStats::new(&config.endpoints));
        Ok(Self {
            config,
            stats,
            queue,
            socket,
            spare: Spare::default(),
            refused: LogThrottle::new(),
            foreign: LogThrottle::new(),
            upstream,
        })
    }

    pub(crate) fn stats(&self) -> Arc<RouteStats> {
        Arc::clone(&self.stats)
    }

    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Sends pieces to every endpoint, and shows each to `tap`.
    pub(crate) fn forward<'a>(
        &mut self,
        pieces: impl Iterator<Item = Piece<'a>>,
        now: Instant,
        mut tap: impl FnMut(Piece<'a>),
    ) {
        let mut outbox = Outbox::new(&mut self.spare);
        let (mut frames, mut bytes) = (0, 0);
        for piece in pieces {
            let most = if piece.packet.is_some() { piece.bytes.len() } else { RAW_DATAGRAM };
            for datagram in piece.bytes.chunks(most.max(1)) {
                frames += 1;
                bytes += datagram.len() as u64;
                for (number, endpoint) in (0..).zip(&self.config.endpoints) {
                    outbox.push(datagram, *endpoint, number);
                }
            }
            tap(piece);
        }
        self.stats.from_vehicles.add(frames, bytes);
        self.stats.endpoints.iter().for_each(|endpoint| endpoint.sent.add(frames, bytes));
        let (stats, throttle, rule) = (&self.stats, &mut self.refused, &self.config.name);
        outbox.send(&self.socket, &mut self.spare, |receiver, error| {
            let endpoint = usize::try_from(receiver).ok().and_then(|number| stats.endpoints.get(number));
            endpoint.into_iter().for_each(|e| e.send_errors.inc());
            if let Some(count) = throttle.event(now) {
                super::log_refusal(rule, endpoint.map(|e| e.addr), error, count);
            }
        });
    }

    /// Sends bytes that are no frame to every endpoint.
    pub(crate) fn forward_raw(&mut self, bytes: &[u8], now: Instant) {
        self.forward(std::iter::once(Piece { bytes, packet: None }), now, |_| {});
    }

    /// Takes endpoints' datagrams to the port. When that is slower, they wait in the socket's buffer. Waits for ever on a
    /// one-way route.
    ///
    /// **Cancel safety**: may be dropped and called again.
    pub(crate) async fn upstream(&mut self) {
        let Some(upstream) = &mut self.upstream else { return pending().await };
        if upstream.queued < upstream.received {
            self.queue.room().await;
        } else if let Err(error) = upstream.receive(&self.socket).await {
            if let Some(count) = self.refused.event(Instant::now()) {
                warn!(rule = %self.config.name, %error, count, "cannot receive from endpoints");
            }
            // A socket that stays broken must not keep the task busy.
            return sleep(PAUSE).await;
        }
        self.fill_queue();
    }

    fn fill_queue(&mut self) {
        let Some(upstream) = &mut self.upstream else { return };
        for datagram in upstream.batch.iter().skip(upstream.queued) {
            let endpoint = self.stats.endpoints.iter().find(|endpoint| endpoint.addr == datagram.from);
            if endpoint.is_none() && !holds_mavlink(datagram.bytes) {
                upstream.queued += 1;
                self.stats.foreign.add(1, datagram.bytes.len() as u64);
                if let Some(count) = self.foreign.event(Instant::now()) {
                    super::log_foreign(&self.config.name, datagram.from, count);
                }
                continue;
            }
            match self.queue.push(datagram.bytes) {
                Err(SendError::Full) => return,
                Ok(()) => self.stats.to_vehicles.add(1, datagram.bytes.len() as u64),
                Err(_) => self.stats.vehicle_send_errors.inc(),
            }
            upstream.queued += 1;
            let flow = endpoint.map_or(&self.stats.from_stations, |endpoint| &endpoint.received);
            flow.add(1, datagram.bytes.len() as u64);
        }
    }
}

impl Upstream {
    async fn receive(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let readiness = match &self.readiness {
            Some(readiness) => readiness,
            None => self.readiness.insert(Readiness::from_std(socket.try_clone()?)?),
        };
        readiness.readable().await?;
        (self.queued, self.received) = (0, 0);
        let batch = &mut self.batch;
        match readiness.try_io(Interest::READABLE, || batch.recv(socket)) {
            Ok(count) => self.received = count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock || is_icmp(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
