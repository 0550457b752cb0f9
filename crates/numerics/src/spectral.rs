//! A cheap bound on the size of eigenvalues.

use nalgebra::DMatrix;

use crate::product::{multiply, one_norm};

/// A bound on the spectral radius: the lesser of `‖J‖₁` and `‖J²‖₁^{1/2}`.
///
/// The square matters for oscillators in mixed units, where `‖J‖` can be the square of the
/// eigenvalues.
pub fn spectral_bound(matrix: &DMatrix<f64>, square: &mut DMatrix<f64>) -> f64 {
    multiply(matrix, matrix, square);
    one_norm(square).sqrt().min(one_norm(matrix))
}

/// The relative rounding error to expect of the exponential of `matrix · δ` by scaling and
/// squaring, for δ = 1: every squaring doubles what the first approximation has lost. Beyond a
/// tolerance, a stiff integrator is the better choice. `square` is scratch, a matrix of the same
/// size.
pub fn exponential_rounding(matrix: &DMatrix<f64>, square: &mut DMatrix<f64>) -> f64 {
    10.0 * f64::EPSILON * spectral_bound(matrix, square)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badly_scaled_oscillator_is_bounded_near_its_frequency() {
        let matrix = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -1e10, -1.0]);
        let bound = spectral_bound(&matrix, &mut DMatrix::zeros(2, 2));
        assert!((1e5..1.5e5).contains(&bound));
    }
}
