//! Which command is carried out, and where: on rank 0 of an MPI program, or in this process alone.

use clap::{CommandFactory, Parser};

use crate::command_line::{Arguments, Command, with_suggestion};
use crate::failure::Failure;
use crate::launch::{copies, is_said_elsewhere};
use crate::{
    check, compare, enclose, export, fit, inspect, linearize, live, man, new, output, processes,
    reproduce, resume, run, schema, ssp, sweep,
};

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
    carry_out_here(command)
}

fn carry_out_here(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Live(arguments) => live::live(arguments),
        Command::Resume(arguments) => resume::resume(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Sweep(arguments) => sweep::sweep(arguments),
        Command::Fit(arguments) => fit::fit(arguments),
        Command::Enclose(arguments) => enclose::enclose(arguments),
        Command::Linearize(arguments) => linearize::linearize(arguments),
        Command::Export(arguments) => export::export(arguments),
        Command::Ssp(arguments) => ssp::write(arguments),
        Command::Check(arguments) => check::check(arguments),
        Command::Inspect(arguments) => inspect::inspect(arguments),
        Command::New(arguments) => new::new(arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(arguments),
        Command::Schema => schema::print(),
        Command::Man { folder } => man::write(folder),
        Command::Worker { memory_limit } => processes::worker(*memory_limit),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "dovetail", &mut script);
            output::print(&String::from_utf8_lossy(&script))
        }
    }
}

/// Refuses to be started several times at once: each would do all the work and write the same files.
fn refuse_copies(command: &Command) -> Result<(), Failure> {
    let copies = copies();
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
fn on_ranks(_command: &Command) -> Result<(), Failure> {
    if is_said_elsewhere() {
        return Err(Failure::SaidElsewhere);
    }
    Err(crate::ranks::missing())
}

/// Carries a command out on rank 0, or serves it.
#[cfg(feature = "mpi")]
fn on_ranks(command: &Command) -> Result<(), Failure> {
    let network = crate::ranks::join();
    refuse_strangers(network)?;
    if network.orchestrates() {
        return carry_out_here(command);
    }

    // Who ends the run is rank 0: a signal that all ranks get changes nothing here.
    crate::interrupt::listen();
    if let Some(shared) = command.shared() {
        shared.limits().hold_here();
    }
    if let Command::Sweep(arguments) = command {
        return sweep::on_ranks::serve(arguments, network);
    }
    let served = dovetail::scenario::serve_rank(network);
    served.map_err(|error| Failure::EndedEarly(error.to_string()))
}

/// Refuses ranks that know nothing of one another: each would be the only one.
#[cfg(feature = "mpi")]
fn refuse_strangers(network: &dovetail::scenario::Network) -> Result<(), Failure> {
    let copies = copies();
    if copies == 1 || network.size() == copies {
        return Ok(());
    }
    if is_said_elsewhere() {
        return Err(Failure::SaidElsewhere);
    }
    Err(Failure::misuse(format!(
        "mpirun has started this program {copies} times, but they do not find one another: start \
         it by the mpirun of the MPI that it was built with"
    )))
}
