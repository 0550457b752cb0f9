//! A basis for a matrix, with proved bounds of the matrix in it.
//!
//! With `W ≈ P⁻¹` and `G = I − W P`, `‖G‖ ≤ θ < 1`: `P⁻¹ X = (I − G)⁻¹ W X`, which differs from `W X`
//! by at most `g_i / (1 − θ) · max_k |W X|_kj` in row `i`, `g_i` the sum of row `i` of `|G|`. Products
//! are computed to nearest; what that loses is at most `(n + 4) u |W| |X|` in whatever order they
//! are summed.

use std::ops::Range;

use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;
use nalgebra::DMatrix;

use super::basis::{Basis, axes, eigenvectors, schur_vectors};
use crate::interval::Interval;
use crate::rounding::{UNIT, above};
use crate::shared::jacobian::SparseRow;

/// Bases whose inverse is known less well are of no use.
const MOST_THETA: f64 = 1e-3;

/// The axes are taken where a constant push is amplified by no more than this, against what it
/// brings to the slowest mode.
const EXCELLENT_AMPLIFICATION: f64 = 30.0;
/// Eigenvectors are.
const GOOD_AMPLIFICATION: f64 = 1e5;
/// No basis is taken above this.
const MOST_AMPLIFICATION: f64 = 1e9;

/// Sweeps in which amplification is estimated.
const SWEEPS: usize = 30;

/// Modes of a flow: how they grow, push each other, and make up the states.
pub(super) struct ModalFrame {
    /// Units of the states, powers of two.
    units: Vec<f64>,
    /// `P`, for states in these units.
    basis: Mat<f64>,
    blocks: Vec<Range<usize>>,
    /// `μ`: how fast each mode grows at most.
    rates: Vec<f64>,
    /// `c`: by how much each mode pushes each other one; zero on the diagonal.
    coupling: DMatrix<f64>,
    /// `‖(P⁻¹)_I‖`, by mode and state.
    intake: DMatrix<f64>,
    /// `‖P_I‖`, by state and mode.
    readout: DMatrix<f64>,
}

/// How it is found.
impl ModalFrame {
    /// The axes where no state holds another one back, eigenvectors where they are far from
    /// parallel, or Schur's form.
    pub fn of(rows: &[SparseRow], units: &[f64], duration: f64) -> Option<Self> {
        let flow = ScaledFlow::of(rows, units)?;
        let frame = |basis: Option<Basis>| {
            let frame = Self::proved(&flow, units, basis?)?;
            let amplification = frame.amplification(duration);
            Some((frame, amplification))
        };
        // From the cheapest to the dearest; a later one only where those before do not do.
        let matrix = flow.middle.as_ref();
        let tries: [(&dyn Fn() -> Option<Basis>, f64); 3] = [
            (&|| Some(axes(rows.len())), EXCELLENT_AMPLIFICATION),
            (&|| eigenvectors(matrix), GOOD_AMPLIFICATION),
            (&|| schur_vectors(matrix), MOST_AMPLIFICATION),
        ];
        let mut best: Option<(Self, f64)> = None;
        for (basis, enough) in tries {
            let Some(found) = frame(basis()) else {
                continue;
            };
            if best.as_ref().is_none_or(|best| found.1 < best.1) {
                best = Some(found);
            }
            if best.as_ref().is_some_and(|best| best.1 <= enough) {
                break;
            }
        }
        best.filter(|best| best.1 <= MOST_AMPLIFICATION)
            .map(|best| best.0)
    }

    /// Bounds of a flow in a basis.
    fn proved(flow: &ScaledFlow, units: &[f64], basis: Basis) -> Option<Self> {
        let Basis { columns, blocks } = basis;
        let inverse = Inverse::of(&columns)?;
        let image = flow.times(&columns);
        let (middle, radius) = inverse.times(&image);
        let count = blocks.len();
        let bound = |i: usize, j: usize| middle[(i, j)].abs() + radius[(i, j)];
        let coupling = DMatrix::from_fn(count, count, |i, j| {
            if i == j {
                return 0.0;
            }
            let entries = pairs(&blocks[i], &blocks[j]);
            norm(entries.map(|(i, j)| bound(i, j)))
        });
        let rates: Vec<f64> = blocks
            .iter()
            .map(|block| rate_of(block, &middle, &radius))
            .collect();
        let size = columns.nrows();
        let readout = DMatrix::from_fn(size, count, |i, j| {
            norm(blocks[j].clone().map(|j| columns[(i, j)].abs()))
        });
        let intake = DMatrix::from_fn(count, size, |i, j| {
            norm(blocks[i].clone().map(|i| inverse.bound(i, j)))
        });
        let finite = rates.iter().chain(&coupling).chain(&readout).chain(&intake);
        let finite = finite.copied().all(f64::is_finite);

        finite.then(|| Self {
            units: units.to_vec(),
            basis: columns,
            blocks,
            rates,
            coupling,
            intake,
            readout,
        })
    }

    /// By how much a constant push may be larger, where modes are added up, than what it brings in
    /// the time in which the slowest mode dies out, or in the run; an estimate.
    fn amplification(&self, duration: f64) -> f64 {
        let fastest = self.rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let decay = fastest.max(0.0) + 1.0 / duration;
        let size = self.units.len();
        let received = self.received(&vec![1.0; size]);
        let mut radii = vec![0.0; self.modes()];

        for _ in 0..SWEEPS {
            for mode in (0..self.modes()).rev() {
                let pushed: f64 = (0..self.modes())
                    .map(|other| self.coupling[(mode, other)] * radii[other])
                    .sum();
                radii[mode] = (received[mode] + pushed) / (decay - self.rates[mode]);
            }
            if radii.iter().any(|radius| !radius.is_finite()) {
                return f64::INFINITY;
            }
        }
        let slowest = decay - fastest;
        let reach = self.read(&radii);

        slowest * reach.iter().copied().fold(0.0, f64::max)
    }
}

/// What it bounds.
impl ModalFrame {
    pub fn modes(&self) -> usize {
        self.blocks.len()
    }

    /// `exp(μ h)`, rounded up.
    pub fn growth(&self, h: f64) -> Vec<f64> {
        let length = Interval::point(h);
        let grown = |&rate: &f64| {
            // Where a mode dies out a shorter step damps less.
            (Interval::point(rate) * length).exp().hi
        };
        self.rates.iter().map(grown).collect()
    }

    /// By how much modes of these radii push each of them.
    pub fn couple(&self, radii: &[f64]) -> Vec<f64> {
        product(&self.coupling, radii)
    }

    /// Radii that hold a box of states of these radii.
    pub fn take_in(&self, radii: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = radii
            .iter()
            .zip(&self.units)
            .map(|(r, u)| above(r / u))
            .collect();
        self.received(&scaled)
    }

    fn received(&self, scaled: &[f64]) -> Vec<f64> {
        product(&self.intake, scaled)
    }

    /// How far states are from zero where modes have these radii.
    pub fn read_out(&self, radii: &[f64]) -> Vec<f64> {
        let scaled = self.read(radii);
        scaled
            .iter()
            .zip(&self.units)
            .map(|(r, u)| above(r * u))
            .collect()
    }

    fn read(&self, radii: &[f64]) -> Vec<f64> {
        product(&self.readout, radii)
    }

    /// Columns of symbols that hold modes of these radii, to nearest.
    pub fn columns(&self, radii: &[f64]) -> DMatrix<f64> {
        let size = self.units.len();
        let mut columns = DMatrix::zeros(size, size);
        for (block, radius) in self.blocks.iter().zip(radii) {
            for j in block.clone() {
                for i in 0..size {
                    columns[(i, j)] = self.basis[(i, j)] * radius * self.units[i];
                }
            }
        }
        columns
    }
}

/// A matrix of nonnegative numbers times such a vector, rounded up; column by column, as it is
/// stored.
fn product(matrix: &DMatrix<f64>, vector: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; matrix.nrows()];
    for (column, &factor) in matrix.column_iter().zip(vector) {
        if factor != 0.0 {
            for (sum, entry) in sums.iter_mut().zip(column.iter()) {
                *sum += entry * factor;
            }
        }
    }
    sums.into_iter().map(above).collect()
}

/// The length of a few nonnegative numbers, rounded up.
fn norm(entries: impl Iterator<Item = f64>) -> f64 {
    let mut entries = entries.peekable();
    let Some(first) = entries.next() else {
        return 0.0;
    };
    if entries.peek().is_none() {
        return above(first);
    }
    let squares = entries.fold(first * first, |sum, entry| sum + entry * entry);
    above(squares.sqrt())
}

fn pairs(rows: &Range<usize>, columns: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let columns = columns.clone();
    rows.clone()
        .flat_map(move |i| columns.clone().map(move |j| (i, j)))
}

/// The logarithmic norm of a block of one or two: the largest eigenvalue of its symmetric part.
fn rate_of(block: &Range<usize>, middle: &Mat<f64>, radius: &Mat<f64>) -> f64 {
    let entry = |i: usize, j: usize| Interval::around(middle[(i, j)], radius[(i, j)]);
    let first = block.start;
    if block.len() == 1 {
        return entry(first, first).hi;
    }

    let half = Interval::point(0.5);
    let last = first + 1;
    let sum = half * (entry(first, first) + entry(last, last));
    let difference = half * (entry(first, first) - entry(last, last));
    let mixed = half * (entry(first, last) + entry(last, first));
    (sum + (difference.square() + mixed.square()).sqrt()).hi
}

/// The relative error of a sum of `terms` products, computed in any order.
fn product_unit(terms: usize) -> f64 {
    UNIT * (terms as f64 + 4.0)
}

fn absolute(matrix: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)].abs())
}

/// A matrix with what is known of it: middles, to nearest, and bounds of how far they are off.
struct Image {
    middle: Mat<f64>,
    radius: Mat<f64>,
}

/// A flow for states in other units.
struct ScaledFlow {
    rows: Vec<Vec<(usize, f64, f64)>>,
    middle: Mat<f64>,
}

impl ScaledFlow {
    /// `None` where an entry is not finite.
    fn of(rows: &[SparseRow], units: &[f64]) -> Option<Self> {
        let scaled = |(i, row): (usize, &SparseRow)| -> Vec<(usize, f64, f64)> {
            let entry = |&(j, range): &(usize, Interval)| {
                // Powers of two: exact but for underflow, which `above` covers.
                let scale = units[j] / units[i];
                (j, range.middle() * scale, above(range.radius() * scale))
            };
            row.iter().map(entry).collect()
        };
        let rows: Vec<_> = rows.iter().enumerate().map(scaled).collect();
        let mut middle = Mat::zeros(rows.len(), rows.len());
        for (i, row) in rows.iter().enumerate() {
            for &(j, entry, radius) in row {
                if !(entry.is_finite() && radius.is_finite()) {
                    return None;
                }
                middle[(i, j)] = entry;
            }
        }
        Some(Self { rows, middle })
    }

    /// The flow along the columns of a basis.
    fn times(&self, columns: &Mat<f64>) -> Image {
        let size = self.rows.len();
        let mut middle = Mat::zeros(size, size);
        let mut radius = Mat::zeros(size, size);

        for j in 0..size {
            for (i, row) in self.rows.iter().enumerate() {
                let unit = product_unit(row.len());
                let mut sum = 0.0;
                let mut lost = 0.0;
                for &(k, entry, doubt) in row {
                    let factor = columns[(k, j)];
                    sum += entry * factor;
                    lost += (doubt + unit * entry.abs()) * factor.abs();
                }
                middle[(i, j)] = sum;
                radius[(i, j)] = above(lost);
            }
        }
        Image { middle, radius }
    }
}

/// `W ≈ P⁻¹`, and how well it is known.
struct Inverse {
    approximate: Mat<f64>,
    sizes: Mat<f64>,
    /// `g_i / (1 − θ)`.
    excess: Vec<f64>,
    /// The largest entry of each column of `|W|`.
    largest: Vec<f64>,
}

impl Inverse {
    /// `None` where the basis is almost singular.
    fn of(basis: &Mat<f64>) -> Option<Self> {
        let size = basis.nrows();
        if !is_finite(basis) {
            return None;
        }
        let approximate = basis.partial_piv_lu().inverse();
        if !is_finite(&approximate) {
            return None;
        }

        let sizes = absolute(&approximate);
        let identity = &approximate * basis;
        let magnitudes = row_sums(&absolute(basis));
        let unit = product_unit(size);
        let sum = |i: usize| {
            let off = (0..size).map(|j| (identity[(i, j)] - f64::from(u8::from(i == j))).abs());
            let lost = (0..size)
                .map(|k| sizes[(i, k)] * magnitudes[k])
                .sum::<f64>();
            above(off.sum::<f64>() * (1.0 + 4.0 * UNIT) + unit * lost)
        };
        let sums: Vec<f64> = (0..size).map(sum).collect();
        let theta = sums.iter().copied().fold(0.0, f64::max);
        if theta.is_nan() || theta > MOST_THETA {
            return None;
        }

        let largest = (0..size).map(|j| column_maximum(&sizes, j)).collect();
        Some(Self {
            excess: sums.iter().map(|g| above(g / (1.0 - theta))).collect(),
            approximate,
            sizes,
            largest,
        })
    }

    /// A bound of an entry of `|P⁻¹|`.
    fn bound(&self, i: usize, j: usize) -> f64 {
        above(self.sizes[(i, j)] + self.excess[i] * self.largest[j])
    }

    /// `P⁻¹ X`: middles and radii.
    fn times(&self, image: &Image) -> (Mat<f64>, Mat<f64>) {
        let size = self.sizes.nrows();
        let unit = product_unit(size);
        let middle = &self.approximate * &image.middle;
        let doubts = Mat::from_fn(size, size, |i, j| {
            above(unit * image.middle[(i, j)].abs() + image.radius[(i, j)])
        });
        let mut radius = &self.sizes * &doubts;

        for j in 0..size {
            let sizes = (0..size).map(|i| middle[(i, j)].abs() + above(radius[(i, j)]));
            let largest = above(sizes.fold(0.0, f64::max));
            for i in 0..size {
                radius[(i, j)] = above(above(radius[(i, j)]) + self.excess[i] * largest);
            }
        }
        (middle, radius)
    }
}

fn is_finite(matrix: &Mat<f64>) -> bool {
    (0..matrix.ncols()).all(|j| matrix.col(j).iter().all(|entry| entry.is_finite()))
}

fn row_sums(matrix: &Mat<f64>) -> Vec<f64> {
    let sum = |i: usize| (0..matrix.ncols()).map(|j| matrix[(i, j)]).sum::<f64>();
    (0..matrix.nrows()).map(sum).map(above).collect()
}

fn column_maximum(matrix: &Mat<f64>, j: usize) -> f64 {
    (0..matrix.nrows())
        .map(|i| matrix[(i, j)])
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(matrix: &[&[f64]]) -> Vec<SparseRow> {
        let entry = |(j, value): (usize, &f64)| (j, Interval::point(*value));
        matrix
            .iter()
            .map(|row| row.iter().enumerate().map(entry).collect())
            .collect()
    }

    /// Products with the inverse hold what interval arithmetic finds for `P · (P⁻¹ X) = X`.
    #[test]
    fn what_rounding_loses_in_products_is_inside_their_bounds() {
        let size = 7;
        let entry = |i: usize, j: usize| {
            let diagonal = if i == j { 6.0 } else { 0.0 };
            diagonal + (1.0 + 3.1 * i as f64 + 7.7 * (j * j) as f64).sin()
        };
        let basis = Mat::from_fn(size, size, entry);
        // X = P Y for a Y that is known: P⁻¹ X is Y, but for the rounding of X, which its radius
        // holds exactly.
        let known = |i: usize, j: usize| ((i + 2 * j) % 5) as f64 - 2.0;
        let mut image = Image {
            middle: Mat::zeros(size, size),
            radius: Mat::zeros(size, size),
        };
        for i in 0..size {
            for j in 0..size {
                let terms =
                    (0..size).map(|k| Interval::point(entry(i, k)) * Interval::point(known(k, j)));
                let sum = terms.fold(Interval::ZERO, |sum, term| sum + term);
                image.middle[(i, j)] = sum.middle();
                image.radius[(i, j)] = sum.radius();
            }
        }
        let (middle, radius) = Inverse::of(&basis).unwrap().times(&image);
        for i in 0..size {
            for j in 0..size {
                let off = (middle[(i, j)] - known(i, j)).abs();
                assert!(off <= radius[(i, j)], "{off:e} {:e}", radius[(i, j)]);
                assert!(radius[(i, j)] < 1e-12);
            }
        }
    }

    #[test]
    fn an_oscillator_dies_out_at_its_rate() {
        let flow = rows(&[&[0.0, 1.0], &[-100.0, -0.2]]);
        let frame = ModalFrame::of(&flow, &[0.125, 1.0], 100.0).unwrap();
        assert_eq!(frame.modes(), 1);
        assert!((frame.rates[0] + 0.1).abs() < 1e-12, "{:?}", frame.rates);
    }

    #[test]
    fn a_single_eigenvector_is_no_obstacle() {
        let flow = rows(&[&[-1.0, 0.0, 0.0], &[-1.0, -1.0, 0.0], &[0.0, -1.0, -1.0]]);
        let frame = ModalFrame::of(&flow, &[1.0; 3], 50.0).unwrap();
        assert!(
            frame.rates.iter().all(|rate| *rate < -0.9),
            "{:?}",
            frame.rates
        );
    }
}
