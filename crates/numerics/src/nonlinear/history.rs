//! Points and residuals seen so far, and the combination of them that promises the smallest
//! residual.
//!
//! Shared by Anderson mixing and nonlinear GMRES: both minimize `‖f + Σ_i a_i (f_i − f)‖` over
//! earlier pairs `(x_i, f_i)` beside a newest one `(x, f)`. We write it in differences of
//! successive pairs, newest first: they span the same space, and where there are more pairs than
//! unknowns the recent ones, which know the neighborhood best, are those that count (with one
//! unknown this is the secant method).

use std::iter::zip;

use super::least_squares::LeastSquares;
use super::vector::{distance, set_weighted};
use crate::columns::Columns;

/// The last pairs of a point and its residual.
#[derive(Clone, Debug)]
pub(super) struct History {
    depth: usize,
    pushed: usize,
    points: Columns,
    residuals: Columns,
    fit: LeastSquares,
    /// The ages of the pairs whose differences the fit has kept.
    ages: Vec<usize>,
    coefficients: Vec<f64>,
    column: Vec<f64>,
}

/// A point and its residual.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub point: &'a [f64],
    pub residual: &'a [f64],
}

/// Where to write a point and its residual.
pub(super) struct PairMut<'a> {
    pub point: &'a mut [f64],
    pub residual: &'a mut [f64],
}

impl History {
    pub fn new(size: usize, depth: usize) -> Self {
        let columns = depth.min(size);
        Self {
            depth,
            pushed: 0,
            points: Columns::zeros(size, depth),
            residuals: Columns::zeros(size, depth),
            fit: LeastSquares::new(size, depth),
            ages: vec![0; columns],
            coefficients: vec![0.0; columns],
            column: vec![0.0; size],
        }
    }

    pub fn clear(&mut self) {
        self.pushed = 0;
    }

    /// The number of pairs stored.
    pub fn len(&self) -> usize {
        self.pushed.min(self.depth)
    }

    /// Stores a pair, in place of the oldest if need be.
    pub fn push(&mut self, pair: Pair) {
        if self.depth > 0 {
            let slot = self.pushed % self.depth;
            self.points.column_mut(slot).copy_from_slice(pair.point);
            self.residuals
                .column_mut(slot)
                .copy_from_slice(pair.residual);
            self.pushed += 1;
        }
    }

    /// How close `point` is to any stored one; infinite if there is none.
    pub fn nearest(&self, weights: &[f64], point: &[f64]) -> f64 {
        (0..self.len())
            .map(|age| distance(weights, point, self.pair(age).point))
            .fold(f64::INFINITY, f64::min)
    }

    /// Writes to `best` the combination of the stored pairs and the newest whose residual is the
    /// smallest, as far as the residual is linear between them.
    pub fn minimize(&mut self, weights: &[f64], newest: Pair, best: PairMut) {
        let kept = self.fit_differences(weights, newest);
        set_weighted(&mut self.column, weights, newest.residual);
        self.fit.solve(&mut self.column, &mut self.coefficients);
        best.point.copy_from_slice(newest.point);
        best.residual.copy_from_slice(newest.residual);

        for (&age, &coefficient) in zip(&self.ages[..kept], &self.coefficients) {
            let newer = self.newer(age, newest);
            let older = self.pair(age);
            add_difference(best.point, -coefficient, newer.point, older.point);
            add_difference(best.residual, -coefficient, newer.residual, older.residual);
        }
    }

    /// Factors the weighted differences of successive residuals, newest first; returns how many
    /// are of use.
    fn fit_differences(&mut self, weights: &[f64], newest: Pair) -> usize {
        self.fit.clear();
        let mut kept = 0;

        for age in 0..self.len() {
            if self.fit.is_full() {
                break;
            }
            let mut column = std::mem::take(&mut self.column);
            let newer = self.newer(age, newest).residual;
            let older = self.pair(age).residual;
            for (k, entry) in column.iter_mut().enumerate() {
                *entry = weights[k] * (newer[k] - older[k]);
            }
            if self.fit.push(&mut column) {
                self.ages[kept] = age;
                kept += 1;
            }
            self.column = column;
        }
        kept
    }

    /// The stored pair that `age` others have followed.
    fn pair(&self, age: usize) -> Pair<'_> {
        let slot = (self.pushed - 1 - age) % self.depth;
        Pair {
            point: self.points.column(slot),
            residual: self.residuals.column(slot),
        }
    }

    /// The successor of the pair of that age.
    fn newer<'a>(&'a self, age: usize, newest: Pair<'a>) -> Pair<'a> {
        if age == 0 { newest } else { self.pair(age - 1) }
    }
}

/// `target += factor · (newer − older)`.
fn add_difference(target: &mut [f64], factor: f64, newer: &[f64], older: &[f64]) {
    for (target, (newer, older)) in zip(target, zip(newer, older)) {
        *target += factor * (newer - older);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimized(history: &mut History, point: &[f64], residual: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut best = vec![0.0; point.len()];
        let mut left = best.clone();
        let combined = PairMut {
            point: &mut best,
            residual: &mut left,
        };
        history.minimize(&vec![1.0; point.len()], Pair { point, residual }, combined);
        (best, left)
    }

    fn push(history: &mut History, point: f64, residual: f64) {
        history.push(Pair {
            point: &[point],
            residual: &[residual],
        });
    }

    #[test]
    fn without_a_past_the_newest_pair_is_the_best() {
        assert_eq!(
            minimized(&mut History::new(1, 5), &[2.0], &[3.0]),
            (vec![2.0], vec![3.0])
        );
        assert_eq!(
            minimized(&mut History::new(1, 0), &[2.0], &[3.0]),
            (vec![2.0], vec![3.0])
        );
    }

    #[test]
    fn one_unknown_gives_the_secant_through_the_two_latest() {
        let mut history = History::new(1, 5);
        push(&mut history, 100.0, -3.0);
        push(&mut history, 1.0, 1.0);
        let (best, left) = minimized(&mut history, &[2.0], &[3.0]);
        assert!((best[0] - 0.5).abs() < 1e-14 && left[0].abs() < 1e-14);
    }

    #[test]
    fn the_oldest_pair_makes_room() {
        let mut history = History::new(1, 2);
        for k in 0..5 {
            push(&mut history, f64::from(k), 1.0);
        }
        assert_eq!(history.len(), 2);
        assert_eq!(history.nearest(&[1.0], &[2.0]), 1.0);
        history.clear();
        assert_eq!(history.nearest(&[1.0], &[2.0]), f64::INFINITY);
    }
}
