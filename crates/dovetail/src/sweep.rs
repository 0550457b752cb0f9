//! Many runs of one model with other values each: which, and what is kept of them.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use dovetail_report::{Recorder, Rows, Selection, Variables};
use dovetail_scenario::{BadModel, RunOptions, Scenario, Session};
use dovetail_study::{Columns, Design, Kept, Progress, Row, StudyError, VariableNames, in_order};

use crate::error::Error;
use crate::execution::LEAST_ROWS;
use crate::run_at::{can_be_parallel, options_of_each, run_at, sentences};

/// Many runs of one model, each with other values.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/car/model.toml");
/// use dovetail::study::{Design, DesignKind};
///
/// let model = dovetail::Model::load(path)?;
/// let masses = vec!["car.m=900:1100:3".parse()?];
/// let design = Design::new(DesignKind::Grid, masses, None, 0)?;
/// let sweep = model.sweep(design, &["max(car.v)"])?;
/// for row in sweep.run()? {
///     println!("{:?}: {:?}", row.point, row.outcome);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Sweep<'a> {
    scenario: &'a Scenario,
    options: RunOptions,
    design: Design,
    kept: Kept,
    jobs: NonZeroUsize,
}

/// When a sweep ends before its end.
pub struct SweepStops<'a> {
    /// Whether no further run is to be started; those under way come to their end.
    pub starting: &'a (dyn Fn() -> bool + Sync),
    /// Raised: runs under way are given up, too.
    pub interrupted: &'a AtomicBool,
}

impl<'a> Sweep<'a> {
    /// A sweep of `scenario` over a design, with what is kept of each run (see [`Kept::new`]): of the recorded variables
    /// that fit one of the patterns `record`, without any all outputs and states. It has one job.
    pub fn new(
        scenario: &'a Scenario,
        options: &RunOptions,
        design: Design,
        keep: &[String],
        record: &[String],
    ) -> Result<Self, Error> {
        let options = options_of_each(options);
        let first = readable(scenario, &design)?;
        scenario.check_method(&options)?;
        let kept = kept(&first, keep, record)?;

        Ok(Self {
            scenario,
            options,
            design,
            kept,
            jobs: NonZeroUsize::MIN,
        })
    }

    /// So many runs at a time, each in a thread of its own. Models with FMUs keep one, unless each system has a
    /// process: instances of an FMU may share memory.
    pub fn jobs(mut self, jobs: NonZeroUsize) -> Self {
        if self.can_be_parallel() {
            self.jobs = jobs;
        }
        self
    }

    /// Whether several runs may be under way at a time.
    pub fn can_be_parallel(&self) -> bool {
        can_be_parallel(self.scenario, &self.options)
    }

    /// The columns of the table.
    pub fn columns(&self) -> Columns {
        Columns {
            varied: self.design.names(),
            kept: self.kept.names(),
        }
    }

    /// Which values each run has.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// All rows, in the order of the runs.
    pub fn run(&self) -> Result<Vec<Row>, Error> {
        let stops = SweepStops {
            starting: &|| false,
            interrupted: &AtomicBool::new(false),
        };
        let mut rows = Vec::new();
        let all = self.run_from(0, &stops, &mut |row| {
            rows.push(row);
            Ok(())
        });
        all.expect("BUG: memory takes all rows");
        Ok(rows)
    }

    /// Runs from this number on, and hands on every row in the order of the runs. They are the same to the last bit for any
    /// number of jobs.
    pub fn run_from(
        &self,
        first: usize,
        stops: &SweepStops<'_>,
        take: &mut dyn FnMut(Row) -> io::Result<()>,
    ) -> io::Result<Progress> {
        let interrupted = || stops.interrupted.load(Ordering::Relaxed);
        let stop = || interrupted() || (stops.starting)();
        let work = |run: usize| {
            let row = self.row(run, stops.interrupted);
            (!interrupted()).then_some(row)
        };
        let runs = first..self.design.runs();
        in_order(runs, self.jobs, &stop, &work, &mut |_, row| take(row))
    }

    /// One run.
    fn row(&self, run: usize, interrupted: &AtomicBool) -> Row {
        let point = self.design.point(run);
        let outcome = self.outcome(&point, interrupted);
        Row {
            run,
            point,
            outcome,
        }
    }

    fn outcome(
        &self,
        point: &[f64],
        interrupted: &AtomicBool,
    ) -> Result<(Vec<f64>, String), String> {
        let scenario = varied(self.scenario, &self.design, point).map_err(sentences)?;
        let names = self.kept.variables();
        let recorder = |scenario: &Scenario, session: &Session<'_>, needed: &Selection| {
            self.recorder(scenario, session, needed)
        };
        let (measures, quality) = run_at(&scenario, &self.options, names, recorder, interrupted)?;
        let values = self.kept.values(&measures);
        Ok((values, quality.verdict.word().to_owned()))
    }

    /// The rows that a file of results would have.
    fn recorder(
        &self,
        scenario: &Scenario,
        session: &Session<'_>,
        needed: &Selection,
    ) -> Recorder<dovetail_study::Measures> {
        let measures = self.kept.measures();
        let recorder = Recorder::new(&scenario.connections, needed, measures, "what is kept");
        if self.kept.last_only() {
            return recorder;
        }

        let span = scenario.stop_time - scenario.start_time;
        let rows = if session.chooses_steps() {
            Rows::AtMost(span / LEAST_ROWS)
        } else {
            Rows::Communications
        };
        recorder.with_rows(rows).with_both_sides()
    }
}

/// The model with the values of a point.
fn varied(scenario: &Scenario, design: &Design, point: &[f64]) -> Result<Scenario, BadModel> {
    let names = design.factors().iter().map(|factor| factor.name.clone());
    let values: Vec<(String, f64)> = names.zip(point.iter().copied()).collect();
    scenario.with_values(&values)
}

/// The model at the first, the middle or the last point. What cannot be read at any of them cannot be varied so; a value
/// that is refused at some point is a failed run.
fn readable(scenario: &Scenario, design: &Design) -> Result<Scenario, BadModel> {
    let last = design.runs() - 1;
    let read = |run: usize| varied(scenario, design, &design.point(run));
    read(0).or_else(|refused| {
        let elsewhere = read(last / 2).or_else(|_| read(last));
        elsewhere.map_err(|_| refused)
    })
}

fn kept(scenario: &Scenario, keep: &[String], record: &[String]) -> Result<Kept, Error> {
    let variables = Variables::of(&scenario.connections);
    let all: Vec<String> = variables.names().map(String::from).collect();
    let recorded = recorded(scenario, &variables, record)?;
    let names = VariableNames {
        all: &all,
        recorded: &recorded,
        qualify: &|name| scenario.patterns(&[name.to_owned()]).concat(),
    };
    Kept::new(keep, &names).map_err(|StudyError(message)| Error::NoSuchVariable(message))
}

/// What a measure without a name is taken of: what the patterns fit, or all outputs and states.
fn recorded(
    scenario: &Scenario,
    variables: &Variables,
    record: &[String],
) -> Result<Vec<String>, Error> {
    if !record.is_empty() {
        let selection = variables.select(&scenario.patterns(record));
        let selection = selection.map_err(|error| Error::NoSuchVariable(error.to_string()))?;
        return Ok(selection.names());
    }

    let computed = variables.all().iter();
    let computed = computed.filter(|variable| variable.kind != dovetail_report::Kind::Input);
    Ok(computed.map(|variable| variable.name.clone()).collect())
}
