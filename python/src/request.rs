//! What Python asks for: a model, what is changed in it, and how it is run.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dovetail::Error;
use dovetail::fmi::{CallLog, InterfaceUse};
use dovetail::report::{Selection, Variables, interval_problem};
use dovetail::scenario::{
    BadModel, Catalog, Choices, Overrides, Placement, Problem, ProcessPool, RunOptions, Scenario,
    Session, SourceText, helpers,
};
use pyo3::prelude::*;

use crate::system::PYTHON_SYSTEMS;
use crate::waiting::Stop;

/// The command that the program serves another one with.
const WORKER: &str = "worker";

/// A run, as Python asks for it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Request {
    /// The model: a file, or the name of one that `text` is the text of.
    path: PathBuf,
    text: Option<String>,
    /// The program that serves as child process, and what it may use.
    program: PathBuf,
    step_timeout: Option<f64>,
    memory_limit: Option<u64>,
    set: Vec<(String, String)>,
    parameters: Vec<PathBuf>,
    inputs: Vec<PathBuf>,
    start_time: Option<f64>,
    stop_time: Option<f64>,
    strict: bool,
    interface: Option<String>,
    steady: bool,
    /// The options of the run, the method among them.
    options: Vec<(String, String)>,
    workers: Option<String>,
    worker_threads: Option<usize>,
    record: Vec<String>,
    pub output_interval: Option<f64>,
    pub verify: bool,
    /// Where a page of the run is written.
    pub report: Option<PathBuf>,
    /// Simulated seconds for each second of the clock.
    pub real_time: Option<f64>,
    log_fmi_calls: Option<PathBuf>,
    /// Whether systems of the model are written in Python.
    pub python: bool,
    /// The run may be taken back to before its current communication point.
    rewind: bool,
}

impl Request {
    /// The model, read with the changes made and moved to rest if that is wanted, and how to run it.
    pub fn read(&self, stop: &Stop) -> Result<(Scenario, RunOptions), BadModel> {
        let mut scenario = self.load(&self.overrides(stop)?)?;
        self.check_interval(&scenario)?;
        if let Some(factor) = self
            .real_time
            .filter(|factor| !(*factor > 0.0 && factor.is_finite()))
        {
            return Err(self.bad(format!(
                "real_time={factor}: a number above zero is expected"
            )));
        }
        let options = self.run_options(&scenario, stop)?;
        self.start_at_rest(&mut scenario, &options)?;
        Ok((scenario, options))
    }

    /// Moves the start of the model to where it is at rest, if that is wanted.
    pub fn start_at_rest(
        &self,
        scenario: &mut Scenario,
        options: &RunOptions,
    ) -> Result<(), BadModel> {
        if self.steady {
            scenario.start_at_rest(options)?;
        }
        Ok(())
    }

    /// What is to be recorded of a session.
    pub fn selection(
        &self,
        scenario: &Scenario,
        session: &Session<'_>,
    ) -> Result<Selection, Error> {
        let variables = Variables::of(&scenario.connections).with_signals(&session.signals());
        let selection = variables.select(&scenario.patterns(&self.record));
        selection.map_err(|error| Error::NoSuchVariable(error.to_string()))
    }

    fn check_interval(&self, scenario: &Scenario) -> Result<(), BadModel> {
        let (start, stop) = (scenario.start_time, scenario.stop_time);
        let interval = self.output_interval;
        let problem = interval.and_then(|interval| interval_problem(interval, start, stop));
        problem.map_or(Ok(()), |problem| {
            Err(self.bad(format!("output_interval= {problem}")))
        })
    }

    pub fn load(&self, overrides: &Overrides) -> Result<Scenario, BadModel> {
        let catalog = &Catalog::default().with_source(&PYTHON_SYSTEMS);
        match &self.text {
            None => Scenario::load_with(&self.path, overrides, catalog),
            Some(text) => {
                let source = SourceText {
                    path: self.path.display().to_string(),
                    text: text.clone(),
                };
                Scenario::parse_with(source, overrides, catalog)
            }
        }
    }

    pub fn overrides(&self, stop: &Stop) -> Result<Overrides, BadModel> {
        Ok(Overrides {
            values: self.set.clone(),
            parameter_files: self.parameters.clone(),
            inputs: self.inputs.clone(),
            start_time: self.start_time,
            stop_time: self.stop_time,
            strict: self.strict,
            interface: self.interface_use()?,
            record: self.record.clone(),
            helpers: Some(self.child(stop)?),
            fmi_log: self.log_fmi_calls.clone(),
            probe_tolerance: self.probe_tolerance(),
            ..Overrides::default()
        })
    }

    /// So long a call may take in this process; where systems live in others, those are watched there.
    pub fn step_limit(&self) -> Result<Option<Duration>, BadModel> {
        Ok(self
            .time_limit()?
            .filter(|_| self.workers.as_deref() != Some("processes")))
    }

    fn interface_use(&self) -> Result<Option<InterfaceUse>, BadModel> {
        match self.interface.as_deref() {
            None => Ok(None),
            Some("co-simulation") => Ok(Some(InterfaceUse::CoSimulation)),
            Some("model-exchange") => Ok(Some(InterfaceUse::ModelExchange)),
            Some(other) => Err(self.bad(format!(
                "interface=\"{other}\": an FMU has \"co-simulation\" or \"model-exchange\""
            ))),
        }
    }

    /// What the solvers of FMUs are asked for in the run is what they are tried with.
    fn probe_tolerance(&self) -> Option<f64> {
        let option = |wanted: &str| {
            let given = self.options.iter().find(|(key, _)| key == wanted)?;
            let number: f64 = given.1.parse().ok()?;
            (number > 0.0).then_some(number)
        };
        let coupling = option("tolerance").map(|tolerance| 0.01 * tolerance);
        let asked = option("integrator-tolerance").or(coupling);
        asked.map(|tolerance| tolerance.clamp(1e-12, 1e-4))
    }

    pub fn run_options(&self, scenario: &Scenario, stop: &Stop) -> Result<RunOptions, BadModel> {
        let mut choices = Choices::default();
        for (key, value) in &self.options {
            choices.set(key, value);
        }
        let log = self.log_fmi_calls.as_deref().map(CallLog::append);
        let fmi_log: Option<Arc<CallLog>> = log
            .transpose()
            .map_err(|error| self.bad(format!("log_fmi_calls: {error}")))?;

        Ok(RunOptions {
            placement: self.placement(scenario, stop)?,
            fmi_log,
            goes_back: self.rewind,
            ..scenario.options(&choices)?
        })
    }

    fn placement(&self, scenario: &Scenario, stop: &Stop) -> Result<Placement, BadModel> {
        let threads = match self.worker_threads {
            None => None,
            Some(number) => Some(NonZeroUsize::new(number).ok_or_else(|| {
                self.bad("worker_threads=0: it takes at least one thread".to_owned())
            })?),
        };

        if self.memory_limit.is_some() && self.workers.as_deref() != Some("processes") {
            return Err(self.bad(
                "memory_limit= goes with workers=\"processes\": here it would be one of the whole interpreter"
                    .to_owned(),
            ));
        }
        match (self.workers.as_deref(), threads) {
            // Where runs follow one another an FMU that can be used once in a process gets a new one each time.
            (None | Some("auto"), None) if scenario.has_single_instances() && !self.python => {
                self.processes(stop)
            }
            (None | Some("auto"), None) => Ok(Placement::Auto),
            (None | Some("threads"), threads) => Ok(Placement::Threads(threads)),
            (Some("processes"), None) => self.processes(stop),
            (Some("mpi"), _) => Err(self.bad(
                "workers=\"mpi\": ranks are started by mpirun, with the program `dovetail`; here \
                 systems run in \"threads\" or \"processes\""
                    .to_owned(),
            )),
            (Some("auto" | "processes"), Some(_)) => Err(self.bad(
                "worker_threads= goes with workers=\"threads\"".to_owned(),
            )),
            (Some(other), _) => Err(self.bad(format!(
                "workers=\"{other}\": systems run under \"auto\", in \"threads\" or in \"processes\""
            ))),
        }
    }

    pub fn processes(&self, stop: &Stop) -> Result<Placement, BadModel> {
        Ok(Placement::Processes(self.child(stop)?))
    }

    fn time_limit(&self) -> Result<Option<Duration>, BadModel> {
        let refuse = |seconds: f64| {
            let wrong = format!("step_timeout={seconds}: give a number of seconds above zero");
            self.bad(wrong)
        };
        let limit = |seconds: f64| {
            let limit = Duration::try_from_secs_f64(seconds).ok();
            limit
                .filter(|limit| !limit.is_zero())
                .ok_or(refuse(seconds))
        };
        self.step_timeout.map(limit).transpose()
    }

    fn worker_arguments(&self) -> Vec<String> {
        let limit = self
            .memory_limit
            .map(|bytes| format!("--memory-limit={bytes}"));
        [WORKER.to_owned()].into_iter().chain(limit).collect()
    }

    /// The program as a child, in which FMUs are tried out or live.
    fn child(&self, stop: &Stop) -> Result<ProcessPool, BadModel> {
        let arguments = self.worker_arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let limit = self.time_limit()?;
        Ok(helpers(
            self.program.clone(),
            &arguments,
            limit,
            stop.clone(),
        ))
    }

    /// A refusal of what Python asks for.
    pub fn bad(&self, why: String) -> BadModel {
        BadModel {
            source: SourceText {
                path: self.path.display().to_string(),
                text: String::new(),
            },
            problems: vec![Problem::general(why)],
        }
    }
}
