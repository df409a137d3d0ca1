//! The task of a serial port.

use std::{
    convert::Infallible,
    future::pending,
    io,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    backoff::Backoff,
    rule::SerialSpec,
    transport::{
        BoxFuture, DeviceState, Frame, Framing, Ingress, Malformed, Peer, Transport, TransportError,
    },
};
use rostrans_mavlink::Stream;
use serial2_tokio::SerialPort;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, WriteHalf, split},
    time::{Sleep, sleep},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::debug;

use super::{WriteQueue, port, port::Port};
use crate::{
    framing::deliver,
    router::SerialRoute,
    timer::{TickTimer, tick_if_due},
};

/// Who plugs a device in does not want to wait for it.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// A port that stayed open for so long is opened again without much waiting.
const STABLE: Duration = Duration::from_secs(5);

pub(crate) struct SerialTransport {
    port: SerialSpec,
    framing: Framing,
    queue: Arc<WriteQueue>,
    route: Option<SerialRoute>,
    stream: Stream,
}

/// Why the task no longer waits for or serves its port.
enum End {
    Cancelled,
    Lost(String),
}

impl SerialTransport {
    pub(crate) fn new(
        port: SerialSpec,
        framing: Framing,
        queue: Arc<WriteQueue>,
        route: Option<SerialRoute>,
    ) -> Self {
        Self { port, framing, queue, route, stream: Stream::new() }
    }

    async fn keep_open(mut self, mut ingress: Box<dyn Ingress>, cancel: CancellationToken) {
        let mut cancelled = Box::pin(cancel.cancelled_owned());
        let mut backoff = Backoff::default().up_to(LONGEST_WAIT);
        let mut told = None;
        loop {
            // The log line of each change is the ingress's: it knows the rules that wait for the port.
            let reason = match port::open(&self.port) {
                Ok(port) => {
                    debug!(port = %self.port, "serial port open");
                    ingress.device(DeviceState::Up);
                    told = None;
                    let opened = Instant::now();
                    let end = self.serve(port, &mut *ingress, &mut cancelled).await;
                    let dropped_bytes = self.queue.close();
                    self.stream.reset();
                    let End::Lost(reason) = end else { return };
                    debug!(port = %self.port, reason, dropped_bytes, "serial port lost");
                    if opened.elapsed() >= STABLE {
                        backoff.reset();
                    }
                    reason
                }
                Err(reason) => reason,
            };
            if told.as_ref() != Some(&reason) {
                ingress.device(DeviceState::Down(&reason));
                told = Some(reason);
            }
            if self.wait(backoff.next_delay(), &mut *ingress, &mut cancelled).await {
                return;
            }
        }
    }

    /// Lets time pass while there is no port; true when cancelled.
    async fn wait(
        &mut self,
        time: Duration,
        ingress: &mut dyn Ingress,
        cancelled: &mut Pin<Box<WaitForCancellationFutureOwned>>,
    ) -> bool {
        let mut over = Box::pin(sleep(time));
        let mut timer = TickTimer::default();
        loop {
            tokio::select! {
                biased;
                () = &mut *cancelled => return true,
                () = &mut over => return false,
                () = timer.due(ingress.next_tick()) => ingress.tick(Instant::now()),
                () = upstream(&mut self.route) => {}
            }
        }
    }

    async fn serve(
        &mut self,
        port: Port,
        ingress: &mut dyn Ingress,
        cancelled: &mut Pin<Box<WaitForCancellationFutureOwned>>,
    ) -> End {
        let (_claim, port) = (port.claim, port.stream);
        let (mut reader, writer) = split(port);
        let mut writer = Writer { port: writer, queue: Arc::clone(&self.queue), out: Vec::new(), written: 0 };
        let mut timer = TickTimer::default();
        let mut stalled: Option<Pin<Box<Sleep>>> = None;
        self.queue.open();
        loop {
            // Not biased: a line that never falls silent must not keep frames from being written.
            tokio::select! {
                () = &mut *cancelled => return End::Cancelled,
                read = reader.read(self.stream.spare()) => match read {
                    Ok(0) => return End::Lost("closed by the other end".to_owned()),
                    Ok(n) => {
                        self.stream.filled(n);
                        self.take(ingress);
                        stalled = self.waits_for_rest().then(|| Box::pin(sleep(STALL)));
                    }
                    Err(error) => return End::Lost(error.to_string()),
                },
                Err(error) = writer.run() => return End::Lost(error.to_string()),
                () = upstream(&mut self.route) => {}
                () = maybe(&mut stalled) => {
                    stalled = None;
                    self.give_up_waiting(ingress);
                }
                () = timer.due(ingress.next_tick()) => ingress.tick(Instant::now()),
            }
        }
    }

    /// Hands on what was read.
    fn take(&mut self, ingress: &mut dyn Ingress) {
        let received = Instant::now();
        match (&mut self.route, self.framing) {
            (Some(route), framing) => {
                route.forward(self.stream.pieces(), received, |piece| {
                    if ingress.idle() {
                        return;
                    }
                    let frame = |tag| Frame { bytes: piece.bytes, peer: Peer::Serial, received, tag };
                    match (framing, piece.packet) {
                        (Framing::Datagram, _) => ingress.frame(&frame(None)),
                        (Framing::Mavlink, Some(packet)) => ingress.frame(&frame(Some(packet.msgid))),
                        (Framing::Mavlink, None) => ingress.malformed(Malformed::Skipped(piece.bytes.len())),
                    }
                });
            }
            (None, Framing::Mavlink) => {
                while let Some(event) = self.stream.next() {
                    deliver(event, Peer::Serial, received, ingress);
                }
            }
            (None, Framing::Datagram) => {
                ingress.frame(&Frame {
                    bytes: self.stream.unfinished(),
                    peer: Peer::Serial,
                    received,
                    tag: None,
                });
                self.stream.reset();
            }
        }
        if !ingress.idle() {
            ingress.batch_end();
        }
        tick_if_due(ingress, received);
    }

    fn waits_for_rest(&self) -> bool {
        self.route.is_some() && !self.stream.unfinished().is_empty()
    }

    /// Sends on bytes that look like the start of a frame whose rest does not come.
    fn give_up_waiting(&mut self, ingress: &mut dyn Ingress) {
        if let Some(route) = &mut self.route {
            route.forward_raw(self.stream.unfinished(), Instant::now());
            ingress.malformed(Malformed::Skipped(self.stream.reset()));
        }
    }
}

impl Transport for SerialTransport {
    fn run(
        self: Box<Self>,
        ingress: Box<dyn Ingress>,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<(), TransportError>> {
        Box::pin(async move {
            self.keep_open(ingress, cancel).await;
            Ok(())
        })
    }
}

/// Owns the write half, so frames never interleave.
struct Writer {
    port: WriteHalf<SerialPort>,
    queue: Arc<WriteQueue>,
    out: Vec<u8>,
    written: usize,
}

impl Writer {
    /// Writes until the port fails.
    ///
    /// **Cancel safety**: remembers what the port took, so it may be dropped and called again.
    async fn run(&mut self) -> io::Result<Infallible> {
        loop {
            match self.out.get(self.written..) {
                Some(rest) if !rest.is_empty() => match self.port.write(rest).await? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    n => self.written += n,
                },
                _ => {
                    self.queue.take(&mut self.out).await;
                    self.written = 0;
                }
            }
        }
    }
}

/// Silence after which a routed line's unfinished frame is sent on as it is. Far longer than any gap within a frame.
const STALL: Duration = Duration::from_millis(100);

/// Takes endpoints' datagrams, if there is a route that has any.
async fn upstream(route: &mut Option<SerialRoute>) {
    match route {
        Some(route) => route.upstream().await,
        None => pending().await,
    }
}

async fn maybe(sleep: &mut Option<Pin<Box<Sleep>>>) {
    match sleep {
        Some(sleep) => sleep.as_mut().await,
        None => pending().await,
    }
}
