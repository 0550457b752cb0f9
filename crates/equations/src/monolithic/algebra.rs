//! The coupled equations as functions of numbers, with their loops solved inside.

use std::sync::Arc;

use dovetail_core::Error;
use dovetail_numerics::Lu;
use nalgebra::{DMatrix, DVector};

use super::compose::Coupled;
use crate::{Dual, Evaluator, Program, Shape, Threshold, shapes};

/// Newton iterations before a loop is given up.
const MOST_ITERATIONS: usize = 50;
/// Below this reciprocal condition number a loop counts as singular.
const SINGULAR: f64 = 1e-13;

/// `x' = f(t, x, v)`, `0 = r(t, x, v)`, and what can be observed, on one side of every time switch.
pub(crate) struct CoupledDynamics {
    thresholds: Vec<Threshold>,
    f: Pair,
    r: Pair,
    /// Outputs, then inputs.
    observed: Pair,
    unknowns: Vec<f64>,
    names: Vec<String>,
    unknown_outputs: Vec<Option<usize>>,
    affine: bool,
    newton: Newton,
    /// What went wrong in an evaluation; its caller sees NaN.
    failure: Option<Error>,
}

/// A program on numbers, and on numbers with a derivative.
struct Pair {
    plain: Evaluator<f64>,
    dual: Evaluator<Dual<f64>>,
    results: Vec<Dual<f64>>,
}

/// Room for Newton's method.
struct Newton {
    residual: Vec<f64>,
    jacobian: DMatrix<f64>,
    lu: Lu<f64>,
    update: Vec<f64>,
    trial: Vec<f64>,
    states: Vec<Dual<f64>>,
    unknowns: Vec<Dual<f64>>,
}

impl Pair {
    fn new(coupled: &Coupled, roots: &[crate::NodeId]) -> Self {
        let program = Arc::new(Program::compile(&coupled.graph, roots));
        let parameters: Vec<Dual<f64>> = coupled
            .parameters
            .iter()
            .map(|&p| Dual::constant(p))
            .collect();
        Self {
            plain: Evaluator::new(Arc::clone(&program), &0.0, &coupled.parameters),
            dual: Evaluator::new(program, &Dual::constant(0.0), &parameters),
            results: vec![Dual::constant(0.0); roots.len()],
        }
    }

    fn run(&mut self, time: f64, states: &[f64], unknowns: &[f64], results: &mut [f64]) {
        self.plain.set_time(&time);
        self.plain.set_states(states);
        self.plain.set_unknowns(unknowns);
        self.plain.run(results);
    }

    /// The derivatives in the direction that states and unknowns carry.
    fn directional(
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
        let shapes = shapes(&coupled.graph);
        let all = [&coupled.derivatives, &coupled.residuals, &coupled.outputs]
            .into_iter()
            .flatten();
        let affine = all
            .into_iter()
            .all(|root| shapes[root.index()] <= Shape::Affine);
        let observed = [coupled.outputs.as_slice(), &coupled.inputs].concat();
        let (states, unknowns) = (coupled.derivatives.len(), coupled.unknowns.len());
        Self {
            thresholds: thresholds(coupled),
            f: Pair::new(coupled, &coupled.derivatives),
            r: Pair::new(coupled, &coupled.residuals),
            observed: Pair::new(coupled, &observed),
            unknowns: coupled.guesses.clone(),
            names: coupled.unknowns.clone(),
            unknown_outputs: coupled.unknown_outputs.clone(),
            affine,
            newton: Newton {
                residual: vec![0.0; unknowns],
                jacobian: DMatrix::zeros(unknowns, unknowns),
                lu: Lu::new(unknowns),
                update: vec![0.0; unknowns],
                trial: vec![0.0; unknowns],
                states: vec![Dual::constant(0.0); states],
                unknowns: vec![Dual::constant(0.0); unknowns],
            },
            failure: None,
        }
    }

    /// Begins the search for the loops' solution at these outputs (stacked): one with several solutions has a branch.
    pub fn begin_at(&mut self, outputs: &[f64]) {
        for (unknown, output) in self.unknowns.iter_mut().zip(&self.unknown_outputs) {
            if let Some(output) = output {
                *unknown = outputs[*output];
            }
        }
    }

    /// The solution of the loops that was found last: where there are several, the next one is looked for near it.
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

    /// How many numbers [`Self::observe`] tells: outputs and inputs.
    pub fn observables(&self) -> usize {
        self.observed.results.len()
    }

    /// The first switching time after `time`.
    pub fn next_switch(&self, time: f64) -> f64 {
        self.thresholds
            .iter()
            .map(|t| t.time)
            .filter(|&t| t > time)
            .fold(f64::INFINITY, f64::min)
    }

    /// Sets every time switch to what it is from `time` on.
    pub fn enter(&mut self, time: f64) {
        let values: Vec<f64> = self
            .thresholds
            .iter()
            .map(|t| f64::from(u8::from(t.holds_at(time))))
            .collect();
        let duals: Vec<Dual<f64>> = values.iter().map(|&v| Dual::constant(v)).collect();
        for pair in [&mut self.f, &mut self.r, &mut self.observed] {
            pair.plain.set_switches(&values);
            pair.dual.set_switches(&duals);
        }
    }

    /// The error that made an evaluation NaN, if there was one.
    pub fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// `x'`, the loops solved; NaN where that fails.
    pub fn derivative(&mut self, time: f64, states: &[f64], derivative: &mut [f64]) {
        match self.solve_loops(time, states) {
            Ok(()) => self.f.run(time, states, &self.unknowns, derivative),
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
        Ok(())
    }

    /// `dx'/dx`, the unknowns following: `f_x − f_v r_v⁻¹ r_x`.
    pub fn jacobian(&mut self, time: f64, states: &[f64], jacobian: &mut DMatrix<f64>) {
        if let Err(error) = self
            .solve_loops(time, states)
            .and_then(|()| self.factor(time, states))
        {
            self.failure.get_or_insert(error);
            return jacobian.fill(f64::NAN);
        }
        self.rest(states);
        for column in 0..states.len() {
            let newton = &mut self.newton;
            newton.states[column].derivative = 1.0;
            let r = self.r.directional(time, &newton.states, &newton.unknowns);
            newton
                .update
                .iter_mut()
                .zip(r)
                .for_each(|(update, r)| *update = -r.derivative);
            newton.lu.solve_in_place(&mut newton.update);
            newton
                .unknowns
                .iter_mut()
                .zip(&newton.update)
                .for_each(|(v, &rate)| v.derivative = rate);
            let f = self.f.directional(time, &newton.states, &newton.unknowns);
            jacobian
                .column_mut(column)
                .iter_mut()
                .zip(f)
                .for_each(|(entry, f)| *entry = f.derivative);
            newton.states[column].derivative = 0.0;
            newton.unknowns.iter_mut().for_each(|v| v.derivative = 0.0);
        }
    }

    /// Where everything is affine: `x' = A x + c` on the side last entered.
    pub fn matrices(&mut self, time: f64) -> Result<(DMatrix<f64>, DVector<f64>), Error> {
        let origin = vec![0.0; self.states()];
        let (mut a, mut c) = (
            DMatrix::zeros(origin.len(), origin.len()),
            DVector::zeros(origin.len()),
        );
        self.derivative(time, &origin, c.as_mut_slice());
        self.jacobian(time, &origin, &mut a);
        self.failure.take().map_or(Ok((a, c)), Err)
    }

    /// States and unknowns where they are, carrying no derivative.
    fn rest(&mut self, states: &[f64]) {
        self.newton
            .states
            .iter_mut()
            .zip(states)
            .for_each(|(dual, &x)| *dual = Dual::constant(x));
        self.newton
            .unknowns
            .iter_mut()
            .zip(&self.unknowns)
            .for_each(|(dual, &v)| *dual = Dual::constant(v));
    }

    /// `r_v` where the unknowns are, factored.
    fn factor(&mut self, time: f64, states: &[f64]) -> Result<(), Error> {
        self.rest(states);
        let newton = &mut self.newton;
        for column in 0..self.unknowns.len() {
            newton.unknowns[column].derivative = 1.0;
            let r = self.r.directional(time, &newton.states, &newton.unknowns);
            newton
                .jacobian
                .column_mut(column)
                .iter_mut()
                .zip(r)
                .for_each(|(entry, r)| *entry = r.derivative);
            newton.unknowns[column].derivative = 0.0;
        }
        if self.unknowns.is_empty()
            || (newton.lu.factor(&newton.jacobian).is_ok() && newton.lu.rcond() > SINGULAR)
        {
            return Ok(());
        }
        Err(Error::SingularLoop {
            variables: self.names.clone(),
            time,
        })
    }

    /// Newton's method from where the unknowns were last, until updates are rounding.
    fn solve_loops(&mut self, time: f64, states: &[f64]) -> Result<(), Error> {
        if self.unknowns.is_empty() {
            return Ok(());
        }
        let mut last = f64::INFINITY;
        for iteration in 0..MOST_ITERATIONS {
            self.r
                .run(time, states, &self.unknowns, &mut self.newton.residual);
            self.factor(time, states)?;
            self.newton.update.copy_from_slice(&self.newton.residual);
            self.newton.lu.solve_in_place(&mut self.newton.update);
            let scale = 1.0
                + self
                    .unknowns
                    .iter()
                    .fold(0.0f64, |most, v| most.max(v.abs()));
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

    /// Applies the update, or the largest of its halves that does not make the residual worse.
    fn take_update(&mut self, time: f64, states: &[f64]) {
        let before = largest(&self.newton.residual);
        let mut fraction = 1.0;
        loop {
            for (i, trial) in self.newton.trial.iter_mut().enumerate() {
                *trial = self.unknowns[i] - fraction * self.newton.update[i];
            }
            self.r
                .run(time, states, &self.newton.trial, &mut self.newton.residual);
            // Rounding may make a residual that is already tiny a little worse; NaN is always worse.
            if largest(&self.newton.residual) <= before.max(1e-14) || fraction < 1e-3 {
                self.unknowns.copy_from_slice(&self.newton.trial);
                return;
            }
            fraction /= 2.0;
        }
    }
}

/// The largest magnitude; NaN if there is one.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |most, v| {
        if v.abs() > most || v.is_nan() {
            v.abs()
        } else {
            most
        }
    })
}

fn thresholds(coupled: &Coupled) -> Vec<Threshold> {
    let roots: Vec<_> = coupled
        .switches
        .iter()
        .flat_map(|switch| [switch.slope, switch.offset])
        .collect();
    let mut lines = vec![0.0; roots.len()];
    Evaluator::new(
        Arc::new(Program::compile(&coupled.graph, &roots)),
        &0.0,
        &coupled.parameters,
    )
    .run(&mut lines);
    let lines = lines.chunks_exact(2).zip(&coupled.switches);
    lines
        .map(|(line, switch)| Threshold::new(line[0], line[1], switch.inclusive))
        .collect()
}
