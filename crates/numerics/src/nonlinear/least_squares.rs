//! Least squares by modified Gram–Schmidt, each column orthogonalized twice.
//!
//! Columns enter one by one, the most trusted first; one that depends on those before it is left
//! out. With so few unknowns a fresh factorization costs nothing beside an evaluation, and it never
//! loses orthogonality as updated ones do. Reference: Björck (1996), *Numerical Methods for Least
//! Squares Problems*, section 2.4.

use super::vector::{add_scaled, length, remove_component, set_quotient};
use crate::columns::Columns;

/// A column is dependent when less than this of it is new: half the digits, as the data are
/// differences.
const DEPENDENT: f64 = 1e-8;

/// The factorization `A = Q R` of the columns kept.
#[derive(Clone, Debug)]
pub(super) struct LeastSquares {
    capacity: usize,
    kept: usize,
    /// The columns of `Q`.
    orthonormal: Columns,
    /// The columns of `R`.
    triangle: Columns,
}

impl LeastSquares {
    /// For vectors of `rows` entries and up to `columns` of them; more than `rows` are never
    /// independent.
    pub fn new(rows: usize, columns: usize) -> Self {
        let capacity = columns.min(rows);
        Self {
            capacity,
            kept: 0,
            orthonormal: Columns::zeros(rows, capacity),
            triangle: Columns::zeros(capacity, capacity),
        }
    }

    pub fn clear(&mut self) {
        self.kept = 0;
    }

    pub fn is_full(&self) -> bool {
        self.kept == self.capacity
    }

    /// Adds `column`, which is overwritten; false if it is finite and new in no direction.
    pub fn push(&mut self, column: &mut [f64]) -> bool {
        let before = length(column);
        let usable = before.is_finite() && before > 0.0;
        if self.is_full() || !usable {
            return false;
        }

        self.triangle.column_mut(self.kept).fill(0.0);
        // Twice, as one round of Gram–Schmidt loses digits.
        self.orthogonalize(column);
        self.orthogonalize(column);
        let after = length(column);
        if after <= DEPENDENT * before {
            return false;
        }

        self.triangle.column_mut(self.kept)[self.kept] = after;
        set_quotient(self.orthonormal.column_mut(self.kept), column, after);
        self.kept += 1;

        true
    }

    /// Removes from `column` its components along the columns kept and adds them to its own of `R`.
    fn orthogonalize(&mut self, column: &mut [f64]) {
        let components = self.triangle.column_mut(self.kept);
        for (k, component) in components[..self.kept].iter_mut().enumerate() {
            *component += remove_component(column, self.orthonormal.column(k));
        }
    }

    /// Writes the coefficients of the columns kept that come closest to `target`; `target` becomes
    /// what is left.
    pub fn solve(&self, target: &mut [f64], coefficients: &mut [f64]) {
        let coefficients = &mut coefficients[..self.kept];
        for (k, coefficient) in coefficients.iter_mut().enumerate() {
            *coefficient = remove_component(target, self.orthonormal.column(k));
        }
        self.solve_triangle(coefficients);
    }

    /// `R⁻¹ coefficients`, in place.
    fn solve_triangle(&self, coefficients: &mut [f64]) {
        for k in (0..self.kept).rev() {
            let column = self.triangle.column(k);
            let known = coefficients[k] / column[k];
            coefficients[k] = known;
            add_scaled(&mut coefficients[..k], -known, &column[..k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_combination_is_found_and_its_remainder_left() {
        let mut fit = LeastSquares::new(3, 5);
        assert!(fit.push(&mut [1.0, 1.0, 0.0]));
        assert!(fit.push(&mut [0.0, 1.0, 0.0]));
        let mut target = [2.0, 5.0, 7.0];
        let mut coefficients = [0.0; 3];
        fit.solve(&mut target, &mut coefficients);
        assert!((coefficients[0] - 2.0).abs() < 1e-14 && (coefficients[1] - 3.0).abs() < 1e-14);
        assert!(target[0].abs() < 1e-14 && target[1].abs() < 1e-14 && target[2] == 7.0);
    }

    #[test]
    fn dependent_zero_and_surplus_columns_are_left_out() {
        let mut fit = LeastSquares::new(2, 5);
        assert!(!fit.push(&mut [0.0, 0.0]));
        assert!(fit.push(&mut [1.0, 2.0]));
        assert!(!fit.push(&mut [2.0, 4.0]));
        assert!(!fit.push(&mut [f64::NAN, 4.0]));
        assert!(fit.push(&mut [0.0, 1.0]));
        assert!(!fit.push(&mut [3.0, 1.0]));
    }

    #[test]
    fn nearly_parallel_columns_lose_no_digits_of_the_remainder() {
        let mut fit = LeastSquares::new(3, 3);
        assert!(fit.push(&mut [1.0, 1e-6, 0.0]));
        assert!(fit.push(&mut [1.0, 0.0, 1e-6]));
        let mut target = [2.0, 1e-6, 1e-6];
        let mut coefficients = [0.0; 3];
        fit.solve(&mut target, &mut coefficients);
        assert!(target.iter().all(|left| left.abs() < 1e-15), "{target:?}");
        assert!((coefficients[0] - 1.0).abs() < 1e-8 && (coefficients[1] - 1.0).abs() < 1e-8);
    }
}
