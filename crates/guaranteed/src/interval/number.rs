//! Intervals as numbers that the equations' tape can be evaluated on.
//!
//! A truth value is `[0, 0]`, `[1, 1]` or, undecided, `[0, 1]`.

use dovetail_equations::{Binary, Number, Unary};

use super::Interval;

impl Number for Interval {
    #[inline]
    fn lift(&self, value: f64) -> Self {
        Self::point(value)
    }

    #[inline]
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
            Unary::Log => x.log(),
            Unary::Log10 => x.log10(),
            Unary::Sqrt => x.sqrt(),
            Unary::Abs => x.abs(),
            Unary::Sign => x.sign(),
            Unary::Floor => x.floor(),
            Unary::Ceil => x.ceil(),
            Unary::Not => truth(x.is_false(), x.is_true()),
        }
    }

    #[inline]
    fn binary(&self, operation: Binary, other: &Self) -> Self {
        let a = *self;
        let b = *other;

        match operation {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Power => a.power(b),
            Binary::Atan2 => a.atan2(b),
            Binary::Min => a.min(b),
            Binary::Max => a.max(b),
            Binary::Modulo => a.modulo(b),
            Binary::Less => truth(a.hi < b.lo, a.lo >= b.hi),
            Binary::LessEqual => truth(a.hi <= b.lo, a.lo > b.hi),
            Binary::Equal => truth(a.is_point() && a == b, a.intersection(b).is_none()),
            Binary::And => truth(a.is_true() && b.is_true(), a.is_false() || b.is_false()),
            Binary::Or => truth(a.is_true() || b.is_true(), a.is_false() && b.is_false()),
        }
    }

    #[inline]
    fn power_integer(&self, exponent: i32) -> Self {
        Self::power_integer(*self, exponent)
    }

    /// The hull of both where the condition is undecided.
    #[inline]
    fn select(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        if condition.is_true() {
            *then
        } else if condition.is_false() {
            *otherwise
        } else {
            then.hull(*otherwise)
        }
    }

    #[inline]
    fn is_zero(&self) -> bool {
        self.is_false()
    }
}

impl Interval {
    /// Whether, as a truth value, it is known to be true.
    fn is_true(self) -> bool {
        !self.contains(0.0)
    }

    /// Whether, as a truth value, it is known to be false.
    fn is_false(self) -> bool {
        self.lo == 0.0 && self.hi == 0.0
    }
}

/// A truth value of something that certainly holds, or certainly does not.
fn truth(holds: bool, fails: bool) -> Interval {
    match (holds, fails) {
        (true, _) => Interval::ONE,
        (_, true) => Interval::ZERO,
        _ => Interval { lo: 0.0, hi: 1.0 },
    }
}
