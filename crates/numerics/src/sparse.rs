//! A square system of equations with a fixed pattern, solved again and again.
//!
//! Small systems are factored densely, in place. Large ones by sparse LU (faer): the ordering and symbolic factorisation are made
//! once, for the pattern, and the factors keep their memory. One thread, so that results never depend on their number.
//! Rows and columns are scaled to a largest entry of one, or about: unknowns may have different units.

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

/// A matrix of fixed pattern, and its factors.
pub struct PatternLu {
    size: usize,
    values: Vec<f64>,
    entries: Vec<(usize, usize)>,
    solver: Solver,
    /// The values after scaling, and the scales of rows and columns.
    scaled: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

enum Solver {
    Dense(Box<(DMatrix<f64>, Lu<f64>)>),
    Sparse(Box<Sparse>),
}

struct Sparse {
    matrix: SparseColMat<usize, f64>,
    /// For each entry its place among the matrix's values.
    places: Vec<usize>,
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
    /// Room for a factorisation or a solution.
    memory: MemBuffer,
    probe: Vec<f64>,
}

/// The matrix has no inverse, or none that numbers can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular")]
pub struct SingularPattern;

impl PatternLu {
    /// A matrix of `size` unknowns with these entries (row, column), each listed once; all zero.
    pub fn new(size: usize, entries: Vec<(usize, usize)>) -> Self {
        let solver = if size <= MOST_DENSE {
            Solver::Dense(Box::new((DMatrix::zeros(size, size), Lu::new(size))))
        } else {
            Solver::Sparse(Box::new(Sparse::new(size, &entries)))
        };
        let zeros = vec![0.0; entries.len()];
        Self {
            size,
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
    pub fn factor(&mut self) -> Result<(), SingularPattern> {
        self.scale()?;
        match &mut self.solver {
            Solver::Dense(dense) => {
                let (matrix, lu) = dense.as_mut();
                matrix.fill(0.0);
                self.entries
                    .iter()
                    .zip(&self.scaled)
                    .for_each(|(&place, &value)| matrix[place] = value);
                let factored =
                    self.size == 0 || (lu.factor(matrix).is_ok() && lu.rcond() > SINGULAR);
                if factored {
                    Ok(())
                } else {
                    Err(SingularPattern)
                }
            }
            Solver::Sparse(sparse) => sparse.factor(&self.scaled),
        }
    }

    /// Rows by their largest entries, then columns by theirs; scales are powers of two, which round nothing.
    fn scale(&mut self) -> Result<(), SingularPattern> {
        self.scaled.copy_from_slice(&self.values);
        for (by_row, scales) in [(true, &mut self.rows), (false, &mut self.columns)] {
            let line = |&(row, column): &(usize, usize)| if by_row { row } else { column };
            scales.fill(0.0);
            for (entry, value) in self.entries.iter().zip(&self.scaled) {
                let largest = &mut scales[line(entry)];
                *largest = if value.is_finite() {
                    largest.max(value.abs())
                } else {
                    f64::INFINITY
                };
            }
            if !scales
                .iter()
                .all(|&largest| largest > 0.0 && largest.is_finite())
            {
                return Err(SingularPattern);
            }
            scales
                .iter_mut()
                .for_each(|scale| *scale = (-scale.log2().round()).exp2());
            self.entries
                .iter()
                .zip(&mut self.scaled)
                .for_each(|(entry, value)| *value *= scales[line(entry)]);
        }
        Ok(())
    }

    /// Solves with the factors, in place.
    pub fn solve(&mut self, right: &mut [f64]) {
        right
            .iter_mut()
            .zip(&self.rows)
            .for_each(|(value, scale)| *value *= scale);
        match &mut self.solver {
            Solver::Dense(dense) => dense.1.solve_in_place(right),
            Solver::Sparse(sparse) => sparse.solve(right),
        }
        right
            .iter_mut()
            .zip(&self.columns)
            .for_each(|(value, scale)| *value *= scale);
    }
}

impl Sparse {
    fn new(size: usize, entries: &[(usize, usize)]) -> Self {
        // The index of each entry as its value tells where the matrix has put it.
        let numbered = entries
            .iter()
            .enumerate()
            .map(|(k, &(row, column))| Triplet::new(row, column, k as f64));
        let numbered: Vec<_> = numbered.collect();
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, &numbered)
            .expect("BUG: entries within the matrix, each once");
        let mut places = vec![0; entries.len()];
        matrix
            .val()
            .iter()
            .enumerate()
            .for_each(|(place, &entry)| places[entry as usize] = place);
        let symbolic = factorize_symbolic_lu(matrix.symbolic(), Default::default())
            .expect("BUG: a pattern that can be ordered");
        let factoring = symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
        let solving = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let memory = MemBuffer::new(factoring.or(solving));
        Self {
            matrix,
            places,
            symbolic,
            numeric: NumericLu::new(),
            memory,
            probe: vec![0.0; size],
        }
    }

    fn factor(&mut self, values: &[f64]) -> Result<(), SingularPattern> {
        let stored = self.matrix.val_mut();
        self.places
            .iter()
            .zip(values)
            .for_each(|(&place, &value)| stored[place] = value);
        let stack = MemStack::new(&mut self.memory);
        self.symbolic
            .factorize_numeric_lu(
                &mut self.numeric,
                self.matrix.as_ref(),
                Par::Seq,
                stack,
                Default::default(),
            )
            .map_err(|_| SingularPattern)?;
        self.check_condition(values)
    }

    /// A solution that is out of all proportion tells a singular matrix: `‖M‖ ‖M⁻¹ b‖ / ‖b‖` bounds the condition from below.
    fn check_condition(&mut self, values: &[f64]) -> Result<(), SingularPattern> {
        let mut probe = std::mem::take(&mut self.probe);
        probe
            .iter_mut()
            .enumerate()
            .for_each(|(i, b)| *b = if (i * i / 3) % 2 == 0 { 1.0 } else { -1.0 });
        self.solve(&mut probe);
        let most = |most: f64, v: &f64| {
            if v.is_nan() {
                f64::INFINITY
            } else {
                most.max(v.abs())
            }
        };
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0, most);
        let growth = largest(&probe) * largest(values);
        self.probe = probe;
        if growth * SINGULAR < 1.0 {
            Ok(())
        } else {
            Err(SingularPattern)
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
    fn a_singular_matrix_is_told() {
        let mut matrix = PatternLu::new(2, vec![(0, 0), (0, 1), (1, 0), (1, 1)]);
        matrix.values_mut().fill(1.0);
        assert_eq!(matrix.factor(), Err(SingularPattern));
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
            Err(SingularPattern),
            "a ring of differences does not see a constant"
        );
    }
}
