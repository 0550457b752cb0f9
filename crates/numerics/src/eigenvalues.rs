//! Eigenvalues of a general real matrix.

use faer::Mat;
use nalgebra::{Complex, DMatrix};

use crate::balance::balance;

/// The eigenvalues of a square matrix, sorted by their real parts, then by their imaginary parts;
/// none where an entry is not finite or the iteration does not converge.
///
/// The matrix is balanced first: in mixed units its norm, and with it the rounding error, may be
/// far above its eigenvalues.
pub fn eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let size = matrix.nrows();
    if matrix.iter().any(|entry| !entry.is_finite()) {
        return None;
    }
    if size == 0 {
        return Some(Vec::new());
    }

    let mut balanced = matrix.clone();
    balance(&mut balanced, &mut vec![1.0; size]);
    let dense = Mat::from_fn(size, size, |row, column| balanced[(row, column)]);
    let found = dense.eigenvalues().ok()?;
    let mut found: Vec<_> = found
        .iter()
        .map(|value| Complex::new(value.re, value.im))
        .collect();
    found.sort_by(|a, b| a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im)));

    let finite = |value: &Complex<f64>| value.re.is_finite() && value.im.is_finite();
    found.iter().all(finite).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oscillator_in_mixed_units_has_its_pair() {
        let matrix = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -1e10, -1.0]);
        let found = eigenvalues(&matrix).unwrap();
        let frequency = (1e10_f64 - 0.25).sqrt();
        for (value, sign) in found.iter().zip([-1.0, 1.0]) {
            assert!((value.re + 0.5).abs() < 1e-9, "{value}");
            assert!((value.im - sign * frequency).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn nothing_has_none_and_no_number_is_refused() {
        assert_eq!(eigenvalues(&DMatrix::zeros(0, 0)), Some(vec![]));
        let nan = DMatrix::from_element(2, 2, f64::NAN);
        assert_eq!(eigenvalues(&nan), None);
    }

    #[test]
    fn a_defective_matrix_has_its_eigenvalue_twice() {
        let matrix = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 0.0, 2.0]);
        let found = eigenvalues(&matrix).unwrap();
        assert!(
            found
                .iter()
                .all(|value| (value - Complex::new(2.0, 0.0)).norm() < 1e-7)
        );
    }
}
