//! Evaluations: made, counted and judged in one place.

use super::solver::{Ending, Equations, SolveOutcome};

/// What an evaluation has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvaluationState {
    Converged,
    Open,
    /// Refused, or not finite.
    Unusable,
}

impl EvaluationState {
    /// Why a solve ends here, if the evaluation alone is a reason.
    pub fn ending(self) -> Option<Ending> {
        match self {
            Self::Converged => Some(Ending::Converged),
            Self::Open => None,
            Self::Unusable => Some(Ending::Failed),
        }
    }
}

/// Equations and the number of times they were evaluated.
pub(super) struct CountedEvaluations<'a> {
    equations: &'a mut dyn Equations,
    evaluations: usize,
}

impl<'a> CountedEvaluations<'a> {
    /// Begins a solve: asks for the weights and takes a first look at `x`, which costs nothing
    /// where the residual is known.
    ///
    /// The number of `weights` is that of the unknowns for which the solver was made.
    pub fn begin(
        equations: &'a mut dyn Equations,
        weights: &mut [f64],
        x: &[f64],
        residual: &mut [f64],
        residual_known: bool,
    ) -> (Self, EvaluationState) {
        assert_eq!(
            equations.size(),
            weights.len(),
            "BUG: the solver was made for another number of unknowns"
        );
        let mut evaluator = Self {
            equations,
            evaluations: 0,
        };
        evaluator.ask_for_weights(x, weights);
        let first = if residual_known {
            evaluator.judge(x, residual)
        } else {
            evaluator.evaluate(x, residual)
        };

        (evaluator, first)
    }

    pub fn evaluate(&mut self, x: &[f64], residual: &mut [f64]) -> EvaluationState {
        self.evaluations += 1;
        if self.equations.evaluate(x, residual) {
            self.judge(x, residual)
        } else {
            EvaluationState::Unusable
        }
    }

    /// Whether the equations would be content with `residual`, a prediction, at `x`.
    pub fn would_converge(&self, x: &[f64], residual: &[f64]) -> bool {
        self.equations.converged(x, residual)
    }

    /// The outcome of a solve whose last evaluation was at the point it returns.
    pub fn outcome(&self, ending: Ending, iterations: usize) -> SolveOutcome {
        SolveOutcome {
            ending,
            iterations,
            evaluations: self.evaluations,
            at_last_evaluation: true,
        }
    }

    /// The outcome of a solve that evaluates points it may drop: it returns the last one only if
    /// that is the solution.
    pub fn outcome_after_trials(&self, ending: Ending, iterations: usize) -> SolveOutcome {
        SolveOutcome {
            at_last_evaluation: ending == Ending::Converged,
            ..self.outcome(ending, iterations)
        }
    }

    /// The equations' weights, made usable: one that is not finite and positive counts as one.
    fn ask_for_weights(&self, x: &[f64], weights: &mut [f64]) {
        self.equations.weights(x, weights);
        for weight in weights {
            let usable = weight.is_finite() && *weight > 0.0;
            if !usable {
                *weight = 1.0;
            }
        }
    }

    fn judge(&self, x: &[f64], residual: &[f64]) -> EvaluationState {
        let finite = residual.iter().all(|value| value.is_finite());
        if !finite {
            EvaluationState::Unusable
        } else if self.equations.converged(x, residual) {
            EvaluationState::Converged
        } else {
            EvaluationState::Open
        }
    }
}
