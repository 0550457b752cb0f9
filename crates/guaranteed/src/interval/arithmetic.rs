//! Sums, products, quotients, squares and roots, with the best possible bounds.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Interval;
use super::rounding::{
    add_down, add_up, divide_down, divide_up, multiply_down, multiply_up, sqrt_down, sqrt_up,
};

impl Neg for Interval {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self {
            lo: -self.hi,
            hi: -self.lo,
        }
    }
}

impl Add for Interval {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self::new(add_down(self.lo, other.lo), add_up(self.hi, other.hi))
    }
}

impl Sub for Interval {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self::new(add_down(self.lo, -other.hi), add_up(self.hi, -other.lo))
    }
}

impl Mul for Interval {
    type Output = Self;

    /// Zero times anything is zero, unbounded intervals included.
    #[inline]
    fn mul(self, other: Self) -> Self {
        let a = self;
        let b = other;
        let bounds = |low: (f64, f64), high: (f64, f64)| {
            Self::new(multiply_down(low.0, low.1), multiply_up(high.0, high.1))
        };

        if a.lo >= 0.0 {
            bounds(
                (if b.lo >= 0.0 { a.lo } else { a.hi }, b.lo),
                (if b.hi >= 0.0 { a.hi } else { a.lo }, b.hi),
            )
        } else if a.hi <= 0.0 {
            bounds(
                (if b.hi <= 0.0 { a.hi } else { a.lo }, b.hi),
                (if b.lo <= 0.0 { a.lo } else { a.hi }, b.lo),
            )
        } else if b.lo >= 0.0 {
            bounds((a.lo, b.hi), (a.hi, b.hi))
        } else if b.hi <= 0.0 {
            bounds((a.hi, b.lo), (a.lo, b.lo))
        } else {
            Self::new(
                multiply_down(a.lo, b.hi).min(multiply_down(a.hi, b.lo)),
                multiply_up(a.lo, b.lo).max(multiply_up(a.hi, b.hi)),
            )
        }
    }
}

impl Div for Interval {
    type Output = Self;

    /// A divisor that has zero as one end gives a half-line, unless the dividend has it, too.
    #[inline]
    fn div(self, other: Self) -> Self {
        let a = self;
        let b = other;

        if b.lo > 0.0 {
            let low = divide_down(a.lo, if a.lo >= 0.0 { b.hi } else { b.lo });
            let high = divide_up(a.hi, if a.hi >= 0.0 { b.lo } else { b.hi });
            Self::new(low, high)
        } else if b.hi < 0.0 {
            -(a / -b)
        } else {
            a.divide_by_zero(b)
        }
    }
}

impl Interval {
    /// A quotient by an interval that contains zero.
    #[cold]
    fn divide_by_zero(self, divisor: Self) -> Self {
        let above = divisor.hi > 0.0;
        let below = divisor.lo < 0.0;
        if above == below || self.contains(0.0) {
            return Self::ENTIRE;
        }
        if below {
            return -self.divide_by_zero(-divisor);
        }

        if self.lo > 0.0 {
            Self {
                lo: divide_down(self.lo, divisor.hi),
                hi: f64::INFINITY,
            }
        } else {
            Self {
                lo: f64::NEG_INFINITY,
                hi: divide_up(self.hi, divisor.hi),
            }
        }
    }

    /// The square.
    #[inline]
    pub fn square(self) -> Self {
        let least = self.mignitude();
        let greatest = self.magnitude();
        Self::new(multiply_down(least, least), multiply_up(greatest, greatest))
    }

    /// The square root; [`Self::ENTIRE`] of anything negative.
    #[inline]
    pub fn sqrt(self) -> Self {
        if self.lo < 0.0 {
            Self::ENTIRE
        } else {
            Self::new(sqrt_down(self.lo), sqrt_up(self.hi))
        }
    }
}
