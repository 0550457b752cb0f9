//! The engine's own enclosures: affine sets whose symbols all systems share.
//!
//! Exchanging boxes loses how systems depend on one another, and with it all that damps the coupled
//! whole. Here the systems exchange Taylor coefficients as affine forms, order by order, and what
//! cannot be expressed is one number for each state.

mod building;
mod cooperative;
mod field;
mod flowpipe;
mod jacobian;
mod linear;
mod loop_unknowns;
mod majorant;
mod modal;
mod observer;
mod outputs;
mod place;
mod polynomial;
mod proof;
mod questions;
mod reading;
mod reduction;
mod set;
mod single;
mod stepper;
mod system_fields;
mod time_loop;

use crate::api::{EnclosureObserver, EnclosureOutcome, Options};
use crate::distribution::Distribution;
use crate::problem::Problem;

pub(crate) use place::FieldPlace;

/// Encloses every trajectory of `problem`.
pub(crate) fn enclose(
    problem: &Problem,
    options: &Options,
    distribution: &Distribution,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    cooperative::enclose(problem, options, distribution, watcher)
        .unwrap_or_else(|| single::enclose(problem, options, distribution, watcher))
}
