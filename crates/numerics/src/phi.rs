//! The functions `φ_k(Z) = Σ_j Z^j / (j + k)!` of a matrix; `φ_0` is the exponential.
//!
//! A Taylor series is hopeless for a stiff `Z` (e⁻¹⁰⁰ as a difference of numbers near e¹⁰⁰), so `Z`
//! is halved until its series is short, and the result is doubled back by *modified squaring*,
//! which for a stiff problem adds numbers of one sign. Reference: Skaflestad & Wright, *The scaling
//! and modified squaring method for matrix functions related to the exponential*, Applied Numerical
//! Mathematics 59 (2009), cited as "SW".
//!
//! Departures: a Taylor polynomial (evaluated à la Paterson–Stockmeyer) where SW has Padé
//! approximants, since it needs no linear solve; the amount of scaling follows `‖Z²‖^{1/2}` and
//! `‖Z³‖^{1/3}`, not `‖Z‖`, as in Al-Mohy & Higham (2009), so that non-normal matrices are not
//! overscaled; and `Z` is balanced first. While a state has hardly moved, its diagonal entry of the
//! exponential is kept as the difference from one: in a stiff system the slow states move by 10⁻⁶,
//! say, over the first of twenty halves, and each doubling would double the rounding of `1 + 10⁻⁶`.

use nalgebra::DMatrix;

use crate::balance;
use crate::product::{add_scaled, add_to_diagonal, multiply, multiply_add, one_norm, scale};

/// The size to which `Z` is scaled before its series is summed.
const SMALL: f64 = 0.5;

/// `φ_0 … φ_highest` of a matrix, with the workspace that computes them.
#[derive(Clone, Debug)]
pub struct PhiFunctions {
    /// `phi[k]` is `φ_k` of the last matrix given to [`compute`](Self::compute).
    pub phi: Vec<DMatrix<f64>>,
    /// `powers[p]` is `Z^(p+1)` of the scaled and balanced matrix; in the end the last two are
    /// `e^{Z/4}` and `e^{Z/2}`.
    pub(crate) powers: [DMatrix<f64>; 3],
    product: DMatrix<f64>,
    pub(crate) scales: Vec<f64>,
    /// While functions are doubled, `φ_0` is `phi[0]` plus this diagonal of zeros and ones.
    pub(crate) offsets: Vec<f64>,
    /// How often functions are doubled, and have been in the end.
    pub(crate) doublings: i32,
}

impl PhiFunctions {
    /// Allocates the workspace for matrices of `size` rows; holds the functions of the zero matrix,
    /// `I / k!`.
    pub fn new(size: usize, highest: usize) -> Self {
        let zero = DMatrix::zeros(size, size);
        let at_zero = |k| DMatrix::identity(size, size) * inverse_factorial(k);

        Self {
            phi: (0..=highest).map(at_zero).collect(),
            powers: [zero.clone(), zero.clone(), zero.clone()],
            product: zero,
            scales: vec![1.0; size],
            offsets: vec![0.0; size],
            doublings: 0,
        }
    }

    /// Computes all functions of `z`. Entries are not finite where the result overflows or `z` is
    /// not finite.
    pub fn compute(&mut self, z: &DMatrix<f64>) {
        if self.begin(z).is_none() {
            for phi in &mut self.phi {
                phi.fill(f64::NAN);
            }
            return;
        }

        self.recur_downward();
        for left in (0..self.doublings).rev() {
            self.double(left);
        }
        self.finish();
    }

    /// Balances and scales `z` and sums the series of the highest function; the size after scaling,
    /// if `z` is finite.
    pub(crate) fn begin(&mut self, z: &DMatrix<f64>) -> Option<f64> {
        self.powers[0].copy_from(z);
        balance::balance(&mut self.powers[0], &mut self.scales);
        let norm = one_norm(&self.powers[0]);
        self.doublings = 0;
        if !norm.is_finite() {
            return None;
        }

        let size = self.scale(norm);
        self.offsets.fill(1.0);
        self.sum_series(size);

        Some(size)
    }

    /// From the last doubling to the functions of the matrix that was given.
    pub(crate) fn finish(&mut self) {
        add_diagonal(&mut self.phi[0], &self.offsets);
        for phi in &mut self.phi {
            balance::undo(phi, &self.scales);
        }
    }

    /// `e^{Z/4}` and `e^{Z/2}` of the last matrix, unless it was so small that no doubling led
    /// through them.
    pub(crate) fn roots(&self) -> Option<(&DMatrix<f64>, &DMatrix<f64>)> {
        let [_, fourth, square] = &self.powers;
        (self.doublings > 1).then_some((fourth, square))
    }

    /// Keeps the exponential as it is before the last two doublings, in place of powers that have
    /// been used.
    fn keep_root(&mut self, doublings_left: i32) {
        let root = match doublings_left {
            0 => &mut self.powers[2],
            1 => &mut self.powers[1],
            _ => return,
        };
        root.copy_from(&self.phi[0]);
        add_diagonal(root, &self.offsets);

        balance::undo(root, &self.scales);
    }

    /// Chooses `doublings` and fills `powers` with those of `Z / 2^doublings`; returns its size.
    fn scale(&mut self, norm: f64) -> f64 {
        let [first, second, third] = &mut self.powers;
        // First down to norm one, so that the powers cannot overflow.
        let exponent = exponent_above(norm);
        scale_by(first, -exponent);
        multiply(first, first, second);
        multiply(first, second, third);
        let by_second = one_norm(second).sqrt();
        let by_third = one_norm(third).cbrt();
        let growth = by_second.max(by_third).min(one_norm(first));
        self.doublings = (exponent + exponent_above(growth / SMALL)).max(0);
        let back = exponent - self.doublings;
        scale_by(first, back);
        scale_by(second, 2 * back);
        scale_by(third, 3 * back);

        growth * 2f64.powi(back)
    }

    /// The highest function by its series, grouped in threes: `Σ_i (Z³)^i (c_{3i} + c_{3i+1} Z +
    /// c_{3i+2} Z²)`.
    fn sum_series(&mut self, size: f64) {
        let highest = self.phi.len() - 1;
        let [first, second, third] = &self.powers;
        let sum = &mut self.phi[highest];
        sum.fill(0.0);

        for group in (0..groups_needed(size, highest)).rev() {
            multiply(sum, third, &mut self.product);
            std::mem::swap(sum, &mut self.product);
            let lowest = 3 * group + highest;
            // The one of `φ_0` is in `offsets`.
            if lowest > 0 {
                add_to_diagonal(sum, inverse_factorial(lowest));
            }
            add_scaled(sum, inverse_factorial(lowest + 1), first);
            add_scaled(sum, inverse_factorial(lowest + 2), second);
        }
    }

    /// `φ_k = Z φ_{k+1} + I / k!`, SW (2); the identity in `φ_0` is in `offsets`.
    fn recur_downward(&mut self) {
        for k in (0..self.phi.len() - 1).rev() {
            let (lower, upper) = self.phi.split_at_mut(k + 1);
            let phi = &mut lower[k];
            multiply(&self.powers[0], &upper[0], phi);
            if k > 0 {
                add_to_diagonal(phi, inverse_factorial(k));
            }
        }
    }

    /// From `Z` to `2 Z`: `φ_k(2Z) = 2^{-k} [φ_0(Z) φ_k(Z) + Σ_{j=1..k} φ_j(Z) / (k−j)!]`, SW
    /// section 2.
    ///
    /// In place from the highest down, since `φ_k(2Z)` needs no function above `φ_k(Z)`. With `φ_0
    /// = O + F`, `O² = O` the diagonal of offsets: `φ_0 φ_k = O φ_k + F φ_k` and `φ_0² = O + (O F +
    /// F O + F²)`.
    pub(crate) fn double(&mut self, doublings_left: i32) {
        self.keep_root(doublings_left);
        for k in (1..self.phi.len()).rev() {
            self.double_function(k);
        }

        self.square_exponential();
        self.drop_offsets();
    }

    /// `φ_k(2Z)`, for `k > 0`.
    fn double_function(&mut self, k: usize) {
        let product = &mut self.product;
        let phi = &self.phi[k];
        set_lower_sum(product, &self.phi[1..=k]);
        add_weighted(product, phi, |row, _| self.offsets[row]);
        multiply_add(&self.phi[0], phi, product);
        scale(product, 0.5f64.powi(k as i32));

        std::mem::swap(&mut self.phi[k], product);
    }

    fn square_exponential(&mut self) {
        let product = &mut self.product;
        let offsets = &self.offsets;
        let exponential = &mut self.phi[0];
        product.as_mut_slice().fill(0.0);
        add_weighted(product, exponential, |row, column| {
            offsets[row] + offsets[column]
        });
        multiply_add(exponential, exponential, product);

        std::mem::swap(exponential, product);
    }

    /// A state that has moved far gives up its offset: what is left of it would drown in the
    /// rounding of `1 − (1 − rest)`.
    fn drop_offsets(&mut self) {
        for (k, offset) in self.offsets.iter_mut().enumerate() {
            let entry = &mut self.phi[0][(k, k)];
            let moved_far = (1.0 + *entry).abs() < 0.5;
            if *offset != 0.0 && moved_far {
                *entry += 1.0;
                *offset = 0.0;
            }
        }
    }
}

/// `Σ_{j=1..k} φ_j / (k−j)!`, for the functions `φ_1 … φ_k`.
pub(crate) fn set_lower_sum(target: &mut DMatrix<f64>, functions: &[DMatrix<f64>]) {
    target.as_mut_slice().fill(0.0);
    for (below, function) in functions.iter().enumerate() {
        let factor = inverse_factorial(functions.len() - 1 - below);
        add_scaled(target, factor, function);
    }
}

/// `target += weight(row, column) · source`, entry by entry.
pub(crate) fn add_weighted(
    target: &mut DMatrix<f64>,
    source: &DMatrix<f64>,
    weight: impl Fn(usize, usize) -> f64,
) {
    let rows = source.nrows().max(1);
    let targets = target.as_mut_slice().chunks_exact_mut(rows);
    let sources = source.as_slice().chunks_exact(rows);

    for (column, (target, source)) in targets.zip(sources).enumerate() {
        for (row, (entry, value)) in target.iter_mut().zip(source).enumerate() {
            *entry += weight(row, column) * value;
        }
    }
}

/// Adds `diagonal` to that of `matrix`.
fn add_diagonal(matrix: &mut DMatrix<f64>, diagonal: &[f64]) {
    for (k, entry) in diagonal.iter().enumerate() {
        matrix[(k, k)] += entry;
    }
}

/// The matrix exponential; allocates its workspace (keep a [`PhiFunctions`] to avoid that).
pub fn exponential(z: &DMatrix<f64>) -> DMatrix<f64> {
    let mut functions = PhiFunctions::new(z.nrows(), 0);
    functions.compute(z);
    functions.phi.swap_remove(0)
}

/// The least `e` with `size ≤ 2^e`; 0 for a size of 0.
fn exponent_above(size: f64) -> i32 {
    if size > 0.0 {
        size.log2().ceil() as i32
    } else {
        0
    }
}

/// Multiplies by `2^exponent`, in two factors because `2^exponent` alone may overflow.
fn scale_by(matrix: &mut DMatrix<f64>, exponent: i32) {
    let half = exponent / 2;
    scale(matrix, 2f64.powi(half));
    scale(matrix, 2f64.powi(exponent - half));
}

/// How many groups of three terms bring the remainder below rounding, relative to the first term.
pub(crate) fn groups_needed(size: f64, highest: usize) -> usize {
    let mut groups = 0;
    let mut term = 1.0;

    while term > f64::EPSILON / 8.0 && groups < 10 {
        for j in 3 * groups + 1..=3 * groups + 3 {
            term *= size / (highest + j) as f64;
        }
        groups += 1;
    }
    groups
}

pub(crate) fn inverse_factorial(n: usize) -> f64 {
    INVERSE_FACTORIALS.get(n).copied().unwrap_or(0.0)
}

/// `1/n!`, up to what a series of ten groups can ask for and far beyond what counts.
const INVERSE_FACTORIALS: [f64; 64] = {
    let mut table = [1.0; 64];
    let mut factorial = 1.0;
    let mut n = 1;
    while n < table.len() {
        factorial *= n as f64;
        table[n] = 1.0 / factorial;
        n += 1;
    }
    table
};

#[cfg(test)]
mod tests;
