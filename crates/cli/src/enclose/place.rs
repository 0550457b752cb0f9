//! Where the work of systems is done: here, or on the ranks that `mpirun` has started.

use clap::ValueEnum;
use dovetail::guaranteed::{EnclosureObserver, EnclosureOutcome, Options, Problem, enclose};
use dovetail::scenario::Placement;

use super::arguments::EncloseArguments;
use crate::failure::Failure;
use crate::ranks;
#[cfg(feature = "mpi")]
use crate::remedies;

/// Where the work of systems can be done beside this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncloseWorkers {
    /// On the ranks of an MPI program: mpirun -n R dovetail enclose MODEL --workers mpi
    Mpi,
}

/// Where the work was chosen to be done; refuses what has no meaning there.
pub(super) fn chosen(arguments: &EncloseArguments) -> Result<Placement, Failure> {
    let given = |flag: &str| Err(Failure::misuse(flag));
    match arguments.workers {
        None if arguments.orchestrator_only => {
            given("--orchestrator-only has a meaning with --workers mpi only: there are no ranks")
        }
        None if arguments.step_timeout.is_some() => {
            given("--step-timeout has a meaning with --workers mpi only: nobody else is waited for")
        }
        None => Ok(Placement::SingleThread),
        Some(EncloseWorkers::Mpi) if arguments.worker_threads.is_some() => {
            given("--worker-threads has no meaning with --workers mpi: each rank has one thread")
        }
        Some(EncloseWorkers::Mpi) => {
            ranks::placement(arguments.orchestrator_only, arguments.limits())
        }
    }
}

/// Proves bounds with the work of systems done there.
pub(super) fn prove(
    placement: &Placement,
    problem: &Problem,
    options: &Options,
    watcher: &mut dyn EnclosureObserver,
) -> EnclosureOutcome {
    match placement {
        #[cfg(feature = "mpi")]
        Placement::Ranks(ranks) => {
            dovetail::scenario::enclose_on_ranks(problem, options, *ranks, watcher)
        }
        _ => enclose(problem, options, watcher),
    }
}

/// What of the choice had no effect.
pub(super) fn warning(placement: &Placement, problem: &Problem) -> Option<String> {
    match placement {
        #[cfg(feature = "mpi")]
        Placement::Ranks(ranks) => {
            let notice = ranks.idle_warning(problem.system_names().count())?;
            Some(remedies::with_advice(notice.text, &notice.remedies))
        }
        _ => {
            let _ = problem;
            None
        }
    }
}
