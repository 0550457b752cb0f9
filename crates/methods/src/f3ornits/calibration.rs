//! Polynomials from the past of an output, F3ORNITS (11) to (17): extrapolation, and least squares
//! held to the newest point.

use dovetail_core::{Past, Signal};

/// The highest degree that can be asked for.
pub(crate) const HIGHEST: usize = 4;
/// A fit of that degree is over so many points.
const MOST: usize = HIGHEST + 2;

/// How an estimate is made from recent points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calibration {
    /// `Ω_q^Ex`: through the `q + 1` newest points.
    #[default]
    Extrapolation,
    /// `Ω_q^CLS`: through the newest point, and as near as can be in the mean square to the `q + 1`
    /// before it.
    LeastSquares,
}

/// The recent points of one output since the last event of its system, newest first. Times are
/// counted from the newest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Points {
    times: [f64; MOST],
    values: [f64; MOST],
    count: usize,
}

impl Points {
    /// What the past holds of output `position` of `system`.
    pub fn of(past: &Past, system: usize, position: usize) -> Self {
        let count = past
            .points_since_event(system)
            .min(past.points(system))
            .min(MOST);
        let mut points = Self {
            times: [0.0; MOST],
            values: [0.0; MOST],
            count,
        };
        let now = past.reached_by(system);

        for age in 0..count {
            let (time, outputs) = past.point(system, age);
            points.times[age] = time - now;
            points.values[age] = outputs[position].value;
        }
        points
    }

    /// With one more, `elapsed` after the newest; the oldest may be forgotten for it.
    pub fn then(mut self, elapsed: f64, value: f64) -> Self {
        self.times.rotate_right(1);
        self.values.rotate_right(1);
        self.times.iter_mut().for_each(|time| *time -= elapsed);
        self.times[0] = 0.0;
        self.values[0] = value;
        self.count = (self.count + 1).min(MOST);

        self
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The estimate of `degree`, as a polynomial in the time elapsed since the newest point.
    pub fn estimate(&self, calibration: Calibration, degree: usize) -> Signal {
        match calibration {
            // A degree that was chosen has one point to spare; only just after an event there is a
            // single point.
            Calibration::LeastSquares if self.count >= degree + 2 => self.fit(degree),
            _ => self.extrapolate(degree),
        }
    }

    /// `Ω_q^Ex`: Newton's divided differences, expanded about the newest point.
    pub fn extrapolate(&self, degree: usize) -> Signal {
        let degree = degree.min(self.count - 1);
        let times = &self.times;
        let mut differences = self.values;

        for order in 1..=degree {
            for i in (order..=degree).rev() {
                differences[i] =
                    (differences[i] - differences[i - 1]) / (times[i] - times[i - order]);
            }
        }

        let mut coefficients = [0.0; MOST];
        coefficients[0] = differences[degree];

        for i in (0..degree).rev() {
            // p ← p · (τ − t_i) + difference
            for power in (1..=degree).rev() {
                coefficients[power] = coefficients[power - 1] - times[i] * coefficients[power];
            }
            coefficients[0] = differences[i] - times[i] * coefficients[0];
        }
        Signal::new(&coefficients[..=degree])
    }

    /// `Ω_q^CLS`: least squares of degree `q` on `q + 1` points leave a residual with one degree of
    /// freedom only.
    ///
    /// A polynomial of degree `q` that vanishes at the newest point is orthogonal to the weights of
    /// the divided difference over all `q + 2` points. So the residual is along these weights;
    /// without it, the values lie on the polynomial that is sought.
    fn fit(&self, degree: usize) -> Signal {
        if degree == 0 {
            return Signal::constant(self.values[0]);
        }

        let last = degree + 1;
        let weight = |i: usize| {
            let distances = (0..=last)
                .filter(|&j| j != i)
                .map(|j| self.times[i] - self.times[j]);
            1.0 / distances.product::<f64>()
        };
        // The newest point and those that do not take part stay as they are.
        let weights: [f64; MOST] = std::array::from_fn(|i| {
            if (1..=last).contains(&i) {
                weight(i)
            } else {
                0.0
            }
        });
        let along: f64 = weights
            .iter()
            .zip(&self.values)
            .map(|(weight, value)| weight * (value - self.values[0]))
            .sum();
        let norm: f64 = weights.iter().map(|weight| weight * weight).sum();
        let mut fitted = *self;
        fitted
            .values
            .iter_mut()
            .zip(&weights)
            .for_each(|(value, weight)| *value -= weight * along / norm);

        fitted.extrapolate(degree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    /// Points at irregular times, newest first.
    fn points() -> impl Strategy<Value = Points> {
        let gaps = prop::collection::vec(0.05..1.0f64, MOST - 1);
        (gaps, prop::collection::vec(-3.0..3.0f64, MOST)).prop_map(|(gaps, values)| {
            let mut points = Points {
                times: [0.0; MOST],
                values: [0.0; MOST],
                count: MOST,
            };
            for (age, gap) in gaps.iter().enumerate() {
                points.times[age + 1] = points.times[age] - gap;
            }
            points.values.copy_from_slice(&values);
            points
        })
    }

    proptest! {
        #[test]
        fn an_extrapolation_goes_through_its_points(points in points(), degree in 0..=HIGHEST) {
            let signal = points.extrapolate(degree);
            prop_assert!(signal.degree() <= degree);
            for age in 0..=degree {
                let miss = signal.value(points.times[age]) - points.values[age];
                prop_assert!(miss.abs() < 1e-6 * (1.0 + points.values[age].abs()), "{miss}");
            }
        }

        #[test]
        fn a_fit_is_that_of_the_singular_value_decomposition(
            points in points(),
            degree in 1..=3usize,
        ) {
            let rows = degree + 1;
            let entry = |r: usize, c: usize| points.times[r + 1].powi(c as i32 + 1);
            let matrix = DMatrix::from_fn(rows, degree, entry);
            let right = DVector::from_fn(rows, |r, _| points.values[r + 1] - points.values[0]);
            let expected = matrix.svd(true, true).solve(&right, 1e-14).unwrap();
            let signal = points.fit(degree);
            prop_assert_eq!(signal.value(0.0), points.values[0]);
            for power in 1..=degree {
                let found = signal.coefficients().get(power).copied().unwrap_or(0.0);
                let expected = expected[power - 1];
                prop_assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{found} \
                    {expected}");
            }
        }
    }

    #[test]
    fn a_single_point_is_held_whatever_is_asked_for() {
        let points = Points {
            times: [0.0; MOST],
            values: [2.5; MOST],
            count: 1,
        };
        for calibration in [Calibration::Extrapolation, Calibration::LeastSquares] {
            assert_eq!(points.estimate(calibration, 2), Signal::constant(2.5));
        }
    }
}
