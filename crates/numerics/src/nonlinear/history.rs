//! Points and residuals seen so far, and the combination of them that promises the smallest residual.
//!
//! Shared by Anderson mixing and nonlinear GMRES: both minimize `‖f + Σ_i a_i (f_i − f)‖` over earlier pairs
//! `(x_i, f_i)` beside a newest one `(x, f)`. We write it in differences of successive pairs, newest first: they
//! span the same space, and where there are more pairs than unknowns the recent ones, which know the
//! neighbourhood best, are those that count (with one unknown this is the secant method).

use std::iter::zip;

use super::least_squares::LeastSquares;
use super::vector::{add_scaled, distance};

/// The last pairs of a point and its residual.
#[derive(Clone, Debug)]
pub(super) struct History {
    size: usize,
    depth: usize,
    pushed: usize,
    points: Vec<f64>,
    residuals: Vec<f64>,
    fit: LeastSquares,
    /// The ages of the pairs whose differences the fit has kept.
    ages: Vec<usize>,
    coefficients: Vec<f64>,
    column: Vec<f64>,
}

/// A point and its residual.
#[derive(Clone, Copy)]
struct Pair<'a> {
    point: &'a [f64],
    residual: &'a [f64],
}

impl History {
    pub fn new(size: usize, depth: usize) -> Self {
        let columns = depth.min(size);
        Self {
            size,
            depth,
            pushed: 0,
            points: vec![0.0; size * depth],
            residuals: vec![0.0; size * depth],
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
    pub fn push(&mut self, point: &[f64], residual: &[f64]) {
        if self.depth > 0 {
            let start = self.pushed % self.depth * self.size;
            self.points[start..start + self.size].copy_from_slice(point);
            self.residuals[start..start + self.size].copy_from_slice(residual);
            self.pushed += 1;
        }
    }

    /// How close `point` is to any stored one; infinite if there is none.
    pub fn nearest(&self, weights: &[f64], point: &[f64]) -> f64 {
        (0..self.len()).map(|age| distance(weights, point, self.pair(age).point)).fold(f64::INFINITY, f64::min)
    }

    /// Moves the newest pair `(point, residual)` to the combination with the smallest residual, as far as the
    /// residual is linear between the pairs.
    pub fn minimize(&mut self, weights: &[f64], point: &mut [f64], residual: &mut [f64]) {
        let kept = self.fit_differences(weights, Pair { point, residual });
        for ((column, weight), value) in zip(zip(&mut self.column, weights), &*residual) {
            *column = weight * value;
        }
        self.fit.solve(&mut self.column, &mut self.coefficients);
        // The newest pair changes while its differences are taken, so the first difference goes last.
        for k in (0..kept).rev() {
            let (age, coefficient) = (self.ages[k], self.coefficients[k]);
            if age == 0 {
                let first = self.pair(0);
                blend(point, coefficient, first.point, kept > 1, &self.points_moved(k, kept), |_| 0.0);
                let _ = (first, residual);
                unreachable!()
            }
            add_scaled(point, -coefficient, &[]);
        }
    }
}
