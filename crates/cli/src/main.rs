//! `dovetail`: couples simulators so that their interfaces really meet.
//!
//! Exit codes: 0 done; 1 the run ended early (what was computed is kept, and the reason said); 2 misuse or a bad model.

mod arguments;
mod check;
mod compare;
mod enclose;
mod execute;
mod export;
mod failure;
mod fit;
mod housekeeping;
mod inspect;
mod interrupt;
mod linearize;
mod man;
mod names;
mod new;
mod origin;
mod output;
mod paint;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod plot;
mod processes;
mod progress;
mod ranks;
mod reference;
mod remedies;
mod reproduce;
mod rescue;
mod resume;
mod run;
mod schema;
mod sweep;
mod words;

use std::panic::catch_unwind;
use std::process::ExitCode;

use clap::CommandFactory;

use arguments::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    let arguments = ranks::parse_arguments();
    dovetail::fmi::ignore_file_limit();
    if arguments.command.is_supervised() {
        dovetail::fmi::supervise(remedies::after_exit(&arguments.command));
    }
    if !matches!(arguments.command, Command::Worker { .. }) {
        output::reserve();
    }

    let code = catch_unwind(|| match ranks::carry_out(&arguments.command) {
        Ok(()) => 0,
        Err(failure) => report(&failure),
    });
    let code = code.unwrap_or(PANICKED);
    ranks::end(code);
    dovetail::fmi::end_in_order(code);
    ExitCode::from(code)
}

/// The exit code of a program with a mistake of ours.
const PANICKED: u8 = 101;

fn carry_out(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Resume(arguments) => resume::resume(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Sweep(arguments) => sweep::sweep(arguments),
        Command::Fit(arguments) => fit::fit(arguments),
        Command::Enclose(arguments) => enclose::enclose(arguments),
        Command::Linearize(arguments) => linearize::linearize(arguments),
        Command::Export(arguments) => export::export(arguments),
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

fn report(failure: &Failure) -> u8 {
    if let Some(message) = failure.message() {
        output::complain(&message);
    }
    failure.exit_code()
}
