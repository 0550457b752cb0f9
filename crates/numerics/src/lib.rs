//! Numerics that know nothing of co-simulation.
//!
//! - [`Lu`]: dense factorization in place, real or complex;
//! - [`PatternLu`]: a matrix of fixed pattern, dense or sparse, factored again and again;
//! - [`PhiFunctions`], [`LinearStep`]: the exact response of `x' = A x + Σ_p b_p τ^p`;
//!   [`Transfer`]: that of its outputs; [`OperatorRows`]: the same, as plain numbers;
//! - [`Integrator`]: `x' = f(t, x)` to a tolerance, explicit (Dormand–Prince 8(5,3)) while that is
//!   cheap, implicit (Radau IIA of order 9) where the problem is stiff;
//! - [`eigenvalues`] of a general real matrix;
//! - [`nonlinear`]: `F(x) = 0` without a Jacobian, in few evaluations.
//!
//! Every solver owns its workspace: it is created once for a size and allocates nothing afterwards.
//! Results depend on the arguments alone, never on earlier calls.

mod attempt;
mod balance;
mod collocation;
mod columns;
mod dense;
mod dop853;
mod dop853_coefficients;
mod eigenvalues;
mod gaver_stehfest;
mod initial_step;
mod integrate;
mod linear_step;
pub mod nonlinear;
mod operator_rows;
mod phi;
mod phi_rows;
mod product;
mod progress;
mod radau;
mod radau_coefficients;
mod radau_stages;
mod rhs;
mod root;
mod sparse;
mod spectral;
mod state_space;
mod stiffness;
mod tolerance;
mod transfer;

pub use dense::{Lu, Scalar, Singular};
pub use eigenvalues::eigenvalues;
pub use gaver_stehfest::Pole;
pub use integrate::{Hint, IntegrationError, Integrator, Outcome};
pub use linear_step::LinearStep;
pub use operator_rows::{OperatorRows, RowSizes};
pub use phi::{PhiFunctions, exponential};
pub use rhs::{FromFn, Rhs, finite_differences, from_fn};
pub use root::bracketed_root;
pub use sparse::{PatternLu, SingularMatrix};
pub use spectral::{exponential_rounding, spectral_bound};
pub use state_space::{Gains, StateSpace};
pub use tolerance::Tolerance;
pub use transfer::{Laplace, Transfer};
