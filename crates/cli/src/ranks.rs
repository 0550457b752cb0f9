//! `--workers mpi`: systems on the ranks that `mpirun` has started.

use std::env::var;

use clap::Parser;
use dovetail::scenario::Placement;

use crate::arguments::{Arguments, Command, with_suggestion};
use crate::failure::Failure;
use crate::processes::Limits;

/// Where `mpirun` tells a process how many there are, and which one it is.
const STARTERS: [(&str, &str); 2] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
];

/// What `mpirun` says of this process.
struct Started {
    size: usize,
    rank: usize,
}

impl Started {
    fn read() -> Option<Self> {
        let number = |name: &str| var(name).ok()?.parse().ok();
        STARTERS.iter().find_map(|(size, rank)| {
            Some(Self {
                size: number(size)?,
                rank: number(rank)?,
            })
        })
    }
}

/// Whether what all ranks find is said by another one.
fn is_said_elsewhere() -> bool {
    Started::read().is_some_and(|started| started.rank > 0)
}

/// What ends with an FMU that does not return.
pub(crate) fn this_process() -> String {
    match Started::read() {
        Some(started) if started.size > 1 => format!("rank {}", started.rank),
        _ => "the program".to_owned(),
    }
}

/// The command line; what is wrong with it is said once.
pub(crate) fn parse_arguments() -> Arguments {
    match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(wrong) if is_said_elsewhere() => std::process::exit(wrong.exit_code()),
        Err(wrong) => with_suggestion(wrong).exit(),
    }
}

/// Carries a command out: on rank 0, or where there are no ranks. Other ranks do what that one wants.
pub(crate) fn carry_out(command: &Command) -> Result<(), Failure> {
    if command.wants_ranks() {
        return on_ranks(command);
    }

    refuse_copies(command)?;
    crate::carry_out(command)
}

/// Refuses to be started several times at once: each would do all the work and write the same files.
fn refuse_copies(command: &Command) -> Result<(), Failure> {
    let copies = Started::read().map_or(1, |started| started.size);
    if copies == 1
        || matches!(
            command,
            Command::Worker { .. } | Command::Completions { .. }
        )
    {
        return Ok(());
    }
    if is_said_elsewhere() {
        return Err(Failure::SaidElsewhere);
    }

    let instead = if command.can_use_ranks() {
        "add --workers mpi to spread the work over the ranks, or leave mpirun away"
    } else {
        "start it without mpirun"
    };
    Err(Failure::misuse(format!(
        "mpirun has started this program {copies} times, and each of them would do the same and \
         write the same files: {instead}"
    )))
}

#[cfg(not(feature = "mpi"))]
mod with_mpi {
    use super::{Command, Failure, Limits, Placement};

    /// Says that there is no MPI.
    pub(crate) fn on_ranks(_command: &Command) -> Result<(), Failure> {
        if super::is_said_elsewhere() {
            return Err(Failure::SaidElsewhere);
        }
        Err(missing())
    }

    /// Nowhere.
    pub(crate) fn placement(
        _orchestrator_only: bool,
        _limits: Limits,
    ) -> Result<Placement, Failure> {
        Err(missing())
    }

    /// There are no other places.
    pub(crate) enum Nobody {}

    impl dovetail::OtherPlaces for Nobody {
        fn count(&self) -> usize {
            match *self {}
        }

        fn start(&mut self, _place: usize, _run: usize) -> std::io::Result<()> {
            match *self {}
        }

        fn finish(&mut self, _place: usize) -> std::io::Result<Vec<u8>> {
            match *self {}
        }
    }

    /// Who makes runs of a sweep beside this process, where that is wanted.
    pub(crate) fn others(wanted: bool) -> Result<Option<Nobody>, Failure> {
        if wanted { Err(missing()) } else { Ok(None) }
    }

    fn missing() -> Failure {
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

    use dovetail::scenario::{Network, RankPlacement, dismiss_ranks, serve_rank};

    use super::{Command, Failure, Limits, Placement};
    use crate::interrupt;
    use crate::sweep::on_ranks::{self, OtherRanks};

    /// Present once MPI is started.
    static NETWORK: OnceLock<&Network> = OnceLock::new();

    fn join() -> &'static Network {
        NETWORK.get_or_init(Network::join)
    }

    /// Carries a command out on rank 0, or serves it.
    pub(crate) fn on_ranks(command: &Command) -> Result<(), Failure> {
        let network = join();
        refuse_strangers(network)?;
        if network.orchestrates() {
            return crate::carry_out(command);
        }

        // Who ends the run is rank 0: a signal that all ranks get changes nothing here.
        interrupt::listen();
        if let Some(shared) = command.shared() {
            shared.limits().hold_here();
        }
        if let Command::Sweep(arguments) = command {
            return on_ranks::serve(arguments, network);
        }
        serve_rank(network).map_err(|error| Failure::EndedEarly(error.to_string()))
    }

    /// Who makes runs of a sweep beside this process, where that is wanted.
    pub(crate) fn others(wanted: bool) -> Result<Option<OtherRanks>, Failure> {
        let others = |network: &'static Network| {
            network.watch(None, interrupt::listen());
            OtherRanks::of(network)
        };
        Ok(wanted.then(|| others(join())))
    }

    /// Refuses ranks that know nothing of one another: each would be the only one.
    fn refuse_strangers(network: &Network) -> Result<(), Failure> {
        let copies = super::Started::read().map_or(1, |started| started.size);
        if copies == 1 || network.size() == copies {
            return Ok(());
        }
        if super::is_said_elsewhere() {
            return Err(Failure::SaidElsewhere);
        }
        Err(Failure::misuse(format!(
            "mpirun has started this program {copies} times, but they do not find one another: start \
             it by the mpirun of the MPI that it was built with"
        )))
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
        if network.has_lost_a_rank() || code == crate::PANICKED {
            dovetail::fmi::end_in_order(code);
            network.abort(code);
        }

        if network.orchestrates() {
            dismiss_ranks(network);
        }
        network.leave();
    }
}

use with_mpi::on_ranks;
pub(crate) use with_mpi::{end, others, placement};
