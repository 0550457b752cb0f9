//! The interface, continued: a first guess of the end of a step from its recent slopes.
//!
//! The slopes of up to three communication times give a parabola, which is continued over the step
//! and integrated from the last value (Adams and Bashforth). Values enter once: differences of
//! values over a step would magnify their iteration errors by the inverse of the step.

use dovetail_core::{Knot, MacroStep};
use serde::{Deserialize, Serialize};

/// Communication times that are kept.
const DEPTH: usize = 3;

/// The recent past of the interface, newest first, since the last event.
#[derive(Serialize, Deserialize)]
pub(super) struct Extrapolation {
    times: [f64; DEPTH],
    slopes: [Vec<f64>; DEPTH],
    kept: usize,
}

impl Extrapolation {
    pub fn new(variables: usize) -> Self {
        Self {
            times: [f64::NAN; DEPTH],
            slopes: std::array::from_fn(|_| vec![0.0; variables]),
            kept: 0,
        }
    }

    /// After an event the past says nothing of what comes.
    pub fn forget(&mut self) {
        self.kept = 0;
    }

    /// Takes the interface at `time` in.
    pub fn record(&mut self, time: f64, knots: &[Knot]) {
        self.times.rotate_right(1);
        self.slopes.rotate_right(1);
        self.times[0] = time;
        self.slopes[0]
            .iter_mut()
            .zip(knots)
            .for_each(|(slope, knot)| *slope = knot.slope);

        self.kept = (self.kept + 1).min(DEPTH);
    }

    /// Writes the guess for the end of `step`, which starts at `start`: values, then slopes.
    pub fn guess(&self, step: MacroStep, start: &[Knot], guess: &mut [f64]) {
        let (values, slopes) = guess.split_at_mut(start.len());
        for (c, knot) in start.iter().enumerate() {
            // Newton's form of the parabola s0 + d1 τ + d2 τ (τ + h1), in time elapsed since the
            // step began.
            let (d1, d2, h1) = self.differences(c, knot.slope);
            let t = step.size();
            slopes[c] = knot.slope + t * (d1 + d2 * (t + h1));
            values[c] = knot.value + t * (knot.slope + t * (d1 / 2.0 + d2 * (t / 3.0 + h1 / 2.0)));
        }
    }

    /// Divided differences of the slopes of one variable, as far as they are known, and the last
    /// step.
    fn differences(&self, variable: usize, newest: f64) -> (f64, f64, f64) {
        if self.kept < 2 {
            return (0.0, 0.0, 0.0);
        }

        let slope = |age: usize| self.slopes[age][variable];
        let h1 = self.times[0] - self.times[1];
        let d1 = (newest - slope(1)) / h1;
        if self.kept < 3 {
            return (d1, 0.0, h1);
        }

        let before = (slope(1) - slope(2)) / (self.times[1] - self.times[2]);
        (d1, (d1 - before) / (self.times[0] - self.times[2]), h1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_is_continued_exactly_over_uneven_steps() {
        let at = |t: f64| Knot {
            value: 1.0 + t - 2.0 * t * t + t.powi(3),
            slope: 1.0 - 4.0 * t + 3.0 * t * t,
            curvature: 0.0,
        };
        let mut past = Extrapolation::new(1);
        for time in [0.0, 0.3, 0.4] {
            past.record(time, &[at(time)]);
        }
        let mut guess = [0.0; 2];
        past.guess(MacroStep::new(0.4, 0.65), &[at(0.4)], &mut guess);
        assert!(
            (guess[0] - at(0.65).value).abs() < 1e-14 && (guess[1] - at(0.65).slope).abs() < 1e-14
        );
    }

    #[test]
    fn with_less_past_the_guess_is_simpler() {
        let knot = Knot {
            value: 2.0,
            slope: 3.0,
            curvature: 0.0,
        };
        let mut past = Extrapolation::new(1);
        let mut guess = [0.0; 2];
        past.record(0.0, &[knot]);
        past.guess(MacroStep::new(0.0, 0.5), &[knot], &mut guess);
        assert_eq!(guess, [3.5, 3.0]);
        past.forget();
        past.guess(MacroStep::new(0.0, 0.5), &[knot], &mut guess);
        assert_eq!(guess, [3.5, 3.0]);
    }
}
