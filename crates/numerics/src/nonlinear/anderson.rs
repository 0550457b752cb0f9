//! Anderson mixing: the fixed-point step, taken from the best combination of what was seen.
//!
//! From `(x_i, f_i)`, the affine combination `(x̄, f̄)` with the smallest residual is formed and `x
//! ← x̄ − β f̄`; one evaluation per iteration. References: Anderson (1965), *Iterative procedures
//! for nonlinear integral equations*; parameters of IFOSMONDI-JFM, table 4: `m = 30`, `β = 1`, no
//! restart. As in PETSc's `SNESANDERSON` the first iteration is a plain fixed-point step.
//! Departures: the least-squares problem is solved by orthogonalization, newest differences first,
//! where PETSc solves normal equations; and hopeless iterations end early.

use super::evaluator::CountedEvaluations;
use super::history::{History, Pair, PairMut};
use super::solver::{Ending, Equations, NonlinearSolver, SolveOutcome};
use super::stagnation::StagnationMonitor;
use super::vector::{add_scaled, norm};

/// Options of [`Anderson`]; the defaults are those of IFOSMONDI-JFM, table 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AndersonOptions {
    /// Points remembered, `m`.
    pub depth: usize,
    /// The mixing parameter `β`: how much of the combined residual is subtracted.
    pub mixing: f64,
    /// Iterations allowed.
    pub iteration_limit: usize,
}

impl Default for AndersonOptions {
    fn default() -> Self {
        Self {
            depth: 30,
            mixing: 1.0,
            iteration_limit: 50,
        }
    }
}

/// Anderson mixing.
#[derive(Clone, Debug)]
pub struct Anderson {
    options: AndersonOptions,
    history: History,
    weights: Vec<f64>,
    combined_point: Vec<f64>,
    combined_residual: Vec<f64>,
}

impl Anderson {
    /// A solver for `size` unknowns.
    pub fn new(size: usize, options: AndersonOptions) -> Self {
        Self {
            options,
            history: History::new(size, options.depth),
            weights: vec![0.0; size],
            combined_point: vec![0.0; size],
            combined_residual: vec![0.0; size],
        }
    }

    /// Moves `x` on; false if it stays where it is.
    fn advance(&mut self, x: &mut [f64], residual: &[f64]) -> bool {
        let newest = Pair { point: x, residual };
        let combined = PairMut {
            point: &mut self.combined_point,
            residual: &mut self.combined_residual,
        };
        self.history.minimize(&self.weights, newest, combined);
        self.history.push(newest);
        let next = &mut self.combined_point;
        let mixing = self.options.mixing;
        add_scaled(next, -mixing, &self.combined_residual);
        let moved = next != x;
        x.copy_from_slice(next);

        moved
    }
}

impl NonlinearSolver for Anderson {
    fn name(&self) -> &'static str {
        "anderson"
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
        self.history.clear();
        let mut monitor = StagnationMonitor::new(x.len());

        for iteration in 0.. {
            let ending = evaluation
                .ending()
                .or_else(|| monitor.judge(norm(&self.weights, residual)));
            if let Some(ending) = ending {
                return evaluator.outcome(ending, iteration);
            }
            if iteration == self.options.iteration_limit {
                break;
            }
            if !self.advance(x, residual) {
                return evaluator.outcome(Ending::Stagnated, iteration);
            }
            evaluation = evaluator.evaluate(x, residual);
        }
        evaluator.outcome(Ending::IterationLimit, self.options.iteration_limit)
    }
}
