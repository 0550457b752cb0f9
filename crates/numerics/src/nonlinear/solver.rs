//! What solvers and their problems have in common.

/// Equations `F(x) = 0` whose evaluation is what costs.
pub trait Equations {
    /// The number of unknowns, and of equations.
    fn size(&self) -> usize;

    /// Writes `F(x)`; false if it could not be evaluated (the problem keeps the reason itself).
    fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> bool;

    /// Whether every component of `residual` is small enough at `x`.
    fn converged(&self, x: &[f64], residual: &[f64]) -> bool;

    /// Writes what one unit of each unknown, and of its residual, counts in the solver's norms;
    /// positive.
    ///
    /// The reciprocal of the tolerance is a good choice where units differ. Asked once per solve,
    /// at its start.
    fn weights(&self, _x: &[f64], weights: &mut [f64]) {
        weights.fill(1.0);
    }
}

/// A way to solve [`Equations`] of the size it was made for.
pub trait NonlinearSolver {
    /// What the method is called in options and reports.
    fn name(&self) -> &'static str;

    /// Solves from `x`, where `residual` already holds `F(x)` if `residual_known`.
    ///
    /// Unless the ending is [`Ending::Failed`], `x` and `residual` belong together afterwards.
    fn solve_from(
        &mut self,
        equations: &mut dyn Equations,
        x: &mut [f64],
        residual: &mut [f64],
        residual_known: bool,
    ) -> SolveOutcome;

    /// What it keeps from solve to solve, as numbers; empty if that is nothing.
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Keeps what [`memory`](Self::memory) gave; false if that is of another size.
    fn recall(&mut self, memory: &[f64]) -> bool {
        memory.is_empty()
    }

    /// Solves from `x`; `residual` is only written.
    fn solve(
        &mut self,
        equations: &mut dyn Equations,
        x: &mut [f64],
        residual: &mut [f64],
    ) -> SolveOutcome {
        self.solve_from(equations, x, residual, false)
    }
}

/// How a solve ended and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolveOutcome {
    /// Why the solver stopped.
    pub ending: Ending,
    /// Steps of the method; what a step is differs between methods.
    pub iterations: usize,
    /// Calls of [`Equations::evaluate`] made by this solve.
    pub evaluations: usize,
    /// Whether the last evaluation, be it the caller's own, was made at the `x` returned.
    pub at_last_evaluation: bool,
}

impl SolveOutcome {
    /// Whether the equations called the result converged.
    pub fn converged(&self) -> bool {
        self.ending == Ending::Converged
    }
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// The equations called `x` and its residual converged.
    Converged,
    /// The iterations allowed are used up.
    IterationLimit,
    /// The residual grows.
    Diverged,
    /// The method finds no further improvement.
    Stagnated,
    /// An evaluation was refused or not finite.
    Failed,
}
