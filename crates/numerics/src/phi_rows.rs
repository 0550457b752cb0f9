//! A few rows of `φ`: `C φ_k(Z)`, for the price of one exponential.
//!
//! Every step of [`PhiFunctions`] can be taken on `C φ_k` alone, multiplied from the right, since
//! functions of one matrix commute; only the exponential is needed as a whole.

use nalgebra::DMatrix;

use crate::phi::{PhiFunctions, add_weighted, groups_needed, inverse_factorial, set_lower_sum};
use crate::product::{add_scaled, multiply, multiply_add, scale};

/// `e^Z` and `C φ_1 … C φ_highest`, with the workspace that computes them.
#[derive(Clone, Debug)]
pub(crate) struct PhiRows {
    /// `rows[k]` is `C φ_{k+1}`.
    pub(crate) rows: Vec<DMatrix<f64>>,
    exponential: PhiFunctions,
    /// `C`, `C Z`, `C Z²`, balanced and scaled.
    starts: [DMatrix<f64>; 3],
    product: DMatrix<f64>,
}

impl PhiRows {
    /// Allocates the workspace for matrices of `size` rows and a `C` of `count` rows; `highest` is
    /// at least one.
    pub(crate) fn new(size: usize, count: usize, highest: usize) -> Self {
        let rows = DMatrix::zeros(count, size);
        Self {
            rows: vec![rows.clone(); highest],
            exponential: PhiFunctions::new(size, 0),
            starts: [rows.clone(), rows.clone(), rows.clone()],
            product: rows,
        }
    }

    /// Computes all functions of `z`; not finite where they overflow or `z` is not finite.
    pub(crate) fn compute(&mut self, c: &DMatrix<f64>, z: &DMatrix<f64>) {
        let Some(size) = self.exponential.begin(z) else {
            self.fill_with_nan();
            return;
        };
        self.start(c);
        self.sum_series(size);
        self.recur_downward();

        for left in (0..self.exponential.doublings).rev() {
            self.double();
            self.exponential.double(left);
        }

        self.exponential.finish();
        self.undo_balancing();
    }

    fn undo_balancing(&mut self) {
        let scales = &self.exponential.scales;
        for rows in &mut self.rows {
            scale_columns(rows, |column| 1.0 / scales[column]);
        }
    }

    fn fill_with_nan(&mut self) {
        for matrix in self.rows.iter_mut().chain(&mut self.exponential.phi) {
            matrix.fill(f64::NAN);
        }
    }

    /// `e^Z`.
    pub(crate) fn exponential(&self) -> &DMatrix<f64> {
        &self.exponential.phi[0]
    }

    /// `e^{Z/4}` and `e^{Z/2}`, unless `Z` is small.
    pub(crate) fn roots(&self) -> Option<(&DMatrix<f64>, &DMatrix<f64>)> {
        self.exponential.roots()
    }

    fn start(&mut self, c: &DMatrix<f64>) {
        let [first, second, _] = &self.exponential.powers;
        let scales = &self.exponential.scales;
        let [zeroth, once, twice] = &mut self.starts;
        zeroth.copy_from(c);
        scale_columns(zeroth, |column| scales[column]);
        multiply(zeroth, first, once);

        multiply(zeroth, second, twice);
    }

    /// As [`PhiFunctions`] does.
    fn sum_series(&mut self, size: f64) {
        let highest = self.rows.len();
        let sum = &mut self.rows[highest - 1];
        sum.as_mut_slice().fill(0.0);

        for group in (0..groups_needed(size, highest)).rev() {
            multiply(sum, &self.exponential.powers[2], &mut self.product);
            std::mem::swap(sum, &mut self.product);
            let lowest = 3 * group + highest;
            for (j, start) in self.starts.iter().enumerate() {
                add_scaled(sum, inverse_factorial(lowest + j), start);
            }
        }
    }

    fn recur_downward(&mut self) {
        for k in (1..self.rows.len()).rev() {
            let (lower, upper) = self.rows.split_at_mut(k);
            let rows = &mut lower[k - 1];
            multiply(&upper[0], &self.exponential.powers[0], rows);
            add_scaled(rows, inverse_factorial(k), &self.starts[0]);
        }
    }

    fn double(&mut self) {
        let PhiFunctions { phi, offsets, .. } = &self.exponential;
        let product = &mut self.product;

        for k in (1..=self.rows.len()).rev() {
            set_lower_sum(product, &self.rows[..k]);
            let rows = &mut self.rows[k - 1];
            add_weighted(product, rows, |_, column| offsets[column]);
            multiply_add(rows, &phi[0], product);
            scale(product, 0.5f64.powi(k as i32));
            std::mem::swap(rows, product);
        }
    }
}

fn scale_columns(matrix: &mut DMatrix<f64>, factor: impl Fn(usize) -> f64) {
    let rows = matrix.nrows().max(1);
    for (column, entries) in matrix.as_mut_slice().chunks_exact_mut(rows).enumerate() {
        let factor = factor(column);
        entries.iter_mut().for_each(|entry| *entry *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_whole_functions() {
        for size in [1, 2, 5] {
            for magnitude in [0.01, 1.0, 300.0] {
                let z = DMatrix::from_fn(size, size, |row, column| {
                    let damping = if row == column { -3.0 } else { 0.0 };
                    magnitude * (((3 * row + 5 * column) as f64).sin() + damping)
                });
                let c = DMatrix::from_fn(2, size, |row, column| ((row + 2 * column) as f64).cos());
                let mut rows = PhiRows::new(size, 2, 6);
                let mut whole = PhiFunctions::new(size, 6);
                rows.compute(&c, &z);
                whole.compute(&z);
                for (k, found) in rows.rows.iter().enumerate() {
                    let expected = &c * &whole.phi[k + 1];
                    assert!(
                        (found - &expected).amax() < 1e-14 * expected.amax(),
                        "{found}{expected}"
                    );
                }
                assert!((rows.exponential() - &whole.phi[0]).amax() < 1e-14);
            }
        }
    }

    #[test]
    fn what_is_not_finite_gives_what_is_not_finite() {
        let mut rows = PhiRows::new(1, 1, 2);
        rows.compute(
            &DMatrix::identity(1, 1),
            &DMatrix::from_element(1, 1, f64::INFINITY),
        );
        assert!(rows.rows.iter().all(|row| row[(0, 0)].is_nan()));
    }
}
