//! Powers with integer, real and interval exponents.

use super::Interval;
use super::rounding::{above, add_down, add_up, below, power_of_two, two_product};

impl Interval {
    /// A power with an integer exponent. Zero to the power of zero is one.
    pub fn power_integer(self, exponent: i32) -> Self {
        self.whole_power(f64::from(exponent))
    }

    /// A power with any exponent, of bases that are not negative.
    ///
    /// A base that may be negative needs an exponent that is one integer; otherwise nothing is
    /// known.
    pub fn power(self, exponent: Self) -> Self {
        if exponent.is_point() && exponent.lo.fract() == 0.0 {
            return self.whole_power(exponent.lo);
        }
        if exponent.is_point() && exponent.lo == 0.5 {
            return self.sqrt();
        }
        if self.lo < 0.0 || (self.hi == 0.0 && exponent.lo < 0.0) {
            return Self::ENTIRE;
        }
        if exponent.is_point() {
            return self.monotone_power(exponent.lo);
        }

        // The logarithm is bilinear in the exponent and the logarithm of the base: it is extreme in
        // corners.
        let corners = [
            (self.lo, exponent.lo),
            (self.lo, exponent.hi),
            (self.hi, exponent.lo),
            (self.hi, exponent.hi),
        ]
        .map(|(base, exponent)| power(base, exponent));
        let lo = corners
            .iter()
            .fold(f64::INFINITY, |lo, corner| lo.min(corner.lo));
        let hi = corners
            .iter()
            .fold(0.0, |hi: f64, corner| hi.max(corner.hi));

        Self::new(lo, hi)
    }

    /// A power with an exponent that is an integer of any size.
    fn whole_power(self, exponent: f64) -> Self {
        if exponent == 0.0 {
            Self::ONE
        } else if exponent == 1.0 {
            self
        } else if exponent == 2.0 {
            self.square()
        } else if exponent == -1.0 {
            Self::ONE / self
        } else if exponent < 0.0 && self.contains(0.0) {
            self.power_of_zero(exponent)
        } else if exponent % 2.0 == 0.0 {
            self.abs().monotone_power(exponent)
        } else if self.lo >= 0.0 {
            self.monotone_power(exponent)
        } else if self.hi <= 0.0 {
            -(-self).monotone_power(exponent)
        } else {
            Self {
                lo: -power(-self.lo, exponent).hi,
                hi: power(self.hi, exponent).hi,
            }
        }
    }

    /// A power of numbers that are not negative.
    fn monotone_power(self, exponent: f64) -> Self {
        let first = power(self.lo, exponent);
        let last = power(self.hi, exponent);

        if exponent > 0.0 {
            Self::new(first.lo, last.hi)
        } else {
            Self::new(last.lo, first.hi)
        }
    }

    /// A power with a negative exponent of an interval that contains zero: a half-line if zero is
    /// one end.
    fn power_of_zero(self, exponent: f64) -> Self {
        if self.lo == 0.0 && self.hi > 0.0 {
            Self {
                lo: power(self.hi, exponent).lo,
                hi: f64::INFINITY,
            }
        } else if self.hi == 0.0 && self.lo < 0.0 {
            let mirrored = (-self).power_of_zero(exponent);
            if exponent % 2.0 == 0.0 {
                mirrored
            } else {
                -mirrored
            }
        } else {
            Self::ENTIRE
        }
    }
}

/// Bounds of one power of a base that is not negative, zero and infinity included.
fn power(base: f64, exponent: f64) -> Interval {
    if (3.0..=f64::from(LARGEST)).contains(&exponent)
        && exponent.fract() == 0.0
        && (SMALL..=LARGE).contains(&base)
    {
        return small_power(base, exponent as u32);
    }

    let power = core_math::pow(base.abs(), exponent);
    if is_exact(base, exponent, power) {
        return Interval {
            lo: power,
            hi: power,
        };
    }

    Interval {
        lo: below(power).max(0.0),
        hi: above(power),
    }
}

/// The largest exponent for which multiplying is faster than the logarithm.
const LARGEST: u32 = 16;
/// Bases with powers up to the largest that are far from underflow and overflow.
const SMALL: f64 = power_of_two(-56);
const LARGE: f64 = power_of_two(56);

/// Bounds of a small power, by products whose rounding errors are carried along.
///
/// After `k` products the carried sum is at most `k u` of the product, where `u = 2^-53`, and each
/// step adds at most `(2 k + 3) u²` to its own relative error: less than `2^-97` in all, for 15
/// steps. The margin is twice that.
fn small_power(base: f64, exponent: u32) -> Interval {
    let mut product = base;
    let mut carried = 0.0;
    let mut exact = true;

    for _ in 1..exponent {
        let (next, error) = two_product(product, base);
        carried = error + carried * base;
        exact &= error == 0.0;
        product = next;
    }

    if exact {
        return Interval {
            lo: product,
            hi: product,
        };
    }

    let margin = product * power_of_two(-96);
    Interval {
        lo: add_down(product, carried - margin),
        hi: add_up(product, carried + margin),
    }
}

/// Whether a power to nearest is the power itself. (May say no where it is.)
fn is_exact(base: f64, exponent: f64, power: f64) -> bool {
    if exponent == 0.0
        || exponent == 1.0
        || base == 0.0
        || base == 1.0
        || base.is_infinite()
        || exponent.is_infinite()
    {
        return true;
    }
    if exponent.fract() != 0.0 || !power.is_normal() {
        return false;
    }

    match (odd_part(base), exponent) {
        (1, _) => true,
        (_, ..0.0) => false,
        (_, 53.0..) => false,
        (odd, _) => odd
            .checked_pow(exponent as u32)
            .is_some_and(|power| power < 1 << 53),
    }
}

/// The odd integer that a number is a power of two times.
fn odd_part(value: f64) -> u64 {
    let fraction = value.to_bits() & ((1 << 52) - 1);
    let significand = if value.is_normal() {
        fraction | (1 << 52)
    } else {
        fraction
    };
    significand >> significand.trailing_zeros()
}
