//! A square system of equations with a fixed pattern, solved again and again.
//!
//! Small systems are factored densely, in place. Large ones by sparse LU (faer): the ordering and
//! symbolic factorization are made once, for the pattern, and the factors keep their memory. One
//! thread, so that results never depend on their number. Rows and columns are scaled to a largest
//! entry of one, or about: unknowns may have different units.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
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
///
/// Positions are 32-bit numbers: in large models, memory is what takes time.
pub struct PatternLu {
    pattern: Pattern,
    values: Vec<f64>,
    solver: Solver,
    /// The values after scaling, and the scales of rows and columns.
    scaled: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

/// Where the entries are: column by column, in each by rows.
struct Pattern {
    symbolic: SymbolicSparseColMat<u32>,
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
    symbolic: SymbolicLu<u32>,
    numeric: NumericLu<u32, f64>,
    /// Scratch for a factorization or a solution.
    memory: MemBuffer,
    probe: Vec<f64>,
}

/// The matrix has no inverse, or none to working precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular")]
pub struct SingularMatrix;

impl PatternLu {
    /// A matrix of `size` unknowns that is zero but for these places (row, column), which may
    /// coincide, and for each place the position of its value.
    pub fn new(size: usize, places: &[(u32, u32)]) -> (Self, Vec<u32>) {
        let (pattern, slots) = Pattern::new(size, places);
        let zeros = vec![0.0; pattern.entries()];
        let solver = if size <= MOST_DENSE {
            Solver::Dense(Box::new(Dense::new(size)))
        } else {
            Solver::Sparse(Box::new(Sparse::new(size, &pattern)))
        };
        let matrix = Self {
            values: zeros.clone(),
            scaled: zeros,
            rows: vec![1.0; size],
            columns: vec![1.0; size],
            pattern,
            solver,
        };
        (matrix, slots)
    }

    /// How many entries may differ from zero.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// The values of the entries.
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
            Solver::Dense(dense) => dense.factor(&self.pattern, &self.scaled),
            Solver::Sparse(sparse) => sparse.factor(&self.pattern, &self.scaled),
        }
    }

    /// `D⁻¹ M D`, so that off the diagonal the largest entries of a row and of its column are alike
    /// (Osborne); the diagonal of D.
    fn balance(&mut self) -> Vec<f64> {
        let size = self.rows.len();
        let mut balance = vec![1.0; size];
        let lines = Lines::of(&self.pattern, size);

        for _ in 0..BALANCING_ROUNDS {
            for (line, balance) in balance.iter_mut().enumerate() {
                let row = self.largest_at(lines.in_row(line));
                let column = self.largest_at(lines.in_column(line));
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
                for &entry in lines.in_row(line) {
                    self.scaled[entry as usize] /= factor;
                }
                for &entry in lines.in_column(line) {
                    self.scaled[entry as usize] *= factor;
                }
            }
        }
        balance
    }

    /// The largest magnitude among these entries.
    fn largest_at(&self, entries: &[u32]) -> f64 {
        let values = entries.iter().map(|&entry| self.scaled[entry as usize]);
        values.fold(0.0, |largest: f64, value| largest.max(value.abs()))
    }

    /// Rows by their largest entries, then columns by theirs.
    fn scale(&mut self) -> Result<(), SingularMatrix> {
        let rows = self.pattern.places().map(|(row, _)| row);
        scale_lines(rows, &mut self.scaled, &mut self.rows)?;
        let columns = self.pattern.places().map(|(_, column)| column);
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

impl Pattern {
    /// The pattern of these places, and for each of them its position among the entries.
    fn new(size: usize, places: &[(u32, u32)]) -> (Self, Vec<u32>) {
        let by_column = |&(row, column): &(u32, u32)| (column, row);
        let mut entries: Vec<(u32, u32)> = places.iter().map(by_column).collect();
        entries.sort_unstable();
        entries.dedup();

        let position = |place| entries.binary_search(&by_column(place));
        let slots = places.iter().map(|place| {
            let slot = position(place).expect("BUG: a place that was not listed");
            slot as u32
        });
        let slots = slots.collect();
        let mut starts = vec![0; size + 1];
        for &(column, _) in &entries {
            starts[column as usize + 1] += 1;
        }
        for column in 0..size {
            starts[column + 1] += starts[column];
        }
        let rows = entries.iter().map(|&(_, row)| row).collect();
        let symbolic = SymbolicSparseColMat::new_checked(size, size, starts, None, rows);

        (Self { symbolic }, slots)
    }

    fn entries(&self) -> usize {
        self.symbolic.row_idx().len()
    }

    /// Row and column of each entry, in order.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        let starts = self.symbolic.col_ptr();
        let rows = self.symbolic.row_idx();
        let columns = 0..starts.len() - 1;
        columns.flat_map(move |column| {
            let entries = starts[column] as usize..starts[column + 1] as usize;
            rows[entries].iter().map(move |&row| (row as usize, column))
        })
    }
}

/// The entries of each row and of each column, the diagonal apart.
struct Lines {
    entries: [Vec<u32>; 2],
    starts: [Vec<usize>; 2],
}

impl Lines {
    fn of(pattern: &Pattern, size: usize) -> Self {
        let off_diagonal = || {
            let places = pattern.places().zip(0u32..);
            places.filter(|((row, column), _)| row != column)
        };
        let grouped = |line: fn((usize, usize)) -> usize| {
            let mut starts = vec![0; size + 1];
            for (place, _) in off_diagonal() {
                starts[line(place) + 1] += 1;
            }
            for i in 0..size {
                starts[i + 1] += starts[i];
            }
            let mut next = starts.clone();
            let mut entries = vec![0; starts[size]];
            for (place, entry) in off_diagonal() {
                entries[next[line(place)]] = entry;
                next[line(place)] += 1;
            }
            (entries, starts)
        };
        let (rows, row_starts) = grouped(|(row, _)| row);
        let (columns, column_starts) = grouped(|(_, column)| column);

        Self {
            entries: [rows, columns],
            starts: [row_starts, column_starts],
        }
    }

    fn in_row(&self, row: usize) -> &[u32] {
        &self.entries[0][self.starts[0][row]..self.starts[0][row + 1]]
    }

    fn in_column(&self, column: usize) -> &[u32] {
        &self.entries[1][self.starts[1][column]..self.starts[1][column + 1]]
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

    fn factor(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), SingularMatrix> {
        if self.matrix.is_empty() {
            return Ok(());
        }

        self.matrix.fill(0.0);
        for (entry, &value) in pattern.places().zip(values) {
            self.matrix[entry] = value;
        }

        let factored = self.lu.factor(&self.matrix).is_ok();
        let regular = factored && self.lu.rcond() > SINGULAR;
        if regular { Ok(()) } else { Err(SingularMatrix) }
    }
}

impl Sparse {
    fn new(size: usize, pattern: &Pattern) -> Self {
        let symbolic = factorize_symbolic_lu(pattern.symbolic.as_ref(), Default::default())
            .expect("BUG: a pattern that can be ordered");
        let factoring = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let solving = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let memory = MemBuffer::new(factoring.or(solving));

        Self {
            symbolic,
            numeric: NumericLu::new(),
            memory,
            probe: vec![0.0; size],
        }
    }

    fn factor(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), SingularMatrix> {
        let matrix = SparseColMatRef::new(pattern.symbolic.as_ref(), values);
        let factored = self.symbolic.factorize_numeric_lu(
            &mut self.numeric,
            matrix,
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
        let entries: Vec<(u32, u32)> = (0..size)
            .flat_map(|i| [(i, i), (i, (i + 1) % size), ((i + 5) % size, i)])
            .map(|(row, column)| (row as u32, column as u32))
            .collect();
        let (mut matrix, slots) = PatternLu::new(size, &entries);
        for round in 0..2 {
            for (k, slot) in slots.iter().enumerate() {
                matrix.values_mut()[*slot as usize] = if k % 3 == 0 {
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
            .zip(slots)
            .for_each(|(&(row, column), slot)| {
                rest[row as usize] -= values[slot as usize] * x[column as usize];
            });
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
        let (mut matrix, _) = PatternLu::new(2, &[(0, 0), (0, 1), (1, 0), (1, 1)]);
        matrix
            .values_mut()
            .copy_from_slice(&[1.0, -3e11, 1e-12, 1e-1]);
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
        let entries: Vec<(u32, u32)> = (0..size).map(|i| (i, i)).chain(below).collect();
        let (mut matrix, slots) = PatternLu::new(size as usize, &entries);
        for (&(row, column), &slot) in entries.iter().zip(&slots) {
            matrix.values_mut()[slot as usize] = if row == column { 1.0 } else { -1e7 };
        }
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
        let (mut matrix, _) = PatternLu::new(2, &[(0, 0), (0, 1), (1, 0), (1, 1)]);
        matrix.values_mut().fill(1.0);
        assert_eq!(matrix.factor(), Err(SingularMatrix));
        let size = 100;
        let entries: Vec<(u32, u32)> = (0..size)
            .flat_map(|i| [(i, i), (i, (i + 1) % size)])
            .collect();
        let (mut matrix, slots) = PatternLu::new(size as usize, &entries);
        for pair in slots.chunks(2) {
            matrix.values_mut()[pair[0] as usize] = 1.0;
            matrix.values_mut()[pair[1] as usize] = -1.0;
        }
        assert_eq!(
            matrix.factor(),
            Err(SingularMatrix),
            "a ring of differences does not see a constant"
        );
    }
}
