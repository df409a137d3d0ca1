//! The inline path allocates nothing per frame: from a transport's buffer through dispatch, decoder, CDR and rate
//! limit to a publisher that keeps no sample.
//!
//! A binary of its own, because it replaces the global allocator with a counting one.

#![expect(unsafe_code, reason = "a global allocator is an unsafe trait")]

mod telemetry;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    time::Instant,
};

use self::telemetry::{Harness, WANTED};

/// Frames before counting starts: buffers reach their size, lazily made things are made.
const WARM_UP: u64 = 1_000;

/// Frames during which nothing may be allocated.
const FRAMES: u64 = 10_000;

struct Counting;

thread_local! {
    /// Allocations of this thread.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged; the counter is a plain thread-local cell that
// neither allocates nor has a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are the system allocator's conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[tokio::test]
async fn inline_path_allocates_nothing_per_frame() {
    let mut harness = Harness::start().await;
    feed(&mut harness, WARM_UP);
    let before = ALLOCATIONS.get();
    feed(&mut harness, FRAMES);
    let allocations = ALLOCATIONS.get() - before;
    let counters = |link: usize| harness.running.snapshot().rules[0].links[link].counters;
    assert_eq!(counters(0).messages, (WARM_UP + FRAMES) / 2, "the frames were published");
    assert_eq!(counters(0).decode_errors, (WARM_UP + FRAMES) / 4);
    assert!(counters(1).dropped_rate > 0);
    assert_eq!(allocations, 0);
}

/// Three frames of four are wanted; one of them is malformed.
fn feed(harness: &mut Harness, frames: u64) {
    for i in 0..frames {
        let now = Instant::now();
        match i % 4 {
            0 => harness.frame(&[], WANTED, now),
            1 => harness.frame(&[1; 40], WANTED + 1, now),
            _ => harness.frame(&[2; 40], WANTED, now),
        }
        if i % 8 == 7 {
            harness.ingress.batch_end();
        }
    }
}
