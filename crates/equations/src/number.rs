//! What a tape can be evaluated on, and the plain floating point case.

use crate::operation::{Binary, Unary};

/// A kind of number: `f64`, derivatives, symbols, intervals.
///
/// Five methods are required. The rest spell out operations for those who write rules by hand,
/// as `Dual` does. Truth values are numbers too: 1 and 0, and on `f64` also shares between them,
/// where a system slides along the boundary of a condition.
pub trait Number: Clone {
    /// The constant `value`, as a number of the kind of `self`.
    fn lift(&self, value: f64) -> Self;

    /// A function of one operand.
    fn unary(&self, operation: Unary) -> Self;

    /// A function of two operands.
    fn binary(&self, operation: Binary, other: &Self) -> Self;

    /// A power with an integer exponent.
    fn power_integer(&self, exponent: i32) -> Self;

    /// `then` where `condition` is true, else `otherwise`.
    fn select(condition: &Self, then: &Self, otherwise: &Self) -> Self;

    /// Whether this is known to be exactly zero, so that a product with it is zero, too.
    fn is_zero(&self) -> bool {
        false
    }

    /// The opposite.
    #[inline]
    fn negate(&self) -> Self {
        self.unary(Unary::Negate)
    }

    /// The sum.
    #[inline]
    fn add(&self, other: &Self) -> Self {
        self.binary(Binary::Add, other)
    }

    /// The difference.
    #[inline]
    fn subtract(&self, other: &Self) -> Self {
        self.binary(Binary::Subtract, other)
    }

    /// The product.
    #[inline]
    fn multiply(&self, other: &Self) -> Self {
        self.binary(Binary::Multiply, other)
    }

    /// The quotient.
    #[inline]
    fn divide(&self, other: &Self) -> Self {
        self.binary(Binary::Divide, other)
    }
}

impl Number for f64 {
    #[inline]
    fn lift(&self, value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn unary(&self, operation: Unary) -> Self {
        let x = *self;
        match operation {
            Unary::Negate => -x,
            Unary::Sin => x.sin(),
            Unary::Cos => x.cos(),
            Unary::Tan => x.tan(),
            Unary::Asin => x.asin(),
            Unary::Acos => x.acos(),
            Unary::Atan => x.atan(),
            Unary::Sinh => x.sinh(),
            Unary::Cosh => x.cosh(),
            Unary::Tanh => x.tanh(),
            Unary::Exp => x.exp(),
            Unary::Log => x.ln(),
            Unary::Log10 => x.log10(),
            Unary::Sqrt => x.sqrt(),
            Unary::Abs => x.abs(),
            Unary::Sign => sign(x),
            Unary::Floor => x.floor(),
            Unary::Ceil => x.ceil(),
            Unary::Not => 1.0 - x,
        }
    }

    #[inline(always)]
    fn binary(&self, operation: Binary, other: &Self) -> Self {
        let a = *self;
        let b = *other;

        match operation {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Power => a.powf(b),
            Binary::Atan2 => a.atan2(b),
            Binary::Min => minimum(a, b),
            Binary::Max => maximum(a, b),
            Binary::Modulo => modulo(a, b),
            Binary::Less => truth(a < b),
            Binary::LessEqual => truth(a <= b),
            Binary::Equal => truth(a == b),
            Binary::And => a * b,
            Binary::Or => a + b - a * b,
        }
    }

    #[inline]
    fn power_integer(&self, exponent: i32) -> Self {
        power_integer(*self, exponent)
    }

    #[inline]
    fn select(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        if *condition == 0.0 {
            *otherwise
        } else if *condition == 1.0 {
            *then
        } else {
            condition * then + (1.0 - condition) * otherwise
        }
    }

    #[inline]
    fn is_zero(&self) -> bool {
        *self == 0.0
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Unlike `f64::signum`, 0 for 0.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

/// Unlike `f64::min`, undefined where an operand is: a lost NaN would hide a failing model.
fn minimum(a: f64, b: f64) -> f64 {
    if a <= b || a.is_nan() { a } else { b }
}

fn maximum(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

fn modulo(a: f64, b: f64) -> f64 {
    let remainder = a % b;
    if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) {
        remainder + b
    } else {
        remainder
    }
}

/// By squaring while that is at least as good as `powf`; `powi` promises no precision.
fn power_integer(base: f64, exponent: i32) -> f64 {
    const LARGEST: u32 = 16;
    let mut rest = exponent.unsigned_abs();
    if rest > LARGEST {
        return base.powf(f64::from(exponent));
    }

    let mut power = 1.0;
    let mut square = base;

    while rest > 0 {
        if rest % 2 == 1 {
            power *= square;
        }
        square *= square;
        rest /= 2;
    }
    if exponent < 0 { 1.0 / power } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_integer_powers_are_products() {
        assert_eq!(power_integer(1.1, 2), 1.1 * 1.1);
        assert_eq!(power_integer(-2.0, 3), -8.0);
        assert_eq!(power_integer(2.0, -2), 0.25);
        assert_eq!(power_integer(0.0, 0), 1.0);
        assert_eq!(power_integer(2.0, 100), 2f64.powf(100.0));
        assert_eq!(power_integer(2.0, i32::MIN), 0.0);
        assert_eq!(power_integer(1.0, i32::MAX), 1.0);
    }

    #[test]
    fn the_remainder_has_the_sign_of_the_divisor() {
        assert_eq!(modulo(7.0, 3.0), 1.0);
        assert_eq!(modulo(-7.0, 3.0), 2.0);
        assert_eq!(modulo(7.0, -3.0), -2.0);
        assert_eq!(modulo(-6.0, 3.0), 0.0);
        assert!(modulo(1.0, 0.0).is_nan());
    }

    #[test]
    fn least_and_greatest_keep_what_is_undefined() {
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(minimum(a, b).is_nan() && maximum(a, b).is_nan());
        }
        assert_eq!((minimum(1.0, 2.0), maximum(1.0, 2.0)), (1.0, 2.0));
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(
            (sign(-3.0), sign(0.0), sign(-0.0), sign(2.0)),
            (-1.0, 0.0, 0.0, 1.0)
        );
    }

    #[test]
    fn truth_values_are_one_and_zero() {
        assert_eq!(1.0.binary(Binary::Less, &2.0), 1.0);
        assert_eq!(1.0.binary(Binary::And, &0.0), 0.0);
        assert_eq!(1.0.binary(Binary::Or, &0.0), 1.0);
        assert_eq!(f64::select(&1.0, &2.0, &3.0), 2.0);
        assert_eq!(0.0.unary(Unary::Not), 1.0);
    }
}
