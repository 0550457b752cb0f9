//! The coupled equations as functions of numbers, with their loops solved inside.

use std::sync::Arc;

use dovetail_core::Error;
use dovetail_numerics::Lu;
use nalgebra::{DMatrix, DVector};

use super::compose::{Coupled, CoupledWhen};
use crate::analysis::all_affine;
use crate::dual::Dual;
use crate::evaluator::Evaluator;
use crate::graph::{Graph, NodeId};
use crate::held::{SwitchKind, hold};
use crate::switches::{Threshold, next_switch, switch_roots, thresholds};
use crate::tape::Program;

/// Newton iterations before a loop is given up.
const MOST_ITERATIONS: usize = 50;
/// Below this reciprocal condition number a loop counts as singular.
const SINGULAR: f64 = 1e-13;
/// Residuals below this are rounding.
const TINY_RESIDUAL: f64 = 1e-14;
/// Smaller parts of an update are not tried.
const LEAST_FRACTION: f64 = 1e-3;

/// `x' = f(t, x, v)`, `0 = r(t, x, v)`, and what can be observed, on one side of every time switch
/// and of every switching function.
pub(crate) struct CoupledDynamics {
    thresholds: Vec<Threshold>,
    /// The switching functions, and on which side of each the equations are evaluated.
    pub(super) functions: FunctionPair,
    pub(super) kinds: Vec<SwitchKind>,
    pub(super) sides: Vec<f64>,
    pub(super) values: Vec<f64>,
    pub(super) entered: f64,
    /// Conditions of clauses, and what these set.
    conditions: FunctionPair,
    assignments: FunctionPair,
    pub(super) f: FunctionPair,
    /// The derivatives with nothing held: for places beyond an event where a held side has no value.
    natural_f: FunctionPair,
    natural_observed: FunctionPair,
    r: FunctionPair,
    /// Outputs, then inputs.
    pub(super) observed: FunctionPair,
    pub(super) unknowns: Vec<f64>,
    names: Vec<String>,
    unknown_outputs: Vec<Option<usize>>,
    affine: bool,
    pub(super) newton: Newton,
    /// What went wrong in an evaluation; its caller sees NaN.
    failure: Option<Error>,
}

/// A program on numbers, and on numbers with a derivative.
pub(super) struct FunctionPair {
    plain: Evaluator<f64>,
    dual: Evaluator<Dual<f64>>,
    results: Vec<Dual<f64>>,
}

/// Scratch for Newton's method.
pub(super) struct Newton {
    residual: Vec<f64>,
    jacobian: DMatrix<f64>,
    lu: Lu<f64>,
    update: Vec<f64>,
    trial: Vec<f64>,
    pub states: Vec<Dual<f64>>,
    pub unknowns: Vec<Dual<f64>>,
}

impl Newton {
    fn new(states: usize, unknowns: usize) -> Self {
        Self {
            residual: vec![0.0; unknowns],
            jacobian: DMatrix::zeros(unknowns, unknowns),
            lu: Lu::new(unknowns),
            update: vec![0.0; unknowns],
            trial: vec![0.0; unknowns],
            states: vec![Dual::constant(0.0); states],
            unknowns: vec![Dual::constant(0.0); unknowns],
        }
    }
}

impl FunctionPair {
    fn new(graph: &Graph, roots: &[NodeId], values: &[f64]) -> Self {
        let program = Arc::new(Program::compile(graph, roots));
        let parameters = constants(values);

        Self {
            plain: Evaluator::new(Arc::clone(&program), &0.0, values),
            dual: Evaluator::new(program, &Dual::constant(0.0), &parameters),
            results: vec![Dual::constant(0.0); roots.len()],
        }
    }

    pub fn run(&mut self, time: f64, states: &[f64], unknowns: &[f64], results: &mut [f64]) {
        self.plain.set_time(&time);
        self.plain.set_states(states);
        self.plain.set_unknowns(unknowns);
        self.plain.run(results);
    }

    /// The derivatives in the direction that states and unknowns carry.
    pub fn directional(
        &mut self,
        time: f64,
        states: &[Dual<f64>],
        unknowns: &[Dual<f64>],
    ) -> &[Dual<f64>] {
        self.dual.set_time(&Dual::constant(time));
        self.dual.set_states(states);
        self.dual.set_unknowns(unknowns);
        self.dual.run(&mut self.results);
        &self.results
    }
}

impl CoupledDynamics {
    pub fn new(coupled: &Coupled) -> Self {
        let parts = [
            &coupled.derivatives,
            &coupled.residuals,
            &coupled.outputs,
            &coupled.inputs,
        ];
        let mut roots: Vec<NodeId> = parts.into_iter().flatten().copied().collect();
        let equations = roots.len();
        roots.extend(coupled.whens.iter().filter_map(|when| when.condition));
        let conditions = roots.len();
        let assignments = coupled.whens.iter().flat_map(CoupledWhen::all_assignments);
        roots.extend(assignments.map(|(_, value)| *value));
        let discrete = |state: usize| coupled.discrete[state];
        let held = hold(&coupled.graph, &roots, coupled.switches.len(), &discrete);
        let (derivatives, rest) = held.roots[..equations].split_at(coupled.derivatives.len());
        let (residuals, observed) = rest.split_at(coupled.residuals.len());
        let functions: Vec<NodeId> = held.functions.iter().map(|f| f.root).collect();
        let pair = |roots: &[NodeId]| FunctionPair::new(&held.graph, roots, &coupled.parameters);

        Self {
            thresholds: thresholds_of(coupled),
            functions: pair(&functions),
            kinds: held.functions.iter().map(|f| f.kind).collect(),
            sides: vec![0.0; functions.len()],
            values: vec![0.0; functions.len()],
            entered: f64::NAN,
            conditions: pair(&held.roots[equations..conditions]),
            assignments: pair(&held.roots[conditions..]),
            f: pair(derivatives),
            natural_observed: FunctionPair::new(
                &coupled.graph,
                &[coupled.outputs.as_slice(), &coupled.inputs].concat(),
                &coupled.parameters,
            ),
            natural_f: FunctionPair::new(&coupled.graph, &coupled.derivatives, &coupled.parameters),
            r: pair(residuals),
            observed: pair(observed),
            unknowns: coupled.guesses.clone(),
            names: coupled.unknowns.clone(),
            unknown_outputs: coupled.unknown_outputs.clone(),
            affine: functions.is_empty() && coupled.whens.is_empty() && is_affine(coupled),
            newton: Newton::new(coupled.derivatives.len(), coupled.unknowns.len()),
            failure: None,
        }
    }

    /// Begins the search for the loops' solution at these outputs (stacked): one with several
    /// solutions has a branch.
    pub fn begin_at(&mut self, outputs: &[f64]) {
        for (unknown, output) in self.unknowns.iter_mut().zip(&self.unknown_outputs) {
            if let Some(output) = output {
                *unknown = outputs[*output];
            }
        }
    }

    /// The solution of the loops that was found last: where there are several, the next one is
    /// looked for near it.
    pub fn branch(&self) -> Vec<f64> {
        self.unknowns.clone()
    }

    /// Goes back to an earlier solution of the loops.
    pub fn return_to(&mut self, branch: Vec<f64>) {
        self.unknowns = branch;
    }

    /// Whether everything is affine between switching times.
    pub fn is_affine(&self) -> bool {
        self.affine
    }

    pub fn states(&self) -> usize {
        self.newton.states.len()
    }

    /// How many numbers [`Self::observe`] gives: outputs and inputs.
    pub fn observables(&self) -> usize {
        self.observed.results.len()
    }

    /// The first switching time after `time`.
    pub fn next_switch(&self, time: f64) -> f64 {
        next_switch(&self.thresholds, time)
    }

    /// Sets every time switch to what it is from `time` on.
    pub fn enter(&mut self, time: f64) {
        self.entered = time;
        let by_time = self.thresholds.iter().map(|it| it.value_at(time));
        let values: Vec<f64> = by_time.chain(self.sides.iter().copied()).collect();
        let duals = constants(&values);

        for pair in [
            &mut self.f,
            &mut self.natural_f,
            &mut self.natural_observed,
            &mut self.r,
            &mut self.observed,
            &mut self.functions,
            &mut self.conditions,
            &mut self.assignments,
        ] {
            pair.plain.set_switches(&values);
            pair.dual.set_switches(&duals);
        }
    }

    /// Whether the conditions of the clauses hold, and what these would set.
    pub fn clauses(&mut self, time: f64, states: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
        self.solve_loops(time, states)?;
        let mut truths = vec![0.0; self.conditions.results.len()];
        let mut values = vec![0.0; self.assignments.results.len()];
        self.conditions
            .run(time, states, &self.unknowns, &mut truths);
        self.assignments
            .run(time, states, &self.unknowns, &mut values);
        Ok((truths, values))
    }

    /// Whether something switches besides conditions on time.
    pub fn switches(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Takes the side of every switching function on which these states are. What is held of one
    /// may decide another, and the loops: until nothing changes.
    pub fn take_sides(&mut self, time: f64, states: &[f64]) -> Result<(), Error> {
        for _ in 0..2 * self.kinds.len() + 1 {
            self.solve_loops(time, states)?;
            if self.keeps_sides(time, states) {
                break;
            }
            for (function, &kind) in self.kinds.iter().enumerate() {
                self.sides[function] = kind.of(self.values[function]);
            }
            self.enter(self.entered);
        }
        Ok(())
    }

    /// Whether these states are on the sides that are held.
    pub fn is_on_its_sides(&mut self, time: f64, states: &[f64]) -> bool {
        self.solve_loops(time, states).is_ok() && self.keeps_sides(time, states)
    }

    fn keeps_sides(&mut self, time: f64, states: &[f64]) -> bool {
        let values = &mut self.values;
        self.functions.run(time, states, &self.unknowns, values);
        let natural = self.kinds.iter().zip(&self.values);
        let mut pairs = natural.zip(&self.sides);
        pairs.all(|((kind, value), side)| kind.of(*value) == *side)
    }

    /// The error that made an evaluation NaN, if there was one.
    pub fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// `x'`, the loops solved; NaN where that fails.
    pub fn derivative(&mut self, time: f64, states: &[f64], derivative: &mut [f64]) {
        match self.solve_loops(time, states) {
            Ok(()) => {
                self.f.run(time, states, &self.unknowns, derivative);
                if self.switches() && !derivative.iter().all(|rate| rate.is_finite()) {
                    self.natural_f.run(time, states, &self.unknowns, derivative);
                }
            }
            Err(error) => {
                self.failure.get_or_insert(error);
                derivative.fill(f64::NAN);
            }
        }
    }

    /// Outputs, then inputs.
    pub fn observe(
        &mut self,
        time: f64,
        states: &[f64],
        observed: &mut [f64],
    ) -> Result<(), Error> {
        self.solve_loops(time, states)?;
        self.observed.run(time, states, &self.unknowns, observed);
        if self.switches() && !observed.iter().all(|value| value.is_finite()) {
            let natural = &mut self.natural_observed;
            natural.run(time, states, &self.unknowns, observed);
        }
        Ok(())
    }

    /// `dx'/dx`, the unknowns following: `f_x − f_v r_v⁻¹ r_x`.
    pub fn jacobian(&mut self, time: f64, states: &[f64], jacobian: &mut DMatrix<f64>) {
        let solved = self.solve_loops(time, states);
        if let Err(error) = solved.and_then(|()| self.factor(time, states)) {
            self.failure.get_or_insert(error);
            return jacobian.fill(f64::NAN);
        }

        self.rest(states);
        for state in 0..states.len() {
            self.newton.states[state].derivative = 1.0;
            self.move_unknowns(time);
            let newton = &mut self.newton;
            let f = self.f.directional(time, &newton.states, &newton.unknowns);
            copy_derivatives(f, jacobian.column_mut(state).as_mut_slice());
            newton.states[state].derivative = 0.0;
            for unknown in &mut newton.unknowns {
                unknown.derivative = 0.0;
            }
        }
    }

    /// Lets the unknowns follow the direction that the states move in: `−r_v⁻¹ r_x`.
    pub(super) fn move_unknowns(&mut self, time: f64) {
        let newton = &mut self.newton;
        let r = self.r.directional(time, &newton.states, &newton.unknowns);

        for (update, r) in newton.update.iter_mut().zip(r) {
            *update = -r.derivative;
        }

        newton.lu.solve_in_place(&mut newton.update);
        for (unknown, &rate) in newton.unknowns.iter_mut().zip(&newton.update) {
            unknown.derivative = rate;
        }
    }

    /// Where everything is affine: `x' = A x + c` on the side last entered.
    pub fn matrices(&mut self, time: f64) -> Result<(DMatrix<f64>, DVector<f64>), Error> {
        let states = self.states();
        let origin = vec![0.0; states];
        let mut a = DMatrix::zeros(states, states);
        let mut c = DVector::zeros(states);
        self.derivative(time, &origin, c.as_mut_slice());
        self.jacobian(time, &origin, &mut a);

        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok((a, c)),
        }
    }

    /// States and unknowns where they are, carrying no derivative.
    pub(super) fn rest(&mut self, states: &[f64]) {
        for (dual, &x) in self.newton.states.iter_mut().zip(states) {
            *dual = Dual::constant(x);
        }
        for (dual, &v) in self.newton.unknowns.iter_mut().zip(&self.unknowns) {
            *dual = Dual::constant(v);
        }
    }

    /// `r_v` where the unknowns are, factored.
    pub(super) fn factor(&mut self, time: f64, states: &[f64]) -> Result<(), Error> {
        self.rest(states);
        let newton = &mut self.newton;

        for column in 0..self.unknowns.len() {
            newton.unknowns[column].derivative = 1.0;
            let r = self.r.directional(time, &newton.states, &newton.unknowns);
            copy_derivatives(r, newton.jacobian.column_mut(column).as_mut_slice());
            newton.unknowns[column].derivative = 0.0;
        }

        let lu = &mut newton.lu;
        let regular = self.unknowns.is_empty()
            || (lu.factor(&newton.jacobian).is_ok() && lu.rcond() > SINGULAR);
        if regular {
            return Ok(());
        }

        Err(Error::SingularLoop {
            variables: self.names.clone(),
            time,
        })
    }

    /// Newton's method from where the unknowns were last, until updates are rounding.
    pub(super) fn solve_loops(&mut self, time: f64, states: &[f64]) -> Result<(), Error> {
        if self.unknowns.is_empty() {
            return Ok(());
        }

        let mut last = f64::INFINITY;
        for iteration in 0..MOST_ITERATIONS {
            self.find_update(time, states)?;
            let magnitudes = self.unknowns.iter().map(|v| v.abs());
            let scale = 1.0 + magnitudes.fold(0.0, f64::max);
            let size = largest(&self.newton.update) / scale;
            self.take_update(time, states);
            let rounding = size <= 2.0 * f64::EPSILON || (self.affine && iteration > 0);
            if rounding || (size <= 1e-12 && size >= 0.5 * last) {
                return Ok(());
            }
            last = size;
        }

        let residual = largest(&self.newton.residual);
        Err(Error::UnsolvedLoop {
            variables: self.names.clone(),
            time,
            iterations: MOST_ITERATIONS,
            residual,
        })
    }

    /// Newton's update where the unknowns are, and the residual there.
    fn find_update(&mut self, time: f64, states: &[f64]) -> Result<(), Error> {
        let residual = &mut self.newton.residual;
        self.r.run(time, states, &self.unknowns, residual);
        self.factor(time, states)?;
        let newton = &mut self.newton;
        newton.update.copy_from_slice(&newton.residual);
        newton.lu.solve_in_place(&mut newton.update);
        Ok(())
    }

    /// Applies the update, or the largest of its halves that does not make the residual worse.
    fn take_update(&mut self, time: f64, states: &[f64]) {
        let newton = &mut self.newton;
        let before = largest(&newton.residual);
        let mut fraction = 1.0;

        loop {
            for (i, trial) in newton.trial.iter_mut().enumerate() {
                *trial = self.unknowns[i] - fraction * newton.update[i];
            }
            self.r
                .run(time, states, &newton.trial, &mut newton.residual);
            // Rounding may make a residual that is already tiny a little worse; NaN is always
            // worse.
            let no_worse = largest(&newton.residual) <= before.max(TINY_RESIDUAL);
            if no_worse || fraction < LEAST_FRACTION {
                self.unknowns.copy_from_slice(&newton.trial);
                return;
            }
            fraction /= 2.0;
        }
    }
}

/// The largest magnitude; NaN if there is one.
fn largest(values: &[f64]) -> f64 {
    let mut largest: f64 = 0.0;
    for value in values {
        if value.abs() > largest || value.is_nan() {
            largest = value.abs();
        }
    }
    largest
}

fn constants(values: &[f64]) -> Vec<Dual<f64>> {
    values.iter().map(|&value| Dual::constant(value)).collect()
}

pub(super) fn copy_derivatives(values: &[Dual<f64>], derivatives: &mut [f64]) {
    for (derivative, value) in derivatives.iter_mut().zip(values) {
        *derivative = value.derivative;
    }
}

/// Whether everything is affine between switching times.
fn is_affine(coupled: &Coupled) -> bool {
    let roots = [&coupled.derivatives, &coupled.residuals, &coupled.outputs];
    all_affine(&coupled.graph, roots.into_iter().flatten())
}

fn thresholds_of(coupled: &Coupled) -> Vec<Threshold> {
    let roots = switch_roots(&coupled.switches);
    let program = Arc::new(Program::compile(&coupled.graph, &roots));
    let lines = Evaluator::new(program, &0.0, &coupled.parameters).results();
    thresholds(&coupled.switches, &lines)
}
