//! Where a variable has been: what its errors are measured by.

use serde::{Deserialize, Serialize};

/// A variable that hardly moves is measured by this part of its value: less would be rounding.
pub(crate) const LEAST_OF_VALUE: f64 = 1e-3;

/// The smallest and the largest value so far.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// No value yet.
    pub const EMPTY: Self = Self {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    /// A range of one value.
    pub fn at(value: f64) -> Self {
        Self {
            low: value,
            high: value,
        }
    }

    pub fn include(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    /// How far the variable has moved.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The largest magnitude that it has had.
    pub fn magnitude(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Whether it is zero and has never moved.
    pub fn rests(&self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }
}

/// A range, and another one in which what lies back is forgotten little by little: F3ORNITS (34) to
/// (36).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DampedRange {
    pub whole: Range,
    pub damped: Range,
}

impl DampedRange {
    /// A range of one value.
    pub fn at(value: f64) -> Self {
        Self {
            whole: Range::at(value),
            damped: Range::at(value),
        }
    }

    /// Takes `value` in, `elapsed` after the last one; the damped range first closes in from both
    /// sides.
    pub fn include(&mut self, value: f64, elapsed: f64, damping: f64) {
        self.whole.include(value);
        // (35), (36): α is that of the point before.
        let fade = damping * elapsed / 2.0 * self.damped.width();
        self.damped.high = value.max(self.damped.high - fade);
        self.damped.low = value.min(self.damped.low + fade);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damped_range_forgets_and_a_whole_one_does_not() {
        let mut range = DampedRange::at(0.0);
        range.include(10.0, 0.1, 0.05);
        for _ in 0..1000 {
            range.include(1.0, 0.1, 0.05);
        }
        assert_eq!(range.whole.width(), 10.0);
        assert!(range.damped.width() < 1.0);
    }
}
