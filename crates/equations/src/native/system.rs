//! A model as a system.

use dovetail_core::{
    Archive, Capabilities, Checkpoint, Error, Evaluate, Evaluation, Interface, Linearization,
    Linearize, MAX_DEGREE, MacroStep, Precision, Presence, Response, Signal, StepRule, System,
    Trial, visit_fields,
};
use dovetail_numerics::{Hint, Integrator, Tolerance};

use super::branches::Branches;
use super::clauses::Clauses;
use super::definition::Definition;
use super::delay_line::DelayLine;
use super::drive::{Drive, Driven, Segment, Watched};
use super::dynamics::{Dynamics, Point};
use super::events::{Clock, Crowd, EventSide};
use super::failure::failure;
use super::linear::{LinearEngine, MOST_STATES};
use super::response::{EvaluationScratch, ResponseFiller};
use super::trail::Trail;
use super::watch::{Crossing, Watch};
use crate::held::HeldModel;

/// A model given as equations, with every capability.
///
/// Systems that are affine between their switching times are stepped exactly (unless they are so
/// stiff that rounding would spoil it); all others by an adaptive integrator that never crosses a
/// switching time. The state after the last trial is kept, so that an advance under the same inputs
/// costs no integration.
pub struct NativeSystem {
    pub(super) interface: Interface,
    pub(super) dynamics: Dynamics,
    /// The exact stepper of an affine system.
    pub(super) exact: Option<Box<LinearEngine>>,
    /// Made when it is first needed.
    pub(super) integrator: Option<Box<Integrator>>,
    /// Relative tolerance of the integrator.
    pub(super) tolerance: f64,
    /// The largest magnitude of each state so far.
    pub(super) sizes: Vec<f64>,
    pub(super) now: NativeState,
    /// The end of the step last taken or tried, until it becomes `now`.
    pub(super) end: NativeState,
    tried: TriedNative,
    pub(super) drive: Drive,
    pub(super) work: EvaluationScratch,
    /// Where the integrator has been.
    pub(super) trail: Trail,
    /// Where something switches by itself.
    pub(super) watch: Option<Box<Watch>>,
    /// Whether events were crossed within the step last taken or tried.
    pub(super) crossed: bool,
    pub(super) clock: Clock,
    /// Whether the run has begun: before, no clause runs.
    pub(super) begun: bool,
    /// Inputs as they were before, where any is delayed.
    pub(super) delays: Option<Box<DelayLine>>,
}

/// Where a system is.
#[derive(Clone)]
pub(super) struct NativeState {
    pub time: f64,
    /// A time on the same side of every switch: `time` itself after an instant, the start of the
    /// last segment after a step.
    pub side: f64,
    pub values: Vec<f64>,
    pub hint: Hint,
    pub branches: Branches,
    /// The inputs last applied, and their slopes.
    pub inputs: Vec<f64>,
    pub slopes: Vec<f64>,
}

impl NativeState {
    /// The start values of a definition.
    fn start(definition: &Definition, branches: Branches) -> Self {
        let inputs = definition.driving_inputs();
        Self {
            time: 0.0,
            side: 0.0,
            values: definition.states.clone(),
            hint: Hint::default(),
            branches,
            slopes: vec![0.0; inputs.len()],
            inputs,
        }
    }

    fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.side = other.side;
        self.hint = other.hint;
        self.values.copy_from_slice(&other.values);
        self.branches.copy_from(&other.branches);
    }
}

/// The step that `end` belongs to, if it has only been tried.
struct TriedNative {
    step: Option<MacroStep>,
    inputs: Vec<Signal>,
}

impl NativeSystem {
    /// The system of a definition, at its start values.
    pub fn new(definition: &Definition) -> Self {
        let model = &definition.model;
        let held = HeldModel::of(model);
        let affine = match &held {
            Some(held) => held.is_affine(),
            None => model.is_affine(),
        };
        let exact = affine && model.states.len() <= MOST_STATES;
        let functions = held.as_ref().map_or(0, |held| held.functions().len());
        let switches = model.switches.len() + functions;
        let clauses = Clauses::of(model);
        let branches = Branches::new(functions, clauses.conditions());
        let now = NativeState::start(definition, branches);
        let clauses_are_empty = clauses.is_empty();

        Self {
            interface: definition.interface(),
            dynamics: Dynamics::new(model, held.as_ref(), &definition.parameters),
            exact: exact.then(|| Box::new(LinearEngine::new(model, switches))),
            integrator: None,
            tolerance: definition.tolerance,
            sizes: definition.states.iter().map(|state| state.abs()).collect(),
            end: now.clone(),
            now,
            tried: TriedNative {
                step: None,
                inputs: vec![Signal::constant(0.0); model.inputs.len()],
            },
            drive: Drive::new(&definition.driving_inputs()),
            work: EvaluationScratch::new(model),
            trail: Trail::default(),
            watch: held
                .as_ref()
                .map(|held| Box::new(Watch::new(model.states.len(), held, clauses))),
            crossed: false,
            clock: Clock::new(definition.sample),
            begun: clauses_are_empty,
            delays: DelayLine::of(definition),
        }
    }

    /// Whether steps are exact: the system is affine from one event to the next.
    pub fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// Integrates from `now` over `step` into `end`, from switching time to switching time and from
    /// event to event, or until the first event. The elapsed time reached.
    fn integrate(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        until_event: bool,
    ) -> Result<f64, Error> {
        let mut delays = self.delays.take();
        let reached = self.integrate_delayed(step, inputs, delays.as_deref_mut(), until_event);
        self.delays = delays;
        reached
    }

    fn integrate_delayed(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        mut delays: Option<&mut DelayLine>,
        until_event: bool,
    ) -> Result<f64, Error> {
        self.end.copy_from(&self.now);
        self.end.time = step.start;
        self.center_layers(step.start, inputs, delays.as_deref());
        self.end.branches.near = f64::INFINITY;
        self.crossed = false;
        self.trail.clear();
        let mut elapsed = 0.0;
        let mut crowd = Crowd::default();

        loop {
            let start = if elapsed == 0.0 {
                step.start
            } else {
                self.end.time
            };
            self.end.side = start;
            let (inputs, until) = match &mut delays {
                Some(delays) => {
                    let until = delays.enter(step, start, inputs);
                    (delays.signals(), until)
                }
                None => (inputs, f64::INFINITY),
            };
            self.enter_segment(start, elapsed, inputs)?;
            let tick = self.clock.next(&self.end.branches);
            let switch = self.dynamics.next_switch(start).min(tick).min(until);
            let segment = Segment::new(step, elapsed, switch);
            let arrival = match crowd.dwell(&segment) {
                Some(dwell) => self.step_blindly(&dwell, inputs)?,
                None => self.step_watched(&segment, inputs)?,
            };
            elapsed = arrival.elapsed;
            self.end.time = if elapsed == segment.end {
                segment.end_time
            } else {
                step.start + elapsed
            };
            if elapsed == step.size() || (arrival.event && until_event) {
                return Ok(elapsed);
            }
            self.crossed |= arrival.event;
            crowd.note(&arrival);
        }
    }

    /// The layers at which others keep the system are where it is under these inputs.
    fn center_layers(&mut self, time: f64, inputs: &[Signal], delays: Option<&DelayLine>) {
        let branches = &self.now.branches;
        self.dynamics.enter(self.now.side, &branches.held);
        if self.dynamics.is_kept() {
            let inputs = delays.map_or(inputs, DelayLine::signals);
            self.drive.set(inputs, 0.0, 1);
            let at = self.drive.point(time, &self.now.values);
            self.dynamics.center_layers(at, &branches.shares);
        }
    }

    /// Branches at the start of a segment: inputs may have jumped, and events may be due.
    fn enter_segment(&mut self, start: f64, elapsed: f64, inputs: &[Signal]) -> Result<(), Error> {
        if self.watch.is_some() {
            self.drive.set(inputs, elapsed, 1);
            self.cross(EventSide::End, start, false)?;
        }
        self.dynamics.enter(start, &self.end.branches.held);
        Ok(())
    }

    /// The next time after `time` at which something is known to switch: a condition on time, or
    /// the clock as it stands in a state.
    fn next_known(&self, state: &NativeState, time: f64) -> f64 {
        let tick = self.clock.next(&state.branches);
        let switch = self.dynamics.next_switch(time);
        let delayed = self.delays.as_ref().map(|delays| delays.next_event(time));
        let switch = switch.min(delayed.unwrap_or(f64::INFINITY));
        if tick > time {
            switch.min(tick)
        } else {
            switch
        }
    }

    pub(super) fn step_segment(
        &mut self,
        segment: &Segment,
        inputs: &[Signal],
    ) -> Result<(), Error> {
        if self.end.values.is_empty() {
            return Ok(());
        }

        let size = segment.end - segment.start;
        let slides = self.dynamics.slides();
        let exact = self.exact.as_deref_mut().is_some_and(|engine| {
            !slides && engine.admits(&mut self.dynamics, size, inputs.len(), self.tolerance)
        });

        if exact {
            self.step_exactly(segment, inputs);
            return Ok(());
        }
        self.integrate_segment(segment, inputs)
    }

    fn step_exactly(&mut self, segment: &Segment, inputs: &[Signal]) {
        let Some(engine) = self.exact.as_deref_mut() else {
            return;
        };
        let size = segment.end - segment.start;
        let end = &mut self.end.values;
        let initial = &mut self.work.derivative;
        initial.copy_from_slice(end);

        if segment.start == 0.0 {
            engine.step(size, initial, inputs, end);
            return;
        }

        for (shifted, signal) in self.work.shifted.iter_mut().zip(inputs) {
            *shifted = signal.shifted(segment.start);
        }
        engine.step(size, initial, &self.work.shifted, end);
    }

    fn integrate_segment(&mut self, segment: &Segment, inputs: &[Signal]) -> Result<(), Error> {
        self.run_integrator(segment, inputs, None)?;
        Ok(())
    }

    /// The integrator over a segment, or until the watch finds an event.
    pub(super) fn run_integrator(
        &mut self,
        segment: &Segment,
        inputs: &[Signal],
        watch: Option<&mut Watch>,
    ) -> Result<Option<Crossing>, Error> {
        let states = self.end.values.len();
        let integrator = self
            .integrator
            .get_or_insert_with(|| Box::new(Integrator::new(states)));
        let mut driven = Driven {
            dynamics: &mut self.dynamics,
            drive: &mut self.drive,
            inputs,
            segment,
            trail: Some((&mut self.trail, self.end.side)),
        };
        // By what states have been: those that pass through zero are to be followed too, whatever
        // their units.
        let tolerance = Tolerance {
            relative: self.tolerance,
            absolute: 0.0,
            sizes: &self.sizes,
            largest: largest_input(inputs, segment.step.size()),
        };
        let start = segment.start;
        let end = segment.end;
        let values = &mut self.end.values;
        let hint = self.end.hint;
        let mut crossing = None;
        let outcome = match watch {
            None => integrator.integrate(&mut driven, start, end, values, tolerance, hint),
            Some(watch) => {
                let mut watched = Watched {
                    driven,
                    watch,
                    branches: &self.end.branches,
                    crossing: None,
                };
                let outcome =
                    integrator.integrate(&mut watched, start, end, values, tolerance, hint);
                crossing = watched.crossing;
                outcome
            }
        };

        match outcome {
            Ok(outcome) => {
                self.end.hint = outcome.hint;
                Ok(crossing)
            }
            Err(error) => Err(failure(&self.interface, segment.step, error)),
        }
    }

    /// Fills the response with the outputs at `end` (or `now`) under the inputs as they are after
    /// `elapsed`.
    fn answer(
        &mut self,
        ended: bool,
        time: f64,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) {
        let state = if ended { &mut self.end } else { &mut self.now };
        let inputs = self
            .delays
            .as_ref()
            .map_or(inputs, |delays| delays.signals());
        self.drive.set(inputs, elapsed, response.derivatives());
        state.inputs.copy_from_slice(&self.drive.values);
        state.slopes.copy_from_slice(&self.drive.slopes);
        self.dynamics.enter(state.side, &state.branches.held);
        let mut evaluation = ResponseFiller {
            dynamics: &mut self.dynamics,
            at: self.drive.point(time, &state.values),
            drive: &self.drive,
            work: &mut self.work,
        };
        evaluation.fill_values(response);
        evaluation.dynamics.read_shares(&mut state.branches.shares);

        if response.derivatives() > 0 {
            evaluation.fill_slopes(response);
        }
        if response.derivatives() > 1 {
            evaluation.fill_curvatures(response);
        }
    }

    /// `time`, but at the end of a step not beyond a switch that lies exactly there.
    fn before_switch(&self, time: f64) -> f64 {
        let switch = self.next_known(&self.now, self.now.side);
        time.min(switch.next_down())
    }

    /// The end of a step, or the event at which a trial has stopped: the limit from the left, where
    /// something switches there.
    fn answer_at_end(
        &mut self,
        step: MacroStep,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) {
        let reached = if elapsed == step.size() {
            step.end
        } else {
            self.end.time
        };
        let switch = self.next_known(&self.end, reached.next_down());
        let time = if switch == reached {
            reached.next_down()
        } else {
            reached
        };
        if let Some(delays) = &mut self.delays {
            delays.enter(step, self.end.side, inputs);
        }
        self.answer(true, time, elapsed, inputs, response);
        response.reached = reached;

        let found = if self.end.branches.any_due() {
            reached
        } else {
            self.end.branches.near
        };
        response.located = found < switch;
        response.next_event = found.min(switch);
    }

    /// An instant: time stays, inputs jump.
    fn answer_at_instant(
        &mut self,
        time: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        if self.clock.start.is_nan() {
            self.clock.start = time;
        }

        self.now.time = time;
        self.now.side = time;
        if let Some(delays) = &mut self.delays {
            delays.restart();
            delays.enter(MacroStep::instant(time), time, inputs);
            if delays.remembers() {
                self.dynamics.undelayed.clear();
            }
        }
        let delays = self.delays.take();
        self.center_layers(time, inputs, delays.as_deref());
        self.delays = delays;
        if self.watch.is_some() {
            let inputs = self
                .delays
                .as_ref()
                .map_or(inputs, |delays| delays.signals());
            self.drive.set(inputs, 0.0, 1);
            self.cross(EventSide::Now, time, response.averages)?;
        }
        self.answer(false, time, 0.0, inputs, response);
        response.reached = time;
        response.next_event = self.next_known(&self.now, time);
        Ok(())
    }
}

impl NativeSystem {
    /// What every system given as equations can do.
    pub const CAPABILITIES: Capabilities = Capabilities {
        trial: true,
        linearize: true,
        evaluate: true,
        checkpoint: true,
        input_degree: MAX_DEGREE,
        output_derivatives: 2,
        step_rule: StepRule::Free,
        presence: Presence {
            initialization_mode: false,
            responds: true,
            ticks: false,
        },
        precision: Precision {
            noise: 0.0,
            resolution: 0.0,
        },
    };
}

impl System for NativeSystem {
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
            return self.answer_at_instant(step.start, inputs, response);
        }

        self.begun = true;
        response.reused = self.tried.step == Some(step) && self.tried.inputs == inputs;
        if !response.reused {
            self.tried.step = None;
            self.integrate(step, inputs, false)?;
        }

        self.retrace(step, inputs, response);
        self.answer_at_end(step, step.size(), inputs, response);
        response.crossed = self.crossed;
        std::mem::swap(&mut self.now, &mut self.end);
        if let Some(delays) = &mut self.delays {
            delays.remember(step, inputs);
            self.dynamics.undelayed.clear();
        }

        for (size, state) in self.sizes.iter_mut().zip(&self.now.values) {
            *size = size.max(state.abs());
        }

        self.tried.step = None;
        Ok(())
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.begun = true;
        if let Some(delays) = &mut self.delays {
            delays.begin(step.start, inputs);
        }
        self.answer_at_instant(step.start, inputs, response)
    }

    fn presence(&self) -> Presence {
        let clauses = self.watch.as_ref().map(|watch| &watch.clauses);
        let runs_clauses = clauses.is_some_and(|clauses| !clauses.is_empty());
        Presence {
            ticks: runs_clauses || self.delays.is_some(),
            ..Presence::default()
        }
    }

    fn trial(&mut self) -> Option<&mut dyn Trial> {
        Some(self)
    }

    fn linearize(&mut self) -> Option<&mut dyn Linearize> {
        Some(self)
    }

    fn evaluate(&mut self) -> Option<&mut dyn Evaluate> {
        Some(self)
    }

    fn checkpoint(&mut self) -> Option<&mut dyn Checkpoint> {
        Some(self)
    }

    fn input_degree(&self) -> usize {
        MAX_DEGREE
    }

    fn output_derivatives(&self) -> usize {
        2
    }
}

impl Checkpoint for NativeSystem {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.sizes)?;
        visit_fields!(archive, self.clock.start);
        if let Some(watch) = &mut self.watch {
            archive.slice(&mut watch.spans)?;
        }
        self.begun = true; // what can be written down has
        if let Some(delays) = &mut self.delays {
            delays.visit(archive)?;
            if delays.remembers() {
                self.dynamics.undelayed.clear();
            }
        }
        self.now.visit(archive)?;
        self.end.visit(archive)?;
        archive.field(&mut self.tried.step)?;
        archive.slice(&mut self.tried.inputs)
    }
}

impl Checkpoint for NativeState {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(
            archive,
            self.time,
            self.side,
            self.hint.stiff,
            self.hint.step
        );
        archive.slice(&mut self.values)?;
        archive.slice(&mut self.inputs)?;
        archive.slice(&mut self.slopes)?;

        self.branches.visit(archive)
    }
}

impl Trial for NativeSystem {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.tried.step = None;
        let elapsed = self.integrate(step, inputs, true)?;
        if elapsed == step.size() {
            self.tried.step = Some(step);
            self.tried.inputs.copy_from_slice(inputs);
        }
        self.answer_at_end(step, elapsed, inputs, response);
        Ok(())
    }
}

impl Linearize for NativeSystem {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        self.dynamics.enter(self.now.side, &self.now.branches.held);
        let time = if self.now.side == self.now.time {
            self.now.time
        } else {
            self.before_switch(self.now.time)
        };
        let at = Point {
            time,
            states: &self.now.values,
            inputs: &self.now.inputs,
            slopes: &self.now.slopes,
        };

        match self.exact.as_deref_mut() {
            Some(engine) if !self.dynamics.slides() && self.delays.is_none() => {
                engine.linearize(&mut self.dynamics, at, into)
            }
            _ => self.dynamics.linearize(at, into),
        }

        into.kept = self.dynamics.is_kept();
        self.preview_event(&mut into.event);
        let branches = &self.now.branches;
        into.event.due = branches.due.iter().filter(|due| **due).count() as u64;
        if let Some(function) = branches.due.iter().position(|due| *due) {
            self.dynamics.enter(self.now.side, &self.now.branches.held);
            let at = Point {
                time,
                states: &self.now.values,
                inputs: &self.now.inputs,
                slopes: &self.now.slopes,
            };
            self.dynamics
                .function_gradient(at, function, &mut into.event);
            // An integer part changes where the function is this, not where it is zero.
            into.event.value = self.past_switching(function, into.event.value);
        }
        Ok(())
    }
}

impl Evaluate for NativeSystem {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        self.dynamics.enter(self.now.side, &self.now.branches.held);
        let time = self.before_switch(time);
        let mut at = Point {
            time,
            states: into.x.as_slice(),
            inputs: into.u.as_slice(),
            slopes: into.u_slope.as_slice(),
        };
        if let Some(delays) = &self.delays {
            delays.look_up(time, at.inputs, &mut self.drive.values);
            at.inputs = &self.drive.values;
            self.drive.slopes[..at.slopes.len()].copy_from_slice(at.slopes);
            at.slopes = &self.drive.slopes;
        }
        self.dynamics.derivative(at, into.f.as_mut_slice());
        self.dynamics.outputs(at, into.g.as_mut_slice());
        Ok(())
    }
}

/// The largest input at either end of a step.
fn largest_input(inputs: &[Signal], size: f64) -> f64 {
    let mut largest: f64 = 0.0;
    for input in inputs {
        largest = largest.max(input.value(0.0).abs());
        largest = largest.max(input.value(size).abs());
    }
    largest
}
