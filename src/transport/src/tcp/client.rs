//! One client of a server.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use rostrans_core::transport::{Frame, Framing, Ingress, Peer};
use rostrans_mavlink::Stream;
use tokio::net::TcpStream;

use crate::{framing::deliver, stream::WriteQueue};

/// A connected client.
pub(super) struct Client {
    pub(super) addr: SocketAddr,
    /// What it shall be sent.
    pub(super) queue: Arc<WriteQueue>,
    stream: TcpStream,
    framer: Stream,
    /// Taken from the queue, and how much of it was written.
    out: Vec<u8>,
    written: usize,
}

/// What a poll found.
pub(super) enum Outcome {
    /// Nothing to do until it is woken.
    Idle,
    /// Bytes were read.
    Read,
    /// The connection ended.
    Gone(String),
}

impl Client {
    pub(super) fn new(stream: TcpStream, addr: SocketAddr) -> Self {
        let queue = Arc::new(WriteQueue::of_connection());
        Self { addr, queue, stream, framer: Stream::new(), out: Vec::new(), written: 0 }
    }

    /// Writes what waits and reads what came, without waiting.
    pub(super) fn poll(
        &mut self,
        framing: Framing,
        ingress: &mut dyn Ingress,
        cx: &mut Context<'_>,
    ) -> Outcome {
        if let Err(error) = self.write(cx) {
            return Outcome::Gone(error.to_string());
        }
        match self.read(framing, ingress, cx) {
            Ok(false) => Outcome::Idle,
            Ok(true) => Outcome::Read,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Outcome::Gone("it closed the connection".to_owned())
            }
            Err(error) => Outcome::Gone(error.to_string()),
        }
    }

    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        loop {
            let rest = self.out.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                self.written = 0;
                self.out.clear();
                if !self.queue.try_take(&mut self.out) {
                    return Ok(());
                }
                continue;
            }
            match self.stream.try_write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => self.written += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.stream.poll_write_ready(cx)?.is_pending() {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// True when bytes came; then there may be more.
    fn read(
        &mut self,
        framing: Framing,
        ingress: &mut dyn Ingress,
        cx: &mut Context<'_>,
    ) -> io::Result<bool> {
        loop {
            match self.stream.try_read(self.framer.spare()) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    self.framer.filled(n);
                    self.hand_on(framing, ingress);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match self.stream.poll_read_ready(cx)? {
                        Poll::Ready(()) => {}
                        Poll::Pending => return Ok(false),
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn hand_on(&mut self, framing: Framing, ingress: &mut dyn Ingress) {
        let (peer, received) = (Peer::Tcp(self.addr), Instant::now());
        match framing {
            Framing::Mavlink => {
                while let Some(event) = self.framer.next() {
                    deliver(event, peer, received, ingress);
                }
            }
            Framing::Datagram => {
                ingress.frame(&Frame {
                    bytes: self.framer.unfinished(),
                    peer,
                    received,
                    tag: None,
                    sender: None,
                });
                self.framer.reset();
            }
        }
    }
}
