//! Elementary functions with their first derivatives, on intervals.

use crate::interval::Interval;

/// A smooth function of one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
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

fn n(value: f64) -> Interval {
    Interval::point(value)
}

impl Function {
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

    fn derivatives(self, x: Interval, value: Interval) -> [Interval; 3] {
        match self {
            Self::Exp => [value, value / n(2.0), value / n(6.0)],
            Self::Sin => [x.cos(), -value / n(2.0), -x.cos() / n(6.0)],
            Self::Cos => [-x.sin(), -value / n(2.0), x.sin() / n(6.0)],
            Self::Sinh => [x.cosh(), value / n(2.0), x.cosh() / n(6.0)],
            Self::Cosh => [x.sinh(), value / n(2.0), x.sinh() / n(6.0)],
            Self::Reciprocal => {
                let square = value.square();
                [-square, square * value, -square.square()]
            }
            Self::Log => {
                let inverse = Interval::ONE / x;
                let square = inverse.square();
                [inverse, -square / n(2.0), square * inverse / n(3.0)]
            }
            Self::Sqrt => {
                let inverse = Interval::ONE / value;
                let cube = inverse.square() * inverse;
                [
                    inverse / n(2.0),
                    -cube / n(8.0),
                    cube * inverse.square() / n(16.0),
                ]
            }
            Self::Tanh => {
                // tanh' = w = 1 / cosh², which underflows gracefully where 1 − tanh² would cancel.
                let w = Interval::ONE / x.cosh().square();
                let w = w
                    .intersection(Interval::new(0.0, 1.0))
                    .unwrap_or(Interval::new(0.0, 1.0));
                [w, -value * w, w * (n(2.0) * value.square() - w) / n(3.0)]
            }
            Self::Atan => {
                let q = Interval::ONE / (Interval::ONE + x.square());
                [
                    q,
                    -x * q.square(),
                    (n(3.0) * x.square() - Interval::ONE) * q.square() * q / n(3.0),
                ]
            }
            Self::Asin => arc_derivatives(x),
            Self::Acos => arc_derivatives(x).map(|d| -d),
        }
    }
}

/// Of the arc sine.
fn arc_derivatives(x: Interval) -> [Interval; 3] {
    let r = Interval::ONE / (Interval::ONE - x.square()).sqrt();
    let cube = r.square() * r;
    [
        r,
        x * cube / n(2.0),
        (Interval::ONE + n(2.0) * x.square()) * cube * r.square() / n(6.0),
    ]
}
