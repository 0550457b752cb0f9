//! Signals: polynomials in the time elapsed since their macro-step began.

/// The highest degree of a signal: a quintic meets value, slope and curvature at both ends of a step.
pub const MAX_DEGREE: usize = 5;

/// The Legendre polynomials on [0, 1], orders 0 to 4, as coefficients of 1, s, s², …
const LEGENDRE: [[f64; 5]; MAX_DEGREE] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [-1.0, 2.0, 0.0, 0.0, 0.0],
    [1.0, -6.0, 6.0, 0.0, 0.0],
    [-1.0, 12.0, -30.0, 20.0, 0.0],
    [1.0, -20.0, 90.0, -140.0, 70.0],
];

/// A coupling variable at one time: its value and, where they are known, its first two derivatives.
///
/// What is not known is NaN, never 0: a forgotten derivative must not pass for a flat one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
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
        Self {
            value,
            slope: f64::NAN,
            curvature: f64::NAN,
        }
    }
}

/// A constant: flat, and known to be.
impl From<f64> for Knot {
    fn from(value: f64) -> Self {
        Self {
            value,
            slope: 0.0,
            curvature: 0.0,
        }
    }
}

/// A signal is its coefficients, to those who know polynomials only.
impl AsRef<[f64]> for Signal {
    fn as_ref(&self) -> &[f64] {
        self.coefficients()
    }
}

/// A polynomial `Σ_p Ξ_p τ^p` in elapsed time `τ = t − t_N`, of degree at most five.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Signal {
    coefficients: [f64; MAX_DEGREE + 1],
    degree: usize,
}

impl Signal {
    /// The polynomial with these coefficients of `1, τ, τ², …`. Trailing zeros do not count towards the degree.
    pub fn new(coefficients: &[f64]) -> Self {
        assert!(
            coefficients.len() <= MAX_DEGREE + 1,
            "BUG: a signal has degree 5 at most"
        );
        let mut all = [0.0; MAX_DEGREE + 1];
        all[..coefficients.len()].copy_from_slice(coefficients);
        let degree = all.iter().rposition(|&c| c != 0.0).unwrap_or(0);

        Self {
            coefficients: all,
            degree,
        }
    }

    /// Zero-order hold.
    #[inline]
    pub fn constant(value: f64) -> Self {
        let mut coefficients = [0.0; MAX_DEGREE + 1];
        coefficients[0] = value;

        Self {
            coefficients,
            degree: 0,
        }
    }

    /// Becomes the constant `value`: where it was one before, that is a single number to write.
    #[inline]
    pub fn hold(&mut self, value: f64) {
        if self.degree > 0 {
            *self = Self::constant(value);
        } else {
            self.coefficients[0] = value;
        }
    }

    /// The cubic that leaves `left`, arrives at `right` after `size` and matches both slopes.
    ///
    /// IFOSMONDI-JFM (22); in elapsed time it takes the simpler form of MISSILES (51).
    pub fn hermite(size: f64, left: Knot, right: Knot) -> Self {
        let mean_slope = (right.value - left.value) / size;
        Self::new(&[
            left.value,
            left.slope,
            (3.0 * mean_slope - 2.0 * left.slope - right.slope) / size,
            (left.slope + right.slope - 2.0 * mean_slope) / (size * size),
        ])
    }

    /// The quintic that leaves `left`, arrives at `right` after `size` and matches slopes and curvatures at both ends.
    pub fn quintic(size: f64, left: Knot, right: Knot) -> Self {
        // In s = τ/size: what is left of the end once the parabola of the start has been followed.
        let (rise, bend) = (size * left.slope, 0.5 * size * size * left.curvature);
        let value = right.value - left.value - rise - bend;
        let slope = size * right.slope - rise - 2.0 * bend;
        let curvature = 0.5 * (size * size * right.curvature - 2.0 * bend);
        let cube = size * size * size;

        Self::new(&[
            left.value,
            left.slope,
            0.5 * left.curvature,
            (10.0 * value - 4.0 * slope + curvature) / cube,
            (-15.0 * value + 7.0 * slope - 2.0 * curvature) / (cube * size),
            (6.0 * value - 3.0 * slope + curvature) / (cube * size * size),
        ])
    }

    /// The parabola that leaves `left` with its slope and has the value `end` after `size`: IFOSMONDI-JFM (20).
    pub fn parabola_from(size: f64, left: Knot, end: f64) -> Self {
        let mean_slope = (end - left.value) / size;
        Self::new(&[left.value, left.slope, (mean_slope - left.slope) / size])
    }

    /// The parabola that starts at `start`, where no slope is known, and arrives at `right` with its slope: a first step.
    pub fn parabola_to(size: f64, start: f64, right: Knot) -> Self {
        let mean_slope = (right.value - start) / size;
        Self::new(&[
            start,
            2.0 * mean_slope - right.slope,
            (right.slope - mean_slope) / size,
        ])
    }

    /// The polynomial of a lower degree that is nearest in the mean square over the first `size`; its mean is the same.
    ///
    /// The expansion in Legendre polynomials on the step, cut off: that is the least-squares fit.
    pub fn reduced(&self, size: f64, degree: usize) -> Self {
        if self.degree <= degree {
            return *self;
        }

        // In s = τ/size: moments ∫ s^k p(s) ds, and from them the projections on the Legendre polynomials.
        let scaled = |p: usize| self.coefficients[p] * size.powi(p as i32);
        let moment = |k: usize| {
            (0..=self.degree)
                .map(|p| scaled(p) / (p + k + 1) as f64)
                .sum::<f64>()
        };
        let mut fit = [0.0; MAX_DEGREE + 1];

        for (order, legendre) in LEGENDRE.iter().enumerate().take(degree + 1) {
            let projection: f64 = legendre
                .iter()
                .enumerate()
                .map(|(k, c)| c * moment(k))
                .sum();
            let weight = (2 * order + 1) as f64 * projection;
            fit.iter_mut()
                .zip(legendre)
                .for_each(|(sum, c)| *sum += weight * c);
        }

        fit.iter_mut()
            .enumerate()
            .for_each(|(p, c)| *c /= size.powi(p as i32));
        Self::new(&fit[..=degree])
    }

    /// The highest power with a coefficient that is not zero.
    #[inline]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// `Ξ_0 …`, up to the degree.
    #[inline]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients[..=self.degree]
    }

    /// The value after `elapsed` time (Horner).
    #[inline]
    pub fn value(&self, elapsed: f64) -> f64 {
        if self.degree == 0 {
            return self.coefficients[0] + 0.0; // the sum makes -0 a 0, as it does for every other degree
        }
        self.coefficients()
            .iter()
            .rev()
            .fold(0.0, |sum, &c| sum * elapsed + c)
    }

    /// The derivative of this order after `elapsed` time.
    #[inline]
    pub fn derivative(&self, order: usize, elapsed: f64) -> f64 {
        if order > self.degree {
            return 0.0;
        }

        let factor = |p: usize| (p + 1 - order..=p).map(|k| k as f64).product::<f64>();
        (order..=self.degree).rev().fold(0.0, |sum, p| {
            sum * elapsed + factor(p) * self.coefficients[p]
        })
    }

    /// Value, slope and curvature after `elapsed` time.
    pub fn at(&self, elapsed: f64) -> Knot {
        Knot {
            value: self.value(elapsed),
            slope: self.derivative(1, elapsed),
            curvature: self.derivative(2, elapsed),
        }
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
        (0..=self.degree).rev().fold(0.0, |sum, p| {
            sum * size + self.coefficients[p] / (p + 1) as f64
        })
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
        assert!(Signal::constant(-0.0).value(7.0).is_sign_positive());
    }

    #[test]
    fn what_is_held_is_constant_whatever_it_was() {
        for mut signal in [Signal::constant(1.0), Signal::new(&[1.0, 2.0, 3.0])] {
            signal.hold(2.5);
            assert_eq!(signal, Signal::constant(2.5));
        }
    }

    fn knot() -> impl Strategy<Value = Knot> {
        (-5.0..5.0, -5.0..5.0).prop_map(|(value, slope)| Knot {
            value,
            slope,
            curvature: f64::NAN,
        })
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
        fn hermite_meets_both_ends(left in knot(), right in knot(), size in 0.01..2.0) {
            let signal = Signal::hermite(size, left, right);
            let (start, end) = (signal.at(0.0), signal.at(size));
            prop_assert!(close(start.value, left.value) && close(start.slope, left.slope));
            prop_assert!(close(end.value, right.value) && close(end.slope, right.slope));
        }

        #[test]
        fn parabolas_meet_what_they_are_given(left in knot(), right in knot(), size in 0.01..2.0) {
            let from = Signal::parabola_from(size, left, right.value);
            prop_assert!(close(from.at(0.0).slope, left.slope) && close(from.value(size), right.value));
            let to = Signal::parabola_to(size, left.value, right);
            prop_assert!(close(to.value(0.0), left.value) && close(to.value(size), right.value));
            prop_assert!(close(to.at(size).slope, right.slope));
        }

        #[test]
        fn a_quintic_meets_both_ends_to_the_second_derivative(s in polynomial(), other in polynomial(), size in 0.1..2.0) {
            let (left, right) = (s.at(0.3), other.at(0.2));
            let quintic = Signal::quintic(size, left, right);
            for (elapsed, knot) in [(0.0, left), (size, right)] {
                let found = quintic.at(elapsed);
                prop_assert!(close(found.value, knot.value) && close(found.slope, knot.slope));
                let scale = (100.0 + left.value.abs() + right.value.abs() + left.curvature.abs() + right.curvature.abs()) / (size * size);
                prop_assert!((found.curvature - knot.curvature).abs() < 1e-11 * scale);
            }
        }

        #[test]
        fn a_reduced_signal_is_the_least_squares_fit(s in polynomial(), size in 0.5..2.0, degree in 0usize..5) {
            let fit = s.reduced(size, degree);
            prop_assert!(fit.degree() <= degree);
            prop_assert!(close(fit.mean(size), s.mean(size)));
            // The rest is orthogonal to every power that the fit may use.
            let n = 4000;
            for power in 0..=degree {
                let rest = |t: f64| (s.value(t) - fit.value(t)) * t.powi(power as i32);
                let sum: f64 = (0..n).map(|i| rest((i as f64 + 0.5) / n as f64 * size)).sum::<f64>() / n as f64;
                prop_assert!(sum.abs() < 1e-4, "power {power}: {sum}");
            }
        }

        #[test]
        fn the_mean_is_that_of_fine_sampling(s in polynomial(), size in 0.1..2.0) {
            let n = 2000;
            let sampled = (0..n).map(|i| s.value((i as f64 + 0.5) / n as f64 * size)).sum::<f64>() / n as f64;
            prop_assert!((s.mean(size) - sampled).abs() < 1e-3);
        }
    }
}
