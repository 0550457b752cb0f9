//! The engine's own enclosures: affine sets whose symbols all systems share.
//!
//! Exchanging boxes loses how systems depend on one another, and with it all that damps the coupled whole. Here the systems
//! exchange Taylor coefficients as affine forms, order by order, and what cannot be expressed is one number for each state.

mod building;
mod closing;
mod cooperative;
mod linear;
mod majorant;
mod outputs;
mod proof;
mod reading;
mod reduction;
mod run;
mod set;
mod single;
mod walk;

use crate::api::{Options, Outcome, Watcher};
use crate::problem::Problem;

/// Encloses every trajectory of `problem`.
pub(crate) fn enclose(problem: &Problem, options: &Options, watcher: &mut dyn Watcher) -> Outcome {
    cooperative::enclose(problem, options, watcher)
        .unwrap_or_else(|| single::enclose(problem, options, watcher))
}
