//! Counts allocations and bytes, for the tests that nothing is allocated while a run is under way, and of how much memory a
//! model takes.
#![allow(
    unsafe_code,
    reason = "a global allocator that counts is an unsafe trait by kind; it only adds to a number"
)]

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::sync::atomic::{AtomicU64, Ordering};

use dovetail_core::{Error, Exchange, Observer};

/// The allocator of a test program that counts: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.
pub struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Allocations of all threads so far, in a program whose allocator is [`Counting`].
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

static BYTES: AtomicU64 = AtomicU64::new(0);
static MOST_BYTES: AtomicU64 = AtomicU64::new(0);

/// Bytes that all threads have asked for and not given back, in such a program.
pub fn bytes_in_use() -> u64 {
    BYTES.load(Ordering::Relaxed)
}

/// The most bytes that have been in use at once since [`forget_most_bytes`].
pub fn most_bytes_in_use() -> u64 {
    MOST_BYTES.load(Ordering::Relaxed)
}

/// From here on [`most_bytes_in_use`] looks anew.
pub fn forget_most_bytes() {
    MOST_BYTES.store(bytes_in_use(), Ordering::Relaxed);
}

// SAFETY: everything is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        let size = layout.size() as u64;
        let bytes = BYTES.fetch_add(size, Ordering::Relaxed) + size;
        MOST_BYTES.fetch_max(bytes, Ordering::Relaxed);
        // SAFETY: the caller's promises are those the system's allocator asks for.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

/// Notes the count after the first steps and at the end.
#[derive(Default)]
pub struct AllocationWatch {
    steps: u64,
    early: u64,
    late: u64,
}

impl AllocationWatch {
    /// Steps, and what was allocated after the first ten of them.
    pub fn found(&self) -> (u64, u64) {
        (self.steps, self.late - self.early)
    }
}

impl Observer for AllocationWatch {
    fn accepted(&mut self, _exchange: Exchange<'_>) -> Result<(), Error> {
        self.steps += 1;
        let now = allocations();

        if self.steps == 10 {
            self.early = now;
        }

        self.late = now;
        Ok(())
    }
}
