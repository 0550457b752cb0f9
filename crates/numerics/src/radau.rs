//! The implicit method Radau IIA with five stages, order 9, for stiff problems.
//!
//! Reference: Hairer & Wanner, *Solving ODEs II* (1996), section IV.8 and code RADAU, cited as
//! "HW". The error estimate is of order 5, far less than the method, so its tolerance is the wanted
//! one raised to a power. Departure: that power is 3/4 where code RADAU has 3/5, since on stiff
//! problems with order reduction (Prothero & Robinson) the latter misses tolerances below 1e-9 by
//! factors of a hundred to ten thousand.

use nalgebra::DMatrix;

use crate::attempt::{Attempt, AttemptVerdict, index_of_largest, not_finite};
use crate::initial_step::{InitialScratch, IntegrationStart, initial_step};
use crate::radau_stages::{Convergence, Goal, LARGEST_NUMBER_OF_ITERATIONS, RadauStages, Step};
use crate::rhs::Rhs;
use crate::spectral::spectral_bound;
use crate::tolerance::{Tolerance, scaled_norm};

/// The estimate is `O(h⁶)`.
const ORDER: i32 = 6;
/// From the tolerance of the method to that of its estimate.
const TOLERANCE_EXPONENT: f64 = 0.75;
const SAFETY: f64 = 0.9;
const LARGEST_GROWTH: f64 = 8.0;
const LARGEST_SHRINKAGE: f64 = 0.2;
/// Below this contraction the Jacobian serves another step.
const GOOD_CONTRACTION: f64 = 1e-3;
/// A growth below this is not worth new factors.
const LEAST_GROWTH: f64 = 1.2;
/// A step is no longer than this part of the first one, if that was rejected. Code RADAU.
const LARGEST_AFTER_FIRST_REJECTION: f64 = 0.1;
/// Errors below this count as this, and below the second in the prediction of later steps. Code
/// RADAU.
const SMALLEST_ERROR: f64 = 1e-10;
const SMALLEST_ERROR_REMEMBERED: f64 = 1e-2;

/// The workspace of the implicit method.
#[derive(Clone, Debug)]
pub(crate) struct Radau {
    stages: RadauStages,
    derivative: Vec<f64>,
    error: Vec<f64>,
    allowed: Vec<f64>,
    moved: Vec<f64>,
    moved_derivative: Vec<f64>,
    square: DMatrix<f64>,
    spectral_bound: f64,
    jacobian: Freshness,
    /// The step the factors are for; zero if there are none.
    factored: f64,
    factorizations: usize,
    /// Size and error of the last accepted step.
    accepted: Option<(f64, f64)>,
    after_rejection: bool,
    derivative_is_current: bool,
}

/// What is known of the Jacobian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Freshness {
    /// To be evaluated before the next step.
    Stale,
    /// Of an earlier point, and good enough so far.
    Earlier,
    /// Of this very point.
    Current,
}

impl Radau {
    pub fn new(size: usize) -> Self {
        let vector = vec![0.0; size];
        Self {
            stages: RadauStages::new(size),
            derivative: vector.clone(),
            error: vector.clone(),
            allowed: vector.clone(),
            moved: vector.clone(),
            moved_derivative: vector,
            square: DMatrix::zeros(size, size),
            spectral_bound: 0.0,
            jacobian: Freshness::Stale,
            factored: 0.0,
            factorizations: 0,
            accepted: None,
            after_rejection: false,
            derivative_is_current: false,
        }
    }

    /// Forgets what came before and evaluates the derivative at `state`.
    pub fn begin<R: Rhs + ?Sized>(&mut self, rhs: &mut R, time: f64, state: &[f64]) {
        rhs.derivative(time, state, &mut self.derivative);
        self.stages.forget();
        self.error.fill(0.0);
        self.jacobian = Freshness::Stale;
        self.factored = 0.0;
        self.factorizations = 0;
        self.accepted = None;
        self.after_rejection = false;

        self.derivative_is_current = true;
    }

    /// The derivative at the current state, right after [`begin`](Self::begin).
    pub fn derivative(&self) -> &[f64] {
        &self.derivative
    }

    /// A bound on the eigenvalues of the last Jacobian.
    pub fn spectral_bound(&self) -> f64 {
        self.spectral_bound
    }

    /// How often the systems were factored since [`begin`](Self::begin).
    pub fn factorizations(&self) -> usize {
        self.factorizations
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
        let start = IntegrationStart {
            time,
            span,
            state,
            derivative: &self.derivative,
        };
        let scratch = InitialScratch {
            state: &mut self.moved,
            derivative: &mut self.moved_derivative,
            allowed: &mut self.allowed,
        };
        initial_step(rhs, &start, scratch, for_estimate(tolerance), ORDER)
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
            rhs.derivative(time, state, &mut self.derivative);
            self.derivative_is_current = true;
        }
        if let Err(rejected) = self.prepare(rhs, time, step, state) {
            return rejected;
        }

        match self.solve_stages(rhs, time, step, state, for_estimate(tolerance)) {
            Convergence::Reached { iterations } => {
                let error = self.estimate(rhs, time, step, state);
                self.judge(error, iterations, step, state)
            }
            Convergence::Failed { shrinkage } => self.reject(shrinkage * step.abs()),
            Convergence::NotFinite { component } => self.leave_domain(component, step),
        }
    }

    fn solve_stages<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        time: f64,
        size: f64,
        state: &[f64],
        tolerance: Tolerance<'_>,
    ) -> Convergence {
        for (k, allowed) in self.allowed.iter_mut().enumerate() {
            *allowed = tolerance.allows(k, state[k].abs());
        }

        let step = Step { time, size, state };
        let goal = newton_goal(tolerance);
        self.stages.solve(rhs, step, &self.allowed, goal)
    }

    /// The component with the largest error in the last attempt that came to an estimate.
    pub fn worst_component(&self) -> usize {
        index_of_largest(self.error.len(), |k| self.error[k] / self.allowed[k])
    }

    /// Jacobian and factors, if those at hand will not do.
    fn prepare<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        time: f64,
        step: f64,
        state: &[f64],
    ) -> Result<(), Attempt> {
        if self.jacobian == Freshness::Stale {
            rhs.jacobian(time, state, &mut self.stages.jacobian);
            self.spectral_bound = spectral_bound(&self.stages.jacobian, &mut self.square);
            self.jacobian = Freshness::Current;
            self.factored = 0.0;
        }
        if let Some(component) = not_finite(self.stages.jacobian.as_slice(), state.len()) {
            return Err(self.leave_domain(component, step));
        }

        if self.factored != step {
            self.factor(step)?;
        }
        Ok(())
    }

    fn factor(&mut self, step: f64) -> Result<(), Attempt> {
        self.factored = 0.0;
        self.factorizations += 1;
        if self.stages.factor(step).is_err() {
            return Err(self.reject(0.5 * step.abs()));
        }

        self.factored = step;
        Ok(())
    }

    /// The error in units of what is allowed, HW (8.19); where that is too much and the start is
    /// rough, filtered once more by HW (8.20), which does not take a stiff transient for an error.
    fn estimate<R: Rhs + ?Sized>(
        &mut self,
        rhs: &mut R,
        time: f64,
        step: f64,
        state: &[f64],
    ) -> f64 {
        self.stages.error(step, &self.derivative, &mut self.error);
        let error = scaled_norm(&self.error, &self.allowed);
        let rough = self.accepted.is_none() || self.after_rejection;
        if error < 1.0 || !rough {
            return error;
        }

        for (k, moved) in self.moved.iter_mut().enumerate() {
            *moved = state[k] + self.error[k];
        }

        let derivative = &mut self.moved_derivative;
        rhs.derivative(time, &self.moved, derivative);
        self.stages.error(step, derivative, &mut self.error);

        scaled_norm(&self.error, &self.allowed)
    }

    fn judge(&mut self, error: f64, iterations: usize, step: f64, state: &mut [f64]) -> Attempt {
        if !error.is_finite() {
            let component = not_finite(&self.error, state.len()).unwrap_or(0);
            return self.leave_domain(component, step);
        }

        let error = error.max(SMALLEST_ERROR);
        let factor = growth(error, iterations);
        if error < 1.0 {
            return self.accept(factor, error, step, state);
        }

        let factor = match self.accepted {
            Some(_) => factor,
            None => factor.min(LARGEST_AFTER_FIRST_REJECTION),
        };
        self.reject(factor * step.abs())
    }

    fn accept(&mut self, factor: f64, error: f64, step: f64, state: &mut [f64]) -> Attempt {
        for (value, increment) in state.iter_mut().zip(self.stages.increment()) {
            *value += increment;
        }

        let next = self.next_step(factor, error, step);
        self.stages.keep(step);
        let remembered = error.max(SMALLEST_ERROR_REMEMBERED);
        self.accepted = Some((step, remembered));
        self.after_rejection = false;
        self.derivative_is_current = false;

        Attempt {
            verdict: AttemptVerdict::Accepted,
            next,
        }
    }

    /// The step after an accepted one: the lesser of the standard and of Gustafsson's predictive
    /// proposal, HW (8.25), and the same again if the factors can then be kept.
    fn next_step(&mut self, mut factor: f64, error: f64, step: f64) -> f64 {
        if let Some(last) = self.accepted {
            factor = factor.min(predicted_growth(last, error, step));
        }

        if self.after_rejection {
            factor = factor.min(1.0);
        }

        let good = self.stages.contraction() <= GOOD_CONTRACTION;
        self.jacobian = if good {
            Freshness::Earlier
        } else {
            Freshness::Stale
        };
        let keep_factors = good && (1.0..=LEAST_GROWTH).contains(&factor);

        if keep_factors {
            step.abs()
        } else {
            factor * step.abs()
        }
    }

    /// Turns the step down, and doubts a Jacobian that is not of this point.
    fn reject(&mut self, next: f64) -> Attempt {
        self.after_rejection = true;
        if self.jacobian == Freshness::Earlier {
            self.jacobian = Freshness::Stale;
        }

        Attempt {
            verdict: AttemptVerdict::Rejected,
            next,
        }
    }

    /// Left the domain of the right-hand side: come much closer.
    fn leave_domain(&mut self, component: usize, step: f64) -> Attempt {
        Attempt {
            verdict: AttemptVerdict::NotFinite { component },
            ..self.reject(0.1 * step.abs())
        }
    }
}

/// Gustafsson's proposal from this step and the last, with their errors, HW (8.25).
fn predicted_growth((last_step, last_error): (f64, f64), error: f64, step: f64) -> f64 {
    let trend = (last_error / (error * error)).powf(1.0 / f64::from(ORDER));
    let predicted = SAFETY * step / last_step * trend;
    predicted.clamp(LARGEST_SHRINKAGE, LARGEST_GROWTH)
}

/// The standard proposal, HW (8.21): less bold when Newton had to work.
fn growth(error: f64, iterations: usize) -> f64 {
    let most = 2.0 * LARGEST_NUMBER_OF_ITERATIONS as f64;
    let caution = SAFETY * (most + 1.0) / (most + iterations as f64);
    let factor = caution.min(SAFETY) * error.powf(-1.0 / f64::from(ORDER));
    factor.clamp(LARGEST_SHRINKAGE, LARGEST_GROWTH)
}

/// The tolerance for an estimate of order 5, such that the error of order 9 comes to `tolerance`.
/// Code RADAU.
fn for_estimate(tolerance: Tolerance<'_>) -> Tolerance<'_> {
    let relative = 0.1 * tolerance.relative.powf(TOLERANCE_EXPONENT);
    Tolerance {
        relative,
        absolute: relative * tolerance.absolute / tolerance.relative,
        ..tolerance
    }
}

/// How far the stages are solved, in units of the estimate's tolerance: to about the wanted one,
/// but not into rounding. Code RADAU.
fn newton_goal(for_estimate: Tolerance<'_>) -> Goal {
    let exponent = 1.0 / TOLERANCE_EXPONENT - 1.0;
    let wanted = for_estimate.relative.powf(exponent).min(0.03);
    let rounding = f64::EPSILON / for_estimate.relative;

    Goal {
        tolerance: wanted.max(10.0 * rounding),
        noise: 100.0 * rounding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newton_stops_near_the_wanted_tolerance_and_above_rounding() {
        for relative in [1e-3, 1e-6, 1e-10, 1e-14] {
            let estimate = for_estimate(Tolerance {
                relative,
                absolute: 0.0,
                sizes: &[],
                largest: 0.0,
            });
            let reached = estimate.relative * newton_goal(estimate).tolerance;
            assert!(reached < relative.max(3e-15), "{relative:e}: {reached:e}");
            assert!(reached > 2e-15 || relative > 1e-14);
        }
    }

    #[test]
    fn a_small_error_lets_the_step_grow_and_a_large_one_makes_it_shrink() {
        assert_eq!(growth(1e-10, 1), LARGEST_GROWTH);
        assert_eq!(growth(1e10, 1), LARGEST_SHRINKAGE);
        assert!(growth(0.9, 12) < growth(0.9, 2));
    }
}
