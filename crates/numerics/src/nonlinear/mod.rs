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
mod solver;
mod stagnation;
mod vector;

pub use anderson::{Anderson, AndersonOptions};
pub use fixed_point::{FixedPoint, FixedPointOptions};
pub use newton::{Newton, NewtonOptions};
pub use ngmres::{Ngmres, NgmresOptions, Selection};
pub use quasi_newton::{QuasiNewton, QuasiNewtonOptions};
pub use solver::{Ending, Equations, NonlinearSolver, SolveOutcome};
