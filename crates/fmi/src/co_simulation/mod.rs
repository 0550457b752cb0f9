//! An FMU for Co-Simulation as a system.

mod answers;
mod checkpoint;
mod fast_path;
mod held_steps;
mod linearization;
mod stepping;

use std::sync::Arc;

use dovetail_core::{
    Checkpoint, Error, HeldSteps, Interface, Linearize, MacroStep, Precision, Presence, Response,
    Signal, StepRule, System, Trial,
};
use serde::{Deserialize, Serialize};

use self::fast_path::FastSteps;
use crate::abilities::FmuCapabilities;
use crate::applied_inputs::{AppliedInputs, discrete_input_changes, take_values};
use crate::call_error::CallError;
use crate::description::Version;
use crate::exchange::set_other_inputs;
use crate::fmu::course::RunCourse;
use crate::instance::Instance;
use crate::layout::Layout;

/// What a system needs to know of its run.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub stop: f64,
    /// The end of the run as the FMU is told; infinite where it is not told.
    pub told_stop: f64,
    /// The relative tolerance that the FMU is asked for.
    pub tolerance: Option<f64>,
    /// States from before the current communication point may be restored later.
    pub goes_back: bool,
    pub course: RunCourse,
}

/// How far an instance has come in its life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Made,
    Initializing,
    Stepping,
}

/// What is known of events to come.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct EventOutlook {
    /// The time of the next event; infinite where none is known.
    next: f64,
    /// The FMU waits for an event to be handled.
    pending: bool,
    /// Where the FMU has stopped just before where it is said to be; NaN where it is there.
    stopped: f64,
}

impl EventOutlook {
    const NONE: Self = Self {
        next: f64::INFINITY,
        pending: false,
        stopped: f64::NAN,
    };
}

/// Where the instance stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// At `now`; what is saved, if anything, is an older state.
    AtNow,
    /// At `now`, or on its way from there; the state of `now` is saved.
    Saved,
    /// Elsewhere, since something was tried, to its end or to a failure; the state of `now` is
    /// saved.
    Displaced,
}

/// A step that was tried, whose end the instance stands at.
struct TriedStep {
    step: Option<MacroStep>,
    inputs: Vec<Signal>,
    response: Response,
    /// Events as seen from its end.
    events: EventOutlook,
}

impl TriedStep {
    fn nothing(interface: &Interface) -> Self {
        Self {
            step: None,
            inputs: vec![Signal::constant(0.0); interface.inputs.len()],
            response: Response::new(interface, 2),
            events: EventOutlook::NONE,
        }
    }

    /// Whether the instance has done this step under these inputs, to its end.
    fn is(&self, step: MacroStep, inputs: &[Signal]) -> bool {
        self.step == Some(step) && self.inputs == inputs
    }

    /// Keeps what was answered.
    fn keep(&mut self, inputs: &[Signal], response: &Response) {
        self.inputs.copy_from_slice(inputs);
        copy_answer(response, &mut self.response);
    }

    /// Answers what was answered.
    fn repeat(&self, response: &mut Response) {
        copy_answer(&self.response, response);
    }
}

/// Copies what a step leads to.
fn copy_answer(from: &Response, to: &mut Response) {
    to.outputs.copy_from_slice(&from.outputs);
    to.states.copy_from_slice(&from.states);
    to.next_event = from.next_event;
    to.located = from.located;
}

/// Scratch for values on their way.
struct StepBuffers {
    /// All inputs, as they are being set.
    all: Vec<f64>,
    inputs: Vec<f64>,
    others: Vec<f64>,
    read: Vec<f64>,
    slopes: Vec<f64>,
    seed: Vec<f64>,
    column: Vec<f64>,
    orders: Vec<i32>,
    followed: Vec<Signal>,
}

impl StepBuffers {
    fn new(layout: &Layout) -> Self {
        let inputs = layout.inputs.len();
        let states = layout.states.len();
        let smooth_inputs = layout.smooth_input_positions.len();
        let smooth_outputs = layout.smooth_output_positions.len();
        let widest = inputs
            .max(layout.outputs.len())
            .max(layout.read_values)
            .max(states + smooth_outputs);
        let variables = layout.smooth_outputs.len().max(layout.smooth_inputs.len());

        Self {
            all: vec![0.0; inputs],
            inputs: vec![0.0; smooth_inputs],
            others: vec![0.0; widest],
            read: vec![0.0; layout.read_values],
            slopes: vec![0.0; smooth_outputs.max(smooth_inputs)],
            seed: vec![0.0; states + inputs],
            column: vec![0.0; states + layout.asked_output_positions.len()],
            orders: vec![0; variables],
            followed: Vec::with_capacity(smooth_inputs),
        }
    }
}

/// Values of discrete inputs, and whether a step has led there.
#[derive(Clone, Serialize, Deserialize)]
struct DiscretePast {
    stepped: bool,
    /// Values of the discrete inputs last set, where they need an event to be set; NaN, which
    /// differs from all values, where none was set.
    discrete: Vec<f64>,
}

impl DiscretePast {
    fn none(inputs: usize) -> Self {
        Self {
            stepped: false,
            discrete: vec![f64::NAN; inputs],
        }
    }

    fn copy_from(&mut self, other: &Self) {
        self.stepped = other.stepped;
        self.discrete.copy_from_slice(&other.discrete);
    }
}

/// A Co-Simulation FMU.
///
/// Where trials are asked for, every step starts from a restored state, the first try as well: an
/// FMU whose inner solver starts anew after a restore would otherwise answer the same question in
/// two ways.
pub(crate) struct CoSimulation<I: Instance> {
    interface: Interface,
    instance: I,
    layout: Arc<Layout>,
    abilities: FmuCapabilities,
    version: Version,
    span: Span,
    phase: Phase,
    now: f64,
    position: Position,
    events: EventOutlook,
    /// Of where the instance stands, and of where it was saved.
    past: DiscretePast,
    saved_past: DiscretePast,
    /// Trials are asked of this system.
    rolls_back: bool,
    /// A step is being tried: it ends at the first event.
    trying: bool,
    /// Events were handled within the step last taken.
    crossed: bool,
    /// An event was handled at `now`.
    at_event: bool,
    fast_path: FastSteps,
    /// The FMU has asked for the end of the run.
    over: bool,
    tried: TriedStep,
    /// Input derivatives that are in force (2.0) and must be cleared before a constant.
    polynomial: bool,
    /// The inputs last applied, and their slopes.
    applied: AppliedInputs,
    buffers: StepBuffers,
}

impl<I: Instance> CoSimulation<I> {
    /// A system that stands before its initialization.
    pub fn new(
        name: &str,
        instance: I,
        layout: Arc<Layout>,
        abilities: FmuCapabilities,
        version: Version,
        span: Span,
    ) -> Self {
        let interface = layout.interface(name);
        let inputs = interface.inputs.len();

        Self {
            fast_path: FastSteps::new(&instance, &layout, &abilities, version, span.goes_back),
            tried: TriedStep::nothing(&interface),
            applied: AppliedInputs::at_start(&interface.inputs),
            past: DiscretePast::none(inputs),
            saved_past: DiscretePast::none(inputs),
            buffers: StepBuffers::new(&layout),
            interface,
            instance,
            layout,
            abilities,
            version,
            span,
            phase: Phase::Made,
            now: f64::NAN,
            position: Position::AtNow,
            events: EventOutlook::NONE,
            rolls_back: false,
            trying: false,
            crossed: false,
            at_event: false,
            over: false,
            polynomial: false,
        }
    }

    fn failure(&self, time: f64, error: CallError) -> Error {
        Error::system(&self.interface.name, time, error)
    }

    /// Into initialization mode, at the start of the run.
    fn initialize(&mut self, start: f64) -> Result<(), CallError> {
        self.instance
            .enter_initialization(start, self.span.told_stop, self.span.tolerance)?;
        self.phase = Phase::Initializing;
        self.now = start;
        Ok(())
    }

    /// Into initialization mode, if that has not happened yet.
    fn ensure_initialized(&mut self, start: f64) -> Result<(), CallError> {
        match self.phase {
            Phase::Made => self.initialize(start),
            _ => Ok(()),
        }
    }

    /// Out of initialization mode, if that has not happened yet; whether the FMU asks for the end
    /// of the run at once.
    fn begin_stepping(&mut self, start: f64) -> Result<bool, CallError> {
        if self.phase == Phase::Stepping {
            return Ok(false);
        }

        self.ensure_initialized(start)?;
        self.instance.exit_initialization()?;
        self.phase = Phase::Stepping;
        if !self.abilities.event_mode {
            return Ok(false);
        }

        // With event mode in use the run begins in it.
        self.finish_event()
    }

    /// A failure in `time`, as the engine sees it.
    fn report<T>(&self, time: f64, done: Result<T, CallError>) -> Result<T, Error> {
        done.map_err(|error| self.failure(time, error))
    }
}

/// Inputs and events.
impl<I: Instance> CoSimulation<I> {
    /// In event mode: discrete states until nothing changes, then back to step mode. Whether the
    /// FMU asks for the end of the run.
    fn finish_event(&mut self) -> Result<bool, CallError> {
        let discrete = self.instance.update_discrete_states()?;
        self.instance.leave_event_mode()?;
        self.events.next = discrete.next_event;
        self.events.pending = false;
        self.past.discrete.copy_from_slice(&self.buffers.all);

        Ok(discrete.terminate)
    }

    /// Handles an event, under these inputs; whether the FMU asks for the end of the run.
    fn handle_event(&mut self, inputs: &[Signal], elapsed: f64) -> Result<bool, CallError> {
        self.instance.enter_event_mode()?;
        self.apply(inputs, elapsed)?;
        self.finish_event()
    }

    /// Whether a discrete input is about to change, which takes an event where event mode is used.
    fn discrete_input_changes(&self, inputs: &[Signal], elapsed: f64) -> bool {
        let declared = &self.interface.inputs;
        discrete_input_changes(declared, &self.past.discrete, inputs, elapsed)
    }

    /// Sets all inputs as they are after `elapsed`.
    fn apply(&mut self, inputs: &[Signal], elapsed: f64) -> Result<(), CallError> {
        self.take_inputs(inputs, elapsed);
        self.set_smooth_inputs()?;
        self.apply_others()
    }

    fn set_smooth_inputs(&mut self) -> Result<(), CallError> {
        self.instance
            .set_floats(&self.layout.smooth_inputs, &self.buffers.inputs)
    }

    /// Input values after `elapsed`, into the buffers.
    #[inline]
    fn take_inputs(&mut self, inputs: &[Signal], elapsed: f64) {
        let all = &mut self.buffers.all;
        take_values(all, inputs, elapsed);
        self.layout
            .fill_smooth_inputs(&mut self.buffers.inputs, |position| all[position]);
    }

    /// Sets the inputs that are not double-precision numbers.
    fn apply_others(&mut self) -> Result<(), CallError> {
        let StepBuffers { all, others, .. } = &mut self.buffers;
        set_other_inputs(&mut self.instance, &self.layout, others, |position| {
            all[position]
        })
    }
}

/// Saving and restoring.
impl<I: Instance> CoSimulation<I> {
    /// The instance stands at `now`, not at the end of something tried.
    fn return_to_now(&mut self) -> Result<(), CallError> {
        self.tried.step = None;
        if self.position == Position::Displaced {
            self.restore()
        } else {
            Ok(())
        }
    }

    /// Back to the saved state. Which inputs are in force there is not known.
    fn restore(&mut self) -> Result<(), CallError> {
        self.instance.restore()?;
        self.polynomial = true;
        self.position = Position::Saved;
        self.past.copy_from(&self.saved_past);
        Ok(())
    }

    /// The state of `now` is saved.
    fn save(&mut self) -> Result<(), CallError> {
        if !self.is_saved() {
            self.instance.save()?;
            self.position = Position::Saved;
            self.saved_past.copy_from(&self.past);
        }
        Ok(())
    }

    fn is_saved(&self) -> bool {
        self.position != Position::AtNow
    }

    /// A discarded step of 2.0 can be taken in smaller parts where it can be taken back.
    fn saves_for_discards(&self) -> bool {
        self.abilities.rollback && self.version == Version::Two
    }
}

/// Steps.
impl<I: Instance> CoSimulation<I> {
    /// Whatever is not a step of a plain FMU.
    #[inline(never)]
    fn advance_with_care(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let done = match self.fast_path.trouble.take() {
            Some(error) => Err(error),
            None if step.is_instant() => self.ask(step.start, inputs, response),
            None => self.take(step, inputs, response),
        };
        self.report(step.start, done)
    }

    /// Takes the step for good.
    fn take(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.begin_stepping(step.start)?;
        if self.tried.is(step, inputs) {
            self.take_tried(step, response);
        } else {
            self.take_anew(step, inputs, response)?;
        }

        self.remember_end(step, inputs);
        self.now = response.reached;
        self.position = Position::AtNow;
        self.at_event = false;
        Ok(())
    }

    /// Stays at the end of the step that was tried.
    fn take_tried(&mut self, step: MacroStep, response: &mut Response) {
        self.tried.step = None;
        self.tried.repeat(response);
        self.events = self.tried.events;
        response.reached = step.end;
        response.reused = true;
    }

    fn take_anew(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.return_to_now()?;
        if self.rolls_back {
            self.save()?;
            self.restore()?;
        } else if self.saves_for_discards() {
            self.save()?;
        }

        let arrival = self.integrate(step, inputs)?;
        self.over |= arrival.ends;
        self.answer(step, arrival, inputs, response)?;
        response.crossed = self.crossed;
        Ok(())
    }

    /// Tries the step from the saved state.
    fn attempt(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.begin_stepping(step.start)?;
        self.instance.begin_sample();
        self.rolls_back = true;
        let before = self.events;
        self.save()?;
        self.tried.step = None;
        self.restore()?;
        self.position = Position::Displaced;
        self.trying = true;
        let tried = self.integrate_and_answer(step, inputs, response);
        self.trying = false;
        self.tried.events = self.events;
        self.events = before;
        tried?;
        self.tried.keep(inputs, response);
        // One that did not come to its end is made again when it is taken.
        let is_whole = response.reached == step.end && !response.ends;
        self.tried.step = is_whole.then_some(step);

        if response.ends {
            response.next_event = response.reached;
        }
        Ok(())
    }

    fn integrate_and_answer(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        let arrival = self.integrate(step, inputs)?;
        self.answer(step, arrival, inputs, response)
    }
}

impl<I: Instance> System for CoSimulation<I> {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        if !step.is_instant() && self.fast_step(step, inputs, response) {
            return Ok(());
        }
        self.advance_with_care(step, inputs, response)
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let done = self.leave_initialization(step.start, inputs, response);
        self.report(step.start, done)
    }

    /// In step mode the standard forbids to read what was set without a step in between; event mode
    /// of 3.0 allows it.
    fn presence(&self) -> Presence {
        Presence {
            initialization_mode: true,
            responds: self.abilities.event_mode,
            ticks: false,
        }
    }

    fn precision(&self) -> Precision {
        self.abilities.precision
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        if self.abilities.rollback {
            Some(self)
        } else {
            None
        }
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        if self.abilities.outlives_process() {
            Some(self)
        } else {
            None
        }
    }

    fn held_steps(&mut self) -> Option<&mut dyn HeldSteps> {
        if self.fast_path.is_complete() {
            Some(self)
        } else {
            None
        }
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        if self.abilities.linearizes {
            Some(self)
        } else {
            None
        }
    }

    fn input_degree(&self) -> usize {
        self.abilities.input_degree()
    }

    fn output_derivatives(&self) -> usize {
        self.abilities.output_derivatives()
    }

    fn step_rule(&self) -> StepRule {
        self.abilities.step
    }
}

impl<I: Instance> Trial for CoSimulation<I> {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let done = self.attempt(step, inputs, response);
        self.report(step.start, done)
    }
}

impl<I: Instance> Drop for CoSimulation<I> {
    fn drop(&mut self) {
        if self.phase == Phase::Stepping {
            // the run is over: what it answers does not matter any more
            let _ = self.instance.terminate();
        }
    }
}
