//! Shorthands for tests that read texts.
#![allow(dead_code, reason = "each test program uses some of them")]

use std::sync::Arc;

use dovetail_equations::{Evaluator, Model, Number, Source, SyntaxError};

/// A model with input `u`, parameters `a b c`, states `x y` and one output.
pub fn expression(text: &str) -> Source<'_> {
    Source {
        inputs: vec!["u"],
        parameters: vec!["a", "b", "c"],
        states: vec!["x", "y"],
        equations: "der(x) = y; der(y) = -x",
        outputs: vec![("out", text)],
        ..Default::default()
    }
}

/// A model with states `x y`, input `u` and parameters `a b c`, of these equations.
pub fn equations(text: &str) -> Source<'_> {
    Source {
        equations: text,
        outputs: vec![],
        ..expression("")
    }
}

pub fn model(text: &str) -> Model {
    parsed(&expression(text))
}

pub fn parsed(source: &Source<'_>) -> Model {
    Model::parse(source).unwrap_or_else(|errors| panic!("{source:?}: {errors:?}"))
}

pub fn errors(source: &Source<'_>) -> Vec<SyntaxError> {
    Model::parse(source).map(|_| ()).expect_err("a mistake")
}

/// The values that [`expression`]s are evaluated at.
pub struct Point {
    pub parameters: [f64; 3],
    pub states: [f64; 2],
    pub input: f64,
    pub slope: f64,
    pub time: f64,
}

pub const POINT: Point = Point {
    parameters: [2.0, 3.0, 5.0],
    states: [0.5, -0.25],
    input: 4.0,
    slope: 7.0,
    time: 0.125,
};

/// The output of an [`expression`] on any kind of number.
pub fn output<T: Number>(model: &Model, example: &T, point: &Point, state: &T) -> T {
    let lift = |values: &[f64]| {
        values
            .iter()
            .map(|&value| example.lift(value))
            .collect::<Vec<T>>()
    };
    let program = Arc::new(model.output_program());
    let mut evaluator = Evaluator::new(program, example, &lift(&point.parameters));
    let thresholds = model.thresholds(&point.parameters);
    let truths = thresholds
        .iter()
        .map(|it| f64::from(u8::from(it.holds_at(point.time))));
    evaluator.set_switches(&lift(&truths.collect::<Vec<f64>>()));
    evaluator.set_time(&example.lift(point.time));
    evaluator.set_states(&[state.clone(), example.lift(point.states[1])]);
    evaluator.set_inputs(&lift(&[point.input]));
    evaluator.set_slopes(&lift(&[point.slope]));
    let mut results = [example.lift(0.0)];
    evaluator.run(&mut results);
    let [result] = results;
    result
}

/// The value of an expression at [`POINT`].
pub fn value(text: &str) -> f64 {
    output(&model(text), &0.0, &POINT, &POINT.states[0])
}
