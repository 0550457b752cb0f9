//! Flexible order: the degree that would have served best on the step just made, F3ORNITS (18) to (20).

use super::Steering;
use super::calibration::{HIGHEST, Points};

/// How much of an averaged error is kept when a new one comes in.
const KEPT: f64 = 0.7;
/// Another degree must be so many times better to be worth a change.
const HYSTERESIS: f64 = 1.5;

/// The degree of one output's estimates, and what led to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    /// The degree of the next estimate.
    pub degree: usize,
    /// Errors of every degree, averaged, as far as they are known.
    averages: [f64; HIGHEST + 1],
    known: usize,
}

impl Order {
    /// Nothing is known: values are held.
    pub fn new() -> Self {
        Self { degree: 0, averages: [0.0; HIGHEST + 1], known: 0 }
    }

    /// Chooses the degree, `most` at most, by how well each would have foretold `value` from the points before it, `elapsed` ago
    /// the newest of them. Always by extrapolation, (18); ties go to the lower degree.
    pub fn choose(&mut self, steering: Steering, points: &Points, elapsed: f64, value: f64, most: usize) {
        let available = most.min(points.count() - 1);
        let (mut best, mut least) = (0, f64::INFINITY);
        for degree in 0..=available {
            let miss = (points.extrapolate(degree).value(elapsed) - value).abs();
            let weighed = match steering {
                Steering::Plain => miss, // (19), (20)
                Steering::Averaged => self.averaged(degree, miss),
            };
            if weighed < least {
                (best, least) = (degree, weighed);
            }
        }
        self.known = self.known.max(available + 1);
        self.degree = best;
    }

    /// Averages the error of `degree`, and weighs it up where that is not the degree in use.
    fn averaged(&mut self, degree: usize, miss: f64) -> f64 {
        let average = &mut self.averages[degree];
        *average = if degree < self.known { KEPT * *average + (1.0 - KEPT) * miss } else { miss };
        if degree == self.degree { *average } else { HYSTERESIS * *average }
    }
}
