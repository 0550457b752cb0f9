//! Where the asker and a thread meet: a share of the systems, and whose turn it is.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::{Thread, current, park};

use crate::share::Share;

/// Nothing is asked for, or it is done.
const IDLE: u8 = 0;
/// Orders lie in the share, and whoever comes first carries them out.
const ORDERED: u8 = 1;
/// The thread carries them out, or has not yet started.
const TAKEN: u8 = 2;
/// The thread is to end.
const OVER: u8 = 3;

/// A share and its state. The state says whose turn it is, so that nobody ever waits for the lock; the lock is there because
/// it lets safe code pass systems between threads.
///
/// Waking is by `unpark`, which costs a call of the operating system only where the other side sleeps; a `Condvar` would
/// make that call every time.
pub(crate) struct Post {
    state: AtomicU8,
    spins: u32,
    held: Mutex<Held>,
}

struct Held {
    share: Share,
    /// Whom to wake when the orders are carried out.
    asker: Thread,
}

impl Post {
    /// A post whose sides look so many times for their turn before they sleep.
    pub fn new(share: Share, spins: u32) -> Self {
        Self {
            state: AtomicU8::new(TAKEN),
            spins,
            held: Mutex::new(Held {
                share,
                asker: current(),
            }),
        }
    }

    /// The asker's way to the share, between `order`s.
    pub fn with<R>(&self, look: impl FnOnce(&mut Share) -> R) -> R {
        look(&mut self.hold().share)
    }

    /// What was put into the share is to be carried out by `thread`.
    pub fn order(&self, asker: &Thread, thread: &Thread) {
        let mut held = self.hold();
        if held.asker.id() != asker.id() {
            held.asker = asker.clone();
        }
        drop(held);
        self.state.store(ORDERED, Ordering::Release);
        thread.unpark();
    }

    /// Where the thread has not begun (it was asleep, or has no core to run on), the asker does not wait for it.
    pub fn help(&self) {
        if self.passes(ORDERED, IDLE) {
            self.hold().share.work();
        }
    }

    /// Waits until the orders are carried out, or the thread has started.
    pub fn wait(&self) {
        self.wait_until(|state| state == IDLE);
    }

    /// Lets the thread end, after the orders it has begun.
    pub fn close(&self, thread: &Thread) {
        self.state.store(OVER, Ordering::Release);
        thread.unpark();
    }

    /// The life of the thread.
    pub fn serve(&self) {
        self.done(self.hold());
        while self.wait_until(|state| state == ORDERED || state == OVER) == ORDERED {
            if self.passes(ORDERED, TAKEN) {
                let mut held = self.hold();
                held.share.work();
                self.done(held);
            }
        }
    }

    fn done(&self, held: MutexGuard<'_, Held>) {
        let asker = held.asker.clone();
        drop(held);
        self.passes(TAKEN, IDLE); // unless it is over
        asker.unpark();
    }

    fn hold(&self) -> MutexGuard<'_, Held> {
        self.held
            .lock()
            .expect("BUG: the panics of systems are caught before they reach the lock")
    }

    fn passes(&self, from: u8, to: u8) -> bool {
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
