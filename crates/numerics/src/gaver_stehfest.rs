//! The operators of [`Transfer`](crate::Transfer) by numerical inversion of their Laplace
//! transforms.
//!
//! Reference: Éguillon, Lacabanne, Tromeur-Dervout, *COSTARICA estimator*, section 3.2.3, cited as
//! "(n)"; the weights are those of Stehfest (1970), *Algorithm 368*.
//!
//! Departures: `P(s) = C (sI − A)⁻¹` is solved for at every node, where the paper first finds its
//! coefficients as a rational function; and curvatures, which the paper has none of, are the second
//! difference of the values of (48).

use std::f64::consts::LN_2;

use nalgebra::DMatrix;

use crate::dense::Lu;
use crate::product::{add_scaled, multiply_add};
use crate::state_space::{Gains, StateSpace};

/// The number of nodes. More of them invert better and, with weights that grow tenfold for every
/// two, round worse.
///
/// Largest errors against the exact operators of `x' = λ x + u`, `λδ` from -1 to -0.01, relative,
/// for n = 8, 10, .. 20:
///
/// ```text
///                              8     10     12     14     16     18     20
/// value, state and p = 0   2e-03  2e-04  3e-05  3e-06  2e-07  3e-06  4e-05
/// value, up to p = 3       4e+00  6e-02  7e-03  5e-04  3e-05  7e-06  4e-05
/// value, up to p = 5       1e+03  1e+02  8e+00  1e-01  7e-03  9e-04  7e-05
/// ```
///
/// From n = 14 on, the error of slopes is that of the difference quotient: 4e-3 for state and p =
/// 0, 2e-2 up to p = 3; that of curvatures, of first order, 1e-1 and 2e-1.
const NODES: usize = 16;

/// The difference quotients of (48) go back over this part of the step.
const DIFFERENCE_SPAN: f64 = 0.2;

/// A node of the numerical inversion is a pole of the system, to working precision; other step
/// sizes have other nodes.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the Laplace transforms cannot be inverted: s = {at} is a pole of the system")]
pub struct Pole {
    /// The node, in 1/s.
    pub at: f64,
}

/// The workspace of the inversion.
#[derive(Clone, Debug)]
pub(crate) struct GaverStehfest {
    transposed: DMatrix<f64>,
    resolvent: Lu<f64>,
    /// `P(s)`, and its transpose.
    response: DMatrix<f64>,
    solution: DMatrix<f64>,
    /// `G(s)`: the factors of the inputs and of their slopes.
    driven: [DMatrix<f64>; 2],
}

impl GaverStehfest {
    pub(crate) fn new(states: usize, inputs: usize, outputs: usize) -> Self {
        let driven = DMatrix::zeros(outputs, inputs);
        Self {
            transposed: DMatrix::zeros(states, states),
            resolvent: Lu::new(states),
            response: DMatrix::zeros(outputs, states),
            solution: DMatrix::zeros(states, outputs),
            driven: [driven.clone(), driven],
        }
    }

    /// Fills `orders` for a step of `delta`.
    pub(crate) fn compute(
        &mut self,
        space: StateSpace<'_>,
        delta: f64,
        orders: &mut [Gains; 3],
    ) -> Result<(), Pole> {
        orders.iter_mut().for_each(Gains::clear);
        space.a.transpose_to(&mut self.transposed);
        let h = DIFFERENCE_SPAN * delta;
        let curvature = 4.0 / (h * h);
        // Value, slope by (48), curvature: the weights of the times they are made of.
        let at_end = [1.0, 3.0 / h, curvature];
        let halfway = [0.0, -4.0 / h, -2.0 * curvature];
        let at_start = [0.0, 1.0 / h, curvature];
        self.invert(space, delta, at_end, orders)?;
        self.invert(space, delta - h / 2.0, halfway, orders)?;

        self.invert(space, delta - h, at_start, orders)
    }

    /// Adds the originals at `time` to each order, so many times.
    fn invert(
        &mut self,
        space: StateSpace<'_>,
        time: f64,
        shares: [f64; 3],
        orders: &mut [Gains; 3],
    ) -> Result<(), Pole> {
        let unit = LN_2 / time;
        for (k, weight) in (1..).zip(WEIGHTS) {
            let s = k as f64 * unit;
            self.evaluate(space, s)?;
            for (gains, share) in orders.iter_mut().zip(shares) {
                self.add(share * weight * unit, s, gains);
            }
        }
        Ok(())
    }

    /// `P(s)` and `G(s)` of (30).
    fn evaluate(&mut self, space: StateSpace<'_>, s: f64) -> Result<(), Pole> {
        self.evaluate_response(space, s)?;
        let [value, slope] = &mut self.driven;
        value.copy_from(space.d);
        multiply_add(&self.response, space.b, value);
        slope.copy_from(space.d_slope);
        multiply_add(&self.response, space.b_slope, slope);
        Ok(())
    }

    /// `P(s) = C (sI − A)⁻¹`, by solving with its transpose.
    fn evaluate_response(&mut self, space: StateSpace<'_>, s: f64) -> Result<(), Pole> {
        let regular = self.resolvent.factor_shifted(s, &self.transposed).is_ok();
        if !regular || self.resolvent.rcond() < f64::EPSILON {
            return Err(Pole { at: s });
        }

        space.c.transpose_to(&mut self.solution);
        let states = self.resolvent.size().max(1);

        for column in self.solution.as_mut_slice().chunks_exact_mut(states) {
            self.resolvent.solve_in_place(column);
        }

        self.solution.transpose_to(&mut self.response);
        Ok(())
    }

    /// Adds the transforms at `s`, `weight` times. The transform of `τ^p` is `p! / s^{p+1}` (33),
    /// that of its slope `p! / s^p`, and nothing for `p = 0`.
    fn add(&self, weight: f64, s: f64, gains: &mut Gains) {
        add_scaled(&mut gains.state, weight, &self.response);
        add_scaled(&mut gains.forcing, weight / s, &self.response);
        add_scaled(&mut gains.ramp, weight / (s * s), &self.response);
        let [value, slope] = &self.driven;
        let mut transform = weight / s;

        for (p, gain) in gains.inputs.iter_mut().enumerate() {
            add_scaled(gain, transform, value);
            if p > 0 {
                add_scaled(gain, transform * s, slope);
            }
            transform *= (p + 1) as f64 / s;
        }
    }
}

/// Stehfest's weights.
const WEIGHTS: [f64; NODES] = {
    let half = NODES / 2;
    let mut weights = [0.0; NODES];
    let mut k = 1;
    while k <= NODES {
        let mut sum = 0.0;
        let mut j = k.div_ceil(2);
        while j <= k && j <= half {
            let below = factorial(half - j)
                * factorial(j)
                * factorial(j - 1)
                * factorial(k - j)
                * factorial(2 * j - k);
            sum += power(j, half) * factorial(2 * j) / below;
            j += 1;
        }
        weights[k - 1] = if (k + half).is_multiple_of(2) {
            sum
        } else {
            -sum
        };
        k += 1;
    }
    weights
};

const fn factorial(n: usize) -> f64 {
    if n == 0 {
        1.0
    } else {
        n as f64 * factorial(n - 1)
    }
}

const fn power(base: usize, exponent: usize) -> f64 {
    if exponent == 0 {
        1.0
    } else {
        base as f64 * power(base, exponent - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::{Laplace, Transfer};

    fn scalar(rate: f64, delta: f64) -> Result<Transfer, Pole> {
        let [a, one, zero] = [rate, 1.0, 0.0].map(|entry| DMatrix::from_element(1, 1, entry));
        let space = StateSpace {
            a: &a,
            b: &one,
            c: &one,
            d: &zero,
            b_slope: &zero,
            d_slope: &zero,
        };
        let mut transfer = Transfer::new(1, 1, 1, 3);
        transfer
            .compute_by(Laplace::GaverStehfest, space, delta)
            .map(|()| transfer)
    }

    #[test]
    fn a_constant_is_inverted_but_for_rounding() {
        let sum: f64 = (1..)
            .zip(WEIGHTS)
            .map(|(k, weight)| weight / k as f64)
            .sum();
        assert!((sum - 1.0).abs() < 1e-7, "{sum}");
    }

    #[test]
    fn a_decay_is_found_to_seven_digits_and_its_slope_to_three() {
        let transfer = scalar(-2.0, 0.25).unwrap();
        let exact = (-0.5f64).exp();
        let [value, slope, curvature] = transfer.orders.map(|gains| gains.state[(0, 0)]);
        assert!((value - exact).abs() < 1e-7, "{value} {exact}");
        assert!((slope + 2.0 * exact).abs() < 2e-3, "{slope}");
        assert!((curvature - 4.0 * exact).abs() < 3e-1, "{curvature}");
    }

    #[test]
    fn a_pole_on_a_node_is_named_and_another_step_avoids_it() {
        let delta = 0.5;
        let node = 3.0 * (LN_2 / delta);
        assert_eq!(scalar(node, delta).unwrap_err(), Pole { at: node });
        assert!(scalar(node, 0.9 * delta).is_ok());
    }
}
