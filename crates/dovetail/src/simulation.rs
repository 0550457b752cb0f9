//! A run with choices of its own.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use dovetail_core::Observer;
use dovetail_report::Variables;
use dovetail_scenario::{Choices, Placement, Scenario};

use crate::comparison::{Compared, measured};
use crate::error::Error;
use crate::execution::Execution;
use crate::run::Run;

/// Nobody asks for the end of a run.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// A run that is about to begin.
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    choices: Choices,
    placement: Placement,
    record: Vec<String>,
    execution: Execution<'a>,
    stop: &'a AtomicBool,
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            choices: Choices::default(),
            placement: Placement::default(),
            record: Vec::new(),
            execution: Execution::default(),
            stop: &NEVER,
        }
    }

    /// The coupling method, by name; `auto` by default.
    pub fn method(self, name: &str) -> Self {
        self.option("method", name)
    }

    /// An option of the run or of its method, as in the `[method]` table of a model file: `option("tolerance", 1e-8)`.
    pub fn option(mut self, key: &str, value: impl ToString) -> Self {
        self.choices.set(key, value.to_string());
        self
    }

    /// Records these variables only; `*` stands for any text.
    pub fn record(mut self, patterns: &[&str]) -> Self {
        self.record = patterns.iter().map(|pattern| pattern.to_string()).collect();
        self
    }

    /// Rows at multiples of this time.
    pub fn output_interval(mut self, interval: f64) -> Self {
        self.execution.output_interval = Some(interval);
        self
    }

    /// Finds the error of the run by running it again.
    pub fn verify(mut self) -> Self {
        self.execution.verify = true;
        self
    }

    /// Spreads the systems over so many threads.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.placement = Placement::Threads(Some(threads));
        self
    }

    /// Gives each system a process of its own: one that crashes or hangs takes nobody with it. The program is that of
    /// [`ModelBuilder::worker_executable`](crate::ModelBuilder::worker_executable).
    pub fn processes(mut self, program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        let program = program.as_ref().to_owned();
        self.placement = Placement::processes(program, arguments, None, &NEVER);
        self
    }

    /// Adds an observer of every step.
    pub fn observer(mut self, observer: &'a mut dyn Observer) -> Self {
        self.execution.observers.push(observer);
        self
    }

    /// Ends the run after the step under way when this is raised, from another thread or from an observer.
    pub fn stop_when(mut self, raised: &'a AtomicBool) -> Self {
        self.stop = raised;
        self
    }

    /// Runs and measures all states and outputs against all equations solved as one system.
    pub fn compare(self) -> Result<Compared, Error> {
        measured(self.scenario, &self.choices, self.stop)
    }

    /// Runs.
    pub fn run(self) -> Result<Run, Error> {
        let mut options = self.scenario.options(&self.choices)?;
        options.placement = self.placement;
        let session = self.scenario.session(&options)?;
        let variables = Variables::of(&self.scenario.connections);
        let variables = variables.with_signals(&session.signals());
        let selection = variables.select(&self.scenario.patterns(&self.record));
        let selection = selection.map_err(|error| Error::NoSuchVariable(error.to_string()))?;
        let done = self
            .execution
            .run(self.scenario, session, &options, &selection, self.stop);

        Run::of(done)
    }
}
