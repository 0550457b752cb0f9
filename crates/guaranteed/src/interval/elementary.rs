//! Exponentials, logarithms, inverse and hyperbolic functions, and what is piecewise constant or
//! linear.
//!
//! `core-math` rounds correctly, so the neighbors of its results are bounds; results that are exact
//! stay so.

use super::Interval;
use super::rounding::{above, add_down, add_up, below};
use super::trigonometric::COSINES;

/// A function of doubles, rounded correctly.
type RealFunction = fn(f64) -> f64;

impl Interval {
    /// The image under an increasing function, which is exact where `exact` holds.
    #[inline]
    pub(super) fn increasing(self, function: RealFunction, exact: impl Fn(f64) -> bool) -> Self {
        let low = function(self.lo);
        let high = if self.is_point() {
            low
        } else {
            function(self.hi)
        };
        let low = if exact(self.lo) { low } else { below(low) };
        let high = if exact(self.hi) { high } else { above(high) };

        Self::new(low, high)
    }

    /// What of it lies in the range `lo..=hi` of a function.
    #[inline]
    pub(super) fn clamped(self, lo: f64, hi: f64) -> Self {
        Self {
            lo: self.lo.clamp(lo, hi),
            hi: self.hi.clamp(lo, hi),
        }
    }

    /// The exponential.
    pub fn exp(self) -> Self {
        self.increasing(core_math::exp, |x| x == 0.0)
            .clamped(0.0, f64::INFINITY)
    }

    /// The natural logarithm; [`Self::ENTIRE`] of anything negative.
    pub fn log(self) -> Self {
        if self.lo < 0.0 {
            Self::ENTIRE
        } else {
            self.increasing(core_math::log, |x| x == 1.0)
        }
    }

    /// The logarithm to base 10; [`Self::ENTIRE`] of anything negative.
    pub fn log10(self) -> Self {
        if self.lo < 0.0 {
            Self::ENTIRE
        } else {
            self.increasing(core_math::log10, is_power_of_ten)
        }
    }

    /// The arc sine; [`Self::ENTIRE`] of anything outside `[-1, 1]`.
    pub fn asin(self) -> Self {
        if !self.within(COSINES) {
            return Self::ENTIRE;
        }
        self.increasing(core_math::asin, |x| x == 0.0)
    }

    /// The arc cosine; [`Self::ENTIRE`] of anything outside `[-1, 1]`.
    pub fn acos(self) -> Self {
        if !self.within(COSINES) {
            return Self::ENTIRE;
        }
        -self.increasing(|x| -core_math::acos(x), |x| x == 1.0)
    }

    /// The arc tangent.
    pub fn atan(self) -> Self {
        self.increasing(core_math::atan, |x| x == 0.0)
    }

    /// The hyperbolic sine.
    pub fn sinh(self) -> Self {
        self.increasing(core_math::sinh, |x| x == 0.0)
    }

    /// The hyperbolic cosine.
    pub fn cosh(self) -> Self {
        self.abs()
            .increasing(core_math::cosh, |x| x == 0.0)
            .clamped(1.0, f64::INFINITY)
    }

    /// The hyperbolic tangent.
    pub fn tanh(self) -> Self {
        self.increasing(core_math::tanh, |x| x == 0.0)
            .clamped(-1.0, 1.0)
    }

    /// The absolute value.
    #[inline]
    pub fn abs(self) -> Self {
        Self {
            lo: self.mignitude(),
            hi: self.magnitude(),
        }
    }

    /// The sign: -1, 0 or 1, and everything between those that are possible.
    pub fn sign(self) -> Self {
        self.map_bounds(|x| if x == 0.0 { 0.0 } else { x.signum() })
    }

    /// The largest integer that is not greater.
    pub fn floor(self) -> Self {
        self.map_bounds(f64::floor)
    }

    /// The smallest integer that is not less.
    pub fn ceil(self) -> Self {
        self.map_bounds(f64::ceil)
    }

    /// The image under a function that never decreases and has no rounding.
    fn map_bounds(self, function: RealFunction) -> Self {
        Self {
            lo: function(self.lo),
            hi: function(self.hi),
        }
    }

    /// The smaller of two numbers.
    #[inline]
    pub fn min(self, other: Self) -> Self {
        Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.min(other.hi),
        }
    }

    /// The larger of two numbers.
    #[inline]
    pub fn max(self, other: Self) -> Self {
        Self {
            lo: self.lo.max(other.lo),
            hi: self.hi.max(other.hi),
        }
    }

    /// The remainder with the sign of the divisor: `a - b floor(a / b)`; [`Self::ENTIRE`] if the
    /// divisor may be zero.
    pub fn modulo(self, divisor: Self) -> Self {
        if divisor.contains(0.0) {
            Self::ENTIRE
        } else if divisor.hi < 0.0 {
            -(-self).positive_modulo(-divisor)
        } else {
            self.positive_modulo(divisor)
        }
    }

    /// The remainder of a division by something positive.
    fn positive_modulo(self, divisor: Self) -> Self {
        if divisor.is_point() && self.is_finite() {
            return self.remainder(divisor.lo);
        }

        let anything = Self {
            lo: 0.0,
            hi: divisor.hi,
        };
        let turns = (self / divisor).floor();

        if turns.is_point() && self.is_finite() && divisor.is_finite() {
            (self - divisor * turns)
                .intersection(anything)
                .unwrap_or(anything)
        } else {
            anything
        }
    }

    /// The remainder of a division by one positive number; the remainder of doubles is exact.
    fn remainder(self, divisor: f64) -> Self {
        let of = |x: f64| match x % divisor {
            r if r >= 0.0 => Self::point(r),
            r => Self::new(add_down(r, divisor), add_up(r, divisor)),
        };
        let first = of(self.lo);
        let last = of(self.hi);
        // Less than one turn apart and in order, so there is no jump between.
        let in_order = self.is_point() || (self.width() < divisor && first.hi <= last.lo);

        if in_order {
            Self {
                lo: first.lo,
                hi: last.hi,
            }
        } else {
            Self {
                lo: 0.0,
                hi: divisor,
            }
        }
    }
}

/// Whether the logarithm to base 10 is an integer; no negative power of ten is a double.
fn is_power_of_ten(x: f64) -> bool {
    (1.0..=1e22).contains(&x) && (0..=22).any(|exponent| 10u128.pow(exponent) as f64 == x)
}
