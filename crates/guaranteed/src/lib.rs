//! Guaranteed co-simulation: boxes that contain every trajectory of a coupled model, proved,
//! rounding included.

mod api;
mod boxes;
mod distribution;
mod disturbance;
mod duals;
mod forms;
mod functions;
pub mod interval;
mod loops;
mod margin;
mod observed;
mod places;
mod problem;
mod refusal;
mod requirements;
mod rounding;
mod series;
mod server;
mod shared;
mod system_part;

pub use api::{
    EnclosureObserver, EnclosureOutcome, Integrator, Method, Options, Pieces, StopReason,
};
pub use interval::Interval;
pub use margin::NoMargin;
pub use observed::{Expression, Variable};
pub use places::{BadMessage, PlaceLost, Places};
pub use problem::{Additions, Boxes, Disturbance, Problem};
pub use refusal::ProblemError;
pub use requirements::{Answer, Counterexample, Goal, Judging, Requirement, Verdict};
pub use server::SystemServer;

use distribution::Distribution;

/// Encloses every trajectory of `problem`, reporting each box to `watcher` as it is proved.
pub fn enclose(
    problem: &Problem,
    options: &Options,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    enclose_distributed(problem, options, &Distribution::here(problem), watcher)
}

/// The same, with the work of each system done at the place that is its owner: 0 is here, and each of
/// the others has a [`SystemServer`]. The bounds are the same to the last bit.
pub fn enclose_at(
    problem: &Problem,
    options: &Options,
    owners: &[usize],
    places: Box<dyn Places>,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    let distribution = Distribution::elsewhere(problem, owners, places);
    enclose_distributed(problem, options, &distribution, watcher)
}

fn enclose_distributed(
    problem: &Problem,
    options: &Options,
    distribution: &Distribution,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    let outcome = match options.method {
        Method::SharedSymbols => shared::enclose(problem, options, distribution, watcher),
        Method::Boxes {
            integrator,
            extrapolation,
        } => boxes::enclose(
            problem,
            options,
            integrator,
            extrapolation,
            distribution,
            watcher,
        ),
    };

    // Whatever failed then, this is why.
    let time = outcome.reached;
    let lost = distribution.lost();
    let lost = lost.map(|lost| StopReason::Lost { time, lost });
    EnclosureOutcome {
        stopped: lost.or(outcome.stopped),
        ..outcome
    }
}
