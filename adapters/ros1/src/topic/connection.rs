//! One connection to a subscriber.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    sync::Mutex,
    time::Instant,
};

use bytes::Bytes;
use rostrans_core::{queue::MAX_BYTES, throttle::LogThrottle};
use tokio::{net::TcpStream, sync::Notify};

use crate::lock;

/// Bodies up to this are written by the publishing thread while nothing waits: no task hop, and one system call.
const INLINE: usize = 64 << 10;

/// Bodies written by one system call at most.
const BATCH: usize = 32;

/// One connection to a subscriber: a socket and a bounded queue in front of it.
pub(super) struct Connection {
    /// For `getBusInfo`.
    pub(super) id: i32,
    /// The subscriber's name.
    pub(super) peer: String,
    stream: TcpStream,
    queue: Mutex<Queue>,
    filled: Notify,
}

/// What waits to be written.
#[derive(Default)]
struct Queue {
    bodies: VecDeque<Bytes>,
    /// Of all bodies.
    bytes: usize,
    /// Bytes of the first one that are written, its length included.
    written: usize,
    max_items: usize,
    sent: Sent,
    losses: LogThrottle,
    broken: bool,
}

/// What a connection has carried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) bytes: u64,
    pub(super) messages: u64,
}

/// What became of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Displaced {
    /// So many older ones had to go.
    pub(super) count: u64,
    /// How many losses a log line should tell of now.
    pub(super) tell: Option<u64>,
}

impl Connection {
    /// One that first sends `owed` and then holds `max_items` at most.
    pub(super) fn new(
        stream: TcpStream,
        id: i32,
        peer: String,
        owed: VecDeque<Bytes>,
        max_items: usize,
    ) -> Self {
        let bytes = owed.iter().map(Bytes::len).sum();
        let queue = Queue { bodies: owed, bytes, max_items: max_items.max(1), ..Queue::default() };
        Self { id, peer, stream, queue: Mutex::new(queue), filled: Notify::new() }
    }

    /// Sends a message body now or soon; never waits.
    pub(super) fn send(&self, body: &Bytes) -> Displaced {
        let mut queue = lock(&self.queue);
        if queue.broken {
            return Displaced::default();
        }
        let at_once = queue.bodies.is_empty() && body.len() <= INLINE;
        let displaced = if at_once { 0 } else { queue.make_room(body.len()) };
        queue.bytes += body.len();
        queue.bodies.push_back(body.clone());
        if at_once {
            queue.write(&self.stream);
        }
        if !queue.bodies.is_empty() || queue.broken {
            self.filled.notify_one();
        }
        let mut tell = None;
        for _ in 0..displaced {
            tell = queue.losses.event(Instant::now()).or(tell);
        }
        Displaced { count: displaced, tell }
    }

    pub(super) fn sent(&self) -> Sent {
        lock(&self.queue).sent
    }

    /// Writes what waits, until the connection breaks or the subscriber closes it.
    pub(super) async fn run(&self) {
        tokio::select! {
            () = self.drain() => {}
            () = self.listen() => {}
        }
    }

    async fn drain(&self) {
        loop {
            let (waiting, broken) = {
                let mut queue = lock(&self.queue);
                queue.write(&self.stream);
                (!queue.bodies.is_empty(), queue.broken)
            };
            if broken || (waiting && self.stream.writable().await.is_err()) {
                return;
            }
            if !waiting {
                self.filled.notified().await;
            }
        }
    }

    /// Waits for the end. A subscriber has nothing to say; what it says is thrown away.
    async fn listen(&self) {
        let mut scrap = [0; 256];
        loop {
            if self.stream.readable().await.is_err() {
                return;
            }
            match self.stream.try_read(&mut scrap) {
                Ok(1..) => tokio::task::consume_budget().await,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => return,
            }
        }
    }
}

impl Queue {
    /// Gives up the oldest until one more of `len` bytes fits; returns how many. What is half written stays.
    fn make_room(&mut self, len: usize) -> u64 {
        let first = usize::from(self.written > 0);
        let mut displaced = 0;
        while self.bodies.len() > first
            && (self.bodies.len() >= self.max_items || self.bytes + len > MAX_BYTES)
        {
            let Some(oldest) = self.bodies.remove(first) else { break };
            self.bytes -= oldest.len();
            displaced += 1;
        }
        displaced
    }

    /// Writes as much as the socket takes.
    fn write(&mut self, stream: &TcpStream) {
        while !self.bodies.is_empty() && !self.broken {
            match self.write_some(stream) {
                Ok(0) => self.broken = true,
                Ok(count) => self.advance(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.broken = true,
            }
        }
    }

    fn write_some(&self, stream: &TcpStream) -> io::Result<usize> {
        let lengths: [[u8; 4]; BATCH] = std::array::from_fn(|i| self.bodies.get(i).map_or([0; 4], length));
        let mut slices = [IoSlice::new(&[]); 2 * BATCH];
        let mut count = 0;
        for ((pair, body), len) in slices.chunks_exact_mut(2).zip(&self.bodies).zip(&lengths) {
            if let [first, second] = pair {
                let skip = if count == 0 { self.written } else { 0 };
                *first = IoSlice::new(len.get(skip..).unwrap_or_default());
                *second = IoSlice::new(body.get(skip.saturating_sub(4)..).unwrap_or_default());
            }
            count += 2;
        }
        stream.try_write_vectored(slices.get(..count).unwrap_or_default())
    }

    /// Takes out what `count` more written bytes complete.
    fn advance(&mut self, count: usize) {
        self.written += count;
        self.sent.bytes += count as u64;
        while let Some(body) = self.bodies.front()
            && self.written >= 4 + body.len()
        {
            self.written -= 4 + body.len();
            self.bytes -= body.len();
            self.sent.messages += 1;
            self.bodies.pop_front();
        }
    }
}

/// Bodies are far below 4 GiB: [`super::Publication`] refuses longer ones.
fn length(body: &Bytes) -> [u8; 4] {
    u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(max_items: usize, lens: &[usize]) -> Queue {
        let mut queue = Queue { max_items, ..Queue::default() };
        for len in lens {
            queue.bytes += len;
            queue.bodies.push_back(Bytes::from(vec![0; *len]));
        }
        queue
    }

    #[test]
    fn full_queue_gives_up_its_oldest_but_never_half_a_message() {
        let mut full = queue(3, &[10, 20, 30]);
        assert_eq!((full.make_room(5), full.bytes), (1, 50));
        let mut half = Queue { written: 1, ..queue(3, &[10, 20, 30]) };
        assert_eq!((half.make_room(5), half.bytes), (1, 40));
        let mut alone = Queue { written: 1, ..queue(1, &[10]) };
        assert_eq!((alone.make_room(5), alone.bytes), (0, 10));
    }

    #[test]
    fn bytes_are_bounded_too() {
        let mut large = queue(100, &[MAX_BYTES / 2, MAX_BYTES / 2]);
        assert_eq!(large.make_room(1), 1);
        assert_eq!(large.make_room(MAX_BYTES), 1);
        assert_eq!(large.bytes, 0);
    }

    #[test]
    fn written_bytes_complete_messages() {
        let mut queue = queue(9, &[2, 0, 5]);
        queue.advance(3);
        assert_eq!((queue.bodies.len(), queue.written), (3, 3));
        queue.advance(7);
        assert_eq!((queue.bodies.len(), queue.written, queue.bytes, queue.sent.messages), (1, 0, 5, 2));
        queue.advance(9);
        assert_eq!((queue.bodies.len(), queue.bytes, queue.sent.bytes), (0, 0, 19));
    }
}
