//! Numbers that carry a derivative along.
//!
//! The rules are written once, on any kind of number: `Dual<f64>` gives derivatives in one
//! direction, `Dual<Dual<f64>>` second derivatives, `Dual<Symbol>` derivatives as expressions.
//!
//! A derivative that is exactly zero stays zero, even where the rule's factor is infinite: what
//! does not vary has no slope. At kinks (`abs`, `min`, `max`, conditions) the derivative is that of
//! the branch taken; steps (`floor`, `ceil`, `sign`, comparisons) have derivative 0.

use std::iter::zip;

use crate::number::Number;
use crate::operation::{Binary, Unary};

/// A value and its derivative in some direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<T> {
    /// The number itself.
    pub value: T,
    /// How it varies.
    pub derivative: T,
}

impl<T: Number> Dual<T> {
    /// A number that varies like `derivative`.
    pub fn new(value: T, derivative: T) -> Self {
        Self { value, derivative }
    }

    /// A number that does not vary.
    pub fn constant(value: T) -> Self {
        let derivative = value.lift(0.0);
        Self { value, derivative }
    }

    /// Numbers that vary at these rates.
    pub fn moving(values: &[T], rates: &[T]) -> Vec<Self> {
        zip(values, rates)
            .map(|(value, rate)| Self::new(value.clone(), rate.clone()))
            .collect()
    }

    /// The number one differentiates with respect to.
    pub fn variable(value: T) -> Self {
        let derivative = value.lift(1.0);
        Self { value, derivative }
    }
}

impl<T: Number> Number for Dual<T> {
    fn lift(&self, value: f64) -> Self {
        Self::constant(self.value.lift(value))
    }

    #[inline]
    fn unary(&self, operation: Unary) -> Self {
        let value = self.value.unary(operation);
        let derivative = match operation {
            Unary::Negate => self.derivative.negate(),
            Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Not => value.lift(0.0),
            _ => scaled(&self.derivative, || slope(operation, &self.value, &value)),
        };
        Self { value, derivative }
    }

    #[inline]
    fn binary(&self, operation: Binary, other: &Self) -> Self {
        let value = self.value.binary(operation, &other.value);
        let derivative = rule(operation, self, other, &value);
        Self { value, derivative }
    }

    fn power_integer(&self, exponent: i32) -> Self {
        let value = self.value.power_integer(exponent);
        let derivative = scaled(&self.derivative, || {
            let factor = value.lift(f64::from(exponent));
            match exponent.checked_sub(1) {
                _ if exponent == 0 => factor,
                Some(less) => factor.multiply(&self.value.power_integer(less)),
                None => factor.multiply(&value).divide(&self.value),
            }
        });
        Self { value, derivative }
    }

    #[inline]
    fn select(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        let condition = &condition.value;
        Self {
            value: T::select(condition, &then.value, &otherwise.value),
            derivative: T::select(condition, &then.derivative, &otherwise.derivative),
        }
    }

    // Arithmetic is spelled out so that it is inlined; it is most of what a program does.

    #[inline]
    fn add(&self, other: &Self) -> Self {
        Self::new(
            self.value.add(&other.value),
            self.derivative.add(&other.derivative),
        )
    }

    #[inline]
    fn subtract(&self, other: &Self) -> Self {
        Self::new(
            self.value.subtract(&other.value),
            self.derivative.subtract(&other.derivative),
        )
    }

    #[inline]
    fn multiply(&self, other: &Self) -> Self {
        Self::new(self.value.multiply(&other.value), product_rule(self, other))
    }

    #[inline]
    fn divide(&self, other: &Self) -> Self {
        let value = self.value.divide(&other.value);
        let derivative = quotient_rule(self, other, &value);
        Self { value, derivative }
    }

    #[inline]
    fn is_zero(&self) -> bool {
        self.value.is_zero() && self.derivative.is_zero()
    }
}

/// `factor · derivative`; a derivative of exactly zero wins over any factor.
#[inline]
fn scaled<T: Number>(derivative: &T, factor: impl FnOnce() -> T) -> T {
    if derivative.is_zero() {
        derivative.clone()
    } else {
        factor().multiply(derivative)
    }
}

/// The derivative of a smooth function at `x`, where its value is `y`.
fn slope<T: Number>(function: Unary, x: &T, y: &T) -> T {
    let one = || x.lift(1.0);
    match function {
        Unary::Sin => x.unary(Unary::Cos),
        Unary::Cos => x.unary(Unary::Sin).negate(),
        Unary::Tan => one().add(&y.power_integer(2)),
        Unary::Asin => one().divide(&root_of_one_minus_square(x)),
        Unary::Acos => x.lift(-1.0).divide(&root_of_one_minus_square(x)),
        Unary::Atan => one().divide(&one().add(&x.power_integer(2))),
        Unary::Sinh => x.unary(Unary::Cosh),
        Unary::Cosh => x.unary(Unary::Sinh),
        Unary::Tanh => one().subtract(&y.power_integer(2)),
        Unary::Exp => y.clone(),
        Unary::Log => one().divide(x),
        // The logarithm of 10 is computed, not written, so that it is an enclosure on intervals.
        Unary::Log10 => one().divide(&x.multiply(&x.lift(10.0).unary(Unary::Log))),
        Unary::Sqrt => one().divide(&x.lift(2.0).multiply(y)),
        Unary::Abs => x.unary(Unary::Sign),
        Unary::Negate => x.lift(-1.0),
        Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Not => x.lift(0.0),
    }
}

/// `√(1 − x²)`.
fn root_of_one_minus_square<T: Number>(x: &T) -> T {
    let one = x.lift(1.0);
    let square = x.power_integer(2);
    one.subtract(&square).unary(Unary::Sqrt)
}

/// How `value`, the result of a function of two operands, varies.
fn rule<T: Number>(operation: Binary, a: &Dual<T>, b: &Dual<T>, value: &T) -> T {
    match operation {
        Binary::Add => a.derivative.add(&b.derivative),
        Binary::Subtract => a.derivative.subtract(&b.derivative),
        Binary::Multiply => product_rule(a, b),
        Binary::Divide => quotient_rule(a, b, value),
        Binary::Power => power_rule(a, b, value),
        Binary::Atan2 => angle_rule(a, b),
        Binary::Min => branch(a, b, &a.value.binary(Binary::LessEqual, &b.value)),
        Binary::Max => branch(a, b, &b.value.binary(Binary::LessEqual, &a.value)),
        Binary::Modulo => modulo_rule(a, b),
        Binary::Less | Binary::LessEqual | Binary::Equal | Binary::And | Binary::Or => {
            value.lift(0.0)
        }
    }
}

#[inline]
fn scaled_by<T: Number>(derivative: &T, factor: &T) -> T {
    scaled(derivative, || factor.clone())
}

#[inline]
fn product_rule<T: Number>(a: &Dual<T>, b: &Dual<T>) -> T {
    let left = scaled_by(&a.derivative, &b.value);
    let right = scaled_by(&b.derivative, &a.value);
    left.add(&right)
}

/// `(a' - q b') / b`, where `q = a / b`.
#[inline]
fn quotient_rule<T: Number>(a: &Dual<T>, b: &Dual<T>, quotient: &T) -> T {
    let by_divisor = scaled_by(&b.derivative, quotient);
    let change = a.derivative.subtract(&by_divisor);

    if change.is_zero() {
        change
    } else {
        change.divide(&b.value)
    }
}

/// `y x^(y-1) x' + x^y log(x) y'`; the second term is 0 at `x = 0`, its limit for `y > 0`.
fn power_rule<T: Number>(x: &Dual<T>, y: &Dual<T>, power: &T) -> T {
    let by_base = scaled(&x.derivative, || {
        let lowered = y.value.subtract(&y.value.lift(1.0));
        scaled(&y.value, || x.value.binary(Binary::Power, &lowered))
    });
    let by_exponent = scaled(&y.derivative, || {
        let zero = power.lift(0.0);
        let at_zero = x.value.binary(Binary::Equal, &zero);
        T::select(&at_zero, &zero, &power.multiply(&x.value.unary(Unary::Log)))
    });
    by_base.add(&by_exponent)
}

fn angle_rule<T: Number>(y: &Dual<T>, x: &Dual<T>) -> T {
    let by_y = scaled_by(&y.derivative, &x.value);
    let by_x = scaled_by(&x.derivative, &y.value);
    let turn = by_y.subtract(&by_x);
    if turn.is_zero() {
        return turn;
    }

    let x_square = x.value.power_integer(2);
    let y_square = y.value.power_integer(2);
    turn.divide(&x_square.add(&y_square))
}

/// The derivative of the first where `taken`, else of the second.
fn branch<T: Number>(first: &Dual<T>, second: &Dual<T>, taken: &T) -> T {
    T::select(taken, &first.derivative, &second.derivative)
}

/// `a - b floor(a / b)`: the floor does not vary.
fn modulo_rule<T: Number>(a: &Dual<T>, b: &Dual<T>) -> T {
    let turns = || a.value.divide(&b.value).unary(Unary::Floor);
    a.derivative.subtract(&scaled(&b.derivative, turns))
}
