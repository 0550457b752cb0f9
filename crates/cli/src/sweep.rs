//! `dovetail sweep`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use dovetail::scenario::{GivenChoice, RunOptions, Scenario};
use dovetail::study::{
    Design, DesignKind, Factor, ResumeError, Row, RowFile, StudyError, Values, sensitivities,
};
use dovetail::{Error, Sweep, SweepStops};
use serde_json::{Value, json};

use crate::arguments::{ChangeArguments, refuse_to_replace, seconds, thread_count};
use crate::failure::Failure;
use crate::names;
use crate::processes::{self, Limits};
use crate::progress::SweepProgress;
use crate::{interrupt, output};

#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// The model: a TOML file, an FMU, or a system structure (.ssp, .ssd)
    pub model: PathBuf,

    /// Vary a parameter, or the start value of a state or an input: N values from LO to HI, any value between them (with
    /// --sample), or these values; may be given again
    #[arg(long, value_name = "NAME=LO:HI:N|A,B,C", value_parser = factor)]
    pub vary: Vec<Factor>,

    /// How many points to sample; what the model file gives as a box [lower, upper] is varied too
    #[arg(long, value_name = "N")]
    pub sample: Option<NonZeroUsize>,

    /// How points are chosen [default: grid, with --sample latin-hypercube]
    #[arg(long, value_name = "D")]
    pub design: Option<DesignArgument>,

    /// Names the random choices of a design
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,

    /// What is kept of each run: final, min, max or mean of all recorded variables, or an expression such as
    /// "max(car.x) - final(car.v)"; may be given again [default: final]
    #[arg(long, value_name = "final|min|max|mean|EXPR")]
    pub keep: Vec<String>,

    /// Keep these variables only (a pattern with * and ?); may be given again [default: all outputs and states]
    #[arg(long, value_name = "GLOB")]
    pub record: Vec<String>,

    /// So many runs at a time [default: one for each core; models with FMUs have one]
    #[arg(long, value_name = "N", value_parser = thread_count, allow_negative_numbers = true)]
    pub jobs: Option<NonZeroUsize>,

    /// Go on with the file of a sweep that was ended
    #[arg(long)]
    pub resume: bool,

    /// The table: one row for each run
    #[arg(long, short, value_name = "FILE.csv")]
    pub output: PathBuf,

    /// Start no further run after this time, and keep what is there [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<Duration>,

    /// Coupling method [default: the model's, or else auto]
    #[arg(long, short, value_name = "M", value_parser = names::METHODS)]
    pub method: Option<String>,

    /// Macro-step [default: 1/500 of the run, or chosen by the methods that can]
    #[arg(long, short, value_name = "H", allow_negative_numbers = true)]
    pub step: Option<String>,

    #[command(flatten)]
    pub changes: ChangeArguments,

    /// Say nothing that is not an error
    #[arg(long, short)]
    pub quiet: bool,

    /// Print the summary as JSON
    #[arg(long)]
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

pub(crate) fn factor(text: &str) -> Result<Factor, String> {
    text.parse().map_err(|StudyError(message)| message)
}

pub(crate) fn sweep(arguments: &SweepArguments) -> Result<(), Failure> {
    check_file(&arguments.output)?;
    let limits = Limits::default();
    let scenario = arguments
        .changes
        .load(&arguments.model, &arguments.record, limits, None)?;
    refuse_to_replace(&arguments.model, &scenario, &arguments.output)?;
    let design = arguments.design(&scenario)?;
    let options = arguments.options(&scenario)?;
    let sweep = Sweep::new(
        &scenario,
        &options,
        design,
        &arguments.keep,
        &arguments.record,
    );
    let sweep = sweep.map_err(|error| refused(error, &arguments.vary))?;
    let sweep = arguments.with_jobs(sweep);
    output::restore_working_directory();
    let (file, before) = arguments.open(&sweep)?;

    let done = Table::new(sweep.design(), before).fill(&sweep, file, arguments)?;
    done.show(arguments, &sweep)?;
    done.end(arguments)
}

/// What a library refuses before the first run; what is wrong with a value is said of its flag.
pub(crate) fn refused(error: Error, varied: &[Factor]) -> Failure {
    let mut bad = match error {
        Error::Model(bad) => bad,
        other => return Failure::misuse_by(other),
    };
    for problem in &mut bad.problems {
        if let Some(GivenChoice::Value { name, .. }) = problem.choice.as_deref()
            && varied.iter().any(|factor| factor.name == *name)
        {
            problem.message = format!("--vary {name}: {}", problem.message);
            problem.choice = None;
        }
    }
    bad.into()
}

fn check_file(path: &Path) -> Result<(), Failure> {
    if output::has_ending(path, "csv") {
        return Ok(());
    }
    let shown = path.display();
    Err(Failure::misuse(format!(
        "--output {shown}: the table of a sweep is a .csv file"
    )))
}

impl SweepArguments {
    fn options(&self, scenario: &Scenario) -> Result<RunOptions, Failure> {
        let choices = self
            .changes
            .choices(self.method.as_deref(), self.step.as_deref(), &[]);
        let options = scenario.options(&choices)?;
        // Each run makes its FMUs anew.
        processes::if_instances_are_single(options, scenario, true, Limits::default())
    }

    fn design(&self, scenario: &Scenario) -> Result<Design, Failure> {
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
        boxes.retain(|given| self.vary.iter().all(|factor| factor.name != given.name));
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

    fn with_jobs<'a>(&self, sweep: Sweep<'a>) -> Sweep<'a> {
        let asked = self.jobs.is_some_and(|jobs| jobs.get() > 1);
        if asked && !sweep.can_be_parallel() && !self.quiet {
            output::complain(
                "note: a model with FMUs has one job: instances of an FMU may share memory\n",
            );
        }
        let cores = || available_parallelism().unwrap_or(NonZeroUsize::MIN);
        sweep.jobs(self.jobs.unwrap_or_else(cores))
    }

    /// The file of the table, and the rows that it has.
    fn open(&self, sweep: &Sweep<'_>) -> Result<(RowFile, Vec<Row>), Failure> {
        let path = output::from_home(&self.output);
        let columns = sweep.columns();
        if !self.resume {
            let file = RowFile::create(&path, &columns);
            let file = file.map_err(|error| Failure::cannot_write(&self.output, error))?;
            return Ok((file, Vec::new()));
        }

        RowFile::resume(&path, &columns, sweep.design()).map_err(|error| match error {
            ResumeError::File(error) => Failure::cannot_write(&self.output, error),
            ResumeError::Other(error) => {
                let shown = self.output.display();
                Failure::misuse(format!("--resume {shown}: {error}"))
            }
        })
    }
}

/// The table of a sweep as far as it is filled.
struct Table {
    /// All runs of the design.
    wanted: usize,
    /// Rows of an earlier sweep.
    resumed: usize,
    failed: usize,
    rows: usize,
    /// The first reason of a failure.
    reason: Option<String>,
    /// What was kept of each run, where sensitivities follow from it.
    values: Option<Vec<Option<Vec<f64>>>>,
    wall: Duration,
}

impl Table {
    fn new(design: &Design, before: Vec<Row>) -> Self {
        let mut table = Self {
            wanted: design.runs(),
            resumed: before.len(),
            failed: 0,
            rows: 0,
            reason: None,
            values: design.is_saltelli().then(Vec::new),
            wall: Duration::ZERO,
        };
        before.into_iter().for_each(|row| table.add(row));
        table
    }

    fn add(&mut self, row: Row) {
        self.rows += 1;
        if let Err(reason) = &row.outcome {
            self.failed += 1;
            let run = row.run + 1;
            self.reason
                .get_or_insert_with(|| format!("run {run}: {reason}"));
        }
        if let Some(values) = &mut self.values {
            values.push(row.outcome.ok().map(|(values, _)| values));
        }
    }

    /// Makes the runs that are left.
    fn fill(
        mut self,
        sweep: &Sweep<'_>,
        mut file: RowFile,
        arguments: &SweepArguments,
    ) -> Result<Self, Failure> {
        let clock = Instant::now();
        let limit = arguments.time_limit;
        let stops = SweepStops {
            starting: &|| limit.is_some_and(|limit| clock.elapsed() >= limit),
            interrupted: interrupt::listen(),
        };
        let progress = SweepProgress::new(arguments.quiet, self.wanted, self.rows);
        let first = self.rows;
        let filled = sweep.run_from(first, &stops, &mut |row| {
            file.write(&row)?;
            self.add(row);
            progress.show(self.rows, self.failed);
            Ok(())
        });
        progress.clear();
        let written = filled.and_then(|_| file.close());
        written.map_err(|error| Failure::Sweep(output::not_written(&arguments.output, &error)))?;
        self.wall = clock.elapsed();
        Ok(self)
    }

    fn show(&self, arguments: &SweepArguments, sweep: &Sweep<'_>) -> Result<(), Failure> {
        let indices = self.sensitivities(sweep);
        if arguments.json {
            return output::print_json(&self.to_json(&indices));
        }
        if arguments.quiet {
            return Ok(());
        }
        output::print(&self.to_text(arguments, &indices))
    }

    /// For each kept value, the factors with their indices.
    fn sensitivities(&self, sweep: &Sweep<'_>) -> Vec<(String, Vec<Index>)> {
        let Some(values) = &self.values else {
            return Vec::new();
        };
        let columns = sweep.columns();
        let of_column = |(column, name): (usize, &String)| {
            let runs = values.iter();
            let runs: Vec<Option<f64>> = runs
                .map(|values| values.as_ref().map(|values| values[column]))
                .collect();
            let found = sensitivities(sweep.design(), &runs)?;
            let named = columns.varied.iter().cloned().zip(found);
            let indices = named.map(|(factor, found)| Index {
                factor,
                first: found.first,
                total: found.total,
            });
            Some((name.clone(), indices.collect()))
        };
        columns
            .kept
            .iter()
            .enumerate()
            .filter_map(of_column)
            .collect()
    }

    fn to_json(&self, indices: &[(String, Vec<Index>)]) -> Value {
        let mut object = json!({
            "runs": self.rows,
            "failed": self.failed,
            "wall_seconds": self.wall.as_secs_f64(),
            "complete": self.rows == self.wanted,
            "resumed": self.resumed,
        });
        if !indices.is_empty() {
            let of_value = |(name, indices): &(String, Vec<Index>)| {
                let factors = indices.iter();
                let factors = factors.map(|index| {
                    let both = json!({ "first": index.first, "total": index.total });
                    (index.factor.clone(), both)
                });
                (name.clone(), Value::Object(factors.collect()))
            };
            object["sensitivities"] = Value::Object(indices.iter().map(of_value).collect());
        }
        object
    }

    fn to_text(&self, arguments: &SweepArguments, indices: &[(String, Vec<Index>)]) -> String {
        let (rows, wall) = (self.rows, self.wall.as_secs_f64());
        let file = arguments.output.display();
        let mut text = format!("{rows} runs in {file}, {wall:.1} s");
        if self.resumed > 0 {
            text += &format!("; {} of them were there", self.resumed);
        }
        text.push('\n');
        if let Some(reason) = &self.reason {
            let failed = self.failed;
            text += &format!("{failed} of them failed, the first of them {reason}\n");
        }
        for (name, indices) in indices {
            text += &format!("\nSensitivities of {name}: alone, and with interactions\n");
            for index in indices {
                let Index {
                    factor,
                    first,
                    total,
                } = index;
                text += &format!("  {factor:<24} {first:8.4} {total:8.4}\n");
            }
        }
        text
    }

    fn end(&self, arguments: &SweepArguments) -> Result<(), Failure> {
        let (rows, wanted) = (self.rows, self.wanted);
        if rows < wanted {
            let limit = arguments.time_limit;
            let why = match limit.filter(|limit| self.wall >= *limit) {
                Some(limit) => format!("the time limit of {} s", limit.as_secs_f64()),
                None => "an interrupt".to_owned(),
            };
            return Err(Failure::Sweep(format!(
                "{why} ended the sweep after {rows} of {wanted} runs: --resume goes on from there"
            )));
        }
        match &self.reason {
            Some(reason) if self.failed == rows => {
                Err(Failure::Sweep(format!("no run worked; {reason}")))
            }
            _ => Ok(()),
        }
    }
}

/// How much a kept value depends on a factor.
struct Index {
    factor: String,
    first: f64,
    total: f64,
}
