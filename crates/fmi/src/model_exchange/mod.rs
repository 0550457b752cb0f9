//! An FMU for Model Exchange as a system: our integrator moves it.
//!
//! The FMU holds the equations, we hold the state. So a trial leaves no trace, inputs are
//! polynomials exactly, and derivatives come from directional derivatives or differences. What does
//! leave a trace is an event: it is handled only by steps that are taken for good, and a trial that
//! meets one stops there.

mod answers;
mod checkpoint;
mod crossing;
mod event_gradient;
mod events;
mod linearization;
mod stencil;
mod stretch;

use std::sync::Arc;
use std::time::Instant;

use dovetail_core::{
    Checkpoint, Error, Evaluate, Interface, Linearize, MAX_DEGREE, MacroStep, Presence, Remedy,
    Response, Signal, System, Trial,
};
use dovetail_numerics::{Hint, IntegrationError, Integrator, Tolerance};
use serde::{Deserialize, Serialize};

use self::crossing::EventPlace;
use self::stretch::{Stretch, Trouble};
use crate::abilities::FmuCapabilities;
use crate::applied_inputs::AppliedInputs;
use crate::call_error::CallError;
use crate::co_simulation::Span;
use crate::flow::{Flow, FlowBuffers};
use crate::instance::Instance;
use crate::layout::Layout;

/// Central differences are taken over so much of a quantity: about the cube root of the precision.
const DIFFERENCE: f64 = 6e-6;
/// More events than this within one step are taken for a fault.
const MOST_EVENTS: usize = 10_000;
/// So much more than what is near at the end of a step is near where the system then stands.
const AT_NOW: f64 = 4.0;
/// Why a step inside an FMU ended.
#[derive(Debug, thiserror::Error)]
enum ExchangeFailure {
    #[error("{0}")]
    Call(#[from] CallError),
    #[error(
        "more than {MOST_EVENTS} events happened within one step: it chatters. A hysteresis in \
         the model may help"
    )]
    Chatters,
    #[error("the derivative of its state `{state}` is not a finite number there")]
    NotFinite { state: String },
    #[error("its integrator gave up after {limit} steps within one macro-step")]
    TooManySteps { limit: usize },
    #[error(
        "its integrator would need steps below {step:.1e} s, because of its state `{state}`: the \
         solution has a pole or a jump there"
    )]
    StepTooSmall { step: f64, state: String },
}

impl ExchangeFailure {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Chatters => vec![Remedy::SmallerStep],
            Self::TooManySteps { .. } => vec![Remedy::LooserIntegratorTolerance],
            Self::Call(_) | Self::NotFinite { .. } | Self::StepTooSmall { .. } => Vec::new(),
        }
    }
}

/// How far an instance has come in its life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExchangePhase {
    Made,
    Initializing,
    Running,
}

/// Where the system stands, or would.
#[derive(Clone)]
struct MotionState {
    time: f64,
    values: Vec<f64>,
    hint: Hint,
    inputs: AppliedInputs,
    events: PendingEvents,
}

/// Events at or just beyond where the system stands, which the FMU has not handled yet.
#[derive(Clone, Serialize, Deserialize)]
struct PendingEvents {
    /// Indicators that are at zero.
    due: Vec<bool>,
    /// When the next one will be, if that is soon; else infinite.
    near: f64,
    /// The FMU has asked for an event.
    asked: bool,
}

impl PendingEvents {
    fn none(indicators: usize) -> Self {
        Self {
            due: vec![false; indicators],
            near: f64::INFINITY,
            asked: false,
        }
    }

    fn clear(&mut self) {
        self.due.fill(false);
        self.near = f64::INFINITY;
        self.asked = false;
    }

    fn any(&self) -> bool {
        self.asked || self.due.contains(&true)
    }
}

impl MotionState {
    /// Before the run.
    fn of_start(interface: &Interface, indicators: usize) -> Self {
        Self {
            time: f64::NAN,
            values: vec![0.0; interface.states.len()],
            hint: Hint::default(),
            inputs: AppliedInputs::at_start(&interface.inputs),
            events: PendingEvents::none(indicators),
        }
    }
}

/// The last step that was tried.
struct TriedMotion {
    step: Option<MacroStep>,
    inputs: Vec<Signal>,
}

impl TriedMotion {
    fn nothing(inputs: usize) -> Self {
        Self {
            step: None,
            inputs: vec![Signal::constant(0.0); inputs],
        }
    }

    fn is(&self, step: MacroStep, inputs: &[Signal]) -> bool {
        self.step == Some(step) && self.inputs == inputs
    }
}

/// What an event has done, or would do.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct EventEffect {
    /// It has set states anew.
    resets: bool,
    /// That was foreseen: how the new states depend on those before is known.
    foreseen: bool,
    /// The FMU keeps in mind what its states and inputs were.
    remembers: bool,
}

impl EventEffect {
    /// Whether nobody can tell what it makes of errors.
    fn is_unclear(self) -> bool {
        self.remembers || (self.resets && !self.foreseen)
    }
}

/// Scratch for values on their way.
struct FlowScratch {
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

impl FlowScratch {
    fn new(layout: &Layout) -> Self {
        let inputs = layout.inputs.len();
        let outputs = layout.outputs.len();
        let states = layout.states.len();

        Self {
            others: vec![0.0; inputs.max(outputs)],
            read: vec![0.0; layout.read_values],
            outputs: std::array::from_fn(|_| vec![0.0; outputs]),
            rates: std::array::from_fn(|_| vec![0.0; states]),
            moved: vec![0.0; states],
            held: vec![Signal::constant(0.0); inputs],
            seed: vec![0.0; layout.known_values()],
            column: vec![0.0; states + layout.asked_output_positions.len()],
        }
    }
}

/// A way without time events, in elapsed time.
#[derive(Clone, Copy)]
struct Leg {
    from: f64,
    target: f64,
    /// No evaluation is later than this time: a time event belongs to the other side.
    latest: f64,
}

impl Leg {
    /// The largest magnitude of an input at the ends.
    fn largest(&self, inputs: &[Signal]) -> f64 {
        let at_ends = |signal: &Signal| [self.from, self.target].map(|at| signal.value(at).abs());
        inputs.iter().flat_map(at_ends).fold(0.0, f64::max)
    }
}

/// A Model Exchange FMU.
pub(crate) struct ModelExchange<I: Instance> {
    interface: Interface,
    instance: I,
    layout: Arc<Layout>,
    abilities: FmuCapabilities,
    span: Span,
    /// Start of the run.
    start: f64,
    tolerance: f64,
    /// The largest magnitude of each state so far.
    sizes: Vec<f64>,
    completes: bool,
    /// The size of the last step, for the scale of time.
    stride: f64,
    phase: ExchangePhase,
    /// The states to start from, until the run begins; none: those of the initialization.
    start_states: Option<Vec<f64>>,
    integrator: Integrator,
    flow: FlowBuffers,
    next_event: f64,
    /// What the last event has done.
    event_effect: EventEffect,
    /// An event has been handled at `now`, or what follows from one is still being found out.
    at_event: bool,
    /// What is within this time of zero at `now` is at zero.
    near_now: f64,
    /// To which side of zero each indicator goes, as last looked.
    sides: Vec<bool>,
    /// Events were handled within the step last taken of which nobody knows what they do to errors.
    crossed: bool,
    /// The FMU can go back to a mode it has been in.
    restores: bool,
    /// Nothing in it changes but the states that we hold.
    memoryless: bool,
    now: MotionState,
    /// The end of the step last taken or tried, until it becomes `now`.
    end: MotionState,
    tried: TriedMotion,
    /// The FMU has asked for the end of the run.
    ends: bool,
    /// Discrete inputs as the FMU knows them.
    discrete: Vec<f64>,
    buffers: FlowScratch,
}

/// What is special about Model Exchange, for the making of a system.
pub(crate) struct Terms {
    pub span: Span,
    /// About how long steps will be.
    pub stride: f64,
    /// Relative tolerance of our integrator.
    pub tolerance: f64,
    /// The states to start from; none: those of the initialization.
    pub states: Option<Vec<f64>>,
    pub indicators: usize,
    /// The FMU wants to hear of completed steps.
    pub completes: bool,
    /// Its state, mode and all, can be saved and restored.
    pub restores: bool,
    /// Nothing in it changes but its continuous states and its inputs.
    pub memoryless: bool,
}

impl<I: Instance> ModelExchange<I> {
    /// A system that stands before its initialization.
    pub fn new(
        name: &str,
        instance: I,
        layout: Arc<Layout>,
        abilities: FmuCapabilities,
        terms: Terms,
    ) -> Self {
        let interface = layout.interface(name);
        let states = layout.states.len();
        let inputs = interface.inputs.len();
        let smooth_inputs = layout.smooth_input_positions.len();

        Self {
            integrator: Integrator::new(states),
            flow: FlowBuffers::new(states, smooth_inputs, terms.indicators),
            tolerance: terms.tolerance,
            sizes: vec![0.0; states],
            span: terms.span,
            start: f64::NEG_INFINITY,
            completes: terms.completes,
            stride: terms.stride,
            phase: ExchangePhase::Made,
            start_states: terms.states,
            next_event: f64::INFINITY,
            event_effect: EventEffect::default(),
            at_event: false,
            near_now: 0.0,
            sides: vec![false; terms.indicators],
            crossed: false,
            restores: terms.restores,
            memoryless: terms.memoryless,
            now: MotionState::of_start(&interface, terms.indicators),
            end: MotionState::of_start(&interface, terms.indicators),
            tried: TriedMotion::nothing(inputs),
            ends: false,
            discrete: vec![f64::NAN; inputs],
            buffers: FlowScratch::new(&layout),
            interface,
            instance,
            layout,
            abilities,
        }
    }

    fn failure(&self, time: f64, reason: ExchangeFailure) -> Error {
        let remedies = reason.remedies();
        Error::system(&self.interface.name, time, reason).with(remedies)
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
            .enter_initialization(start, self.span.told_stop, self.span.tolerance)?;
        self.phase = ExchangePhase::Initializing;
        self.now.time = start;
        self.start = start;
        Ok(())
    }

    /// Out of initialization mode and through the first event, if that has not happened yet.
    fn begin_running(&mut self, start: f64) -> Result<(), CallError> {
        if self.phase == ExchangePhase::Running {
            return Ok(());
        }

        if self.phase == ExchangePhase::Made {
            self.initialize(start)?;
        }

        self.instance.exit_initialization()?;
        self.phase = ExchangePhase::Running;
        self.settle()?;
        if let Some(states) = self.start_states.take() {
            self.instance.set_states(&states)?;
            // What depends on them discretely is found anew.
            self.instance.enter_event_mode()?;
            self.settle()?;
        }
        if !self.end.values.is_empty() {
            self.instance.get_states(&mut self.end.values)?;
            self.now.values.copy_from_slice(&self.end.values);
        }
        self.discrete.copy_from_slice(&self.now.inputs.values);
        self.hold_inputs();
        // The first event is that of the start: what begins at zero goes somewhere.
        self.at_event = true;
        self.near_now = self.near(start);

        self.note_signs(start)
    }

    /// The present inputs as constants, in a buffer.
    fn hold_inputs(&mut self) {
        for (signal, &value) in self.buffers.held.iter_mut().zip(&self.now.inputs.values) {
            *signal = Signal::constant(value);
        }
    }

    /// Integrates from `now` over `step` into `end`. The elapsed time reached: all of it, or up to
    /// where the FMU asks for the end of the run, or in a trial up to an event.
    fn integrate(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        for_good: bool,
    ) -> Result<f64, (f64, ExchangeFailure)> {
        self.enter_step(step.start, inputs)
            .map_err(|error| (0.0, error.into()))?;
        self.end.values.copy_from_slice(&self.now.values);
        self.end.hint = self.now.hint;
        self.end.events.clear();
        self.stride = step.size();
        self.crossed = false;
        let size = step.size();
        let mut elapsed = 0.0;
        let mut events = 0;

        loop {
            let leg = self.next_leg(step, elapsed);
            let (reached, event) = self.run(step.start, leg, inputs, for_good)?;
            let timed = reached == leg.target && leg.target < size;
            elapsed = self
                .settle_end(step, reached, event, inputs)
                .map_err(|error| (reached, error.into()))?;
            self.end.time = if elapsed >= size {
                step.end
            } else {
                step.start + elapsed
            };
            let over = elapsed >= size || !(event || timed);
            if over || !for_good || self.ends {
                return Ok(elapsed);
            }
            events += 1;
            if events > MOST_EVENTS {
                return Err((elapsed, ExchangeFailure::Chatters));
            }
            let here = EventPlace::new(step.start, elapsed, inputs, self.near(step.end));
            self.cross_within_step(here, timed)
                .map_err(|error| (elapsed, error.into()))?;
            if self.ends {
                return Ok(elapsed);
            }
        }
    }

    /// The way to the next time event, or to the end of the step.
    fn next_leg(&self, step: MacroStep, from: f64) -> Leg {
        let size = step.size();
        let time_event = self.next_event - step.start;

        Leg {
            from,
            target: if time_event < size {
                time_event.max(from)
            } else {
                size
            },
            latest: if time_event <= size {
                self.next_event.next_down()
            } else {
                f64::INFINITY
            },
        }
    }

    /// Over a leg, or to the first event: the elapsed time it came to, and whether there is an
    /// event.
    fn run(
        &mut self,
        start: f64,
        leg: Leg,
        inputs: &[Signal],
        for_good: bool,
    ) -> Result<(f64, bool), (f64, ExchangeFailure)> {
        let mut state = std::mem::take(&mut self.end.values);
        let mut integrator = std::mem::replace(&mut self.integrator, Integrator::new(0));
        let sizes = std::mem::take(&mut self.sizes);
        let tolerance = Tolerance {
            relative: self.tolerance,
            absolute: 0.0,
            sizes: &sizes,
            largest: leg.largest(inputs),
        };
        let hint = self.end.hint;
        let mut flow = self.flow(start, inputs, self.completes && for_good);
        flow.latest = leg.latest;
        let mut stretch = Stretch {
            flow: &mut flow,
            integrator: &mut integrator,
            tolerance,
            hint,
        };
        let done = stretch.go(leg.from, leg.target, &mut state);
        let hint = stretch.hint;
        let ends = flow.ends;
        self.ends |= ends;
        self.integrator = integrator;
        self.end.values = state;
        self.end.hint = hint;
        self.sizes = sizes;

        done.map_err(|(elapsed, error)| (elapsed, self.in_words(error)))
    }

    fn in_words(&self, error: Trouble) -> ExchangeFailure {
        let state = |component: usize| self.interface.states[component].clone();
        match error {
            Trouble::Call(error) => error.into(),
            Trouble::Integration(IntegrationError::NotFinite { component, .. }) => {
                ExchangeFailure::NotFinite {
                    state: state(component),
                }
            }
            Trouble::Integration(IntegrationError::TooManySteps { limit, .. }) => {
                ExchangeFailure::TooManySteps { limit }
            }
            Trouble::Integration(IntegrationError::StepTooSmall {
                step, component, ..
            }) => ExchangeFailure::StepTooSmall {
                step,
                state: state(component),
            },
        }
    }
}

/// Steps.
impl<I: Instance> ModelExchange<I> {
    /// The elapsed time to which a step leads that was tried, or is made now.
    fn reuse_or_integrate(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<f64, Error> {
        // An FMU that is notified of completed steps is notified only of those that are taken for
        // good.
        response.reused = self.tried.is(step, inputs) && !self.completes;
        self.tried.step = None;

        if response.reused {
            return Ok(step.size());
        }

        let integrated = self.integrate(step, inputs, true);
        self.report_integration(step, integrated)
    }

    /// The end of the step is where the system now stands.
    fn arrive(&mut self, reached: f64) {
        std::mem::swap(&mut self.now, &mut self.end);
        self.now.time = reached;
        self.event_effect = EventEffect::default();
        self.at_event = false;
        self.near_now = AT_NOW * self.near(reached);

        for (size, state) in self.sizes.iter_mut().zip(&self.now.values) {
            *size = size.max(state.abs());
        }
    }

    fn end_sample(&mut self, timed: Option<Instant>) {
        if let Some(before) = timed {
            self.instance.end_sample(before.elapsed());
        }
    }

    /// A failure at `time`, as the engine sees it.
    fn report<T>(&self, time: f64, done: Result<T, CallError>) -> Result<T, Error> {
        done.map_err(|error| self.failure(time, error.into()))
    }

    fn report_integration(
        &self,
        step: MacroStep,
        integrated: Result<f64, (f64, ExchangeFailure)>,
    ) -> Result<f64, Error> {
        integrated.map_err(|(elapsed, reason)| self.failure(step.start + elapsed, reason))
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
            let done = self.ask(step.start, inputs, response);
            return self.report(step.start, done);
        }

        let begun = self.begin_running(step.start);
        self.report(step.start, begun)?;
        let timed = self.instance.begin_sample().then(Instant::now);
        let elapsed = self.reuse_or_integrate(step, inputs, response)?;
        let reached = if self.ends {
            step.start + elapsed
        } else {
            step.end
        };
        let answered = self.answer(reached, elapsed, inputs, response);
        self.report(reached, answered)?;
        response.crossed = self.crossed;
        self.arrive(reached);
        self.end_sample(timed);
        Ok(())
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

    fn presence(&self) -> Presence {
        Presence {
            initialization_mode: true,
            responds: true,
            ticks: false,
        }
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn evaluate(&mut self) -> Option<&mut dyn Evaluate> {
        Some(self)
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        if self.abilities.serializes || self.memoryless {
            Some(self)
        } else {
            None
        }
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
        self.tried.step = None;
        let begun = self.begin_running(step.start);
        self.report(step.start, begun)?;
        let timed = self.instance.begin_sample().then(Instant::now);
        let integrated = self.integrate(step, inputs, false);
        let elapsed = self.report_integration(step, integrated)?;
        let whole = elapsed >= step.size();
        let time = if whole {
            step.end
        } else {
            step.start + elapsed
        };
        let answered = self.answer(time, elapsed, inputs, response);
        self.report(time, answered)?;

        if whole {
            self.tried.step = Some(step);
            self.tried.inputs.copy_from_slice(inputs);
        }

        self.end_sample(timed);
        Ok(())
    }
}

impl<I: Instance> Drop for ModelExchange<I> {
    fn drop(&mut self) {
        if self.phase == ExchangePhase::Running {
            // the run is over: what it answers does not matter any more
            let _ = self.instance.terminate();
        }
    }
}
