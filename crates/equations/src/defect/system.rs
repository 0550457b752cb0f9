//! A system of a run, linearized where it is.

use dovetail_core::Linearization;
use nalgebra::DMatrix;

use crate::native::{Dynamics, Point};

/// Where the variables of one system are in a row.
#[derive(Clone, Debug)]
pub struct RowLayout {
    /// Its states.
    pub states: Vec<usize>,
    /// Its inputs.
    pub inputs: Vec<usize>,
    /// Its outputs.
    pub outputs: Vec<usize>,
}

/// A system and where its variables are, in rows and among those of all systems.
pub(super) struct LinearizedSystem {
    pub dynamics: Dynamics,
    pub here: Linearization,
    pub places: RowLayout,
    pub first_state: usize,
    pub first_input: usize,
    pub first_output: usize,
}

/// The output that feeds an input.
pub(super) struct Feeder {
    /// Where it is in a row.
    pub place: usize,
    /// Its number among all outputs.
    pub output: usize,
    /// Its system.
    pub owner: usize,
    /// Its number among the outputs of that system.
    pub position: usize,
    /// Where the input is in a row.
    pub input_place: Option<usize>,
}

impl LinearizedSystem {
    pub fn states(&self) -> usize {
        self.here.x.len()
    }

    pub fn inputs(&self) -> usize {
        self.here.u.len()
    }

    pub fn outputs(&self) -> usize {
        self.here.g.len()
    }

    /// A bound of its eigenvalues.
    pub fn fastest(&self) -> f64 {
        norm(&self.here.a)
    }

    /// Linearizes the system where it is, under the inputs that its feeders have for it, and finds
    /// the residuals of its outputs; earlier ones move to the first of `residuals`.
    pub fn linearize(
        &mut self,
        time: f64,
        row: &[f64],
        feeders: &[Option<Feeder>],
        residuals: &mut [Vec<f64>; 2],
    ) {
        let states = values_at(&self.places.states, row);
        let given = values_at(&self.places.inputs, row);
        let mut fed = given.clone();

        for (value, feeder) in fed.iter_mut().zip(&feeders[self.first_input..]) {
            if let Some(feeder) = feeder {
                *value = row[feeder.place];
            }
        }

        let point = Point {
            time,
            states: &states,
            inputs: &fed,
            slopes: &vec![0.0; fed.len()],
        };
        self.dynamics.enter(time, &[]);
        self.dynamics.linearize(point, &mut self.here);
        let [before, now] = residuals;

        for (output, &place) in self.places.outputs.iter().enumerate() {
            let stacked = self.first_output + output;
            before[stacked] = now[stacked];
            now[stacked] = self.residual(output, row[place], &fed, &given);
        }
    }

    /// By how much an output differs from what it is under the inputs that it is fed with.
    ///
    /// Where it depends on slopes, which rows do not have, by how much it would change.
    fn residual(&self, output: usize, value: f64, fed: &[f64], given: &[f64]) -> f64 {
        let uses_slopes = self.here.d_slope.row(output).iter().any(|d| *d != 0.0);
        if !uses_slopes {
            return self.here.g[output] - value;
        }

        let change = |j: usize| self.here.d[(output, j)] * (fed[j] - given[j]);
        (0..fed.len()).map(change).sum()
    }

    /// What the slopes of the inputs (stacked) make of an output: `D' δ'`.
    pub fn output_by_slopes(&self, output: usize, slopes: &[f64]) -> f64 {
        row_product(&self.here.d_slope, output, &slopes[self.first_input..])
    }

    /// `C ε + D v`, for an output.
    pub fn output_error(&self, output: usize, states: &[f64], inputs: &[f64]) -> f64 {
        let by_states = row_product(&self.here.c, output, &states[self.first_state..]);
        let by_inputs = row_product(&self.here.d, output, &inputs[self.first_input..]);
        by_states + by_inputs
    }
}

/// One row of `matrix · vector`; the vector may be longer than the row.
pub(super) fn row_product(matrix: &DMatrix<f64>, row: usize, vector: &[f64]) -> f64 {
    let columns = 0..matrix.ncols();
    columns.map(|j| matrix[(row, j)] * vector[j]).sum()
}

fn values_at(places: &[usize], row: &[f64]) -> Vec<f64> {
    places.iter().map(|place| row[*place]).collect()
}

/// The largest sum of magnitudes in a row.
fn norm(matrix: &DMatrix<f64>) -> f64 {
    let sums = matrix
        .row_iter()
        .map(|row| row.iter().map(|value| value.abs()).sum());
    sums.fold(0.0, f64::max)
}
