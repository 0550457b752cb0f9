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
        match self.exponential.scales.len() {
            1 => self.compute_narrow::<1>(size),
            2 => self.compute_narrow::<2>(size),
            3 => self.compute_narrow::<3>(size),
            _ => self.compute_wide(size),
        }

        self.exponential.finish();
        self.undo_balancing();
    }

    fn compute_wide(&mut self, size: f64) {
        self.sum_series(size);
        self.recur_downward();

        for left in (0..self.exponential.doublings).rev() {
            self.double();
            self.exponential.double(left);
        }
    }

    /// The same for matrices of so few rows, with the same rounding: a row at a time, which stays
    /// in registers.
    fn compute_narrow<const N: usize>(&mut self, size: f64) {
        let highest = self.rows.len();
        let [first, _, third] = &self.exponential.powers;
        let powers = [first, third].map(square::<N>);
        for row in 0..self.product.nrows() {
            let starts = self.starts.each_ref().map(|start| row_of::<N>(start, row));
            let mut sum = summed_series(size, highest, &starts, &powers[1]);
            set_row(&mut self.rows[highest - 1], row, &sum);
            for k in (1..highest).rev() {
                sum = product_added([0.0; N], &sum, &powers[0]);
                sum = multiple_added(sum, inverse_factorial(k), &starts[0]);
                set_row(&mut self.rows[k - 1], row, &sum);
            }
        }

        for left in (0..self.exponential.doublings).rev() {
            self.double_narrow::<N>();
            self.exponential.double(left);
        }
    }

    fn double_narrow<const N: usize>(&mut self) {
        let exponential = square::<N>(&self.exponential.phi[0]);
        let offsets: [f64; N] = std::array::from_fn(|k| self.exponential.offsets[k]);

        for row in 0..self.product.nrows() {
            for k in (1..=self.rows.len()).rev() {
                let mut sum = [0.0; N];
                for (below, function) in self.rows[..k].iter().enumerate() {
                    let lower = row_of::<N>(function, row);
                    sum = multiple_added(sum, inverse_factorial(k - 1 - below), &lower);
                }
                let own = row_of::<N>(&self.rows[k - 1], row);
                for column in 0..N {
                    sum[column] += offsets[column] * own[column];
                }
                let factor = HALVES[k.min(HALVES.len() - 1)];
                let doubled = product_added(sum, &own, &exponential).map(|entry| entry * factor);
                set_row(&mut self.rows[k - 1], row, &doubled);
            }
        }
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

/// `2^{-k}`, beyond what is ever asked for.
const HALVES: [f64; 16] = {
    let mut table = [1.0; 16];
    let mut k = 1;
    while k < table.len() {
        table[k] = 0.5 * table[k - 1];
        k += 1;
    }
    table
};

/// The highest function of one row by its series, grouped in threes.
fn summed_series<const N: usize>(
    size: f64,
    highest: usize,
    starts: &[[f64; N]; 3],
    third: &[[f64; N]; N],
) -> [f64; N] {
    let mut sum = [0.0; N];
    for group in (0..groups_needed(size, highest)).rev() {
        sum = product_added([0.0; N], &sum, third);
        for (j, start) in starts.iter().enumerate() {
            sum = multiple_added(sum, inverse_factorial(3 * group + highest + j), start);
        }
    }
    sum
}

/// The columns of a square matrix.
fn square<const N: usize>(matrix: &DMatrix<f64>) -> [[f64; N]; N] {
    std::array::from_fn(|column| std::array::from_fn(|row| matrix.as_slice()[column * N + row]))
}

fn row_of<const N: usize>(matrix: &DMatrix<f64>, row: usize) -> [f64; N] {
    let rows = matrix.nrows();
    std::array::from_fn(|column| matrix.as_slice()[column * rows + row])
}

fn set_row<const N: usize>(matrix: &mut DMatrix<f64>, row: usize, entries: &[f64; N]) {
    let rows = matrix.nrows();
    for (column, entry) in entries.iter().enumerate() {
        matrix.as_mut_slice()[column * rows + row] = *entry;
    }
}

/// A row plus another one times a matrix, whose columns are given.
fn product_added<const N: usize>(
    mut sum: [f64; N],
    row: &[f64; N],
    columns: &[[f64; N]; N],
) -> [f64; N] {
    for (entry, column) in sum.iter_mut().zip(columns) {
        for (left, right) in row.iter().zip(column) {
            *entry += left * right;
        }
    }
    sum
}

/// A row plus a multiple of another one.
fn multiple_added<const N: usize>(mut sum: [f64; N], factor: f64, row: &[f64; N]) -> [f64; N] {
    for (entry, value) in sum.iter_mut().zip(row) {
        *entry += factor * value;
    }
    sum
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
    use proptest::prelude::*;

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

    /// Both ways round alike, whatever the matrix is.
    fn assert_narrow_is_wide(entries: &[f64], size: usize, magnitude: f64) {
        let z = DMatrix::from_fn(size, size, |row, column| {
            magnitude * entries[3 * row + column]
        });
        let c = DMatrix::from_fn(2, size, |row, column| entries[9 + 3 * row + column]);
        let mut narrow = PhiRows::new(size, 2, 7);
        let mut wide = PhiRows::new(size, 2, 7);
        narrow.compute(&c, &z);
        let scaled = wide.exponential.begin(&z).expect("BUG: a finite matrix");
        wide.start(&c);
        wide.compute_wide(scaled);
        wide.exponential.finish();
        wide.undo_balancing();

        let bits = |rows: &PhiRows| -> Vec<u64> {
            let all = rows.rows.iter().chain([rows.exponential()]);
            all.flat_map(|matrix| {
                matrix
                    .iter()
                    .map(|entry| entry.to_bits())
                    .collect::<Vec<_>>()
            })
            .collect()
        };
        assert_eq!(bits(&narrow), bits(&wide), "{z}");
    }

    #[test]
    fn few_states_make_no_difference() {
        let special = [
            [0.0; 9],
            [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            [-1.0, 1.0, 0.0, 1e-12, -1.0, 1.0, 0.0, 0.0, -1.0],
            [0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1e-3],
            [0.0, 1.0, 0.0, -1e10, -1.0, 1.0, 0.0, 0.0, -1e5],
            [-1e4, 1.0, 0.0, 0.0, -1.0, 1.0, 1.0, 0.0, -1e-4],
        ];
        for matrix in special {
            let c = [1.0, -2.0, 0.5, 0.0, 1.0, 0.0];
            for size in 1..=3 {
                for magnitude in [1e-9, 0.1, 1.0, 30.0] {
                    assert_narrow_is_wide(&[&matrix[..], &c].concat(), size, magnitude);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn few_states_make_no_difference_whatever_the_matrix(
            entries in prop::collection::vec(-1.0f64..1.0, 15),
            size in 1usize..=3,
            exponent in -6.0f64..3.0,
        ) {
            assert_narrow_is_wide(&entries, size, 10f64.powf(exponent));
        }
    }
}
