//! Interval extrapolation (10) of the inputs that systems exchange, of degree `K`.
//!
//! With Newton's form about the latest times, `u(t) = Σ_{j≤k} u[T_n … T_{n-j}] ω_j(t) +
//! u^{(k+1)}(ξ)/(k+1)! ω_{k+1}(t)`, where `ω_j(t) = Π_{i<j} (t - T_{n-i})`. Departures from the
//! paper:
//! - (10) prints the k-th derivative in the remainder; it is the next one.
//! - Its `ξ` may lie anywhere between the times involved, not only in the coming step: the
//!   derivative is bounded over the past steps, too.
//! - The divided differences are taken by the system that owns the state, on its affine set; what
//!   crosses the border is their boxes. Differences of boxes would be 15 times as wide as the boxes
//!   for `K = 3`.
//! - Of all degrees up to `K`, and the box held, the narrowest is taken.

use std::collections::VecDeque;

use super::input::Input;
use crate::interval::Interval;

/// Taylor coefficients of all states: order by order.
pub(super) type Coefficients = Vec<Vec<Interval>>;

/// What is remembered of past macro-steps, as far as nothing has switched since.
pub(super) struct BoxHistory {
    degree: Option<usize>,
    /// Ends of macro-steps, latest first.
    times: VecDeque<f64>,
    /// The coefficients throughout the steps between these times.
    coefficients: VecDeque<Coefficients>,
}

impl BoxHistory {
    pub fn new(degree: Option<usize>, time: f64) -> Self {
        Self {
            degree,
            times: VecDeque::from([time]),
            coefficients: VecDeque::new(),
        }
    }

    /// How many Taylor coefficients of every state are needed for remainders.
    pub fn orders(&self) -> usize {
        self.degree.map_or(0, |degree| degree + 1)
    }

    /// A macro-step has been accepted.
    pub fn record(&mut self, end: f64, coefficients: Coefficients) {
        let Some(degree) = self.degree else { return };
        push_latest(&mut self.times, end, degree + 1);
        push_latest(&mut self.coefficients, coefficients, degree);
    }

    /// Something switches at `time`: solutions have a kink there.
    pub fn restart(&mut self, time: f64) {
        self.times = VecDeque::from([time]);
        self.coefficients.clear();
    }

    /// The input that others get of a state that stays in `tube`: `differences` are its divided
    /// differences, from order 0, and `coming` the coefficients throughout the step of `size`.
    pub fn input(
        &self,
        state: usize,
        tube: Interval,
        differences: &[Interval],
        coming: &Coefficients,
        size: f64,
    ) -> Input {
        let mut best = Input::held(tube);
        let Some(degree) = self.degree else {
            return best;
        };
        let mut narrowest = best.mean_radius(size);
        let known = degree.min(self.times.len() - 1).min(differences.len() - 1);
        let mut omega = vec![Interval::ONE];
        let mut sum: Vec<Interval> = Vec::new();

        for (k, &difference) in differences.iter().enumerate().take(known + 1) {
            add_scaled(&mut sum, &omega, difference);
            omega = times_linear(&omega, self.since(k));
            let remainder = self.remainder(state, k, coming);
            if !remainder.is_finite() {
                break;
            }
            let mut whole = sum.clone();
            add_scaled(&mut whole, &omega, remainder);
            let input = Input::polynomial(&whole);
            let radius = input.mean_radius(size);
            if radius < narrowest {
                best = input;
                narrowest = radius;
            }
        }
        best
    }

    /// From the end of the macro-step `k` steps ago until now.
    fn since(&self, k: usize) -> Interval {
        Interval::point(self.times[0]) - Interval::point(self.times[k])
    }

    /// The derivative `k + 1` anywhere between the times of the polynomial and in the coming step.
    fn remainder(&self, state: usize, k: usize, coming: &Coefficients) -> Interval {
        let past = self.coefficients.iter().take(k);
        let past = past.map(|coefficients| coefficients[k + 1][state]);
        past.fold(coming[k + 1][state], Interval::hull)
    }
}

/// `sum += factor · polynomial`.
/// Remembers at most `most`, latest first.
fn push_latest<T>(remembered: &mut VecDeque<T>, latest: T, most: usize) {
    remembered.push_front(latest);
    remembered.truncate(most);
}

fn add_scaled(sum: &mut Vec<Interval>, polynomial: &[Interval], factor: Interval) {
    sum.resize(sum.len().max(polynomial.len()), Interval::ZERO);
    for (sum, &coefficient) in sum.iter_mut().zip(polynomial) {
        *sum = *sum + factor * coefficient;
    }
}

/// `polynomial(s) · (s + offset)`.
fn times_linear(polynomial: &[Interval], offset: Interval) -> Vec<Interval> {
    let mut product = vec![Interval::ZERO; polynomial.len() + 1];
    for (power, &coefficient) in polynomial.iter().enumerate() {
        product[power] = product[power] + offset * coefficient;
        product[power + 1] = product[power + 1] + coefficient;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cubic is its own interpolation of degree 3, and one of degree 2 with its third derivative.
    #[test]
    fn a_cubic_is_found_again() {
        let mut past = BoxHistory::new(Some(2), -2.0);
        let coefficients = |t: Interval| -> Coefficients {
            let n = Interval::point;
            // t³ and its Taylor coefficients.
            vec![
                vec![t * t * t],
                vec![n(3.0) * t * t],
                vec![n(3.0) * t],
                vec![n(1.0)],
            ]
        };
        past.record(-1.0, coefficients(Interval::new(-2.0, -1.0)));
        past.record(0.0, coefficients(Interval::new(-1.0, 0.0)));
        let differences = [0.0, 1.0, -3.0].map(Interval::point);
        let coming = coefficients(Interval::new(0.0, 1.0));
        let input = past.input(0, Interval::new(0.0, 1.0), &differences, &coming, 1.0);
        let found: Vec<Interval> = (0..4)
            .map(|k| input.coefficient(k, Interval::ZERO))
            .collect();
        assert_eq!(found, [0.0, 0.0, 0.0, 1.0].map(Interval::point));
        assert!(input.mean_radius(1.0) < 1e-290);
    }

    #[test]
    fn without_a_past_the_slope_is_all_there_is() {
        let past = BoxHistory::new(Some(3), 0.0);
        let coming = vec![vec![Interval::new(0.0, 1.0)], vec![Interval::new(0.9, 1.1)]];
        let input = past.input(0, Interval::new(0.0, 1.0), &[Interval::ZERO], &coming, 1.0);
        assert!((0.05..0.0500001).contains(&input.mean_radius(1.0)));
    }
}
