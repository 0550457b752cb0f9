//! The linearized systems, coupled: how their errors move one another.

use dovetail_numerics::{Lu, PhiFunctions};
use nalgebra::DMatrix;

use super::gathered::Gathered;
use super::system::{Feeder, LinearizedSystem, row_product};

/// The matrices of all systems together, and scratch vectors.
pub(super) struct CoupledSensitivity {
    /// `I − Φᵀ D`, and its factors.
    loops: DMatrix<f64>,
    factors: Lu<f64>,
    /// `(I − Φᵀ D)⁻¹ Φᵀ C`: how inputs follow states.
    follow: DMatrix<f64>,
    /// `A + B (I − Φᵀ D)⁻¹ Φᵀ C`.
    coupled: DMatrix<f64>,
    functions: PhiFunctions,
    /// A right-hand side of the loops, one entry for each input, and then its solution.
    pub column: Vec<f64>,
    /// What drives each state.
    drive: Vec<f64>,
    /// The errors of the inputs.
    wrong: Vec<f64>,
}

impl CoupledSensitivity {
    pub fn new(states: usize, inputs: usize) -> Self {
        Self {
            loops: DMatrix::zeros(inputs, inputs),
            factors: Lu::new(inputs),
            follow: DMatrix::zeros(inputs, states),
            coupled: DMatrix::zeros(states, states),
            functions: PhiFunctions::new(states, 1),
            column: vec![0.0; inputs],
            drive: vec![0.0; states],
            wrong: vec![0.0; inputs],
        }
    }

    /// Takes the linearizations as they are; false where a loop is singular.
    pub fn couple(&mut self, systems: &[LinearizedSystem], feeders: &[Option<Feeder>]) -> bool {
        self.loops.fill(0.0);
        self.loops.fill_diagonal(1.0);
        self.follow.fill(0.0);

        for (input, feeder) in feeders.iter().enumerate() {
            if let Some(feeder) = feeder {
                self.feed(input, &systems[feeder.owner], feeder.position);
            }
        }
        if self.factors.factor(&self.loops).is_err() {
            return false;
        }

        self.solve_follow();
        self.coupled.fill(0.0);

        for system in systems {
            self.add_system(system);
        }
        true
    }

    /// A row of `Φᵀ C` and of `I − Φᵀ D`: the input is that output of the system.
    fn feed(&mut self, input: usize, system: &LinearizedSystem, output: usize) {
        let here = &system.here;
        for j in 0..system.states() {
            self.follow[(input, system.first_state + j)] = here.c[(output, j)];
        }

        for j in 0..system.inputs() {
            self.loops[(input, system.first_input + j)] -= here.d[(output, j)];
        }
    }

    /// From `Φᵀ C` to `(I − Φᵀ D)⁻¹ Φᵀ C`, column by column.
    fn solve_follow(&mut self) {
        for j in 0..self.follow.ncols() {
            let mut column = self.follow.column_mut(j);
            self.column.copy_from_slice(column.as_slice());
            self.factors.solve_in_place(&mut self.column);
            column.as_mut_slice().copy_from_slice(&self.column);
        }
    }

    /// The rows of `A + B (I − Φᵀ D)⁻¹ Φᵀ C` that belong to a system.
    fn add_system(&mut self, system: &LinearizedSystem) {
        let here = &system.here;
        for i in 0..system.states() {
            let row = system.first_state + i;
            for j in 0..system.states() {
                self.coupled[(row, system.first_state + j)] += here.a[(i, j)];
            }
            for input in 0..system.inputs() {
                let gain = here.b[(i, input)];
                let stacked = system.first_input + input;
                for j in 0..self.follow.ncols() {
                    self.coupled[(row, j)] += gain * self.follow[(stacked, j)];
                }
            }
        }
    }

    /// `(I − Φᵀ D)⁻¹`, applied to the column.
    pub fn solve_column(&mut self) {
        self.factors.solve_in_place(&mut self.column);
    }

    /// What drives the states of a system: `∫ B (δ + v) + B' δ'`, with the column as `∫ v`.
    pub fn drive(&mut self, system: &LinearizedSystem, gathered: &Gathered) {
        let here = &system.here;
        for i in 0..system.states() {
            let by_input = |j: usize| {
                let input = system.first_input + j;
                let value = gathered.sums[input] + self.column[input];
                here.b[(i, j)] * value + here.b_slope[(i, j)] * gathered.slopes[input]
            };
            self.drive[system.first_state + i] = (0..system.inputs()).map(by_input).sum();
        }

        // What happens within steps that are long for the system is another matter.
        if gathered.longest() * system.fastest() < 1.0 {
            self.drive_by_swings(system, &gathered.swings);
        }
    }

    /// `−A B b h³/12`.
    fn drive_by_swings(&mut self, system: &LinearizedSystem, swings: &[f64]) {
        let swings = &swings[system.first_input..];
        let states = system.states();
        let drive = &mut self.drive[system.first_state..][..states];

        for k in 0..states {
            let swing = row_product(&system.here.b, k, swings);
            for (drive, a) in drive.iter_mut().zip(&system.here.a.column(k)) {
                *drive -= a * swing;
            }
        }
    }

    /// The error after `size`, from what it is now.
    pub fn advance(&mut self, error: &[f64], size: f64) -> Vec<f64> {
        self.coupled *= size;
        self.functions.compute(&self.coupled);
        let exponential = &self.functions.phi[0];
        let mean = &self.functions.phi[1];
        let mut next = Vec::with_capacity(error.len());

        for i in 0..error.len() {
            let by_state = |j: usize| exponential[(i, j)] * error[j] + mean[(i, j)] * self.drive[j];
            next.push((0..error.len()).map(by_state).sum());
        }
        next
    }

    /// The errors of the inputs: those that follow the states, and the column.
    pub fn errors_of_inputs(&mut self, error: &[f64]) -> &[f64] {
        for (input, wrong) in self.wrong.iter_mut().enumerate() {
            let followed = row_product(&self.follow, input, error);
            *wrong = self.column[input] + followed;
        }
        &self.wrong
    }
}
