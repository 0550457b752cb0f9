//! A unit for Co-Simulation as a system.

mod answers;
mod fast_path;
mod linearization;
mod stepping;

use std::sync::Arc;

use dovetail_core::{
    Error, Interface, Linearize, MacroStep, Nature, Precision, Presence, Response, Signal,
    StepRule, System, Trial,
};

use crate::abilities::{Abilities, InputWay, Slopes};
use crate::call_error::CallError;
use crate::description::Version;
use crate::instance::Instance;
use crate::layout::Layout;
use crate::prepared_step::PreparedStep;

/// What a system needs to know of its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub stop: f64,
    /// The relative tolerance that the unit is asked for.
    pub tolerance: Option<f64>,
}

/// How far an instance has come in its life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Made,
    Initializing,
    Stepping,
}

/// A step that was tried, whose end the instance stands at.
struct Tried {
    step: Option<MacroStep>,
    inputs: Vec<Signal>,
    response: Response,
    /// The next event, and whether one is pending, at its end.
    events: (f64, bool),
}

impl Tried {
    /// Whether the instance has done this step under these inputs, to its end.
    fn is(&self, step: MacroStep, inputs: &[Signal]) -> bool {
        self.step == Some(step) && self.inputs == inputs
    }
}

/// Room for values on their way.
struct Buffers {
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

/// A Co-Simulation unit.
///
/// Where trials are asked for, every step starts from a restored state, the first try as well: a unit whose inner solver starts
/// anew after a restore would otherwise answer the same question in two ways.
pub(crate) struct CoSimulation<I: Instance> {
    interface: Interface,
    instance: I,
    layout: Arc<Layout>,
    abilities: Abilities,
    version: Version,
    span: Span,
    phase: Phase,
    /// A step has led to where the instance stands; and to where it was saved.
    stepped: bool,
    saved_stepped: bool,
    now: f64,
    next_event: f64,
    /// The unit waits for an event to be handled.
    event_pending: bool,
    /// The state that is saved is that of `now`.
    saved: bool,
    /// The instance is not at `now`: something was tried, to its end or to a failure.
    displaced: bool,
    /// The discrete inputs of the saved state.
    saved_discrete: Vec<f64>,
    /// Trials are asked of this system.
    rolls_back: bool,
    /// Of a unit that needs nothing but set, step and get: its steps, prepared.
    prepared_step: Option<PreparedStep>,
    /// Before a prepared step something is to be saved or made sure of.
    needs_preparation: bool,
    /// Why a prepared step failed.
    trouble: Option<CallError>,
    /// Where a prepared step has ended because the unit asks for the end of the run.
    ended: Option<f64>,
    /// It has asked for it.
    over: bool,
    /// Someone may ask for slopes or a linearisation after a step.
    remembers: bool,
    tried: Tried,
    /// Input derivatives that are in force (2.0) and must be cleared before a constant.
    polynomial: bool,
    /// Values of the discrete inputs last set, where they need an event to be set.
    discrete: Vec<f64>,
    /// The inputs last applied, and their slopes.
    applied: Vec<f64>,
    applied_slopes: Vec<f64>,
    buffers: Buffers,
}

impl<I: Instance> CoSimulation<I> {
    /// A system that stands before its initialisation.
    pub fn new(
        name: &str,
        instance: I,
        layout: Arc<Layout>,
        abilities: Abilities,
        version: Version,
        span: Span,
    ) -> Self {
        let interface = layout.interface(name);
        let inputs = interface.inputs.len();
        let (states, outputs) = (layout.states.len(), layout.smooth_output_positions.len());
        let signals = vec![Signal::constant(0.0); inputs];
        let widest = inputs
            .max(interface.outputs.len())
            .max(layout.read_values)
            .max(states + outputs);
        Self {
            tried: Tried {
                step: None,
                inputs: signals,
                response: Response::new(&interface, 2),
                events: (f64::INFINITY, false),
            },
            applied: interface.inputs.iter().map(|input| input.start).collect(),
            applied_slopes: vec![0.0; inputs],
            discrete: vec![f64::NAN; inputs],
            saved_discrete: vec![f64::NAN; inputs],
            displaced: false,
            buffers: Buffers {
                all: vec![0.0; inputs],
                inputs: vec![0.0; layout.smooth_input_positions.len()],
                others: vec![0.0; widest],
                read: vec![0.0; layout.read_values],
                slopes: vec![0.0; outputs.max(layout.smooth_input_positions.len())],
                seed: vec![0.0; states + inputs],
                column: vec![0.0; states + layout.asked_output_positions.len()],
                orders: vec![0; layout.smooth_outputs.len().max(layout.smooth_inputs.len())],
                followed: Vec::with_capacity(layout.smooth_input_positions.len()),
            },
            trouble: None,
            ended: None,
            over: false,
            remembers: abilities.linearizes
                || abilities.event_mode
                || abilities.slopes != Slopes::Unknown,
            prepared_step: fast_path::is_plain(&abilities, &layout)
                .then(|| instance.prepare_step(&layout)),
            needs_preparation: abilities.inputs != InputWay::Held
                || abilities.rollback && version == Version::Two,
            interface,
            instance,
            layout,
            abilities,
            version,
            span,
            phase: Phase::Made,
            stepped: false,
            saved_stepped: false,
            now: f64::NAN,
            next_event: f64::INFINITY,
            event_pending: false,
            saved: false,
            rolls_back: false,
            polynomial: false,
        }
    }

    fn failure(&self, time: f64, error: CallError) -> Error {
        Error::System {
            system: self.interface.name.clone(),
            time,
            reason: Box::new(error),
        }
    }

    /// Into initialisation mode, at the start of the run.
    fn initialize(&mut self, start: f64) -> Result<(), CallError> {
        self.instance
            .enter_initialization(start, self.span.stop, self.span.tolerance)?;
        (self.phase, self.now) = (Phase::Initializing, start);
        Ok(())
    }

    /// Out of initialization mode, if that has not happened yet; whether the unit asks for the end of the run at once.
    fn begin_stepping(&mut self, start: f64) -> Result<bool, CallError> {
        if self.phase == Phase::Stepping {
            return Ok(false);
        }
        if self.phase == Phase::Made {
            self.initialize(start)?;
        }
        self.instance.exit_initialization()?;
        self.phase = Phase::Stepping;
        if !self.abilities.event_mode {
            return Ok(false);
        }
        // With event mode in use the run begins in it.
        let ends = self.settle()?;
        self.note_discrete_inputs();
        Ok(ends)
    }

    /// In event mode: discrete states until nothing changes, then back to step mode. Whether the unit asks for the end of the run.
    fn settle(&mut self) -> Result<bool, CallError> {
        let discrete = self.instance.update_discrete_states()?;
        self.instance.leave_event_mode()?;
        (self.next_event, self.event_pending) = (discrete.next_event, false);
        Ok(discrete.terminate)
    }

    /// The values of discrete inputs, as they now are in the unit.
    fn note_discrete_inputs(&mut self) {
        self.discrete.copy_from_slice(&self.buffers.all);
    }

    /// Whether a discrete input is about to change, which takes an event where event mode is used.
    fn discrete_input_changes(&self, inputs: &[Signal], elapsed: f64) -> bool {
        let natures = self.interface.inputs.iter().map(|input| input.nature);
        let mut values = inputs.iter().zip(&self.discrete).zip(natures);
        values.any(|((signal, &set), nature)| {
            nature != Nature::Continuous && signal.value(elapsed) != set
        })
    }

    /// Handles an event, under these inputs; whether the unit asks for the end of the run.
    fn handle_event(&mut self, inputs: &[Signal], elapsed: f64) -> Result<bool, CallError> {
        self.instance.enter_event_mode()?;
        self.apply(inputs, elapsed)?;
        let ends = self.settle()?;
        self.note_discrete_inputs();
        Ok(ends)
    }

    /// Sets all inputs as they are after `elapsed`.
    fn apply(&mut self, inputs: &[Signal], elapsed: f64) -> Result<(), CallError> {
        self.take_inputs(inputs, elapsed);
        self.instance
            .set_floats(&self.layout.smooth_inputs, &self.buffers.inputs)?;
        self.apply_others()
    }

    /// Input values after `elapsed`, into the buffers.
    #[inline]
    fn take_inputs(&mut self, inputs: &[Signal], elapsed: f64) {
        for (value, signal) in self.buffers.all.iter_mut().zip(inputs) {
            *value = signal.value(elapsed);
        }
        for (value, &position) in self
            .buffers
            .inputs
            .iter_mut()
            .zip(&self.layout.smooth_input_positions)
        {
            *value = self.buffers.all[position];
        }
    }

    /// Sets the inputs that are not double-precision numbers.
    fn apply_others(&mut self) -> Result<(), CallError> {
        for group in &self.layout.other_inputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            values
                .iter_mut()
                .zip(&group.positions)
                .for_each(|(value, &position)| *value = self.buffers.all[position]);
            self.instance
                .set_values(group.kind, &group.references, values)?;
        }
        Ok(())
    }

    /// The instance stands at `now`, not at the end of something tried.
    fn return_to_now(&mut self) -> Result<(), CallError> {
        self.tried.step = None;
        if self.displaced {
            self.restore()
        } else {
            Ok(())
        }
    }

    /// Back to the saved state. Which inputs are in force there is not known.
    fn restore(&mut self) -> Result<(), CallError> {
        self.instance.restore()?;
        (self.polynomial, self.displaced, self.stepped) = (true, false, self.saved_stepped);
        self.discrete.copy_from_slice(&self.saved_discrete);
        Ok(())
    }

    /// The state of `now` is saved.
    fn save(&mut self) -> Result<(), CallError> {
        if !self.saved {
            self.instance.save()?;
            self.saved = true;
            self.saved_discrete.copy_from_slice(&self.discrete);
            self.saved_stepped = self.stepped;
        }
        Ok(())
    }

    /// Whatever is not a step of a plain unit.
    #[inline(never)]
    fn advance_with_care(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let done = match self.trouble.take() {
            Some(error) => Err(error),
            None if step.is_instant() => self.ask(step.start, inputs, response),
            None => self.take(step, inputs, response),
        };
        done.map_err(|error| self.failure(step.start, error))
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
            (self.tried.step, self.displaced) = (None, false);
            response
                .outputs
                .copy_from_slice(&self.tried.response.outputs);
            response.states.copy_from_slice(&self.tried.response.states);
            (response.reached, response.next_event) = (step.end, self.tried.response.next_event);
            (self.next_event, self.event_pending) = self.tried.events;
            response.reused = true;
        } else {
            self.return_to_now()?;
            if self.rolls_back {
                self.save()?;
                self.restore()?;
            } else if self.abilities.rollback && self.version == Version::Two {
                self.save()?; // a discarded step can then be taken in smaller parts
            }
            let arrival = self.integrate(step, inputs)?;
            self.over |= arrival.ends;
            self.answer(step, arrival, inputs, response)?;
        }
        self.remember_end(step, inputs);
        (self.now, self.saved) = (response.reached, false);
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
        let before = (self.next_event, self.event_pending);
        self.save()?;
        self.tried.step = None;
        self.restore()?;
        self.displaced = true;
        let tried = self
            .integrate(step, inputs)
            .and_then(|arrival| self.answer(step, arrival, inputs, response));
        self.tried.events = (self.next_event, self.event_pending);
        (self.next_event, self.event_pending) = before;
        tried?;
        let kept = &mut self.tried.response;
        kept.outputs.copy_from_slice(&response.outputs);
        kept.states.copy_from_slice(&response.states);
        kept.next_event = response.next_event;
        self.tried.inputs.copy_from_slice(inputs);
        // One that did not come to its end is made again when it is taken.
        self.tried.step = Some(step).filter(|_| response.reached == step.end && !response.ends);
        if response.ends {
            response.next_event = response.reached;
        }
        Ok(())
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
        self.leave_initialization(step.start, inputs, response)
            .map_err(|error| self.failure(step.start, error))
    }

    /// In step mode the standard forbids to read what was set without a step in between; event mode of 3.0 allows it.
    fn presence(&self) -> Presence {
        Presence {
            initialization_mode: true,
            responds: self.abilities.event_mode,
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
        self.attempt(step, inputs, response)
            .map_err(|error| self.failure(step.start, error))
    }
}

impl<I: Instance> Drop for CoSimulation<I> {
    fn drop(&mut self) {
        if self.phase == Phase::Stepping {
            let _ = self.instance.terminate(); // the run is over: what it answers does not matter any more
        }
    }
}
