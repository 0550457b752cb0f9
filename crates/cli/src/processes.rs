//! `--workers processes`: systems in processes of this very program.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dovetail::scenario::{
    Placement, ProcessPool, RunOptions, Scenario, helpers as helpers_of, serve_worker,
};

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::failure::Failure;
use crate::{housekeeping, interrupt};

/// The hidden command that such a process is started with.
const COMMAND: &str = "worker";

/// What FMUs may use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// So long a step may take, or a call.
    pub time: Option<Duration>,
    /// So many bytes a process may have.
    pub memory: Option<u64>,
}

/// A step may take so long while a model is checked.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

impl Limits {
    /// While a model is checked, nobody waits for ever.
    pub fn of_check() -> Self {
        Self {
            time: Some(CHECK_LIMIT),
            memory: None,
        }
    }

    /// Those of calls in this very process.
    pub fn hold_here(self) {
        if let Some(limit) = self.time {
            housekeeping::limit_calls(limit);
        }
        if let Some(bytes) = self.memory {
            limit_memory(bytes);
        }
    }
}

/// No more memory than this for the whole process.
fn limit_memory(bytes: u64) {
    let limit = Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    let _ = setrlimit(Resource::Data, limit);
}

/// What a process is started with.
fn arguments(limits: Limits) -> Vec<String> {
    let memory = limits.memory.map(|bytes| format!("--memory-limit={bytes}"));
    [COMMAND.to_owned()].into_iter().chain(memory).collect()
}

/// Each system in a process of its own, within limits.
pub(crate) fn placement(limits: Limits) -> Result<Placement, Failure> {
    placement_until(limits, interrupt::listen())
}

/// The same for a run that ends when this flag is raised.
pub(crate) fn placement_until(
    limits: Limits,
    interrupted: &'static AtomicBool,
) -> Result<Placement, Failure> {
    let program = std::env::current_exe().map_err(cannot_find_itself)?;
    let arguments = arguments(limits);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Ok(Placement::processes(
        program,
        &arguments,
        limits.time,
        interrupted,
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
    limits: Limits,
) -> Result<RunOptions, Failure> {
    let elsewhere = matches!(options.placement, Placement::Processes(_));
    if !again || elsewhere || !scenario.has_single_instances() {
        return Ok(options);
    }
    #[cfg(feature = "mpi")]
    if let Placement::Ranks(_) = options.placement {
        return Err(Failure::misuse(
            "an FMU of the model can be used only once in a process, and ranks make it anew for every run: \
             try --workers processes",
        ));
    }

    Ok(RunOptions {
        placement: placement(limits)?,
        ..options
    })
}

/// Processes in which FMUs are tried out, each thing within the limits; none where this program cannot find itself.
pub(crate) fn helpers(limits: Limits) -> Option<ProcessPool> {
    helpers_until(limits, interrupt::listen())
}

/// The same until this flag is raised.
pub(crate) fn helpers_until(
    limits: Limits,
    interrupted: &'static AtomicBool,
) -> Option<ProcessPool> {
    let program = std::env::current_exe().ok()?;
    let arguments = arguments(limits);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Some(helpers_of(program, &arguments, limits.time, interrupted))
}

/// `dovetail worker`: the life of such a process.
pub(crate) fn worker(memory: Option<u64>) -> Result<(), Failure> {
    if let Some(bytes) = memory {
        limit_memory(bytes);
    }
    serve_worker().map_err(|error| {
        let message = format!(
            "`dovetail {COMMAND}` is for --workers processes to start, not for people ({error})"
        );
        Failure::misuse(message)
    })
}
