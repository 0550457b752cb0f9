//! Systems given by `derivatives(t, x, u)` and `outputs(t, x, u)`: our integrator moves them.
//!
//! Their state is here and not in Python, so that a trial leaves no trace, inputs are polynomials exactly, and everything can
//! be linearized: with `jacobians(t, x, u)` where there is one, else by central differences.

use std::ops::ControlFlow;

use dovetail::core::{
    Archive, Checkpoint, Error, Evaluate, Evaluation, Interface, Linearization, Linearize,
    MAX_DEGREE, MacroStep, Response, Signal, System, Trial, visit_fields,
};
use dovetail_numerics::{Hint, IntegrationError, Integrator, Rhs, Tolerance};

use super::calls::{Call, Instance, Second};

/// Central differences are taken over so much of a quantity: about the cube root of the precision.
const DIFFERENCE: f64 = 6e-6;

/// Where the system is.
#[derive(Clone)]
struct Place {
    time: f64,
    states: Vec<f64>,
    hint: Hint,
}

/// The end of a step that was tried, kept until it is taken: then it costs no integration.
struct Tried {
    step: Option<MacroStep>,
    inputs: Vec<Signal>,
    end: Place,
}

/// The inputs last applied, with their slopes.
struct Applied {
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Applied {
    fn take(&mut self, signals: &[Signal], elapsed: f64) {
        for (k, signal) in signals.iter().enumerate() {
            let knot = signal.at(elapsed);
            self.values[k] = knot.value;
            self.slopes[k] = knot.slope;
        }
    }
}

/// Scratch for derivatives and outputs, here and at two places near by.
struct Scratch {
    derivative: Vec<f64>,
    derivatives: [Vec<f64>; 2],
    outputs: [Vec<f64>; 2],
    states: Vec<f64>,
    inputs: Vec<f64>,
}

/// A system in Python with derivatives.
pub(super) struct OdeSystem {
    interface: Interface,
    instance: Instance,
    integrator: Integrator,
    tolerance: f64,
    /// When the run began: nothing is asked of earlier times.
    start: f64,
    /// The largest magnitude of each state so far.
    sizes: Vec<f64>,
    now: Place,
    tried: Tried,
    applied: Applied,
    scratch: Scratch,
}

impl OdeSystem {
    pub fn new(interface: Interface, instance: Instance, states: &[f64], tolerance: f64) -> Self {
        let inputs = interface.inputs.len();
        let outputs = interface.outputs.len();
        let count = states.len();
        let now = Place {
            time: 0.0,
            states: states.to_vec(),
            hint: Hint::default(),
        };

        Self {
            integrator: Integrator::new(count),
            tolerance,
            start: f64::NEG_INFINITY,
            sizes: states.iter().map(|state| state.abs()).collect(),
            tried: Tried {
                step: None,
                inputs: vec![Signal::constant(0.0); inputs],
                end: now.clone(),
            },
            now,
            applied: Applied {
                values: interface.inputs.iter().map(|input| input.start).collect(),
                slopes: vec![0.0; inputs],
            },
            scratch: Scratch {
                derivative: vec![0.0; count],
                derivatives: [vec![0.0; count], vec![0.0; count]],
                outputs: [vec![0.0; outputs], vec![0.0; outputs]],
                states: vec![0.0; count],
                inputs: vec![0.0; inputs],
            },
            interface,
            instance,
        }
    }

    /// Integrates from `now` over `step` into the end of what is tried, unless it was just tried.
    fn integrate(&mut self, step: MacroStep, inputs: &[Signal]) -> Result<bool, Error> {
        if self.tried.step == Some(step) && self.tried.inputs == inputs {
            return Ok(true);
        }

        self.tried.step = None;
        self.tried.end.states.copy_from_slice(&self.now.states);
        let mut motion = Motion {
            instance: &self.instance,
            start: step.start,
            inputs,
            values: &mut self.scratch.inputs,
            states: self.now.states.len(),
            error: None,
        };
        let tolerance = Tolerance {
            relative: self.tolerance,
            absolute: 0.0,
            sizes: &self.sizes,
            largest: 0.0,
        };
        let states = &mut self.tried.end.states;
        let hint = self.now.hint;
        let done =
            self.integrator
                .integrate(&mut motion, 0.0, step.size(), states, tolerance, hint);
        if let Some(error) = motion.error {
            return Err(error);
        }

        let outcome = done.map_err(|error| self.given_up(step.start, error))?;
        self.tried.end.hint = outcome.hint;
        self.tried.end.time = step.end;
        self.tried.inputs.copy_from_slice(inputs);
        self.tried.step = Some(step);
        Ok(false)
    }

    /// Why the integrator gave up, in the words of the model.
    fn given_up(&self, start: f64, error: IntegrationError) -> Error {
        let system = &self.interface.name;
        let state = |component: usize| self.interface.states[component].clone();
        match error {
            IntegrationError::NotFinite { time, component } => Error::system(
                system,
                start + time,
                format!(
                    "the derivative of its state `{}` is not a finite number there: look at what \
                     derivatives(t, x, u) returns",
                    state(component)
                ),
            ),
            IntegrationError::TooManySteps { time, limit } => Error::system(
                system,
                start + time,
                format!("its integrator gave up after {limit} steps within one macro-step"),
            )
            .with([dovetail::Remedy::LooserIntegratorTolerance]),
            IntegrationError::StepTooSmall {
                time,
                step,
                component,
            } => Error::system(
                system,
                start + time,
                format!(
                    "its integrator would need steps below {step:.1e} s, because of its state `{}`: \
                     the solution has a pole or a jump there",
                    state(component)
                ),
            ),
        }
    }

    /// Answers for a place under the inputs that were applied.
    fn answer(&mut self, tried: bool, response: &mut Response) -> Result<(), Error> {
        let place = if tried { &self.tried.end } else { &self.now };
        let Scratch {
            derivative,
            outputs: [values, others],
            states,
            inputs,
            ..
        } = &mut self.scratch;
        let applied = &self.applied;
        let call = outputs_at(place.time, &place.states, &applied.values);
        self.instance.numbers(call, values)?;
        let call = derivatives_at(place.time, &place.states, &applied.values);
        self.instance.numbers(call, derivative)?;
        for (knot, value) in response.outputs.iter_mut().zip(&*values) {
            *knot = dovetail::core::Knot::value_only(*value);
        }
        for (k, state) in place.states.iter().enumerate() {
            response.states[k] = *state;
            response.motion[k] = [derivative[k], f64::NAN];
        }

        if response.derivatives() > 0 {
            // y' along the motion: outputs a little later and a little earlier, or where the system stands.
            let h = DIFFERENCE * time_scale(place, derivative);
            let mut distance = 0.0;
            for (sign, into) in [(1.0, &mut *values), (-1.0, &mut *others)] {
                let d = sign * h;
                along(states, &place.states, derivative, d);
                along(inputs, &applied.values, &applied.slopes, d);
                let call = outputs_at(place.time + d, states, inputs);
                let defined =
                    place.time + d >= self.start && self.instance.defined_numbers(call, into)?;
                if defined {
                    distance += h;
                } else {
                    let present = response.outputs.iter().map(|knot| knot.value);
                    into.iter_mut()
                        .zip(present)
                        .for_each(|(into, value)| *into = value);
                }
            }
            for (k, knot) in response.outputs.iter_mut().enumerate() {
                knot.slope = (values[k] - others[k]) / distance;
            }
        }
        response.reached = place.time;
        response.next_event = f64::INFINITY;
        Ok(())
    }

    fn note_sizes(&mut self) {
        for (size, state) in self.sizes.iter_mut().zip(&self.now.states) {
            *size = size.max(state.abs());
        }
    }

    /// Derivatives and outputs on both sides of where the system stands, or on one of them and there: at the edge of where a model is
    /// defined, as before the start of a run. The distance between the two.
    fn differences(&mut self, moved: Moved) -> Result<f64, Error> {
        let of = |value: f64, usual: f64| DIFFERENCE * value.abs().max(usual).max(1e-3);
        let h = match moved {
            Moved::State(k) => of(self.now.states[k], 1e-3 * self.sizes[k]),
            Moved::Input(k) => of(self.applied.values[k], 0.0),
            Moved::Time => DIFFERENCE,
        };
        let before_start = matches!(moved, Moved::Time) && self.now.time - h < self.start;
        let right = self.beside(moved, h, 0)?;
        let left = !before_start && self.beside(moved, -h, 1)?;
        let distance = match (right, left) {
            (true, true) => return Ok(2.0 * h),
            (true, false) | (false, true) => h,
            (false, false) => return Ok(f64::NAN),
        };
        let missing = usize::from(right);
        let inputs = &self.applied.values;
        let Scratch {
            derivatives,
            outputs,
            ..
        } = &mut self.scratch;
        let call = derivatives_at(self.now.time, &self.now.states, inputs);
        self.instance.numbers(call, &mut derivatives[missing])?;
        let call = outputs_at(self.now.time, &self.now.states, inputs);
        self.instance.numbers(call, &mut outputs[missing])?;
        Ok(distance)
    }

    /// Derivatives and outputs so far from where the system stands; whether it is defined there.
    fn beside(&mut self, moved: Moved, shift: f64, side: usize) -> Result<bool, Error> {
        let Scratch {
            derivatives,
            outputs,
            states,
            inputs,
            ..
        } = &mut self.scratch;
        states.copy_from_slice(&self.now.states);
        inputs.copy_from_slice(&self.applied.values);
        let mut time = self.now.time;
        match moved {
            Moved::State(k) => states[k] += shift,
            Moved::Input(k) => inputs[k] += shift,
            Moved::Time => time += shift,
        }
        let call = derivatives_at(time, states, inputs);
        let defined = self
            .instance
            .defined_numbers(call, &mut derivatives[side])?;
        let call = outputs_at(time, states, inputs);
        Ok(defined && self.instance.defined_numbers(call, &mut outputs[side])?)
    }

    /// A column of two matrices by differences.
    fn column(&mut self, moved: Moved, f: &mut [f64], g: &mut [f64]) -> Result<(), Error> {
        let distance = self.differences(moved)?;
        let [right, left] = &self.scratch.derivatives;
        for (k, entry) in f.iter_mut().enumerate() {
            *entry = (right[k] - left[k]) / distance;
        }
        let [right, left] = &self.scratch.outputs;
        for (k, entry) in g.iter_mut().enumerate() {
            *entry = (right[k] - left[k]) / distance;
        }
        Ok(())
    }

    fn columns_by_differences(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let (rows, outputs) = (into.a.nrows(), into.c.nrows());
        for k in 0..into.a.ncols() {
            let f = &mut into.a.as_mut_slice()[k * rows..][..rows];
            let g = &mut into.c.as_mut_slice()[k * outputs..][..outputs];
            self.column(Moved::State(k), f, g)?;
        }
        for k in 0..into.b.ncols() {
            let f = &mut into.b.as_mut_slice()[k * rows..][..rows];
            let g = &mut into.d.as_mut_slice()[k * outputs..][..outputs];
            self.column(Moved::Input(k), f, g)?;
        }
        Ok(())
    }

    /// The matrices that Python knows.
    fn exact_columns(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let call = Call {
            method: "jacobians",
            time: self.now.time,
            second: Second::States(&self.now.states),
            inputs: &self.applied.values,
        };
        let matrices = [&mut into.a, &mut into.b, &mut into.c, &mut into.d];
        let places = matrices.map(|matrix| {
            let shape = [matrix.nrows(), matrix.ncols()];
            (matrix.as_mut_slice(), shape)
        });
        self.instance.matrices(call, places)
    }
}

/// What differences are taken over.
#[derive(Clone, Copy)]
enum Moved {
    State(usize),
    Input(usize),
    Time,
}

fn derivatives_at<'a>(time: f64, states: &'a [f64], inputs: &'a [f64]) -> Call<'a> {
    Call {
        method: "derivatives",
        time,
        second: Second::States(states),
        inputs,
    }
}

fn outputs_at<'a>(time: f64, states: &'a [f64], inputs: &'a [f64]) -> Call<'a> {
    Call {
        method: "outputs",
        ..derivatives_at(time, states, inputs)
    }
}

/// How long the system takes to change by its own size, or a second where it stands.
fn time_scale(place: &Place, derivative: &[f64]) -> f64 {
    let norm = |numbers: &[f64]| numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let ratio = norm(&place.states) / norm(derivative);
    if ratio.is_normal() {
        ratio.clamp(1e-6, 1e3)
    } else {
        1.0
    }
}

/// `into = from + slope · elapsed`.
fn along(into: &mut [f64], from: &[f64], slope: &[f64], elapsed: f64) {
    for (k, value) in into.iter_mut().enumerate() {
        *value = from[k] + slope[k] * elapsed;
    }
}

/// The right-hand side over a step. An exception ends the integration: from then on nothing is a number.
struct Motion<'a> {
    instance: &'a Instance,
    start: f64,
    inputs: &'a [Signal],
    values: &'a mut [f64],
    states: usize,
    error: Option<Error>,
}

impl Rhs for Motion<'_> {
    fn size(&self) -> usize {
        self.states
    }

    fn derivative(&mut self, time: f64, state: &[f64], derivative: &mut [f64]) {
        if self.error.is_none() {
            for (value, signal) in self.values.iter_mut().zip(self.inputs) {
                *value = signal.value(time);
            }
            let call = derivatives_at(self.start + time, state, self.values);
            self.error = self.instance.numbers(call, derivative).err();
        }
        if self.error.is_some() {
            derivative.fill(f64::NAN);
        }
    }

    fn arrived(&mut self, _time: f64, _state: &[f64]) -> ControlFlow<()> {
        match self.error {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

impl System for OdeSystem {
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
            if self.start == f64::NEG_INFINITY {
                self.start = step.end;
            }
            self.now.time = step.end;
            self.applied.take(inputs, 0.0);
        } else {
            response.reused = self.integrate(step, inputs)?;
            std::mem::swap(&mut self.now, &mut self.tried.end);
            self.applied.take(inputs, step.size());
            self.note_sizes();
        }
        self.tried.step = None;
        self.answer(false, response)
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
        1
    }
}

impl Trial for OdeSystem {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        let applied = [self.applied.values.clone(), self.applied.slopes.clone()];
        let answered = if step.is_instant() {
            self.applied.take(inputs, 0.0);
            self.answer(false, response)
        } else {
            self.integrate(step, inputs).and_then(|_| {
                self.applied.take(inputs, step.size());
                self.answer(true, response)
            })
        };
        let [values, slopes] = applied;
        self.applied = Applied { values, slopes };
        answered
    }
}

impl Linearize for OdeSystem {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let time = self.now.time;
        let states = &self.now.states;
        let inputs = &self.applied.values;
        self.instance
            .numbers(derivatives_at(time, states, inputs), into.f.as_mut_slice())?;
        self.instance
            .numbers(outputs_at(time, states, inputs), into.g.as_mut_slice())?;
        into.x.copy_from_slice(states);
        into.u.copy_from_slice(inputs);
        into.u_slope.copy_from_slice(&self.applied.slopes);

        if self.instance.model().description.jacobians {
            self.exact_columns(into)?;
        } else {
            self.columns_by_differences(into)?;
        }
        let (f, g) = (&mut into.f_time, &mut into.g_time);
        self.column(Moved::Time, f.as_mut_slice(), g.as_mut_slice())?;
        into.b_slope.fill(0.0);
        into.d_slope.fill(0.0);
        (into.affine, into.kept, into.event.due) = (0, false, 0);
        Ok(())
    }
}

impl Evaluate for OdeSystem {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        let states = into.x.as_slice();
        let inputs = into.u.as_slice();
        self.instance
            .numbers(derivatives_at(time, states, inputs), into.f.as_mut_slice())?;
        self.instance
            .numbers(outputs_at(time, states, inputs), into.g.as_mut_slice())
    }
}

impl Checkpoint for OdeSystem {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(
            archive,
            self.now.time,
            self.now.hint.stiff,
            self.now.hint.step
        );
        archive.slice(&mut self.now.states)?;
        archive.slice(&mut self.sizes)?;
        archive.slice(&mut self.applied.values)?;
        archive.slice(&mut self.applied.slopes)?;
        self.tried.step = None;
        Ok(())
    }
}
