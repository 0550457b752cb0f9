//! Elementary functions with their first derivatives, on intervals.

use crate::interval::Interval;

/// A smooth function of one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntervalFunction {
    Reciprocal,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Sinh,
    Cosh,
    Tanh,
    Asin,
    Acos,
    Atan,
}

/// A number of a formula.
fn n(value: f64) -> Interval {
    Interval::point(value)
}

impl IntervalFunction {
    /// All values of the function.
    pub fn value(self, x: Interval) -> Interval {
        match self {
            Self::Reciprocal => Interval::ONE / x,
            Self::Sqrt => x.sqrt(),
            Self::Exp => x.exp(),
            Self::Log => x.log(),
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Sinh => x.sinh(),
            Self::Cosh => x.cosh(),
            Self::Tanh => x.tanh(),
            Self::Asin => x.asin(),
            Self::Acos => x.acos(),
            Self::Atan => x.atan(),
        }
    }

    /// All values of `f`, `f'`, `f''/2` and `f'''/6` on `x`.
    pub fn expansion(self, x: Interval) -> [Interval; 4] {
        let value = self.value(x);
        let [first, second, third] = self.derivatives(x, value);
        [value, first, second, third]
    }

    /// `f'`, `f''/2` and `f'''/6`, given the values of `f`.
    fn derivatives(self, x: Interval, value: Interval) -> [Interval; 3] {
        match self {
            Self::Exp => over_factorials([value, value, value]),
            Self::Sin => over_factorials([x.cos(), -value, -x.cos()]),
            Self::Cos => over_factorials([-x.sin(), -value, x.sin()]),
            Self::Sinh => over_factorials([x.cosh(), value, x.cosh()]),
            Self::Cosh => over_factorials([x.sinh(), value, x.sinh()]),
            Self::Reciprocal => of_reciprocal(value),
            Self::Log => of_log(x),
            Self::Sqrt => of_root(value),
            Self::Tanh => of_hyperbolic_tangent(x, value),
            Self::Atan => of_arc_tangent(x),
            Self::Asin => of_arc_sine(x),
            Self::Acos => of_arc_sine(x).map(|derivative| -derivative),
        }
    }
}

fn over_factorials([first, second, third]: [Interval; 3]) -> [Interval; 3] {
    [first, second / n(2.0), third / n(6.0)]
}

fn of_reciprocal(value: Interval) -> [Interval; 3] {
    let square = value.square();
    [-square, square * value, -square.square()]
}

fn of_log(x: Interval) -> [Interval; 3] {
    let inverse = Interval::ONE / x;
    let square = inverse.square();
    [inverse, -square / n(2.0), square * inverse / n(3.0)]
}

fn of_root(value: Interval) -> [Interval; 3] {
    let inverse = Interval::ONE / value;
    let square = inverse.square();
    let cube = square * inverse;
    let third = cube * square / n(16.0);
    [inverse / n(2.0), -cube / n(8.0), third]
}

fn of_hyperbolic_tangent(x: Interval, value: Interval) -> [Interval; 3] {
    // tanh' = w = 1 / cosh², which underflows gracefully where 1 − tanh² would cancel.
    let w = Interval::ONE / x.cosh().square();
    let possible = Interval::new(0.0, 1.0);
    let w = w.intersection(possible).unwrap_or(possible);
    let third = w * (n(2.0) * value.square() - w) / n(3.0);

    [w, -value * w, third]
}

fn of_arc_tangent(x: Interval) -> [Interval; 3] {
    let q = Interval::ONE / (Interval::ONE + x.square());
    let square = q.square();
    let third = (n(3.0) * x.square() - Interval::ONE) * square * q / n(3.0);
    [q, -x * square, third]
}

fn of_arc_sine(x: Interval) -> [Interval; 3] {
    let r = Interval::ONE / (Interval::ONE - x.square()).sqrt();
    let square = r.square();
    let cube = square * r;
    let third = (Interval::ONE + n(2.0) * x.square()) * cube * square / n(6.0);
    [r, x * cube / n(2.0), third]
}
