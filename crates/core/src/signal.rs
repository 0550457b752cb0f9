//! Signals: polynomials in the time elapsed since their macro-step began.

/// The highest degree of a signal: a quintic meets value, slope and curvature at both ends of a step.
pub const MAX_DEGREE: usize = 5;

/// A coupling variable at one time: its value and, where they are known, its first two derivatives.
///
/// What is not known is NaN, never 0: a forgotten derivative must not pass for a flat one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    /// `y`.
    pub value: f64,
    /// `dy/dt`.
    pub slope: f64,
    /// `d²y/dt²`.
    pub curvature: f64,
}

impl Knot {
    /// A value of which no derivative is known.
    pub fn value_only(value: f64) -> Self {
        Self { value, slope: f64::NAN, curvature: f64::NAN }
    }
}

/// A constant: flat, and known to be.
impl From<f64> for Knot {
    fn from(value: f64) -> Self {
        Self { value, slope: 0.0, curvature: 0.0 }
    }
}

/// A polynomial `Σ_p Ξ_p τ^p` in elapsed time `τ = t − t_N`, of degree at most five.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    coefficients: [f64; MAX_DEGREE + 1],
    degree: usize,
}

impl Signal {
    /// The polynomial with these coefficients of `1, τ, τ², …`. Trailing zeros do not count towards the degree.
    pub fn new(coefficients: &[f64]) -> Self {
        assert!(coefficients.len() <= MAX_DEGREE + 1, "BUG: a signal has degree 5 at most");
        let mut all = [0.0; MAX_DEGREE + 1];
        all[..coefficients.len()].copy_from_slice(coefficients);
        let degree = all.iter().rposition(|&c| c != 0.0).unwrap_or(0);
        Self { coefficients: all, degree }
    }

    /// Zero-order hold.
    pub fn constant(value: f64) -> Self {
        let mut coefficients = [0.0; MAX_DEGREE + 1];
        coefficients[0] = value;
        Self { coefficients, degree: 0 }
    }

    /// The highest power with a coefficient that is not zero.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// `Ξ_0 …`, up to the degree.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients[..=self.degree]
    }

    /// The value after `elapsed` time (Horner).
    pub fn value(&self, elapsed: f64) -> f64 {
        self.coefficients().iter().rev().fold(0.0, |sum, &c| sum * elapsed + c)
    }

    /// The derivative of this order after `elapsed` time.
    pub fn derivative(&self, order: usize, elapsed: f64) -> f64 {
        let factor = |p: usize| (p + 1 - order..=p).map(|k| k as f64).product::<f64>();
        (order..=self.degree).rev().fold(0.0, |sum, p| sum * elapsed + factor(p) * self.coefficients[p])
    }

    /// Value, slope and curvature after `elapsed` time.
    pub fn at(&self, elapsed: f64) -> Knot {
        Knot { value: self.value(elapsed), slope: self.derivative(1, elapsed), curvature: self.derivative(2, elapsed) }
    }

    /// The same polynomial in time elapsed since `by` later: the tail that a sub-step sees.
    pub fn shifted(&self, by: f64) -> Self {
        let mut shifted = *self;
        // Repeated synthetic division by (τ − by) leaves the coefficients about the new origin.
        for low in 0..self.degree {
            for p in (low..self.degree).rev() {
                shifted.coefficients[p] += by * shifted.coefficients[p + 1];
            }
        }
        shifted
    }

    /// The mean over the first `size` of elapsed time.
    pub fn mean(&self, size: f64) -> f64 {
        (0..=self.degree).rev().fold(0.0, |sum, p| sum * size + self.coefficients[p] / (p + 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn polynomial() -> impl Strategy<Value = Signal> {
        prop::collection::vec(-10.0..10.0, 1..=MAX_DEGREE + 1).prop_map(|c| Signal::new(&c))
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
    }

    #[test]
    fn a_constant_is_flat() {
        assert_eq!(Signal::constant(2.5).at(7.0), Knot::from(2.5));
    }

    #[test]
    fn trailing_zeros_do_not_raise_the_degree() {
        assert_eq!(Signal::new(&[1.0, 2.0, 0.0, 0.0]).degree(), 1);
    }

    proptest! {
        #[test]
        fn a_shift_moves_the_origin_and_nothing_else(s in polynomial(), by in -2.0..2.0, t in -2.0..2.0) {
            let (moved, there) = (s.shifted(by).at(t), s.at(t + by));
            prop_assert!(close(moved.value, there.value));
            prop_assert!(close(moved.slope, there.slope));
            prop_assert!(close(moved.curvature, there.curvature));
        }

        #[test]
        fn slopes_and_curvatures_match_differences(s in polynomial(), t in -1.0..1.0) {
            let h = 1e-4;
            let knot = s.at(t);
            prop_assert!(((s.value(t + h) - s.value(t - h)) / (2.0 * h) - knot.slope).abs() < 1e-4);
            prop_assert!(((s.derivative(1, t + h) - s.derivative(1, t - h)) / (2.0 * h) - knot.curvature).abs() < 1e-4);
        }

        #[test]
        fn the_mean_is_that_of_fine_sampling(s in polynomial(), size in 0.1..2.0) {
            let n = 2000;
            let sampled = (0..n).map(|i| s.value((i as f64 + 0.5) / n as f64 * size)).sum::<f64>() / n as f64;
            prop_assert!((s.mean(size) - sampled).abs() < 1e-3);
        }
    }
}
