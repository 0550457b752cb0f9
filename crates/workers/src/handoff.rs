//! Where the caller and a thread meet: a partition of the systems, and whose turn it is.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::{Thread, current, park};

use crate::partition::Partition;

/// Nothing is asked for, or it is done.
const IDLE: u8 = 0;
/// Tasks lie in the partition, and whoever comes first carries them out.
const REQUESTED: u8 = 1;
/// The thread carries them out, or has not yet started.
const TAKEN: u8 = 2;
/// The thread is to end.
const OVER: u8 = 3;

/// A partition and its state. The state says whose turn it is, so that nobody ever waits for the
/// lock; the lock is there because it lets safe code pass systems between threads.
///
/// Waking is by `unpark`, which costs a call of the operating system only where the other side
/// sleeps; a `Condvar` would make that call every time.
pub(crate) struct Handoff {
    state: AtomicU8,
    spins: u32,
    shared: Mutex<HandoffState>,
}

struct HandoffState {
    partition: Partition,
    /// Whom to wake when the tasks are carried out.
    caller: Thread,
}

impl Handoff {
    /// A handoff whose sides check so many times for their turn before they sleep.
    pub fn new(partition: Partition, spins: u32) -> Self {
        Self {
            state: AtomicU8::new(TAKEN),
            spins,
            shared: Mutex::new(HandoffState {
                partition,
                caller: current(),
            }),
        }
    }

    /// The caller's way to the partition, between requests.
    pub fn with<R>(&self, access: impl FnOnce(&mut Partition) -> R) -> R {
        access(&mut self.lock().partition)
    }

    /// What was put into the partition is to be carried out by `thread`.
    pub fn request(&self, caller: &Thread, thread: &Thread) {
        let mut shared = self.lock();
        if shared.caller.id() != caller.id() {
            shared.caller = caller.clone();
        }

        drop(shared);
        self.state.store(REQUESTED, Ordering::Release);
        thread.unpark();
    }

    /// Where the thread has not begun (it was asleep, or has no core to run on), the caller does
    /// not wait for it.
    pub fn help(&self) {
        if self.transition(REQUESTED, IDLE) {
            self.lock().partition.run();
        }
    }

    /// Waits until the tasks are carried out, or the thread has started.
    pub fn wait(&self) {
        self.wait_until(|state| state == IDLE);
    }

    /// Lets the thread end, after the tasks it has begun.
    pub fn close(&self, thread: &Thread) {
        self.state.store(OVER, Ordering::Release);
        thread.unpark();
    }

    /// The life of the thread.
    pub fn serve(&self) {
        self.finish(self.lock());
        while self.wait_until(|state| state == REQUESTED || state == OVER) == REQUESTED {
            if self.transition(REQUESTED, TAKEN) {
                let mut shared = self.lock();
                shared.partition.run();
                self.finish(shared);
            }
        }
    }

    fn finish(&self, shared: MutexGuard<'_, HandoffState>) {
        let caller = shared.caller.clone();
        drop(shared);
        self.transition(TAKEN, IDLE); // unless it is over
        caller.unpark();
    }

    fn lock(&self) -> MutexGuard<'_, HandoffState> {
        self.shared
            .lock()
            .expect("BUG: the panics of systems are caught before they reach the lock")
    }

    fn transition(&self, from: u8, to: u8) -> bool {
        self.state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    fn wait_until(&self, reached: impl Fn(u8) -> bool) -> u8 {
        for _ in 0..self.spins {
            let state = self.state.load(Ordering::Acquire);
            if reached(state) {
                return state;
            }
            spin_loop();
        }
        loop {
            let state = self.state.load(Ordering::Acquire);
            if reached(state) {
                return state;
            }
            park();
        }
    }
}
