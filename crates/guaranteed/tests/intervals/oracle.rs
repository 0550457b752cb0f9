//! True values to 192 bits, by a library that shares nothing with the one under test.

use astro_float::{BigFloat, Consts, RoundingMode};
use dovetail_guaranteed::Interval;

/// More than enough: a quotient or root of doubles that is no double is further from all of them.
const BITS: usize = 192;
const NEAREST: RoundingMode = RoundingMode::ToEven;

/// A true value.
pub type True = BigFloat;

/// Evaluates functions of doubles; keeps the digits of π and the like.
pub struct Oracle(Consts);

/// A double, exactly. (The library's own conversion halves subnormal numbers.)
pub fn exactly(x: f64) -> True {
    if x == 0.0 || x.abs() >= f64::MIN_POSITIVE {
        return BigFloat::from_f64(x, BITS);
    }
    let mut scaled = BigFloat::from_f64(x * 2f64.powi(100), BITS);
    scaled.set_exponent(scaled.exponent().unwrap() - 100);
    scaled
}

/// Whether a true value lies between bounds.
pub fn encloses(bounds: Interval, value: &True) -> bool {
    at_most(bounds.lo, value) && at_least(bounds.hi, value)
}

fn at_most(bound: f64, value: &True) -> bool {
    if bound.is_infinite() {
        bound < 0.0
    } else {
        exactly(bound).cmp(value).is_some_and(|order| order <= 0)
    }
}

fn at_least(bound: f64, value: &True) -> bool {
    if bound.is_infinite() {
        bound > 0.0
    } else {
        exactly(bound).cmp(value).is_some_and(|order| order >= 0)
    }
}

/// Whether there are no better bounds in double precision.
pub fn is_best(bounds: Interval, value: &True) -> bool {
    encloses(bounds, value)
        && (bounds.lo == f64::NEG_INFINITY || !at_most(bounds.lo.next_up(), value))
        && (bounds.hi == f64::INFINITY || !at_least(bounds.hi.next_down(), value))
}

macro_rules! functions {
    ($($name:ident)*) => {
        $(pub fn $name(&mut self, x: f64) -> True {
            exactly(x).$name(BITS, NEAREST, &mut self.0)
        })*
    };
}

impl Oracle {
    pub fn new() -> Self {
        Self(Consts::new().unwrap())
    }

    functions! { exp ln log10 sin cos tan asin acos atan sinh cosh tanh }

    pub fn sqrt(x: f64) -> True {
        exactly(x).sqrt(BITS, NEAREST)
    }

    /// (The library's own sum with zero loses bits.)
    pub fn add(a: f64, b: f64) -> True {
        match (a, b) {
            (0.0, x) | (x, 0.0) => exactly(x),
            _ => exactly(a).add_full_prec(&exactly(b)),
        }
    }

    pub fn multiply(a: f64, b: f64) -> True {
        exactly(a).mul_full_prec(&exactly(b))
    }

    pub fn divide(a: f64, b: f64) -> True {
        exactly(a).div(&exactly(b), BITS, NEAREST)
    }

    /// `base` is positive.
    pub fn power(&mut self, base: f64, exponent: f64) -> True {
        if base == 0.0 || exponent == 0.0 {
            return exactly(base.powf(exponent));
        }
        let logarithm = exactly(base).ln(4 * BITS, NEAREST, &mut self.0);
        let scaled = logarithm.mul(&exactly(exponent), 4 * BITS, NEAREST);
        scaled.exp(BITS, NEAREST, &mut self.0)
    }

    pub fn power_integer(base: f64, exponent: i32) -> True {
        let power = exactly(base).powi(exponent.unsigned_abs() as usize, 2 * BITS, NEAREST);
        if exponent < 0 {
            power.reciprocal(2 * BITS, NEAREST)
        } else {
            power
        }
    }

    /// The origin is not asked for.
    pub fn atan2(&mut self, y: f64, x: f64) -> True {
        let mut pi = self.0.pi(BITS, NEAREST);
        if x == 0.0 {
            pi.set_exponent(pi.exponent().unwrap() - 1);
            return if y > 0.0 { pi } else { pi.neg() };
        }
        let angle = Self::divide(y, x).atan(BITS, NEAREST, &mut self.0);
        match (x > 0.0, y >= 0.0) {
            (true, _) => angle,
            (false, true) => angle.add(&pi, BITS, NEAREST),
            (false, false) => angle.sub(&pi, BITS, NEAREST),
        }
    }

    /// The derivative of `sin(x) / (1 + exp(x))`.
    pub fn derivative(&mut self, x: f64) -> True {
        let (sine, cosine, exponential) = (self.sin(x), self.cos(x), self.exp(x));
        let denominator = exponential.add(&exactly(1.0), BITS, NEAREST);
        let quotient = sine
            .mul(&exponential, BITS, NEAREST)
            .div(&denominator, BITS, NEAREST);
        cosine
            .sub(&quotient, BITS, NEAREST)
            .div(&denominator, BITS, NEAREST)
    }

    /// The remainder with the sign of the divisor.
    pub fn modulo(a: f64, b: f64) -> True {
        let remainder = exactly(a % b);
        if remainder.is_zero() || (a < 0.0) == (b < 0.0) {
            remainder
        } else {
            remainder.add_full_prec(&exactly(b))
        }
    }
}
