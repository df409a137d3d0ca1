//! A server: several clients, one task, and none that can hold up the others.

use std::{
    future::poll_fn,
    io,
    net::{SocketAddr, TcpListener as Bound},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use rostrans_core::transport::{
    BoxFuture, ByteSink, DeviceState, Framing, Ingress, SendError, Transport, TransportError,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::client::{Client, Outcome};
use crate::{
    Opened,
    stream::WriteQueue,
    timer::{TickTimer, tick_if_due},
};

/// Starts to listen; clients are served by the transport's task.
pub(crate) fn listen(at: SocketAddr, framing: Framing) -> Result<Opened, TransportError> {
    let fail = |source| TransportError::Listen { addr: at, source };
    let listener = Bound::bind(at).map_err(fail)?;
    listener.set_nonblocking(true).map_err(fail)?;
    let local_addr = Some(listener.local_addr().map_err(fail)?);
    let sink = Arc::new(ServerSink::default());
    let transport = Box::new(TcpServer { listener, framing, sink: Arc::clone(&sink) });
    Ok(Opened { transport, sink, route: None, local_addr })
}

/// The write half: a queue for each client.
#[derive(Default)]
struct ServerSink {
    queues: Mutex<Vec<(SocketAddr, Arc<WriteQueue>)>>,
    filled: Notify,
}

impl ServerSink {
    fn queues(&self) -> MutexGuard<'_, Vec<(SocketAddr, Arc<WriteQueue>)>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, addr: SocketAddr) {
        self.queues().retain(|(of, _)| *of != addr);
    }
}

impl ByteSink for ServerSink {
    /// Succeeds when at least one client takes the frame.
    fn try_send(&self, frame: &[u8], to: Option<SocketAddr>) -> Result<(), SendError> {
        let mut result = Err(if to.is_some() { SendError::Down } else { SendError::NoTarget });
        for (_, queue) in self.queues().iter().filter(|(addr, _)| to.is_none_or(|to| to == *addr)) {
            match (queue.push(frame), result) {
                (Ok(()), _) | (_, Ok(())) => result = Ok(()),
                (Err(error), Err(_)) => result = Err(error),
            }
        }
        if result.is_ok() {
            self.filled.notify_one();
        }
        result
    }
}

struct TcpServer {
    listener: Bound,
    framing: Framing,
    sink: Arc<ServerSink>,
}

impl TcpServer {
    async fn serve(self, mut ingress: Box<dyn Ingress>, cancel: CancellationToken) -> io::Result<()> {
        let listener = TcpListener::from_std(self.listener)?;
        let mut cancelled = pin!(cancel.cancelled());
        let mut clients: Vec<Client> = Vec::new();
        let mut timer = TickTimer::default();
        ingress.device(DeviceState::Up);
        loop {
            let next_tick = ingress.next_tick();
            tokio::select! {
                () = &mut cancelled => return Ok(()),
                accepted = listener.accept() => match accepted {
                    Ok((stream, addr)) => admit(stream, addr, &self.sink, &mut clients),
                    Err(error) => {
                        warn!(%error, "a connection was not accepted");
                        // Out of file descriptors, most likely; the listener stays ready.
                        sleep(PAUSE).await;
                    }
                },
                () = poll_fn(|cx| poll(&mut clients, &self.sink, self.framing, &mut *ingress, cx)) => {
                    if !ingress.idle() {
                        ingress.batch_end();
                    }
                    tick_if_due(&mut *ingress, Instant::now());
                    tokio::task::yield_now().await;
                }
                () = self.sink.filled.notified() => {}
                () = timer.due(next_tick) => ingress.tick(Instant::now()),
            }
        }
    }
}

impl Transport for TcpServer {
    fn run(
        self: Box<Self>,
        ingress: Box<dyn Ingress>,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<(), TransportError>> {
        Box::pin(async move {
            let device = self
                .listener
                .local_addr()
                .map_or_else(|_| "tcp server".to_owned(), |addr| format!("tcp server {addr}"));
            self.serve(ingress, cancel).await.map_err(|source| TransportError::Io { device, source })
        })
    }
}

fn admit(stream: TcpStream, addr: SocketAddr, sink: &ServerSink, clients: &mut Vec<Client>) {
    if clients.len() >= MAX_CLIENTS {
        warn!(%addr, "connection refused: {MAX_CLIENTS} clients are the most");
        return;
    }
    if let Err(error) = super::prepare(&stream) {
        warn!(%addr, %error, "connection lost at once");
        return;
    }
    info!(%addr, "TCP client connected");
    let client = Client::new(stream, addr);
    client.queue.open();
    sink.queues().push((addr, Arc::clone(&client.queue)));
    clients.push(client);
}

/// Reads and writes what can be at once; ready when frames came or a client left.
fn poll(
    clients: &mut Vec<Client>,
    sink: &ServerSink,
    framing: Framing,
    ingress: &mut dyn Ingress,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let mut news = false;
    clients.retain_mut(|client| match client.poll(framing, ingress, cx) {
        Outcome::Idle => true,
        Outcome::Read => {
            news = true;
            true
        }
        Outcome::Gone(reason) => {
            news = true;
            info!(addr = %client.addr, reason, "TCP client gone");
            sink.remove(client.addr);
            false
        }
    });
    if news { Poll::Ready(()) } else { Poll::Pending }
}

/// Each has a buffer of some kilobytes; nobody has more ground stations.
const MAX_CLIENTS: usize = 32;
/// Before the next connection is accepted after a failure.
const PAUSE: Duration = Duration::from_millis(200);
