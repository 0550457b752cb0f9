//! Intervals of real numbers with bounds in double precision, rounded outwards.

mod arithmetic;
mod decimals;
mod elementary;
mod matrix;
mod number;
mod power;
mod rounding;
mod trigonometric;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use matrix::IntervalMatrix;

/// A closed interval `[lo, hi]`; bounds may be infinite.
///
/// Every operation gives an interval that contains all results for all reals in its operands. Where
/// an operation is not defined on part of an operand (a division by an interval around zero, a
/// logarithm of something negative) the result is
/// [`Interval::ENTIRE`]: nothing is known. A NaN never gets into a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower bound.
    pub lo: f64,
    /// The upper bound.
    pub hi: f64,
}

impl Interval {
    /// All reals: nothing is known.
    pub const ENTIRE: Self = Self {
        lo: f64::NEG_INFINITY,
        hi: f64::INFINITY,
    };
    /// Zero.
    pub const ZERO: Self = Self { lo: 0.0, hi: 0.0 };
    /// One.
    pub const ONE: Self = Self { lo: 1.0, hi: 1.0 };
    /// The number π, between neighboring doubles.
    pub const PI: Self = Self {
        lo: std::f64::consts::PI,
        hi: std::f64::consts::PI.next_up(),
    };
    /// A right angle, π/2, between neighboring doubles.
    pub const HALF_PI: Self = Self {
        lo: std::f64::consts::FRAC_PI_2,
        hi: std::f64::consts::FRAC_PI_2.next_up(),
    };

    /// From `lo` to `hi`. Bounds with no number between them, or that are no numbers, give
    /// [`Self::ENTIRE`].
    #[inline]
    pub fn new(lo: f64, hi: f64) -> Self {
        if lo <= hi && lo < f64::INFINITY && hi > f64::NEG_INFINITY {
            Self { lo, hi }
        } else {
            Self::ENTIRE
        }
    }

    /// One number.
    pub fn point(value: f64) -> Self {
        Self::new(value, value)
    }

    /// `center ± radius`, rounded outwards.
    pub fn around(center: f64, radius: f64) -> Self {
        Self::point(center) + Self::new(-radius, radius)
    }

    /// Whether it is a single number.
    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// Whether both bounds are finite.
    pub fn is_finite(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }

    /// A number in the middle, or as near as doubles come; finite for every interval.
    pub fn middle(self) -> f64 {
        match (self.lo.is_finite(), self.hi.is_finite()) {
            (true, true) if (self.lo + self.hi).is_finite() => 0.5 * (self.lo + self.hi),
            (true, true) => 0.5 * self.lo + 0.5 * self.hi,
            (true, false) => f64::MAX,
            (false, true) => f64::MIN,
            (false, false) => 0.0,
        }
    }

    /// How far the bounds are from [`Self::middle`], rounded up.
    pub fn radius(self) -> f64 {
        let middle = self.middle();
        (self - Self::point(middle)).magnitude()
    }

    /// `hi - lo`, rounded up.
    pub fn width(self) -> f64 {
        (Self::point(self.hi) - Self::point(self.lo)).hi + 0.0 // no negative zero
    }

    /// The largest absolute value.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// The smallest absolute value.
    pub fn mignitude(self) -> f64 {
        if self.contains(0.0) {
            0.0
        } else {
            self.lo.abs().min(self.hi.abs())
        }
    }

    /// Whether `value` lies in it.
    pub fn contains(self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// Whether all of `self` lies in `other`.
    pub fn within(self, other: Self) -> bool {
        other.lo <= self.lo && self.hi <= other.hi
    }

    /// Whether all of `self` lies in `other` without touching its bounds.
    pub fn inside(self, other: Self) -> bool {
        other.lo < self.lo && self.hi < other.hi
    }

    /// The smallest interval with both in it.
    pub fn hull(self, other: Self) -> Self {
        Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }

    /// What both have in common, if anything.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let lo = self.lo.max(other.lo);
        let hi = self.hi.min(other.hi);
        (lo <= hi).then_some(Self { lo, hi })
    }

    /// Wider by `margin` on both sides, rounded outwards.
    pub fn widened(self, margin: f64) -> Self {
        self + Self::new(-margin, margin)
    }
}

/// The middle of each.
pub(crate) fn middles(boxes: &[Interval]) -> Vec<f64> {
    boxes.iter().map(|range| range.middle()).collect()
}

/// The radius of each.
pub(crate) fn radii(boxes: &[Interval]) -> Vec<f64> {
    boxes.iter().map(|range| range.radius()).collect()
}

/// The place of the widest; of the last of several.
pub(crate) fn widest(boxes: &[Interval]) -> usize {
    let widths = boxes.iter().map(|range| range.width());
    position_of_largest(widths).unwrap_or(0)
}

/// The place of the largest number; of the last of several.
pub(crate) fn position_of_largest(values: impl Iterator<Item = f64>) -> Option<usize> {
    let largest = values.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(largest.0)
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lo, self.hi)
    }
}
