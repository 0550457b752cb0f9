//! `dovetail`: couples simulators so that their interfaces really meet.
//!
//! Exit codes: 0 done; 1 the run ended early (what was computed is kept, and the reason said); 2 misuse or a bad model.

mod arguments;
mod check;
mod compare;
mod enclose;
mod execute;
mod failure;
mod inspect;
mod interrupt;
mod names;
mod output;
mod processes;
mod progress;
mod reference;
mod remedies;
mod rescue;
mod run;
mod words;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if !matches!(arguments.command, Command::Worker) {
        output::reserve();
    }

    let done = match &arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Enclose(arguments) => enclose::enclose(arguments),
        Command::Check(arguments) => check::check(arguments),
        Command::Inspect(arguments) => inspect::inspect(arguments),
        Command::Worker => processes::worker(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "dovetail", &mut script);
            output::print(&String::from_utf8_lossy(&script))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

fn report(failure: &Failure) -> ExitCode {
    if let Some(message) = failure.message() {
        output::complain(&message);
    }
    ExitCode::from(failure.exit_code())
}
