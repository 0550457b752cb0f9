//! Giving up on an accelerated iteration that explodes or no longer improves.

use super::solver::Ending;

/// A residual this many times the smallest so far has exploded. The first steps are plain
/// fixed-point steps, each of which may grow by the square of the spectral radius, and still lead
/// to the solution.
const EXPLOSION: f64 = 1e12;
/// Iterations without a new smallest residual, beyond one for each unknown, that count as
/// stagnation.
const PATIENCE: usize = 20;

/// The smallest residual so far, and for how long it has been that.
pub(super) struct StagnationMonitor {
    patience: usize,
    smallest: f64,
    waited: usize,
}

impl StagnationMonitor {
    /// For an iteration that may need one step for each of `size` unknowns to learn what it needs.
    pub fn new(size: usize) -> Self {
        Self {
            patience: size + PATIENCE,
            smallest: f64::INFINITY,
            waited: 0,
        }
    }

    /// Why to stop at a residual of this norm, if at all.
    pub fn judge(&mut self, norm: f64) -> Option<Ending> {
        if norm < self.smallest {
            self.smallest = norm;
            self.waited = 0;
        } else {
            self.waited += 1;
        }

        let exploded = norm > EXPLOSION * self.smallest || !norm.is_finite();
        if exploded {
            return Some(Ending::Diverged);
        }
        (self.waited >= self.patience).then_some(Ending::Stagnated)
    }
}
