//! Matrix products and norms that allocate nothing.
//!
//! `nalgebra` hands products larger than 5 × 5 to a kernel that allocates packing buffers on each
//! call; these loops do not, and four columns at a time they keep a core busy at the sizes we meet
//! (n ≤ 200).

use nalgebra::DMatrix;

/// `target = left · right`.
pub(crate) fn multiply(left: &DMatrix<f64>, right: &DMatrix<f64>, target: &mut DMatrix<f64>) {
    target.as_mut_slice().fill(0.0);
    multiply_add(left, right, target);
}

/// `target += left · right`.
pub(crate) fn multiply_add(left: &DMatrix<f64>, right: &DMatrix<f64>, target: &mut DMatrix<f64>) {
    // Most systems have few states: then setting up the loops below is most of the work.
    match left.ncols() {
        1 => multiply_add_narrow::<1>(left, right, target),
        2 => multiply_add_narrow::<2>(left, right, target),
        3 => multiply_add_narrow::<3>(left, right, target),
        _ => multiply_add_wide(left, right, target),
    }
}

/// The same for so few columns on the left, with the same rounding.
fn multiply_add_narrow<const INNER: usize>(
    left: &DMatrix<f64>,
    right: &DMatrix<f64>,
    target: &mut DMatrix<f64>,
) {
    let rows = left.nrows();
    let left = left.as_slice();
    let mut entries = target.as_mut_slice().iter_mut();

    for weights in right.as_slice().as_chunks::<INNER>().0 {
        for (row, entry) in entries.by_ref().take(rows).enumerate() {
            let mut sum = *entry;
            for (inner, weight) in weights.iter().enumerate() {
                sum += weight * left[inner * rows + row];
            }
            *entry = sum;
        }
    }
}

fn multiply_add_wide(left: &DMatrix<f64>, right: &DMatrix<f64>, target: &mut DMatrix<f64>) {
    let rows = left.nrows().max(1);
    let inner = left.ncols().max(1);
    let columns = target.as_mut_slice().chunks_exact_mut(rows);
    let weights = right.as_slice().chunks_exact(inner);

    for (column, weights) in columns.zip(weights) {
        add_product(left, weights, column);
    }
}

/// `target += matrix · vector`.
fn add_product(matrix: &DMatrix<f64>, vector: &[f64], target: &mut [f64]) {
    let rows = matrix.nrows().max(1);
    let fours = matrix.as_slice().chunks_exact(4 * rows);
    let rest = fours.remainder();
    let weights = vector.chunks_exact(4);
    let rest_weights = weights.remainder();

    for (four, weights) in fours.zip(weights) {
        add_four(target, four, weights);
    }
    for (column, &weight) in rest.chunks_exact(rows).zip(rest_weights) {
        add_multiple(target, weight, column);
    }
}

/// `column += w₀ a + w₁ b + w₂ c + w₃ d` for the columns a, b, c, d that `four` holds in a row.
fn add_four(column: &mut [f64], four: &[f64], weights: &[f64]) {
    let size = column.len();
    let (a, rest) = four.split_at(size);
    let (b, rest) = rest.split_at(size);
    let (c, d) = rest.split_at(size);
    let &[wa, wb, wc, wd] = weights else {
        unreachable!("BUG: weights come in fours")
    };

    for (row, entry) in column.iter_mut().enumerate() {
        *entry += (a[row] * wa + b[row] * wb) + (c[row] * wc + d[row] * wd);
    }
}

/// The largest column sum of absolute values; NaN if an entry is.
pub(crate) fn one_norm(matrix: &DMatrix<f64>) -> f64 {
    let mut largest = 0.0;
    for column in matrix.as_slice().chunks_exact(matrix.nrows().max(1)) {
        let sum: f64 = column.iter().map(|entry| entry.abs()).sum();
        // `f64::max` would drop a NaN.
        largest = if sum <= largest {
            largest
        } else {
            sum + 0.0 * largest
        };
    }
    largest
}

/// `target += factor · source`.
pub(crate) fn add_scaled(target: &mut DMatrix<f64>, factor: f64, source: &DMatrix<f64>) {
    // Slices, because the iterators of a matrix keep rows and columns apart and are slow at small
    // sizes.
    add_multiple(target.as_mut_slice(), factor, source.as_slice());
}

/// `target += factor · source`.
pub(crate) fn add_multiple(target: &mut [f64], factor: f64, source: &[f64]) {
    for (entry, &value) in target.iter_mut().zip(source) {
        *entry += factor * value;
    }
}

/// `matrix *= factor`.
pub(crate) fn scale(matrix: &mut DMatrix<f64>, factor: f64) {
    for entry in matrix.as_mut_slice() {
        *entry *= factor;
    }
}

/// Adds `shift` to every diagonal entry.
pub(crate) fn add_to_diagonal(matrix: &mut DMatrix<f64>, shift: f64) {
    for k in 0..matrix.nrows() {
        matrix[(k, k)] += shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_nalgebra() {
        for size in [0, 1, 3, 4, 5, 8, 11] {
            let left = DMatrix::from_fn(size, size, |row, column| {
                (row * 7 + column * 3) as f64 % 5.0 - 2.0
            });
            let right = DMatrix::from_fn(size, size, |row, column| {
                (row * 2 + column * 5) as f64 % 7.0 - 3.0
            });
            let mut product = DMatrix::from_element(size, size, 9.0);
            multiply(&left, &right, &mut product);
            assert_eq!(product, &left * &right);
        }
    }

    #[test]
    fn matrices_need_not_be_square() {
        for (rows, inner, columns) in [(2, 7, 3), (5, 4, 1), (0, 3, 2), (3, 0, 2), (2, 3, 0)] {
            let left = DMatrix::from_fn(rows, inner, |row, column| {
                (row * 7 + column * 3) as f64 % 5.0 - 2.0
            });
            let right = DMatrix::from_fn(inner, columns, |row, column| {
                (row * 2 + column * 5) as f64 % 7.0 - 3.0
            });
            let mut product = DMatrix::from_element(rows, columns, 9.0);
            multiply(&left, &right, &mut product);
            assert_eq!(product, &left * &right);
        }
    }

    #[test]
    fn the_norm_reports_a_nan() {
        let matrix = DMatrix::from_row_slice(2, 2, &[f64::NAN, 1.0, 0.0, 3.0]);
        assert!(one_norm(&matrix).is_nan());
        assert_eq!(
            one_norm(&DMatrix::from_row_slice(2, 2, &[1.0, -2.0, 3.0, 4.0])),
            6.0
        );
    }
}
