//! What expressions and statements mean.

mod support;

use std::f64::consts::PI;

use dovetail_equations::Source;
use support::{POINT, equations, errors, expression, output, parsed, value};

#[test]
fn products_bind_tighter_than_sums() {
    assert_eq!(value("1 + 2 * 3"), 7.0);
    assert_eq!(value("(1 + 2) * 3"), 9.0);
    assert_eq!(value("8 - 6 / 2"), 5.0);
}

#[test]
fn sums_and_products_group_from_the_left() {
    assert_eq!(value("10 - 4 - 3"), 3.0);
    assert_eq!(value("16 / 4 / 2"), 2.0);
    assert_eq!(value("16 / 4 * 2"), 8.0);
}

#[test]
fn powers_group_from_the_right_and_bind_tighter_than_signs() {
    assert_eq!(value("2 ^ 3 ^ 2"), 512.0);
    assert_eq!(value("-2 ^ 2"), -4.0);
    assert_eq!(value("(-2) ^ 2"), 4.0);
    assert_eq!(value("2 ^ -1"), 0.5);
    assert_eq!(value("2 ^ -a ^ 2"), 0.0625);
    assert_eq!(value("3 * -2 ^ 2"), -12.0);
    assert_eq!(value("2 * 3 ^ 2"), 18.0);
}

#[test]
fn signs_may_be_repeated() {
    assert_eq!(value("- - 2"), 2.0);
    assert_eq!(value("1 - -2"), 3.0);
    assert_eq!(value("+2"), 2.0);
}

#[test]
fn names_stand_for_variables() {
    assert_eq!(value("a + b + c"), 10.0);
    assert_eq!(value("x + y + u"), 4.25);
    assert_eq!(value("time"), 0.125);
    assert_eq!(value("pi"), PI);
}

#[test]
fn der_is_the_slope_of_an_input_and_the_equation_of_a_state() {
    assert_eq!(value("der(u)"), 7.0);
    assert_eq!(value("der(x)"), -0.25);
    assert_eq!(value("der(y) + 1"), 0.5);
}

#[test]
fn comparisons_decide() {
    for (condition, holds) in [
        ("a < b", true),
        ("a <= 2", true),
        ("a > b", false),
        ("b >= 3", true),
        ("a == 2", true),
        ("a != 2", false),
        ("not a < b", false),
        ("not a < b or b < c", true),
        ("a > b and b > c or a < c", true),
        ("a > b and (b > c or a < c)", false),
    ] {
        let text = format!("if {condition} then 1 else 0");
        assert_eq!(value(&text) == 1.0, holds, "{condition}");
    }
}

#[test]
fn conditions_have_any_number_of_branches() {
    let text = |x: &str| format!("if {x} < 0 then -1 elseif {x} < 10 then 0 else 1");
    assert_eq!(value(&text("(x - 1)")), -1.0);
    assert_eq!(value(&text("x")), 0.0);
    assert_eq!(value(&text("(x + 10)")), 1.0);
    assert_eq!(value("1 + if x < 0 then 2 else 3 + 4"), 8.0);
    assert_eq!(value("if x < 0 then 1 else if x < 1 then 2 else 3"), 2.0);
}

#[test]
fn every_function_is_the_one_it_names() {
    let x: f64 = 0.5;
    for (text, expected) in [
        ("sin(x)", x.sin()),
        ("cos(x)", x.cos()),
        ("tan(x)", x.tan()),
        ("asin(x)", x.asin()),
        ("acos(x)", x.acos()),
        ("atan(x)", x.atan()),
        ("atan2(x, a)", x.atan2(2.0)),
        ("sinh(x)", x.sinh()),
        ("cosh(x)", x.cosh()),
        ("tanh(x)", x.tanh()),
        ("exp(x)", x.exp()),
        ("log(x)", x.ln()),
        ("ln(x)", x.ln()),
        ("log10(x)", x.log10()),
        ("sqrt(x)", x.sqrt()),
        ("abs(-x)", x),
        ("sign(-x)", -1.0),
        ("min(b, a, c)", 2.0),
        ("max(b, a, c, x)", 5.0),
        ("floor(-x)", -1.0),
        ("ceil(x)", 1.0),
        ("mod(-7, b)", 2.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn intermediates_come_in_any_order() {
    let mut source =
        equations("der(x) = p; p = q * 2 # twice\n q = u + 1 // one more\n;; der(y) = der(x)");
    source.outputs = vec![("out", "p + der(y)")];
    assert_eq!(output(&parsed(&source), &0.0, &POINT, &0.5), 20.0);
}

#[test]
fn an_intermediate_may_be_a_condition() {
    let mut source = equations("der(x) = 0; der(y) = 0; late = time > 10 or x > 0");
    source.outputs = vec![("out", "if late then 1 else 2")];
    assert_eq!(output(&parsed(&source), &0.0, &POINT, &0.5), 1.0);
}

#[test]
fn a_statement_continues_where_it_cannot_end() {
    for text in [
        "der(x) = 1 +\n 2\nder(y) = 0",
        "der(x) = 1\n\n  # a remark\n + 2\nder(y) = 0",
        "der(x) =\n 3\nder(y) = 0",
        "der(x) = (1\n + (2\n)\n)\nder(y) = 0",
        "der(x) = if u > 0\n then 3\n elseif u > -1 then 4\n else 5\nder(y) = 0",
        "der(x) = if u > 0 and\n u > -1 then\n 3 else\n 5\nder(y) = 0",
        "der(x) = if not\n u < 0 then 3 else 4\n der(y) = 0",
        "der(x) = max(1,\n 3)\r\nder(y) = 0\r\n",
    ] {
        let mut source = equations(text);
        source.outputs = vec![("out", "der(x)")];
        assert_eq!(output(&parsed(&source), &0.0, &POINT, &0.5), 3.0, "{text}");
    }
}

#[test]
fn a_parenthesis_on_the_next_line_is_no_call() {
    let errors = errors(&equations("der(x) = u\n(1)\nder(y) = 0"));
    assert_eq!(errors[0].message, "expected a definition, found `(`");
    assert_eq!((errors[0].line, errors[0].column), (2, 1));
}

#[test]
fn a_model_may_have_no_states_and_no_outputs() {
    let model = parsed(&Source::default());
    assert!(model.states.is_empty() && model.program().results() == 0);
    let static_model = parsed(&Source {
        outputs: vec![("one", "1")],
        ..Source::default()
    });
    assert_eq!(static_model.program().results(), 1);
}

#[test]
fn names_may_have_any_letters() {
    let source = Source {
        states: vec!["θ"],
        equations: "der(θ) = -θ",
        outputs: vec![("θ", "θ")],
        ..expression("")
    };
    assert_eq!(parsed(&source).states, ["θ"]);
}
