//! Integration to a tolerance: explicit while that is cheap, implicit where the problem is stiff.
//!
//! Both methods are at hand. The explicit one starts unless the hint says otherwise and hands over
//! when it is sure that stability limits its steps; the implicit one hands back when, for its cost,
//! the explicit method would come further. The loop below is the only one; the methods supply
//! attempts.

use crate::attempt::{Attempt, AttemptVerdict, not_finite};
use crate::dop853::Dop853;
use crate::progress::Progress;
use crate::radau::Radau;
use crate::rhs::{Counted, Rhs};
use crate::stiffness::expected_h_lambda;
use crate::tolerance::Tolerance;

/// So many implicit steps in a row with which the explicit method could have kept up, and it takes
/// over.
const EASY_STEPS_TO_BE_SURE: usize = 3;

/// Evaluations in an explicit step.
const EXPLICIT_COST: f64 = 12.0;

/// After evidence that misled, so many times more is needed.
const GROWTH_OF_DOUBT: usize = 4;

/// The implicit method was called for nothing if it hands back within so many steps.
const STEPS_OF_A_FALSE_ALARM: usize = 30;

/// What one integration teaches the next: kept by the caller, so that a trial leaves no trace.
///
/// The default knows nothing. A hint changes the work and, within the tolerance, the result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hint {
    /// Start with the implicit method.
    pub stiff: bool,
    /// The step to try first; 0 if unknown.
    pub step: f64,
}

/// What an integration has learnt and what it cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The time reached: the end, unless [`Rhs::arrived`] ended it before.
    pub reached: f64,
    /// For an integration that goes on from here.
    pub hint: Hint,
    /// Steps accepted.
    pub steps: usize,
    /// Steps rejected.
    pub rejected: usize,
    /// Derivatives asked for, without those that finite differences take.
    pub evaluations: usize,
    /// Jacobians asked for.
    pub jacobians: usize,
}

/// An integration could not go on.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum IntegrationError {
    /// A state or derivative is infinite or not a number, however short the step; or start or end
    /// is.
    #[error("component {component} is not finite at t = {time}")]
    NotFinite {
        /// The time reached.
        time: f64,
        /// The component, counted from zero.
        component: usize,
    },
    /// The integration asks for more work than it was granted.
    #[error("more than {limit} steps were tried; t = {time} was reached")]
    TooManySteps {
        /// The time reached.
        time: f64,
        /// The number of attempts allowed.
        limit: usize,
    },
    /// The step shrank below what time can resolve.
    #[error(
        "a step of {step:e} at t = {time} is too small; \
         the error of component {component} is the largest"
    )]
    StepTooSmall {
        /// The time reached.
        time: f64,
        /// The step that would be next.
        step: f64,
        /// The component with the largest error, counted from zero.
        component: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntegrationMethod {
    Explicit,
    Implicit,
}

impl IntegrationMethod {
    fn first(hint: Hint) -> Self {
        if hint.stiff {
            Self::Implicit
        } else {
            Self::Explicit
        }
    }
}

/// A stretch of the integration in the hands of one method.
#[derive(Clone, Debug)]
struct Turn {
    method: IntegrationMethod,
    /// Evaluations spent in this turn, those for Jacobians included.
    spent: usize,
    /// Steps accepted.
    steps: usize,
    /// Steps in a row with which the explicit method could have kept up.
    easy_steps: usize,
    /// How many times the usual evidence of stiffness is needed; zero before there was any.
    doubt: usize,
}

impl Turn {
    fn new(method: IntegrationMethod) -> Self {
        Self {
            method,
            spent: 0,
            steps: 0,
            easy_steps: 0,
            doubt: 0,
        }
    }

    /// The turn of the other method.
    fn next(&self) -> Self {
        let false_alarm = self.steps < STEPS_OF_A_FALSE_ALARM;
        let (method, doubt) = match self.method {
            IntegrationMethod::Explicit => (IntegrationMethod::Implicit, self.doubt.max(1)),
            IntegrationMethod::Implicit if false_alarm => {
                (IntegrationMethod::Explicit, GROWTH_OF_DOUBT * self.doubt)
            }
            IntegrationMethod::Implicit => (IntegrationMethod::Explicit, 0),
        };

        Self {
            doubt,
            ..Self::new(method)
        }
    }

    fn record_step(&mut self, accepted: bool, cost: usize) {
        self.spent += cost;
        self.steps += usize::from(accepted);
    }

    fn record_ease(&mut self, easy: bool) {
        self.easy_steps = if easy { self.easy_steps + 1 } else { 0 };
    }

    /// Evaluations spent per step accepted.
    fn cost_per_step(&self, factorizations: f64) -> f64 {
        (self.spent as f64 + factorizations) / self.steps.max(1) as f64
    }
}

/// Integrates systems of one size, with the workspace of both methods.
#[derive(Clone, Debug)]
pub struct Integrator {
    /// How many steps one integration may try, accepted or not.
    pub step_limit: usize,
    explicit: Dop853,
    implicit: Radau,
    size: usize,
}

/// Where steps become shorter than this part of the span, what limits them may be rounding.
const SUSPICIOUS: f64 = 1e-6;

impl Integrator {
    /// Allocates the workspace for `size` states; the limit is a million steps.
    pub fn new(size: usize) -> Self {
        Self {
            step_limit: 1_000_000,
            explicit: Dop853::new(size),
            implicit: Radau::new(size),
            size,
        }
    }

    /// Integrates from `start` to `end`, overwriting `state`; backwards if `end` comes first.
    ///
    /// The error of each step, as a root mean square over the components in units of what
    /// `tolerance` allows to each, is kept below one. After an error `state` holds the last
    /// accepted step.
    ///
    /// # Panics
    ///
    /// If `rhs` or `state` is not of the size the integrator was made for.
    pub fn integrate<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        start: f64,
        end: f64,
        state: &mut [f64],
        tolerance: Tolerance<'_>,
        hint: Hint,
    ) -> Result<Outcome, IntegrationError> {
        assert!(
            rhs.size() == self.size && state.len() == self.size,
            "BUG: the sizes differ"
        );
        let mut rhs = Counted::new(rhs);
        let mut progress = Progress::new(start, end);
        if self.size == 0 || start == end {
            return Ok(outcome(&progress, &rhs, hint));
        }

        for time in [start, end] {
            if !time.is_finite() {
                return Err(IntegrationError::NotFinite { time, component: 0 });
            }
        }

        let tolerance = tolerance.attainable();
        let turn = self.run(&mut rhs, &mut progress, state, tolerance, hint)?;
        let size = progress.proposed.min((end - start).abs());
        let hint = Hint {
            stiff: self.is_stiff(&turn, size, tolerance),
            step: progress.proposed,
        };

        Ok(outcome(&progress, &rhs, hint))
    }

    /// The loop; returns the method at its end.
    fn run<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut Counted<R>,
        progress: &mut Progress,
        state: &mut [f64],
        tolerance: Tolerance<'_>,
        hint: Hint,
    ) -> Result<Turn, IntegrationError> {
        let mut tolerance = tolerance;
        let mut turn = Turn::new(IntegrationMethod::first(hint));
        self.begin(turn.method, rhs, progress.time, state)?;
        progress.proposed = self.first_step(turn.method, rhs, progress, state, tolerance, hint);
        let suspicious = SUSPICIOUS * progress.remaining().abs();

        while !progress.is_over() {
            let step = progress.next_step();
            if progress.last == AttemptVerdict::Rejected && step.abs() < suspicious {
                tolerance = self.above_rounding(turn.method, state, tolerance);
            }
            self.check(turn.method, progress, step, state, tolerance)?;
            let before = rhs.cost();
            let attempt = self.attempt(turn.method, rhs, progress.time, step, state, tolerance);
            progress.record(step, attempt);
            let accepted = attempt.verdict == AttemptVerdict::Accepted;
            if accepted && rhs.arrived(progress.time, state).is_break() {
                break;
            }
            turn.record_step(accepted, rhs.cost() - before);
            turn.record_ease(self.is_easy(&turn, progress.proposed, tolerance));
            if self.is_over(&turn) && !progress.is_over() {
                turn = turn.next();
                self.begin(turn.method, rhs, progress.time, state)?;
            }
        }
        Ok(turn)
    }

    /// A tolerance that does not ask of the worst component what may be lost in rounding.
    fn above_rounding<'a>(
        &self,
        method: IntegrationMethod,
        state: &[f64],
        tolerance: Tolerance<'a>,
    ) -> Tolerance<'a> {
        let component = self.worst_component(method, state, tolerance);
        tolerance.above_rounding(component, state[component].abs())
    }

    fn begin<R: Rhs + ?Sized>(
        &mut self,
        method: IntegrationMethod,
        rhs: &mut R,
        time: f64,
        state: &[f64],
    ) -> Result<(), IntegrationError> {
        let derivative = match method {
            IntegrationMethod::Explicit => {
                self.explicit.begin(rhs, time, state);
                self.explicit.derivative()
            }
            IntegrationMethod::Implicit => {
                self.implicit.begin(rhs, time, state);
                self.implicit.derivative()
            }
        };
        for values in [state, derivative] {
            if let Some(component) = not_finite(values, self.size) {
                return Err(IntegrationError::NotFinite { time, component });
            }
        }
        Ok(())
    }

    fn first_step<R: Rhs + ?Sized>(
        &mut self,
        method: IntegrationMethod,
        rhs: &mut R,
        progress: &Progress,
        state: &[f64],
        tolerance: Tolerance<'_>,
        hint: Hint,
    ) -> f64 {
        if hint.step > 0.0 && hint.step.is_finite() {
            return hint.step;
        }

        let time = progress.time;
        let span = progress.remaining();

        match method {
            IntegrationMethod::Explicit => {
                self.explicit.first_step(rhs, time, span, state, tolerance)
            }
            IntegrationMethod::Implicit => {
                self.implicit.first_step(rhs, time, span, state, tolerance)
            }
        }
    }

    fn attempt<R: Rhs + ?Sized>(
        &mut self,
        method: IntegrationMethod,
        rhs: &mut R,
        time: f64,
        step: f64,
        state: &mut [f64],
        tolerance: Tolerance<'_>,
    ) -> Attempt {
        match method {
            IntegrationMethod::Explicit => self.explicit.attempt(rhs, time, step, state, tolerance),
            IntegrationMethod::Implicit => self.implicit.attempt(rhs, time, step, state, tolerance),
        }
    }

    /// Ends an integration that has no more steps to try or none worth trying.
    fn check(
        &self,
        method: IntegrationMethod,
        progress: &Progress,
        step: f64,
        state: &[f64],
        tolerance: Tolerance<'_>,
    ) -> Result<(), IntegrationError> {
        let time = progress.time;
        if progress.accepted + progress.rejected >= self.step_limit {
            return Err(IntegrationError::TooManySteps {
                time,
                limit: self.step_limit,
            });
        }
        if !progress.is_too_small(step) {
            return Ok(());
        }
        if let AttemptVerdict::NotFinite { component } = progress.last {
            return Err(IntegrationError::NotFinite { time, component });
        }

        let component = self.worst_component(method, state, tolerance);
        Err(IntegrationError::StepTooSmall {
            time,
            step,
            component,
        })
    }

    /// The component with the largest error in the last attempt.
    fn worst_component(
        &self,
        method: IntegrationMethod,
        state: &[f64],
        tolerance: Tolerance<'_>,
    ) -> usize {
        match method {
            IntegrationMethod::Explicit => self.explicit.worst_component(state, tolerance),
            IntegrationMethod::Implicit => self.implicit.worst_component(),
        }
    }

    /// Whether the explicit method would come as far as implicit steps of `size` do, for what they
    /// cost.
    fn is_easy(&self, turn: &Turn, size: f64, tolerance: Tolerance<'_>) -> bool {
        let h_lambda = expected_h_lambda(tolerance.relative);
        let explicit_size = h_lambda / self.implicit.spectral_bound();
        let factorization_cost = 3.0 * self.size as f64; // 6 n³ operations, in evaluations of 2 n²
        let factorizations = self.implicit.factorizations() as f64 * factorization_cost;
        let implicit_cost = turn.cost_per_step(factorizations);

        size / implicit_cost < explicit_size / EXPLICIT_COST
    }

    /// Whether the other method should take over.
    fn is_over(&self, turn: &Turn) -> bool {
        match turn.method {
            IntegrationMethod::Explicit => self.explicit.stiffness().is_certain(turn.doubt.max(1)),
            IntegrationMethod::Implicit => turn.easy_steps >= EASY_STEPS_TO_BE_SURE,
        }
    }

    /// Whether an integration over a like span should start with the implicit method.
    fn is_stiff(&self, turn: &Turn, size: f64, tolerance: Tolerance<'_>) -> bool {
        match turn.method {
            IntegrationMethod::Explicit => self.explicit.stiffness().is_likely(),
            IntegrationMethod::Implicit => !self.is_easy(turn, size, tolerance),
        }
    }
}

fn outcome<R: ?Sized>(progress: &Progress, rhs: &Counted<R>, hint: Hint) -> Outcome {
    Outcome {
        reached: progress.time,
        hint,
        steps: progress.accepted,
        rejected: progress.rejected,
        evaluations: rhs.evaluations,
        jacobians: rhs.jacobians,
    }
}
