//! Bytes on their way to a port.

use std::{
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rostrans_core::transport::{ByteSink, SendError};
use tokio::sync::Notify;

/// Whole frames for one writer; bounded.
///
/// **Drop policy**: holds about a quarter of a second at a serial port's bit rate, of a connection [`MAX_CAPACITY`]. A
/// frame that does not fit is refused: what waits is older but on its way, and an endless stream must not starve it.
/// While the port is down nothing is stored, as a setpoint of some seconds ago is dangerous.
///
/// A short lock is taken for each frame: senders are in other tasks, and a line carries some thousand frames a second.
#[derive(Debug)]
pub(crate) struct WriteQueue {
    state: Mutex<State>,
    capacity: usize,
    filled: Notify,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct State {
    is_open: bool,
    bytes: Vec<u8>,
}

impl WriteQueue {
    pub(crate) fn new(baud: u32) -> Self {
        let per_second = usize::try_from(baud / BITS_PER_BYTE).unwrap_or(MAX_CAPACITY);
        Self::with_capacity((per_second / 4).clamp(MIN_CAPACITY, MAX_CAPACITY))
    }

    /// A queue for a connection.
    pub(crate) fn of_connection() -> Self {
        Self::with_capacity(MAX_CAPACITY)
    }

    fn with_capacity(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity, filled: Notify::new(), emptied: Notify::new() }
    }

    /// Adds a frame. One that is larger than the queue is taken when nothing else waits.
    pub(crate) fn push(&self, frame: &[u8]) -> Result<(), SendError> {
        let mut state = self.lock();
        if !state.is_open {
            return Err(SendError::Down);
        }
        if !state.bytes.is_empty() && state.bytes.len() + frame.len() > self.capacity {
            return Err(SendError::Full);
        }
        state.bytes.extend_from_slice(frame);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// The port is there.
    pub(crate) fn open(&self) {
        self.lock().is_open = true;
    }

    /// The port is gone; what waits is dropped, and its length returned.
    pub(crate) fn close(&self) -> usize {
        let mut state = self.lock();
        state.is_open = false;
        let dropped = state.bytes.len();
        state.bytes.clear();
        drop(state);
        self.emptied.notify_one();
        dropped
    }

    /// Waits for bytes and swaps them for the empty `out`. One caller at a time.
    ///
    /// **Cancel safety**: takes nothing when dropped.
    pub(crate) async fn take(&self, out: &mut Vec<u8>) {
        while !self.try_take(out) {
            self.filled.notified().await;
        }
    }

    /// Swaps what waits for the empty `out`; false when there is nothing.
    pub(crate) fn try_take(&self, out: &mut Vec<u8>) -> bool {
        let mut state = self.lock();
        if state.bytes.is_empty() {
            return false;
        }
        out.clear();
        std::mem::swap(&mut state.bytes, out);
        drop(state);
        self.emptied.notify_one();
        true
    }

    /// Waits until the writer took what was there, or the port is gone. One caller at a time.
    ///
    /// **Cancel safety**: may be dropped and called again.
    pub(crate) async fn room(&self) {
        while !self.lock().bytes.is_empty() {
            self.emptied.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ByteSink for WriteQueue {
    /// `to` names a UDP receiver and means nothing here.
    fn try_send(&self, frame: &[u8], _to: Option<SocketAddr>) -> Result<(), SendError> {
        self.push(frame)
    }
}

/// A byte on a line of 8N1 with its start and stop bit.
const BITS_PER_BYTE: u32 = 10;
/// A few frames, however slow the line.
const MIN_CAPACITY: usize = 1024;
const MAX_CAPACITY: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_stored_while_the_port_is_down() {
        let queue = WriteQueue::new(921_600);
        assert_eq!(queue.push(b"early"), Err(SendError::Down));
        queue.open();
        assert_eq!(queue.push(b"now"), Ok(()));
        assert_eq!(queue.close(), 3);
        assert_eq!(queue.push(b"late"), Err(SendError::Down));
        queue.open();
        assert_eq!(queue.close(), 0);
    }

    #[test]
    fn full_queue_refuses_the_newest_and_holds_a_quarter_second() {
        let queue = WriteQueue::new(57_600);
        queue.open();
        let frame = [0; 288];
        let taken = (0..10).take_while(|_| queue.push(&frame).is_ok()).count();
        assert_eq!(taken, 57_600 / 10 / 4 / 288);
        assert_eq!(queue.push(&frame), Err(SendError::Full));
    }

    #[tokio::test]
    async fn frames_leave_in_order_and_whole() {
        let queue = WriteQueue::new(9600);
        queue.open();
        for frame in [&b"one"[..], b"two"] {
            queue.push(frame).unwrap();
        }
        let mut out = Vec::new();
        queue.take(&mut out).await;
        assert_eq!(out, b"onetwo");
        queue.room().await;
        queue.push(&[7; 5000]).expect("a frame larger than the queue, alone");
        queue.take(&mut out).await;
        assert_eq!(out, [7; 5000]);
    }
}
