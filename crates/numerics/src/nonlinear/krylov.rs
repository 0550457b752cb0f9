//! The Newton step by GMRES on differences of the residual: one evaluation per Krylov direction.
//!
//! Directions are Arnoldi's, and the step is the least-squares one over their products, which are
//! kept: what the residual will be, and the slope for a line search, then cost no further product.
//! References: Saad & Schultz (1986), *GMRES*; Knoll & Keyes (2004), *Jacobian-free Newton–Krylov
//! methods*; the increment follows Walker & Pernice, PETSc's `-mat_mffd_type wp`, in that it grows
//! with `‖x‖`. Departures: residuals that come from integrations are noisy, so that far from the
//! solution increments are much larger than PETSc's `1e-8`; and the space stops growing once the
//! residual predicted, times a safety factor, would be accepted.

use std::iter::zip;

use super::evaluator::{CountedEvaluations, EvaluationState};
use super::least_squares::LeastSquares;
use super::vector::{add_scaled, length, norm, remove_component, set_quotient, set_weighted, step};
use crate::columns::Columns;

/// A predicted residual must be acceptable with this factor, as the prediction is linear.
const SAFETY: f64 = 10.0;
/// The increment as a share of the residual, between its limits.
const SHARE: f64 = 0.1;
/// Less than this of a product left beside the directions it starts from is rounding.
const NEW_DIRECTION: f64 = 1e-12;

/// What the search for a step ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KrylovSearch {
    /// There is a step, good or bad.
    Step,
    /// A point evaluated for a difference happens to be a solution: it is now the trial point.
    Converged,
    Failed,
}

/// The Krylov space of one Newton step, in weighted variables.
#[derive(Clone, Debug)]
pub(super) struct Krylov {
    dimension: usize,
    /// Orthonormal.
    directions: Columns,
    /// The Jacobian's products with them.
    products: Columns,
    fit: LeastSquares,
    coefficients: Vec<f64>,
    scratch: Vec<f64>,
    /// The step, in the unknowns' own units.
    pub step: Vec<f64>,
    /// What the residual becomes after `step`, as far as it is linear.
    pub predicted: Vec<f64>,
    /// A point and its residual, evaluated for a difference.
    pub trial: Vec<f64>,
    pub trial_residual: Vec<f64>,
}

/// How far to go.
#[derive(Clone, Copy)]
pub(super) struct Accuracy {
    /// Reduction of the linear residual to stop at.
    pub tolerance: f64,
    /// The smallest and the largest increment of differences, relative to `1 + ‖x‖`.
    pub increments: (f64, f64),
}

impl Accuracy {
    /// A share of the residual, as the step to find is of that size: what an increment misses of
    /// the curvature then vanishes with it.
    fn increment(&self, residual: f64, scale: f64) -> f64 {
        let (smallest, largest) = self.increments;
        (SHARE * residual)
            .min(largest * scale)
            .max(smallest * scale)
    }
}

/// Where the step starts.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    pub weights: &'a [f64],
    pub x: &'a [f64],
    pub residual: &'a [f64],
}

impl Krylov {
    pub fn new(size: usize, dimension: usize) -> Self {
        let dimension = dimension.min(size);
        let zeros = vec![0.0; size];

        Self {
            dimension,
            directions: Columns::zeros(size, dimension),
            products: Columns::zeros(size, dimension),
            fit: LeastSquares::new(size, dimension),
            coefficients: vec![0.0; dimension],
            scratch: zeros.clone(),
            step: zeros.clone(),
            predicted: zeros.clone(),
            trial: zeros.clone(),
            trial_residual: zeros,
        }
    }

    /// Finds the step that brings the linearized residual down to the tolerance, or as far as the
    /// space allows.
    pub fn search(
        &mut self,
        evaluator: &mut CountedEvaluations,
        base: Base,
        accuracy: Accuracy,
    ) -> KrylovSearch {
        let initial = norm(base.weights, base.residual);
        let increment = accuracy.increment(initial, 1.0 + norm(base.weights, base.x));
        self.begin(base);

        for column in 0..self.dimension {
            if !self.add_direction(column) {
                break;
            }
            match self.difference(evaluator, base, column, increment) {
                EvaluationState::Converged => return KrylovSearch::Converged,
                EvaluationState::Unusable => return KrylovSearch::Failed,
                EvaluationState::Open => {}
            }
            self.scratch.copy_from_slice(self.products.column(column));
            if !self.fit.push(&mut self.scratch) {
                break;
            }
            self.minimize(base, column + 1);
            let accurate = norm(base.weights, &self.predicted) <= accuracy.tolerance * initial;
            if accurate || self.suffices(evaluator, base) {
                break;
            }
            self.scratch.copy_from_slice(self.products.column(column));
        }
        KrylovSearch::Step
    }

    /// No step yet; the first direction is that of the residual.
    fn begin(&mut self, base: Base) {
        self.fit.clear();
        self.step.fill(0.0);
        self.predicted.copy_from_slice(base.residual);
        set_weighted(&mut self.scratch, base.weights, base.residual);
    }

    /// Makes what is new in the scratch vector the next direction; false if nothing is.
    fn add_direction(&mut self, column: usize) -> bool {
        let before = length(&self.scratch);
        // Twice, as one round of Gram–Schmidt loses digits.
        for _ in 0..2 {
            for earlier in 0..column {
                remove_component(&mut self.scratch, self.directions.column(earlier));
            }
        }

        let after = length(&self.scratch);
        set_quotient(self.directions.column_mut(column), &self.scratch, after);
        after > NEW_DIRECTION * before
    }

    /// The product of the Jacobian and a direction, from one evaluation.
    fn difference(
        &mut self,
        evaluator: &mut CountedEvaluations,
        base: Base,
        column: usize,
        increment: f64,
    ) -> EvaluationState {
        let direction = self.directions.column(column);
        for (k, trial) in self.trial.iter_mut().enumerate() {
            *trial = base.x[k] + increment * direction[k] / base.weights[k];
        }

        let evaluation = evaluator.evaluate(&self.trial, &mut self.trial_residual);
        let products = self.products.column_mut(column);

        for (k, product) in products.iter_mut().enumerate() {
            let change = self.trial_residual[k] - base.residual[k];
            *product = base.weights[k] * change / increment;
        }
        evaluation
    }

    /// The best step in the space so far, and the residual it predicts.
    fn minimize(&mut self, base: Base, columns: usize) {
        set_weighted(&mut self.scratch, base.weights, base.residual);
        self.fit.solve(&mut self.scratch, &mut self.coefficients);
        self.step.fill(0.0);

        for (column, coefficient) in self.coefficients[..columns].iter().enumerate() {
            let direction = self.directions.column(column);
            add_scaled(&mut self.step, -coefficient, direction);
        }
        for (k, weight) in base.weights.iter().enumerate() {
            self.step[k] /= weight;
            self.predicted[k] = self.scratch[k] / weight;
        }
    }

    /// Whether the equations would accept the residual predicted, with a margin.
    fn suffices(&mut self, evaluator: &CountedEvaluations, base: Base) -> bool {
        step(&mut self.trial, base.x, 1.0, &self.step);
        for (margin, predicted) in zip(&mut self.scratch, &self.predicted) {
            *margin = SAFETY * predicted;
        }
        evaluator.would_converge(&self.trial, &self.scratch)
    }
}
