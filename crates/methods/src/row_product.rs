//! A row of a matrix times a vector.

use nalgebra::DMatrix;

/// `Σ_j matrix[row, j] · vector[j]`.
pub(crate) fn row_product(matrix: &DMatrix<f64>, row: usize, vector: &[f64]) -> f64 {
    let entries = vector.iter().enumerate();
    entries.map(|(j, entry)| matrix[(row, j)] * entry).sum()
}
