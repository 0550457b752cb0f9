//! How far an integration has come between its start and its end.

use crate::attempt::{Attempt, AttemptVerdict};

/// The time reached, the end, and the step to try next.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub time: f64,
    end: f64,
    /// A magnitude; the step taken may be shorter, to hit the end.
    pub proposed: f64,
    pub accepted: usize,
    pub rejected: usize,
    /// What came of the last step.
    pub last: AttemptVerdict,
}

/// Shorter than the end by so little, a step is stretched to hit it.
const STRETCH: f64 = 1.01;

impl Progress {
    pub fn new(start: f64, end: f64) -> Self {
        Self {
            time: start,
            end,
            proposed: 0.0,
            accepted: 0,
            rejected: 0,
            last: AttemptVerdict::Accepted,
        }
    }

    pub fn is_over(&self) -> bool {
        self.time == self.end
    }

    /// The distance to the end, with its sign.
    pub fn remaining(&self) -> f64 {
        self.end - self.time
    }

    /// The proposed step, stretched or shortened to arrive at the end in even steps.
    pub fn next_step(&self) -> f64 {
        let remaining = self.remaining();
        if remaining.abs() <= STRETCH * self.proposed {
            remaining
        } else if remaining.abs() < 2.0 * self.proposed {
            0.5 * remaining
        } else {
            self.proposed.copysign(remaining)
        }
    }

    /// Whether time would hardly move: a tenth of `step` is lost in rounding. The last step may be
    /// that short.
    pub fn is_too_small(&self, step: f64) -> bool {
        let unresolved = 0.1 * step.abs() <= f64::EPSILON * self.time.abs();
        (unresolved && step != self.remaining()) || self.proposed < f64::MIN_POSITIVE
    }

    /// Records what came of `step`.
    pub fn record(&mut self, step: f64, attempt: Attempt) {
        let shortened = step.abs() < self.proposed;
        self.last = attempt.verdict;

        if attempt.verdict != AttemptVerdict::Accepted {
            self.rejected += 1;
            self.proposed = attempt.next;
            return;
        }

        self.accepted += 1;
        self.time = if step == self.remaining() {
            self.end
        } else {
            self.time + step
        };
        // A step cut short by the end says little of how long it could have been.
        self.proposed = if shortened {
            attempt.next.max(self.proposed)
        } else {
            attempt.next
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(proposed: f64) -> Progress {
        Progress {
            proposed,
            ..Progress::new(0.0, 1.0)
        }
    }

    #[test]
    fn the_last_steps_are_stretched_or_halved() {
        assert_eq!(progress(0.995).next_step(), 1.0);
        assert_eq!(progress(3.0).next_step(), 1.0);
        assert_eq!(progress(0.9).next_step(), 0.5);
        assert_eq!(progress(0.3).next_step(), 0.3);
    }

    #[test]
    fn a_shortened_step_does_not_lower_the_proposal() {
        let mut progress = progress(4.0);
        progress.record(
            1.0,
            Attempt {
                verdict: AttemptVerdict::Accepted,
                next: 2.0,
            },
        );
        assert!(progress.is_over());
        assert_eq!(progress.proposed, 4.0);
    }

    #[test]
    fn time_may_run_backwards() {
        let backwards = Progress {
            proposed: 0.3,
            ..Progress::new(1.0, 0.0)
        };
        assert_eq!(backwards.next_step(), -0.3);
    }
}
