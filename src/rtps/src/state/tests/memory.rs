//! Bytes the running test holds: every allocation of its thread is counted.
#![expect(unsafe_code, reason = "a global allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
}

/// Bytes allocated and not freed by this thread so far.
pub(super) fn held() -> i64 {
    HELD.get()
}

struct Counting;

fn add(size: usize) {
    HELD.set(HELD.get() + i64::try_from(size).unwrap_or(i64::MAX));
}

fn sub(size: usize) {
    HELD.set(HELD.get() - i64::try_from(size).unwrap_or(i64::MAX));
}

// SAFETY: every call is passed on to the system allocator unchanged; the counter is a plain thread-local cell that
// neither allocates nor has a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are the system allocator's conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above. Passed on, so that big zeroed buffers cost nothing until they are touched.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        sub(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        add(new_size);
        sub(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;
