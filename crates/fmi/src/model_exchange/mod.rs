//! A unit for Model Exchange as a system: our integrator moves it.
//!
//! The unit holds the equations, we hold the state. So a trial leaves no trace, inputs are polynomials exactly, and derivatives
//! come from directional derivatives or differences. What does leave a trace is an event: it is handled only by steps that are
//! taken for good, and a trial that meets one stops there.

mod answers;
mod events;
mod linearization;
mod stencil;
mod stretch;

use std::sync::Arc;
use std::time::Instant;

use dovetail_core::{
    Error, Interface, Linearize, MAX_DEGREE, MacroStep, Presence, Response, Signal, System, Trial,
};
use dovetail_numerics::{Hint, IntegrationError, Integrator, Tolerance};

use self::stretch::{Stretch, Trouble};
use crate::abilities::Abilities;
use crate::call_error::CallError;
use crate::co_simulation::Span;
use crate::flow::{Flow, FlowBuffers};
use crate::instance::Instance;
use crate::layout::Layout;

/// Central differences are taken over so much of a quantity: about the cube root of the precision.
const DIFFERENCE: f64 = 6e-6;
/// More events than this within one step are taken for a fault.
const MOST_EVENTS: usize = 10_000;
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
    tolerance: f64,
    /// The largest magnitude of each state so far.
    sizes: Vec<f64>,
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
    /// The unit has asked for the end of the run.
    ends: bool,
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
    pub fn new(
        name: &str,
        instance: I,
        layout: Arc<Layout>,
        abilities: Abilities,
        terms: Terms,
    ) -> Self {
        let interface = layout.interface(name);
        let (states, inputs, outputs) = (
            layout.states.len(),
            interface.inputs.len(),
            interface.outputs.len(),
        );
        let now = State {
            time: f64::NAN,
            values: vec![0.0; states],
            hint: Hint::default(),
            inputs: interface.inputs.iter().map(|input| input.start).collect(),
            slopes: vec![0.0; inputs],
        };
        Self {
            integrator: Integrator::new(states),
            flow: FlowBuffers::new(
                states,
                layout.smooth_input_positions.len(),
                terms.indicators,
            ),
            tolerance: terms.tolerance,
            sizes: vec![0.0; states],
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
            ends: false,
            discrete: vec![f64::NAN; inputs],
            buffers: Buffers {
                others: vec![0.0; inputs.max(outputs)],
                read: vec![0.0; layout.read_values],
                outputs: std::array::from_fn(|_| vec![0.0; outputs]),
                rates: std::array::from_fn(|_| vec![0.0; states]),
                moved: vec![0.0; states],
                held: vec![Signal::constant(0.0); inputs],
                seed: vec![0.0; states + layout.smooth_input_positions.len()],
                column: vec![0.0; states + layout.asked_output_positions.len()],
            },
            interface,
            instance,
            layout,
            abilities,
        }
    }

    fn failure(&self, time: f64, reason: Failure) -> Error {
        Error::System {
            system: self.interface.name.clone(),
            time,
            reason: Box::new(reason),
        }
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
            ends: false,
            error: None,
        }
    }

    fn initialize(&mut self, start: f64) -> Result<(), CallError> {
        self.instance
            .enter_initialization(start, self.span.stop, self.span.tolerance)?;
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
        self.buffers
            .held
            .iter_mut()
            .zip(&self.now.inputs)
            .for_each(|(held, &value)| *held = Signal::constant(value));
    }

    /// Integrates from `now` over `step` into `end`. The elapsed time reached: all of it, or up to where the unit asks for the end of the
    /// run, or in a trial up to an event.
    fn integrate(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        for_good: bool,
    ) -> Result<f64, (f64, Failure)> {
        self.enter_step(step.start, inputs)
            .map_err(|error| (0.0, error.into()))?;
        self.end.values.copy_from_slice(&self.now.values);
        (self.end.hint, self.stride) = (self.now.hint, step.size());
        let (size, mut elapsed, mut events) = (step.size(), 0.0, 0);
        loop {
            let time_event = self.next_event - step.start;
            let target = if time_event < size {
                time_event.max(elapsed)
            } else {
                size
            };
            let latest = if time_event <= size {
                self.next_event.next_down()
            } else {
                f64::INFINITY
            };
            let (reached, event) =
                self.run(step.start, elapsed, target, latest, inputs, for_good)?;
            elapsed = reached;
            let event = event || (reached == target && target < size);
            self.tried_event = event;
            if !event {
                self.end.time = step.end;
                return Ok(elapsed);
            }
            if !for_good || self.ends {
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
            self.handle_event(step.start, elapsed, inputs)
                .map_err(|error| (elapsed, error.into()))?;
            if self.ends {
                self.end.time = step.start + elapsed;
                return Ok(elapsed);
            }
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
        let sizes = std::mem::take(&mut self.sizes);
        let largest = inputs
            .iter()
            .flat_map(|u| [u.value(from).abs(), u.value(target).abs()])
            .fold(0.0, f64::max);
        let tolerance = Tolerance {
            relative: self.tolerance,
            absolute: 0.0,
            sizes: &sizes,
            largest,
        };
        let completes = self.completes && for_good;
        let mut flow = self.flow(start, inputs, completes);
        flow.latest = latest;
        let mut stretch = Stretch {
            flow: &mut flow,
            integrator: &mut integrator,
            tolerance,
            hint,
        };
        let done = stretch.go(from, target, &mut state);
        let hint = stretch.hint;
        let ends = flow.ends;
        self.ends |= ends;
        (self.integrator, self.end.values, self.end.hint) = (integrator, state, hint);
        self.sizes = sizes;
        done.map_err(|(elapsed, error)| (elapsed, self.in_words(error)))
    }

    fn in_words(&self, error: Trouble) -> Failure {
        let state = |component: usize| self.interface.states[component].clone();
        match error {
            Trouble::Call(error) => error.into(),
            Trouble::Integration(IntegrationError::NotFinite { component, .. }) => {
                Failure::NotFinite {
                    state: state(component),
                }
            }
            Trouble::Integration(IntegrationError::TooManySteps { limit, .. }) => {
                Failure::TooManySteps { limit }
            }
            Trouble::Integration(IntegrationError::StepTooSmall {
                step, component, ..
            }) => Failure::StepTooSmall {
                step,
                state: state(component),
            },
        }
    }
}

impl<I: Instance> System for ModelExchange<I> {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        if step.is_instant() {
            return self
                .ask(step.start, inputs, response)
                .map_err(|error| self.failure(step.start, error.into()));
        }
        let call = |unit: &Self, error: CallError| unit.failure(step.start, error.into());
        self.begin_running(step.start)
            .map_err(|error| call(self, error))?;
        let timed = self.instance.begin_sample().then(Instant::now);
        // A unit that wants to hear of completed steps hears of them only when they are taken for good.
        response.reused =
            self.tried == Some(step) && self.tried_inputs == inputs && !self.completes;
        self.tried = None;
        let elapsed = if response.reused {
            self.event_pending |= self.tried_event;
            step.size()
        } else {
            self.integrate(step, inputs, true)
                .map_err(|(elapsed, reason)| self.failure(step.start + elapsed, reason))?
        };
        let reached = if self.ends {
            step.start + elapsed
        } else {
            step.end
        };
        self.answer(reached, elapsed, inputs, response)
            .map_err(|error| self.failure(reached, error.into()))?;
        std::mem::swap(&mut self.now, &mut self.end);
        self.now.time = reached;
        self.sizes
            .iter_mut()
            .zip(&self.now.values)
            .for_each(|(size, state)| *size = size.max(state.abs()));
        if let Some(before) = timed {
            self.instance.end_sample(before.elapsed());
        }
        Ok(())
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.leave_initialization(step.start, inputs, response)
            .map_err(|error| self.failure(step.start, error.into()))
    }

    fn presence(&self) -> Presence {
        Presence {
            initialization_mode: true,
            responds: true,
        }
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
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.tried = None;
        self.begin_running(step.start)
            .map_err(|error| self.failure(step.start, error.into()))?;
        let timed = self.instance.begin_sample().then(Instant::now);
        let elapsed = self
            .integrate(step, inputs, false)
            .map_err(|(elapsed, reason)| self.failure(step.start + elapsed, reason))?;
        let whole = elapsed >= step.size();
        let time = if whole {
            step.end
        } else {
            step.start + elapsed
        };
        self.answer(time, elapsed, inputs, response)
            .map_err(|error| self.failure(time, error.into()))?;
        if whole {
            self.tried = Some(step);
            self.tried_inputs.copy_from_slice(inputs);
        }
        if self.tried_event {
            response.next_event = time;
        }
        if let Some(before) = timed {
            self.instance.end_sample(before.elapsed());
        }
        Ok(())
    }
}

impl<I: Instance> Drop for ModelExchange<I> {
    fn drop(&mut self) {
        if self.phase == Phase::Running {
            let _ = self.instance.terminate(); // the run is over: what it answers does not matter any more
        }
    }
}
