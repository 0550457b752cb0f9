//! What errors are measured by, and in what time things move.

use dovetail_core::Linearization;

use crate::coupling::Coupling;
use crate::interface_system::InterfaceSystem;
use crate::rates::Rates;

/// Three digits are enough to tell.
pub(crate) fn rounded(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// In what time states move or turn by as much as they are large, or, from rest, by as much as they will be.
pub(crate) fn time_scale(
    coupling: &Coupling<'_>,
    interface_system: &InterfaceSystem,
    rates: &Rates,
) -> f64 {
    let mut shortest = f64::INFINITY;
    for (task, local) in coupling.tasks.iter().zip(interface_system.local()) {
        let here = &local.linearization;
        for (i, (x, rate)) in here.x.iter().zip(&here.f).enumerate() {
            let inner: f64 = here
                .f
                .iter()
                .enumerate()
                .map(|(j, f)| here.a[(i, j)] * f)
                .sum();
            let slopes = coupling.start_slopes(task.system).enumerate();
            let outer: f64 = slopes.map(|(j, slope)| here.b[(i, j)] * slope).sum();
            let turn = inner + outer + here.f_time[i];
            let size = if *x == 0.0 {
                scale_from_rest(here, i, rates.of(task.system))
            } else {
                x.abs()
            };
            let scales = [size / rate.abs(), (size / turn.abs()).sqrt()];
            // A state at zero that is not about to move says nothing.
            shortest = scales
                .iter()
                .filter(|scale| **scale > 0.0)
                .fold(shortest, |least, scale| least.min(*scale));
        }
    }
    shortest
}

/// What a state that is zero will become: the largest of `|x'|/ρ` and `|x''|/ρ²`, where `rate` bounds the eigenvalues of its system.
pub(crate) fn scale_from_rest(here: &Linearization, state: usize, rate: f64) -> f64 {
    let bend: f64 = here
        .f
        .iter()
        .enumerate()
        .map(|(j, f)| here.a[(state, j)] * f)
        .sum::<f64>()
        + here.f_time[state];
    let scale = (here.f[state].abs() / rate).max(bend.abs() / (rate * rate));
    if rate > 0.0 { scale } else { 0.0 }
}

/// What errors of variables are measured by: their ranges so far.
pub(crate) struct Ranges {
    all: Vec<Range>,
    /// Room for one error each.
    pub errors: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    low: f64,
    high: f64,
    /// How far the variable is about to move.
    ahead: f64,
    /// How far it may move in the whole run, as far as is known.
    outlook: f64,
    /// A usual magnitude, where one is given; else zero.
    nominal: f64,
}

/// A variable that hardly moves is measured by this part of its value: less would be rounding.
const LEAST_OF_VALUE: f64 = 1e-3;
/// And by no less than this part of the largest range: one that is zero has no range but rounding.
const LEAST_OF_ALL: f64 = 1e-14;

impl Ranges {
    pub fn new(count: usize) -> Self {
        let none = Range {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            ahead: 0.0,
            outlook: 0.0,
            nominal: 0.0,
        };
        Self {
            all: vec![none; count],
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
            (range.low, range.high) = (range.low.min(value), range.high.max(value));
        }
    }

    pub fn expect(&mut self, moves: impl Iterator<Item = f64>) {
        self.all
            .iter_mut()
            .zip(moves)
            .for_each(|(range, ahead)| range.ahead = ahead.abs());
    }

    /// What the step will make of the variables that are zero and have never moved.
    pub fn expect_from_zero(&mut self, ends: impl Iterator<Item = f64>) {
        for (range, end) in self
            .all
            .iter_mut()
            .zip(ends)
            .filter(|(range, end)| range.rests() && end.is_finite())
        {
            range.ahead = range.ahead.max(end.abs());
        }
    }

    /// How far the variables would move by the end of the run, if they went on like this: until they have moved they are measured by
    /// that, or by a tenth of their value, whichever is less.
    pub fn look_out(&mut self, moves: impl Iterator<Item = f64>) {
        for (range, far) in self.all.iter_mut().zip(moves) {
            let far = far.abs().min(0.1 * range.low.abs().max(range.high.abs()));
            range.outlook = if far.is_finite() {
                range.outlook.max(far)
            } else {
                range.outlook
            };
        }
    }

    /// What the variables will become that are zero and have never moved: from rest they have the scale of that.
    pub fn expect_from_rest(&mut self, scales: impl Iterator<Item = f64>) {
        for (range, scale) in self.all.iter_mut().zip(scales) {
            if range.rests() && scale.is_finite() {
                range.outlook = range.outlook.max(scale);
            }
        }
    }

    /// Whether a variable is zero and has never moved.
    pub fn rests(&self, variable: usize) -> bool {
        self.all[variable].rests()
    }

    /// Whether some variable is zero and has never moved.
    pub fn rest(&self) -> bool {
        self.all.iter().any(Range::rests)
    }

    /// What errors of one variable are measured by.
    pub fn scale(&self, variable: usize) -> f64 {
        self.all[variable].scale()
    }

    /// What errors of any variable are measured by at least.
    pub fn least(&self) -> f64 {
        LEAST_OF_ALL * self.all.iter().map(Range::scale).fold(0.0, f64::max)
    }

    /// The largest of these errors, each relative to the range of its variable.
    pub fn largest_share(&self, errors: &[f64]) -> f64 {
        let floor = self.least();
        // What has never moved and is not about to has no range to be measured by.
        let share = |(error, range): (&f64, &Range)| match range.scale().max(floor) {
            _ if error.is_nan() => f64::INFINITY, // an error that is not known is not zero
            0.0 => 0.0,
            scale => error.abs() / scale,
        };
        errors.iter().zip(&self.all).map(share).fold(0.0, f64::max)
    }

    pub fn largest_own_share(&self) -> f64 {
        self.largest_share(&self.errors)
    }
}

impl Range {
    /// Whether it is zero and has never moved.
    fn rests(&self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }

    fn scale(&self) -> f64 {
        let value = self.low.abs().max(self.high.abs()).max(self.nominal);
        (self.high - self.low)
            .max(self.ahead)
            .max(self.outlook)
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
