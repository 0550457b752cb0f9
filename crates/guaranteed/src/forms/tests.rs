//! Random forms at random values of their symbols: what an operation gives holds what the numbers
//! give.

use proptest::prelude::*;

use super::*;
use crate::functions::IntervalFunction;

/// Values of the symbols, and of what stands for anonymous radii.
#[derive(Clone, Debug)]
struct Sample {
    shape: FormShape,
    primaries: Vec<f64>,
    errors: Vec<f64>,
    /// Where two forms are within their radii.
    anonymous: [f64; 2],
}

impl Sample {
    /// A form without its radius.
    fn skeleton(&self, form: &[f64]) -> f64 {
        let mut value = form[0];
        let mut at = 1 + self.shape.primaries;
        for (i, e) in self.primaries.iter().enumerate() {
            value += form[1 + i] * e;
            for d in &self.primaries[i..] {
                if self.shape.quadratic {
                    value += form[at] * e * d;
                    at += 1;
                }
            }
        }
        value
            + self
                .errors
                .iter()
                .zip(&form[self.shape.first_error()..])
                .map(|(e, c)| e * c)
                .sum::<f64>()
    }

    /// A value of the operand at `index`.
    fn value(&self, index: usize, form: &[f64]) -> f64 {
        self.skeleton(form) + self.anonymous[index] * form[self.shape.radius()]
    }

    /// Whether `form` may have this value here, but for the rounding of this check.
    fn admits(&self, form: &[f64], value: f64, size: f64) -> bool {
        let allowance = 1e-13 * (size + value.abs());
        let radius = form[self.shape.radius()];
        radius >= 0.0
            && (self.skeleton(form) - value).abs() <= radius + allowance
            && self.shape.range(form).widened(allowance).contains(value)
    }
}

/// A sample and two forms of its shape; `scale` is how large their symbols' coefficients are.
fn forms(scale: f64) -> impl Strategy<Value = (Sample, Vec<f64>, Vec<f64>)> {
    let shape =
        (0..4_usize, any::<bool>(), 0..4_usize).prop_map(|(primaries, quadratic, errors)| {
            FormShape {
                primaries,
                quadratic,
                errors,
            }
        });
    let unit = || prop_oneof![Just(-1.0), Just(1.0), -1.0..1.0];
    shape.prop_flat_map(move |shape| {
        let symbols = |count: usize| prop::collection::vec(unit(), count);
        let form = move || {
            let coefficients = prop::collection::vec(-scale..scale, shape.radius() - 1);
            (-3.0..3.0, coefficients, 0.0..0.1 * scale)
                .prop_map(|(center, rest, radius)| [vec![center], rest, vec![radius]].concat())
        };
        let sample = (
            symbols(shape.primaries),
            symbols(shape.errors),
            unit(),
            unit(),
        )
            .prop_map(move |(primaries, errors, first, second)| Sample {
                shape,
                primaries,
                errors,
                anonymous: [first, second],
            });
        (sample, form(), form())
    })
}

type OfNumbers = fn(f64) -> f64;

const FUNCTIONS: [(IntervalFunction, OfNumbers); 12] = [
    (IntervalFunction::Reciprocal, f64::recip),
    (IntervalFunction::Sqrt, f64::sqrt),
    (IntervalFunction::Exp, f64::exp),
    (IntervalFunction::Log, f64::ln),
    (IntervalFunction::Sin, f64::sin),
    (IntervalFunction::Cos, f64::cos),
    (IntervalFunction::Sinh, f64::sinh),
    (IntervalFunction::Cosh, f64::cosh),
    (IntervalFunction::Tanh, f64::tanh),
    (IntervalFunction::Asin, f64::asin),
    (IntervalFunction::Acos, f64::acos),
    (IntervalFunction::Atan, f64::atan),
];

/// Which part of the centers from -3 to 3 a function is asked on.
fn within_domain(function: IntervalFunction, center: f64) -> f64 {
    match function {
        IntervalFunction::Asin | IntervalFunction::Acos => center / 5.0,
        IntervalFunction::Log | IntervalFunction::Sqrt | IntervalFunction::Reciprocal => {
            center.abs() + 1.5
        }
        _ => center,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sums_hold((sample, a, b) in forms(2.0), factor in -3..=3_i32) {
        let (x, y, shape) = (sample.value(0, &a), sample.value(1, &b), sample.shape);
        let mut out = vec![0.0; shape.width()];
        shape.set_sum(&mut out, &a, &b, -1.0);
        prop_assert!(sample.admits(&out, x - y, 100.0));
        out.clone_from(&a);
        shape.add(&mut out, &b, f64::from(factor));
        prop_assert!(sample.admits(&out, x + f64::from(factor) * y, 100.0));
        shape.add_constant(&mut out, Interval::new(0.1, 0.2));
        prop_assert!(sample.admits(&out, x + f64::from(factor) * y + 0.1, 100.0));
    }

    #[test]
    fn multiples_hold((sample, a, b) in forms(2.0), scale in -2.0..2.0, spread in 0.0..0.5, part in -1.0..1.0) {
        let (x, y, shape) = (sample.value(0, &a), sample.value(1, &b), sample.shape);
        let (scales, factor) = (Interval::around(scale, spread), scale + part * spread);
        let mut out = vec![0.0; shape.width()];
        shape.set_scaled(&mut out, scales, &b);
        prop_assert!(sample.admits(&out, factor * y, 100.0));
        out.clone_from(&a);
        shape.add_scaled(&mut out, scales, &b);
        prop_assert!(sample.admits(&out, x + factor * y, 100.0));
        shape.divide(&mut out, 7.0);
        prop_assert!(sample.admits(&out, (x + factor * y) / 7.0, 100.0));
        let series = [a, b].concat();
        shape.combine(&mut out, &series, &[Interval::point(0.3), scales]);
        prop_assert!(sample.admits(&out, 0.3 * x + factor * y, 100.0));
    }

    #[test]
    fn products_hold((sample, a, b) in forms(2.0), factor in -3..=3_i32) {
        let (x, y, shape) = (sample.value(0, &a), sample.value(1, &b), sample.shape);
        let factor = f64::from(factor);
        let mut out = vec![0.0; shape.width()];
        shape.add_product(&mut out, &a, &b, factor);
        prop_assert!(sample.admits(&out, factor * x * y, 1e4));
        shape.add_product(&mut out, &a, &a, 1.0);
        prop_assert!(sample.admits(&out, factor * x * y + x * x, 1e4));
    }

    #[test]
    fn functions_hold((sample, mut a, _) in forms(0.1)) {
        let shape = sample.shape;
        let (center, mut out, mut scratch) = (a[0], vec![0.0; shape.width()], Vec::new());
        for (function, number) in FUNCTIONS {
            a[0] = within_domain(function, center);
            shape.apply(function, &a, &mut out, &mut scratch);
            let value = number(sample.value(0, &a));
            // A wide form may leave the domain of an arc function: of what is not there nothing is
            // claimed.
            prop_assert!(value.is_nan() || sample.admits(&out, value, 100.0), "{function:?}");
        }
    }

    /// A first-order expansion has a radius of second order, a second-order one of third. What
    /// products of terms lose goes by the sizes of the coefficients, which may exceed the range of
    /// the form (a linear and a square term of one symbol offset each other), times a second
    /// derivative: at most 20.2, that of exp at 3.
    #[test]
    fn expansions_are_as_tight_as_their_order((sample, mut a, _) in forms(1e-3)) {
        let shape = sample.shape;
        a[shape.radius()] = 0.0;
        let (center, reach) = (a[0], a[1..].iter().map(|c| c.abs()).sum::<f64>());
        let (mut out, mut scratch) = (vec![0.0; shape.width()], Vec::new());
        let errors = a[shape.first_error()..shape.radius()].iter().map(|e| e.abs()).sum::<f64>();
        let products = a[1 + shape.primaries..shape.first_error()].iter().map(|q| q.abs()).sum::<f64>();
        for (function, _) in FUNCTIONS {
            a[0] = within_domain(function, center);
            shape.apply(function, &a, &mut out, &mut scratch);
            let lost = match shape.quadratic {
                true => reach.powi(3) + (errors + products) * reach,
                false => reach * reach,
            };
            prop_assert!(out[shape.radius()] <= 1e-13 + 20.2 * lost, "{function:?} {} {lost}", out[shape.radius()]);
        }
    }

    /// What is not known stays unknown.
    #[test]
    fn the_unknown_spreads((sample, a, mut b) in forms(1.0)) {
        let shape = sample.shape;
        shape.set_unknown(&mut b);
        let mut out = vec![0.0; shape.width()];
        shape.set_sum(&mut out, &a, &b, 1.0);
        prop_assert!(out[shape.radius()] == f64::INFINITY);
        out.fill(0.0);
        shape.add_product(&mut out, &a, &b, 1.0);
        prop_assert!(!out[shape.radius()].is_finite());
    }
}

#[test]
fn the_square_of_a_symbol_is_not_negative() {
    for quadratic in [false, true] {
        let shape = FormShape {
            primaries: 1,
            quadratic,
            errors: 0,
        };
        let (mut a, mut out) = (vec![0.0; shape.width()], vec![0.0; shape.width()]);
        a[1] = 1.0;
        shape.add_product(&mut out, &a, &a, 1.0);
        let range = shape.range(&out);
        assert!(
            range.lo > -1e-9 && range.lo <= 0.0 && range.hi >= 1.0 && range.hi < 1.0 + 1e-9,
            "{range}"
        );
    }
}
