//! `dovetail`: couples simulators so that their interfaces really meet.
//!
//! Exit codes: 0 done; 1 the run ended early (what was computed is kept, and the reason said); 2 misuse or a bad model.

mod arguments;
mod check;
mod command_line;
mod compare;
mod dispatch;
mod enclose;
mod execute;
mod export;
mod failure;
mod fit;
mod housekeeping;
mod inspect;
mod interrupt;
mod launch;
mod linearize;
mod live;
mod made_from;
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
mod resumed;
mod run;
mod schema;
mod ssp;
mod sweep;
mod words;

use std::panic::catch_unwind;
use std::process::ExitCode;

use command_line::Command;
use failure::Failure;

fn main() -> ExitCode {
    let arguments = dispatch::parse_arguments();
    dovetail::fmi::ignore_file_limit();
    if arguments.command.is_supervised() {
        dovetail::fmi::supervise(arguments.command.advice_after_exit());
    }
    if !matches!(arguments.command, Command::Worker { .. }) {
        output::reserve();
    }

    let code = catch_unwind(|| match dispatch::carry_out(&arguments.command) {
        Ok(()) => 0,
        Err(failure) => report(&failure),
    });
    let code = code.unwrap_or(failure::PANICKED);
    ranks::end(code);
    dovetail::fmi::end_in_order(code);
    ExitCode::from(code)
}

fn report(failure: &Failure) -> u8 {
    if let Some(message) = failure.message() {
        output::complain(&message);
    }
    failure.exit_code()
}
