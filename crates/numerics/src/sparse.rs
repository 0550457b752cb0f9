//! A square system of equations with a fixed pattern, solved again and again.
//!
//! Small systems are factored densely, in place. Large ones by sparse LU (faer): the ordering and
//! symbolic factorization are made once, for the pattern, and the factors keep their memory. One
//! thread, so that results never depend on their number. Rows and columns are scaled to a largest
//! entry of one, or about: unknowns may have different units.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, MatMut, Par};
use nalgebra::DMatrix;

use crate::dense::Lu;

/// Up to so many unknowns dense elimination is faster.
const MOST_DENSE: usize = 60;
/// Below this reciprocal condition number a matrix counts as singular.
const SINGULAR: f64 = 1e-14;
/// How often each unknown of a matrix that seems singular is balanced.
const BALANCING_ROUNDS: usize = 10;

/// A matrix of fixed pattern, and its factors.
pub struct PatternLu {
    values: Vec<f64>,
    entries: Vec<(usize, usize)>,
    solver: Solver,
    /// The values after scaling, and the scales of rows and columns.
    scaled: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

enum Solver {
    Dense(Box<Dense>),
    Sparse(Box<Sparse>),
}

struct Dense {
    matrix: DMatrix<f64>,
    lu: Lu<f64>,
}

struct Sparse {
    matrix: SparseColMat<usize, f64>,
    /// For each entry its slot among the matrix's values.
    slots: Vec<usize>,
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
    /// Scratch for a factorization or a solution.
    memory: MemBuffer,
    probe: Vec<f64>,
}

/// The matrix has no inverse, or none to working precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular")]
pub struct SingularMatrix;

impl PatternLu {
    /// A matrix of `size` unknowns with these entries (row, column), each listed once; all zero.
    pub fn new(size: usize, entries: Vec<(usize, usize)>) -> Self {
        let solver = if size <= MOST_DENSE {
            Solver::Dense(Box::new(Dense::new(size)))
        } else {
            Solver::Sparse(Box::new(Sparse::new(size, &entries)))
        };
        let zeros = vec![0.0; entries.len()];

        Self {
            values: zeros.clone(),
            scaled: zeros,
            rows: vec![1.0; size],
            columns: vec![1.0; size],
            entries,
            solver,
        }
    }

    /// The values of the entries, in the order in which they were listed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Factors the matrix with its present values.
    ///
    /// One that seems singular may have unknowns of very different sizes, along a chain of large
    /// gains: it is balanced first, and tried again.
    pub fn factor(&mut self) -> Result<(), SingularMatrix> {
        self.scaled.copy_from_slice(&self.values);
        self.scale()?;
        if self.factor_scaled().is_ok() {
            return Ok(());
        }

        self.scaled.copy_from_slice(&self.values);
        let balance = self.balance();
        self.scale()?;
        self.factor_scaled()?;
        for (i, balance) in balance.iter().enumerate() {
            self.rows[i] /= balance;
            self.columns[i] *= balance;
        }
        Ok(())
    }

    fn factor_scaled(&mut self) -> Result<(), SingularMatrix> {
        match &mut self.solver {
            Solver::Dense(dense) => dense.factor(&self.entries, &self.scaled),
            Solver::Sparse(sparse) => sparse.factor(&self.scaled),
        }
    }

    /// `D⁻¹ M D`, so that off the diagonal the largest entries of a row and of its column are alike
    /// (Osborne); the diagonal of D.
    fn balance(&mut self) -> Vec<f64> {
        let size = self.rows.len();
        let mut balance = vec![1.0; size];

        for _ in 0..BALANCING_ROUNDS {
            for (line, balance) in balance.iter_mut().enumerate() {
                let (row, column) = self.off_diagonal(line);
                let factor = match (row > 0.0, column > 0.0) {
                    (true, true) => (row / column).sqrt(),
                    (true, false) => row.max(1.0),
                    (false, true) => 1.0 / column.max(1.0),
                    (false, false) => 1.0,
                };
                let factor = factor.log2().round().exp2();
                if !factor.is_finite() || factor == 0.0 {
                    continue;
                }
                *balance *= factor;
                for (&(i, j), value) in self.entries.iter().zip(&mut self.scaled) {
                    match (i == line, j == line) {
                        (true, false) => *value /= factor,
                        (false, true) => *value *= factor,
                        _ => {}
                    }
                }
            }
        }
        balance
    }

    /// The largest magnitudes in a row and in a column, the diagonal apart.
    fn off_diagonal(&self, line: usize) -> (f64, f64) {
        let mut row: f64 = 0.0;
        let mut column: f64 = 0.0;
        for (&(i, j), value) in self.entries.iter().zip(&self.scaled) {
            if i == line && j != line {
                row = row.max(value.abs());
            } else if j == line && i != line {
                column = column.max(value.abs());
            }
        }
        (row, column)
    }

    /// Rows by their largest entries, then columns by theirs.
    fn scale(&mut self) -> Result<(), SingularMatrix> {
        let rows = self.entries.iter().map(|&(row, _)| row);
        scale_lines(rows, &mut self.scaled, &mut self.rows)?;
        let columns = self.entries.iter().map(|&(_, column)| column);
        scale_lines(columns, &mut self.scaled, &mut self.columns)
    }

    /// Solves with the factors, in place.
    pub fn solve(&mut self, right: &mut [f64]) {
        multiply_entries(right, &self.rows);
        match &mut self.solver {
            Solver::Dense(dense) => dense.lu.solve_in_place(right),
            Solver::Sparse(sparse) => sparse.solve(right),
        }
        multiply_entries(right, &self.columns);
    }
}

/// Brings the largest entry of every row to about one, or of every column; `lines` has that of each
/// value. Scales are powers of two, which round nothing.
fn scale_lines(
    lines: impl Iterator<Item = usize> + Clone,
    values: &mut [f64],
    scales: &mut [f64],
) -> Result<(), SingularMatrix> {
    scales.fill(0.0);
    for (line, value) in lines.clone().zip(&*values) {
        let magnitude = if value.is_finite() {
            value.abs()
        } else {
            f64::INFINITY
        };
        scales[line] = scales[line].max(magnitude);
    }

    let usable = |&largest: &f64| largest > 0.0 && largest.is_finite();
    if !scales.iter().all(usable) {
        return Err(SingularMatrix);
    }

    for scale in &mut *scales {
        *scale = (-scale.log2().round()).exp2();
    }

    for (line, value) in lines.zip(values) {
        *value *= scales[line];
    }
    Ok(())
}

fn multiply_entries(vector: &mut [f64], factors: &[f64]) {
    for (entry, factor) in vector.iter_mut().zip(factors) {
        *entry *= factor;
    }
}

impl Dense {
    fn new(size: usize) -> Self {
        Self {
            matrix: DMatrix::zeros(size, size),
            lu: Lu::new(size),
        }
    }

    fn factor(&mut self, entries: &[(usize, usize)], values: &[f64]) -> Result<(), SingularMatrix> {
        if self.matrix.is_empty() {
            return Ok(());
        }

        self.matrix.fill(0.0);
        for (&entry, &value) in entries.iter().zip(values) {
            self.matrix[entry] = value;
        }

        let factored = self.lu.factor(&self.matrix).is_ok();
        let regular = factored && self.lu.rcond() > SINGULAR;
        if regular { Ok(()) } else { Err(SingularMatrix) }
    }
}

impl Sparse {
    fn new(size: usize, entries: &[(usize, usize)]) -> Self {
        // The index of each entry as its value shows where the matrix has put it.
        let mut numbered = Vec::with_capacity(entries.len());
        for (k, &(row, column)) in entries.iter().enumerate() {
            numbered.push(Triplet::new(row, column, k as f64));
        }

        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, &numbered)
            .expect("BUG: entries within the matrix, each once");
        let mut slots = vec![0; entries.len()];

        for (slot, &entry) in matrix.val().iter().enumerate() {
            slots[entry as usize] = slot;
        }

        let symbolic = factorize_symbolic_lu(matrix.symbolic(), Default::default())
            .expect("BUG: a pattern that can be ordered");
        let factoring = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let solving = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let memory = MemBuffer::new(factoring.or(solving));

        Self {
            matrix,
            slots,
            symbolic,
            numeric: NumericLu::new(),
            memory,
            probe: vec![0.0; size],
        }
    }

    fn factor(&mut self, values: &[f64]) -> Result<(), SingularMatrix> {
        let stored = self.matrix.val_mut();
        for (&slot, &value) in self.slots.iter().zip(values) {
            stored[slot] = value;
        }

        let factored = self.symbolic.factorize_numeric_lu(
            &mut self.numeric,
            self.matrix.as_ref(),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Default::default(),
        );
        factored.map_err(|_| SingularMatrix)?;
        self.check_condition(values)
    }

    /// A solution out of all proportion shows a singular matrix: `‖M‖ ‖M⁻¹ b‖ / ‖b‖` bounds the
    /// condition from below.
    fn check_condition(&mut self, values: &[f64]) -> Result<(), SingularMatrix> {
        let mut probe = std::mem::take(&mut self.probe);
        for (i, entry) in probe.iter_mut().enumerate() {
            let positive = (i * i / 3) % 2 == 0; // without a period that a pattern might share
            *entry = if positive { 1.0 } else { -1.0 };
        }

        self.solve(&mut probe);
        let growth = largest_magnitude(&probe) * largest_magnitude(values);
        self.probe = probe;

        if growth * SINGULAR < 1.0 {
            Ok(())
        } else {
            Err(SingularMatrix)
        }
    }

    fn solve(&mut self, right: &mut [f64]) {
        let rows = right.len();
        let factors = LuRef::new_unchecked(&self.symbolic, &self.numeric);
        let right = MatMut::from_column_major_slice_mut(right, rows, 1);

        factors.solve_in_place_with_conj(
            Conj::No,
            right,
            Par::Seq,
            MemStack::new(&mut self.memory),
        );
    }
}

/// The largest magnitude; infinite if a number is NaN.
fn largest_magnitude(numbers: &[f64]) -> f64 {
    let mut largest: f64 = 0.0;
    for number in numbers {
        largest = if number.is_nan() {
            f64::INFINITY
        } else {
            largest.max(number.abs())
        };
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cyclic band matrix and its residual after a solve.
    fn residual(size: usize) -> f64 {
        let entries: Vec<(usize, usize)> = (0..size)
            .flat_map(|i| [(i, i), (i, (i + 1) % size), ((i + 5) % size, i)])
            .collect();
        let mut matrix = PatternLu::new(size, entries.clone());
        for round in 0..2 {
            for (k, value) in matrix.values_mut().iter_mut().enumerate() {
                *value = if k % 3 == 0 {
                    3.0 + round as f64
                } else {
                    (k as f64).sin()
                };
            }
            matrix.factor().unwrap();
        }
        let right: Vec<f64> = (0..size).map(|i| (i as f64).cos()).collect();
        let mut x = right.clone();
        matrix.solve(&mut x);
        let mut rest = right;
        let values = matrix.values_mut().to_vec();
        entries
            .iter()
            .zip(values)
            .for_each(|(&(row, column), value)| rest[row] -= value * x[column]);
        rest.iter().fold(0.0, |most: f64, r| most.max(r.abs()))
    }

    #[test]
    fn small_and_large_systems_are_solved() {
        for size in [7, 60, 61, 500, 5000] {
            assert!(residual(size) < 1e-12, "{size}: {:e}", residual(size));
        }
    }

    #[test]
    fn units_do_not_make_a_matrix_singular() {
        let mut matrix = PatternLu::new(2, vec![(0, 0), (0, 1), (1, 0), (1, 1)]);
        matrix
            .values_mut()
            .copy_from_slice(&[1.0, 1e-12, -3e11, 1e-1]);
        matrix.factor().unwrap();
        let mut x = [3.0, -1e11];
        matrix.solve(&mut x);
        assert!(
            (x[0] - 1.0).abs() < 1e-15 && (x[1] - 2e12).abs() < 1e-3,
            "{x:?}"
        );
    }

    #[test]
    fn a_chain_of_large_gains_is_not_singular() {
        let size = 4;
        let below = (1..size).map(|i| (i, i - 1));
        let entries: Vec<(usize, usize)> = (0..size).map(|i| (i, i)).chain(below).collect();
        let mut matrix = PatternLu::new(size, entries);
        matrix.values_mut()[..size].fill(1.0);
        matrix.values_mut()[size..].fill(-1e7);
        matrix.factor().unwrap();
        let mut x = [1.0, 0.0, 0.0, 0.0];
        matrix.solve(&mut x);
        for (power, x) in x.iter().enumerate() {
            let exact = 1e7f64.powi(power as i32);
            assert!((x - exact).abs() < 1e-12 * exact, "{power}: {x}");
        }
    }

    #[test]
    fn a_singular_matrix_is_told() {
        let mut matrix = PatternLu::new(2, vec![(0, 0), (0, 1), (1, 0), (1, 1)]);
        matrix.values_mut().fill(1.0);
        assert_eq!(matrix.factor(), Err(SingularMatrix));
        let size = 100;
        let entries: Vec<(usize, usize)> = (0..size)
            .flat_map(|i| [(i, i), (i, (i + 1) % size)])
            .collect();
        let mut matrix = PatternLu::new(size, entries);
        matrix
            .values_mut()
            .chunks_mut(2)
            .for_each(|pair| pair.copy_from_slice(&[1.0, -1.0]));
        assert_eq!(
            matrix.factor(),
            Err(SingularMatrix),
            "a ring of differences does not see a constant"
        );
    }
}
