//! The arguments of `dovetail enclose`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use dovetail::guaranteed::{Method, Options, Pieces};
use dovetail::scenario::{Overrides, Scenario};

use super::method;
use super::place::EncloseWorkers;
use crate::arguments::heading;
use crate::arguments::{
    assignment, check_distinct, check_interval, load_scenario, piece_count, refuse_to_replace,
    seconds, thread_count,
};
use crate::failure::Failure;
use crate::output;
use crate::processes::Limits;

/// The least number of pieces that make a band look smooth.
const DRAWN_PIECES: f64 = 250.0;

#[derive(Debug, Args)]
pub(crate) struct EncloseArguments {
    /// The model: a TOML file whose systems are given as equations; [lower, upper] is a box
    pub model: PathBuf,

    /// How bounds are proved [default: shared-symbols]
    #[arg(short, long, value_name = "shared-symbols|boxes", help_heading = heading::METHOD)]
    pub method: Option<String>,

    /// With --method boxes: the validated Runge-Kutta scheme of every system [default: rk4]
    #[arg(long, value_name = "heun|rk4", help_heading = heading::METHOD)]
    pub integrator: Option<String>,

    /// With --method boxes: extrapolate inputs by interval polynomials of degree K [default: inputs are held in
    /// their boxes]
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub extrapolation: Option<String>,

    /// The largest macro-step [default: chosen by the method]
    #[arg(short, long, value_name = "H", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Option<f64>,

    /// With shared-symbols: cut the boxes at the start into N pieces and report their hull, 1 for none in any case
    /// [default: as many as help where bounds would end early or be loose]
    #[arg(long, value_name = "N", value_parser = piece_count, allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub pieces: Option<NonZeroUsize>,

    /// Start time; without it that of the model
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = heading::MODEL)]
    pub start_time: Option<f64>,

    /// Stop time; without it that of the model
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = heading::MODEL)]
    pub stop_time: Option<f64>,

    /// Set a parameter or the start value of a state, to a number or to a box `[lower,upper]`; repeatable
    #[arg(long, value_name = "SYSTEM.NAME=VALUE", value_parser = assignment, help_heading = heading::MODEL)]
    pub set: Vec<(String, String)>,

    /// Bounds of outputs and inputs whose names match, too (`*` and `?`), or of an expression such as 'a.x - b.x'; may be
    /// given again
    #[arg(long, value_name = "GLOB|EXPR", allow_hyphen_values = true, help_heading = heading::REQUIREMENTS)]
    pub record: Vec<String>,

    /// Prove that a condition holds at every instant, 'plant.x < 5', or up to a time, 'tank.level > 0.2 until 30'; may be
    /// given again
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true, help_heading = heading::REQUIREMENTS)]
    pub require: Vec<String>,

    /// Prove that every trajectory reaches a condition, 'plant.x < 1', perhaps in time, 'plant.x < 1 by 10'; may be given
    /// again
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true, help_heading = heading::REQUIREMENTS)]
    pub reach: Vec<String>,

    /// Write the boxes to a file
    #[arg(short, long, value_name = "FILE.csv", help_heading = heading::RESULTS)]
    pub output: Option<PathBuf>,

    /// Report boxes every H [default: at the ends of macro-steps; for a page alone every 1/250 of the run]
    #[arg(long, value_name = "H", allow_negative_numbers = true, help_heading = heading::RESULTS)]
    pub output_interval: Option<f64>,

    /// Write a page with the bounds of every state drawn over time
    #[arg(long, value_name = "FILE.html", help_heading = heading::RESULTS)]
    pub report: Option<PathBuf>,

    /// Draw N trajectories from within the boxes on the page, the corners first
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        requires = "report",
        help_heading = heading::RESULTS
    )]
    pub samples: usize,

    /// Where the systems are computed; without it, in this process
    #[arg(long, value_name = "W", help_heading = heading::WORKERS)]
    pub workers: Option<EncloseWorkers>,

    /// With --workers mpi: rank 0 reads the model, proves and writes bounds, and has no systems of its own
    #[arg(long, help_heading = heading::WORKERS)]
    pub orchestrator_only: bool,

    /// With --workers mpi: end when a rank takes longer than this for an answer [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = heading::WORKERS)]
    pub step_timeout: Option<Duration>,

    /// Spread pieces over N threads, with --method boxes the systems [default: 1]
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true, help_heading = heading::WORKERS)]
    pub worker_threads: Option<NonZeroUsize>,

    /// Add the volume of the last box, and what else was noticed
    #[arg(long, short, conflicts_with = "quiet", help_heading = heading::RESULTS)]
    pub verbose: bool,

    /// Print errors only
    #[arg(long, short, help_heading = heading::RESULTS)]
    pub quiet: bool,

    /// Print the summary as JSON
    #[arg(long, help_heading = heading::RESULTS)]
    pub json: bool,
}

impl EncloseArguments {
    /// Reads the model with the changes made.
    pub fn load(&self) -> Result<Scenario, Failure> {
        let changes = Overrides {
            values: self.set.clone(),
            start_time: self.start_time,
            stop_time: self.stop_time,
            ..Overrides::default()
        };
        load_scenario(&self.model, &changes)
    }

    /// What a rank may use of time.
    pub fn limits(&self) -> Limits {
        Limits {
            time: self.step_timeout,
            memory: None,
        }
    }

    /// How to enclose `scenario`; refuses what cannot be done.
    pub fn options(&self, scenario: &Scenario) -> Result<Options, Failure> {
        let method = method::chosen(
            self.method.as_deref(),
            self.integrator.as_deref(),
            self.extrapolation.as_deref(),
        )?;
        if self.pieces.is_some() && method != Method::SharedSymbols {
            return Err(Failure::misuse(
                "--pieces is for shared-symbols: --method boxes takes the boxes as they are",
            ));
        }
        if let Some(step) = self.step.filter(|step| !(*step > 0.0 && step.is_finite())) {
            return Err(Failure::misuse(format!(
                "--step must be a number above zero, not {step}"
            )));
        }

        let (start, stop) = (scenario.start_time, scenario.stop_time);
        let least = (1e-9 * (stop - start)).max(16.0 * f64::EPSILON * start.abs().max(stop.abs()));

        if let Some(step) = self.step.filter(|step| *step < least) {
            return Err(Failure::misuse(format!(
                "--step {step:e} is too small for a run from {start} to {stop}; the least is {least:e}"
            )));
        }

        self.check_files(scenario)?;
        let threads = self.worker_threads.map_or(1, NonZeroUsize::get);
        let output_interval = self
            .output_interval
            .or_else(|| self.interval_to_draw(method, scenario));

        Ok(Options {
            method,
            step: self.step,
            output_interval,
            threads,
            pieces: self.pieces.map_or(Pieces::Automatic, Pieces::Number),
        })
    }

    /// Long macro-steps have wide tubes: a page without a file gets a finer grid, where that changes nothing else.
    fn interval_to_draw(&self, method: Method, scenario: &Scenario) -> Option<f64> {
        let drawn =
            self.report.is_some() && self.output.is_none() && method == Method::SharedSymbols;
        let interval = (scenario.stop_time - scenario.start_time) / DRAWN_PIECES;
        (drawn && scenario.start_time + interval > scenario.start_time).then_some(interval)
    }

    fn check_files(&self, scenario: &Scenario) -> Result<(), Failure> {
        check_interval(self.output_interval, scenario)?;
        for path in [&self.output, &self.report].into_iter().flatten() {
            refuse_to_replace(&self.model, scenario, path)?;
        }

        check_distinct(self.output.as_deref(), self.report.as_deref())?;
        if self.output_interval.is_some() && self.output.is_none() && self.report.is_none() {
            return Err(Failure::misuse(
                "--output-interval needs --output or --report, which show what it adds",
            ));
        }

        let output = self.output.as_deref();
        match output.filter(|path| output::has_ending(path, "parquet")) {
            Some(path) => Err(Failure::misuse(format!(
                "{}: boxes are written as CSV only; name a .csv file",
                path.display()
            ))),
            None => Ok(()),
        }
    }
}
