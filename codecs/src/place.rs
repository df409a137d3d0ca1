//! Three numbers that one task writes and another reads, without a lock.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// A place: whatever its three numbers mean. Its reader never sees a mixture of two of them.
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// Odd while the numbers change; 0 before there were any.
    version: AtomicU32,
    bits: [AtomicU64; 3],
}

impl Place {
    /// Sets the numbers. Only one task may do so.
    pub(crate) fn set(&self, numbers: [f64; 3]) {
        let version = self.version.load(Relaxed);
        self.version.store(version.wrapping_add(1), Relaxed);
        fence(Release);
        for (to, number) in self.bits.iter().zip(numbers) {
            to.store(number.to_bits(), Relaxed);
        }
        // 0 stays "never".
        self.version.store(version.wrapping_add(2).max(2), Release);
    }

    /// The latest numbers; `None` before there were any, or while they change time and again.
    pub(crate) fn get(&self) -> Option<[f64; 3]> {
        for _ in 0..8 {
            let before = self.version.load(Acquire);
            if before == 0 {
                return None;
            }
            let numbers = self.bits.each_ref().map(|bits| f64::from_bits(bits.load(Relaxed)));
            fence(Acquire);
            if before.is_multiple_of(2) && self.version.load(Relaxed) == before {
                return Some(numbers);
            }
            std::hint::spin_loop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    #[test]
    fn reader_never_sees_a_mixture() {
        let place = Arc::new(Place::default());
        assert_eq!(place.get(), None);
        let writer = thread::spawn({
            let place = Arc::clone(&place);
            move || (0..200_000).for_each(|n| place.set([f64::from(n), f64::from(n), f64::from(n)]))
        });
        let mut last = 0.0;
        while !writer.is_finished() {
            if let Some([a, b, c]) = place.get() {
                assert!(a == b && b == c && a >= last, "{a} {b} {c} after {last}");
                last = a;
            }
        }
        writer.join().unwrap();
        assert_eq!(place.get(), Some([199_999.0; 3]));
    }
}
