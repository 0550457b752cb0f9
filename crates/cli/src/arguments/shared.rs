//! What a run and a comparison share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use dovetail::fmi::CallLog;
use dovetail::report::interval_problem;
use dovetail::scenario::{Choices, Placement, RunOptions, Scenario};

use super::changes::ChangeArguments;
use super::files::{check_distinct, create_log, is_archive, is_model, refuse_to_replace};
use super::heading;
use super::values::{byte_count, seconds, thread_count};
use crate::failure::Failure;
use crate::output;
use crate::processes::{self, Limits};
use crate::ranks;

/// What a run and a comparison share.
#[derive(Debug, Args)]
pub(crate) struct SharedArguments {
    #[command(flatten)]
    pub changes: ChangeArguments,

    /// Where the systems run [default: auto]
    #[arg(long, value_name = "W", help_heading = heading::WORKERS)]
    pub workers: Option<WorkersArgument>,

    /// Spread the systems over N threads, at most one for each system; implies --workers threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true, help_heading = heading::WORKERS)]
    pub worker_threads: Option<NonZeroUsize>,

    /// With --workers mpi: rank 0 reads the model, orchestrates and writes results, and runs no system
    #[arg(long, help_heading = heading::WORKERS)]
    pub orchestrator_only: bool,

    /// End the run when a system takes longer than this for a step, or an FMU for a call, from the first one on [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = heading::WORKERS)]
    pub step_timeout: Option<Duration>,

    /// The memory that a process with an FMU may have, also while it is tried out, such as 500M or 2G [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = byte_count, help_heading = heading::WORKERS)]
    pub memory_limit: Option<u64>,

    /// Find the error by running again: with half and a quarter of the step, or with a tenth of the tolerance
    #[arg(long, help_heading = heading::RESULTS)]
    pub verify: bool,

    /// Record these variables only (a pattern with * and ?); repeatable
    #[arg(long, value_name = "GLOB", help_heading = heading::RESULTS)]
    pub record: Vec<String>,

    /// Write the results to a file, or with - to standard output
    #[arg(long, short, value_name = "FILE.csv|FILE.parquet|FILE.mat|-", help_heading = heading::RESULTS)]
    pub output: Option<PathBuf>,

    /// Write a row every H instead of one for each communication time
    #[arg(long, value_name = "H", allow_negative_numbers = true, help_heading = heading::RESULTS)]
    pub output_interval: Option<f64>,

    /// Write the units in a second line of the CSV file
    #[arg(long, help_heading = heading::RESULTS)]
    pub output_units: bool,

    /// Write every call of a function of an FMU to a file, with its arguments and status
    #[arg(long, value_name = "FILE", help_heading = heading::FMUS)]
    pub log_fmi_calls: Option<PathBuf>,

    /// Write a page with plots of the results
    #[arg(long, value_name = "FILE.html", help_heading = heading::RESULTS)]
    pub report: Option<PathBuf>,

    /// Say in detail what was done, and how the quality is known
    #[arg(long, short, conflicts_with = "quiet", help_heading = heading::RESULTS)]
    pub verbose: bool,

    /// Print errors only
    #[arg(long, short, help_heading = heading::RESULTS)]
    pub quiet: bool,

    /// Print the summary as JSON
    #[arg(long, help_heading = heading::RESULTS)]
    pub json: bool,
}

/// Where systems can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkersArgument {
    /// In a single thread, or in several where that is found to be faster in the first steps
    Auto,
    /// In threads of this program
    Threads,
    /// Each in a process of its own, so that an FMU that crashes, exits or hangs takes nothing with it
    Processes,
    /// On the ranks of an MPI program: mpirun -n R dovetail run MODEL --workers mpi
    Mpi,
}

impl SharedArguments {
    /// Reads the model with the changes made.
    pub fn load(&self, model: &Path) -> Result<Scenario, Failure> {
        self.load_for(model, false)
    }

    /// The same for a run that may go on from a checkpoint for longer, where it is `open_ended`.
    pub fn load_for(&self, model: &Path, open_ended: bool) -> Result<Scenario, Failure> {
        // What cannot be is said before FMUs are tried out.
        self.placement()?;
        output::check_endings(self.output.as_deref(), self.report.as_deref())?;

        if self.json && self.writes_to_standard_output() {
            return Err(Failure::misuse(
                "--json and --output - both write to standard output: choose one",
            ));
        }

        let fmi_log = self.start_log(model)?;
        self.changes
            .load_for(model, &self.record, self.limits(), fmi_log, open_ended)
    }

    /// Whether results go to standard output.
    pub fn writes_to_standard_output(&self) -> bool {
        self.output.as_deref().is_some_and(output::is_standard)
    }

    /// The page to be written, where one is wanted.
    pub fn page(&self) -> Result<Option<output::Page>, Failure> {
        output::Page::wanted(self.report.as_deref())
    }

    /// Whether the log of calls would be the file of the results.
    fn logs_over_results(&self) -> bool {
        [&self.output, &self.report].contains(&&self.log_fmi_calls)
    }

    /// Starts the log of calls, where one is wanted, before FMUs are tried out; but not over what
    /// [`check`](Self::check) may yet find to be the model, an FMU of it or a file of results.
    fn start_log(&self, model: &Path) -> Result<Option<PathBuf>, Failure> {
        let Some(path) = &self.log_fmi_calls else {
            return Ok(None);
        };
        if self.logs_over_results() || is_model(model, path) || is_archive(path) {
            return Ok(None);
        }

        create_log(path)?;
        // FMUs may change the working directory.
        let absolute =
            std::path::absolute(path).map_err(|error| Failure::cannot_write(path, error))?;
        Ok(Some(absolute))
    }

    /// How to run `scenario` with these choices, and where.
    pub fn options(&self, scenario: &Scenario, choices: &Choices) -> Result<RunOptions, Failure> {
        let placement = self.placement()?;
        if !matches!(placement, Placement::Processes(_)) && !scenario.units().is_empty() {
            self.limits().hold_here();
        }
        // It was started before FMUs were tried out.
        let go_on =
            |path: &Path| CallLog::append(path).map_err(|error| Failure::cannot_write(path, error));
        let fmi_log = self.log_fmi_calls.as_deref().map(go_on).transpose()?;

        Ok(RunOptions {
            placement,
            fmi_log,
            ..scenario.options(choices)?
        })
    }

    /// What FMUs may use of time and memory.
    pub fn limits(&self) -> Limits {
        Limits {
            time: self.step_timeout,
            memory: self.memory_limit,
        }
    }

    fn placement(&self) -> Result<Placement, Failure> {
        if self.orchestrator_only && self.workers != Some(WorkersArgument::Mpi) {
            return Err(Failure::misuse(
                "--orchestrator-only has a meaning with --workers mpi only: there are no ranks",
            ));
        }

        match (self.workers, self.worker_threads) {
            (Some(WorkersArgument::Auto) | None, None) => Ok(Placement::Auto),
            (Some(WorkersArgument::Auto), Some(_)) => Err(Failure::misuse(
                "--worker-threads goes with --workers threads: auto finds the number by itself",
            )),
            (Some(WorkersArgument::Threads) | None, threads) => Ok(Placement::Threads(threads)),
            (Some(WorkersArgument::Processes), None) => processes::placement(self.limits()),
            (Some(WorkersArgument::Mpi), None) => {
                ranks::placement(self.orchestrator_only, self.limits())
            }
            (Some(WorkersArgument::Mpi), Some(_)) => Err(Failure::misuse(
                "--worker-threads has no meaning with --workers mpi: each rank has one thread",
            )),
            (Some(WorkersArgument::Processes), Some(_)) => Err(Failure::misuse(
                "--worker-threads has no meaning with --workers processes: each system has its own",
            )),
        }
    }

    fn check_units_line(&self) -> Result<(), Failure> {
        let is_csv = |path: &PathBuf| {
            !["mat", "parquet"]
                .iter()
                .any(|e| output::has_ending(path, e))
        };
        if self.output_units && !self.output.as_ref().is_some_and(is_csv) {
            return Err(Failure::misuse(
                "--output-units needs --output with a CSV file: units are a second line of it",
            ));
        }
        Ok(())
    }

    /// Refuses what no run of `scenario`, read from `model`, can do.
    pub fn check(&self, model: &Path, scenario: &Scenario) -> Result<(), Failure> {
        check_interval(self.output_interval, scenario)?;
        if self.output_interval.is_some() && self.output.is_none() {
            let message =
                "--output-interval needs --output: without a file there are no rows to space out";
            return Err(Failure::misuse(message));
        }

        self.check_units_line()?;
        for path in [&self.output, &self.report, &self.log_fmi_calls]
            .into_iter()
            .flatten()
        {
            refuse_to_replace(model, scenario, path)?;
        }

        if self.log_fmi_calls.is_some() && self.logs_over_results() {
            return Err(Failure::misuse(
                "--log-fmi-calls names the file of the results",
            ));
        }

        check_distinct(self.output.as_deref(), self.report.as_deref())?;
        match &self.log_fmi_calls {
            Some(path) if is_archive(path) => create_log(path),
            _ => Ok(()),
        }
    }
}

/// Refuses intervals that are none, and those that would fill the disk.
pub(crate) fn check_interval(interval: Option<f64>, scenario: &Scenario) -> Result<(), Failure> {
    let (start, stop) = (scenario.start_time, scenario.stop_time);
    let problem = interval.and_then(|interval| interval_problem(interval, start, stop));
    problem.map_or(Ok(()), |problem| {
        Err(Failure::misuse(format!("--output-interval {problem}")))
    })
}
