//! The fixed-point iteration `x ← x − F(x)`, (26) of IFOSMONDI-JFM.
//!
//! Converges where `x − F(x)` contracts, and only there. The papers leave open when to give up;
//! this rule is ours. Iterations are seen in blocks, long enough for a rotating or non-normal map
//! to show its trend, and the smallest residual of each block is compared with that of the block
//! before.

use super::evaluator::CountedEvaluations;
use super::solver::{Ending, Equations, NonlinearSolver, SolveOutcome};
use super::vector::{add_scaled, norm};

/// A residual this many times the smallest so far has exploded.
const EXPLOSION: f64 = 1e8;
/// A block that reduces the residual by less than this gains nothing within any reasonable limit.
const USEFUL_REDUCTION: f64 = 0.999;
/// This many blocks in a row without a useful reduction end the iteration.
const IDLE_BLOCKS: usize = 2;

/// Options of [`FixedPoint`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedPointOptions {
    /// Iterations allowed.
    pub iteration_limit: usize,
}

impl Default for FixedPointOptions {
    fn default() -> Self {
        Self {
            iteration_limit: 1000,
        }
    }
}

/// `x ← x − F(x)`.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    options: FixedPointOptions,
    weights: Vec<f64>,
}

impl FixedPoint {
    /// A solver for `size` unknowns.
    pub fn new(size: usize, options: FixedPointOptions) -> Self {
        Self {
            options,
            weights: vec![0.0; size],
        }
    }
}

impl NonlinearSolver for FixedPoint {
    fn name(&self) -> &'static str {
        "fixed-point"
    }

    fn solve_from(
        &mut self,
        equations: &mut dyn Equations,
        x: &mut [f64],
        residual: &mut [f64],
        residual_known: bool,
    ) -> SolveOutcome {
        let (mut evaluator, mut evaluation) =
            CountedEvaluations::begin(equations, &mut self.weights, x, residual, residual_known);
        let mut trend = Trend::new(x.len());

        for iteration in 0.. {
            let ending = evaluation
                .ending()
                .or_else(|| trend.judge(norm(&self.weights, residual)));
            if let Some(ending) = ending {
                return evaluator.outcome(ending, iteration);
            }
            if iteration == self.options.iteration_limit {
                break;
            }
            add_scaled(x, -1.0, residual);
            evaluation = evaluator.evaluate(x, residual);
        }
        evaluator.outcome(Ending::IterationLimit, self.options.iteration_limit)
    }
}

/// Where the residual is going, block by block.
struct Trend {
    block: usize,
    seen: usize,
    /// The smallest norms of this block, of the last, and of all.
    current: f64,
    last: f64,
    smallest: f64,
    idle: usize,
}

impl Trend {
    fn new(size: usize) -> Self {
        let none = f64::INFINITY;
        Self {
            block: size.max(10),
            seen: 0,
            current: none,
            last: none,
            smallest: none,
            idle: 0,
        }
    }

    fn judge(&mut self, norm: f64) -> Option<Ending> {
        self.smallest = self.smallest.min(norm);
        if norm > EXPLOSION * self.smallest {
            return Some(Ending::Diverged);
        }

        self.current = self.current.min(norm);
        self.seen += 1;

        if self.seen.is_multiple_of(self.block) {
            self.close_block()
        } else {
            None
        }
    }

    fn close_block(&mut self) -> Option<Ending> {
        let current = self.current;
        let last = self.last;
        self.current = f64::INFINITY;
        self.last = current;

        if current < USEFUL_REDUCTION * last {
            self.idle = 0;
            return None;
        }

        self.idle += 1;
        if self.idle < IDLE_BLOCKS {
            None
        } else if current > last {
            Some(Ending::Diverged)
        } else {
            Some(Ending::Stagnated)
        }
    }
}
