//! Duals against finite differences, known derivatives, and their own expressions.

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use dovetail_equations::{Dual, Evaluator, Graph, Leaf, Model, Number, Program, Symbol};
use proptest::prelude::*;
use support::{POINT, model, output};

/// Every function and operator of the language, smooth for `x` in 0.1 to 0.9.
const SMOOTH: [&str; 40] = [
    "x + a",
    "a - x",
    "x * x * y",
    "x / (1 + x)",
    "a / x",
    "-x",
    "x ^ 2",
    "x ^ 3",
    "x ^ -2",
    "x ^ 20",
    "x ^ 0.5",
    "x ^ a",
    "a ^ x",
    "x ^ x",
    "sin(x)",
    "cos(x)",
    "tan(x)",
    "asin(x)",
    "acos(x)",
    "atan(x)",
    "atan2(x, a)",
    "atan2(a, x)",
    "atan2(x, x * x)",
    "sinh(x)",
    "cosh(x)",
    "tanh(x)",
    "exp(x)",
    "log(x)",
    "log10(x)",
    "sqrt(x)",
    "abs(x) + abs(-x)",
    "sign(x) * x",
    "min(x, 0.95) + min(a, x)",
    "max(x, 0.05) * max(0, x)",
    "mod(x + 3, 1)",
    "mod(7, x + 10)",
    "floor(x) + ceil(x) * x",
    "if x < 0.95 then x ^ 2 else 1",
    "if x > 0.95 or not x < 1 then 1 else sin(x)",
    "exp(-x ^ 2) * cos(a * x + b) / (1 + x ^ 4)",
];

fn first(model: &Model, x: f64) -> Dual<f64> {
    output(model, &Dual::constant(0.0), &POINT, &Dual::variable(x))
}

fn second(model: &Model, x: f64) -> Dual<Dual<f64>> {
    let zero = Dual::constant(Dual::constant(0.0));
    output(model, &zero, &POINT, &Dual::variable(Dual::variable(x)))
}

/// The output of a model and its derivative by `x`, as a program.
fn differentiated(model: &Model) -> Program {
    let graph = Rc::new(RefCell::new(Graph::new()));
    let leaf = |leaf| Dual::constant(Symbol::leaf(&graph, leaf));
    let parameters: Vec<Dual<Symbol>> = (0..3).map(|index| leaf(Leaf::Parameter(index))).collect();
    let program = Arc::new(model.output_program());
    let mut evaluator = Evaluator::new(program, &leaf(Leaf::Time), &parameters);
    let x = Dual::variable(Symbol::leaf(&graph, Leaf::State(0)));
    evaluator.set_states(&[x, leaf(Leaf::State(1))]);
    let mut results = [leaf(Leaf::Time)];
    evaluator.run(&mut results);
    let graph = graph.borrow();
    Program::compile(
        &graph,
        &[results[0].value.node(), results[0].derivative.node()],
    )
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #[test]
    fn first_derivatives_match_differences(x in 0.1..0.9) {
        let step = 1e-5;
        for text in SMOOTH {
            let model = model(text);
            let value = |x: f64| output(&model, &0.0, &POINT, &x);
            let difference = (value(x + step) - value(x - step)) / (2.0 * step);
            let dual = first(&model, x);
            prop_assert_eq!(dual.value, value(x), "{}", text);
            // The third derivative of x^-2 at 0.1 is 2.4e6.
            let agrees = close(dual.derivative, difference, 1e-5);
            prop_assert!(agrees, "{text}: {dual:?}, {difference}");
        }
    }

    #[test]
    fn second_derivatives_match_differences_of_first(x in 0.1..0.9) {
        let step = 1e-5;
        for text in SMOOTH {
            let model = model(text);
            let slope = |x: f64| first(&model, x).derivative;
            let difference = (slope(x + step) - slope(x - step)) / (2.0 * step);
            let dual = second(&model, x);
            prop_assert_eq!(dual.value.derivative, dual.derivative.value);
            prop_assert_eq!(dual.derivative.value, slope(x), "{}", text);
            let found = dual.derivative.derivative;
            prop_assert!(close(found, difference, 1e-4), "{text}: {found}, {difference}");
        }
    }

    #[test]
    fn derivatives_as_expressions_match_duals(x in 0.1..0.9) {
        for text in SMOOTH {
            let model = model(text);
            let program = Arc::new(differentiated(&model));
            let mut evaluator = Evaluator::new(program, &0.0, &POINT.parameters);
            evaluator.set_states(&[x, POINT.states[1]]);
            let mut results = [0.0; 2];
            evaluator.run(&mut results);
            let dual = first(&model, x);
            prop_assert_eq!(results[0], dual.value, "{}", text);
            let agrees = close(results[1], dual.derivative, 1e-12);
            prop_assert!(agrees, "{text}: {results:?}, {dual:?}");
        }
    }
}

#[test]
fn second_derivatives_are_the_known_ones() {
    let x: f64 = 0.7;
    for (text, expected) in [
        ("x ^ 3", 6.0 * x),
        ("sin(x)", -x.sin()),
        ("exp(2 * x)", 4.0 * (2.0 * x).exp()),
        ("log(x)", -1.0 / (x * x)),
        ("1 / x", 2.0 / x.powi(3)),
        ("sqrt(x)", -0.25 * x.powf(-1.5)),
        ("x * x * x * x", 12.0 * x * x),
        ("x ^ a", 2.0),
        ("if x > 0 then x ^ 2 else 0", 2.0),
    ] {
        let found = second(&model(text), x).derivative.derivative;
        assert!(close(found, expected, 1e-13), "{text}: {found}, {expected}");
    }
}

#[test]
fn kinks_take_the_slope_of_their_branch() {
    let slope = |text: &str, x: f64| first(&model(text), x).derivative;
    assert_eq!(
        (
            slope("abs(x)", -2.0),
            slope("abs(x)", 0.0),
            slope("abs(x)", 2.0)
        ),
        (-1.0, 0.0, 1.0)
    );
    assert_eq!(
        (slope("min(x, 3 * x)", -1.0), slope("min(x, 3 * x)", 1.0)),
        (3.0, 1.0)
    );
    assert_eq!(
        (slope("max(x, 3 * x)", -1.0), slope("max(x, 3 * x)", 1.0)),
        (1.0, 3.0)
    );
    assert_eq!(slope("if x < 0 then sqrt(-x) else x", 0.0), 1.0);
}

#[test]
fn powers_have_slopes_at_zero() {
    let slope = |text: &str| first(&model(text), 0.0).derivative;
    assert_eq!(slope("x ^ 2"), 0.0);
    assert_eq!(slope("x ^ a"), 0.0);
    assert_eq!(slope("x ^ (a - 1)"), 1.0);
    assert_eq!(slope("(x ^ 2) ^ (x + 2)"), 0.0);
    assert_eq!(slope("x ^ (a - a)"), 0.0);
    assert_eq!(slope("sqrt(x)"), f64::INFINITY);
}

#[test]
fn what_does_not_vary_has_no_slope_even_where_slopes_are_infinite() {
    let slope = |text: &str| first(&model(text), 0.0).derivative;
    assert_eq!(slope("sqrt(a - 2) + x"), 1.0);
    assert_eq!(
        slope("asin(a - 1) * x + acos(a - 1)"),
        std::f64::consts::FRAC_PI_2
    );
    assert_eq!(slope("atan2(0, 0) + x"), 1.0);
    assert_eq!(slope("abs(a) ^ 0.5 + x"), 1.0);
}

#[test]
fn integer_powers_reach_the_end_of_their_range() {
    for exponent in [i32::MIN, i32::MAX] {
        let power = Dual::variable(1.0).power_integer(exponent);
        assert_eq!((power.value, power.derivative), (1.0, f64::from(exponent)));
    }
}

#[test]
fn derivatives_as_expressions_are_simplified() {
    // 2 * x, and the value x^2: nothing else.
    let program = differentiated(&model("x ^ 2 + a * y"));
    assert_eq!(program.body_length(), 4);
    assert_eq!(program.prelude_length(), 0);
    let constant = differentiated(&model("a * sin(b) + y"));
    assert_eq!((constant.prelude_length(), constant.body_length()), (2, 1));
}

#[test]
fn evaluating_on_symbols_composes_models() {
    let outer = model("u ^ 2 + 1");
    let inner = model("3 * x");
    let graph = Rc::new(RefCell::new(Graph::new()));
    let leaf = |leaf| Symbol::leaf(&graph, leaf);
    let evaluate = |model: &Model, x: Symbol, input: Symbol| {
        let parameters = [0, 1, 2].map(|index| leaf(Leaf::Parameter(index)));
        let mut evaluator = Evaluator::new(
            Arc::new(model.output_program()),
            &leaf(Leaf::Time),
            &parameters,
        );
        evaluator.set_states(&[x, leaf(Leaf::State(1))]);
        evaluator.set_inputs(&[input]);
        let mut results = [leaf(Leaf::Time)];
        evaluator.run(&mut results);
        let [result] = results;
        result
    };
    let given = evaluate(&inner, leaf(Leaf::Unknown(0)), leaf(Leaf::Time));
    let composed = evaluate(&outer, leaf(Leaf::State(0)), given);
    let mut evaluator = Evaluator::new(
        Arc::new(Program::compile(&graph.borrow(), &[composed.node()])),
        &0.0,
        &[],
    );
    evaluator.set_unknowns(&[2.0]);
    let mut result = [0.0];
    evaluator.run(&mut result);
    assert_eq!(result, [37.0]);
}
