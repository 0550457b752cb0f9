//! Guaranteed co-simulation: boxes that contain every trajectory of a coupled model, proved,
//! rounding included.

mod api;
mod boxes;
mod duals;
mod forms;
mod functions;
pub mod interval;
mod loops;
mod problem;
mod refusal;
mod rounding;
mod series;
mod shared;

pub use api::{EnclosureObserver, EnclosureOutcome, Integrator, Method, Options, StopReason};
pub use interval::Interval;
pub use problem::{Boxes, Problem};
pub use refusal::ProblemError;

/// Encloses every trajectory of `problem`, reporting each box to `watcher` as it is proved.
pub fn enclose(
    problem: &Problem,
    options: &Options,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    match options.method {
        Method::SharedSymbols => shared::enclose(problem, options, watcher),
        Method::Boxes {
            integrator,
            extrapolation,
        } => boxes::enclose(problem, options, integrator, extrapolation, watcher),
    }
}
