//! Newton's method without a Jacobian: GMRES on differences, and a backtracking line search.
//!
//! The parameters are those of IFOSMONDI-JFM, table 3, and PETSc's defaults for `newtonls`: `alpha`
//! 1e-4, `maxstep` 1e8, `minlambda` 1e-12, `max_it` 40, linear tolerance 1e-5, a Krylov space of at
//! most 30. Departure: the slope for the line search comes from the products GMRES has kept, where
//! PETSc spends another evaluation on it.

use super::evaluator::{CountedEvaluations, EvaluationState};
use super::krylov::{Accuracy, Base, Krylov, KrylovSearch};
use super::line_search::Backtracking;
use super::solver::{Ending, Equations, NonlinearSolver, SolveOutcome};
use super::vector::{length, norm, product, step};

/// Options of [`Newton`]; the defaults are those of IFOSMONDI-JFM, table 3, and of PETSc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonOptions {
    /// The largest Krylov space, and so the most products per step; never more than the unknowns.
    pub krylov_dimension: usize,
    /// The reduction of the linear residual at which a step is accurate enough.
    pub linear_tolerance: f64,
    /// The smallest increment of differences, relative to `1 + ‖x‖`: that near the solution.
    pub smallest_increment: f64,
    /// The largest increment of differences, relative to `1 + ‖x‖`: that far from the solution.
    pub largest_increment: f64,
    /// The share of the promised reduction a step must give, `alpha`.
    pub sufficient_reduction: f64,
    /// No step is longer than so many times the unknowns, PETSc's `maxstep` but for their unit.
    pub longest_step: f64,
    /// The smallest share of a step worth trying, `minlambda`.
    pub shortest_share: f64,
    /// The most trials along one step, `max_it`.
    pub line_search_limit: usize,
    /// Iterations allowed.
    pub iteration_limit: usize,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self {
            krylov_dimension: 30,
            linear_tolerance: 1e-5,
            smallest_increment: 1e-7,
            largest_increment: 1e-4,
            sufficient_reduction: 1e-4,
            longest_step: 1e8,
            shortest_share: 1e-12,
            line_search_limit: 40,
            iteration_limit: 50,
        }
    }
}

impl NewtonOptions {
    /// How accurate a step is to be.
    fn accuracy(&self) -> Accuracy {
        Accuracy {
            tolerance: self.linear_tolerance,
            increments: (self.smallest_increment, self.largest_increment),
        }
    }
}

/// Newton's method with matrix-free GMRES and cubic backtracking.
#[derive(Clone, Debug)]
pub struct Newton {
    options: NewtonOptions,
    krylov: Krylov,
    weights: Vec<f64>,
}

impl Newton {
    /// A solver for `size` unknowns.
    pub fn new(size: usize, options: NewtonOptions) -> Self {
        Self {
            options,
            krylov: Krylov::new(size, options.krylov_dimension),
            weights: vec![0.0; size],
        }
    }

    /// One step: finds it and goes along it. What stops the method is an ending.
    fn advance(
        &mut self,
        evaluator: &mut CountedEvaluations,
        x: &mut [f64],
        residual: &mut [f64],
    ) -> Option<Ending> {
        let base = Base {
            weights: &self.weights,
            x,
            residual,
        };
        let accuracy = self.options.accuracy();

        match self.krylov.search(evaluator, base, accuracy) {
            KrylovSearch::Failed => Some(Ending::Failed),
            KrylovSearch::Converged => {
                self.take_trial(x, residual);
                Some(Ending::Converged)
            }
            KrylovSearch::Step => self.search_along_step(evaluator, x, residual),
        }
    }

    /// Goes along the step as far as the residual is reduced enough.
    fn search_along_step(
        &mut self,
        evaluator: &mut CountedEvaluations,
        x: &mut [f64],
        residual: &mut [f64],
    ) -> Option<Ending> {
        let Some(mut line) = self.begin_line_search(x, residual) else {
            return Some(Ending::Stagnated);
        };
        let mut evaluation = EvaluationState::Open;

        for _ in 0..self.options.line_search_limit {
            if line.length() < self.options.shortest_share {
                break;
            }
            evaluation = self.try_share(line.length(), evaluator, x);
            if evaluation == EvaluationState::Unusable {
                line.retreat();
                continue;
            }
            let solved = evaluation == EvaluationState::Converged;
            if solved || line.accept(norm(&self.weights, &self.krylov.trial_residual)) {
                self.take_trial(x, residual);
                return solved.then_some(Ending::Converged);
            }
        }

        let undefined = evaluation == EvaluationState::Unusable;
        Some(if undefined {
            Ending::Failed
        } else {
            Ending::Stagnated
        })
    }

    /// Where the step leads downhill, the search along it.
    fn begin_line_search(&mut self, x: &[f64], residual: &[f64]) -> Option<Backtracking> {
        let share = self.limit_step(x);
        let norm = norm(&self.weights, residual);
        // Fᵀ J d, with J d what the prediction differs by; a least-squares step never points
        // uphill.
        let predicted = product(&self.weights, residual, &self.krylov.predicted);
        let slope = share * (predicted - norm * norm);
        let promising = slope < -f64::EPSILON * share * norm * norm;

        promising.then(|| Backtracking::new(norm, slope, self.options.sufficient_reduction))
    }

    /// Evaluates the point that a share of the step leads to.
    fn try_share(
        &mut self,
        share: f64,
        evaluator: &mut CountedEvaluations,
        x: &[f64],
    ) -> EvaluationState {
        let krylov = &mut self.krylov;
        step(&mut krylov.trial, x, share, &krylov.step);
        evaluator.evaluate(&krylov.trial, &mut krylov.trial_residual)
    }

    /// Shortens a step that is too long; returns the share that is left.
    fn limit_step(&mut self, x: &[f64]) -> f64 {
        let step = &mut self.krylov.step;
        let size = length(x);
        let longest = if size > 0.0 {
            self.options.longest_step * size
        } else {
            f64::INFINITY
        };
        let share = (longest / length(step)).min(1.0);
        step.iter_mut().for_each(|entry| *entry *= share);

        share
    }

    fn take_trial(&mut self, x: &mut [f64], residual: &mut [f64]) {
        x.copy_from_slice(&self.krylov.trial);
        residual.copy_from_slice(&self.krylov.trial_residual);
    }
}

impl NonlinearSolver for Newton {
    fn name(&self) -> &'static str {
        "newton"
    }

    fn solve_from(
        &mut self,
        equations: &mut dyn Equations,
        x: &mut [f64],
        residual: &mut [f64],
        residual_known: bool,
    ) -> SolveOutcome {
        let (mut evaluator, first) =
            CountedEvaluations::begin(equations, &mut self.weights, x, residual, residual_known);
        if let Some(ending) = first.ending() {
            return evaluator.outcome(ending, 0);
        }

        for iteration in 1..=self.options.iteration_limit {
            if let Some(ending) = self.advance(&mut evaluator, x, residual) {
                return evaluator.outcome_after_trials(ending, iteration);
            }
        }
        evaluator.outcome(Ending::IterationLimit, self.options.iteration_limit)
    }
}
