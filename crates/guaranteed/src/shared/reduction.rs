//! Fewer error symbols for the same set, and a little more.

use nalgebra::{DMatrix, DVector};

use crate::rounding::{UNIT, above, add_above};

/// Error symbols as columns, one row for each state.
pub(crate) type Columns = DMatrix<f64>;

/// Encloses `columns · η` in a parallelepiped along orthogonal directions, the longest columns
/// first (Lohner). The result has as many columns as rows. Directions are orthogonal where states
/// are measured in `units`, which are powers of two.
pub(crate) fn orthogonal(columns: &Columns, units: &[f64]) -> Columns {
    // Exact: the units are powers of two.
    let mut scaled = columns.clone();
    for (i, mut row) in scaled.row_iter_mut().enumerate() {
        row.iter_mut().for_each(|entry| *entry /= units[i]);
    }

    let mut reduced = orthogonal_in_units(&scaled).unwrap_or_else(|| along_axes(&scaled));
    for (i, mut row) in reduced.row_iter_mut().enumerate() {
        row.iter_mut().for_each(|entry| *entry *= units[i]);
    }
    reduced
}

/// `None` if no orthogonal directions are found.
fn orthogonal_in_units(columns: &Columns) -> Option<Columns> {
    let basis = longest_first(columns).qr().q();
    let rows = columns.nrows();
    if basis.ncols() < rows || basis.iter().any(|v| !v.is_finite()) {
        return None;
    }

    let transposed = basis.transpose();
    let coordinates = &transposed * columns;
    let inverse = Inverse::of(&basis, &transposed)?;
    let mut reach: Vec<f64> = (0..rows).map(|i| row_reach(&coordinates, i)).collect();
    let residue = residues(columns, &basis, &coordinates);
    add_above(&mut reach, &inverse.applied(&residue));
    // The products below are rounded; what that may lose is added before.
    let rounding = product_rounding(&basis, &reach);
    add_above(&mut reach, &inverse.applied(&rounding));

    Some(DMatrix::from_fn(rows, rows, |k, i| {
        basis[(k, i)] * reach[i]
    }))
}

fn longest_first(columns: &Columns) -> Columns {
    let length = |j: usize| columns.column(j).norm_squared();
    let mut order: Vec<usize> = (0..columns.ncols()).collect();
    order.sort_by(|&a, &b| length(b).total_cmp(&length(a)).then(a.cmp(&b)));

    DMatrix::from_fn(columns.nrows(), columns.ncols(), |i, j| {
        columns[(i, order[j])]
    })
}

/// A bound of what is lost where the products of a basis and of these reaches are rounded.
fn product_rounding(basis: &DMatrix<f64>, reach: &[f64]) -> Vec<f64> {
    let sum = |k: usize| {
        let entries = basis.row(k);
        let terms = entries.iter().zip(reach).map(|(v, r)| v.abs() * r);
        terms.sum::<f64>()
    };
    (0..basis.nrows())
        .map(|k| above(2.0 * UNIT * sum(k)))
        .collect()
}

/// How far one coordinate of `columns · η` can be from zero.
fn row_reach(columns: &Columns, row: usize) -> f64 {
    above(columns.row(row).iter().map(|v| v.abs()).sum())
}

/// The box around `columns · η`.
fn along_axes(columns: &Columns) -> Columns {
    let reaches = DVector::from_fn(columns.nrows(), |row, _| row_reach(columns, row));
    DMatrix::from_diagonal(&reaches)
}

/// For each row, how far `columns · η` can be from `basis · coordinates · η`.
fn residues(columns: &Columns, basis: &DMatrix<f64>, coordinates: &DMatrix<f64>) -> Vec<f64> {
    let difference = columns - basis * coordinates;
    let sizes = basis.abs() * coordinates.abs();
    let unit = product_unit(columns.nrows());
    let entry = |i: usize, j: usize| {
        difference[(i, j)].abs() + unit * (sizes[(i, j)] + columns[(i, j)].abs())
    };
    let bound = |i: usize| (0..columns.ncols()).map(|j| entry(i, j)).sum::<f64>();

    (0..columns.nrows()).map(|i| above(bound(i))).collect()
}

/// The relative error of a scalar product of so many terms.
fn product_unit(terms: usize) -> f64 {
    UNIT * (terms as f64 + 4.0)
}

/// A bound of the inverse of a nearly orthogonal matrix `Q`: `|Q⁻¹ v| ≤ |Qᵀ| v + θ/(1 − θ) max(|Qᵀ|
/// v)`, `θ = ‖I − Qᵀ Q‖`.
struct Inverse {
    transposed: DMatrix<f64>,
    excess: f64,
}

impl Inverse {
    fn of(basis: &DMatrix<f64>, transposed: &DMatrix<f64>) -> Option<Self> {
        let theta = distance_from_identity(basis, transposed);
        (theta < 0.5).then(|| Self {
            transposed: transposed.abs(),
            excess: above(theta / (1.0 - theta)),
        })
    }

    fn applied(&self, radii: &[f64]) -> Vec<f64> {
        let product = |i: usize| {
            let row = self.transposed.row(i);
            let terms = row.iter().zip(radii).map(|(v, r)| v * r);
            terms.sum::<f64>()
        };
        let direct: Vec<f64> = (0..radii.len()).map(product).collect();
        let largest = direct.iter().copied().fold(0.0, f64::max);

        direct
            .iter()
            .map(|d| above(d + self.excess * largest))
            .collect()
    }
}

/// A bound of `‖I − Qᵀ Q‖`.
fn distance_from_identity(basis: &DMatrix<f64>, transposed: &DMatrix<f64>) -> f64 {
    let rows = basis.nrows();
    let product = transposed * basis;
    let sizes = transposed.abs() * basis.abs();
    let unit = product_unit(rows);
    let entry = |i: usize, j: usize| {
        let identity = f64::from(u8::from(i == j));
        (product[(i, j)] - identity).abs() + unit * (sizes[(i, j)] + 1.0)
    };
    let row = |i: usize| (0..rows).map(|j| entry(i, j)).sum::<f64>();

    above((0..rows).map(row).fold(0.0, f64::max))
}

/// Keeps the columns that are farthest from a box and puts the others into one (Girard): `limit`
/// columns at most.
///
/// `scale` weighs the states against one another.
pub(crate) fn girard(columns: &Columns, limit: usize, scale: &[f64]) -> Columns {
    let (rows, count) = columns.shape();
    if count <= limit {
        return columns.clone();
    }

    let kept = limit.saturating_sub(rows);
    let order = farthest_from_a_box_first(columns, scale);
    let (keep, merge) = order.split_at(kept);
    let mut result = DMatrix::zeros(rows, kept + rows);

    for (to, &from) in keep.iter().enumerate() {
        result.set_column(to, &columns.column(from));
    }

    for i in 0..rows {
        let merged = merge.iter().map(|&j| columns[(i, j)].abs());
        result[(i, kept + i)] = above(merged.sum());
    }
    result
}

fn farthest_from_a_box_first(columns: &Columns, scale: &[f64]) -> Vec<usize> {
    let distances: Vec<f64> = (0..columns.ncols())
        .map(|j| distance_from_a_box(columns, j, scale))
        .collect();
    let mut order: Vec<usize> = (0..columns.ncols()).collect();
    order.sort_by(|&a, &b| distances[b].total_cmp(&distances[a]).then(a.cmp(&b)));

    order
}

/// The sum of a column's entries but for the largest: zero along an axis.
fn distance_from_a_box(columns: &Columns, column: usize, scale: &[f64]) -> f64 {
    let entries = columns.column(column);
    let sizes = || entries.iter().zip(scale).map(|(v, s)| v.abs() / s);
    sizes().sum::<f64>() - sizes().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DVector;

    /// A corner of `columns · η` in the coordinates of `frame`: within the cube, if the frame
    /// encloses it.
    fn is_enclosed(columns: &Columns, frame: &Columns) -> bool {
        let lu = frame.clone().lu();
        (0..64u32).all(|pattern| {
            let sign = |j: usize| {
                if pattern >> (j % 6) & 1 == 1 {
                    1.0
                } else {
                    -1.0
                }
            };
            let corner = columns * DVector::from_fn(columns.ncols(), |j, _| sign(j));
            let coordinates = lu.solve(&corner).expect("a regular frame");
            coordinates.iter().all(|c| c.abs() <= 1.0 + 1e-12)
        })
    }

    fn example() -> Columns {
        DMatrix::from_row_slice(
            3,
            6,
            &[
                1.0, 0.2, -0.3, 1e-3, 0.0, 0.1, //
                2.0, 0.1, 0.4, 0.0, 1e-3, 0.0, //
                -1.0, 0.7, 0.2, 0.0, 0.0, 1e-3,
            ],
        )
    }

    #[test]
    fn orthogonal_directions_enclose_the_set_in_any_units() {
        for units in [[1.0, 1.0, 1.0], [1.0, 64.0, 0.125]] {
            let frame = orthogonal(&example(), &units);
            assert_eq!(frame.shape(), (3, 3));
            assert!(is_enclosed(&example(), &frame));
        }
    }

    #[test]
    fn few_columns_and_a_box_enclose_the_set() {
        let fewer = girard(&example(), 4, &[1.0; 3]);
        assert_eq!(fewer.ncols(), 4);
        // The longest column is buffered as it is.
        assert!((0..4).any(|j| fewer.column(j) == example().column(0)));
        for i in 0..3 {
            let reach = |columns: &Columns| columns.row(i).iter().map(|v| v.abs()).sum::<f64>();
            assert!(reach(&fewer) >= reach(&example()));
        }
    }

    #[test]
    fn a_set_without_extent_becomes_a_tiny_box() {
        let frame = orthogonal(&DMatrix::zeros(2, 5), &[1.0, 1.0]);
        assert!(frame.iter().all(|v| v.abs() < 1e-290));
    }
}
