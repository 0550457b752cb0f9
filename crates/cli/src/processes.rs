//! `--workers processes`: systems in processes of this very program.

use std::time::Duration;

use dovetail::scenario::{
    Placement, ProcessPool, RunOptions, Scenario, helpers as helpers_of, serve_worker,
};

use crate::failure::Failure;
use crate::interrupt;

/// The hidden command that such a process is started with.
const COMMAND: &str = "worker";

/// Each system in a process of its own, which has so long for a step.
pub(crate) fn placement(limit: Option<Duration>) -> Result<Placement, Failure> {
    let program = std::env::current_exe().map_err(cannot_find_itself)?;
    Ok(Placement::processes(
        program,
        &[COMMAND],
        limit,
        interrupt::listen(),
    ))
}

fn cannot_find_itself(error: std::io::Error) -> Failure {
    let message = format!("--workers processes: this program cannot find itself: {error}");
    Failure::misuse(message)
}

/// The same options; in processes where runs follow one another and an FMU can be instantiated only once in each.
pub(crate) fn if_instances_are_single(
    options: RunOptions,
    scenario: &Scenario,
    again: bool,
    limit: Option<Duration>,
) -> Result<RunOptions, Failure> {
    let elsewhere = matches!(options.placement, Placement::Processes(_));
    if !again || elsewhere || !scenario.has_single_instances() {
        return Ok(options);
    }

    Ok(RunOptions {
        placement: placement(limit)?,
        ..options
    })
}

/// Processes in which FMUs are tried out, each thing within the limit; none where this program cannot find itself.
pub(crate) fn helpers(limit: Option<Duration>) -> Option<ProcessPool> {
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
