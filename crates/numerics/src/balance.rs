//! Diagonal balancing: `D⁻¹ Z D` with rows and columns of like size, `D` made of powers of two.
//!
//! A state space in mixed units (meters and gigapascals) has a norm far above its eigenvalues, and
//! functions of a matrix lose digits in proportion. Scaling by powers of two is exact. References:
//! Parlett & Reinsch (1969); James, Langou & Lowery (2014) for the 2-norm, which spares matrices
//! that balancing would harm.

use nalgebra::DMatrix;

/// Beyond this the scaling itself could overflow when it is undone.
const LARGEST_SCALE: f64 = 1e150;

const LARGEST_NUMBER_OF_SWEEPS: usize = 100;

/// Replaces `matrix` by `D⁻¹ matrix D` and stores the diagonal of `D` in `scales`.
pub(crate) fn balance(matrix: &mut DMatrix<f64>, scales: &mut [f64]) {
    scales.fill(1.0);
    for _ in 0..LARGEST_NUMBER_OF_SWEEPS {
        let mut balanced = true;
        for (k, current) in scales.iter_mut().enumerate() {
            let factor = balancing_factor(matrix, k);
            let scale = *current * factor;
            if factor != 1.0 && (1.0 / LARGEST_SCALE..LARGEST_SCALE).contains(&scale) {
                rescale(matrix, k, factor);
                *current = scale;
                balanced = false;
            }
        }
        if balanced {
            break;
        }
    }
}

/// Multiplies column `k` by `factor` and divides row `k` by it.
fn rescale(matrix: &mut DMatrix<f64>, k: usize, factor: f64) {
    for entry in matrix.column_mut(k).iter_mut() {
        *entry *= factor;
    }
    for entry in matrix.row_mut(k).iter_mut() {
        *entry /= factor;
    }
}

/// Replaces `matrix` by `D matrix D⁻¹`.
pub(crate) fn undo(matrix: &mut DMatrix<f64>, scales: &[f64]) {
    let columns = matrix.as_mut_slice().chunks_exact_mut(scales.len().max(1));
    for (column, column_scale) in columns.zip(scales) {
        for (entry, row_scale) in column.iter_mut().zip(scales) {
            *entry *= row_scale / column_scale;
        }
    }
}

/// The power of two that brings row and column `k` together; 1 where it would gain less than 5 %.
fn balancing_factor(matrix: &DMatrix<f64>, k: usize) -> f64 {
    let column = matrix.column(k).norm();
    let row = matrix.row(k).norm();
    let ratio = row / column;
    // Within these bounds the nearest power of two is one.
    if !(ratio > 0.0 && ratio.is_finite()) || (0.5 < ratio && ratio < 2.0) {
        return 1.0;
    }

    let factor = (0.5 * ratio.log2()).round().exp2();
    let before = column.hypot(row);
    let after = (column * factor).hypot(row / factor);

    if after < 0.95 * before { factor } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balancing_shrinks_a_badly_scaled_oscillator_and_is_undone_exactly() {
        let original = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -1e10, -1.0]);
        let mut matrix = original.clone();
        let mut scales = [0.0; 2];
        balance(&mut matrix, &mut scales);
        assert!(matrix.amax() < 2e5, "{matrix}");
        undo(&mut matrix, &scales);
        assert_eq!(matrix, original);
    }

    #[test]
    fn triangular_zero_and_non_finite_matrices_end() {
        for entries in [
            [1.0, 1e9, 0.0, 2.0],
            [0.0; 4],
            [0.0, 1.0, 0.0, 0.0],
            [f64::NAN, 1.0, f64::INFINITY, 2.0],
        ] {
            let mut matrix = DMatrix::from_row_slice(2, 2, &entries);
            balance(&mut matrix, &mut [0.0; 2]);
        }
    }
}
