//! A system some of whose inputs or outputs are not what they should be: faults, and values that somebody takes over.
//!
//! For each such variable the system has one more input, which is held: the number of the override in force, or 0 for none.

use crate::checkpoint::{Archive, Checkpoint};
use crate::error::Error;
use crate::forward_to_system;
use crate::interface::{Input, Interface, SignalKind};
use crate::linearization::{Evaluation, Linearization};
use crate::macro_step::MacroStep;
use crate::offer_as_system;
use crate::signal::{Knot, MAX_DEGREE, Signal};
use crate::system::{Evaluate, Linearize, System, Trial};
use crate::task::Response;
use crate::visit_fields;
use crate::wrapping::{checkpoint_of, evaluation_of, linearization_of, trial_of};

/// What a variable is instead of what it should be.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Override {
    /// This value.
    Value(f64),
    /// `gain · value + offset`.
    Affine {
        /// Factor.
        gain: f64,
        /// Offset.
        offset: f64,
    },
    /// What it was when the override came into force.
    Stuck,
}

/// Which variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum OverriddenPlace {
    /// The input at this position.
    Input(usize),
    /// The output at this position.
    Output(usize),
}

/// A variable, and the overrides that may come into force.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OverriddenVariable {
    /// Which variable.
    pub place: OverriddenPlace,
    /// The name of the input that says which override is in force.
    pub input: String,
    /// The overrides, the first of which is number 1.
    pub overrides: Vec<Override>,
}

/// A system behind its overrides.
pub struct Overridden<S> {
    system: S,
    interface: Interface,
    variables: Vec<OverriddenVariable>,
    /// For each variable, the number of the override in force where the system stands.
    modes: Vec<usize>,
    /// For each variable, what it was at the end of the last step; NaN before the first.
    last: Vec<f64>,
    inputs: Vec<Signal>,
    /// All inputs and their slopes, as they came.
    outer: Vec<[f64; 2]>,
    linearization: Linearization,
    evaluation: Evaluation,
}

/// What becomes of a number: `factor · value + offset`.
#[derive(Clone, Copy)]
struct Map {
    factor: f64,
    offset: f64,
}

impl Map {
    fn signal(self, signal: Signal) -> Signal {
        let mut coefficients = [0.0; MAX_DEGREE + 1];
        let from = signal.coefficients();
        for (to, from) in coefficients.iter_mut().zip(from) {
            *to = self.factor * from;
        }
        coefficients[0] += self.offset;
        Signal::new(&coefficients)
    }

    fn knot(self, knot: Knot) -> Knot {
        let rate = |rate: f64| {
            if self.factor == 0.0 {
                0.0
            } else {
                self.factor * rate
            }
        };
        Knot {
            value: self.value(knot.value),
            slope: rate(knot.slope),
            curvature: rate(knot.curvature),
        }
    }

    fn value(self, value: f64) -> f64 {
        if self.factor == 0.0 {
            self.offset
        } else {
            self.factor * value + self.offset
        }
    }
}

impl<S: System> Overridden<S> {
    /// Puts the overrides before and behind `system`.
    pub fn new(system: S, variables: Vec<OverriddenVariable>) -> Self {
        let inner = system.interface();
        let interface = Self::outer_interface(inner, &variables);
        let starts = inner
            .inputs
            .iter()
            .map(|input| Signal::constant(input.start));

        Self {
            modes: vec![0; variables.len()],
            last: vec![f64::NAN; variables.len()],
            inputs: starts.collect(),
            outer: vec![[0.0; 2]; interface.inputs.len()],
            linearization: Linearization::of(inner),
            evaluation: Evaluation::of(inner),
            interface,
            variables,
            system,
        }
    }

    /// How a system looks from outside of these overrides.
    pub fn outer_interface(inner: &Interface, variables: &[OverriddenVariable]) -> Interface {
        let mut outer = inner.clone();
        let first = inner.inputs.len();
        let modes = variables.iter().map(|variable| Input {
            name: variable.input.clone(),
            affine: false,
            kind: SignalKind::Discrete,
            ..Input::default()
        });
        outer.inputs = inner.inputs.iter().cloned().chain(modes).collect();

        for (k, variable) in variables.iter().enumerate() {
            match variable.place {
                OverriddenPlace::Output(output) => {
                    outer.outputs[output].depends_on.push(first + k);
                }
                OverriddenPlace::Input(input) => {
                    for output in outer.outputs.iter_mut() {
                        if output.depends_on.contains(&input) {
                            output.depends_on.push(first + k);
                        }
                    }
                }
            }
        }
        outer
    }

    /// What a variable becomes under an override; `now` is what it should be.
    fn map(&self, variable: usize, mode: usize, now: f64) -> Map {
        let given = &self.variables[variable].overrides;
        let chosen = mode.checked_sub(1).and_then(|mode| given.get(mode));
        let constant = |offset: f64| Map {
            factor: 0.0,
            offset,
        };
        match chosen {
            None => Map {
                factor: 1.0,
                offset: 0.0,
            },
            Some(Override::Value(value)) => constant(*value),
            Some(&Override::Affine { gain, offset }) => Map {
                factor: gain,
                offset,
            },
            Some(Override::Stuck) if self.last[variable].is_nan() => constant(now),
            Some(Override::Stuck) => constant(self.last[variable]),
        }
    }

    fn mode(&self, variable: usize, inputs: &[Signal]) -> usize {
        let flag = inputs[self.inputs.len() + variable].value(0.0);
        flag.round().max(0.0) as usize
    }

    /// The inputs as the system gets them.
    fn take(&mut self, inputs: &[Signal]) {
        let own = self.inputs.len();
        self.inputs.copy_from_slice(&inputs[..own]);
        for k in 0..self.variables.len() {
            if let OverriddenPlace::Input(input) = self.variables[k].place {
                let signal = inputs[input];
                let map = self.map(k, self.mode(k, inputs), signal.value(0.0));
                if map.factor != 1.0 || map.offset != 0.0 {
                    self.inputs[input] = map.signal(signal);
                }
            }
        }
    }

    /// The outputs as others get them.
    fn hand_on(&self, inputs: &[Signal], response: &mut Response) {
        for k in 0..self.variables.len() {
            if let OverriddenPlace::Output(output) = self.variables[k].place {
                let knot = response.outputs[output];
                let map = self.map(k, self.mode(k, inputs), knot.value);
                if map.factor != 1.0 || map.offset != 0.0 {
                    response.outputs[output] = map.knot(knot);
                    response.path.clear(); // its knots would be those of the true output
                }
            }
        }
    }

    /// The system stands at the end of this step.
    fn stand(&mut self, step: MacroStep, inputs: &[Signal], response: &Response, moved: bool) {
        let elapsed = match response.reached < step.end {
            true => response.reached - step.start,
            false => step.size(),
        };
        for (outer, signal) in self.outer.iter_mut().zip(inputs) {
            let knot = signal.at(elapsed);
            *outer = [knot.value, knot.slope];
        }
        for k in 0..self.variables.len() {
            self.modes[k] = self.mode(k, inputs);
            if moved {
                self.last[k] = match self.variables[k].place {
                    OverriddenPlace::Input(input) => self.inputs[input].value(elapsed),
                    OverriddenPlace::Output(output) => response.outputs[output].value,
                };
            }
        }
    }
}

impl<S: System> System for Overridden<S> {
    forward_to_system!(system: presence, join_lane, precision, input_degree, output_derivatives, step_rule);
    offer_as_system!(system: trial, linearize, evaluate, checkpoint);

    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn advance(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.take(inputs);
        self.system.advance(step, &self.inputs, response)?;
        self.hand_on(inputs, response);
        self.stand(step, inputs, response, !step.is_instant());
        Ok(())
    }

    fn begin(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.take(inputs);
        self.system.begin(step, &self.inputs, response)?;
        self.hand_on(inputs, response);
        self.stand(step, inputs, response, true);
        Ok(())
    }
}

impl<S: System> Checkpoint for Overridden<S> {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.modes);
        archive.slice(&mut self.last)?;
        archive.slice(&mut self.outer)?;
        checkpoint_of(&mut self.system).visit(archive)
    }
}

impl<S: System> Trial for Overridden<S> {
    fn respond(
        &mut self,
        step: MacroStep,
        inputs: &[Signal],
        response: &mut Response,
    ) -> Result<(), Error> {
        self.take(inputs);
        trial_of(&mut self.system).respond(step, &self.inputs, response)?;
        self.hand_on(inputs, response);
        Ok(())
    }
}

impl<S: System> Linearize for Overridden<S> {
    fn linearize_into(&mut self, into: &mut Linearization) -> Result<(), Error> {
        let inner = &mut self.linearization;
        linearization_of(&mut self.system).linearize_into(inner)?;

        let own = inner.u.len();
        into.a.copy_from(&inner.a);
        into.c.copy_from(&inner.c);
        into.x.copy_from(&inner.x);
        into.f.copy_from(&inner.f);
        into.g.copy_from(&inner.g);
        into.f_time.copy_from(&inner.f_time);
        into.g_time.copy_from(&inner.g_time);
        into.kept = inner.kept;
        let pairs = [
            (&mut into.b, &inner.b),
            (&mut into.d, &inner.d),
            (&mut into.b_slope, &inner.b_slope),
            (&mut into.d_slope, &inner.d_slope),
        ];
        for (to, from) in pairs {
            to.fill(0.0); // which override is in force is an event, not a slope
            to.columns_mut(0, own).copy_from(from);
        }
        copy_event(inner, into);
        into.affine = inner.affine;

        for k in 0..self.variables.len() {
            let map = match self.variables[k].place {
                OverriddenPlace::Input(input) => self.map(k, self.modes[k], self.outer[input][0]),
                OverriddenPlace::Output(output) => self.map(k, self.modes[k], into.g[output]),
            };
            match self.variables[k].place {
                OverriddenPlace::Input(input) => scale_input(into, input, map.factor),
                OverriddenPlace::Output(output) => {
                    into.c.row_mut(output).scale_mut(map.factor);
                    into.d.row_mut(output).scale_mut(map.factor);
                    into.d_slope.row_mut(output).scale_mut(map.factor);
                    into.g_time[output] *= map.factor;
                    into.g[output] = map.value(into.g[output]);
                }
            }
            if into.affine != 0 {
                // What stays the same does so only as long as the same override is in force.
                into.affine = into.affine.rotate_left(7) ^ (self.modes[k] as u64 + 1);
                into.affine = into.affine.max(1);
            }
        }
        for (column, [value, slope]) in self.outer.iter().enumerate() {
            (into.u[column], into.u_slope[column]) = (*value, *slope);
        }
        Ok(())
    }
}

fn scale_input(into: &mut Linearization, input: usize, factor: f64) {
    into.b.column_mut(input).scale_mut(factor);
    into.d.column_mut(input).scale_mut(factor);
    into.b_slope.column_mut(input).scale_mut(factor);
    into.d_slope.column_mut(input).scale_mut(factor);
    into.event.u[input] *= factor;
    into.event.u_slope[input] *= factor;
    if into.event.resets() {
        into.event
            .reset_by_inputs
            .column_mut(input)
            .scale_mut(factor);
    }
}

fn copy_event(inner: &Linearization, into: &mut Linearization) {
    let event = &inner.event;
    let own = event.u.len();
    (into.event.due, into.event.value, into.event.time) = (event.due, event.value, event.time);
    into.event.x.copy_from(&event.x);
    into.event.u.fill(0.0);
    into.event.u.rows_mut(0, own).copy_from(&event.u);
    into.event.u_slope.fill(0.0);
    into.event
        .u_slope
        .rows_mut(0, own)
        .copy_from(&event.u_slope);
    into.event.make_reset(event.resets());
    if event.resets() {
        into.event.reset.copy_from(&event.reset);
        let mut columns = into.event.reset_by_inputs.columns_mut(0, own);
        columns.copy_from(&event.reset_by_inputs);
    }
}

impl<S: System> Evaluate for Overridden<S> {
    fn evaluate_into(&mut self, time: f64, into: &mut Evaluation) -> Result<(), Error> {
        let own = self.inputs.len();
        let mut inner =
            std::mem::replace(&mut self.evaluation, Evaluation::of(&Interface::default()));
        inner.x.copy_from(&into.x);
        inner.u.copy_from(&into.u.rows(0, own));
        inner.u_slope.copy_from(&into.u_slope.rows(0, own));
        for k in 0..self.variables.len() {
            if let OverriddenPlace::Input(input) = self.variables[k].place {
                let map = self.map(k, self.modes[k], inner.u[input]);
                inner.u[input] = map.value(inner.u[input]);
                inner.u_slope[input] *= map.factor;
            }
        }

        let done = evaluation_of(&mut self.system).evaluate_into(time, &mut inner);
        into.f.copy_from(&inner.f);
        into.g.copy_from(&inner.g);
        for k in 0..self.variables.len() {
            if let OverriddenPlace::Output(output) = self.variables[k].place {
                let map = self.map(k, self.modes[k], into.g[output]);
                into.g[output] = map.value(into.g[output]);
            }
        }
        self.evaluation = inner;
        done
    }
}
