//! Numbers of 192 bits.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use astro_float::{BigFloat, Consts, RoundingMode};
use dovetail_equations::{Binary, Number, Unary};

const BITS: usize = 192;
const NEAREST: RoundingMode = RoundingMode::ToEven;

thread_local! {
    /// The digits of π and the like, as far as they are known.
    static CONSTANTS: RefCell<Consts> = RefCell::new(Consts::new().expect("BUG: no memory"));
}

/// A number of about fifty-seven decimal digits.
#[derive(Clone, Debug)]
pub struct High(BigFloat);

impl High {
    /// A double, which is not subnormal.
    pub fn exactly(value: f64) -> Self {
        Self(BigFloat::from_f64(value, BITS))
    }

    /// The nearest double, or one beside it.
    pub fn rounded(&self) -> f64 {
        self.0.to_string().parse().expect("BUG: a number")
    }

    pub fn abs(&self) -> Self {
        Self(self.0.abs())
    }

    /// Half, exactly.
    pub fn half(&self) -> Self {
        self * &Self::exactly(0.5)
    }

    fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    fn of(function: impl FnOnce(&mut Consts) -> BigFloat) -> Self {
        CONSTANTS.with_borrow_mut(|constants| Self(function(constants)))
    }

    fn pi() -> Self {
        Self::of(|constants| constants.pi(BITS, NEAREST))
    }

    fn atan(&self) -> Self {
        Self::of(|constants| self.0.atan(BITS, NEAREST, constants))
    }

    /// The angle of a point right or left of the origin.
    fn atan2(&self, x: &Self) -> Self {
        let (zero, angle) = (Self::exactly(0.0), (self / x).atan());
        match (*x > zero, *self >= zero) {
            (true, _) => angle,
            (false, true) => angle + &Self::pi(),
            (false, false) => angle - &Self::pi(),
        }
    }
}

impl PartialEq for High {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for High {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.cmp(&other.0).map(|sign| sign.cmp(&0))
    }
}

impl fmt::Display for High {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The library's own sum with zero loses digits.
fn sum(a: &High, b: &High) -> High {
    match (a.is_zero(), b.is_zero()) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => High(a.0.add(&b.0, BITS, NEAREST)),
    }
}

macro_rules! operator {
    ($trait:ident $method:ident, $a:ident $b:ident => $result:expr) => {
        impl $trait<&High> for &High {
            type Output = High;
            fn $method(self, other: &High) -> High {
                let ($a, $b) = (self, other);
                $result
            }
        }

        impl $trait<&High> for High {
            type Output = High;
            fn $method(self, other: &High) -> High {
                $trait::$method(&self, other)
            }
        }
    };
}

operator!(Add add, a b => sum(a, b));
operator!(Sub sub, a b => sum(a, &High(BigFloat::neg(&b.0))));
operator!(Mul mul, a b => High(a.0.mul(&b.0, BITS, NEAREST)));
operator!(Div div, a b => High(a.0.div(&b.0, BITS, NEAREST)));

impl Neg for High {
    type Output = High;
    fn neg(self) -> High {
        High(BigFloat::neg(&self.0))
    }
}

fn truth(holds: bool) -> High {
    High::exactly(f64::from(u8::from(holds)))
}

impl Number for High {
    fn lift(&self, value: f64) -> Self {
        Self::exactly(value)
    }

    fn unary(&self, operation: Unary) -> Self {
        let x = &self.0;
        match operation {
            Unary::Negate => Self(BigFloat::neg(x)),
            Unary::Sin => Self::of(|c| x.sin(BITS, NEAREST, c)),
            Unary::Cos => Self::of(|c| x.cos(BITS, NEAREST, c)),
            Unary::Tan => Self::of(|c| x.tan(BITS, NEAREST, c)),
            Unary::Asin => Self::of(|c| x.asin(BITS, NEAREST, c)),
            Unary::Acos => Self::of(|c| x.acos(BITS, NEAREST, c)),
            Unary::Atan => self.atan(),
            Unary::Sinh => Self::of(|c| x.sinh(BITS, NEAREST, c)),
            Unary::Cosh => Self::of(|c| x.cosh(BITS, NEAREST, c)),
            Unary::Tanh => Self::of(|c| x.tanh(BITS, NEAREST, c)),
            Unary::Exp => Self::of(|c| x.exp(BITS, NEAREST, c)),
            Unary::Log => Self::of(|c| x.ln(BITS, NEAREST, c)),
            Unary::Log10 => Self::of(|c| x.log10(BITS, NEAREST, c)),
            Unary::Sqrt => Self(x.sqrt(BITS, NEAREST)),
            Unary::Abs => self.abs(),
            Unary::Sign if self.is_zero() => self.clone(),
            Unary::Sign => Self::exactly(if x.is_negative() { -1.0 } else { 1.0 }),
            Unary::Not => truth(self.is_zero()),
            Unary::Floor | Unary::Ceil => panic!("BUG: jumps are not for this"),
        }
    }

    fn binary(&self, operation: Binary, other: &Self) -> Self {
        let pick = |first: bool| if first { self.clone() } else { other.clone() };
        match operation {
            Binary::Add => self + other,
            Binary::Subtract => self - other,
            Binary::Multiply => self * other,
            Binary::Divide => self / other,
            Binary::Power => Self::of(|c| self.0.pow(&other.0, BITS, NEAREST, c)),
            Binary::Atan2 => self.atan2(other),
            Binary::Min => pick(self <= other),
            Binary::Max => pick(self >= other),
            Binary::Less => truth(self < other),
            Binary::LessEqual => truth(self <= other),
            Binary::Equal => truth(self == other),
            Binary::And => truth(!self.is_zero() && !other.is_zero()),
            Binary::Or => truth(!self.is_zero() || !other.is_zero()),
            Binary::Modulo => panic!("BUG: jumps are not for this"),
        }
    }

    fn power_integer(&self, exponent: i32) -> Self {
        let power = Self(self.0.powi(exponent.unsigned_abs() as usize, BITS, NEAREST));
        if exponent < 0 {
            Self::exactly(1.0) / &power
        } else {
            power
        }
    }

    fn select(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        if condition.is_zero() {
            otherwise.clone()
        } else {
            then.clone()
        }
    }
}
