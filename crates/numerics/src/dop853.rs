//! The explicit method of Dormand & Prince, order 8 with embedded orders 5 and 3.
//!
//! Reference: Hairer, Nørsett & Wanner, *Solving ODEs I* (1993), section II.10 and code DOP853,
//! cited as "HNW". Departures: the PI controller is on (β = 0.04, where the code has 0); the
//! derivative at the end of a step is evaluated when the next step asks for it, so that the last
//! step of an integration saves it.

use crate::attempt::{Attempt, AttemptVerdict, index_of_largest, not_finite};
use crate::columns::Columns;
use crate::dop853_coefficients::{
    COMPOSITION, ERROR_OF_ORDER_3, ERROR_OF_ORDER_5, NODES, Row, SOLUTION, STAGES,
};
use crate::initial_step::{InitialScratch, IntegrationStart, initial_step};
use crate::rhs::Rhs;
use crate::stiffness::{Stiffness, suspicious_h_lambda};
use crate::tolerance::Tolerance;

const ORDER: i32 = 8;
const SAFETY: f64 = 0.9;
const LARGEST_GROWTH: f64 = 6.0;
const LARGEST_SHRINKAGE: f64 = 0.333;
/// Weight of the previous error in the PI controller, HNW section IV.2 of volume II.
const BETA: f64 = 0.04;
const EXPONENT: f64 = 1.0 / 8.0 - 0.2 * BETA;
/// What the controller remembers before there is a step to remember.
const FIRST_ERROR: f64 = 1e-4;

/// The workspace of the explicit method.
#[derive(Clone, Debug)]
pub(crate) struct Dop853 {
    /// Derivatives of all stages; the first belongs to the current state.
    derivatives: Columns,
    /// The state at which the last stage was evaluated.
    stage: Vec<f64>,
    candidate: Vec<f64>,
    previous_error: f64,
    previous_step: f64,
    after_rejection: bool,
    derivative_is_current: bool,
    stiffness: Stiffness,
}

impl Dop853 {
    pub fn new(size: usize) -> Self {
        Self {
            derivatives: Columns::zeros(size, STAGES),
            stage: vec![0.0; size],
            candidate: vec![0.0; size],
            previous_error: FIRST_ERROR,
            previous_step: 0.0,
            after_rejection: false,
            derivative_is_current: false,
            stiffness: Stiffness::default(),
        }
    }

    /// Forgets what came before and evaluates the derivative at `state`.
    pub fn begin<R: Rhs + ?Sized>(&mut self, rhs: &mut R, time: f64, state: &[f64]) {
        let derivative = self.derivatives.column_mut(0);
        rhs.derivative(time, state, derivative);
        self.previous_error = FIRST_ERROR;
        self.after_rejection = false;
        self.derivative_is_current = true;

        self.stiffness = Stiffness::default();
    }

    /// The derivative at the current state, right after [`begin`](Self::begin).
    pub fn derivative(&self) -> &[f64] {
        self.derivatives.column(0)
    }

    /// A size for the first step, right after [`begin`](Self::begin).
    pub fn first_step<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        time: f64,
        span: f64,
        state: &[f64],
        tolerance: Tolerance<'_>,
    ) -> f64 {
        let (derivative, second) = self.derivatives.first_two_mut();
        let start = IntegrationStart {
            time,
            span,
            state,
            derivative,
        };
        let scratch = InitialScratch {
            state: &mut self.stage,
            derivative: second,
            allowed: &mut self.candidate,
        };

        initial_step(rhs, &start, scratch, tolerance, ORDER)
    }

    /// The evidence of stiffness since [`begin`](Self::begin).
    pub fn stiffness(&self) -> &Stiffness {
        &self.stiffness
    }

    /// Tries one step from `state`, which moves if the step is accepted.
    pub fn attempt<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        time: f64,
        step: f64,
        state: &mut [f64],
        tolerance: Tolerance<'_>,
    ) -> Attempt {
        if !self.derivative_is_current {
            self.renew_derivative(rhs, time, state, tolerance);
        }

        self.evaluate_stages(rhs, time, step, state);
        let candidate = &mut self.candidate;
        combine(state, step, SOLUTION, &self.derivatives, candidate);
        let error = self.error(step, state, tolerance);

        if error.is_finite() {
            self.judge(error, step, state)
        } else {
            self.retreat(step)
        }
    }

    /// The component with the largest error in the last attempt.
    pub fn worst_component(&self, state: &[f64], tolerance: Tolerance<'_>) -> usize {
        index_of_largest(state.len(), |k| {
            let allowed = self.allowed(k, state, tolerance);
            weighted_sum(ERROR_OF_ORDER_5, &self.derivatives, k) / allowed
        })
    }

    /// The derivative after an accepted step; compared with that of the last stage, which was
    /// evaluated at the same time, it shows stiffness.
    fn renew_derivative<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        time: f64,
        state: &[f64],
        tolerance: Tolerance<'_>,
    ) {
        rhs.derivative(time, state, self.derivatives.column_mut(0));
        self.derivative_is_current = true;
        let last_stage = self.derivatives.column(STAGES - 1);
        let change = square_distance(self.derivatives.column(0), last_stage);
        let distance = square_distance(state, &self.stage);

        if distance > 0.0 {
            let h_lambda = self.previous_step.abs() * (change / distance).sqrt();
            let limit = suspicious_h_lambda(tolerance.relative);
            self.stiffness.record(h_lambda, limit);
        }
    }

    fn evaluate_stages<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        time: f64,
        step: f64,
        state: &[f64],
    ) {
        for stage in 1..STAGES {
            let row = COMPOSITION[stage];
            combine(state, step, row, &self.derivatives, &mut self.stage);
            let derivative = self.derivatives.column_mut(stage);
            rhs.derivative(time + NODES[stage] * step, &self.stage, derivative);
        }
    }

    /// The error allowed in a component, by the larger of its values at both ends of the step.
    fn allowed(&self, component: usize, state: &[f64], tolerance: Tolerance<'_>) -> f64 {
        let before = state[component].abs();
        let after = self.candidate[component].abs();
        tolerance.allows(component, before.max(after))
    }

    /// The error in units of what is allowed, HNW (10.17): of order 8, from the two embedded
    /// solutions.
    fn error(&self, step: f64, state: &[f64], tolerance: Tolerance<'_>) -> f64 {
        let derivatives = &self.derivatives;
        let mut of_order_5 = 0.0;
        let mut of_order_3 = 0.0;

        for k in 0..state.len() {
            let allowed = self.allowed(k, state, tolerance);
            of_order_5 += (weighted_sum(ERROR_OF_ORDER_5, derivatives, k) / allowed).powi(2);
            of_order_3 += (weighted_sum(ERROR_OF_ORDER_3, derivatives, k) / allowed).powi(2);
        }

        let denominator = of_order_5 + 0.01 * of_order_3;
        if denominator == 0.0 {
            return 0.0;
        }

        let mean = state.len() as f64 * denominator;
        step.abs() * of_order_5 / mean.sqrt()
    }

    fn judge(&mut self, error: f64, step: f64, state: &mut [f64]) -> Attempt {
        let reduction = error.powf(EXPONENT);
        if error > 1.0 {
            self.after_rejection = true;
            let factor = (SAFETY / reduction).max(LARGEST_SHRINKAGE);
            return Attempt {
                verdict: AttemptVerdict::Rejected,
                next: step.abs() * factor,
            };
        }

        let factor = SAFETY * self.previous_error.powf(BETA) / reduction;
        let growth = if self.after_rejection {
            1.0
        } else {
            LARGEST_GROWTH
        };
        let next = step.abs() * factor.clamp(LARGEST_SHRINKAGE, growth);
        self.previous_error = error.max(FIRST_ERROR);
        self.previous_step = step;
        self.after_rejection = false;
        self.derivative_is_current = false;
        state.copy_from_slice(&self.candidate);

        Attempt {
            verdict: AttemptVerdict::Accepted,
            next,
        }
    }

    /// Left the domain of the right-hand side: come much closer.
    fn retreat(&mut self, step: f64) -> Attempt {
        self.after_rejection = true;
        let size = self.stage.len();
        let component = not_finite(self.derivatives.entries(), size)
            .or_else(|| not_finite(&self.candidate, size));
        let verdict = match component {
            Some(component) => AttemptVerdict::NotFinite { component },
            None => AttemptVerdict::Rejected,
        };

        Attempt {
            verdict,
            next: 0.1 * step.abs(),
        }
    }
}

/// `target = state + step · Σ coefficient · derivative`.
fn combine(state: &[f64], step: f64, row: Row, derivatives: &Columns, target: &mut [f64]) {
    for (k, target) in target.iter_mut().enumerate() {
        *target = state[k] + step * weighted_sum(row, derivatives, k);
    }
}

#[inline]
fn weighted_sum(row: Row, derivatives: &Columns, component: usize) -> f64 {
    row.iter()
        .map(|&(stage, weight)| weight * derivatives.entry(stage, component))
        .sum()
}

fn square_distance(left: &[f64], right: &[f64]) -> f64 {
    let pairs = left.iter().zip(right);
    pairs.map(|(left, right)| (left - right).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rhs::from_fn;

    const ANYTHING: Tolerance<'_> = Tolerance {
        relative: 1e9,
        absolute: 1e9,
        sizes: &[],
        largest: 0.0,
    };

    /// The error at t = 2 on `x' = x cos t`, where the time counts and the problem is not linear in
    /// it.
    fn error_with(steps: usize) -> f64 {
        let mut rhs = from_fn(1, |time, x: &[f64], dx: &mut [f64]| {
            dx[0] = x[0] * time.cos()
        });
        let mut method = Dop853::new(1);
        let mut state = [1.0];
        method.begin(&mut rhs, 0.0, &state);
        let step = 2.0 / steps as f64;
        for n in 0..steps {
            let attempt = method.attempt(&mut rhs, n as f64 * step, step, &mut state, ANYTHING);
            assert_eq!(attempt.verdict, AttemptVerdict::Accepted);
        }
        (state[0] - 2.0f64.sin().exp()).abs()
    }

    #[test]
    fn the_order_is_eight() {
        let order = (error_with(4) / error_with(8)).log2();
        assert!((7.7..8.8).contains(&order), "{order}");
    }

    #[test]
    fn a_rejected_step_leaves_the_state() {
        let mut rhs = from_fn(1, |_, x: &[f64], dx: &mut [f64]| dx[0] = -50.0 * x[0]);
        let mut method = Dop853::new(1);
        let mut state = [1.0];
        method.begin(&mut rhs, 0.0, &state);
        let tolerance = Tolerance {
            relative: 1e-10,
            absolute: 1e-10,
            sizes: &[],
            largest: 0.0,
        };
        let attempt = method.attempt(&mut rhs, 0.0, 0.5, &mut state, tolerance);
        assert_eq!(attempt.verdict, AttemptVerdict::Rejected);
        assert!(attempt.next < 0.5);
        assert_eq!(state, [1.0]);
    }
}
