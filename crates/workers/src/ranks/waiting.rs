//! How a rank waits for a message: MPI has no wait that sleeps.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

/// How often a rank looks for a message before it begins to yield: a few microseconds.
const SPINS: u32 = 50;
/// A yield that lasts longer than this shows that others are busy on the core. They keep it for
/// milliseconds then, while one that sleeps gets it when it wakes.
const BUSY_YIELD: Duration = Duration::from_micros(50);
/// After such a yield, so many waits sleep instead of yielding.
const WAITS_THAT_SLEEP: u32 = 256;
/// Where there are more ranks than cores, a rank yields for so long before it begins to sleep: longer
/// than an exchange of light systems takes.
const CROWDED_POLLING: Duration = Duration::from_micros(100);
/// A rank with a core of its own does not sleep before this: nobody else wants the core.
const FREE_POLLING: Duration = Duration::from_millis(20);
/// A rank sleeps for this part of the time it has waited, so that it wakes too late by that part at
/// most.
const PART: u32 = 16;
/// No shorter than what sleeping and waking cost, and no longer than this.
const SHORTEST: Duration = Duration::from_micros(10);
const LONGEST: Duration = Duration::from_millis(2);
/// Time limits, interrupts and the life of other ranks are checked so often.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Decides between polling and sleeping, by whether the cores have room for one that polls.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// Whether there are more ranks than cores.
    crowded: bool,
    /// Waits that are still to sleep.
    waits_that_sleep: AtomicU32,
}

impl Backoff {
    pub fn new(crowded: bool) -> Self {
        Self {
            crowded,
            waits_that_sleep: AtomicU32::new(0),
        }
    }

    /// Begins a wait.
    pub fn wait(&self) -> Waiting<'_> {
        let left = self.waits_that_sleep.load(Ordering::Relaxed);
        let sleeps = left > 0;
        if sleeps {
            self.waits_that_sleep.store(left - 1, Ordering::Relaxed);
        }

        Waiting {
            backoff: self,
            sleeps,
            polls: 0,
            began: None,
            checked: Duration::ZERO,
        }
    }

    /// How long a wait may yield.
    fn polling(&self) -> Duration {
        if self.crowded {
            CROWDED_POLLING
        } else {
            FREE_POLLING
        }
    }
}

/// One wait.
pub(crate) struct Waiting<'a> {
    backoff: &'a Backoff,
    sleeps: bool,
    polls: u32,
    began: Option<Instant>,
    checked: Duration,
}

impl Waiting<'_> {
    /// Lets some time pass; whether it is time to check whom we wait for.
    pub fn pause(&mut self) -> bool {
        self.polls = self.polls.saturating_add(1);
        if self.polls <= SPINS {
            spin_loop();
            return false;
        }

        let waited = self.began.get_or_insert_with(Instant::now).elapsed();
        if self.sleeps || waited > self.backoff.polling() {
            sleep((waited / PART).clamp(SHORTEST, LONGEST));
        } else {
            self.let_others_go_first(waited);
        }

        let is_due = waited >= self.checked + CHECK_INTERVAL;
        if is_due {
            self.checked = waited;
        }
        is_due
    }

    fn let_others_go_first(&mut self, waited: Duration) {
        yield_now();
        let now = self.began.map_or(waited, |began| began.elapsed());
        if now - waited > BUSY_YIELD {
            self.sleeps = true;
            let waits = &self.backoff.waits_that_sleep;
            waits.store(WAITS_THAT_SLEEP, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_wait_checks_now_and_then() {
        let backoff = Backoff::new(true);
        let mut waiting = backoff.wait();
        let checks = (0..2000).filter(|_| waiting.pause()).count();
        assert!((1..1000).contains(&checks), "{checks}");
    }

    #[test]
    fn waits_sleep_for_a_while_after_the_cores_were_busy() {
        let backoff = Backoff::new(false);
        assert!(!backoff.wait().sleeps);
        backoff.waits_that_sleep.store(2, Ordering::Relaxed);
        let sleeps = [0; 3].map(|_| backoff.wait().sleeps);
        assert_eq!(sleeps, [true, true, false]);
    }

    #[test]
    fn ranks_that_share_cores_sleep_sooner() {
        assert!(Backoff::new(true).polling() < Backoff::new(false).polling());
    }
}
