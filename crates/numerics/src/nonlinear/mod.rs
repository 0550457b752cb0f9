//! Systems of equations `F(x) = 0` whose evaluation is what costs.
//!
//! - [`FixedPoint`]: `x ← x − F(x)`, where that contracts;
//! - [`Anderson`]: the same, mixed with what earlier steps have shown;
//! - [`Ngmres`]: nonlinear GMRES, which tries the best combination of earlier points after every
//!   step;
//! - [`Newton`]: Newton's method with matrix-free GMRES and backtracking.
//!
//! All are Jacobian-free and meant for 1 to 50 unknowns: evaluations are counted and saved,
//! arithmetic is not. Convergence is the equations' own verdict, asked after every evaluation. A
//! solver owns its workspace, is deterministic and, but for [`QuasiNewton`], forgets everything
//! between two calls.

mod anderson;
mod evaluator;
mod fixed_point;
mod history;
mod krylov;
mod least_squares;
mod line_search;
mod newton;
mod ngmres;
mod quasi_newton;
mod stagnation;
mod vector;

pub use anderson::{Anderson, AndersonOptions};
pub use fixed_point::{FixedPoint, FixedPointOptions};
pub use newton::{Newton, NewtonOptions};
pub use ngmres::{Ngmres, NgmresOptions, Selection};
pub use quasi_newton::{QuasiNewton, QuasiNewtonOptions};

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
    ) -> Outcome;

    /// Solves from `x`; `residual` is only written.
    fn solve(
        &mut self,
        equations: &mut dyn Equations,
        x: &mut [f64],
        residual: &mut [f64],
    ) -> Outcome {
        self.solve_from(equations, x, residual, false)
    }
}

/// How a solve ended and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Why the solver stopped.
    pub ending: Ending,
    /// Steps of the method; what a step is differs between methods.
    pub iterations: usize,
    /// Calls of [`Equations::evaluate`] made by this solve.
    pub evaluations: usize,
    /// Whether the last evaluation, be it the caller's own, was made at the `x` returned.
    pub at_last_evaluation: bool,
}

impl Outcome {
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
