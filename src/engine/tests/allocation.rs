//! The inline path allocates nothing per frame: from a transport's buffer through dispatch, decoder, CDR and rate
//! limit to a publisher that keeps no sample.
//!
//! A binary of its own, because it replaces the global allocator with a counting one.

#![expect(unsafe_code, reason = "a global allocator is an unsafe trait")]

mod telemetry;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{PublishError, Publisher},
    clock::{RosTime, SimClock, StampPolicy, Stamped, Stamping, Tuning},
    codec::Port,
    emit::{Emit, Outlet},
    stats::LinkStats,
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

/// Restamped samples are written into the pool, whose space is used again.
#[test]
fn stamps_of_a_simulated_clock_allocate_nothing() {
    let start = Instant::now();
    let clock = SimClock::new("sim".into(), Tuning::default(), start);
    clock.sample(RosTime::new(100, 0), RosTime::default(), start);
    let stats = LinkStats::default();
    let outlet =
        Outlet { publisher: Arc::new(Nobody), stamped: Stamped::Header, latched: false, limiter: None };
    let (mut outlets, mut pool) = ([Some(outlet)], BytesMut::with_capacity(1 << 16));
    let sample = RosTime::new(1_790_000_000, 0).to_clock();
    let mut publish = |at| {
        let mut out = Emit::new(&mut outlets, &mut pool, None, None, &clock, at, &stats)
            .with_stamping(Stamping::new(StampPolicy::Source));
        out.forward(Port(0), out.stamp(), &sample);
        out.publish(Port(0), out.stamp(), &7_u64);
    };
    (0..WARM_UP).for_each(|_| publish(start));
    let before = ALLOCATIONS.get();
    (0..FRAMES).for_each(|i| publish(start + Duration::from_micros(i)));
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert_eq!(
        (stats.messages.load(), stats.implausible.load()),
        (2 * (WARM_UP + FRAMES), 2 * (WARM_UP + FRAMES))
    );
}

/// A subscriber that keeps nothing.
struct Nobody;

impl Publisher for Nobody {
    fn publish(&self, _: RosTime, _: &CdrBytes) -> Result<(), PublishError> {
        Ok(())
    }

    fn matched(&self) -> usize {
        1
    }
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
