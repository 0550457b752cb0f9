//! `F(x) = x − M x − b`: the fixed point of a linear map.

use dovetail_numerics::nonlinear::Equations;

use super::small;

/// The linear problem whose solution is known.
pub struct Linear {
    /// Rows of `M`.
    pub matrix: Vec<Vec<f64>>,
    pub solution: Vec<f64>,
    pub tolerance: f64,
    /// Whether weights are the reciprocals of the tolerances.
    pub weighted: bool,
    pub evaluations: usize,
}

impl Linear {
    pub fn new(matrix: Vec<Vec<f64>>, solution: Vec<f64>, tolerance: f64) -> Self {
        Self {
            matrix,
            solution,
            tolerance,
            weighted: false,
            evaluations: 0,
        }
    }
}

impl Equations for Linear {
    fn size(&self) -> usize {
        self.solution.len()
    }

    fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> bool {
        self.evaluations += 1;
        for (row, residual) in residual.iter_mut().enumerate() {
            let mapped: f64 = (0..x.len())
                .map(|k| self.matrix[row][k] * (x[k] - self.solution[k]))
                .sum();
            *residual = x[row] - self.solution[row] - mapped;
        }
        true
    }

    fn converged(&self, x: &[f64], residual: &[f64]) -> bool {
        small(self.tolerance, x, residual)
    }

    fn weights(&self, x: &[f64], weights: &mut [f64]) {
        for (weight, x) in weights.iter_mut().zip(x) {
            *weight = if self.weighted {
                1.0 / (self.tolerance * x.abs() + self.tolerance)
            } else {
                1.0
            };
        }
    }
}

/// A map that turns pairs of unknowns by a right angle and stretches them by `radius`.
pub fn rotation(size: usize, radius: f64) -> Vec<Vec<f64>> {
    let entry = |row: usize, column: usize| match (row % 2, row.abs_diff(column)) {
        _ if row / 2 != column / 2 => 0.0,
        (0, 1) => -radius,
        (1, 1) => radius,
        _ if size % 2 == 1 && row + 1 == size => radius,
        _ => 0.0,
    };
    (0..size)
        .map(|row| (0..size).map(|column| entry(row, column)).collect())
        .collect()
}

/// The Jacobian (33) of IFOSMONDI-JFM, slopes found by differences over a step of `step`.
pub fn coupling(damping: f64, step: f64) -> Vec<Vec<f64>> {
    let block = [
        [step, -1.0, -1.0],
        [1.0 / damping, 0.0, 0.0],
        [step / damping, 0.0, 0.0],
    ];
    let mut matrix = vec![vec![0.0; 6]; 6];
    for row in 0..3 {
        for column in 0..3 {
            matrix[row][column] = block[row][column];
            matrix[row + 3][column + 3] = block[row][column];
            matrix[row + 3][column] = block[row][column] / step;
            matrix[row][column + 3] = step * step * block[row][column] / 12.0;
        }
    }
    matrix
}

/// Entries in `[-1, 1]` from a seed.
pub fn random_matrix(size: usize, mut seed: u64) -> Vec<Vec<f64>> {
    let mut next = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..size)
        .map(|_| (0..size).map(|_| next()).collect())
        .collect()
}
