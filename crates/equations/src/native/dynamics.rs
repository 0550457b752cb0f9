//! A model's equations as functions of numbers: values, derivatives along the flow, Jacobians.

use std::sync::Arc;

use dovetail_core::{EventGradient, Linearization};
use nalgebra::DMatrix;

use super::programs::{Programs, SwitchingPrograms};
use super::sliding::{Layer, Of, Sliding};
use crate::dual::Dual;
use crate::evaluator::Evaluator;
use crate::model::Model;
use crate::number::Number;
use crate::switches::{Threshold, next_switch, thresholds};

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

/// `f` and `g` of one model with its parameters, on the side of every time switch that was last
/// entered, and under the branches that were last taken.
pub(crate) struct Dynamics {
    thresholds: Vec<Threshold>,
    /// Conditions on time, then what is held of the switching functions.
    pub(super) switches: Vec<f64>,
    f: Evaluator<f64>,
    g: Evaluator<f64>,
    f_first: Evaluator<First>,
    g_first: Evaluator<First>,
    g_second: Evaluator<Second>,
    /// Room for parameters on their way to evaluators.
    first_parameters: Vec<First>,
    second_parameters: Vec<Second>,
    /// For each input, whether its slope is used.
    uses_slope: Vec<bool>,
    /// The input that each delayed one moves with; none once the past is known.
    pub(super) undelayed: Vec<usize>,
    first: Leaves<First>,
    second: Leaves<Second>,
    pub(super) switching: Option<Box<Switching>>,
}

/// What switches by itself: the switching functions, and the equations with nothing held.
pub(super) struct Switching {
    functions: Evaluator<First>,
    results: Vec<First>,
    natural_f: Evaluator<f64>,
    natural_g: Evaluator<f64>,
    natural_f_first: Evaluator<First>,
    natural_g_first: Evaluator<First>,
    natural_g_second: Evaluator<Second>,
    conditions: Evaluator<f64>,
    assignments: Evaluator<First>,
    assigned: Vec<First>,
    pub sliding: Sliding,
}

impl Switching {
    fn new(model: &Model, programs: &SwitchingPrograms, parameters: &[f64]) -> Self {
        let zero = Dual::constant(0.0);
        let first = constants(parameters);
        let second = constants(&first);
        let plain = |program| Evaluator::new(Arc::clone(program), &0.0, parameters);
        let dual = |program| Evaluator::new(Arc::clone(program), &zero, &first);
        let functions = programs.functions.results();

        Self {
            functions: dual(&programs.functions),
            results: vec![zero; functions],
            natural_f_first: dual(&programs.natural_f),
            natural_g_first: dual(&programs.natural_g),
            natural_g_second: Evaluator::new(
                Arc::clone(&programs.natural_g),
                &Dual::constant(zero),
                &second,
            ),
            natural_f: plain(&programs.natural_f),
            natural_g: plain(&programs.natural_g),
            conditions: plain(&programs.conditions),
            assigned: vec![zero; programs.assignments.results()],
            assignments: dual(&programs.assignments),
            sliding: Sliding::new(model, functions),
        }
    }
}

/// Scratch for leaves and results that carry derivatives.
struct Leaves<T> {
    states: Vec<T>,
    inputs: Vec<T>,
    slopes: Vec<T>,
    switches: Vec<T>,
    f: Vec<T>,
    g: Vec<T>,
}

impl<T: Number> Leaves<T> {
    fn new(model: &Model, switches: usize, zero: &T) -> Self {
        let inputs = vec![zero.clone(); model.input_leaves()];
        let states = vec![zero.clone(); model.states.len()];

        Self {
            inputs: inputs.clone(),
            slopes: inputs,
            switches: vec![zero.clone(); switches],
            f: states.clone(),
            g: vec![zero.clone(); model.outputs.len()],
            states,
        }
    }

    /// Gives an evaluator its leaves.
    fn set(&self, evaluator: &mut Evaluator<T>, time: &T) {
        evaluator.set_time(time);
        evaluator.set_states(&self.states);
        evaluator.set_inputs(&self.inputs);
        evaluator.set_slopes(&self.slopes);
    }
}

impl Dynamics {
    pub fn new(model: &Model, programs: &Programs, parameters: &[f64]) -> Self {
        let f = &programs.f;
        let g = &programs.g;
        let first_parameters = constants(parameters);
        let second_parameters = constants(&first_parameters);
        let first = Dual::constant(0.0);
        let second = Dual::constant(first);
        let switch_program = Arc::clone(&programs.time_switches);
        let lines = Evaluator::new(switch_program, &0.0, parameters).results();
        let thresholds = thresholds(&model.switches, &lines);
        let switches = thresholds.len() + programs.functions();

        Self {
            switches: vec![f64::NAN; switches],
            thresholds,
            f: Evaluator::new(Arc::clone(f), &0.0, parameters),
            g: Evaluator::new(Arc::clone(g), &0.0, parameters),
            f_first: Evaluator::new(Arc::clone(f), &first, &first_parameters),
            g_first: Evaluator::new(Arc::clone(g), &first, &first_parameters),
            g_second: Evaluator::new(Arc::clone(g), &second, &second_parameters),
            first_parameters,
            second_parameters,
            uses_slope: model.uses_slope.clone(),
            undelayed: model.delays.iter().map(|delay| delay.input).collect(),
            first: Leaves::new(model, switches, &first),
            second: Leaves::new(model, switches, &second),
            switching: programs
                .switching
                .as_ref()
                .map(|programs| Box::new(Switching::new(model, programs, parameters))),
        }
    }

    /// Other parameters, of a model in which nothing switches.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        set_constants(&mut self.first_parameters, parameters);
        set_constants(&mut self.second_parameters, &self.first_parameters);
        self.f.set_parameters(parameters);
        self.g.set_parameters(parameters);
        self.f_first.set_parameters(&self.first_parameters);
        self.g_first.set_parameters(&self.first_parameters);
        self.g_second.set_parameters(&self.second_parameters);
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.first.states.len()
    }

    /// The first switching time after `time`.
    pub fn next_switch(&self, time: f64) -> f64 {
        next_switch(&self.thresholds, time)
    }

    /// Sets every time switch to what it is from `time` until the next switching time, and takes
    /// these branches.
    pub fn enter(&mut self, time: f64, branches: &[f64]) {
        let mut changed = false;
        let by_time = self.thresholds.iter().map(|t| t.value_at(time));
        let values = by_time.chain(branches.iter().copied());

        for (switch, value) in self.switches.iter_mut().zip(values) {
            changed |= *switch != value;
            *switch = value;
        }

        if changed {
            self.set_switches();
        }

        let first = self.thresholds.len();
        if let Some(switching) = &mut self.switching {
            switching.sliding.note(first, branches);
        }
    }

    /// Whether the system slides along a switching surface.
    pub fn slides(&self) -> bool {
        let switching = self.switching.as_ref();
        switching.is_some_and(|switching| switching.sliding.slides())
    }

    /// Whether others keep the system where it switches.
    pub fn is_kept(&self) -> bool {
        let switching = self.switching.as_ref();
        switching.is_some_and(|switching| !switching.sliding.kept_at.is_empty())
    }

    /// The layer about a function, to be set.
    pub(super) fn layer_mut(&mut self, function: usize) -> Option<&mut Layer> {
        let switching = self.switching.as_mut()?;
        switching.sliding.layers.get_mut(function)
    }

    /// Hands the switches to all evaluators.
    pub(super) fn set_switches(&mut self) {
        let first = &mut self.first.switches;
        let second = &mut self.second.switches;
        set_constants(first, &self.switches);
        set_constants(second, first);
        self.f.set_switches(&self.switches);
        self.g.set_switches(&self.switches);
        self.f_first.set_switches(first);
        self.g_first.set_switches(first);

        self.g_second.set_switches(second);

        if let Some(switching) = &mut self.switching {
            switching.functions.set_switches(first);
            switching.natural_f.set_switches(&self.switches);
            switching.natural_g.set_switches(&self.switches);
            switching.natural_f_first.set_switches(first);
            switching.natural_g_first.set_switches(first);
            switching.natural_g_second.set_switches(second);
            switching.conditions.set_switches(&self.switches);
            switching.assignments.set_switches(first);
        }
    }

    /// The present values of the switches.
    pub fn switches(&self) -> &[f64] {
        &self.switches
    }

    /// `x' = f`. Beyond an event, where the branch that is held has no value (the root of what
    /// `max` keeps positive), that of the other branch: whoever goes there goes back to the event.
    pub fn derivative(&mut self, at: Point<'_>, derivative: &mut [f64]) {
        if self.slides() {
            self.slide(at);
        }
        self.plain_derivative(at, derivative);
    }

    /// The same under the shares of sides as they are.
    pub(super) fn plain_derivative(&mut self, at: Point<'_>, derivative: &mut [f64]) {
        set_leaves(&mut self.f, at);
        self.f.run(derivative);

        if let Some(switching) = &mut self.switching
            && !all_finite(derivative)
        {
            set_leaves(&mut switching.natural_f, at);
            switching.natural_f.run(derivative);
        }
    }

    /// `y = g`, and beyond an event as [`derivative`](Self::derivative).
    pub fn outputs(&mut self, at: Point<'_>, outputs: &mut [f64]) {
        if self.slides() {
            self.slide(at);
        }
        set_leaves(&mut self.g, at);
        self.g.run(outputs);

        if let Some(switching) = &mut self.switching
            && !all_finite(outputs)
        {
            set_leaves(&mut switching.natural_g, at);
            switching.natural_g.run(outputs);
        }
    }

    /// The switching functions and their rates along the motion. While the system slides along one,
    /// the share of its negative side.
    pub fn functions(
        &mut self,
        at: Point<'_>,
        motion: Motion<'_>,
        values: &mut [f64],
        rates: &mut [f64],
    ) {
        if self.slides() {
            self.slide(at);
        }
        self.plain_functions(at, motion, values, rates);
        if self.slides() {
            self.put_shares(at, motion, values, rates);
        }
    }

    /// The switching functions under the shares of sides as they are.
    pub(super) fn plain_functions(
        &mut self,
        at: Point<'_>,
        motion: Motion<'_>,
        values: &mut [f64],
        rates: &mut [f64],
    ) {
        let Some(switching) = &mut self.switching else {
            return;
        };
        self.first.move_along(at, motion);
        self.first
            .set(&mut switching.functions, &Dual::new(at.time, 1.0));
        switching.functions.run(&mut switching.results);

        for (i, result) in switching.results.iter().enumerate() {
            values[i] = result.value;
            rates[i] = result.derivative;
        }
    }

    /// The conditions of the clauses, each 1 or 0.
    pub fn conditions(&mut self, at: Point<'_>, truths: &mut [f64]) {
        if let Some(switching) = &mut self.switching {
            set_leaves(&mut switching.conditions, at);
            switching.conditions.run(truths);
        }
    }

    /// What the clauses would set here.
    pub fn assignments(&mut self, at: Point<'_>, values: &mut [f64]) {
        self.first.rest(at);
        for (value, assigned) in values.iter_mut().zip(self.run_assignments(at.time)) {
            *value = assigned.value;
        }
    }

    /// How what the clauses would set depends on states (a column each), then on inputs.
    pub fn assignment_columns(&mut self, at: Point<'_>, columns: &mut DMatrix<f64>) {
        let states = at.states.len();
        self.first.rest(at);

        for i in 0..states + at.inputs.len() {
            self.first.leaf(i).derivative = 1.0;
            let assigned = self.run_assignments(at.time);
            copy_derivatives(assigned, columns.column_mut(i).as_mut_slice());
            self.first.leaf(i).derivative = 0.0;
        }
    }

    fn run_assignments(&mut self, time: f64) -> &[First] {
        let Some(switching) = &mut self.switching else {
            return &[];
        };
        let assignments = &mut switching.assignments;
        self.first.set(assignments, &Dual::new(time, 0.0));
        assignments.run(&mut switching.assigned);
        &switching.assigned
    }

    /// A switching function, and how it depends on time, states and inputs.
    pub fn function_gradient(&mut self, at: Point<'_>, function: usize, into: &mut EventGradient) {
        if self.slides() {
            into.x.fill(f64::NAN); // what leaves a surface does not jump
            return;
        }
        let Some(switching) = &mut self.switching else {
            return;
        };
        let leaves = &mut self.first;
        let mut derivative = |leaves: &Leaves<First>, rate: f64| {
            leaves.set(&mut switching.functions, &Dual::new(at.time, rate));
            switching.functions.run(&mut switching.results);
            switching.results[function].derivative
        };
        let inputs = into.u.len();
        leaves.rest(at);
        leaves.move_delayed(at, inputs);
        into.time = derivative(leaves, 1.0);
        leaves.rest(at);

        for i in 0..at.states.len() {
            leaves.states[i].derivative = 1.0;
            into.x[i] = derivative(leaves, 0.0);
            leaves.states[i].derivative = 0.0;
        }

        for i in 0..inputs {
            leaves.inputs[i].derivative = 1.0;
            into.u[i] = derivative(leaves, 0.0);
            leaves.inputs[i].derivative = 0.0;
            leaves.slopes[i].derivative = 1.0;
            into.u_slope[i] = derivative(leaves, 0.0);
            leaves.slopes[i].derivative = 0.0;
        }
        into.value = switching.results[function].value;
    }

    /// `x'' = df/dt` along the motion.
    pub fn derivative_rate(&mut self, at: Point<'_>, motion: Motion<'_>, rate: &mut [f64]) {
        if self.slides() {
            return self.difference(at, motion, Of::Derivative, rate);
        }
        self.first.move_along(at, motion);
        self.run_f(at.time, 1.0, rate);
    }

    /// `y' = dg/dt` along the motion.
    pub fn output_rate(&mut self, at: Point<'_>, motion: Motion<'_>, rate: &mut [f64]) {
        if self.slides() {
            return self.difference(at, motion, Of::Outputs, rate);
        }
        self.first.move_along(at, motion);
        self.run_g(at.time, 1.0, rate);
    }

    /// `y'' = d²g/dt²` along the motion, whose own rate is `bend`.
    pub fn output_second_rate(
        &mut self,
        at: Point<'_>,
        motion: Motion<'_>,
        bend: Motion<'_>,
        rate: &mut [f64],
    ) {
        if self.slides() {
            return self.second_difference(at, motion, bend, rate);
        }
        let leaves = &mut self.second;
        set_twice(&mut leaves.states, at.states, motion.states, bend.states);
        set_twice(&mut leaves.inputs, at.inputs, motion.inputs, bend.inputs);
        set_twice(&mut leaves.slopes, at.slopes, motion.slopes, bend.slopes);
        leaves.set(&mut self.g_second, &twice(at.time, 1.0, 0.0));
        self.g_second.run(&mut leaves.g);
        copy_second(&leaves.g, rate);

        if let Some(switching) = &mut self.switching
            && !all_finite(rate)
        {
            let natural = &mut switching.natural_g_second;
            leaves.set(natural, &twice(at.time, 1.0, 0.0));
            natural.run(&mut leaves.g);
            copy_second(&leaves.g, rate);
        }
    }

    /// `∂f/∂x`.
    pub fn state_jacobian(&mut self, at: Point<'_>, jacobian: &mut DMatrix<f64>) {
        if self.slides() {
            return self.difference_columns(at, jacobian);
        }
        self.first.rest(at);
        for state in 0..at.states.len() {
            self.first.states[state].derivative = 1.0;
            self.run_f(at.time, 0.0, jacobian.column_mut(state).as_mut_slice());
            self.first.states[state].derivative = 0.0;
        }
    }

    /// Everything at once.
    pub fn linearize(&mut self, at: Point<'_>, into: &mut Linearization) {
        self.evaluate(at, into);
        if self.slides() {
            return self.linearize_by_differences(at, into);
        }
        self.first.rest(at);

        for state in 0..at.states.len() {
            self.first.states[state].derivative = 1.0;
            self.run_column(at.time, state, &mut into.a, &mut into.c);
            self.first.states[state].derivative = 0.0;
        }

        for input in 0..into.u.len() {
            self.first.set_input_rate(input, 1.0, &self.undelayed);
            self.run_column(at.time, input, &mut into.b, &mut into.d);
            self.first.set_input_rate(input, 0.0, &self.undelayed);
            self.linearize_slope(at.time, input, into);
        }

        if self.undelayed.is_empty() {
            self.first.move_delayed(at, into.u.len());
        }
        self.run_f(at.time, 1.0, into.f_time.as_mut_slice());
        self.run_g(at.time, 1.0, into.g_time.as_mut_slice());
    }

    /// The columns that belong to the slope of an input.
    fn linearize_slope(&mut self, time: f64, input: usize, into: &mut Linearization) {
        if self.uses_slope.get(input) == Some(&true) {
            self.first.slopes[input].derivative = 1.0;
            self.run_column(time, input, &mut into.b_slope, &mut into.d_slope);
            self.first.slopes[input].derivative = 0.0;
        } else {
            into.b_slope.column_mut(input).fill(0.0);
            into.d_slope.column_mut(input).fill(0.0);
        }
    }

    /// The point of a linearization, and f and g there.
    pub fn evaluate(&mut self, at: Point<'_>, into: &mut Linearization) {
        self.derivative(at, into.f.as_mut_slice());
        self.outputs(at, into.g.as_mut_slice());
        into.x.as_mut_slice().copy_from_slice(at.states);
        let inputs = into.u.len();
        into.u.as_mut_slice().copy_from_slice(&at.inputs[..inputs]);
        into.u_slope
            .as_mut_slice()
            .copy_from_slice(&at.slopes[..inputs]);
    }

    /// Derivatives of f and g in the direction that the leaves hold, as a column of two matrices.
    fn run_column(
        &mut self,
        time: f64,
        column: usize,
        of_f: &mut DMatrix<f64>,
        of_g: &mut DMatrix<f64>,
    ) {
        self.run_f(time, 0.0, of_f.column_mut(column).as_mut_slice());
        self.run_g(time, 0.0, of_g.column_mut(column).as_mut_slice());
    }

    /// The derivative of f in the direction that the leaves hold.
    fn run_f(&mut self, time: f64, time_rate: f64, derivatives: &mut [f64]) {
        self.first
            .set(&mut self.f_first, &Dual::new(time, time_rate));
        self.f_first.run(&mut self.first.f);
        copy_derivatives(&self.first.f, derivatives);

        if let Some(switching) = &mut self.switching
            && !all_finite(derivatives)
        {
            let natural = &mut switching.natural_f_first;
            self.first.set(natural, &Dual::new(time, time_rate));
            natural.run(&mut self.first.f);
            copy_derivatives(&self.first.f, derivatives);
        }
    }

    /// The derivative of g in the direction that the leaves hold.
    fn run_g(&mut self, time: f64, time_rate: f64, derivatives: &mut [f64]) {
        self.first
            .set(&mut self.g_first, &Dual::new(time, time_rate));
        self.g_first.run(&mut self.first.g);
        copy_derivatives(&self.first.g, derivatives);

        if let Some(switching) = &mut self.switching
            && !all_finite(derivatives)
        {
            let natural = &mut switching.natural_g_first;
            self.first.set(natural, &Dual::new(time, time_rate));
            natural.run(&mut self.first.g);
            copy_derivatives(&self.first.g, derivatives);
        }
    }
}

impl Leaves<First> {
    /// A state, or after them an input.
    fn leaf(&mut self, index: usize) -> &mut First {
        let states = self.states.len();
        match index.checked_sub(states) {
            None => &mut self.states[index],
            Some(input) => &mut self.inputs[input],
        }
    }

    /// The rate of an input, and of those that move with it.
    fn set_input_rate(&mut self, input: usize, rate: f64, undelayed: &[usize]) {
        self.inputs[input].derivative = rate;
        let first = self.inputs.len() - undelayed.len();
        for (delayed, &source) in self.inputs[first..].iter_mut().zip(undelayed) {
            if source == input {
                delayed.derivative = rate;
            }
        }
    }

    /// Delayed inputs, those from `first` on, move as time goes on.
    fn move_delayed(&mut self, at: Point<'_>, first: usize) {
        set_moving(
            &mut self.inputs[first..],
            &at.inputs[first..],
            &at.slopes[first..],
        );
    }

    fn move_along(&mut self, at: Point<'_>, motion: Motion<'_>) {
        set_moving(&mut self.states, at.states, motion.states);
        set_moving(&mut self.inputs, at.inputs, motion.inputs);
        set_moving(&mut self.slopes, at.slopes, motion.slopes);
    }

    /// At the point, moving nowhere.
    fn rest(&mut self, at: Point<'_>) {
        set_constants(&mut self.states, at.states);
        set_constants(&mut self.inputs, at.inputs);
        set_constants(&mut self.slopes, at.slopes);
    }
}

fn constants<T: Number>(values: &[T]) -> Vec<Dual<T>> {
    values.iter().cloned().map(Dual::constant).collect()
}

fn set_constants<T: Number>(into: &mut [Dual<T>], values: &[T]) {
    for (into, value) in into.iter_mut().zip(values) {
        *into = Dual::constant(value.clone());
    }
}

fn set_moving(into: &mut [First], values: &[f64], rates: &[f64]) {
    for (i, into) in into.iter_mut().enumerate() {
        *into = Dual::new(values[i], rates[i]);
    }
}

/// `(v + v' ε)(… + δ)`: the coefficient of εδ is the second derivative.
fn twice(value: f64, first: f64, second: f64) -> Second {
    Dual::new(Dual::new(value, first), Dual::new(first, second))
}

fn set_twice(into: &mut [Second], values: &[f64], first: &[f64], second: &[f64]) {
    for (i, into) in into.iter_mut().enumerate() {
        *into = twice(values[i], first[i], second[i]);
    }
}

fn copy_second(values: &[Second], derivatives: &mut [f64]) {
    for (derivative, value) in derivatives.iter_mut().zip(values) {
        *derivative = value.derivative.derivative;
    }
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

fn copy_derivatives(values: &[First], derivatives: &mut [f64]) {
    for (derivative, value) in derivatives.iter_mut().zip(values) {
        *derivative = value.derivative;
    }
}

fn set_leaves(evaluator: &mut Evaluator<f64>, at: Point<'_>) {
    evaluator.set_time(&at.time);
    evaluator.set_states(at.states);
    evaluator.set_inputs(at.inputs);
    evaluator.set_slopes(at.slopes);
}
