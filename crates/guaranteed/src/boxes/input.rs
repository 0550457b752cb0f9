//! What a system knows of a neighbor's state over a macro-step.
//!
//! An input is not one unknown constant from its box: it moves inside it, and a bang-bang input
//! does more than any constant. So it is given as a known polynomial, which a Runge-Kutta scheme
//! may integrate, and a bound of how far from it the true input can be at any time, the effect of
//! which is bounded apart (`deviation.rs`).

use serde::{Deserialize, Serialize};

use crate::interval::{Interval, middles, radii};
use crate::rounding::above;

/// A polynomial in the time elapsed since the step began, and one that bounds the distance from it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Input {
    middles: Vec<f64>,
    /// Not negative.
    radii: Vec<f64>,
}

impl Input {
    /// Anywhere in a box, as in algorithm 2.
    pub fn held(range: Interval) -> Self {
        Self::polynomial(&[range])
    }

    /// A polynomial whose coefficients are known to lie in intervals.
    pub fn polynomial(coefficients: &[Interval]) -> Self {
        Self {
            middles: middles(coefficients),
            radii: radii(coefficients),
        }
    }

    /// Taylor coefficient `order` of the known polynomial about every time of `elapsed`.
    pub fn coefficient(&self, order: usize, elapsed: Interval) -> Interval {
        let mut sum = Interval::ZERO;
        for (power, &middle) in self.middles.iter().enumerate().skip(order).rev() {
            sum = sum * elapsed + Interval::point(binomial(power, order)) * Interval::point(middle);
        }
        sum
    }

    /// Whether the known polynomial is a constant.
    pub fn is_constant(&self) -> bool {
        self.middles.len() == 1
    }

    /// The coefficients of the bound.
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// The mean of the bound over a step of `size`.
    pub fn mean_radius(&self, size: f64) -> f64 {
        let mut sum = 0.0;
        for (power, radius) in self.radii.iter().enumerate().rev() {
            sum = above(sum * size + radius / (power as f64 + 1.0));
        }
        sum
    }
}

/// Exact for the small degrees that occur.
fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_is_expanded_about_any_time() {
        let input = Input::polynomial(&[1.0, 2.0, 3.0, 4.0].map(Interval::point));
        let at = Interval::point(2.0);
        let expansion: Vec<f64> = (0..5)
            .map(|order| input.coefficient(order, at).lo)
            .collect();
        assert_eq!(expansion, [49.0, 62.0, 27.0, 4.0, 0.0]);
    }

    #[test]
    fn a_held_input_is_a_constant_and_half_its_width() {
        let input = Input::held(Interval::new(1.0, 4.0));
        assert_eq!(
            input.coefficient(0, Interval::new(0.0, 1.0)),
            Interval::point(2.5)
        );
        assert_eq!(input.radii(), [1.5]);
    }
}
