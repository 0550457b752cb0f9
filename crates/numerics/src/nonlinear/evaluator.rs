//! Evaluations: made, counted and judged in one place.

use super::{Ending, Equations, Outcome};

/// What an evaluation has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Converged,
    Open,
    /// Refused, or not finite.
    Nothing,
}

/// Equations and the number of times they were evaluated.
pub(super) struct Evaluator<'a> {
    equations: &'a mut dyn Equations,
    evaluations: usize,
}

impl<'a> Evaluator<'a> {
    /// Starts counting, for a solver made for `size` unknowns.
    pub fn new(equations: &'a mut dyn Equations, size: usize) -> Self {
        assert_eq!(
            equations.size(),
            size,
            "BUG: the solver was made for another number of unknowns"
        );
        Self {
            equations,
            evaluations: 0,
        }
    }

    pub fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> Found {
        self.evaluations += 1;
        if !self.equations.evaluate(x, residual) {
            Found::Nothing
        } else {
            self.judge(x, residual)
        }
    }

    /// The first look at `x`: the only one that costs nothing where the residual is known.
    pub fn begin(&mut self, x: &[f64], residual: &mut [f64], known: bool) -> Found {
        if known {
            self.judge(x, residual)
        } else {
            self.evaluate(x, residual)
        }
    }

    /// Whether the equations would be content with `residual`, a prediction, at `x`.
    pub fn would_converge(&self, x: &[f64], residual: &[f64]) -> bool {
        self.equations.converged(x, residual)
    }

    /// The equations' weights, made usable: a weight that is not finite and positive counts as one.
    pub fn weights(&self, x: &[f64], weights: &mut [f64]) {
        self.equations.weights(x, weights);
        for weight in weights
            .iter_mut()
            .filter(|weight| !(weight.is_finite() && **weight > 0.0))
        {
            *weight = 1.0;
        }
    }

    /// The outcome of a solve whose last evaluation was at the point it returns.
    pub fn outcome(&self, ending: Ending, iterations: usize) -> Outcome {
        Outcome {
            ending,
            iterations,
            evaluations: self.evaluations,
            at_last_evaluation: true,
        }
    }

    fn judge(&self, x: &[f64], residual: &[f64]) -> Found {
        if !residual.iter().all(|value| value.is_finite()) {
            Found::Nothing
        } else if self.equations.converged(x, residual) {
            Found::Converged
        } else {
            Found::Open
        }
    }
}
