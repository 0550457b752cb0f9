//! A model, read and checked.

use std::path::{Path, PathBuf};

use dovetail_report::LinearModel;
use dovetail_scenario::{Catalog, Choices, Overrides, Scenario, SourceText, helpers};
use dovetail_study::{Design, Factor, FitError, Measured, StudyError};

use crate::comparison::{Compared, compare};
use crate::enclosure::{Enclosure, enclose};
use crate::error::Error;
use crate::fit::Fit;
use crate::linearization::linearize;
use crate::run::Run;
use crate::simulation::{NEVER, Simulation};
use crate::sweep::Sweep;

/// A model: a TOML file, an FMU, a system structure (SSP), or [systems of a program](crate::Coupling).
#[derive(Debug)]
pub struct Model {
    scenario: Scenario,
}

impl Model {
    /// Reads and checks a model: a TOML file, an FMU, or a system structure.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::builder(path).load()
    }

    /// A model in a file, of which something is to be changed before it is read.
    pub fn builder(path: impl AsRef<Path>) -> ModelBuilder {
        ModelBuilder {
            path: path.as_ref().to_owned(),
            overrides: Overrides::default(),
            catalog: Catalog::default(),
        }
    }

    /// Reads and checks the text of a model file.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let source = SourceText {
            path: "model.toml".to_owned(),
            text: text.to_owned(),
        };
        let scenario = Scenario::parse(source, &Overrides::default())?;
        Ok(Self { scenario })
    }

    /// A model that was set up by hand.
    pub fn of(scenario: Scenario) -> Self {
        Self { scenario }
    }

    /// What it consists of: connections, times, warnings.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Runs it as its file says, by default with the method that its systems permit.
    pub fn run(&self) -> Result<Run, Error> {
        self.simulation().run()
    }

    /// A run with choices of its own.
    pub fn simulation(&self) -> Simulation<'_> {
        Simulation::new(&self.scenario)
    }

    /// Runs it by several methods and measures the error of each against all equations solved as one system.
    pub fn compare(&self, methods: &[&str]) -> Result<Vec<Compared>, Error> {
        compare(&self.scenario, methods)
    }

    /// The coupled model, linearized at its start, with its eigenvalues.
    pub fn linearize(&self) -> Result<LinearModel, Error> {
        let options = self.scenario.options(&Choices::default())?;
        Ok(linearize(&self.scenario, &options, false, &NEVER)?)
    }

    /// Runs it many times, with the values of a design, and keeps of each run what these texts say: `max(car.v)`, or `final`,
    /// `min`, `max` and `mean` for all outputs and states.
    pub fn sweep(&self, design: Design, keep: &[&str]) -> Result<Sweep<'_>, Error> {
        let options = self.scenario.options(&Choices::default())?;
        let keep: Vec<String> = keep.iter().map(|text| text.to_string()).collect();
        Sweep::new(&self.scenario, &options, design, &keep, &[])
    }

    /// Fits parameters or start values within bounds, `car.m=500:2000`, to measured data.
    pub fn fit(&self, measured: Measured, vary: &[&str]) -> Result<Fit<'_>, Error> {
        let options = self.scenario.options(&Choices::default())?;
        let factors: Result<Vec<Factor>, StudyError> =
            vary.iter().map(|text| text.parse()).collect();
        let factors = factors.map_err(|StudyError(message)| FitError::Data(message))?;
        Fit::new(&self.scenario, &options, &factors, measured)
    }

    /// Bounds that are proved to hold every trajectory, for models given as equations.
    pub fn enclose(&self) -> Result<Enclosure, Error> {
        enclose(&self.scenario)
    }
}

/// A model that is still to be read.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    path: PathBuf,
    overrides: Overrides,
    catalog: Catalog,
}

impl ModelBuilder {
    /// Gives a parameter, or the start value of a state or an input, another value: `set("prey.p", 2.0)`.
    pub fn set(mut self, name: &str, value: impl ToString) -> Self {
        let entry = (name.to_owned(), value.to_string());
        self.overrides.values.push(entry);
        self
    }

    /// Sets parameters from a file (`.toml`, `.ssv`, `.csv`), before those of [`ModelBuilder::set`].
    pub fn parameters(mut self, file: impl AsRef<Path>) -> Self {
        self.overrides
            .parameter_files
            .push(file.as_ref().to_owned());
        self
    }

    /// Has the columns of a table (CSV or Parquet) feed the inputs and tunable parameters that they are named after.
    pub fn input(mut self, table: impl AsRef<Path>) -> Self {
        self.overrides.inputs.push(table.as_ref().to_owned());
        self
    }

    /// The time at which runs start.
    pub fn start_time(mut self, time: f64) -> Self {
        self.overrides.start_time = Some(time);
        self
    }

    /// The time at which runs stop.
    pub fn stop_time(mut self, time: f64) -> Self {
        self.overrides.stop_time = Some(time);
        self
    }

    /// Tries FMUs out in processes of this program, so that one that crashes or hangs harms nobody. It is the program
    /// `dovetail` with the argument `worker`, or any program that then calls [`serve_worker`](crate::serve_worker).
    /// Without it FMUs are tried out in this process.
    pub fn worker_executable(mut self, program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        let program = program.as_ref().to_owned();
        self.overrides.helpers = Some(helpers(program, arguments, None, &NEVER));
        self
    }

    /// Methods, solvers and kinds of sources that the engine does not have.
    pub fn catalog(mut self, catalog: Catalog) -> Self {
        self.catalog = catalog;
        self
    }

    /// Reads and checks the model.
    pub fn load(self) -> Result<Model, Error> {
        let scenario = Scenario::load_with(&self.path, &self.overrides, &self.catalog)?;
        Ok(Model { scenario })
    }
}
