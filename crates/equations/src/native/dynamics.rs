//! A model's equations as functions of numbers: values, derivatives along the flow, Jacobians.

use std::sync::Arc;

use dovetail_core::Linearization;
use nalgebra::DMatrix;

use crate::{Dual, Evaluator, Model, Threshold};

type First = Dual<f64>;
type Second = Dual<Dual<f64>>;

/// Where the equations are evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Point<'a> {
    pub time: f64,
    pub states: &'a [f64],
    pub inputs: &'a [f64],
    pub slopes: &'a [f64],
}

/// How a point moves: time at rate 1, states and inputs at these rates.
#[derive(Clone, Copy)]
pub(crate) struct Motion<'a> {
    pub states: &'a [f64],
    pub inputs: &'a [f64],
    pub slopes: &'a [f64],
}

/// `f` and `g` of one model with its parameters, on the side of every time switch that was last entered.
pub(crate) struct Dynamics {
    thresholds: Vec<Threshold>,
    switches: Vec<f64>,
    f: Evaluator<f64>,
    g: Evaluator<f64>,
    f_first: Evaluator<First>,
    g_first: Evaluator<First>,
    g_second: Evaluator<Second>,
    /// For each input, whether its slope is used.
    uses_slope: Vec<bool>,
    scratch: Scratch,
}

/// Room for leaves and results that carry derivatives.
struct Scratch {
    states: Vec<First>,
    inputs: Vec<First>,
    slopes: Vec<First>,
    switches: Vec<First>,
    f: Vec<First>,
    g: Vec<First>,
    second_states: Vec<Second>,
    second_inputs: Vec<Second>,
    second_slopes: Vec<Second>,
    second_switches: Vec<Second>,
    second_g: Vec<Second>,
}

impl Scratch {
    fn new(model: &Model) -> Self {
        let first = |n: usize| vec![Dual::new(0.0, 0.0); n];
        let second = |n: usize| vec![Dual::new(Dual::new(0.0, 0.0), Dual::new(0.0, 0.0)); n];
        let (states, inputs, outputs) =
            (model.states.len(), model.inputs.len(), model.outputs.len());
        Self {
            states: first(states),
            inputs: first(inputs),
            slopes: first(inputs),
            switches: first(model.switches.len()),
            f: first(states),
            g: first(outputs),
            second_states: second(states),
            second_inputs: second(inputs),
            second_slopes: second(inputs),
            second_switches: second(model.switches.len()),
            second_g: second(outputs),
        }
    }
}

impl Dynamics {
    pub fn new(model: &Model, parameters: &[f64]) -> Self {
        let (f, g) = (
            Arc::new(model.derivative_program()),
            Arc::new(model.output_program()),
        );
        let first: Vec<First> = parameters.iter().map(|&p| Dual::constant(p)).collect();
        let second: Vec<Second> = first.iter().map(|&p| Dual::constant(p)).collect();
        let (one, two) = (Dual::constant(0.0), Dual::constant(Dual::constant(0.0)));
        let thresholds = model.thresholds(parameters);
        Self {
            switches: vec![f64::NAN; thresholds.len()],
            thresholds,
            f: Evaluator::new(Arc::clone(&f), &0.0, parameters),
            g: Evaluator::new(Arc::clone(&g), &0.0, parameters),
            f_first: Evaluator::new(f, &one, &first),
            g_first: Evaluator::new(Arc::clone(&g), &one, &first),
            g_second: Evaluator::new(g, &two, &second),
            uses_slope: model.uses_slope.clone(),
            scratch: Scratch::new(model),
        }
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.scratch.states.len()
    }

    /// The first switching time after `time`.
    pub fn next_switch(&self, time: f64) -> f64 {
        self.thresholds
            .iter()
            .map(|t| t.time)
            .filter(|&t| t > time)
            .fold(f64::INFINITY, f64::min)
    }

    /// Sets every time switch to what it is from `time` until the next switching time.
    pub fn enter(&mut self, time: f64) {
        let mut changed = false;
        for (switch, threshold) in self.switches.iter_mut().zip(&self.thresholds) {
            let value = f64::from(u8::from(threshold.holds_at(time)));
            changed |= *switch != value;
            *switch = value;
        }
        if changed {
            let scratch = &mut self.scratch;
            for (i, &value) in self.switches.iter().enumerate() {
                scratch.switches[i] = Dual::constant(value);
                scratch.second_switches[i] = Dual::constant(scratch.switches[i]);
            }
            self.f.set_switches(&self.switches);
            self.g.set_switches(&self.switches);
            self.f_first.set_switches(&scratch.switches);
            self.g_first.set_switches(&scratch.switches);
            self.g_second.set_switches(&scratch.second_switches);
        }
    }

    /// The present values of the switches.
    pub fn switches(&self) -> &[f64] {
        &self.switches
    }

    /// `x' = f`.
    pub fn derivative(&mut self, at: Point<'_>, derivative: &mut [f64]) {
        place(&mut self.f, at);
        self.f.run(derivative);
    }

    /// `y = g`.
    pub fn outputs(&mut self, at: Point<'_>, outputs: &mut [f64]) {
        place(&mut self.g, at);
        self.g.run(outputs);
    }

    /// `x'' = df/dt` along the motion.
    pub fn derivative_rate(&mut self, at: Point<'_>, motion: Motion<'_>, rate: &mut [f64]) {
        self.scratch.place(at, motion);
        place_first(&mut self.f_first, at.time, 1.0, &self.scratch);
        self.f_first.run(&mut self.scratch.f);
        rate.iter_mut()
            .zip(&self.scratch.f)
            .for_each(|(rate, f)| *rate = f.derivative);
    }

    /// `y' = dg/dt` along the motion.
    pub fn output_rate(&mut self, at: Point<'_>, motion: Motion<'_>, rate: &mut [f64]) {
        self.scratch.place(at, motion);
        place_first(&mut self.g_first, at.time, 1.0, &self.scratch);
        self.g_first.run(&mut self.scratch.g);
        rate.iter_mut()
            .zip(&self.scratch.g)
            .for_each(|(rate, g)| *rate = g.derivative);
    }

    /// `y'' = d²g/dt²` along the motion, whose own rate is `bend`.
    pub fn output_second_rate(
        &mut self,
        at: Point<'_>,
        motion: Motion<'_>,
        bend: Motion<'_>,
        rate: &mut [f64],
    ) {
        // (v + v' ε)(… + δ): the coefficient of εδ is the second derivative.
        let twice = |v: f64, first: f64, second: f64| {
            Dual::new(Dual::new(v, first), Dual::new(first, second))
        };
        let fill = |into: &mut [Second], v: &[f64], first: &[f64], second: &[f64]| {
            for (i, into) in into.iter_mut().enumerate() {
                *into = twice(v[i], first[i], second[i]);
            }
        };
        let scratch = &mut self.scratch;
        fill(
            &mut scratch.second_states,
            at.states,
            motion.states,
            bend.states,
        );
        fill(
            &mut scratch.second_inputs,
            at.inputs,
            motion.inputs,
            bend.inputs,
        );
        fill(
            &mut scratch.second_slopes,
            at.slopes,
            motion.slopes,
            bend.slopes,
        );
        self.g_second.set_time(&twice(at.time, 1.0, 0.0));
        self.g_second.set_states(&scratch.second_states);
        self.g_second.set_inputs(&scratch.second_inputs);
        self.g_second.set_slopes(&scratch.second_slopes);
        self.g_second.run(&mut scratch.second_g);
        rate.iter_mut()
            .zip(&scratch.second_g)
            .for_each(|(rate, g)| *rate = g.derivative.derivative);
    }

    /// `∂f/∂x`.
    pub fn state_jacobian(&mut self, at: Point<'_>, jacobian: &mut DMatrix<f64>) {
        self.scratch.rest(at);
        for column in 0..at.states.len() {
            self.scratch.states[column].derivative = 1.0;
            place_first(&mut self.f_first, at.time, 0.0, &self.scratch);
            self.f_first.run(&mut self.scratch.f);
            jacobian
                .column_mut(column)
                .iter_mut()
                .zip(&self.scratch.f)
                .for_each(|(entry, f)| *entry = f.derivative);
            self.scratch.states[column].derivative = 0.0;
        }
    }

    /// Everything at once.
    pub fn linearize(&mut self, at: Point<'_>, into: &mut Linearization) {
        self.stand(at, into);
        self.scratch.rest(at);
        for column in 0..at.states.len() {
            self.scratch.states[column].derivative = 1.0;
            self.directional(
                at.time,
                0.0,
                into.a.column_mut(column).as_mut_slice(),
                into.c.column_mut(column).as_mut_slice(),
            );
            self.scratch.states[column].derivative = 0.0;
        }
        for column in 0..at.inputs.len() {
            self.scratch.inputs[column].derivative = 1.0;
            self.directional(
                at.time,
                0.0,
                into.b.column_mut(column).as_mut_slice(),
                into.d.column_mut(column).as_mut_slice(),
            );
            self.scratch.inputs[column].derivative = 0.0;
            if !self.uses_slope[column] {
                into.b_slope.column_mut(column).fill(0.0);
                into.d_slope.column_mut(column).fill(0.0);
                continue;
            }
            self.scratch.slopes[column].derivative = 1.0;
            let (b, d) = (&mut into.b_slope, &mut into.d_slope);
            self.directional(
                at.time,
                0.0,
                b.column_mut(column).as_mut_slice(),
                d.column_mut(column).as_mut_slice(),
            );
            self.scratch.slopes[column].derivative = 0.0;
        }
        self.directional(
            at.time,
            1.0,
            into.f_time.as_mut_slice(),
            into.g_time.as_mut_slice(),
        );
    }

    /// The point of a linearisation, and f and g there.
    pub fn stand(&mut self, at: Point<'_>, into: &mut Linearization) {
        self.derivative(at, into.f.as_mut_slice());
        self.outputs(at, into.g.as_mut_slice());
        into.x.as_mut_slice().copy_from_slice(at.states);
        into.u.as_mut_slice().copy_from_slice(at.inputs);
        into.u_slope.as_mut_slice().copy_from_slice(at.slopes);
    }

    /// Derivatives of f and g in the direction that the scratch leaves hold.
    fn directional(&mut self, time: f64, time_rate: f64, f: &mut [f64], g: &mut [f64]) {
        place_first(&mut self.f_first, time, time_rate, &self.scratch);
        self.f_first.run(&mut self.scratch.f);
        place_first(&mut self.g_first, time, time_rate, &self.scratch);
        self.g_first.run(&mut self.scratch.g);
        f.iter_mut()
            .zip(&self.scratch.f)
            .for_each(|(entry, value)| *entry = value.derivative);
        g.iter_mut()
            .zip(&self.scratch.g)
            .for_each(|(entry, value)| *entry = value.derivative);
    }
}

impl Scratch {
    fn place(&mut self, at: Point<'_>, motion: Motion<'_>) {
        let fill = |into: &mut [First], values: &[f64], rates: &[f64]| {
            for (i, into) in into.iter_mut().enumerate() {
                *into = Dual::new(values[i], rates[i]);
            }
        };
        fill(&mut self.states, at.states, motion.states);
        fill(&mut self.inputs, at.inputs, motion.inputs);
        fill(&mut self.slopes, at.slopes, motion.slopes);
    }

    /// At the point, moving nowhere.
    fn rest(&mut self, at: Point<'_>) {
        let fill = |into: &mut [First], values: &[f64]| {
            into.iter_mut()
                .zip(values)
                .for_each(|(into, &value)| *into = Dual::constant(value));
        };
        fill(&mut self.states, at.states);
        fill(&mut self.inputs, at.inputs);
        fill(&mut self.slopes, at.slopes);
    }
}

fn place(evaluator: &mut Evaluator<f64>, at: Point<'_>) {
    evaluator.set_time(&at.time);
    evaluator.set_states(at.states);
    evaluator.set_inputs(at.inputs);
    evaluator.set_slopes(at.slopes);
}

fn place_first(evaluator: &mut Evaluator<First>, time: f64, time_rate: f64, scratch: &Scratch) {
    evaluator.set_time(&Dual::new(time, time_rate));
    evaluator.set_states(&scratch.states);
    evaluator.set_inputs(&scratch.inputs);
    evaluator.set_slopes(&scratch.slopes);
}
