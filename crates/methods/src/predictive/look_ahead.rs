//! Looking before leaping: how far off the prediction of a step is, by f and g at its end.
//!
//! Linear operators say where the states will be, `x̂`, and the prediction where the interface will
//! be, z. At that place f and g can be asked, without integrating. What f is there beyond its
//! linear part has grown from nothing in the course of the step, about with the square of the time,
//! so that the states will be off by `(I − hA/3)⁻¹ (h/3)(f(x̂, u) − f_lin)`, and the outputs by
//!
//! ```text
//! g(x̂, u) − z + C (I − hA/3)⁻¹ (h/3)(f(x̂, u) − f_lin).
//! ```
//!
//! A kink or a fast nonlinearity inside the step shows here while the step can still be cut, also
//! where no system can roll back. And where the memory has nothing to say, or has said worse things
//! so far, this is what the next prediction is made with.

use dovetail_core::{
    Archive, Checkpoint, Connections, Error, EvaluateTask, Evaluation, Knot, Linearization, Workers,
};
use dovetail_numerics::Lu;
use nalgebra::DMatrix;

use super::Ends;
use super::tuning::MOST_LOOK_AHEAD_STATES;
use crate::coupling::Coupling;
use crate::interface_system::{InterfaceSystem, MOST_ORDERS};
use crate::interface_vector::Stacking;
use crate::ranges::Ranges;
use crate::row_product::row_product;
use crate::state_counts::distinct_state_counts;

/// The look ahead, with its scratch.
pub(super) struct LookAhead {
    tasks: Vec<EvaluateTask>,
    /// For each number of states that occurs: room to factor in.
    scratch: Vec<DampingScratch>,
    growth: Vec<f64>,
    /// For each coupling variable, by how much its prediction is off.
    misses: Vec<f64>,
    /// By how much values, then slopes, then curvatures will differ from what linear operators say.
    pub differences: Vec<f64>,
}

struct DampingScratch {
    matrix: DMatrix<f64>,
    factors: Lu<f64>,
}

impl LookAhead {
    pub fn new(connections: &Connections, variables: usize) -> Self {
        let interfaces = connections.interfaces();
        let sizes = distinct_state_counts(connections);
        let most = sizes.last().copied().unwrap_or(0);
        let scratch = |&size: &usize| DampingScratch {
            matrix: DMatrix::zeros(size, size),
            factors: Lu::new(size),
        };

        Self {
            tasks: interfaces
                .iter()
                .enumerate()
                .map(|(k, interface)| EvaluateTask::new(k, interface))
                .collect(),
            scratch: sizes
                .iter()
                .filter(|size| **size <= MOST_LOOK_AHEAD_STATES)
                .map(scratch)
                .collect(),
            growth: vec![0.0; most],
            misses: vec![0.0; variables],
            differences: vec![0.0; MOST_ORDERS * variables],
        }
    }

    /// Looks at the end of the step that is placed; none where some system cannot tell f and g
    /// elsewhere, else how far the prediction is off at most, in units of the ranges of the
    /// outputs.
    pub fn look(
        &mut self,
        coupling: &Coupling<'_>,
        ends: &Ends,
        interface_system: &InterfaceSystem,
        ranges: &Ranges,
        workers: &mut dyn Workers,
    ) -> Result<Option<f64>, Error> {
        let able = workers.capabilities().iter().all(|c| c.evaluate);
        if !able {
            return Ok(None);
        }

        let step = coupling.step;
        for (task, asked) in self.tasks.iter_mut().zip(&coupling.tasks) {
            task.time = step.end;
            let there = &mut task.evaluation;
            for (i, signal) in asked.inputs.iter().enumerate() {
                there.u[i] = signal.value(step.size());
                there.u_slope[i] = signal.derivative(1, step.size());
            }
            for (x, estimate) in there
                .x
                .iter_mut()
                .zip(interface_system.estimate_states(asked))
            {
                *x = estimate;
            }
        }
        if workers.evaluate(&mut self.tasks).is_err() {
            return Ok(Some(f64::INFINITY)); // beyond what the model can answer: too far
        }
        if !self.tasks.iter().all(is_known) {
            return Ok(None);
        }

        for system in 0..self.tasks.len() {
            self.judge(system, step.size(), ends, interface_system);
        }
        Ok(Some(ranges.largest_share(&self.misses)))
    }

    /// What the outputs of one system will be off by.
    fn judge(&mut self, system: usize, size: f64, ends: &Ends, interface_system: &InterfaceSystem) {
        let here = interface_system.linearization(system);
        let there = &self.tasks[system].evaluation;
        let growth = &mut self.growth[..here.x.len()];

        for (i, growth) in growth.iter_mut().enumerate() {
            *growth = size / 3.0 * (there.f[i] - linear_slope(here, there, i, size));
        }

        let mut scratch = self.scratch.iter_mut();
        if let Some(scratch) = scratch.find(|scratch| scratch.matrix.nrows() == here.x.len()) {
            scratch.damp(here, size, growth);
        }

        for row in &interface_system.rows[system] {
            let by_states = row_product(&here.c, row.position, growth);
            let v = row.variable;
            // Returned impulses are not meant to be met.
            self.misses[v] =
                there.g[row.position] - ends.solution[v] + by_states + ends.returned[v];
            let value = self.misses[v] + ends.expected[v] - ends.returned[v];
            // What states add grows with the third power of the time, what g itself adds with the
            // second.
            let slope = (2.0 * value + by_states) / size;
            let curvature = (2.0 * value + 4.0 * by_states) / (size * size);
            let difference = Knot {
                value,
                slope,
                curvature,
            };
            let stacking = Stacking {
                variables: self.misses.len(),
            };
            stacking.put(&mut self.differences, v, difference);
        }
    }
}

impl DampingScratch {
    /// `(I − hA/3)⁻¹`, in place; nothing where that is singular.
    fn damp(&mut self, here: &Linearization, size: f64, growth: &mut [f64]) {
        self.matrix.copy_from(&here.a);
        self.matrix *= -size / 3.0;

        for i in 0..here.x.len() {
            self.matrix[(i, i)] += 1.0;
        }
        if self.factors.factor(&self.matrix).is_ok() {
            self.factors.solve_in_place(growth);
        }
    }
}

/// `f_lin`: the slope of a state at the end of the step, as the linearization at its start says.
fn linear_slope(here: &Linearization, there: &Evaluation, state: usize, size: f64) -> f64 {
    let by_state = |j: usize| here.a[(state, j)] * (there.x[j] - here.x[j]);
    let by_input = |j: usize| {
        here.b[(state, j)] * (there.u[j] - here.u[j])
            + here.b_slope[(state, j)] * (there.u_slope[j] - here.u_slope[j])
    };
    let by_states: f64 = (0..here.x.len()).map(by_state).sum();
    let by_inputs: f64 = (0..here.u.len()).map(by_input).sum();

    here.f[state] + by_states + by_inputs + here.f_time[state] * size
}

/// Whether a system has answered with numbers.
fn is_known(task: &EvaluateTask) -> bool {
    let here = &task.evaluation;
    let mut numbers = here.f.iter().chain(&here.g);
    numbers.all(|number| !number.is_nan())
}

impl Checkpoint for LookAhead {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.slice(&mut self.tasks)?;
        archive.slice(&mut self.growth)?;
        archive.slice(&mut self.misses)?;
        archive.slice(&mut self.differences)
    }
}
