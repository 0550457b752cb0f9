//! Many runs of one model with other values each: which, and what is kept of them.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use dovetail_report::{Recorder, Rows, Selection, Trajectory, Variables};
use dovetail_scenario::{BadModel, RunOptions, Scenario, Session};
use dovetail_study::{
    Columns, Design, FAN_CURVES, FAN_VARIABLES, Kept, Progress, Row, StudyError, VariableNames,
    in_order,
};

use crate::error::Error;
use crate::execution::LEAST_ROWS;
use crate::run_at::{RunAt, can_be_parallel, check_varied, options_of_each, sentences};

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
    /// What a measure without a name is taken of.
    recorded: Vec<String>,
    jobs: NonZeroUsize,
    draws: bool,
    /// Each run starts where its model is at rest.
    from_rest: bool,
    /// Where whole trajectories go.
    folder: Option<PathBuf>,
}

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct SweptRun {
    /// Its row of the table.
    pub row: Row,
    /// Some of its variables over time, where they were to be drawn.
    pub curves: Option<Trajectory>,
}

/// What is left of a run that came to its end.
struct KeptOfRun {
    values: Vec<f64>,
    verdict: String,
    curves: Option<Trajectory>,
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
        check_names(scenario, &design)?;
        let recorded = recorded(&first, record)?;
        let kept = kept(&first, keep, &recorded)?;

        Ok(Self {
            scenario,
            options,
            design,
            kept,
            recorded,
            jobs: NonZeroUsize::MIN,
            draws: false,
            from_rest: scenario.starts_at_rest(),
            folder: None,
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

    /// Each run starts where the model with its values is at rest: the derivatives of all continuous states are zero. Refused
    /// where a state cannot be set; a run for which there is no rest has failed.
    pub fn starting_at_rest(mut self) -> Result<Self, Error> {
        self.scenario.check_settable()?;
        self.from_rest = true;
        Ok(self)
    }

    /// Runs hand on curves of their first variables: [`FAN_CURVES`] runs, or all where there are fewer.
    pub fn with_curves(mut self) -> Self {
        self.draws = true;
        self
    }

    /// The recorded variables of each run are written to a file in this folder, `run-000001.csv` and so on, before its row is
    /// handed on.
    pub fn with_trajectories(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
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
        let all = self.run_from(0, &stops, &mut |run| {
            rows.push(run.row);
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
        take: &mut dyn FnMut(SweptRun) -> io::Result<()>,
    ) -> io::Result<Progress> {
        let interrupted = || stops.interrupted.load(Ordering::Relaxed);
        let stop = || interrupted() || (stops.starting)();
        let work = |run: usize| {
            let done = self.one_run(run, stops.interrupted);
            (!interrupted()).then_some(done)
        };
        let runs = first..self.design.runs();
        in_order(runs, self.jobs, &stop, &work, &mut |_, run| take(run))
    }

    /// One run.
    pub fn one_run(&self, run: usize, interrupted: &AtomicBool) -> SweptRun {
        let point = self.design.point(run);
        let (outcome, curves) = match self.outcome(run, &point, interrupted) {
            Ok(done) => (Ok((done.values, done.verdict)), done.curves),
            Err(reason) => (Err(reason), None),
        };
        SweptRun {
            row: Row {
                run,
                point,
                outcome,
            },
            curves,
        }
    }

    /// What is kept of a run with the verdict on it, and its curves.
    fn outcome(
        &self,
        run: usize,
        point: &[f64],
        interrupted: &AtomicBool,
    ) -> Result<KeptOfRun, String> {
        let mut scenario = varied(self.scenario, &self.design, point).map_err(sentences)?;
        if self.from_rest {
            let found = scenario.start_at_rest(&self.options);
            found.map_err(sentences)?;
        }
        let file = self
            .folder
            .as_ref()
            .map(|folder| trajectory_file(folder, run));
        let run = RunAt {
            scenario: &scenario,
            options: &self.options,
            needed: self.kept.variables(),
            drawn: self.drawn(run),
            file: file.as_deref().map(|path| (path, &self.recorded[..])),
            interrupted,
        };
        let recorder =
            |session: &Session<'_>, needed: &Selection| self.recorder(&scenario, session, needed);
        let done = run.run(recorder)?;
        Ok(KeptOfRun {
            values: self.kept.values(&done.sink),
            verdict: done.quality.verdict.word().to_owned(),
            curves: done.drawn,
        })
    }

    /// What is drawn of a run: of many an even choice has curves.
    fn drawn(&self, run: usize) -> &[String] {
        let every = self.design.runs().div_ceil(FAN_CURVES).max(1);
        match self.draws && run.is_multiple_of(every) {
            true => &self.recorded[..self.recorded.len().min(FAN_VARIABLES)],
            false => &[],
        }
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

/// Refuses what is varied twice under two names, and what has no effect.
fn check_names(scenario: &Scenario, design: &Design) -> Result<(), Error> {
    let names = design.factors().iter().map(|factor| factor.name.as_str());
    check_varied(scenario, names).map_err(Error::NotVaried)
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

/// The file of the trajectory of a run.
fn trajectory_file(folder: &Path, run: usize) -> PathBuf {
    folder.join(format!("run-{:06}.csv", run + 1))
}

fn kept(scenario: &Scenario, keep: &[String], recorded: &[String]) -> Result<Kept, Error> {
    let variables = Variables::of(&scenario.connections);
    let all: Vec<String> = variables.names().map(String::from).collect();
    let names = VariableNames {
        all: &all,
        recorded,
        qualify: &|name| qualified(scenario, &variables, name),
    };
    Kept::new(keep, &names).map_err(|StudyError(message)| Error::NoSuchVariable(message))
}

/// The full name of a variable, which may go without its system where only one has a variable of that name.
fn qualified(scenario: &Scenario, variables: &Variables, name: &str) -> String {
    let meant = scenario.patterns(&[name.to_owned()]);
    let found = variables.select(&meant).map(|found| found.names());
    match found.as_deref() {
        Ok([one]) => one.clone(),
        _ => meant.concat(),
    }
}

/// What a measure without a name is taken of: what the patterns fit, or all outputs and states.
fn recorded(scenario: &Scenario, record: &[String]) -> Result<Vec<String>, Error> {
    let variables = Variables::of(&scenario.connections);
    if !record.is_empty() {
        let selection = variables.select(&scenario.patterns(record));
        let selection = selection.map_err(|error| Error::NoSuchVariable(error.to_string()))?;
        return Ok(selection.names());
    }

    let computed = variables.all().iter();
    let computed = computed.filter(|variable| variable.kind != dovetail_report::Kind::Input);
    Ok(computed.map(|variable| variable.name.clone()).collect())
}
