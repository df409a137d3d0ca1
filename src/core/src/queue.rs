//! A bounded queue that drops its oldest items rather than make the sender wait.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Items a queue holds unless told otherwise.
pub const MAX_ITEMS: usize = 64;

/// Bytes a queue holds unless told otherwise: 64 images would otherwise be gigabytes.
pub const MAX_BYTES: usize = 64 << 20;

/// A queue bounded by items and by bytes, for many senders and one receiver.
///
/// Telemetry is worth its freshness, so a full queue gives up its oldest items; [`DropOldest::push`] returns them
/// for the caller to count. Both ends hold a short lock and never wait for each other.
///
/// ```
/// let queue = rostrans_core::queue::DropOldest::new(2, 100);
/// assert!(queue.push('a', 1).is_empty());
/// assert!(queue.push('b', 1).is_empty());
/// assert_eq!(queue.push('c', 1), ['a']);
/// assert_eq!(queue.try_pop(), Some('b'));
/// ```
#[derive(Debug)]
pub struct DropOldest<T> {
    max_items: usize,
    max_bytes: usize,
    held: Mutex<Held<T>>,
    filled: Notify,
}

#[derive(Debug)]
struct Held<T> {
    /// Each item with the bytes it was pushed with.
    items: VecDeque<(T, usize)>,
    bytes: usize,
}

impl<T> DropOldest<T> {
    /// An empty queue of at most `max_items` items (at least one) and `max_bytes` bytes.
    pub fn new(max_items: usize, max_bytes: usize) -> Self {
        let held = Held { items: VecDeque::new(), bytes: 0 };
        Self { max_items: max_items.max(1), max_bytes, held: Mutex::new(held), filled: Notify::new() }
    }

    /// Appends an item that holds `bytes` bytes; returns what had to go, oldest first.
    ///
    /// An item that alone exceeds the byte bound is returned itself, and nothing else is lost.
    #[must_use = "count what was displaced"]
    pub fn push(&self, item: T, bytes: usize) -> Vec<T> {
        if bytes > self.max_bytes {
            return vec![item];
        }
        let mut displaced = Vec::new();
        let mut held = self.lock();
        while held.items.len() >= self.max_items || held.bytes + bytes > self.max_bytes {
            let Some(oldest) = held.take() else { break };
            displaced.push(oldest);
        }
        held.bytes += bytes;
        held.items.push_back((item, bytes));
        drop(held);
        self.filled.notify_one();
        displaced
    }

    /// Takes the oldest item, if there is one.
    pub fn try_pop(&self) -> Option<T> {
        self.lock().take()
    }

    /// Waits for an item and takes it.
    ///
    /// **Cancel safety**: an item is taken only when the future completes.
    pub async fn pop(&self) -> T {
        // A queue that never runs dry must not keep its worker's thread from other tasks.
        tokio::task::consume_budget().await;
        loop {
            if let Some(item) = self.try_pop() {
                return item;
            }
            self.filled.notified().await;
        }
    }

    /// Items waiting.
    pub fn len(&self) -> usize {
        self.lock().items.len()
    }

    /// True when nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ignores poison: every critical section leaves the queue whole.
    fn lock(&self) -> MutexGuard<'_, Held<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for DropOldest<T> {
    fn default() -> Self {
        Self::new(MAX_ITEMS, MAX_BYTES)
    }
}

impl<T> Held<T> {
    fn take(&mut self) -> Option<T> {
        let (item, bytes) = self.items.pop_front()?;
        self.bytes -= bytes;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
        task::Poll,
    };

    use super::*;

    fn drain<T>(queue: &DropOldest<T>) -> Vec<T> {
        std::iter::from_fn(|| queue.try_pop()).collect()
    }

    #[test]
    fn full_queue_drops_oldest() {
        let queue = DropOldest::default();
        let displaced: Vec<usize> = (0..70).flat_map(|i| queue.push(i, 1)).collect();
        assert_eq!(displaced, [0, 1, 2, 3, 4, 5]);
        assert_eq!(drain(&queue), (6..70).collect::<Vec<_>>());
    }

    #[test]
    fn byte_bound_displaces_as_many_as_needed() {
        let queue = DropOldest::new(10, 100);
        for item in 0..4 {
            assert!(queue.push(item, 25).is_empty());
        }
        assert_eq!(queue.push(4, 60), [0, 1, 2]);
        assert_eq!(drain(&queue), [3, 4]);
    }

    #[test]
    fn item_over_the_byte_bound_comes_back_alone() {
        let queue = DropOldest::new(10, 100);
        assert!(queue.push("small", 10).is_empty());
        assert_eq!(queue.push("huge", 101), ["huge"]);
        assert_eq!(drain(&queue), ["small"]);
    }

    #[test]
    fn bytes_are_given_back_on_pop() {
        let queue = DropOldest::new(10, 100);
        for _ in 0..50 {
            assert!(queue.push((), 100).is_empty());
            assert_eq!(queue.try_pop(), Some(()));
        }
        assert!(queue.is_empty());
    }

    #[test]
    fn waiting_receiver_wakes_for_each_push() {
        let queue = DropOldest::default();
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let mut pop = pin!(queue.pop());
        assert!(pop.as_mut().poll(&mut cx).is_pending());
        assert!(queue.push(1, 1).is_empty());
        assert!(queue.push(2, 1).is_empty());
        assert_eq!(pop.poll(&mut cx), Poll::Ready(1));
        assert_eq!(pin!(queue.pop()).poll(&mut cx), Poll::Ready(2));
    }

    #[test]
    fn every_item_of_many_senders_is_received_or_displaced() {
        const EACH: usize = 5_000;
        let queue = DropOldest::new(8, 1000);
        let (displaced, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for item in 0..EACH {
                        displaced.fetch_add(queue.push(item, item % 300).len(), Relaxed);
                    }
                });
            }
            scope.spawn(|| {
                while received.load(Relaxed) + displaced.load(Relaxed) < 3 * EACH {
                    received.fetch_add(usize::from(queue.try_pop().is_some()), Relaxed);
                    std::thread::yield_now();
                }
            });
        });
        assert_eq!(received.load(Relaxed) + displaced.load(Relaxed), 3 * EACH);
        assert!(queue.is_empty());
        assert_eq!(queue.lock().bytes, 0);
    }
}
