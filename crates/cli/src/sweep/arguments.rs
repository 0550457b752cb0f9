//! The arguments of `dovetail sweep`, and what they come to for a model.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::{Args, ValueEnum};
use dovetail::Sweep;
use dovetail::scenario::{RunOptions, Scenario};
use dovetail::study::{Design, DesignKind, Factor, StudyError, Values};

use crate::arguments::heading;
use crate::arguments::{ChangeArguments, seconds, thread_count};
use crate::failure::Failure;
use crate::processes::{self, Limits};
use crate::{names, output};

/// Of `--keep`: whole trajectories.
const TRAJECTORIES: &str = "trajectories";

/// What `--vary` says.
pub(crate) fn factor(text: &str) -> Result<Factor, String> {
    text.parse().map_err(|StudyError(message)| message)
}

/// Where runs can be made beside this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SweepWorkers {
    /// On the ranks of an MPI program: mpirun -n R dovetail sweep MODEL --workers mpi
    Mpi,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// Vary a parameter, or the start value of a state or an input: N values from LO to HI, any value between them (with
    /// --sample), or these values; may be given again
    #[arg(long, value_name = "NAME=LO:HI:N|A,B,C", value_parser = factor, help_heading = heading::STUDY)]
    pub vary: Vec<Factor>,

    /// How many points to sample; what the model file gives as a box [lower, upper] is varied too
    #[arg(long, value_name = "N", help_heading = heading::STUDY)]
    pub sample: Option<NonZeroUsize>,

    /// How points are chosen [default: grid, with --sample latin-hypercube]
    #[arg(long, value_name = "D", help_heading = heading::STUDY)]
    pub design: Option<DesignArgument>,

    /// Names the random choices of a design
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = heading::STUDY)]
    pub seed: u64,

    /// What is kept of each run: final, min, max or mean of all recorded variables, an expression such as
    /// "max(car.x) - final(car.v)" or "when(car.v > 10)", or trajectories, a file for each run; may be given again
    /// [default: final]
    #[arg(long, value_name = "final|min|max|mean|EXPR|trajectories", help_heading = heading::RESULTS)]
    pub keep: Vec<String>,

    /// Keep these variables only (a pattern with * and ?); may be given again [default: all outputs and states]
    #[arg(long, value_name = "GLOB", help_heading = heading::RESULTS)]
    pub record: Vec<String>,

    /// So many runs at a time; with several, FMUs run in processes of their own [default: one for each core; models with FMUs
    /// have one]
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true, help_heading = heading::STUDY)]
    pub jobs: Option<NonZeroUsize>,

    /// Where runs are made [default: in this program]
    #[arg(long, value_name = "mpi", help_heading = heading::WORKERS)]
    pub workers: Option<SweepWorkers>,

    /// Go on with the file of a sweep that was ended
    #[arg(long, help_heading = heading::STUDY)]
    pub resume: bool,

    /// The table: one row for each run
    #[arg(long, short, value_name = "FILE.csv|FILE.parquet", help_heading = heading::RESULTS)]
    pub output: PathBuf,

    /// Write a page with scatter plots, sensitivities and the trajectories as a fan
    #[arg(long, value_name = "FILE.html", help_heading = heading::RESULTS)]
    pub report: Option<PathBuf>,

    /// Start no further run after this time, and keep what is there [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = heading::STUDY)]
    pub time_limit: Option<Duration>,

    /// Coupling method; without it that of the model, or auto
    #[arg(long, short, value_name = "M", value_parser = names::METHODS, help_heading = heading::METHOD)]
    pub method: Option<String>,

    /// Macro-step [default: 1/500 of the run, or chosen by the methods that can]
    #[arg(long, short, value_name = "H", allow_negative_numbers = true, help_heading = heading::METHOD)]
    pub step: Option<String>,

    #[command(flatten)]
    pub changes: ChangeArguments,

    /// Print errors only
    #[arg(long, short, help_heading = heading::RESULTS)]
    pub quiet: bool,

    /// Print the summary as JSON
    #[arg(long, help_heading = heading::RESULTS)]
    pub json: bool,
}

/// How points are chosen.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DesignArgument {
    /// Every value of each with every value of the others
    Grid,
    /// Each range in as many parts as there are runs, each part met once
    LatinHypercube,
    /// The Sobol sequence
    Sobol,
    /// Sobol points with one value changed at a time: gives sensitivities, and takes N (k + 2) runs
    Saltelli,
}

impl DesignArgument {
    fn kind(self) -> DesignKind {
        match self {
            Self::Grid => DesignKind::Grid,
            Self::LatinHypercube => DesignKind::LatinHypercube,
            Self::Sobol => DesignKind::Sobol,
            Self::Saltelli => DesignKind::Saltelli,
        }
    }
}

impl SweepArguments {
    pub fn options(&self, scenario: &Scenario) -> Result<RunOptions, Failure> {
        let choices = self
            .changes
            .choices(self.method.as_deref(), self.step.as_deref(), &[]);
        let options = scenario.options(&choices)?;
        if self.jobs.is_some_and(|jobs| jobs.get() > 1) && !scenario.units().is_empty() {
            // Instances of an FMU may share the memory of a process.
            return Ok(RunOptions {
                placement: processes::placement(Limits::default())?,
                ..options
            });
        }
        // Each run makes its FMUs anew.
        processes::if_instances_are_single(options, scenario, true, Limits::default())
    }

    pub fn design(&self, scenario: &Scenario) -> Result<Design, Failure> {
        let sample = self.sample.map(NonZeroUsize::get);
        let kind = match self.design {
            Some(design) => design.kind(),
            None if sample.is_some() => DesignKind::LatinHypercube,
            None => DesignKind::Grid,
        };
        let mut factors = self.vary.clone();
        if sample.is_some() {
            factors.extend(self.boxes(scenario));
        }

        if factors.is_empty() {
            return Err(Failure::misuse(
                "nothing is varied: give --vary NAME=LO:HI:N or NAME=A,B,C, or --sample N for a model with boxes [lower, upper]",
            ));
        }
        if sample.is_none() && kind != DesignKind::Grid {
            let name = kind.name();
            return Err(Failure::misuse(format!(
                "--design {name} needs --sample N, the number of points"
            )));
        }
        self.note_counts(kind);
        Design::new(kind, factors, sample, self.seed).map_err(Failure::misuse_by)
    }

    /// What the model gives as a box and nobody varies otherwise.
    fn boxes(&self, scenario: &Scenario) -> Vec<Factor> {
        let mut boxes = scenario.given_boxes();
        let varied = self.vary.iter();
        let varied: Vec<String> = varied
            .map(|factor| scenario.full_name(&factor.name))
            .collect();
        boxes.retain(|given| !varied.contains(&given.name));
        let factor = |given: dovetail::scenario::GivenBox| Factor {
            name: given.name,
            values: Values::Range {
                low: given.lower,
                high: given.upper,
                count: None,
            },
        };
        boxes.into_iter().map(factor).collect()
    }

    /// Numbers of values that only a grid uses.
    fn note_counts(&self, kind: DesignKind) {
        let counted =
            |factor: &&Factor| matches!(factor.values, Values::Range { count: Some(_), .. });
        if let Some(factor) = self.vary.iter().find(counted)
            && kind != DesignKind::Grid
            && !self.quiet
        {
            let (name, design) = (&factor.name, kind.name());
            output::complain(&format!(
                "note: the design {design} samples the whole range of `{name}`; its number of values is for a grid\n"
            ));
        }
    }

    /// Reads the model.
    pub fn load(&self) -> Result<Scenario, Failure> {
        if self.workers.is_some() && self.jobs.is_some() {
            return Err(Failure::misuse(
                "--jobs has no meaning with --workers mpi: each rank makes one run at a time",
            ));
        }
        let limits = Limits::default();
        self.changes.load(&self.model, &self.record, limits, None)
    }

    /// The sweep with all that it is to do.
    pub fn completed<'a>(&self, sweep: Sweep<'a>) -> Sweep<'a> {
        let cores = || available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let jobs = match self.workers {
            Some(SweepWorkers::Mpi) => NonZeroUsize::MIN,
            None => self.jobs.unwrap_or_else(cores),
        };
        let mut sweep = sweep.jobs(jobs);
        if self.report.is_some() {
            sweep = sweep.with_curves();
        }
        match self.trajectories() {
            Some(folder) => sweep.with_trajectories(folder),
            None => sweep,
        }
    }

    /// What is kept in the table.
    pub fn kept(&self) -> Vec<String> {
        let kept = self.keep.iter().filter(|text| text.trim() != TRAJECTORIES);
        kept.cloned().collect()
    }

    /// The folder of whole trajectories, where these are kept: beside the table.
    fn trajectories(&self) -> Option<PathBuf> {
        let wanted = self.keep.iter().any(|text| text.trim() == TRAJECTORIES);
        let stem = self
            .output
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        let name = format!("{stem}-{TRAJECTORIES}");
        wanted.then(|| output::from_home(&self.output.with_file_name(name)))
    }

    /// Makes the folder of trajectories, and takes those of another sweep out of it.
    pub fn empty_trajectories(&self) -> Result<(), Failure> {
        let Some(folder) = self.trajectories() else {
            return Ok(());
        };
        let failed = |error| Failure::cannot_write(&folder, error);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        if self.resume {
            return Ok(());
        }
        for file in std::fs::read_dir(&folder).map_err(failed)?.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let rest = name.strip_prefix("run-");
            let number = rest.and_then(|rest| rest.split('.').next());
            if number.is_some_and(|number| number.parse::<usize>().is_ok()) {
                std::fs::remove_file(file.path()).map_err(failed)?;
            }
        }
        Ok(())
    }
}
