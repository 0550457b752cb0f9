//! A unit for Model Exchange as a system: our integrator moves it.
//!
//! The unit holds the equations, we hold the state. So a trial leaves no trace, inputs are polynomials exactly, and derivatives
//! come from directional derivatives or differences. What does leave a trace is an event: it is handled only by steps that are
//! taken for good, and a trial that meets one stops there.

use std::sync::Arc;
use std::time::Instant;

use dovetail_core::{
    Error, Interface, Knot, Linearization, Linearize, MAX_DEGREE, MacroStep, Nature, Response, Signal, System, Trial,
};
use dovetail_numerics::{Hint, IntegrationError, Integrator, Tolerance};

use crate::abilities::Abilities;
use crate::co_simulation::Span;
use crate::flow::{Flow, FlowBuffers, Suspect};
use crate::instance::{CallError, Instance};
use crate::layout::Layout;

/// More events than this within one step are taken for a fault.
const MOST_EVENTS: usize = 10_000;
/// A state event is located to so much of the step of the integrator around it.
const EVENT_PRECISION: f64 = 1e-12;
/// Halvings of the interval around an event.
const MOST_HALVINGS: usize = 80;
/// A unit without states is looked at so often within a step.
const LOOKS_WITHOUT_STATES: usize = 20;
/// Central differences are taken over so much of a quantity: about the cube root of the precision.
const DIFFERENCE: f64 = 6e-6;

/// Why a step inside a unit ended.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Call(#[from] CallError),
    #[error(
        "more than {MOST_EVENTS} events happened within one step: it chatters. A hysteresis in the model or a shorter --step may help"
    )]
    Chatters,
    #[error("the derivative of its state `{state}` is not a finite number there")]
    NotFinite { state: String },
    #[error(
        "its integrator gave up after {limit} steps within one macro-step; a looser --integrator-tolerance may help"
    )]
    TooManySteps { limit: usize },
    #[error(
        "its integrator would need steps below {step:.1e} s, because of its state `{state}`: the solution has a pole or a jump there"
    )]
    StepTooSmall { step: f64, state: String },
}

/// How far an instance has come in its life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Made,
    Initializing,
    Running,
}

/// Where the system stands, or would.
#[derive(Clone)]
struct State {
    time: f64,
    values: Vec<f64>,
    hint: Hint,
    inputs: Vec<f64>,
    slopes: Vec<f64>,
}

/// Room for values on their way.
struct Buffers {
    others: Vec<f64>,
    read: Vec<f64>,
    /// Here, and at two places near by.
    outputs: [Vec<f64>; 3],
    rates: [Vec<f64>; 3],
    moved: Vec<f64>,
    held: Vec<Signal>,
    seed: Vec<f64>,
    column: Vec<f64>,
}

/// A Model Exchange unit.
pub(crate) struct ModelExchange<I: Instance> {
    interface: Interface,
    instance: I,
    layout: Arc<Layout>,
    abilities: Abilities,
    span: Span,
    /// Start of the run.
    start: f64,
    tolerance: Tolerance,
    completes: bool,
    /// The size of the last step, for the scale of time.
    stride: f64,
    phase: Phase,
    integrator: Integrator,
    flow: FlowBuffers,
    next_event: f64,
    /// An event that the unit asked for waits to be handled at `now`.
    event_pending: bool,
    now: State,
    /// The end of the step last taken or tried, until it becomes `now`.
    end: State,
    tried: Option<MacroStep>,
    tried_inputs: Vec<Signal>,
    /// There is an event at the end of the step that was tried.
    tried_event: bool,
    /// Discrete inputs as the unit knows them.
    discrete: Vec<f64>,
    buffers: Buffers,
}

/// What is special about Model Exchange, for the making of a system.
pub(crate) struct Terms {
    pub span: Span,
    /// About how long steps will be.
    pub stride: f64,
    /// Relative tolerance of our integrator.
    pub tolerance: f64,
    pub indicators: usize,
    /// The unit wants to hear of completed steps.
    pub completes: bool,
}

impl<I: Instance> ModelExchange<I> {
    /// A system that stands before its initialisation.
    pub fn new(name: &str, instance: I, layout: Arc<Layout>, abilities: Abilities, terms: Terms) -> Self {
        let interface = layout.interface(name);
        let (states, inputs, outputs) = (layout.states.len(), interface.inputs.len(), interface.outputs.len());
        let now = State {
            time: f64::NAN,
            values: vec![0.0; states],
            hint: Hint::default(),
            inputs: interface.inputs.iter().map(|input| input.start).collect(),
            slopes: vec![0.0; inputs],
        };
        let smooth = layout.smooth_output_positions.len();
        Self {
            integrator: Integrator::new(states),
            flow: FlowBuffers::new(states, layout.smooth_input_positions.len(), terms.indicators),
            tolerance: Tolerance { relative: terms.tolerance, absolute: 1e-3 * terms.tolerance },
            span: terms.span,
            start: f64::NEG_INFINITY,
            completes: terms.completes,
            stride: terms.stride,
            phase: Phase::Made,
            next_event: f64::INFINITY,
            event_pending: false,
            end: now.clone(),
            now,
            tried: None,
            tried_inputs: vec![Signal::constant(0.0); inputs],
            tried_event: false,
            discrete: vec![f64::NAN; inputs],
            buffers: Buffers {
                others: vec![0.0; inputs.max(outputs)],
                read: vec![0.0; layout.read_values],
                outputs: std::array::from_fn(|_| vec![0.0; outputs]),
                rates: std::array::from_fn(|_| vec![0.0; states]),
                moved: vec![0.0; states],
                held: vec![Signal::constant(0.0); inputs],
                seed: vec![0.0; states + layout.smooth_input_positions.len()],
                column: vec![0.0; states + smooth],
            },
            interface,
            instance,
            layout,
            abilities,
        }
    }

    fn failure(&self, time: f64, reason: Failure) -> Error {
        Error::System { system: self.interface.name.clone(), time, reason: Box::new(reason) }
    }

    fn flow<'a>(&'a mut self, start: f64, inputs: &'a [Signal], completes: bool) -> Flow<'a, I> {
        Flow {
            instance: &mut self.instance,
            layout: &self.layout,
            inputs,
            start,
            latest: f64::INFINITY,
            buffers: &mut self.flow,
            completes,
            arrived: 0.0,
            suspect: None,
            step_event: false,
            error: None,
        }
    }

    fn initialize(&mut self, start: f64) -> Result<(), CallError> {
        self.instance.enter_initialization(start, self.span.stop, self.span.tolerance)?;
        (self.phase, self.now.time, self.start) = (Phase::Initializing, start, start);
        Ok(())
    }

    /// Out of initialisation mode and through the first event, if that has not happened yet.
    fn begin_running(&mut self, start: f64) -> Result<(), CallError> {
        if self.phase == Phase::Running {
            return Ok(());
        }
        if self.phase == Phase::Made {
            self.initialize(start)?;
        }
        self.instance.exit_initialization()?;
        self.phase = Phase::Running;
        self.settle(true)?;
        self.discrete.copy_from_slice(&self.now.inputs);
        self.hold_inputs();
        self.note_signs(start, 0.0, None)
    }

    /// The present inputs as constants, in a buffer.
    fn hold_inputs(&mut self) {
        self.buffers.held.iter_mut().zip(&self.now.inputs).for_each(|(held, &value)| *held = Signal::constant(value));
    }

    /// Notes the signs of the indicators at `end`, under these inputs or those held.
    fn note_signs(&mut self, start: f64, elapsed: f64, inputs: Option<&[Signal]>) -> Result<(), CallError> {
        let (state, held) = (std::mem::take(&mut self.end.values), std::mem::take(&mut self.buffers.held));
        let noted = self.flow(start, inputs.unwrap_or(&held), false).note_signs(elapsed, &state);
        (self.end.values, self.buffers.held) = (state, held);
        noted
    }

    /// Whether the inputs of a step that begins at `now` have moved an indicator over zero.
    fn sign_changes(&mut self, start: f64, inputs: &[Signal]) -> Result<bool, CallError> {
        let state = std::mem::take(&mut self.now.values);
        let changed = self.flow(start, inputs, false).sign_changed(0.0, &state);
        self.now.values = state;
        changed
    }

    /// In event mode: discrete states until nothing changes, then back to continuous time. The states may jump.
    fn settle(&mut self, first: bool) -> Result<(), CallError> {
        let discrete = self.instance.update_discrete_states()?;
        if discrete.terminate {
            return Err(CallError::Terminated { message: self.instance.journal().explanation() });
        }
        self.instance.leave_event_mode()?;
        if (first || discrete.states_changed) && !self.end.values.is_empty() {
            self.instance.get_states(&mut self.end.values)?;
            if first {
                self.now.values.copy_from_slice(&self.end.values);
            }
        }
        (self.next_event, self.event_pending) = (discrete.next_event, false);
        Ok(())
    }

    /// Handles an event at `end`, under the inputs as they are after `elapsed`.
    fn handle_event(&mut self, start: f64, elapsed: f64, inputs: &[Signal]) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.end.values);
        let placed = self.flow(start, inputs, false).place(elapsed, &state);
        self.end.values = state;
        placed?;
        if self.completes && elapsed > 0.0 {
            self.instance.completed_step()?; // an event is what comes next in any case
        }
        self.instance.enter_event_mode()?;
        self.set_discrete(inputs, elapsed)?;
        self.settle(false)?;
        self.note_signs(start, elapsed, Some(inputs))?;
        self.end.hint = Hint::default();
        self.instance.journal().monitor.note(|notes| notes.events += 1);
        Ok(())
    }

    /// Sets the inputs that are not double-precision numbers; event mode only.
    fn set_discrete(&mut self, inputs: &[Signal], elapsed: f64) -> Result<(), CallError> {
        for group in &self.layout.other_inputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            values.iter_mut().zip(&group.positions).for_each(|(v, &at)| *v = inputs[at].value(elapsed));
            self.instance.set_values(group.kind, &group.references, values)?;
        }
        self.discrete.iter_mut().zip(inputs).for_each(|(value, signal)| *value = signal.value(elapsed));
        Ok(())
    }

    fn discrete_input_changes(&self, inputs: &[Signal]) -> bool {
        let mut all = self.interface.inputs.iter().zip(inputs).zip(&self.discrete);
        all.any(|((input, signal), &known)| input.nature != Nature::Continuous && signal.value(0.0) != known)
    }

    /// At the start of a step: an event that is due, or a discrete input with a new value. Whatever step is then taken, it
    /// starts from there, so that this is no trace of a trial.
    fn enter_step(&mut self, start: f64, inputs: &[Signal]) -> Result<(), CallError> {
        let due = self.event_pending || self.next_event <= start || self.discrete_input_changes(inputs);
        if due || self.sign_changes(start, inputs)? {
            self.end.values.copy_from_slice(&self.now.values);
            self.end.hint = self.now.hint;
            self.handle_event(start, 0.0, inputs)?;
            self.now.values.copy_from_slice(&self.end.values);
            self.now.hint = self.end.hint;
        }
        Ok(())
    }

    /// Integrates from `now` over `step` into `end`. The elapsed time reached: all of it, or in a trial up to an event.
    fn integrate(&mut self, step: MacroStep, inputs: &[Signal], for_good: bool) -> Result<f64, (f64, Failure)> {
        self.enter_step(step.start, inputs).map_err(|error| (0.0, error.into()))?;
        self.end.values.copy_from_slice(&self.now.values);
        (self.end.hint, self.stride) = (self.now.hint, step.size());
        let (size, mut elapsed, mut events) = (step.size(), 0.0, 0);
        loop {
            let time_event = self.next_event - step.start;
            let target = if time_event < size { time_event.max(elapsed) } else { size };
            let latest = if time_event <= size { self.next_event.next_down() } else { f64::INFINITY };
            let (reached, event) = self.run(step.start, elapsed, target, latest, inputs, for_good)?;
            elapsed = reached;
            let event = event || (reached == target && target < size);
            self.tried_event = event;
            if !event {
                self.end.time = step.end;
                return Ok(elapsed);
            }
            if !for_good {
                self.end.time = step.start + elapsed;
                return Ok(elapsed);
            }
            events += 1;
            if events > MOST_EVENTS {
                return Err((elapsed, Failure::Chatters));
            }
            if elapsed >= size {
                // At the very end: whoever asks next, an instant or a step, handles it.
                (self.event_pending, self.end.time) = (true, step.end);
                return Ok(size);
            }
            self.handle_event(step.start, elapsed, inputs).map_err(|error| (elapsed, error.into()))?;
        }
    }

    /// From `from` to `target`, in elapsed time, or to the first event: where it came to, and whether that is one.
    fn run(
        &mut self,
        start: f64,
        from: f64,
        target: f64,
        latest: f64,
        inputs: &[Signal],
        for_good: bool,
    ) -> Result<(f64, bool), (f64, Failure)> {
        let (mut state, hint) = (std::mem::take(&mut self.end.values), self.end.hint);
        let mut integrator = std::mem::replace(&mut self.integrator, Integrator::new(0));
        let (completes, tolerance) = (self.completes && for_good, self.tolerance);
        let mut flow = self.flow(start, inputs, completes);
        flow.latest = latest;
        let mut stretch = Stretch { flow: &mut flow, integrator: &mut integrator, tolerance, hint };
        let done = stretch.go(from, target, &mut state);
        let hint = stretch.hint;
        (self.integrator, self.end.values, self.end.hint) = (integrator, state, hint);
        done.map_err(|(elapsed, error)| (elapsed, self.in_words(error)))
    }

    fn in_words(&self, error: Trouble) -> Failure {
        let state = |component: usize| self.interface.states[component].clone();
        match error {
            Trouble::Call(error) => error.into(),
            Trouble::Integration(IntegrationError::NotFinite { component, .. }) => {
                Failure::NotFinite { state: state(component) }
            }
            Trouble::Integration(IntegrationError::TooManySteps { limit, .. }) => Failure::TooManySteps { limit },
            Trouble::Integration(IntegrationError::StepTooSmall { step, component, .. }) => {
                Failure::StepTooSmall { step, state: state(component) }
            }
        }
    }

    /// Puts the unit at a state under the inputs after `elapsed` and reads outputs; floats only unless `all`.
    fn outputs_at(
        &mut self,
        time: f64,
        elapsed: f64,
        state: &[f64],
        inputs: &[Signal],
        into: usize,
    ) -> Result<(), CallError> {
        self.flow(time - elapsed, inputs, false).place(elapsed, state)?;
        self.instance.set_time(time)?;
        self.instance.get_floats(&self.layout.read, &mut self.buffers.read)?;
        let read = self.layout.read_output.iter();
        read.for_each(|&(place, at)| self.buffers.outputs[into][at] = self.buffers.read[place]);
        for group in &self.layout.other_outputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            self.instance.get_values(group.kind, &group.references, values)?;
            values.iter().zip(&group.positions).for_each(|(&value, &at)| self.buffers.outputs[into][at] = value);
        }
        Ok(())
    }

    /// Fills the response with the outputs at `end`, `elapsed` after the inputs began.
    fn answer(&mut self, time: f64, elapsed: f64, inputs: &[Signal], response: &mut Response) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.end.values);
        let done = self.answer_at(time, elapsed, &state, inputs, response);
        self.end.values = state;
        let (values, slopes) = (&mut self.end.inputs, &mut self.end.slopes);
        values.iter_mut().zip(inputs).for_each(|(value, signal)| *value = signal.value(elapsed));
        slopes.iter_mut().zip(inputs).for_each(|(slope, signal)| *slope = signal.derivative(1, elapsed));
        response.reached = time;
        response.next_event = if self.event_pending { time } else { self.next_event };
        done
    }

    fn answer_at(
        &mut self,
        time: f64,
        elapsed: f64,
        state: &[f64],
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        self.outputs_at(time, elapsed, state, inputs, 0)?;
        let natures = self.interface.outputs.iter().map(|output| output.nature);
        for ((knot, &value), nature) in response.outputs.iter_mut().zip(&self.buffers.outputs[0]).zip(natures) {
            *knot = if nature == Nature::Continuous { Knot::value_only(value) } else { Knot::from(value) };
        }
        response.states.copy_from_slice(state);
        if response.derivatives() == 0 || self.layout.smooth_output_positions.is_empty() || self.phase != Phase::Running
        {
            return Ok(());
        }
        let mut rates = std::mem::take(&mut self.buffers.rates[0]);
        let taken = self.take_slopes(time, elapsed, state, &mut rates, inputs, response);
        self.buffers.rates[0] = rates;
        taken
    }

    /// Slopes of the outputs: C f + D u' + ∂g/∂t, exactly where the unit has directional derivatives, otherwise by differences
    /// along the flow.
    fn take_slopes(
        &mut self,
        time: f64,
        elapsed: f64,
        state: &[f64],
        rates: &mut [f64],
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), CallError> {
        if !state.is_empty() {
            self.instance.get_derivatives(rates)?;
        }
        let exact = self.abilities.directional;
        if exact {
            let (seed, states) = (&mut self.buffers.seed, state.len());
            seed[..states].copy_from_slice(rates);
            for (value, &position) in seed[states..].iter_mut().zip(&self.layout.smooth_input_positions) {
                *value = inputs[position].derivative(1, elapsed);
            }
            let slopes = &mut self.buffers.column[..self.layout.smooth_output_positions.len()];
            self.instance.directional(&self.layout.smooth_outputs, &self.abilities.knowns, seed, slopes)?;
            for (&slope, &position) in slopes.iter().zip(&self.layout.smooth_output_positions) {
                response.outputs[position].slope = slope;
            }
        }
        let gap = self.gap(time, state, rates);
        let stencil = self.stencil(time, gap);
        let mut moved = std::mem::take(&mut self.buffers.moved);
        let mut look = |side: f64, into: usize| {
            let along = if exact { 0.0 } else { side };
            moved.iter_mut().zip(state).zip(&*rates).for_each(|((m, &x), &f)| *m = x + along * gap * f);
            // The inputs move with time, unless only the unit's own time is meant.
            self.outputs_at(time + side * gap, elapsed + along * gap, &moved, inputs, into)
        };
        let looked = look(stencil.places[0], 1).and_then(|()| look(stencil.places[1], 2));
        self.buffers.moved = moved;
        looked?;
        for &position in &self.layout.smooth_output_positions {
            let rate = stencil.slope(self.buffers.outputs.each_ref().map(|values| values[position])) / gap;
            let slope = &mut response.outputs[position].slope;
            *slope = if exact { *slope + rate } else { rate };
        }
        Ok(())
    }

    /// Where to look for a derivative by time: on both sides, unless one of them is out of the run or beyond an event.
    fn stencil(&self, time: f64, gap: f64) -> Stencil {
        if time + gap > self.span.stop.min(self.next_event) {
            Stencil::BACKWARD
        } else if time - gap < self.start {
            Stencil::FORWARD
        } else {
            Stencil::CENTRAL
        }
    }

    /// A stretch of time over which differences are taken: short against a step and against how fast the state moves.
    fn gap(&self, time: f64, state: &[f64], rates: &[f64]) -> f64 {
        let pairs = state.iter().zip(rates);
        let fastest = pairs.map(|(x, rate)| rate.abs() / (x.abs() + 1.0)).fold(1.0 / self.stride, f64::max);
        // Times that differ by less than this are hardly different numbers.
        (DIFFERENCE / fastest).max(1e3 * f64::EPSILON * time.abs())
    }

    /// A question about the present.
    fn ask(&mut self, time: f64, inputs: &[Signal], response: &mut Response) -> Result<(), CallError> {
        self.tried = None;
        if self.phase == Phase::Made {
            self.initialize(time)?;
        }
        if self.phase == Phase::Initializing {
            return self.ask_before_the_run(time, inputs, response);
        }
        self.now.time = time;
        self.enter_step(time, inputs)?;
        self.end.values.copy_from_slice(&self.now.values);
        self.answer(time, 0.0, inputs, response)?;
        self.now.inputs.copy_from_slice(&self.end.inputs);
        self.now.slopes.copy_from_slice(&self.end.slopes);
        Ok(())
    }

    fn ask_before_the_run(&mut self, time: f64, inputs: &[Signal], response: &mut Response) -> Result<(), CallError> {
        for (value, &position) in self.flow.inputs.iter_mut().zip(&self.layout.smooth_input_positions) {
            *value = inputs[position].value(0.0);
        }
        self.instance.set_floats(&self.layout.smooth_inputs, &self.flow.inputs)?;
        self.set_discrete(inputs, 0.0)?;
        self.instance.get_floats(&self.layout.read, &mut self.buffers.read)?;
        self.layout.read_output.iter().for_each(|&(place, at)| {
            response.outputs[at] = Knot::value_only(self.buffers.read[place]);
        });
        self.layout.read_state.iter().for_each(|&(place, at)| response.states[at] = self.buffers.read[place]);
        for group in &self.layout.other_outputs {
            let values = &mut self.buffers.others[..group.positions.len()];
            self.instance.get_values(group.kind, &group.references, values)?;
            values.iter().zip(&group.positions).for_each(|(&value, &at)| response.outputs[at] = Knot::from(value));
        }
        self.now.inputs.iter_mut().zip(inputs).for_each(|(value, signal)| *value = signal.value(0.0));
        self.now.slopes.iter_mut().zip(inputs).for_each(|(slope, signal)| *slope = signal.derivative(1, 0.0));
        (response.reached, response.next_event) = (time, self.next_event);
        if response.derivatives() > 0 {
            // Slopes need the model in its equations: the run begins here, and its discrete inputs are those of now.
            self.begin_running(time)?;
            return self.ask(time, inputs, response);
        }
        Ok(())
    }

    /// A column of the linearisation by differences of `f` and `g`, whose values here are in the first buffers.
    fn difference(&mut self, point: &Point<'_>, moved: Moved, into: (&mut [f64], &mut [f64])) -> Result<(), CallError> {
        let scale = match moved {
            Moved::State(k) => point.state[k].abs() + 1.0,
            Moved::Input(k) => self.now.inputs[k].abs() + 1.0,
            Moved::Time => 1.0,
        };
        let (gap, stencil) = match moved {
            Moved::Time => (point.gap, self.stencil(point.time, point.gap)),
            _ => (DIFFERENCE * scale, Stencil::CENTRAL),
        };
        for (place, into) in stencil.places.into_iter().zip(1..) {
            self.look(point, moved, place * gap, into)?;
        }
        let (f, g) = into;
        for (k, entry) in f.iter_mut().enumerate() {
            *entry = stencil.slope(self.buffers.rates.each_ref().map(|rates| rates[k])) / gap;
        }
        for &at in &self.layout.smooth_output_positions {
            g[at] = stencil.slope(self.buffers.outputs.each_ref().map(|outputs| outputs[at])) / gap;
        }
        Ok(())
    }

    /// `f` and `g` with one thing moved.
    fn look(&mut self, point: &Point<'_>, moved: Moved, distance: f64, into: usize) -> Result<(), CallError> {
        let mut state = std::mem::take(&mut self.buffers.moved);
        let mut inputs = std::mem::take(&mut self.buffers.held);
        state.copy_from_slice(point.state);
        let mut time = point.time;
        match moved {
            Moved::State(k) => state[k] += distance,
            Moved::Input(k) => inputs[k] = Signal::constant(self.now.inputs[k] + distance),
            Moved::Time => time += distance,
        }
        let looked = self.outputs_at(time, 0.0, &state, &inputs, into);
        if let Moved::Input(k) = moved {
            inputs[k] = Signal::constant(self.now.inputs[k]);
        }
        (self.buffers.moved, self.buffers.held) = (state, inputs);
        looked?;
        if point.state.is_empty() { Ok(()) } else { self.instance.get_derivatives(&mut self.buffers.rates[into]) }
    }

    /// All matrices at `now`.
    fn fill(&mut self, into: &mut Linearization) -> Result<(), CallError> {
        let state = std::mem::take(&mut self.now.values);
        let filled = self.fill_at(&state, into);
        self.now.values = state;
        filled
    }

    fn fill_at(&mut self, state: &[f64], into: &mut Linearization) -> Result<(), CallError> {
        let layout = self.layout.clone();
        for matrix in [&mut into.a, &mut into.b, &mut into.c, &mut into.d, &mut into.b_slope, &mut into.d_slope] {
            matrix.fill(0.0);
        }
        self.hold_inputs();
        let held = std::mem::take(&mut self.buffers.held);
        let here = self.outputs_at(self.now.time, 0.0, state, &held, 0);
        self.buffers.held = held;
        here?;
        if !state.is_empty() {
            self.instance.get_derivatives(&mut self.buffers.rates[0])?;
        }
        into.f.as_mut_slice().copy_from_slice(&self.buffers.rates[0]);
        into.g.as_mut_slice().copy_from_slice(&self.buffers.outputs[0]);
        into.x.as_mut_slice().copy_from_slice(state);
        into.u.as_mut_slice().copy_from_slice(&self.now.inputs);
        into.u_slope.as_mut_slice().copy_from_slice(&self.now.slopes);
        into.affine = 0;
        let gap = self.gap(self.now.time, state, into.f.as_slice());
        let point = Point { time: self.now.time, state, gap };
        if self.abilities.directional {
            self.directional_columns(&layout, into)?;
        } else {
            for k in 0..state.len() {
                let columns = (&mut into.a.column_mut(k), &mut into.c.column_mut(k));
                self.difference(&point, Moved::State(k), (columns.0.as_mut_slice(), columns.1.as_mut_slice()))?;
            }
            for &k in &layout.smooth_input_positions {
                let columns = (&mut into.b.column_mut(k), &mut into.d.column_mut(k));
                self.difference(&point, Moved::Input(k), (columns.0.as_mut_slice(), columns.1.as_mut_slice()))?;
            }
        }
        into.g_time.fill(0.0);
        self.difference(&point, Moved::Time, (into.f_time.as_mut_slice(), into.g_time.as_mut_slice()))
    }

    fn directional_columns(&mut self, layout: &Layout, into: &mut Linearization) -> Result<(), CallError> {
        let states = layout.states.len();
        let knowns = states + layout.smooth_input_positions.len();
        self.buffers.seed.fill(0.0);
        for column in 0..knowns {
            self.buffers.seed[column] = 1.0;
            let (unknowns, knowns) = (&self.abilities.unknowns, &self.abilities.knowns);
            self.instance.directional(unknowns, knowns, &self.buffers.seed, &mut self.buffers.column)?;
            self.buffers.seed[column] = 0.0;
            let (rates, slopes) = self.buffers.column.split_at(states);
            let (f, g, at) = if column < states {
                (&mut into.a, &mut into.c, column)
            } else {
                (&mut into.b, &mut into.d, layout.smooth_input_positions[column - states])
            };
            f.column_mut(at).as_mut_slice().copy_from_slice(rates);
            for (&slope, &position) in slopes.iter().zip(&layout.smooth_output_positions) {
                g[(position, at)] = slope;
            }
        }
        Ok(())
    }
}

/// Where a linearisation is taken.
struct Point<'a> {
    time: f64,
    state: &'a [f64],
    gap: f64,
}

/// Two places, in units of the gap, and the weights with which values here and there make a slope.
struct Stencil {
    places: [f64; 2],
    weights: [f64; 3],
}

impl Stencil {
    const CENTRAL: Self = Self { places: [1.0, -1.0], weights: [0.0, 0.5, -0.5] };
    const FORWARD: Self = Self { places: [1.0, 2.0], weights: [-1.5, 2.0, -0.5] };
    const BACKWARD: Self = Self { places: [-1.0, -2.0], weights: [1.5, -2.0, 0.5] };

    /// What does not change has no slope, not even one of rounding.
    fn slope(&self, values: [f64; 3]) -> f64 {
        let [here, one, other] = values;
        if one == here && other == here {
            return 0.0;
        }
        self.weights[0] * here + self.weights[1] * one + self.weights[2] * other
    }
}

/// What a difference moves.
#[derive(Clone, Copy)]
enum Moved {
    State(usize),
    Input(usize),
    Time,
}

enum Trouble {
    Call(CallError),
    Integration(IntegrationError),
}

/// The integrator at work on a flow.
struct Stretch<'a, 'f, I> {
    flow: &'a mut Flow<'f, I>,
    integrator: &'a mut Integrator,
    tolerance: Tolerance,
    hint: Hint,
}

impl<I: Instance> Stretch<'_, '_, I> {
    /// To `target` or to the first event.
    fn go(&mut self, from: f64, target: f64, state: &mut [f64]) -> Result<(f64, bool), (f64, Trouble)> {
        self.flow.note_origin(from, state).map_err(|error| (from, Trouble::Call(error)))?;
        let mut at = from;
        while at < target {
            let reached = self.step(at, target, state)?;
            if let Some(suspect) = self.flow.suspect.take() {
                let (found, elapsed) = self.locate(suspect, state)?;
                if found {
                    return Ok((elapsed, true));
                }
                // A false alarm: the interpolation saw what the solution does not do.
                at = elapsed;
                self.flow.note_origin(at, state).map_err(|error| (at, Trouble::Call(error)))?;
                continue;
            }
            if std::mem::take(&mut self.flow.step_event) {
                return Ok((reached, true));
            }
            at = reached;
        }
        Ok((target, false))
    }

    /// The integrator's own way; without states, a walk in small strides.
    fn step(&mut self, from: f64, target: f64, state: &mut [f64]) -> Result<f64, (f64, Trouble)> {
        if state.is_empty() {
            use dovetail_numerics::Rhs;
            if self.flow.buffers.indicators.is_empty() && !self.flow.completes {
                return Ok(target);
            }
            for stride in 1..=LOOKS_WITHOUT_STATES {
                let share = stride as f64 / LOOKS_WITHOUT_STATES as f64;
                let at = if stride == LOOKS_WITHOUT_STATES { target } else { from + share * (target - from) };
                if self.flow.arrived(at, state).is_break() {
                    let error = self.flow.error.take();
                    return error.map_or(Ok(at), |error| Err((at, Trouble::Call(error))));
                }
            }
            return Ok(target);
        }
        let done = self.integrator.integrate(self.flow, from, target, state, self.tolerance, self.hint);
        let call = |error: CallError| Trouble::Call(error);
        match (done, self.flow.error.take()) {
            (Ok(outcome), None) => {
                self.hint = outcome.hint;
                Ok(outcome.reached)
            }
            (Ok(outcome), Some(error)) => Err((outcome.reached, call(error))),
            (Err(_), Some(error)) => Err((self.flow.arrived.max(from), call(error))),
            (Err(error), None) => Err((time_of(&error), Trouble::Integration(error))),
        }
    }

    /// Narrows an event down by integrating again from before it. Whether there is one, and where the state now is.
    fn locate(&mut self, suspect: Suspect, state: &mut [f64]) -> Result<(bool, f64), (f64, Trouble)> {
        let origin = self.flow.buffers.last.clone();
        let (mut low, mut high) = (suspect.before, suspect.after);
        let failed = |at: f64| move |error: CallError| (at, Trouble::Call(error));
        self.integrate_quietly(suspect.before, high, &origin, state)?;
        if !self.flow.changed(high, state).map_err(failed(high))? {
            return Ok((false, high));
        }
        let mut past = state.to_vec();
        let precision = EVENT_PRECISION * (high - low) + 2.0 * f64::EPSILON * (self.flow.start + high).abs();
        for _ in 0..MOST_HALVINGS {
            if high - low <= precision {
                break;
            }
            let middle = 0.5 * (low + high);
            self.integrate_quietly(suspect.before, middle, &origin, state)?;
            if self.flow.changed(middle, state).map_err(failed(middle))? {
                high = middle;
                past.copy_from_slice(state);
            } else {
                low = middle;
            }
        }
        state.copy_from_slice(&past);
        Ok((true, high))
    }

    /// Integrates without looking for events.
    fn integrate_quietly(
        &mut self,
        from: f64,
        to: f64,
        origin: &[f64],
        state: &mut [f64],
    ) -> Result<(), (f64, Trouble)> {
        state.copy_from_slice(origin);
        if state.is_empty() {
            return Ok(());
        }
        let mut quiet = Quiet(self.flow);
        let done = self.integrator.integrate(&mut quiet, from, to, state, self.tolerance, self.hint);
        // What the unit refused on the way does not matter if the integrator found another.
        match (done, self.flow.error.take()) {
            (Ok(_), _) => Ok(()),
            (Err(_), Some(error)) => Err((from, Trouble::Call(error))),
            (Err(error), None) => Err((time_of(&error), Trouble::Integration(error))),
        }
    }
}

fn time_of(error: &IntegrationError) -> f64 {
    match error {
        IntegrationError::NotFinite { time, .. }
        | IntegrationError::TooManySteps { time, .. }
        | IntegrationError::StepTooSmall { time, .. } => *time,
    }
}

/// A flow that nobody watches.
struct Quiet<'a, 'f, I>(&'a mut Flow<'f, I>);

impl<I: Instance> dovetail_numerics::Rhs for Quiet<'_, '_, I> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn derivative(&mut self, time: f64, state: &[f64], derivative: &mut [f64]) {
        self.0.derivative(time, state, derivative);
    }
}

impl<I: Instance> System for ModelExchange<I> {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> Result<(), Error> {
        if step.is_instant() {
            return self.ask(step.start, inputs, response).map_err(|error| self.failure(step.start, error.into()));
        }
        let call = |unit: &Self, error: CallError| unit.failure(step.start, error.into());
        self.begin_running(step.start).map_err(|error| call(self, error))?;
        let timed = self.instance.sample().then(Instant::now);
        // A unit that wants to hear of completed steps hears of them only when they are taken for good.
        response.reused = self.tried == Some(step) && self.tried_inputs == inputs && !self.completes;
        self.tried = None;
        if response.reused {
            self.event_pending |= self.tried_event;
        } else {
            self.integrate(step, inputs, true)
                .map_err(|(elapsed, reason)| self.failure(step.start + elapsed, reason))?;
        }
        self.answer(step.end, step.size(), inputs, response).map_err(|error| self.failure(step.end, error.into()))?;
        std::mem::swap(&mut self.now, &mut self.end);
        self.now.time = step.end;
        if let Some(before) = timed {
            self.instance.took(before.elapsed());
        }
        Ok(())
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        Some(self)
    }

    fn input_degree(&self) -> usize {
        MAX_DEGREE
    }

    fn output_derivatives(&self) -> usize {
        1
    }
}

impl<I: Instance> Trial for ModelExchange<I> {
    fn respond(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) -> Result<(), Error> {
        self.tried = None;
        self.begin_running(step.start).map_err(|error| self.failure(step.start, error.into()))?;
        let timed = self.instance.sample().then(Instant::now);
        let elapsed = self
            .integrate(step, inputs, false)
            .map_err(|(elapsed, reason)| self.failure(step.start + elapsed, reason))?;
        let whole = elapsed >= step.size();
        let time = if whole { step.end } else { step.start + elapsed };
        self.answer(time, elapsed, inputs, response).map_err(|error| self.failure(time, error.into()))?;
        if whole {
            self.tried = Some(step);
            self.tried_inputs.copy_from_slice(inputs);
        }
        if self.tried_event {
            response.next_event = time;
        }
        if let Some(before) = timed {
            self.instance.took(before.elapsed());
        }
        Ok(())
    }
}

impl<I: Instance> Linearize for ModelExchange<I> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let now = self.now.time;
        let done = self.begin_running(now).and_then(|()| self.fill(into));
        done.map_err(|error| self.failure(now, error.into()))
    }
}

impl<I: Instance> Drop for ModelExchange<I> {
    fn drop(&mut self) {
        if self.phase == Phase::Running {
            let _ = self.instance.terminate(); // the run is over: what it answers does not matter any more
        }
    }
}
