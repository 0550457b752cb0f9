//! An estimate of the error of the whole run, from the errors of its steps.
//!
//! Errors of states travel as small differences do: `ε' = A_c ε` with the matrix of all systems
//! coupled, `A_c = A + B Φᵀ (I − D Φᵀ)⁻¹ C`. Over a step `ε ← exp(h (A_c + A_c⁺)/2) ε + e`, with
//! the matrix at both ends and the local error e. It is signed: the states plus ε are nearer to the
//! truth. Where trajectories separate exponentially it overestimates.

use dovetail_core::{Archive, Checkpoint, Connections, Error, visit_fields};
use dovetail_numerics::{Lu, PhiFunctions};
use nalgebra::DMatrix;

use super::tuning::{LEAST_RANGE, MOST_ESTIMATED};
use crate::coupling::Coupling;
use crate::initialization::algebraic_loops;
use crate::interface_system::{CoupledInput, InterfaceSystem};
use crate::ranges::Ranges;
use crate::row_product::row_product;
use crate::state_counts::total_states;

/// The estimate, with the matrices that carry it on.
pub(super) struct GlobalError {
    /// `A_c` where the systems stand, and where the step before began.
    coupled: DMatrix<f64>,
    before: DMatrix<f64>,
    mean: DMatrix<f64>,
    functions: PhiFunctions,
    /// `I − D Φᵀ`, and `(I − D Φᵀ)⁻¹ C`: how coupling variables follow states.
    loops: DMatrix<f64>,
    factors: Lu<f64>,
    follow: DMatrix<f64>,
    column: Vec<f64>,
    /// By how much loops through feedthrough magnify what goes round in them: the largest diagonal
    /// entry of `(I − D Φᵀ)⁻¹`, which does not depend on units as its condition number does.
    pub magnification: f64,
    has_loops: bool,
    /// ε of all states and of all outputs, stacked, and the largest so far.
    pub states: Vec<f64>,
    pub outputs: Vec<f64>,
    pub largest_states: Vec<f64>,
    pub largest_outputs: Vec<f64>,
    variables: Vec<f64>,
    next: Vec<f64>,
    /// Whether the estimate has left the numbers there are, and is none any more.
    pub lost: bool,
}

impl GlobalError {
    /// Scratch for these systems; none where they are too many.
    pub fn new(connections: &Connections, variables: usize) -> Option<Self> {
        let states = total_states(connections);
        let outputs = connections.outputs();
        let square = || DMatrix::zeros(states, states);

        (states <= MOST_ESTIMATED && variables <= MOST_ESTIMATED).then(|| Self {
            coupled: square(),
            before: square(),
            mean: square(),
            functions: PhiFunctions::new(states, 0),
            loops: DMatrix::zeros(variables, variables),
            factors: Lu::new(variables),
            follow: DMatrix::zeros(variables, states),
            column: vec![0.0; variables],
            magnification: 1.0,
            has_loops: !algebraic_loops(connections).is_empty(),
            states: vec![0.0; states],
            outputs: vec![0.0; outputs],
            largest_states: vec![0.0; states],
            largest_outputs: vec![0.0; outputs],
            variables: vec![0.0; variables],
            next: vec![0.0; states],
            lost: false,
        })
    }

    /// The systems stand elsewhere, or on the far side of an event.
    pub fn locate(&mut self, interface_system: &InterfaceSystem) {
        self.fill_loops(interface_system);
        if self.loops.nrows() > 0 && self.factors.factor(&self.loops).is_ok() {
            self.measure_loops();
            for j in 0..self.follow.ncols() {
                copy(self.follow.column(j).iter(), &mut self.column);
                self.factors.solve_in_place(&mut self.column);
                copy(self.column.iter(), self.follow.column_mut(j).as_mut_slice());
            }
        }
        self.couple(interface_system);
    }

    /// `I − D Φᵀ` and C.
    fn fill_loops(&mut self, interface_system: &InterfaceSystem) {
        self.loops.fill(0.0);
        self.loops.fill_diagonal(1.0);
        self.follow.fill(0.0);
        let mut first = 0;

        for (system, here) in interface_system.linearizations().enumerate() {
            for row in &interface_system.rows[system] {
                for j in 0..here.x.len() {
                    self.follow[(row.variable, first + j)] = here.c[(row.position, j)];
                }
                for column in &interface_system.columns[system] {
                    self.loops[(row.variable, column.variable)] -=
                        here.d[(row.position, column.input)];
                }
            }
            first += here.x.len();
        }
    }

    fn measure_loops(&mut self) {
        if !self.has_loops {
            return;
        }

        self.magnification = 0.0;
        for variable in 0..self.column.len() {
            self.column.fill(0.0);
            self.column[variable] = 1.0;
            self.factors.solve_in_place(&mut self.column);
            self.magnification = self.magnification.max(self.column[variable].abs());
        }
    }

    /// `A + B Φᵀ (I − D Φᵀ)⁻¹ C`.
    fn couple(&mut self, interface_system: &InterfaceSystem) {
        self.coupled.fill(0.0);
        let mut first = 0;

        for (system, here) in interface_system.linearizations().enumerate() {
            let states = here.x.len();
            for i in 0..states {
                for j in 0..states {
                    self.coupled[(first + i, first + j)] += here.a[(i, j)];
                }
                for column in &interface_system.columns[system] {
                    let gain = here.b[(i, column.input)];
                    for j in 0..self.follow.ncols() {
                        self.coupled[(first + i, j)] += gain * self.follow[(column.variable, j)];
                    }
                }
            }
            first += states;
        }
    }

    /// A step begins where the systems stand.
    pub fn begin_step(&mut self) {
        self.before.copy_from(&self.coupled);
    }

    /// By how much `A_c` has changed over a step of this size, in units of the ranges of the
    /// states. A state that follows fast what drives it keeps no more of a change than one time
    /// constant lets it.
    pub fn change(&self, size: f64, ranges: &Ranges) -> f64 {
        let count = self.states.len();
        let difference = |i: usize, j: usize| (self.coupled[(i, j)] - self.before[(i, j)]).abs();
        // A state that stays at zero by symmetry has no range, and must not ask for steps of no
        // length.
        let least = LEAST_RANGE * (0..count).map(|i| ranges.scale(i)).fold(0.0, f64::max);
        let scaled = |i: usize| {
            let row = |j: usize| difference(i, j) * ranges.scale(j);
            let damping = 1.0 + size * (-self.coupled[(i, i)]).max(0.0);
            (0..count).map(row).sum::<f64>() / (damping * ranges.scale(i).max(least))
        };

        (0..count)
            .filter(|&i| ranges.scale(i).max(least) > 0.0)
            .map(scaled)
            .fold(0.0, f64::max)
    }

    /// The step is over, and the systems stand where they have been located; it has left these
    /// errors in the states.
    pub fn carry(&mut self, size: f64, errors: [&[f64]; 2], times: f64) {
        self.mean.copy_from(&self.before);
        self.mean += &self.coupled;
        self.mean *= 0.5 * size;
        self.functions.compute(&self.mean);
        let exponential = &self.functions.phi[0];
        let [interpolation, ends] = errors;

        for (i, next) in self.next.iter_mut().enumerate() {
            let carried = row_product(exponential, i, &self.states);
            *next = carried + times * interpolation[i] + ends[i];
        }

        self.lost |= self.next.iter().any(|e| !e.is_finite());
        if !self.lost {
            self.states.copy_from_slice(&self.next);
        }
    }

    /// The errors of the outputs follow from those of the states.
    pub fn estimate_outputs(
        &mut self,
        coupling: &Coupling<'_>,
        interface_system: &InterfaceSystem,
    ) {
        for (v, variable) in self.variables.iter_mut().enumerate() {
            *variable = row_product(&self.follow, v, &self.states);
        }

        let mut first = 0;
        let mut places = self.outputs.iter_mut();

        for (system, here) in interface_system.linearizations().enumerate() {
            let states = &self.states[first..][..here.x.len()];
            let columns = &interface_system.columns[system];
            for (output, place) in (0..here.g.len()).zip(&mut places) {
                let by_input = |column: &CoupledInput| {
                    here.d[(output, column.input)] * self.variables[column.variable]
                };
                let by_inputs: f64 = columns.iter().map(by_input).sum();
                *place = row_product(&here.c, output, states) + by_inputs;
            }
            first += states.len();
        }

        for (variable, error) in coupling.variables.iter().zip(&self.variables) {
            self.outputs[variable.stacked] = *error;
        }

        keep_largest(&mut self.largest_states, &self.states);
        keep_largest(&mut self.largest_outputs, &self.outputs);
    }
}

fn copy<'a>(from: impl Iterator<Item = &'a f64>, to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// What is the largest so far, in magnitude.
fn keep_largest(largest: &mut [f64], now: &[f64]) {
    for (largest, now) in largest.iter_mut().zip(now) {
        *largest = largest.max(now.abs());
    }
}

impl Checkpoint for GlobalError {
    fn visit(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive, self.coupled, self.before, self.follow);
        visit_fields!(archive, self.magnification, self.lost);
        archive.slice(&mut self.states)?;
        archive.slice(&mut self.outputs)?;
        archive.slice(&mut self.largest_states)?;

        archive.slice(&mut self.largest_outputs)
    }
}
