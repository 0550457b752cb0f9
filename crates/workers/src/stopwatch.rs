//! How long systems take, measured without slowing light ones down.

use std::time::{Duration, Instant};

/// A call as long as this is heavy: reading the clock costs about a hundredth of it.
const HEAVY: Duration = Duration::from_micros(5);
/// After so many light calls in a row those to come are taken to be light too.
const ENOUGH: u32 = 200;
/// Of light calls one in so many is timed. A prime number, so that what repeats itself is met in all its phases.
const STRIDE: u32 = 251;

/// Adds up the time that is spent in a system.
///
/// To read the clock takes longer than a step of a light system. Calls are therefore timed one by one as long as a heavy one
/// was among the last two hundred; otherwise one in 251 is timed and stands for as many, less what reading the clock takes. One that turns out to be
/// heavy stands for itself, and calls are timed one by one again: a pause that the operating system made is not multiplied,
/// and a system that is heavy now and then is soon measured in full.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    /// Calls up to the next that is timed, that one included.
    countdown: u32,
    /// Light calls in a row, as far as they are counted.
    light: u32,
}

impl Default for Stopwatch {
    fn default() -> Self {
        Self {
            countdown: 1,
            light: 0,
        }
    }
}

impl Stopwatch {
    /// Makes the call; what it took goes to `seconds`, if it is one that is timed.
    #[inline]
    pub fn time<T>(&mut self, seconds: &mut f64, call: impl FnOnce() -> T) -> T {
        self.countdown -= 1;
        if self.countdown > 0 {
            call()
        } else {
            self.measure(seconds, call)
        }
    }

    #[cold]
    #[inline(never)]
    fn measure<T>(&mut self, seconds: &mut f64, call: impl FnOnce() -> T) -> T {
        let sampled = self.light == ENOUGH;
        self.countdown = 1; // should the call panic and the system be asked again
        let before = Instant::now();
        let start = if sampled { Instant::now() } else { before };
        let answer = call();
        let spent = start.elapsed();

        if spent >= HEAVY {
            self.light = 0;
            *seconds += spent.as_secs_f64();
        } else if sampled {
            *seconds += f64::from(STRIDE) * spent.saturating_sub(start - before).as_secs_f64();
        } else {
            self.light += 1;
            *seconds += spent.as_secs_f64();
        }

        if self.light == ENOUGH {
            self.countdown = STRIDE;
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works for at least so long.
    fn work(duration: Duration) {
        let start = Instant::now();
        while start.elapsed() < duration {}
    }

    /// Seconds measured over seconds worked, and the number of calls that were timed.
    fn watch(calls: u32, duration: impl Fn(u32) -> Duration) -> (f64, u32) {
        let (mut stopwatch, mut seconds, mut timed) = (Stopwatch::default(), 0.0, 0);
        for n in 0..calls {
            timed += u32::from(stopwatch.countdown == 1);
            stopwatch.time(&mut seconds, || work(duration(n)));
        }
        let worked: f64 = (0..calls).map(|n| duration(n).as_secs_f64()).sum();
        (seconds / worked, timed)
    }

    #[test]
    fn heavy_calls_are_timed_one_by_one() {
        let (measured, timed) = watch(2000, |_| HEAVY);
        assert_eq!(timed, 2000);
        assert!(measured >= 1.0);
    }

    #[test]
    fn light_calls_are_sampled_and_add_up() {
        // Never called heavy by an idle machine; on a busy one some are, and more calls are timed.
        let (measured, timed) = watch(200_000, |_| Duration::from_nanos(300));
        assert!(timed >= ENOUGH + 199_800 / STRIDE, "{timed}");
        assert!(measured > 0.7, "{measured}");
    }

    #[test]
    fn a_system_that_is_heavy_now_and_then_is_measured_in_full() {
        let heavy = |n: u32| {
            if n.is_multiple_of(100) {
                10 * HEAVY
            } else {
                Duration::ZERO
            }
        };
        let (measured, timed) = watch(5000, heavy);
        assert_eq!(timed, 5000);
        assert!(measured >= 1.0);
    }

    #[test]
    fn a_call_that_panics_does_no_harm() {
        let (mut stopwatch, mut seconds) = (Stopwatch::default(), 0.0);
        let call =
            std::panic::AssertUnwindSafe(|| stopwatch.time(&mut seconds, || panic!("on purpose")));
        assert!(std::panic::catch_unwind(call).is_err());
        stopwatch.time(&mut seconds, || work(HEAVY));
        assert!(seconds >= HEAVY.as_secs_f64());
    }

    #[test]
    fn what_was_light_and_becomes_heavy_is_found() {
        let (measured, _) = watch(12_000, |n| if n < 10_000 { Duration::ZERO } else { HEAVY });
        // At most one stride goes by.
        assert!(measured >= 1.0 - f64::from(STRIDE) / 2000.0, "{measured}");
    }
}
