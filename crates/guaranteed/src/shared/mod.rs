//! The engine's own enclosures: affine sets whose symbols all systems share.
//!
//! Exchanging boxes loses how systems depend on one another, and with it all that damps the coupled
//! whole. Here the systems exchange Taylor coefficients as affine forms, order by order, and what
//! cannot be expressed is one number for each state.

mod buffered;
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
mod pieces;
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
mod usefulness;

use crate::api::{EnclosureObserver, EnclosureOutcome, Options};
use crate::distribution::Distribution;
use crate::problem::Problem;

use time_loop::Enclosed;

pub(crate) use place::FieldPlace;

/// Encloses every trajectory of `problem`.
pub(crate) fn enclose(
    problem: &Problem,
    options: &Options,
    distribution: &Distribution,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    match pieces::Cutting::of(problem, options.pieces) {
        Some(cutting) => cutting.enclose(problem, options, distribution, watcher),
        None => in_one_piece(problem, options, distribution, watcher).outcome,
    }
}

/// Encloses every trajectory of `problem`, whatever its boxes are.
fn in_one_piece(
    problem: &Problem,
    options: &Options,
    distribution: &Distribution,
    watcher: &mut dyn EnclosureObserver,
) -> Enclosed {
    cooperative::enclose(problem, options, distribution, watcher)
        .unwrap_or_else(|| single::enclose(problem, options, distribution, watcher))
}
