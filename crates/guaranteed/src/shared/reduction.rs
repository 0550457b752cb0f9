//! Fewer error symbols for the same set, and a little more.

use nalgebra::DMatrix;

use crate::rounding::{UNIT, above};

/// Error symbols as columns, one row for each state.
pub(crate) type Columns = DMatrix<f64>;

/// Encloses `columns · η` in a parallelepiped along orthogonal directions, the longest columns first (Lohner). The result has as
/// many columns as rows. Directions are orthogonal where states are measured in `units`, which are powers of two.
pub(crate) fn orthogonal(columns: &Columns, units: &[f64]) -> Columns {
    // Exact: the units are powers of two.
    let scaled = DMatrix::from_fn(columns.nrows(), columns.ncols(), |i, j| {
        columns[(i, j)] / units[i]
    });
    let reduced = orthogonal_in_units(&scaled);
    DMatrix::from_fn(reduced.nrows(), reduced.ncols(), |i, j| {
        reduced[(i, j)] * units[i]
    })
}

fn orthogonal_in_units(columns: &Columns) -> Columns {
    let (rows, count) = columns.shape();
    let mut order: Vec<usize> = (0..count).collect();
    let length = |j: usize| columns.column(j).norm_squared();
    order.sort_by(|&a, &b| length(b).total_cmp(&length(a)).then(a.cmp(&b)));
    let sorted = DMatrix::from_fn(rows, count, |i, j| columns[(i, order[j])]);
    let basis = sorted.qr().q();
    if basis.ncols() < rows || basis.iter().any(|v| !v.is_finite()) {
        return along_axes(columns);
    }
    let transposed = basis.transpose();
    let coordinates = &transposed * columns;
    let residue = residues(columns, &basis, &coordinates);
    let Some(inverse) = Inverse::of(&basis, &transposed) else {
        return along_axes(columns);
    };
    let mut reach: Vec<f64> = (0..rows)
        .map(|i| above(coordinates.row(i).iter().map(|v| v.abs()).sum()))
        .collect();
    add(&mut reach, &inverse.applied(&residue));
    // The products below are rounded; what that may lose is added before.
    let rounding: Vec<f64> = (0..rows)
        .map(|k| {
            above(
                2.0 * UNIT
                    * (0..rows)
                        .map(|i| basis[(k, i)].abs() * reach[i])
                        .sum::<f64>(),
            )
        })
        .collect();
    add(&mut reach, &inverse.applied(&rounding));
    DMatrix::from_fn(rows, rows, |k, i| basis[(k, i)] * reach[i])
}

/// The box around `columns · η`.
fn along_axes(columns: &Columns) -> Columns {
    let reach = |i: usize| above(columns.row(i).iter().map(|v| v.abs()).sum());
    DMatrix::from_fn(columns.nrows(), columns.nrows(), |i, j| {
        if i == j { reach(i) } else { 0.0 }
    })
}

fn add(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum = above(*sum + more));
}

/// For each row, how far `columns · η` can be from `basis · coordinates · η`.
fn residues(columns: &Columns, basis: &DMatrix<f64>, coordinates: &DMatrix<f64>) -> Vec<f64> {
    let difference = columns - basis * coordinates;
    let sizes = basis.abs() * coordinates.abs();
    let unit = UNIT * (columns.nrows() as f64 + 4.0);
    let bound = |i: usize| {
        (0..columns.ncols())
            .map(|j| difference[(i, j)].abs() + unit * (sizes[(i, j)] + columns[(i, j)].abs()))
            .sum::<f64>()
    };
    (0..columns.nrows()).map(|i| above(bound(i))).collect()
}

/// A bound of the inverse of a nearly orthogonal matrix `Q`: `|Q⁻¹ v| ≤ |Qᵀ| v + θ/(1 − θ) max(|Qᵀ| v)`, `θ = ‖I − Qᵀ Q‖`.
struct Inverse {
    transposed: DMatrix<f64>,
    excess: f64,
}

impl Inverse {
    fn of(basis: &DMatrix<f64>, transposed: &DMatrix<f64>) -> Option<Self> {
        let rows = basis.nrows();
        let product = transposed * basis;
        let sizes = transposed.abs() * basis.abs();
        let unit = UNIT * (rows as f64 + 4.0);
        let row = |i: usize| {
            (0..rows)
                .map(|j| {
                    (product[(i, j)] - f64::from(u8::from(i == j))).abs()
                        + unit * (sizes[(i, j)] + 1.0)
                })
                .sum::<f64>()
        };
        let theta = above((0..rows).map(row).fold(0.0, f64::max));
        (theta < 0.5).then(|| Self {
            transposed: transposed.abs(),
            excess: above(theta / (1.0 - theta)),
        })
    }

    fn applied(&self, box_: &[f64]) -> Vec<f64> {
        let rows = self.transposed.nrows();
        let direct: Vec<f64> = (0..rows)
            .map(|i| {
                (0..rows)
                    .map(|k| self.transposed[(i, k)] * box_[k])
                    .sum::<f64>()
            })
            .collect();
        let largest = direct.iter().copied().fold(0.0, f64::max);
        direct
            .iter()
            .map(|d| above(d + self.excess * largest))
            .collect()
    }
}

/// Keeps the columns that are farthest from a box and puts the others into one (Girard): `limit` columns at most.
///
/// `scale` weighs the states against one another.
pub(crate) fn girard(columns: &Columns, limit: usize, scale: &[f64]) -> Columns {
    let (rows, count) = columns.shape();
    if count <= limit {
        return columns.clone();
    }
    let kept = limit.saturating_sub(rows);
    let mut order: Vec<usize> = (0..count).collect();
    let badness: Vec<f64> = (0..count)
        .map(|j| {
            let sizes = columns
                .column(j)
                .iter()
                .zip(scale)
                .map(|(v, s)| v.abs() / s)
                .collect::<Vec<_>>();
            sizes.iter().sum::<f64>() - sizes.iter().copied().fold(0.0, f64::max)
        })
        .collect();
    order.sort_by(|&a, &b| badness[b].total_cmp(&badness[a]).then(a.cmp(&b)));
    let (keep, merge) = order.split_at(kept);
    let mut result = DMatrix::zeros(rows, kept + rows);
    for (to, &from) in keep.iter().enumerate() {
        result.set_column(to, &columns.column(from));
    }
    for i in 0..rows {
        result[(i, kept + i)] = above(merge.iter().map(|&j| columns[(i, j)].abs()).sum());
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DVector;

    /// A corner of `columns · η` in the coordinates of `frame`: within the cube, if the frame encloses it.
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
        // The longest column is kept as it is.
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
