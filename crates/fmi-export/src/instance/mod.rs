//! One instance of the FMU: the order of calls, and its model.
//!
//! ```text
//! values        what variables are, and how they are set
//! stepping      Co-Simulation: steps, derivatives of inputs and outputs
//! exchange      Model Exchange: time, states, derivatives, events
//! directional   derivatives in a direction of states and inputs
//! saving        states as a whole
//! model_run     a model and its run, in parts
//! ```

mod directional;
mod exchange;
mod model_run;
mod number;
mod saved_states;
mod saving;
mod stepping;
mod values;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dovetail::core::Signal;
use dovetail::export::{ExportedInterface, ExportedVariable, Manifest};
use dovetail::scenario::{ExchangeModel, FaceRole, RunCourse, RunOptions, Scenario};
use serde::{Deserialize, Serialize};

use self::model_run::ModelRun;
pub(crate) use self::number::Number;
use self::saved_states::SavedStates;
use crate::intermediate::{IntermediateUpdate, SharedValues};
use crate::logger::Logger;

/// Where an importer gives no stop time, its runs may go on for so many times the length of the model's own.
const LONGEST_OPEN_RUN: f64 = 1000.0;
/// Beyond a stop time that is given there is room for so much of the run: importers do not always end where they said.
const ROOM_BEYOND_STOP: f64 = 1.0;
/// The highest derivative of an input that is taken.
pub(crate) const HIGHEST_DERIVATIVE: usize = 5;

/// Value and derivatives of an input.
type Derivatives = [f64; HIGHEST_DERIVATIVE + 1];

/// Where an instance is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    Instantiated,
    Initialization,
    Stepping,
    /// Of Model Exchange.
    Event,
    /// Of Model Exchange.
    ContinuousTime,
    Terminated,
    Failed,
}

impl Phase {
    /// After the initialization, and before the end.
    const RUNNING: [Self; 3] = [Self::Stepping, Self::Event, Self::ContinuousTime];
    /// Until the end.
    const ALIVE: [Self; 5] = [
        Self::Instantiated,
        Self::Initialization,
        Self::Stepping,
        Self::Event,
        Self::ContinuousTime,
    ];
}

/// The model, ready to answer.
enum Engine {
    /// Co-Simulation.
    Coupled(Box<ModelRun>),
    /// Model Exchange.
    Equations(Box<ExchangeModel>),
}

/// One instance of the FMU.
pub(crate) struct Instance {
    pub logger: Logger,
    resources: PathBuf,
    manifest: Manifest,
    phase: Phase,
    /// Start, and stop where it is given.
    times: (f64, Option<f64>),
    time: f64,
    /// Parameters and start values of states that were set, as text.
    parameters: BTreeMap<u32, String>,
    /// Each input, by its slot.
    inputs: Vec<Derivatives>,
    /// The model as it was read last, where no run has it.
    scenario: Option<Scenario>,
    engine: Option<Engine>,
    /// A system inside has asked for the end of the simulation.
    ends: bool,
    /// The importer does not go back to before where the model stands.
    stays: Arc<AtomicBool>,
    saved: SavedStates,
    /// How the importer is asked for its inputs within a step.
    pub intermediate: Option<IntermediateUpdate>,
    /// What it has answered.
    pub given: SharedValues,
    /// Texts that were handed out last.
    texts: Vec<CString>,
}

impl Instance {
    /// An instance of the FMU whose resources are in this folder; the model is read, so that what is wrong with it is said at once.
    pub fn new(
        resources: PathBuf,
        token: &str,
        interface: ExportedInterface,
        logger: Logger,
    ) -> Result<Self, (Logger, String)> {
        let manifest = match Manifest::read(&resources) {
            Ok(manifest) => manifest,
            Err(error) => return Err((logger, error.to_string())),
        };
        if let Err(text) = check_origin(&manifest, token, interface) {
            return Err((logger, text));
        }
        let inputs = starts(&manifest);
        let mut instance = Self {
            logger,
            times: (manifest.start_time, None),
            time: manifest.start_time,
            resources,
            phase: Phase::Instantiated,
            parameters: BTreeMap::new(),
            inputs,
            scenario: None,
            engine: None,
            ends: false,
            stays: Arc::new(AtomicBool::new(false)),
            saved: SavedStates::default(),
            intermediate: None,
            given: SharedValues::default(),
            texts: Vec::new(),
            manifest,
        };
        match instance.load() {
            Ok(scenario) => {
                for warning in &scenario.warnings {
                    instance.logger.warn(warning);
                }
                instance.scenario = Some(scenario);
                Ok(instance)
            }
            Err(text) => Err((instance.logger, text)),
        }
    }

    /// After a mistake of ours nothing is sure any more.
    pub fn fail(&mut self) {
        self.phase = Phase::Failed;
    }

    fn expect(&self, phases: &[Phase], what: &str) -> Result<(), String> {
        if phases.contains(&self.phase) {
            return Ok(());
        }
        let now = match self.phase {
            Phase::Instantiated => "before its initialization",
            Phase::Initialization => "in initialization mode",
            Phase::Stepping => "in its steps",
            Phase::Event => "in event mode",
            Phase::ContinuousTime => "in continuous-time mode",
            Phase::Terminated => "terminated",
            Phase::Failed => "in an error state",
        };
        Err(format!("{what} out of order: the instance is {now}"))
    }

    /// The times of a run.
    pub fn set_up(&mut self, start: f64, stop: Option<f64>) -> Result<(), String> {
        self.expect(&[Phase::Instantiated], "the experiment is set up")?;
        if !start.is_finite() || stop.is_some_and(|stop| stop.is_nan() || stop <= start) {
            return Err(format!("a run from {start} to {stop:?} is not possible"));
        }
        let times = (start, stop.filter(|stop| stop.is_finite()));
        if times != self.times {
            self.times = times;
            self.forget_model();
        }
        self.time = start;
        Ok(())
    }

    pub fn enter_initialization(&mut self) -> Result<(), String> {
        self.expect(&[Phase::Instantiated], "initialization mode is entered")?;
        self.phase = Phase::Initialization;
        Ok(())
    }

    pub fn exit_initialization(&mut self) -> Result<(), String> {
        self.expect(&[Phase::Initialization], "initialization mode is left")?;
        self.engine()?;
        self.phase = match self.manifest.interface {
            ExportedInterface::CoSimulation => Phase::Stepping,
            ExportedInterface::ModelExchange => Phase::Event,
        };
        Ok(())
    }

    pub fn terminate(&mut self) -> Result<(), String> {
        let phases = [&Phase::RUNNING[..], &[Phase::Initialization, Phase::Failed]];
        self.expect(&phases.concat(), "the instance is terminated")?;
        self.phase = Phase::Terminated;
        Ok(())
    }

    /// As it was when it was made.
    pub fn reset(&mut self) {
        self.forget_model();
        self.ends = false;
        self.phase = Phase::Instantiated;
        self.parameters.clear();
        self.inputs = starts(&self.manifest);
        self.times = (self.manifest.start_time, None);
        self.time = self.manifest.start_time;
    }

    /// The model has to be read again.
    fn forget_model(&mut self) {
        self.engine = None;
        self.scenario = None;
    }

    /// The model has to be set up again, but not to be read.
    fn forget_run(&mut self) {
        if let Some(Engine::Coupled(run)) = self.engine.take() {
            self.scenario = Some(run.into_scenario());
        }
    }

    /// Reads the model with the values that were set, for the times of the run.
    fn load(&self) -> Result<Scenario, String> {
        let mut changes = self.manifest.overrides(&self.resources);
        for (reference, text) in &self.parameters {
            let face = &self.variable(*reference)?.face;
            let name = face.name_of_value().to_owned();
            changes.values.push((name, text.clone()));
        }
        let (start, stop) = self.times;
        changes.start_time = Some(start);
        changes.stop_time = Some(stop.unwrap_or(start + self.own_span()));
        let model = self.manifest.model_path(&self.resources);
        Scenario::load(&model, &changes).map_err(|bad| bad.to_string())
    }

    /// The length of the model's own run.
    fn own_span(&self) -> f64 {
        self.manifest.stop_time - self.manifest.start_time
    }

    /// How far beyond its stop time, or the model's, a run may go on.
    fn room_beyond_stop(&self) -> f64 {
        match self.times.1 {
            Some(stop) => ROOM_BEYOND_STOP * (stop - self.times.0),
            None => LONGEST_OPEN_RUN * self.own_span(),
        }
    }

    fn options(&self, scenario: &Scenario) -> Result<RunOptions, String> {
        let options = scenario.options(&self.manifest.choices());
        Ok(RunOptions {
            goes_back: self.manifest.capabilities.state,
            course: RunCourse {
                open_end: self.times.1.is_none(),
                stays: Some(Arc::clone(&self.stays)),
            },
            beyond_stop: self.room_beyond_stop(),
            ..options.map_err(|bad| bad.to_string())?
        })
    }

    /// The model, set up where it is not.
    fn engine(&mut self) -> Result<&mut Engine, String> {
        if self.engine.is_none() {
            let scenario = match self.scenario.take() {
                Some(scenario) => scenario,
                None => self.load()?,
            };
            let options = self.options(&scenario)?;
            self.engine = Some(match self.manifest.interface {
                ExportedInterface::CoSimulation => {
                    let run = ModelRun::new(scenario, options, &self.signals())?;
                    Engine::Coupled(Box::new(run))
                }
                ExportedInterface::ModelExchange => {
                    let model = self.equations_of(&scenario, &options)?;
                    self.scenario = Some(scenario);
                    Engine::Equations(Box::new(model))
                }
            });
        }
        self.engine
            .as_mut()
            .ok_or_else(|| "the model is not set up".to_owned())
    }

    /// The run of a model, under Co-Simulation.
    fn coupled(&mut self) -> Result<&mut ModelRun, String> {
        match self.engine()? {
            Engine::Coupled(run) => Ok(run),
            Engine::Equations(_) => Err("this instance is one of Model Exchange".to_owned()),
        }
    }

    /// The inputs as polynomials.
    fn signals(&self) -> Vec<Signal> {
        let polynomial = |derivatives: &Derivatives| {
            let mut factorial = 1.0;
            let mut coefficients = *derivatives;
            for (order, coefficient) in coefficients.iter_mut().enumerate().skip(1) {
                factorial *= order as f64;
                *coefficient /= factorial;
            }
            let degree = coefficients.iter().rposition(|c| *c != 0.0).unwrap_or(0);
            Signal::new(&coefficients[..=degree])
        };
        self.inputs.iter().map(polynomial).collect()
    }

    fn variable(&self, reference: u32) -> Result<&ExportedVariable, String> {
        let position = (reference as usize).checked_sub(1);
        let found = position.and_then(|position| self.manifest.variables.get(position));
        found
            .filter(|variable| variable.reference == reference)
            .ok_or_else(|| format!("there is no variable with the reference {reference}"))
    }
}

fn check_origin(
    manifest: &Manifest,
    token: &str,
    interface: ExportedInterface,
) -> Result<(), String> {
    if token != manifest.token {
        let own = &manifest.token;
        return Err(format!(
            "the token is {token:?}, and that of this FMU is {own:?}"
        ));
    }
    if interface != manifest.interface {
        let own = match manifest.interface {
            ExportedInterface::CoSimulation => "Co-Simulation",
            ExportedInterface::ModelExchange => "Model Exchange",
        };
        return Err(format!("this FMU is one for {own}"));
    }
    Ok(())
}

/// The start values of all inputs.
fn starts(manifest: &Manifest) -> Vec<Derivatives> {
    let mut inputs: Vec<Derivatives> = Vec::new();
    for variable in &manifest.variables {
        if let FaceRole::Input(slot) = variable.face.role {
            let start = variable.face.start.as_deref().and_then(Number::parse);
            inputs.resize(inputs.len().max(slot + 1), Derivatives::default());
            inputs[slot][0] = start.map_or(0.0, Number::as_float);
        }
    }
    inputs
}
