//! What is shared, done ahead, switched, affine, needed and unused.

mod support;

use std::sync::Arc;

use dovetail_equations::{Evaluator, Model, Source, Threshold, Unused};
use support::{equations, expression, model, parsed};

#[test]
fn common_subexpressions_are_computed_once() {
    let shared = model("sin(x * y) + sin(y * x) ^ 2 + cos(x * y)");
    // x * y, sin, square, +, cos, +
    assert_eq!(shared.output_program().body_length(), 6);
    let mut source = equations("p = exp(x); der(x) = p; der(y) = exp(x) + p");
    source.outputs = vec![("out", "exp(x)")];
    // exp, +
    assert_eq!(parsed(&source).program().body_length(), 2);
}

#[test]
fn doubling_chains_stay_linear() {
    let chain: Vec<String> = (0..60)
        .map(|i| format!("v{i} = v{} + v{}", i + 1, i + 1))
        .collect();
    let text = format!("{}; v60 = x; der(x) = v0; der(y) = 0", chain.join("; "));
    assert_eq!(parsed(&equations(&text)).program().body_length(), 60);
}

#[test]
fn what_parameters_decide_is_computed_once() {
    let program = model("sin(a * b + pi) * x + sqrt(c)").output_program();
    assert_eq!((program.prelude_length(), program.body_length()), (6, 2));
    let mut evaluator = Evaluator::new(Arc::new(program), &0.0, &[1.0, 2.0, 9.0]);
    evaluator.set_states(&[10.0, 0.0]);
    let mut result = [0.0];
    evaluator.run(&mut result);
    assert_eq!(result[0], (2.0 + std::f64::consts::PI).sin() * 10.0 + 3.0);
    evaluator.set_parameters(&[0.0, 0.0, 4.0]);
    evaluator.run(&mut result);
    assert_eq!(result[0], std::f64::consts::PI.sin() * 10.0 + 2.0);
}

#[test]
fn results_may_be_leaves_and_constants() {
    let mut source = expression("x");
    source.outputs.extend([
        ("two", "2"),
        ("parameter", "b"),
        ("again", "x"),
        ("sum", "a + b"),
    ]);
    let mut evaluator = Evaluator::new(
        Arc::new(parsed(&source).output_program()),
        &0.0,
        &[1.0, 3.0, 0.0],
    );
    evaluator.set_states(&[7.0]);
    let mut results = [0.0; 5];
    evaluator.run(&mut results);
    assert_eq!(results, [7.0, 2.0, 3.0, 7.0, 4.0]);
}

/// The thresholds of an expression, with a = 2, b = 3, c = 5.
fn thresholds(condition: &str) -> Vec<Threshold> {
    model(&format!("if {condition} then x else y")).thresholds(&[2.0, 3.0, 5.0])
}

#[test]
fn conditions_on_time_become_switches() {
    for (condition, time, before) in [
        ("time < 100", 100.0, true),
        ("time <= 0.3", 0.3, true),
        ("time > a", 2.0, true), // as the opposite of `time <= a`
        ("a <= time", 2.0, true),
        ("2 * time - 1 > b", 2.0, true),
        ("a * time < b", 1.5, true),
        ("-a * time < b", -1.5, false),
        ("(time - a) / 4 < c", 22.0, true),
        ("-(time + 1) < 0", -1.0, true),
        ("b - time < a + time", 0.5, true),
    ] {
        assert_eq!(
            thresholds(condition),
            [Threshold { time, before }],
            "{condition}"
        );
    }
}

#[test]
fn a_switch_is_true_on_the_side_its_condition_says() {
    for (condition, first, then) in [
        ("time < a", 1.0, 2.0),
        ("time >= a", 2.0, 1.0),
        ("a < time", 2.0, 1.0),
        ("-time <= -a", 2.0, 1.0),
    ] {
        let model = model(&format!("if {condition} then 1 else 2"));
        let threshold = model.thresholds(&[2.0, 3.0, 5.0])[0];
        let mut evaluator =
            Evaluator::new(Arc::new(model.output_program()), &0.0, &[2.0, 3.0, 5.0]);
        let mut at = |time: f64| {
            evaluator.set_switches(&[f64::from(u8::from(threshold.holds_at(time)))]);
            let mut result = [0.0];
            evaluator.run(&mut result);
            result[0]
        };
        assert_eq!(
            (at(1.0), at(1.999), at(2.0), at(3.0)),
            (first, first, then, then),
            "{condition}"
        );
    }
}

#[test]
fn equal_switches_are_one() {
    let text =
        "if time < 1 and 1 > time and not time >= 1 and time <= 1 and 2 * time < 4 then 1 else 0";
    assert_eq!(model(text).switches.len(), 2);
}

#[test]
fn a_condition_whose_slope_vanishes_is_constant() {
    let never = |before| Threshold {
        time: f64::INFINITY,
        before,
    };
    let model = model("if a * time < b then 1 elseif c * time <= c then 2 else 3");
    assert_eq!(
        model.thresholds(&[0.0, 1.0, 0.0]),
        [never(true), never(true)]
    );
    assert_eq!(
        model.thresholds(&[0.0, 0.0, 0.0]),
        [never(false), never(true)]
    );
    assert_eq!(
        model.thresholds(&[f64::NAN, 1.0, 0.0])[0].time,
        f64::INFINITY
    );
}

#[test]
fn other_conditions_stay_comparisons() {
    for condition in [
        "sin(time) > 0",
        "time ^ 2 < 4",
        "time < x",
        "time * time < a",
        "u < 1",
        "a < b",
        "time == 1",
        "1 / time < 2",
    ] {
        assert_eq!(thresholds(condition), [], "{condition}");
    }
}

fn is_affine(text: &str) -> bool {
    model(text).is_affine()
}

#[test]
fn sums_of_multiples_are_affine() {
    for text in [
        "a * x + b * u + c",
        "(x - u) / (a + b)",
        "sin(a) * der(u) - x * exp(b)",
        "if time < 3 then x else 2 * u",
        "if a < b then x else u + 1",
        "(if time > 1 then a else b) * x",
        "-(x + 1) * 2",
        "der(x) + 1",
        "5",
        "0 * x ^ 2 + y",
    ] {
        assert!(is_affine(text), "{text}");
    }
}

#[test]
fn other_expressions_are_not_affine() {
    for text in [
        "x * u",
        "x ^ 2",
        "1 / x",
        "sin(x)",
        "time",
        "x + time",
        "a * sin(time)",
        "abs(x)",
        "min(x, u)",
        "if x > 0 then x else u",
        "if sin(time) > 0 then x else u",
        "x ^ a",
    ] {
        assert!(!is_affine(text), "{text}");
    }
    assert!(!parsed(&equations("der(x) = x * y; der(y) = 0")).is_affine());
}

#[test]
fn dependencies_follow_every_path() {
    let mut source =
        equations("p = a * u; der(x) = p + y; der(y) = der(u) + (if time < b then 1 else 2)");
    source.outputs = vec![
        ("direct", "x + p"),
        ("strict", "x * time"),
        ("slope", "der(y)"),
    ];
    let model = parsed(&source);
    let first = model.derivative_dependencies(0);
    assert_eq!(
        (first.states, first.inputs, first.parameters),
        (vec![1], vec![0], vec![0])
    );
    let second = model.derivative_dependencies(1);
    assert_eq!(
        (second.slopes, second.switches, second.time),
        (vec![0], vec![0], false)
    );
    assert!(second.inputs.is_empty() && second.states.is_empty());
    assert!(model.output_depends_on_input(0, 0) && !model.output_depends_on_input(1, 0));
    assert!(model.output_dependencies(1).time);
    assert_eq!(model.output_dependencies(2).slopes, [0]);
    assert_eq!(model.uses_slope, [true]);
}

#[test]
fn what_nothing_mentions_is_unused() {
    let model = parsed(&Source {
        inputs: vec!["u", "v", "w"],
        parameters: vec!["a", "b"],
        states: vec!["x"],
        equations: "p = a; q = u; der(x) = p + der(v)",
        outputs: vec![],
        ..Default::default()
    });
    let unused = [
        Unused::Input("w".into()),
        Unused::Parameter("b".into()),
        Unused::Intermediate("q".into()),
    ];
    assert_eq!(model.unused(), unused);
    let intermediates: Vec<&str> = model
        .intermediates
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(intermediates, ["p", "q"]);
}

#[test]
fn a_model_can_be_shared_between_threads() {
    fn shareable<T: Send + Sync>() {}
    shareable::<Model>();
    shareable::<Evaluator<f64>>();
}
