//! Checkpoints, and runs that go on from one.

use std::path::{Path, PathBuf};

use clap::Args;
use dovetail::RunCheckpoint;
use dovetail::scenario::Scenario;

use super::files::refuse_to_replace;
use super::heading;
use super::run::RunArguments;
use super::shared::WorkersArgument;
use crate::failure::Failure;
use crate::output;

/// Without an interval there are so many checkpoints in a run.
const USUAL_COUNT: f64 = 10.0;

/// Where checkpoints go, and how often.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CheckpointArguments {
    /// Write all that the run needs to go on to a file, again and again and where it ends; dovetail resume goes on from there
    #[arg(long, value_name = "FILE", help_heading = heading::CHECKPOINTS)]
    pub checkpoint: Option<PathBuf>,

    /// Write it at the first communication time after each T of simulated time [default: a tenth of the run]
    #[arg(
        long,
        value_name = "T",
        requires = "checkpoint",
        allow_negative_numbers = true,
        help_heading = heading::CHECKPOINTS
    )]
    pub checkpoint_interval: Option<f64>,
}

impl CheckpointArguments {
    /// The simulated time between two checkpoints.
    pub fn interval(&self, scenario: &Scenario) -> f64 {
        let usual = (scenario.stop_time - scenario.start_time) / USUAL_COUNT;
        self.checkpoint_interval.unwrap_or(usual)
    }

    /// Refuses intervals that are none, and a file that is something else or cannot be written; `others` are files that are
    /// written too.
    pub fn check(
        &self,
        model: &Path,
        scenario: &Scenario,
        others: [Option<&Path>; 3],
    ) -> Result<(), Failure> {
        let Some(path) = &self.checkpoint else {
            return Ok(());
        };
        let interval = self.interval(scenario);
        if !(interval > 0.0 && interval.is_finite()) {
            return Err(Failure::misuse(format!(
                "--checkpoint-interval must be a number above zero, not {interval}"
            )));
        }

        refuse_to_replace(model, scenario, path)?;
        if others.contains(&Some(path.as_path())) {
            return Err(Failure::misuse(format!(
                "--checkpoint {}: the same file is to hold something else",
                path.display()
            )));
        }
        let writable = RunCheckpoint::check_path(&output::from_home(path));
        writable.map_err(|error| Failure::cannot_write(path, error))
    }
}

impl RunArguments {
    /// Refuses checkpoints that cannot be written.
    pub fn check_checkpoints(&self, scenario: &Scenario) -> Result<(), Failure> {
        let shared = &self.shared;
        let others = [&shared.output, &shared.report, &shared.log_fmi_calls];
        let others = others.map(|path| path.as_deref());
        self.checkpoints.check(&self.model, scenario, others)
    }
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The checkpoint, as run --checkpoint has written it
    pub file: PathBuf,

    /// End of the run [default: that of the run that wrote the checkpoint]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = heading::MODEL)]
    pub stop_time: Option<f64>,

    /// Record these variables only (a pattern with * and ?); may be given again [default: as before]
    #[arg(long, value_name = "GLOB", help_heading = heading::RESULTS)]
    pub record: Vec<String>,

    /// Write the results from the checkpoint on to a file, or with - to standard output
    #[arg(long, short, value_name = "FILE.csv|FILE.parquet|FILE.mat|-", help_heading = heading::RESULTS)]
    pub output: Option<PathBuf>,

    /// Write a row every H, counted from the start of the run [default: as before]
    #[arg(long, value_name = "H", allow_negative_numbers = true, help_heading = heading::RESULTS)]
    pub output_interval: Option<f64>,

    /// Write the units in a second line of the CSV file
    #[arg(long, help_heading = heading::RESULTS)]
    pub output_units: bool,

    /// Write a page with plots of the results from the checkpoint on
    #[arg(long, value_name = "FILE.html", help_heading = heading::RESULTS)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub checkpoints: CheckpointArguments,

    /// Print errors only
    #[arg(long, short, help_heading = heading::RESULTS)]
    pub quiet: bool,

    /// Print the summary as JSON
    #[arg(long, help_heading = heading::RESULTS)]
    pub json: bool,
}

impl ResumeArguments {
    /// The arguments of a run that was started in `folder`, with the results that are wanted now.
    pub fn apply(&self, run: &mut RunArguments, folder: &Path) {
        run.model = folder.join(&run.model);
        run.checkpoints = self.checkpoints.clone();
        let shared = &mut run.shared;
        let changes = &mut shared.changes;
        for path in changes.parameters.iter_mut().chain(&mut changes.input) {
            *path = folder.join(&*path);
        }

        // Where systems live does not change the numbers of a run.
        if shared.workers == Some(WorkersArgument::Mpi) {
            shared.workers = None;
            shared.orchestrator_only = false;
        }
        let interval = self.output_interval.or(shared.output_interval);
        shared.output_interval = interval.filter(|_| self.output.is_some());
        shared.output.clone_from(&self.output);
        shared.output_units = self.output_units;
        shared.report.clone_from(&self.report);
        shared.log_fmi_calls = None;
        shared.quiet = self.quiet;
        shared.json = self.json;
    }
}
