//! Series of every operation, against what is known of them.

use std::sync::Arc;

use dovetail_equations::{Evaluator, Model, Program, Source};
use proptest::prelude::*;

use super::assumptions::Assumptions;
use super::tape::{Coefficient, SeriesTape};
use crate::forms::FormShape;
use crate::interval::Interval;

/// How many coefficients are looked at.
const ORDERS: usize = 9;

/// The program of one expression of `x` and `y`.
fn program(expression: &str) -> Program {
    let equations = format!("der(x) = {expression}\nder(y) = 0");
    let source = Source {
        inputs: vec![],
        parameters: vec![],
        states: vec!["x", "y"],
        equations: &equations,
        outputs: vec![],
        ..Default::default()
    };
    let model = Model::parse(&source).unwrap();
    Program::compile(&model.graph, &model.derivative_roots[..1])
}

/// What the ranges of `x` and `y` decide.
fn assumptions(program: &Arc<Program>, tape: &SeriesTape, ranges: &[Interval; 2]) -> Assumptions {
    let mut evaluator = Evaluator::new(Arc::clone(program), &Interval::ZERO, &[]);
    evaluator.set_states(ranges);
    evaluator.run(&mut [Interval::ZERO]);
    tape.assumptions_from(&evaluator)
}

/// The coefficients of an expression on intervals, for `x` and `y` with these coefficients.
fn series(expression: &str, x: &[f64], y: &[f64]) -> Vec<Interval> {
    let program = Arc::new(program(expression));
    let mut tape = SeriesTape::new(&program, &[], None);
    let assumptions = assumptions(
        &program,
        &tape,
        &[Interval::point(x[0]), Interval::point(y[0])],
    );
    tape.begin(
        FormShape {
            primaries: 0,
            quadratic: false,
            errors: 0,
        },
        ORDERS,
        Interval::ZERO,
        &[],
    );
    tape.set_assumptions(&assumptions);
    let at = |series: &[f64], k: usize| Interval::point(series.get(k).copied().unwrap_or(0.0));
    let coefficient = |tape: &mut SeriesTape, k: usize| {
        tape.set_state_intervals(k, |state| at([x, y][state], k));
        tape.compute(k);
        match tape.result(0, k) {
            Coefficient::Plain(range) => range,
            Coefficient::Form(_) => panic!("BUG: no symbols"),
        }
    };
    (0..ORDERS).map(|k| coefficient(&mut tape, k)).collect()
}

/// Fails unless each coefficient holds what is expected, to the rounding of that, and is tight.
fn assert_known(expression: &str, x: &[f64], y: &[f64], expected: impl Fn(usize) -> f64) {
    for (k, found) in series(expression, x, y).into_iter().enumerate() {
        let expected = expected(k);
        let near = 1e-12 * expected.abs().max(1.0);
        assert!(
            found.widened(near).contains(expected),
            "{expression} {k}: {found} is not {expected}"
        );
        assert!(found.width() <= near, "{expression} {k}: {found} is wide");
    }
}

fn factorial(k: usize) -> f64 {
    (1..=k).map(|i| i as f64).product()
}

/// `a (a − 1) … (a − k + 1) / k!`.
fn binomial(a: f64, k: usize) -> f64 {
    (0..k).map(|i| (a - i as f64) / (i + 1) as f64).product()
}

/// `Σ a_j b_{k−j}`.
fn convolved(a: &[f64], b: &[f64], k: usize) -> f64 {
    (0..=k)
        .map(|j| a.get(j).unwrap_or(&0.0) * b.get(k - j).unwrap_or(&0.0))
        .sum()
}

#[test]
fn elementary_functions_have_their_series() {
    const Y: [f64; 1] = [1.0];
    for at in [0.3, 0.9, 1.7] {
        let x = [at, 1.0];
        let turned = |k: usize| at + k as f64 * std::f64::consts::FRAC_PI_2;
        assert_known("exp(x)", &x, &Y, |k| at.exp() / factorial(k));
        assert_known("sin(x)", &x, &Y, |k| turned(k).sin() / factorial(k));
        assert_known("cos(x)", &x, &Y, |k| turned(k).cos() / factorial(k));
        assert_known(
            "sinh(x)",
            &x,
            &Y,
            |k| if k % 2 == 0 { at.sinh() } else { at.cosh() } / factorial(k),
        );
        assert_known(
            "cosh(x)",
            &x,
            &Y,
            |k| if k % 2 == 0 { at.cosh() } else { at.sinh() } / factorial(k),
        );
        let log = |k: usize| {
            if k == 0 {
                at.ln()
            } else {
                -(-1.0 / at).powi(k as i32) / k as f64
            }
        };
        // Coefficients grow like a power of 1 / at: at 0.3 they lose digits.
        if at > 0.5 {
            assert_known("log(x)", &x, &Y, log);
            assert_known("log10(x)", &x, &Y, |k| log(k) / std::f64::consts::LN_10);
            assert_known("sqrt(x)", &x, &Y, |k| {
                binomial(0.5, k) * at.powf(0.5 - k as f64)
            });
            assert_known("x^1.7", &x, &Y, |k| {
                binomial(1.7, k) * at.powf(1.7 - k as f64)
            });
            assert_known("x^(-2)", &x, &Y, |k| {
                binomial(-2.0, k) * at.powf(-2.0 - k as f64)
            });
            assert_known("1 / x", &x, &Y, |k| {
                binomial(-1.0, k) * at.powf(-1.0 - k as f64)
            });
        }
        assert_known("x^5", &x, &Y, |k| {
            binomial(5.0, k) * at.powf(5.0 - k as f64)
        });
    }
}

#[test]
fn functions_about_zero_have_their_series() {
    let (x, y) = ([0.0, 1.0], [1.0]);
    let odd = |k: usize, of: &dyn Fn(usize) -> f64| if k % 2 == 1 { of(k / 2) } else { 0.0 };
    let sign = |n: usize| if n.is_multiple_of(2) { 1.0 } else { -1.0 };
    let tangent = [1.0, 1.0 / 3.0, 2.0 / 15.0, 17.0 / 315.0];
    let arc = |k: usize| odd(k, &|n| binomial(-0.5, n).abs() / (2 * n + 1) as f64);
    let angle = |k: usize| odd(k, &|n| sign(n) / (2 * n + 1) as f64);
    assert_known("tan(x)", &x, &y, |k| odd(k, &|n| tangent[n]));
    assert_known("tanh(x)", &x, &y, |k| odd(k, &|n| sign(n) * tangent[n]));
    assert_known("asin(x)", &x, &y, arc);
    assert_known("acos(x)", &x, &y, |k| {
        if k == 0 {
            std::f64::consts::FRAC_PI_2
        } else {
            -arc(k)
        }
    });
    assert_known("atan(x)", &x, &y, angle);
    assert_known("atan2(x, y)", &x, &y, angle);
    // Upwards, in the second quadrant: a quarter turn more.
    assert_known("atan2(y, -x)", &x, &y, |k| {
        if k == 0 {
            std::f64::consts::FRAC_PI_2
        } else {
            angle(k)
        }
    });
}

#[test]
fn products_and_quotients_are_convolutions() {
    let (x, y) = ([1.5, -0.7, 0.3, 0.2], [0.8, 0.4, -0.1]);
    let at = |s: &[f64], k: usize| s.get(k).copied().unwrap_or(0.0);
    assert_known("x * y", &x, &y, |k| convolved(&x, &y, k));
    assert_known("x^2", &x, &y, |k| convolved(&x, &x, k));
    assert_known("x + 3 * y", &x, &y, |k| at(&x, k) + 3.0 * at(&y, k));
    assert_known("x - y", &x, &y, |k| at(&x, k) - at(&y, k));
    let mut quotient: Vec<f64> = Vec::new();
    for k in 0..ORDERS {
        let known: f64 = (0..k).map(|j| quotient[j] * at(&y, k - j)).sum();
        quotient.push((at(&x, k) - known) / y[0]);
    }
    assert_known("x / y", &x, &y, |k| quotient[k]);
}

#[test]
fn kinks_and_jumps_follow_the_branch_that_holds() {
    let (x, y) = ([1.5, -0.7, 0.3], [-0.8, 0.4]);
    let at = |s: &[f64], k: usize| s.get(k).copied().unwrap_or(0.0);
    assert_known("abs(x)", &x, &y, |k| at(&x, k));
    assert_known("abs(y)", &x, &y, |k| -at(&y, k));
    assert_known("min(x, y)", &x, &y, |k| at(&y, k));
    assert_known("max(x, y)", &x, &y, |k| at(&x, k));
    assert_known("if x > y then x else y", &x, &y, |k| at(&x, k));
    let step = |value: f64| move |k: usize| if k == 0 { value } else { 0.0 };
    assert_known("sign(y)", &x, &y, step(-1.0));
    assert_known("floor(x)", &x, &y, step(1.0));
    assert_known("ceil(x)", &x, &y, step(2.0));
    assert_known("mod(x, 1)", &x, &y, |k| at(&x, k) - step(1.0)(k));
}

#[test]
fn inverse_functions_undo_each_other() {
    let (x, y) = ([0.4, 0.5, -0.2, 0.1], [0.7, -0.3, 0.2]);
    let at = |s: &[f64], k: usize| s.get(k).copied().unwrap_or(0.0);
    for expression in [
        "sin(asin(x))",
        "cos(acos(x))",
        "tan(atan(x))",
        "exp(log(x))",
        "log(exp(x))",
        "sqrt(x)^2",
        "10^log10(x)",
        "y * tan(atan2(x, y))",
        "sinh(x) / cosh(x) - tanh(x) + x",
        "sin(y)^2 + cos(y)^2 + x - 1",
        "(x^y)^(1 / y)",
    ] {
        let tolerance = 1e-10;
        for (k, found) in series(expression, &x, &y).into_iter().enumerate() {
            assert!(
                found.contains(at(&x, k)),
                "{expression} {k}: {found} is not {}",
                at(&x, k)
            );
            assert!(
                found.width() <= tolerance,
                "{expression} {k}: {found} is wide"
            );
        }
    }
}

/// What is tried on forms, for `x` within 0.4 to 0.8 and `y` within 1.1 to 1.5.
const EXPRESSIONS: [&str; 20] = [
    "x * y + x^3",
    "x / y",
    "exp(-x) * y",
    "sin(x * y)",
    "cos(x) - x",
    "tan(x)",
    "tanh(x - y)",
    "sinh(x) + cosh(y)",
    "sqrt(x + y)",
    "log(x) * log10(y)",
    "x^1.3",
    "y^x",
    "asin(x) * acos(x)",
    "atan(x * y)",
    "atan2(y, x)",
    "atan2(-y, -x)",
    "abs(x - 1) + abs(y)",
    "min(x, y) * max(x, y - 3)",
    "if x < y then x^(-2) else y",
    "sign(x) * floor(y) + mod(y, 1)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Coefficients as forms hold, at every value of the symbols, the coefficients of the numbers.
    #[test]
    fn forms_hold_the_series_of_every_point(
        (x0, y0, slope) in (0.5..0.7, 1.2..1.4, -0.5..0.5),
        (first, second) in (-1.0..1.0, -1.0..1.0),
        quadratic in any::<bool>(),
    ) {
        let shape = FormShape { primaries: 1, quadratic, errors: 1 };
        let form = |center: f64, primary: f64, error: f64| {
            let mut form = vec![0.0; shape.width()];
            (form[0], form[1], form[shape.first_error()]) = (center, primary, error);
            form
        };
        let (x, y) = ([form(x0, 0.05, 0.01), form(slope, 0.0, 0.0)], [form(y0, -0.02, 0.03), form(0.2, 0.01, 0.0)]);
        let value = |form: &[f64]| {
            let product = if quadratic { form[2] * first * first } else { 0.0 };
            form[0] + form[1] * first + product + form[shape.first_error()] * second
        };
        let (x_numbers, y_numbers) = (x.each_ref().map(|f| value(f)), y.each_ref().map(|f| value(f)));
        let nothing = form(0.0, 0.0, 0.0);
        for expression in EXPRESSIONS {
            let program = Arc::new(program(expression));
            let mut tape = SeriesTape::new(&program, &[], Some(&[]));
            let assumptions = assumptions(&program, &tape, &[shape.range(&x[0]), shape.range(&y[0])]);
            tape.begin(shape, ORDERS, Interval::ZERO, &[]);
            tape.set_assumptions(&assumptions);
            let expected = series(expression, &x_numbers, &y_numbers);
            for (k, expected) in expected.into_iter().enumerate() {
                tape.set_states(k, |state| [&x, &y][state].get(k).unwrap_or(&nothing));
                tape.compute(k);
                let (near, radius) = match tape.result(0, k) {
                    Coefficient::Plain(range) => (range, 0.0),
                    Coefficient::Form(form) => (Interval::point(value(form)), form[shape.radius()]),
                };
                let near = near.widened(radius + 1e-13 * (1.0 + expected.magnitude()));
                prop_assert!(near.intersection(expected).is_some(), "{expression} {k}: {expected} is not near {near}");
            }
        }
    }
}
