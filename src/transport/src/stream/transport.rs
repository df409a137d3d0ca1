//! The task of one byte stream.

use std::{
    convert::Infallible,
    future::pending,
    io,
    pin::{Pin, pin},
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    backoff::Backoff,
    transport::{
        BoxFuture, DeviceState, Frame, Framing, Ingress, Malformed, Peer, Transport, TransportError,
    },
};
use rostrans_mavlink::Stream;
use tokio::{
    io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, WriteHalf, split},
    time::{Sleep, sleep},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::debug;

use super::{Line, Open, WriteQueue};
use crate::{
    framing::deliver,
    router::SerialRoute,
    timer::{TickTimer, tick_if_due},
};

/// Who plugs a device in does not want to wait for it.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// A port that stayed open for so long is opened again without much waiting.
const STABLE: Duration = Duration::from_secs(5);

pub(crate) struct StreamTransport<L> {
    line: L,
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

impl<L: Line> StreamTransport<L> {
    pub(crate) fn new(line: L, framing: Framing, queue: Arc<WriteQueue>, route: Option<SerialRoute>) -> Self {
        Self { line, framing, queue, route, stream: Stream::new() }
    }

    async fn keep_open(mut self, mut ingress: Box<dyn Ingress>, cancel: CancellationToken) {
        let mut cancelled = Box::pin(cancel.cancelled_owned());
        let mut backoff = Backoff::default().up_to(LONGEST_WAIT);
        let mut told = None;
        loop {
            // The log line of each change is the ingress's: it knows the rules that wait for the port.
            let Some(opened) = self.open(&mut *ingress, &mut cancelled).await else { return };
            let reason = match opened {
                Ok(open) => {
                    debug!(line = %self.line, "open");
                    ingress.device(DeviceState::Up);
                    told = None;
                    let opened = Instant::now();
                    let end = self.serve(open, &mut *ingress, &mut cancelled).await;
                    let dropped_bytes = self.queue.close();
                    self.stream.reset();
                    let End::Lost(reason) = end else { return };
                    debug!(line = %self.line, reason, dropped_bytes, "lost");
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

    /// Opens the line; `None` when cancelled.
    async fn open(
        &mut self,
        ingress: &mut dyn Ingress,
        cancelled: &mut Pin<Box<WaitForCancellationFutureOwned>>,
    ) -> Option<Result<Open<L::Stream>, String>> {
        let mut opening = pin!(self.line.open());
        let mut timer = TickTimer::default();
        loop {
            tokio::select! {
                biased;
                () = &mut *cancelled => return None,
                opened = &mut opening => return Some(opened),
                () = timer.due(ingress.next_tick()) => ingress.tick(Instant::now()),
                () = upstream(&mut self.route) => {}
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
        open: Open<L::Stream>,
        ingress: &mut dyn Ingress,
        cancelled: &mut Pin<Box<WaitForCancellationFutureOwned>>,
    ) -> End {
        let (_claim, peer) = (open.claim, open.peer);
        let (mut reader, writer) = split(open.stream);
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
                        self.take(peer, ingress);
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
    fn take(&mut self, peer: Peer, ingress: &mut dyn Ingress) {
        let received = Instant::now();
        match (&mut self.route, self.framing) {
            (Some(route), framing) => {
                route.forward(self.stream.pieces(), received, |piece| {
                    if ingress.idle() {
                        return;
                    }
                    let frame = |tag, sender| Frame { bytes: piece.bytes, peer, received, tag, sender };
                    match (framing, piece.packet) {
                        (Framing::Datagram, _) => ingress.frame(&frame(None, None)),
                        (Framing::Mavlink, Some(packet)) => {
                            ingress.frame(&frame(Some(packet.msgid), Some(packet.sysid)));
                        }
                        (Framing::Mavlink, None) => ingress.malformed(Malformed::Skipped(piece.bytes.len())),
                    }
                });
            }
            (None, Framing::Mavlink) => {
                while let Some(event) = self.stream.next() {
                    deliver(event, peer, received, ingress);
                }
            }
            (None, Framing::Datagram) => {
                ingress.frame(&Frame {
                    bytes: self.stream.unfinished(),
                    peer,
                    received,
                    tag: None,
                    sender: None,
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

impl<L: Line> Transport for StreamTransport<L> {
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
struct Writer<S> {
    port: WriteHalf<S>,
    queue: Arc<WriteQueue>,
    out: Vec<u8>,
    written: usize,
}

impl<S: AsyncWrite> Writer<S> {
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
