//! LU factorization with partial pivoting, in place and without allocation.
//!
//! Right-looking and column-oriented, so that the inner loop runs along contiguous columns; meant
//! for sizes of 1 to 200. Reference: Golub & Van Loan, *Matrix Computations*, algorithm 3.4.1; the
//! condition estimate is Hager's in the form of Higham (1988), *FORTRAN codes for estimating the
//! one-norm*.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use nalgebra::{Complex, DMatrix};

/// The numbers a factorization works on: `f64` and `Complex<f64>`.
pub trait Scalar:
    nalgebra::Scalar
    + Copy
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The absolute value.
    fn magnitude(self) -> f64;

    /// A cheap stand-in for the absolute value, within a factor √2 of it, to choose pivots by.
    fn pivot_size(self) -> f64;

    /// The complex conjugate; a real number is its own.
    fn conjugate(self) -> Self;
}

impl Scalar for f64 {
    fn magnitude(self) -> f64 {
        self.abs()
    }

    fn pivot_size(self) -> f64 {
        self.abs()
    }

    fn conjugate(self) -> Self {
        self
    }
}

impl Scalar for Complex<f64> {
    fn magnitude(self) -> f64 {
        self.re.hypot(self.im)
    }

    fn pivot_size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }

    fn conjugate(self) -> Self {
        self.conj()
    }
}

/// The matrix has no inverse: elimination met no usable pivot (zero or not finite) in `column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular: no pivot in column {column}")]
pub struct Singular {
    /// The column, counted from zero, where elimination stopped.
    pub column: usize,
}

/// More steps of the condition estimate hardly ever find more. Higham (1988).
const MOST_ASCENTS: usize = 5;

/// A factorization `P A = L U` and the workspace it lives in.
#[derive(Clone, Debug)]
pub struct Lu<T: Scalar> {
    factors: DMatrix<T>,
    /// Row exchanged with row `k` at elimination step `k`.
    exchanges: Vec<usize>,
    norm: f64,
    estimate: Vec<T>,
}

impl<T: Scalar> Lu<T> {
    /// Allocates the workspace for matrices of `size` rows; holds the factors of the identity.
    pub fn new(size: usize) -> Self {
        let identity = |row, column| T::from(if row == column { 1.0 } else { 0.0 });
        Self {
            factors: DMatrix::from_fn(size, size, identity),
            exchanges: (0..size).collect(),
            norm: 1.0,
            estimate: vec![T::from(0.0); size],
        }
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.exchanges.len()
    }

    /// Factors `matrix`; after an error the factors are unusable until the next success.
    pub fn factor(&mut self, matrix: &DMatrix<T>) -> Result<(), Singular> {
        self.factors.copy_from(matrix);
        self.eliminate()
    }

    /// Factors `shift · I − matrix`, the resolvent that implicit integrators solve with.
    pub fn factor_shifted(&mut self, shift: T, matrix: &DMatrix<f64>) -> Result<(), Singular> {
        for (factor, &entry) in self.factors.iter_mut().zip(matrix.iter()) {
            *factor = T::from(-entry);
        }

        for k in 0..self.size() {
            self.factors[(k, k)] += shift;
        }
        self.eliminate()
    }

    /// Overwrites `rhs` with the solution of `A x = rhs`.
    pub fn solve_in_place(&self, rhs: &mut [T]) {
        solve(&self.factors, &self.exchanges, rhs);
    }

    /// Estimates `1 / (‖A‖₁ ‖A⁻¹‖₁)`: near 1 is well conditioned, near 1e-16 is hopeless.
    ///
    /// The estimate of `‖A⁻¹‖₁` is a lower bound, nearly always within a factor 3 of the truth.
    pub fn rcond(&mut self) -> f64 {
        if self.size() == 0 {
            return 1.0;
        }

        let inverse_norm = self.inverse_norm();
        let product = self.norm * inverse_norm;

        if product.is_finite() && product > 0.0 {
            1.0 / product
        } else {
            0.0
        }
    }

    fn eliminate(&mut self) -> Result<(), Singular> {
        let size = self.size();
        self.norm = one_norm(&self.factors);
        let factors = self.factors.as_mut_slice();

        for k in 0..size {
            let diagonal = k * size + k;
            let next_column = (k + 1) * size;
            let offset =
                choose_pivot(&factors[diagonal..next_column]).ok_or(Singular { column: k })?;
            self.exchanges[k] = k + offset;
            exchange_rows(factors, size, k, k + offset);
            let (left, right) = factors.split_at_mut(next_column);
            let multipliers = scale_column(&mut left[diagonal..]);
            for column in right.chunks_exact_mut(size) {
                let head = column[k];
                subtract_multiple(&mut column[k + 1..], multipliers, head);
            }
        }
        Ok(())
    }

    /// Higham's refinement of Hager's algorithm: the largest `‖A⁻¹ x‖₁` that an ascent over the
    /// unit ball finds, or an alternating vector that defeats the known counterexamples.
    fn inverse_norm(&mut self) -> f64 {
        let best = self.ascend();
        let size = self.size() as f64;
        best.max(2.0 * self.norm_for_alternating() / (3.0 * size))
    }

    /// Hager's ascent of `‖A⁻¹ x‖₁`, from the mean of all unit vectors to ever better ones.
    fn ascend(&mut self) -> f64 {
        let mean = 1.0 / self.size() as f64;
        self.estimate.fill(T::from(mean));
        let mut best = self.norm_of_solution();

        for _ in 0..MOST_ASCENTS {
            self.move_to_steepest();
            let norm = self.norm_of_solution();
            if norm.is_nan() || norm <= best {
                break;
            }
            best = norm;
        }
        best
    }

    /// Replaces the estimate, a solution, by the unit vector along which its norm grows the most.
    fn move_to_steepest(&mut self) {
        let x = &mut self.estimate;
        x.iter_mut().for_each(|entry| *entry = sign(*entry));
        solve_adjoint(&self.factors, &self.exchanges, x);
        let steepest = index_of_largest(x);
        x.fill(T::from(0.0));

        x[steepest] = T::from(1.0);
    }

    fn norm_for_alternating(&mut self) -> f64 {
        let last = (self.size().max(2) - 1) as f64;
        for (k, entry) in self.estimate.iter_mut().enumerate() {
            let alternating = if k % 2 == 0 { 1.0 } else { -1.0 };
            *entry = T::from(alternating * (1.0 + k as f64 / last));
        }
        self.norm_of_solution()
    }

    /// Replaces the estimate `x` by `A⁻¹ x`; returns the norm of that.
    fn norm_of_solution(&mut self) -> f64 {
        solve(&self.factors, &self.exchanges, &mut self.estimate);
        sum_of_magnitudes(&self.estimate)
    }
}

/// The offset of the largest entry, if it can be divided by.
fn choose_pivot<T: Scalar>(column: &[T]) -> Option<usize> {
    let mut best = 0;
    let mut largest = column[0].pivot_size();

    for (offset, entry) in column.iter().enumerate().skip(1) {
        let size = entry.pivot_size();
        if size > largest {
            best = offset;
            largest = size;
        }
    }

    let usable = largest > 0.0 && largest.is_finite();
    usable.then_some(best)
}

fn exchange_rows<T: Scalar>(factors: &mut [T], size: usize, first: usize, second: usize) {
    if first != second {
        for column in factors.chunks_exact_mut(size) {
            column.swap(first, second);
        }
    }
}

/// Divides what follows the pivot by it; returns these multipliers.
fn scale_column<T: Scalar>(from_pivot: &mut [T]) -> &[T] {
    let (pivot, below) = from_pivot
        .split_first_mut()
        .expect("BUG: a pivot column is never empty");
    for entry in below.iter_mut() {
        *entry = *entry / *pivot;
    }
    below
}

fn subtract_multiple<T: Scalar>(target: &mut [T], source: &[T], multiple: T) {
    for (entry, &source) in target.iter_mut().zip(source) {
        *entry -= source * multiple;
    }
}

fn solve<T: Scalar>(factors: &DMatrix<T>, exchanges: &[usize], rhs: &mut [T]) {
    assert_eq!(
        rhs.len(),
        exchanges.len(),
        "BUG: the right-hand side has the wrong size"
    );
    for (k, &other) in exchanges.iter().enumerate() {
        rhs.swap(k, other);
    }

    for (k, column) in columns(factors) {
        let head = rhs[k];
        subtract_multiple(&mut rhs[k + 1..], &column[k + 1..], head);
    }
    for (k, column) in columns(factors).rev() {
        rhs[k] = rhs[k] / column[k];
        let head = rhs[k];
        subtract_multiple(&mut rhs[..k], &column[..k], head);
    }
}

/// Solves with the conjugate transpose: `Uᴴ`, then `Lᴴ`, then the exchanges undone.
fn solve_adjoint<T: Scalar>(factors: &DMatrix<T>, exchanges: &[usize], rhs: &mut [T]) {
    for (k, column) in columns(factors) {
        let known = conjugate_product(&column[..k], &rhs[..k]);
        rhs[k] = (rhs[k] - known) / column[k].conjugate();
    }

    for (k, column) in columns(factors).rev() {
        let known = conjugate_product(&column[k + 1..], &rhs[k + 1..]);
        rhs[k] -= known;
    }
    for (k, &other) in exchanges.iter().enumerate().rev() {
        rhs.swap(k, other);
    }
}

/// The columns of a square matrix, numbered.
fn columns<T: Scalar>(
    matrix: &DMatrix<T>,
) -> impl DoubleEndedIterator<Item = (usize, &[T])> + ExactSizeIterator {
    let rows = matrix.nrows().max(1);
    matrix.as_slice().chunks_exact(rows).enumerate()
}

fn conjugate_product<T: Scalar>(left: &[T], right: &[T]) -> T {
    let mut sum = T::from(0.0);
    for (&left, &right) in left.iter().zip(right) {
        sum += left.conjugate() * right;
    }
    sum
}

fn sign<T: Scalar>(number: T) -> T {
    let magnitude = number.magnitude();
    if magnitude > 0.0 {
        number / T::from(magnitude)
    } else {
        T::from(1.0)
    }
}

fn sum_of_magnitudes<T: Scalar>(vector: &[T]) -> f64 {
    vector.iter().map(|entry| entry.magnitude()).sum()
}

fn index_of_largest<T: Scalar>(vector: &[T]) -> usize {
    let mut best = 0;
    for (index, entry) in vector.iter().enumerate() {
        if entry.magnitude() > vector[best].magnitude() {
            best = index;
        }
    }
    best
}

/// The largest column sum of magnitudes; 0 for an empty matrix.
fn one_norm<T: Scalar>(matrix: &DMatrix<T>) -> f64 {
    let columns = matrix.as_slice().chunks_exact(matrix.nrows().max(1));
    columns.map(sum_of_magnitudes).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hilbert(size: usize) -> DMatrix<f64> {
        DMatrix::from_fn(size, size, |row, column| 1.0 / (row + column + 1) as f64)
    }

    #[test]
    fn a_zero_leading_entry_needs_an_exchange() {
        let matrix = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 2.0, 3.0]);
        let mut lu = Lu::new(2);
        lu.factor(&matrix).unwrap();
        let mut rhs = [1.0, 8.0];
        lu.solve_in_place(&mut rhs);
        assert_eq!(rhs, [2.5, 1.0]);
    }

    #[test]
    fn a_singular_matrix_names_its_column() {
        let matrix = DMatrix::from_row_slice(3, 3, &[1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0, 1.0]);
        let mut lu = Lu::new(3);
        assert_eq!(lu.factor(&matrix), Err(Singular { column: 1 }));
        assert_eq!(lu.factor(&(matrix * f64::NAN)), Err(Singular { column: 0 }));
    }

    #[test]
    fn a_complex_system_is_solved() {
        let i = Complex::new(0.0, 1.0);
        let one = Complex::new(1.0, 0.0);
        let matrix = DMatrix::from_row_slice(2, 2, &[i, one, one * 2.0, i * 3.0]);
        let exact = [Complex::new(1.0, -1.0), Complex::new(0.5, 2.0)];
        let mut rhs = [i * exact[0] + exact[1], exact[0] * 2.0 + i * 3.0 * exact[1]];
        let mut lu = Lu::new(2);
        lu.factor(&matrix).unwrap();
        lu.solve_in_place(&mut rhs);
        assert!((rhs[0] - exact[0]).norm() < 1e-15 && (rhs[1] - exact[1]).norm() < 1e-15);
    }

    #[test]
    fn the_condition_of_hilbert_matrices_is_estimated() {
        // ‖H‖₁ ‖H⁻¹‖₁ for n = 3 and 6 (Higham, Accuracy and Stability of Numerical Algorithms,
        // section 28.1).
        for (size, condition) in [(3, 748.0), (6, 2.907e7)] {
            let mut lu = Lu::new(size);
            lu.factor(&hilbert(size)).unwrap();
            let ratio = lu.rcond() * condition;
            assert!((0.99..3.0).contains(&ratio), "size {size}: {ratio}");
        }
    }

    #[test]
    fn an_empty_matrix_is_no_trouble() {
        let mut lu = Lu::<f64>::new(0);
        lu.factor(&DMatrix::zeros(0, 0)).unwrap();
        lu.solve_in_place(&mut []);
        assert_eq!(lu.rcond(), 1.0);
    }

    #[test]
    fn a_shifted_matrix_is_the_resolvent() {
        let matrix = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        let shift = Complex::new(0.5, 2.0);
        let mut lu = Lu::new(2);
        lu.factor_shifted(shift, &matrix).unwrap();
        let mut x = [Complex::new(1.0, 0.0), Complex::new(0.0, 1.0)];
        let rhs = x;
        lu.solve_in_place(&mut x);
        for row in 0..2 {
            let image = shift * x[row] - x[0] * matrix[(row, 0)] - x[1] * matrix[(row, 1)];
            assert!((image - rhs[row]).norm() < 1e-14);
        }
    }

    proptest! {
        #[test]
        fn the_residual_is_at_rounding_level(
            size in 1usize..40,
            seed in prop::collection::vec(-1.0f64..1.0, 1640),
        ) {
            let matrix = DMatrix::from_fn(size, size, |row, column| seed[row * 40 + column]);
            let rhs: Vec<f64> = seed[1600..1600 + size].to_vec();
            let mut lu = Lu::new(size);
            prop_assume!(lu.factor(&matrix).is_ok());
            let mut solution = rhs.clone();
            lu.solve_in_place(&mut solution);
            let solution_size = solution.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            for row in 0..size {
                let product = |column| matrix[(row, column)] * solution[column];
                let image: f64 = (0..size).map(product).sum();
                let bound = 1e-13 * (1.0 + size as f64 * solution_size);
                prop_assert!((image - rhs[row]).abs() < bound);
            }
        }

        #[test]
        fn the_condition_estimate_bounds_the_truth(
            size in 1usize..12,
            seed in prop::collection::vec(-1.0f64..1.0, 144),
        ) {
            let matrix = DMatrix::from_fn(size, size, |row, column| seed[row * 12 + column]);
            let Some(inverse) = matrix.clone().try_inverse() else { return Ok(()) };
            let mut lu = Lu::new(size);
            lu.factor(&matrix).unwrap();
            let exact = 1.0 / (one_norm(&matrix) * one_norm(&inverse));
            let ratio = lu.rcond() / exact;
            prop_assert!((0.999..10.0).contains(&ratio), "{ratio}");
        }
    }
}
