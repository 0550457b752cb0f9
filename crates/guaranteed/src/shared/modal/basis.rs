//! Bases in which a matrix falls into blocks, computed to nearest: guesses, which need no proof.

use faer::{Mat, MatRef};
use nalgebra::{DMatrix, Schur};
use std::ops::Range;

/// Above this size the iteration for Schur's form takes too long.
const MOST_STATES_IN_SCHUR_FORM: usize = 120;

/// The columns of a basis, and which of them belong together: one or two for each mode.
pub(super) struct Basis {
    pub columns: Mat<f64>,
    pub blocks: Vec<Range<usize>>,
}

/// The axes of the states: the best basis where no state holds another one back.
pub(super) fn axes(size: usize) -> Basis {
    Basis {
        columns: Mat::identity(size, size),
        blocks: (0..size).map(|state| state..state + 1).collect(),
    }
}

/// Eigenvectors, the real and the imaginary part of those that are not real.
pub(super) fn eigenvectors(matrix: MatRef<'_, f64>) -> Option<Basis> {
    let size = matrix.nrows();
    let found = matrix.eigen().ok()?;
    let vectors = found.U();
    let mut columns = Mat::zeros(size, size);
    let mut blocks = Vec::new();
    let mut next = 0;

    while next < size {
        let value = found.S()[next];
        let parts = if value.im == 0.0 { 1 } else { 2 };
        if next + parts > size {
            return None;
        }
        let norm = (0..size)
            .map(|i| vectors[(i, next)].norm_sqr())
            .sum::<f64>();
        let scale = (parts as f64 / norm).sqrt();
        for i in 0..size {
            columns[(i, next)] = scale * vectors[(i, next)].re;
            if parts == 2 {
                columns[(i, next + 1)] = scale * vectors[(i, next)].im;
            }
        }
        blocks.push(next..next + parts);
        next += parts;
    }
    Some(Basis { columns, blocks })
}

/// Orthogonal directions along which the matrix is triangular but for pairs: Schur's form, which
/// every matrix has. Pairs are turned into rotations.
pub(super) fn schur_vectors(matrix: MatRef<'_, f64>) -> Option<Basis> {
    let size = matrix.nrows();
    if size > MOST_STATES_IN_SCHUR_FORM {
        return None;
    }

    let dense = DMatrix::from_fn(size, size, |i, j| matrix[(i, j)]);
    let (directions, triangle) = Schur::try_new(dense, f64::EPSILON, 60 * size)?.unpack();
    let mut columns = Mat::from_fn(size, size, |i, j| directions[(i, j)]);
    let mut blocks = Vec::new();
    let mut next = 0;

    while next < size {
        let is_pair = next + 1 < size && triangle[(next + 1, next)] != 0.0;
        if !is_pair {
            blocks.push(next..next + 1);
            next += 1;
            continue;
        }
        let turned = rotation_of([
            [triangle[(next, next)], triangle[(next, next + 1)]],
            [triangle[(next + 1, next)], triangle[(next + 1, next + 1)]],
        ]);
        for i in 0..size {
            let [x, y] = [columns[(i, next)], columns[(i, next + 1)]];
            columns[(i, next)] = x * turned[0][0] + y * turned[1][0];
            columns[(i, next + 1)] = x * turned[0][1] + y * turned[1][1];
        }
        blocks.push(next..next + 2);
        next += 2;
    }
    Some(Basis { columns, blocks })
}

/// The real and the imaginary part of an eigenvector, as columns, where they are not real.
fn rotation_of(block: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let [[p, q], [r, s]] = block;
    let half = 0.5 * (p - s);
    let square = -(half * half + q * r);
    if square <= 0.0 || q == 0.0 {
        return [[1.0, 0.0], [0.0, 1.0]];
    }

    // (A − λ) v = 0 with v = (q, λ − p), λ = (p + s) / 2 + i w.
    let w = square.sqrt();
    let scale = (2.0 / (q * q + half * half + w * w)).sqrt();
    [[scale * q, 0.0], [-scale * half, scale * w]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_becomes_a_rotation() {
        let [[p, q], [r, s]] = [[1.0, 4.0], [-0.5, -0.3]];
        let [[a, b], [c, d]] = rotation_of([[p, q], [r, s]]);
        let image = [
            [p * a + q * c, p * b + q * d],
            [r * a + s * c, r * b + s * d],
        ];
        let determinant = a * d - b * c;
        let turned = [
            [
                (d * image[0][0] - b * image[1][0]) / determinant,
                (d * image[0][1] - b * image[1][1]) / determinant,
            ],
            [
                (a * image[1][0] - c * image[0][0]) / determinant,
                (a * image[1][1] - c * image[0][1]) / determinant,
            ],
        ];
        assert!((turned[0][0] - turned[1][1]).abs() < 1e-14);
        assert!((turned[0][1] + turned[1][0]).abs() < 1e-14);
    }
}
