//! `--workers mpi`: systems on the ranks that `mpirun` has started.

use dovetail::scenario::Placement;

use crate::failure::Failure;
use crate::processes::Limits;

#[cfg(not(feature = "mpi"))]
mod with_mpi {
    use super::{Failure, Limits, Placement};

    /// Nowhere.
    pub(crate) fn placement(
        _orchestrator_only: bool,
        _limits: Limits,
    ) -> Result<Placement, Failure> {
        Err(missing())
    }

    /// Says that there is no MPI.
    pub(crate) fn missing() -> Failure {
        Failure::misuse(
            "--workers mpi: this program was built without MPI; build it with --features mpi, or \
             try --workers processes",
        )
    }

    /// There is nothing to end.
    pub(crate) fn end(_code: u8) {}
}

#[cfg(feature = "mpi")]
mod with_mpi {
    use std::sync::OnceLock;

    use dovetail::scenario::{Network, RankPlacement, dismiss_ranks};

    use super::{Failure, Limits, Placement};
    use crate::{failure, interrupt};

    /// Present once MPI is started.
    static NETWORK: OnceLock<&Network> = OnceLock::new();

    /// All ranks; starts MPI where that has not been done.
    pub(crate) fn join() -> &'static Network {
        NETWORK.get_or_init(Network::join)
    }

    /// All ranks, of which this is the first.
    pub(crate) fn placement(orchestrator_only: bool, limits: Limits) -> Result<Placement, Failure> {
        let network = join();
        if orchestrator_only && network.size() == 1 {
            return Err(Failure::misuse(
                "--orchestrator-only needs two ranks at least, one of them for the systems: \
                 mpirun -n 2 dovetail ...",
            ));
        }

        network.watch(limits.time, interrupt::listen());
        Ok(Placement::Ranks(RankPlacement {
            network,
            orchestrator_only,
        }))
    }

    /// Ends all ranks, each in order where they can still be asked to.
    pub(crate) fn end(code: u8) {
        let Some(network) = NETWORK.get() else { return };
        if network.has_lost_a_rank() || code == failure::PANICKED {
            dovetail::fmi::end_in_order(code);
            network.abort(code);
        }

        if network.orchestrates() {
            dismiss_ranks(network);
        }
        network.leave();
    }
}

#[cfg(feature = "mpi")]
pub(crate) use with_mpi::join;
#[cfg(not(feature = "mpi"))]
pub(crate) use with_mpi::missing;
pub(crate) use with_mpi::{end, placement};
