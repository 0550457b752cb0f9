//! One instance of the FMU: the order of calls, its values, its run.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::PathBuf;

use dovetail::core::{Ending, Signal};
use dovetail::export::{ExportedVariable, Manifest};
use dovetail::scenario::{FaceRole, FaceType, RunOptions, Scenario};
use serde::{Deserialize, Serialize};

use crate::logger::Logger;
use crate::model_run::ModelRun;
use crate::state::{SavedState, SavedStates};

/// Where an importer gives no stop time, its runs may be so many times as long as the model's own.
const LONGEST_OPEN_RUN: f64 = 1000.0;
/// Beyond a stop time that is given there is room for so much of the run: importers do not always end where they said.
const ROOM_BEYOND_STOP: f64 = 1.0;
/// Communication points that importers compute differ from ours by no more than this part of a step.
const SAME_POINT: f64 = 1e-3;
/// The highest derivative of an input that is taken.
const HIGHEST_DERIVATIVE: usize = 5;

/// Where an instance is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    Instantiated,
    Initialization,
    Stepping,
    Terminated,
    Failed,
}

/// What a step has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stepped {
    /// Where the model is.
    pub time: f64,
    /// A system inside asks for the end of the simulation.
    pub ends: bool,
}

/// A value for a variable, or of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Float(f64),
    Integer(i64),
    Boolean(bool),
}

impl Number {
    fn as_float(&self) -> f64 {
        match *self {
            Self::Float(value) => value,
            Self::Integer(value) => value as f64,
            Self::Boolean(value) => f64::from(u8::from(value)),
        }
    }

    fn as_text(&self) -> String {
        match self {
            Self::Float(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Boolean(value) => value.to_string(),
        }
    }

    fn fits(&self, wanted: FaceType) -> bool {
        matches!(
            (self, wanted),
            (Self::Float(_), FaceType::Float)
                | (Self::Integer(_), FaceType::Integer)
                | (Self::Boolean(_), FaceType::Boolean)
        )
    }
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
    /// Parameters that were set, as text.
    parameters: BTreeMap<u32, String>,
    /// Value and derivatives of each input, by its slot.
    inputs: Vec<[f64; HIGHEST_DERIVATIVE + 1]>,
    run: Option<ModelRun>,
    /// A system inside has asked for the end of the simulation.
    ends: bool,
    saved: SavedStates,
    /// Texts that were handed out last.
    texts: Vec<CString>,
}

impl Instance {
    /// An instance of the FMU whose resources are in this folder; the model is read, so that what is wrong with it is said at once.
    pub fn new(resources: PathBuf, token: &str, logger: Logger) -> Result<Self, (Logger, String)> {
        let manifest = match Manifest::read(&resources) {
            Ok(manifest) => manifest,
            Err(error) => return Err((logger, error.to_string())),
        };
        if token != manifest.token {
            let text = format!(
                "the token is {token:?}, and that of this FMU is {:?}",
                manifest.token
            );
            return Err((logger, text));
        }
        let inputs = starts(&manifest);
        let instance = Self {
            logger,
            times: (manifest.start_time, None),
            time: manifest.start_time,
            resources,
            phase: Phase::Instantiated,
            parameters: BTreeMap::new(),
            inputs,
            run: None,
            ends: false,
            saved: SavedStates::default(),
            texts: Vec::new(),
            manifest,
        };
        match instance.scenario() {
            Ok(scenario) => {
                for warning in &scenario.warnings {
                    instance.logger.warn(warning);
                }
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
        self.times = (start, stop.filter(|stop| stop.is_finite()));
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
        self.run()?;
        self.phase = Phase::Stepping;
        Ok(())
    }

    pub fn terminate(&mut self) -> Result<(), String> {
        let phases = [Phase::Stepping, Phase::Initialization, Phase::Failed];
        self.expect(&phases, "the instance is terminated")?;
        self.phase = Phase::Terminated;
        Ok(())
    }

    /// As it was when it was made.
    pub fn reset(&mut self) {
        self.run = None;
        self.ends = false;
        self.phase = Phase::Instantiated;
        self.parameters.clear();
        self.inputs = starts(&self.manifest);
        self.times = (self.manifest.start_time, None);
        self.time = self.manifest.start_time;
    }

    /// The model with the values that were set, for the times of the run.
    fn scenario(&self) -> Result<Scenario, String> {
        let (start, stop) = self.times;
        let span = self.manifest.stop_time - self.manifest.start_time;
        let exact = stop.unwrap_or(start + span);
        let room = match stop {
            Some(stop) => stop + ROOM_BEYOND_STOP * (stop - start),
            None => start + LONGEST_OPEN_RUN * span,
        };
        // A table that ends with the run has nothing beyond it.
        self.scenario_until(room)
            .or_else(|_| self.scenario_until(exact))
    }

    fn scenario_until(&self, stop: f64) -> Result<Scenario, String> {
        let mut changes = self.manifest.overrides(&self.resources);
        for (reference, text) in &self.parameters {
            let variable = self.variable(*reference)?;
            changes
                .values
                .push((variable.face.name.clone(), text.clone()));
        }
        changes.start_time = Some(self.times.0);
        changes.stop_time = Some(stop);
        let model = self.manifest.model_path(&self.resources);
        Scenario::load(&model, &changes).map_err(|bad| bad.to_string())
    }

    /// The run, set up where it is not.
    fn run(&mut self) -> Result<&mut ModelRun, String> {
        if self.run.is_none() {
            let scenario = self.scenario()?;
            let options = scenario.options(&self.manifest.choices());
            let options = RunOptions {
                goes_back: self.manifest.capabilities.state,
                ..options.map_err(|bad| bad.to_string())?
            };
            let run = ModelRun::new(scenario, options, &self.signals())?;
            self.run = Some(run);
        }
        self.run
            .as_mut()
            .ok_or_else(|| "the run is not set up".to_owned())
    }

    /// The inputs as polynomials.
    fn signals(&self) -> Vec<Signal> {
        let polynomial = |derivatives: &[f64; HIGHEST_DERIVATIVE + 1]| {
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

    /// Sets an input, or a parameter before the run.
    pub fn set(&mut self, reference: u32, value: &Number) -> Result<(), String> {
        let variable = self.variable(reference)?;
        let name = &variable.face.name;
        if !value.fits(variable.face.value_type) {
            return Err(format!("`{name}` is of another type"));
        }
        if !value.as_float().is_finite() {
            return Err(format!("`{name}` cannot be {}", value.as_float()));
        }
        match variable.face.role {
            FaceRole::Output(_) => Err(format!("`{name}` is an output, which the model computes")),
            FaceRole::Parameter => self.set_parameter(reference, value.as_text()),
            FaceRole::Input(slot) => {
                let phases = [Phase::Instantiated, Phase::Initialization, Phase::Stepping];
                self.expect(&phases, "an input is set")?;
                self.inputs[slot] = [0.0; HIGHEST_DERIVATIVE + 1];
                self.inputs[slot][0] = value.as_float();
                self.set_anew();
                Ok(())
            }
        }
    }

    /// Sets a parameter that is a text.
    pub fn set_text(&mut self, reference: u32, text: String) -> Result<(), String> {
        let variable = self.variable(reference)?;
        if variable.face.value_type != FaceType::Text || variable.face.role != FaceRole::Parameter {
            return Err(format!(
                "`{}` is no text that could be set",
                variable.face.name
            ));
        }
        self.set_parameter(reference, text)
    }

    fn set_parameter(&mut self, reference: u32, text: String) -> Result<(), String> {
        let phases = [Phase::Instantiated, Phase::Initialization];
        let name = &self.variable(reference)?.face.name;
        self.expect(&phases, &format!("the parameter `{name}` is set"))?;
        self.parameters.insert(reference, text);
        self.set_anew();
        Ok(())
    }

    /// A run that was set up to be looked at before it begins is set up again.
    fn set_anew(&mut self) {
        if self.phase != Phase::Stepping {
            self.run = None;
        }
    }

    /// What a variable is.
    pub fn get(&mut self, reference: u32) -> Result<f64, String> {
        if reference == 0 {
            return Ok(self.time);
        }
        let variable = self.variable(reference)?;
        let role = variable.face.role;
        let name = variable.face.name.clone();
        match role {
            FaceRole::Input(slot) => Ok(self.inputs[slot][0]),
            FaceRole::Parameter => {
                let text = self.text_of(reference)?;
                parse(&text).ok_or_else(|| format!("`{name}` is {text:?}, which is no number"))
            }
            FaceRole::Output(stacked) => {
                let phases = [
                    Phase::Initialization,
                    Phase::Stepping,
                    Phase::Terminated,
                    Phase::Failed,
                ];
                self.expect(&phases, &format!("the output `{name}` is asked for"))?;
                if self.phase == Phase::Initialization {
                    self.run()?;
                }
                let knot = self.run.as_ref().and_then(|run| run.output(stacked));
                knot.map(|knot| knot.value)
                    .ok_or_else(|| format!("`{name}` has no value yet"))
            }
        }
    }

    /// The same, where the importer takes it for a value of this type.
    pub fn get_as(&mut self, reference: u32, wanted: FaceType) -> Result<f64, String> {
        let float = FaceType::Float;
        let own = match reference {
            0 => float,
            _ => self.variable(reference)?.face.value_type,
        };
        if own != wanted {
            return Err(format!(
                "the variable with the reference {reference} is of another type"
            ));
        }
        self.get(reference)
    }

    /// A parameter as text.
    fn text_of(&self, reference: u32) -> Result<String, String> {
        let variable = self.variable(reference)?;
        let own = self.parameters.get(&reference).cloned();
        Ok(own.or(variable.face.start.clone()).unwrap_or_default())
    }

    /// Parameters that are texts; they live until the next call.
    pub fn get_texts(&mut self, references: &[u32]) -> Result<&[CString], String> {
        let mut texts = Vec::with_capacity(references.len());
        for &reference in references {
            let variable = self.variable(reference)?;
            if variable.face.value_type != FaceType::Text {
                return Err(format!("`{}` is no text", variable.face.name));
            }
            let text = self.text_of(reference)?.replace('\0', "");
            texts.push(CString::new(text).unwrap_or_default());
        }
        self.texts = texts;
        Ok(&self.texts)
    }

    /// A derivative of an input over the next step.
    pub fn set_input_derivative(
        &mut self,
        reference: u32,
        order: i32,
        value: f64,
    ) -> Result<(), String> {
        let phases = [Phase::Instantiated, Phase::Initialization, Phase::Stepping];
        self.expect(&phases, "a derivative of an input is set")?;
        let variable = self.variable(reference)?;
        let name = &variable.face.name;
        let FaceRole::Input(slot) = variable.face.role else {
            return Err(format!("`{name}` is no input"));
        };
        if variable.face.discrete || variable.face.value_type != FaceType::Float {
            return Err(format!(
                "`{name}` jumps from value to value and has no derivatives"
            ));
        }
        if !value.is_finite() {
            return Err(format!("a derivative of `{name}` cannot be {value}"));
        }
        match usize::try_from(order) {
            Ok(order @ 1..=HIGHEST_DERIVATIVE) => {
                self.inputs[slot][order] = value;
                Ok(())
            }
            _ => Err(format!(
                "`{name}`: derivatives from 1 to {HIGHEST_DERIVATIVE} are taken, not {order}"
            )),
        }
    }

    /// A derivative of an output where the model stands.
    pub fn output_derivative(&mut self, reference: u32, order: i32) -> Result<f64, String> {
        let phases = [Phase::Stepping, Phase::Terminated];
        self.expect(&phases, "a derivative of an output is asked for")?;
        let variable = self.variable(reference)?;
        let name = variable.face.name.clone();
        let FaceRole::Output(stacked) = variable.face.role else {
            return Err(format!("`{name}` is no output"));
        };
        let known = self.manifest.capabilities.output_derivatives;
        if order < 1 || order as usize > known {
            return Err(format!(
                "derivatives of `{name}` up to {known} are known, not {order}"
            ));
        }
        let knot = self.run.as_ref().and_then(|run| run.output(stacked));
        let slope = knot
            .map(|knot| knot.slope)
            .filter(|slope| slope.is_finite());
        slope.ok_or_else(|| format!("the derivative of `{name}` is not known here"))
    }

    /// A communication step.
    pub fn step(&mut self, from: f64, size: f64) -> Result<Stepped, String> {
        self.expect(&[Phase::Stepping], "a step is asked for")?;
        let until = from + size;
        if !(until.is_finite() && size >= 0.0) {
            return Err(format!("a step from {from} of {size} s is none"));
        }
        if (from - self.time).abs() > SAME_POINT * size + 1e-9 * self.time.abs() {
            let time = self.time;
            return Err(format!(
                "a step is to begin at t = {from} s, and the model is at t = {time} s"
            ));
        }
        let limit = self.times.1.map_or(f64::INFINITY, |stop| {
            stop + ROOM_BEYOND_STOP * (stop - self.times.0)
        });
        if until > limit {
            return Err(format!(
                "a step is to end at t = {until} s, far beyond the stop time that was set up"
            ));
        }

        let signals = self.signals();
        let run = self.run()?;
        let ended = run.advance_to(until, &signals);
        for input in &mut self.inputs {
            input[1..].fill(0.0);
        }
        match ended {
            Ok(ending) => {
                self.time = until;
                self.ends = matches!(ending, Ending::Requested { .. });
                Ok(Stepped {
                    time: until,
                    ends: self.ends,
                })
            }
            Err(text) => {
                self.phase = Phase::Failed;
                Err(text)
            }
        }
    }

    /// Where the model is.
    pub fn reached(&self) -> f64 {
        self.time
    }

    /// Whether a system inside has asked for the end of the simulation.
    pub fn wants_to_end(&self) -> bool {
        self.ends
    }

    /// Keeps all that further answers depend on; `before` is a state to be replaced.
    pub fn save(&mut self, before: usize) -> Result<usize, String> {
        self.check_state()?;
        let run = match &mut self.run {
            Some(run) if self.phase == Phase::Stepping => Some(run.save()?),
            _ => None,
        };
        let state = SavedState {
            phase: self.phase,
            time: self.time,
            times: self.times,
            parameters: self.parameters.clone(),
            inputs: self.inputs.clone(),
            run,
            token: self.manifest.token.clone(),
        };
        Ok(self.saved.keep(before, state))
    }

    fn check_state(&self) -> Result<(), String> {
        if self.manifest.capabilities.state {
            return Ok(());
        }
        Err("this FMU declares that its state cannot be saved: not all inside can be".to_owned())
    }

    pub fn restore(&mut self, number: usize) -> Result<(), String> {
        self.check_state()?;
        let state = self.saved.get(number)?.clone();
        let same_model = self.parameters == state.parameters && self.times == state.times;
        if !same_model || state.run.is_none() {
            self.run = None;
        }
        self.times = state.times;
        self.parameters = state.parameters;
        self.inputs = state.inputs;
        if let Some(saved) = &state.run {
            self.run()?.restore(saved)?;
        }
        self.phase = state.phase;
        self.time = state.time;
        Ok(())
    }

    pub fn free_state(&mut self, number: usize) -> Result<(), String> {
        self.check_state()?;
        self.saved.free(number)
    }

    /// A state as bytes.
    pub fn state_bytes(&self, number: usize) -> Result<Vec<u8>, String> {
        self.check_state()?;
        let state = self.saved.get(number)?;
        postcard::to_allocvec(state)
            .map_err(|error| format!("the state cannot be written: {error}"))
    }

    /// A state from bytes.
    pub fn state_from(&mut self, bytes: &[u8]) -> Result<usize, String> {
        self.check_state()?;
        let state: SavedState = postcard::from_bytes(bytes)
            .map_err(|error| format!("these bytes are no state: {error}"))?;
        if state.token != self.manifest.token || state.inputs.len() != self.inputs.len() {
            return Err("this state belongs to another FMU".to_owned());
        }
        Ok(self.saved.keep(0, state))
    }
}

/// The start values of all inputs.
fn starts(manifest: &Manifest) -> Vec<[f64; HIGHEST_DERIVATIVE + 1]> {
    let mut inputs = Vec::new();
    for variable in &manifest.variables {
        if let FaceRole::Input(slot) = variable.face.role {
            inputs.resize(inputs.len().max(slot + 1), [0.0; HIGHEST_DERIVATIVE + 1]);
            inputs[slot][0] = variable
                .face
                .start
                .as_deref()
                .and_then(parse)
                .unwrap_or(0.0);
        }
    }
    inputs
}

/// A number, or a truth value as one.
fn parse(text: &str) -> Option<f64> {
    match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        number => number.parse().ok(),
    }
}
