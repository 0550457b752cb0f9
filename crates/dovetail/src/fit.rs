//! Parameters that bring a model nearest to measured data.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dovetail_report::{Recorder, Rows, Selection, Trajectory, Variable, Variables};
use dovetail_scenario::{RunOptions, Scenario, Session, seconds_in};
use dovetail_study::{
    Factor, FitError, FitParameter, Fitted, Fitting, Measured, MeasuredColumn, Prediction,
    StudyError, fit,
};

use crate::error::Error;
use crate::execution::{Execution, Keep};
use crate::run_at::{RunAt, can_be_parallel, check_varied, options_of_each, sentences};
use crate::simulation::NEVER;

/// Times this near to the ends of the run, as a part of it, are meant to be the ends.
const COINCIDENT: f64 = 1e-9;

/// A fit of parameters, or of start values, to measured data.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lotka-volterra/model.toml");
/// use dovetail::study::Measured;
///
/// let model = dovetail::Model::load(path)?;
/// let counted = "time,prey.p\n0,1.0\n1,1.19\n2,1.34\n4,1.30\n6,0.98\n8,0.76\n10,0.78\n12,1.01\n";
/// let measured = Measured::read(counted, "counted.csv")?;
/// let fitted = model.fit(measured, &["prey.birth=0.3:1.0"])?.run()?;
/// println!("{:?}", fitted.parameters[0].confidence);
/// # Ok(())
/// # }
/// ```
pub struct Fit<'a> {
    scenario: &'a Scenario,
    options: RunOptions,
    parameters: Vec<FitParameter>,
    /// In the units of the model, in seconds.
    measured: Measured,
    /// All times at which something was measured.
    times: Arc<[f64]>,
    jobs: NonZeroUsize,
    sample: usize,
    seed: u64,
    /// Each run starts where its model is at rest.
    from_rest: bool,
    warnings: Vec<String>,
}

impl<'a> Fit<'a> {
    /// A fit of `scenario`: the factors have to be ranges. Columns of the data bear the names of variables, as recorded ones are
    /// named; their units are converted to those of the variables.
    pub fn new(
        scenario: &'a Scenario,
        options: &RunOptions,
        factors: &[Factor],
        measured: Measured,
    ) -> Result<Self, Error> {
        let parameters = factors.iter();
        let parameters =
            parameters.map(|factor| FitParameter::new(factor, scenario.start_value(&factor.name)));
        let parameters: Vec<FitParameter> =
            parameters.collect::<Result<_, _>>().map_err(not_fitted)?;
        if parameters.is_empty() {
            return Err(refused("nothing is varied".to_owned()));
        }
        let names = parameters.iter().map(|parameter| parameter.name.as_str());
        check_varied(scenario, names).map_err(refused)?;
        scenario.check_method(options)?;
        let mut warnings = Vec::new();
        let measured = in_units_of_model(scenario, measured, &mut warnings)?;

        let fit = Self {
            scenario,
            options: options_of_each(options),
            times: measured.times().into(),
            parameters,
            measured,
            jobs: NonZeroUsize::MIN,
            sample: 0,
            seed: 0,
            from_rest: scenario.starts_at_rest(),
            warnings,
        };
        // A name that cannot be set is refused before the first run.
        fit.varied(&fit.start())?;
        Ok(fit)
    }

    /// So many runs at a time. Models with FMUs keep one, unless each system has a process.
    pub fn jobs(mut self, jobs: NonZeroUsize) -> Self {
        if can_be_parallel(self.scenario, &self.options) {
            self.jobs = jobs;
        }
        self
    }

    /// The search starts at the best of so many points of a latin hypercube, or at the values of the model.
    pub fn sample(mut self, points: usize, seed: u64) -> Self {
        self.sample = points;
        self.seed = seed;
        self
    }

    /// Each run starts where the model with its values is at rest: the derivatives of all continuous states are zero. Refused
    /// where a state cannot be set; a run for which there is no rest has failed.
    pub fn starting_at_rest(mut self) -> Result<Self, Error> {
        self.scenario.check_settable()?;
        self.from_rest = true;
        Ok(self)
    }

    /// What is fitted, and where the search starts.
    pub fn parameters(&self) -> &[FitParameter] {
        &self.parameters
    }

    /// The data in the units of the model.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// What the user should know beforehand.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Makes the fit.
    pub fn run(&self) -> Result<Fitted, Error> {
        self.run_watched(&NEVER, &|_| ())
    }

    /// The same; `progress` is told after each run how many there were, and `interrupted` ends the search when it is raised.
    pub fn run_watched(
        &self,
        interrupted: &AtomicBool,
        progress: &dyn Fn(usize),
    ) -> Result<Fitted, Error> {
        let fitting = Fitting {
            parameters: &self.parameters,
            measured: &self.measured,
            predict: &|point| self.predict(point, interrupted),
            jobs: self.jobs,
            sample: self.sample,
            seed: self.seed,
            progress,
        };
        Ok(fit(&fitting)?)
    }

    /// The measured variables over a run with these values, as they are to be drawn.
    pub fn trajectory(&self, point: &[f64]) -> Result<Trajectory, Error> {
        let scenario = self.varied(point)?;
        let session = scenario.session(&self.options)?;
        let selection = Variables::of(&scenario.connections).named(&self.names());
        let execution = Execution {
            keep: Keep::Nothing,
            drawn: Some(selection.clone()),
            ..Execution::default()
        };
        let done = execution.run(&scenario, session, &self.options, &selection, &NEVER);
        Ok(done.drawn.map(|drawn| drawn.trajectory).unwrap_or_default())
    }

    /// Where the search starts, unless a sample has something better.
    fn start(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }

    fn names(&self) -> Vec<String> {
        let columns = self.measured.columns.iter();
        columns.map(|column| column.name.clone()).collect()
    }

    fn varied(&self, point: &[f64]) -> Result<Scenario, Error> {
        let names = self.parameters.iter().map(|p| p.name.clone());
        let values: Vec<(String, f64)> = names.zip(point.iter().copied()).collect();
        let mut scenario = self.scenario.with_values(&values)?;
        if self.from_rest {
            scenario.start_at_rest(&self.options)?;
        }
        Ok(scenario)
    }

    /// What the model says where something was measured.
    fn predict(&self, point: &[f64], interrupted: &AtomicBool) -> Prediction {
        let found = self.run_to_compare(point, interrupted);
        (!interrupted.load(Ordering::Relaxed)).then_some(found)
    }

    fn run_to_compare(&self, point: &[f64], interrupted: &AtomicBool) -> Result<Vec<f64>, String> {
        let scenario = self.varied(point).map_err(|error| match error {
            Error::Model(bad) => sentences(bad),
            other => other.to_string(),
        })?;
        let names = self.names();
        let rows = Rows::At(Arc::clone(&self.times));
        let recorder = |_: &Session<'_>, needed: &Selection| {
            let sink = Trajectory::of(needed);
            Recorder::new(&scenario.connections, needed, sink, "the fit").with_rows(rows)
        };
        let run = RunAt {
            scenario: &scenario,
            options: &self.options,
            needed: &names,
            drawn: &[],
            file: None,
            interrupted,
        };
        let found = run.run(recorder)?.sink;
        self.at_measured_times(&found)
    }

    /// Column by column.
    fn at_measured_times(&self, found: &Trajectory) -> Result<Vec<f64>, String> {
        if found.times().len() < self.times.len() {
            let last = found.times().last().copied().unwrap_or(f64::NAN);
            return Err(format!(
                "it ended at t = {last} s, before the last measured time"
            ));
        }
        let mut values = Vec::with_capacity(self.measured.values());
        for column in &self.measured.columns {
            let simulated = found.column(&column.name);
            let simulated = simulated.expect("BUG: a measured variable is recorded");
            for time in &column.times {
                let row = self.times.partition_point(|known| known < time);
                values.push(simulated[row]);
            }
        }
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err("a value is not a finite number".to_owned()),
        }
    }
}

fn not_fitted(StudyError(message): StudyError) -> Error {
    Error::NoFit(FitError::Data(message))
}

fn refused(message: String) -> Error {
    Error::NoFit(FitError::Data(message))
}

/// The data with full names, in the units of the model, in seconds.
fn in_units_of_model(
    scenario: &Scenario,
    measured: Measured,
    warnings: &mut Vec<String>,
) -> Result<Measured, Error> {
    let file = measured.file.clone();
    let seconds = seconds(&measured)?;
    let variables = Variables::of(&scenario.connections);
    let mut columns: Vec<MeasuredColumn> = Vec::new();
    for column in measured.columns {
        let variable = variable(scenario, &variables, &column, &file)?;
        if columns.iter().any(|other| other.name == variable.name) {
            let name = &variable.name;
            return Err(refused(format!("{file}: `{name}` has two columns")));
        }
        let blame = |what: String| refused(format!("{file}, column `{}`: {what}", column.name));
        let times = column.times.iter().map(|time| time * seconds);
        let times = times.map(|time| within_run(scenario, time).map_err(blame));
        columns.push(MeasuredColumn {
            times: times.collect::<Result<_, _>>()?,
            values: values_in_own_unit(scenario, variable, &column, warnings).map_err(blame)?,
            name: variable.name.clone(),
            unit: variable.unit.clone().or(column.unit.clone()),
        });
    }

    Ok(Measured {
        file,
        time_unit: None,
        columns,
    })
}

/// The seconds in the unit of time.
fn seconds(measured: &Measured) -> Result<f64, Error> {
    let Some(unit) = &measured.time_unit else {
        return Ok(1.0);
    };
    let file = &measured.file;
    seconds_in(unit).ok_or_else(|| refused(format!("{file}, line 1: `{unit}` is no unit of time")))
}

/// The one variable that a column is named after.
fn variable<'a>(
    scenario: &Scenario,
    variables: &'a Variables,
    column: &MeasuredColumn,
    file: &str,
) -> Result<&'a Variable, Error> {
    let name = &column.name;
    let found = variables.select(&scenario.patterns(std::slice::from_ref(name)));
    let found = found.map_err(|error| {
        refused(format!(
            "{file}, line 1: the column `{name}` is no variable of the model: {error}"
        ))
    })?;
    match found.variables() {
        [one] => {
            let mut all = variables.all().iter();
            let known = all.find(|known| known.name == one.name);
            Ok(known.expect("BUG: a selected variable is one of them"))
        }
        several => Err(refused(format!(
            "{file}, line 1: the column `{name}` fits {} variables",
            several.len()
        ))),
    }
}

/// A measured time, which has to be one of the run.
fn within_run(scenario: &Scenario, time: f64) -> Result<f64, String> {
    let (start, stop) = (scenario.start_time, scenario.stop_time);
    let near = COINCIDENT * (stop - start);
    if time >= start - near && time <= stop + near {
        return Ok(time.clamp(start, stop));
    }
    Err(format!(
        "a value was measured at t = {time} s, but the run goes from {start} s to {stop} s: leave it away, or run the model \
         over that time"
    ))
}

fn values_in_own_unit(
    scenario: &Scenario,
    variable: &Variable,
    column: &MeasuredColumn,
    warnings: &mut Vec<String>,
) -> Result<Vec<f64>, String> {
    let Some(unit) = &column.unit else {
        return Ok(column.values.clone());
    };
    let name = &variable.name;
    match scenario.conversion(name, variable.unit.as_deref(), unit)? {
        Some(mapping) => {
            let values = column.values.iter();
            Ok(values.map(|value| mapping.value(*value)).collect())
        }
        None => {
            warnings.push(format!(
                "`{name}` has no unit: the values of its column are taken as they are"
            ));
            Ok(column.values.clone())
        }
    }
}
