//! What errors of many variables are measured by: their ranges.

use std::iter::zip;

use serde::{Deserialize, Serialize};

use crate::coupling::Coupling;
use crate::range::{LEAST_OF_VALUE, Range};

/// What errors of variables are measured by: their ranges so far.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ranges {
    all: Vec<MeasuredRange>,
    /// Room for one error each.
    pub errors: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct MeasuredRange {
    /// The values so far.
    values: Range,
    /// How far the variable is about to move.
    ahead: f64,
    /// How far it may move in the whole run, as far as is known.
    horizon: f64,
    /// A usual magnitude, where one is given; else zero.
    nominal: f64,
}

/// A variable is measured by no less than this part of the largest range: one that is zero has no
/// range but rounding.
const LEAST_OF_ALL: f64 = 1e-14;
/// An error below so much of a variable's value is rounding: a variable that rests is not followed
/// down to that.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// What lies ahead counts up to this part of a variable's value.
const MOST_OUTLOOK: f64 = 0.1;

impl MeasuredRange {
    /// Nothing is known yet.
    const NONE: Self = Self {
        values: Range::EMPTY,
        ahead: 0.0,
        horizon: 0.0,
        nominal: 0.0,
    };

    /// Whether the variable is zero and has never moved.
    fn rests(&self) -> bool {
        self.values.rests()
    }
}

/// The larger of both, where the other is a number.
fn raise(known: &mut f64, other: f64) {
    if other.is_finite() {
        *known = known.max(other);
    }
}

impl Ranges {
    pub fn new(count: usize) -> Self {
        Self {
            all: vec![MeasuredRange::NONE; count],
            errors: vec![0.0; count],
        }
    }

    /// For these coupling variables, with the usual magnitudes that their systems give.
    pub fn of(coupling: &Coupling<'_>) -> Self {
        let mut ranges = Self::new(coupling.variables.len());
        for (range, variable) in ranges.all.iter_mut().zip(&coupling.variables) {
            range.nominal = coupling
                .connections
                .output(variable.stacked)
                .nominal
                .unwrap_or(0.0);
        }
        ranges
    }

    pub fn include(&mut self, values: impl Iterator<Item = f64>) {
        for (range, value) in self.all.iter_mut().zip(values) {
            range.values.include(value);
        }
    }

    pub fn expect(&mut self, moves: impl Iterator<Item = f64>) {
        for (range, ahead) in self.all.iter_mut().zip(moves) {
            range.ahead = ahead.abs();
        }
    }

    /// What the step will make of the variables that are zero and have never moved.
    pub fn expect_from_zero(&mut self, ends: impl Iterator<Item = f64>) {
        let floor = self.least();
        for (range, end) in zip(&mut self.all, ends) {
            if range.rests() || range.values.magnitude() <= floor {
                raise(&mut range.ahead, end.abs());
            }
        }
    }

    /// How far the variables would move by the end of the run, if they went on like this: until
    /// they have moved they are measured by that, or by a tenth of their value, whichever is less.
    pub fn set_horizon(&mut self, moves: impl Iterator<Item = f64>) {
        for (range, far) in self.all.iter_mut().zip(moves) {
            let far = far.abs().min(MOST_OUTLOOK * range.values.magnitude());
            raise(&mut range.horizon, far);
        }
    }

    /// What the variables will become that are zero and have never moved: from rest they have the
    /// scale of that.
    pub fn expect_from_rest(&mut self, scales: impl Iterator<Item = f64>) {
        for (range, scale) in zip(&mut self.all, scales) {
            if range.rests() {
                raise(&mut range.horizon, scale);
            }
        }
    }

    /// Whether a variable is zero, or as good as zero beside the others, and has never moved.
    pub fn rests(&self, variable: usize) -> bool {
        self.all[variable].values.magnitude() <= self.least()
    }

    /// Whether some variable does.
    pub fn rest(&self) -> bool {
        let floor = self.least();
        self.all
            .iter()
            .any(|range| range.values.magnitude() <= floor)
    }

    /// How far a variable has moved so far.
    pub fn moved(&self, variable: usize) -> f64 {
        self.all[variable].values.width()
    }

    /// What errors of one variable are measured by.
    pub fn scale(&self, variable: usize) -> f64 {
        self.all[variable].scale()
    }

    /// What errors of any variable are measured by at least.
    pub fn least(&self) -> f64 {
        LEAST_OF_ALL
            * self
                .all
                .iter()
                .map(MeasuredRange::scale)
                .fold(0.0, f64::max)
    }

    /// The largest of these errors, each relative to the range of its variable.
    pub fn largest_share(&self, errors: &[f64]) -> f64 {
        let floor = self.least();
        // What has never moved and is not about to has no range to be measured by.
        let share = |(error, range): (&f64, &MeasuredRange)| match range.scale().max(floor) {
            _ if error.is_nan() => f64::INFINITY, // an error that is not known is not zero
            0.0 => 0.0,
            _ if error.abs() <= ROUNDING * range.values.magnitude() => 0.0,
            scale => error.abs() / scale,
        };
        let shares = errors.iter().zip(&self.all).map(share);

        shares.fold(0.0, f64::max)
    }

    pub fn largest_own_share(&self) -> f64 {
        self.largest_share(&self.errors)
    }
}

impl MeasuredRange {
    fn scale(&self) -> f64 {
        let value = self.values.magnitude().max(self.nominal);
        self.values
            .width()
            .max(self.ahead)
            .max(self.horizon)
            .max(LEAST_OF_VALUE * value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rests_is_not_measured() {
        let mut ranges = Ranges::new(1);
        ranges.include([0.0].into_iter());
        assert_eq!(ranges.largest_share(&[1.0]), 0.0);
    }

    #[test]
    fn a_usual_magnitude_counts_as_a_value_does() {
        let mut ranges = Ranges::new(1);
        ranges.all[0].nominal = 1e5;
        ranges.include([0.0].into_iter());
        assert_eq!(ranges.scale(0), LEAST_OF_VALUE * 1e5);
        ranges.include([2e5].into_iter());
        assert_eq!(ranges.scale(0), 2e5, "what it has moved by is more");
    }

    #[test]
    fn what_is_zero_but_for_rounding_is_not_measured_by_it() {
        let mut ranges = Ranges::new(2);
        ranges.include([1.0, 0.0].into_iter());
        ranges.include([3.0, 1e-17].into_iter());
        assert!(ranges.largest_share(&[0.0, 1e-18]) < 1e-3);
        assert_eq!(ranges.largest_share(&[0.5, 0.0]), 0.25);
    }
}
