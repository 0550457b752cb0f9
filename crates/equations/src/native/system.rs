//! A model as a system.

use dovetail_core::{
    Capabilities, Error, Interface, Knot, Linearization, Linearize, MAX_DEGREE, MacroStep,
    Precision, Presence, Response, Signal, StepRule, System, Trial,
};
use dovetail_numerics::{Hint, IntegrationError, Integrator, Rhs, Tolerance};
use nalgebra::DMatrix;

use super::definition::Definition;
use super::dynamics::{Dynamics, Motion, Point};
use super::linear::{LinearEngine, MOST_STATES};

/// A model given as equations, with every capability.
///
/// Systems that are affine between their switching times are stepped exactly (unless they are so stiff that rounding would
/// spoil it); all others by an adaptive integrator that never crosses a switching time. The state after the last trial is kept, so that an advance under the same inputs costs
/// no integration.
pub struct NativeSystem {
    interface: Interface,
    dynamics: Dynamics,
    /// The exact stepper of an affine system.
    exact: Option<Box<LinearEngine>>,
    /// Made when it is first needed.
    integrator: Option<Box<Integrator>>,
    /// Relative tolerance of the integrator.
    tolerance: f64,
    /// The largest magnitude of each state so far.
    sizes: Vec<f64>,
    now: State,
    /// The end of the step last taken or tried, until it becomes `now`.
    end: State,
    tried: Tried,
    drive: Drive,
    work: Scratch,
}

/// Where a system stands.
#[derive(Clone)]
struct State {
    time: f64,
    /// A time on the same side of every switch: `time` itself after an instant, the start of the last segment after a step.
    side: f64,
    values: Vec<f64>,
    hint: Hint,
    /// The inputs last applied, and their slopes.
    inputs: Vec<f64>,
    slopes: Vec<f64>,
}

impl State {
    fn copy_from(&mut self, other: &Self) {
        (self.time, self.side, self.hint) = (other.time, other.side, other.hint);
        self.values.copy_from_slice(&other.values);
    }
}

/// The step that `end` belongs to, if it has only been tried.
struct Tried {
    step: Option<MacroStep>,
    inputs: Vec<Signal>,
}

/// The inputs at one time: values and derivatives.
struct Drive {
    values: Vec<f64>,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
    thirds: Vec<f64>,
}

impl Drive {
    fn new(inputs: &[f64]) -> Self {
        let zeros = vec![0.0; inputs.len()];
        Self {
            values: inputs.to_vec(),
            slopes: zeros.clone(),
            curvatures: zeros.clone(),
            thirds: zeros,
        }
    }

    /// Values and slopes, and higher derivatives as far as `derivatives` of the outputs need them.
    fn set(&mut self, inputs: &[Signal], elapsed: f64, derivatives: usize) {
        for (i, signal) in inputs.iter().enumerate() {
            self.values[i] = signal.value(elapsed);
            self.slopes[i] = signal.derivative(1, elapsed);
            if derivatives > 0 {
                self.curvatures[i] = signal.derivative(2, elapsed);
                self.thirds[i] = signal.derivative(3, elapsed);
            }
        }
    }
}

/// Room for one evaluation.
struct Scratch {
    outputs: Vec<f64>,
    derivative: Vec<f64>,
    second: Vec<f64>,
    shifted: Vec<Signal>,
}

impl NativeSystem {
    /// The system of a definition, at its start values.
    pub fn new(definition: &Definition) -> Self {
        let model = &definition.model;
        let (states, inputs, outputs) =
            (model.states.len(), model.inputs.len(), model.outputs.len());
        let affine = model.is_affine() && states <= MOST_STATES;
        let engine = || {
            Box::new(LinearEngine::new(
                states,
                inputs,
                outputs,
                model.switches.len(),
            ))
        };
        let now = State {
            time: 0.0,
            side: 0.0,
            values: definition.states.clone(),
            hint: Hint::default(),
            inputs: definition.inputs.clone(),
            slopes: vec![0.0; inputs],
        };
        Self {
            interface: definition.interface(),
            dynamics: Dynamics::new(model, &definition.parameters),
            exact: affine.then(engine),
            integrator: None,
            tolerance: definition.tolerance,
            sizes: definition.states.iter().map(|state| state.abs()).collect(),
            end: now.clone(),
            now,
            tried: Tried {
                step: None,
                inputs: vec![Signal::constant(0.0); inputs],
            },
            drive: Drive::new(&definition.inputs),
            work: Scratch {
                outputs: vec![0.0; outputs],
                derivative: vec![0.0; states],
                second: vec![0.0; states],
                shifted: vec![Signal::constant(0.0); inputs],
            },
        }
    }

    /// Whether steps are exact: the system is affine between its switching times.
    pub fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// Integrates from `now` over `step` into `end`, from switching time to switching time.
    fn integrate(&mut self, step: MacroStep, inputs: &[Signal]) -> Result<(), Error> {
        self.end.copy_from(&self.now);
        self.end.time = step.start;
        let mut elapsed = 0.0;
        loop {
            let start = if elapsed == 0.0 {
                step.start
            } else {
                self.end.time
            };
            let switch = self.dynamics.next_switch(start);
            let segment = Segment::new(step, elapsed, switch);
            self.dynamics.enter(start);
            self.end.side = start;
            self.step_segment(&segment, inputs)?;
            (self.end.time, elapsed) = (segment.end_time, segment.end);
            if elapsed == step.size() {
                return Ok(());
            }
        }
    }

    fn step_segment(&mut self, segment: &Segment, inputs: &[Signal]) -> Result<(), Error> {
        if self.end.values.is_empty() {
            return Ok(());
        }
        let (size, tolerance) = (segment.end - segment.start, self.tolerance);
        if let Some(engine) = self.exact.as_deref_mut()
            && engine.admits(&mut self.dynamics, size, inputs.len(), tolerance)
        {
            let (initial, end) = (&mut self.work.derivative, &mut self.end.values);
            initial.copy_from_slice(end);
            if segment.start == 0.0 {
                engine.step(size, initial, inputs, end);
            } else {
                let shifted = self.work.shifted.iter_mut().zip(inputs);
                shifted.for_each(|(shifted, signal)| *shifted = signal.shifted(segment.start));
                engine.step(size, initial, &self.work.shifted, end);
            }
            return Ok(());
        }
        self.integrate_segment(segment, inputs)
    }

    fn integrate_segment(&mut self, segment: &Segment, inputs: &[Signal]) -> Result<(), Error> {
        let states = self.end.values.len();
        let integrator = self
            .integrator
            .get_or_insert_with(|| Box::new(Integrator::new(states)));
        let mut rhs = Driven {
            dynamics: &mut self.dynamics,
            drive: &mut self.drive,
            inputs,
            segment,
        };
        let (values, hint) = (&mut self.end.values, self.end.hint);
        // By what states have been: those that pass through zero are to be followed too, whatever their units.
        let size = segment.step.size();
        let largest = inputs
            .iter()
            .flat_map(|input| [input.value(0.0).abs(), input.value(size).abs()])
            .fold(0.0, f64::max);
        let tolerance = Tolerance {
            relative: self.tolerance,
            absolute: 0.0,
            sizes: &self.sizes,
            largest,
        };
        let outcome = integrator
            .integrate(
                &mut rhs,
                segment.start,
                segment.end,
                values,
                tolerance,
                hint,
            )
            .map_err(|error| failure(&self.interface, segment.step, error))?;
        self.end.hint = outcome.hint;
        Ok(())
    }

    /// Fills the response with the outputs at `end` (or `now`) under the inputs as they are after `elapsed`.
    fn answer(
        &mut self,
        ended: bool,
        time: f64,
        elapsed: f64,
        inputs: &[Signal],
        response: &mut Response,
    ) {
        let state = if ended { &mut self.end } else { &mut self.now };
        self.drive.set(inputs, elapsed, response.derivatives());
        state.inputs.copy_from_slice(&self.drive.values);
        state.slopes.copy_from_slice(&self.drive.slopes);
        self.dynamics.enter(state.side);
        let (drive, work) = (&self.drive, &mut self.work);
        let at = Point {
            time,
            states: &state.values,
            inputs: &drive.values,
            slopes: &drive.slopes,
        };
        self.dynamics.outputs(at, &mut work.outputs);
        for (knot, &value) in response.outputs.iter_mut().zip(&work.outputs) {
            *knot = Knot::value_only(value);
        }
        response.states.copy_from_slice(&state.values);
        if response.derivatives() == 0 {
            return;
        }
        self.dynamics.derivative(at, &mut work.derivative);
        let motion = Motion {
            states: &work.derivative,
            inputs: &drive.slopes,
            slopes: &drive.curvatures,
        };
        self.dynamics.output_rate(at, motion, &mut work.outputs);
        response
            .outputs
            .iter_mut()
            .zip(&work.outputs)
            .for_each(|(knot, &slope)| knot.slope = slope);
        response
            .motion
            .iter_mut()
            .zip(&work.derivative)
            .for_each(|(state, &slope)| *state = [slope, f64::NAN]);
        if response.derivatives() == 1 {
            return;
        }
        self.dynamics.derivative_rate(at, motion, &mut work.second);
        response
            .motion
            .iter_mut()
            .zip(&work.second)
            .for_each(|(state, &curvature)| state[1] = curvature);
        let bend = Motion {
            states: &work.second,
            inputs: &drive.curvatures,
            slopes: &drive.thirds,
        };
        self.dynamics
            .output_second_rate(at, motion, bend, &mut work.outputs);
        response
            .outputs
            .iter_mut()
            .zip(&work.outputs)
            .for_each(|(knot, &curvature)| knot.curvature = curvature);
    }

    /// The end of a step: the limit from the left, where it is a switching time.
    fn answer_at_end(&mut self, step: MacroStep, inputs: &[Signal], response: &mut Response) {
        let switch = self.dynamics.next_switch(step.end.next_down());
        let time = if switch == step.end {
            step.end.next_down()
        } else {
            step.end
        };
        self.answer(true, time, step.size(), inputs, response);
        (response.reached, response.next_event) = (step.end, switch);
    }
}

impl NativeSystem {
    /// What every system given as equations can do.
    pub const CAPABILITIES: Capabilities = Capabilities {
        trial: true,
        linearize: true,
        input_degree: MAX_DEGREE,
        output_derivatives: 2,
        step_rule: StepRule::Free,
        presence: Presence {
            initialization_mode: false,
            responds: true,
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
            (self.now.time, self.now.side) = (step.start, step.start);
            self.answer(false, step.start, 0.0, inputs, response);
            (response.reached, response.next_event) =
                (step.start, self.dynamics.next_switch(step.start));
            return Ok(());
        }
        response.reused = self.tried.step == Some(step) && self.tried.inputs == inputs;
        if !response.reused {
            self.tried.step = None;
            self.integrate(step, inputs)?;
        }
        self.answer_at_end(step, inputs, response);
        std::mem::swap(&mut self.now, &mut self.end);
        self.sizes
            .iter_mut()
            .zip(&self.now.values)
            .for_each(|(size, state)| *size = size.max(state.abs()));
        self.tried.step = None;
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
        2
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
        self.integrate(step, inputs)?;
        self.tried.step = Some(step);
        self.tried.inputs.copy_from_slice(inputs);
        self.answer_at_end(step, inputs, response);
        Ok(())
    }
}

impl Linearize for NativeSystem {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        self.dynamics.enter(self.now.side);
        let time = if self.now.side == self.now.time {
            self.now.time
        } else {
            // At the end of a step: not beyond a switch that lies exactly there.
            self.now
                .time
                .min(self.dynamics.next_switch(self.now.side).next_down())
        };
        let at = Point {
            time,
            states: &self.now.values,
            inputs: &self.now.inputs,
            slopes: &self.now.slopes,
        };
        match self.exact.as_deref_mut() {
            Some(engine) => engine.linearize(&mut self.dynamics, at, into),
            None => self.dynamics.linearize(at, into),
        }
        Ok(())
    }

    fn evaluate_into(&mut self, time: f64, into: &mut Linearization) -> Result<(), Error> {
        self.dynamics.enter(self.now.side);
        let time = time.min(self.dynamics.next_switch(self.now.side).next_down());
        let Linearization {
            x,
            u,
            u_slope,
            f,
            g,
            ..
        } = into;
        let at = Point {
            time,
            states: x.as_slice(),
            inputs: u.as_slice(),
            slopes: u_slope.as_slice(),
        };
        self.dynamics.derivative(at, f.as_mut_slice());
        self.dynamics.outputs(at, g.as_mut_slice());
        Ok(())
    }
}

/// The part of a step between two switching times, in elapsed time.
struct Segment {
    step: MacroStep,
    start: f64,
    end: f64,
    end_time: f64,
    /// No evaluation is later than this: at a switching time itself the other side begins.
    latest: f64,
}

impl Segment {
    fn new(step: MacroStep, elapsed: f64, switch: f64) -> Self {
        let (end, end_time) = if switch < step.end {
            ((switch - step.start).min(step.size()), switch)
        } else {
            (step.size(), step.end)
        };
        let latest = if switch <= step.end {
            switch.next_down()
        } else {
            f64::INFINITY
        };
        Self {
            step,
            start: elapsed,
            end,
            end_time,
            latest,
        }
    }

    fn time(&self, elapsed: f64) -> f64 {
        (self.step.start + elapsed).min(self.latest)
    }
}

/// `x' = f` under input signals.
struct Driven<'a> {
    dynamics: &'a mut Dynamics,
    drive: &'a mut Drive,
    inputs: &'a [Signal],
    segment: &'a Segment,
}

impl Driven<'_> {
    fn set_inputs(&mut self, elapsed: f64) {
        for (i, signal) in self.inputs.iter().enumerate() {
            self.drive.values[i] = signal.value(elapsed);
            self.drive.slopes[i] = signal.derivative(1, elapsed);
        }
    }
}

impl Rhs for Driven<'_> {
    fn size(&self) -> usize {
        self.dynamics.states()
    }

    fn derivative(&mut self, elapsed: f64, states: &[f64], derivative: &mut [f64]) {
        self.set_inputs(elapsed);
        let time = self.segment.time(elapsed);
        let at = Point {
            time,
            states,
            inputs: &self.drive.values,
            slopes: &self.drive.slopes,
        };
        self.dynamics.derivative(at, derivative);
    }

    fn jacobian(&mut self, elapsed: f64, states: &[f64], jacobian: &mut DMatrix<f64>) {
        self.set_inputs(elapsed);
        let time = self.segment.time(elapsed);
        let at = Point {
            time,
            states,
            inputs: &self.drive.values,
            slopes: &self.drive.slopes,
        };
        self.dynamics.state_jacobian(at, jacobian);
    }
}

/// Why an integration inside a system failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(
        "the derivative of its state `{state}` is not a finite number there; look for a division by zero or a root or \
         logarithm of a negative number"
    )]
    NotFinite { state: String },
    #[error(
        "its integrator gave up after {limit} steps within one macro-step; a looser --integrator-tolerance or a smoother \
         right-hand side may help"
    )]
    TooManySteps { limit: usize },
    #[error(
        "its integrator would need steps below {step:.1e} s, because of its state `{state}`: the solution has a pole or a jump \
         there"
    )]
    StepTooSmall { step: f64, state: String },
}

fn failure(interface: &Interface, step: MacroStep, error: IntegrationError) -> Error {
    let state = |component: usize| interface.states[component].clone();
    let (elapsed, reason) = match error {
        IntegrationError::NotFinite { time, component } => (
            time,
            Failure::NotFinite {
                state: state(component),
            },
        ),
        IntegrationError::TooManySteps { time, limit } => (time, Failure::TooManySteps { limit }),
        IntegrationError::StepTooSmall {
            time,
            step,
            component,
        } => (
            time,
            Failure::StepTooSmall {
                step,
                state: state(component),
            },
        ),
    };
    Error::System {
        system: interface.name.clone(),
        time: step.start + elapsed,
        reason: Box::new(reason),
    }
}
