//! `--workers processes`: systems in processes of this very program.

use std::time::Duration;

use dovetail::scenario::{Fleet, Placement, helpers as helpers_of, serve_worker};

use crate::failure::Failure;
use crate::interrupt;

/// The hidden command that such a process is started with.
const COMMAND: &str = "worker";

/// Each system in a process of its own, which has so long for a step.
pub(crate) fn placement(limit: Option<Duration>) -> Result<Placement, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::misuse(format!(
            "--workers processes: this program cannot find itself: {error}"
        ))
    })?;
    Ok(Placement::processes(
        program,
        &[COMMAND],
        limit,
        interrupt::listen(),
    ))
}

/// Processes in which FMUs are tried out, each thing within the limit; none where this program cannot find itself.
pub(crate) fn helpers(limit: Option<Duration>) -> Option<Fleet> {
    let program = std::env::current_exe().ok()?;
    Some(helpers_of(program, &[COMMAND], limit, interrupt::listen()))
}

/// `dovetail worker`: the life of such a process.
pub(crate) fn worker() -> Result<(), Failure> {
    serve_worker().map_err(|error| {
        let message = format!(
            "`dovetail {COMMAND}` is for --workers processes to start, not for people ({error})"
        );
        Failure::misuse(message)
    })
}
