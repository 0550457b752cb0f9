//! Every mistake is reported where it is, with what may mend it.

mod support;

use dovetail_equations::{Place, Source, SyntaxError};
use support::{equations, errors, expression};

/// Both derivatives, so that a text under test may hold anything else.
const STATES: &str = "der(x) = 0; der(y) = 0";

fn only(source: &Source<'_>) -> SyntaxError {
    let mut errors = errors(source);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

/// The only mistake in an output: what is under it, and the message.
#[track_caller]
fn output_mistake(text: &str, marked: &str, message: &str, help: Option<&str>) {
    let error = only(&expression(text));
    assert_eq!(error.place, Place::Output(0));
    check(&error, text, marked, message, help);
}

#[track_caller]
fn equation_mistake(text: &str, marked: &str, message: &str, help: Option<&str>) {
    let error = only(&equations(text));
    assert_eq!(error.place, Place::Equations);
    check(&error, text, marked, message, help);
}

#[track_caller]
fn check(error: &SyntaxError, text: &str, marked: &str, message: &str, help: Option<&str>) {
    assert_eq!(error.message, message);
    assert_eq!(&text[error.offset..error.offset + error.length], marked);
    assert_eq!(error.help.as_deref(), help);
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    let source = Source {
        inputs: vec!["predators"],
        states: vec!["prey"],
        equations: "# growth\nder(prey) = prey *\n  (2 - predator)",
        ..Source::default()
    };
    let error = only(&source);
    assert_eq!(error.message, "unknown name `predator`");
    assert_eq!(error.help.as_deref(), Some("did you mean `predators`?"));
    assert_eq!((error.line, error.column, error.length), (3, 8, 8));
    assert_eq!(error.offset, source.equations.find("predator").unwrap());
}

#[test]
fn unknown_names_are_marked() {
    output_mistake("x + zulu", "zulu", "unknown name `zulu`", None);
    output_mistake(
        "tim * 2",
        "tim",
        "unknown name `tim`",
        Some("did you mean `time`?"),
    );
    output_mistake("der(zulu)", "zulu", "unknown name `zulu`", None);
}

#[test]
fn outputs_do_not_see_each_other() {
    let mut source = expression("x");
    source.outputs.push(("second", "out + 1"));
    let error = only(&source);
    assert_eq!(
        (error.place, error.message.as_str()),
        (Place::Output(1), "unknown name `out`")
    );
}

#[test]
fn unknown_functions_are_marked() {
    output_mistake(
        "x + sine(x)",
        "sine",
        "unknown function `sine`",
        Some("did you mean `sin`?"),
    );
    output_mistake(
        "a(x)",
        "a",
        "unknown function `a`",
        Some("a product needs `*`"),
    );
    output_mistake(
        "pow(x, 2)",
        "pow",
        "unknown function `pow`",
        Some("`a ^ b` is the power"),
    );
    output_mistake(
        "sin + 1",
        "sin",
        "`sin` is a function: write `sin(...)`",
        None,
    );
}

#[test]
fn arguments_are_counted() {
    output_mistake(
        "1 + sin(x, y)",
        "sin(x, y)",
        "`sin` takes one argument, not 2",
        None,
    );
    output_mistake("sin()", "sin()", "`sin` takes one argument, not 0", None);
    output_mistake(
        "atan2(x)",
        "atan2(x)",
        "`atan2` takes two arguments, not 1",
        None,
    );
    output_mistake(
        "min(x)",
        "min(x)",
        "`min` takes two or more arguments, not 1",
        None,
    );
}

#[test]
fn missing_operands_are_missed_where_they_should_be() {
    output_mistake(
        "1 + ",
        "",
        "a value is missing before the end of the text",
        None,
    );
    output_mistake("1 + * 2", "*", "a value is missing before `*`", None);
    output_mistake(
        "x ** 2",
        "*",
        "a value is missing before `*`",
        Some("`^` is the power"),
    );
    output_mistake("()", ")", "a value is missing before `)`", None);
    output_mistake("max(1, )", ")", "a value is missing before `)`", None);
    output_mistake(
        "",
        "",
        "a value is missing before the end of the text",
        None,
    );
    output_mistake(
        "  # nothing",
        "",
        "a value is missing before the end of the text",
        None,
    );
}

#[test]
fn parentheses_are_balanced() {
    let error = only(&expression("2 * (x + (y"));
    assert_eq!(
        (error.message.as_str(), error.column),
        ("this `(` is never closed", 10)
    );
    let error = only(&expression("(x + 1) * y)"));
    assert_eq!(
        (error.message.as_str(), error.column),
        ("this `)` closes nothing", 12)
    );
    output_mistake("(x y)", "y", "expected an operator or `)` before `y`", None);
    let text = "der(x) = (1 + u\nder(y) = 0";
    let error = only(&equations(text));
    assert_eq!(error.message, "this `(` is never closed");
    assert_eq!((error.line, error.column), (1, 10));
}

#[test]
fn operators_are_not_implied() {
    output_mistake(
        "2 x",
        "x",
        "expected an operator before `x`",
        Some("a product needs `*`"),
    );
    output_mistake(
        "x (y)",
        "x",
        "unknown function `x`",
        Some("a product needs `*`"),
    );
    output_mistake(
        "x, y",
        ",",
        "unexpected `,`",
        Some("commas separate the arguments of functions"),
    );
    output_mistake("x; y", ";", "unexpected `;`", None);
}

#[test]
fn foreign_characters_are_marked() {
    output_mistake("x + $", "$", "unexpected character `$`", None);
    output_mistake("x\0", "\0", "unexpected character `\\0`", None);
    output_mistake("x · y", "·", "unexpected character `·`", Some("write `*`"));
    output_mistake(
        "[x",
        "[",
        "unexpected character `[`",
        Some("only `(` and `)` group"),
    );
}

#[test]
fn malformed_numbers_are_marked() {
    let help = Some("numbers look like 1, 1.5, .5 or 1e-3");
    output_mistake("x + 1.2.3 * 2", "1.2.3", "malformed number `1.2.3`", help);
    output_mistake("1e+", "1e+", "malformed number `1e+`", help);
    output_mistake(
        "2x",
        "2x",
        "malformed number `2x`",
        Some("a product needs `*`: `2 * x`"),
    );
    let help = Some("the largest is about 1.8e308");
    output_mistake("1e999", "1e999", "number too large", help);
}

#[test]
fn every_state_has_one_equation() {
    let text = "der(x) = 1";
    equation_mistake(
        text,
        "",
        "state `y` has no equation",
        Some("add `der(y) = ...`"),
    );
    let text = "der(x) = 1\nder(y) = 0\n  der(x) = 2";
    let error = only(&equations(text));
    assert_eq!(error.message, "`der(x)` is defined twice");
    assert_eq!((error.line, error.column), (3, 7));
    assert_eq!(
        error.help.as_deref(),
        Some("it is first defined at line 1, column 5")
    );
}

#[test]
fn definitions_are_of_new_names() {
    for (statement, marked, message, help) in [
        (
            "k = 1; k = 2",
            "k",
            "`k` is defined twice",
            Some("it is first defined at line 2, column 1"),
        ),
        ("u = 1", "u", "`u` is an input and cannot be defined", None),
        (
            "a = 1",
            "a",
            "`a` is a parameter and cannot be defined",
            None,
        ),
        (
            "x = 1",
            "x",
            "`x` is a state and cannot be defined",
            Some("write `der(x) = ...`"),
        ),
        (
            "time = 1",
            "time",
            "`time` is a word of the language and cannot be defined",
            None,
        ),
        (
            "if = 1",
            "if",
            "`if` is a word of the language and cannot be defined",
            None,
        ),
        (
            "sin = 1",
            "sin",
            "`sin` is a word of the language and cannot be defined",
            None,
        ),
        (
            "der(u) = 1",
            "u",
            "`u` is an input, so it has no equation here",
            Some("only states have `der(...) = ...`"),
        ),
        ("der(z) = 1", "z", "unknown state `z`", None),
        (
            "der(X) = 1",
            "X",
            "unknown state `X`",
            Some("did you mean `x`?"),
        ),
    ] {
        equation_mistake(&format!("{STATES}\n{statement}"), marked, message, help);
    }
}

#[test]
fn what_is_no_definition_is_refused() {
    let help = Some("a statement is `der(state) = expression` or `name = expression`");
    let text = format!("{STATES}\n1 = x");
    equation_mistake(&text, "1", "expected a definition, found `1`", help);
    equation_mistake(
        &format!("{STATES}\nk"),
        "",
        "expected `=` before the end of the text",
        None,
    );
    equation_mistake(
        &format!("{STATES}\nder x = 1"),
        "x",
        "expected `(` before `x`",
        None,
    );
    let help = Some("`==` compares; a line that ends with an operator continues on the next");
    equation_mistake("der(x) = u +\nder(y) = 1", "=", "unexpected `=`", help);
}

#[test]
fn circles_are_named() {
    let text = format!("{STATES}\np = q + 1; q = r; r = 2 * p");
    equation_mistake(&text, "p", "circular definition: p -> q -> r -> p", None);
    equation_mistake(
        &format!("{STATES}; k = k"),
        "k",
        "circular definition: k -> k",
        None,
    );
    let text = "der(x) = der(y); der(y) = w; w = der(x)";
    equation_mistake(
        text,
        "x",
        "circular definition: der(x) -> der(y) -> w -> der(x)",
        None,
    );
}

#[test]
fn numbers_and_conditions_do_not_mix() {
    let number = "expected a number, found a condition";
    let condition = "expected a condition, found a number";
    output_mistake("1 + (x < y)", "x < y", number, None);
    output_mistake("x < y", "x < y", number, None);
    output_mistake("sin(x < y)", "x < y", number, None);
    output_mistake("if x then 1 else 2", "x", condition, None);
    output_mistake("if x < 1 then 1 else x < 2", "x < 2", number, None);
    output_mistake("if x < 1 and 2 * y then 1 else 0", "2 * y", condition, None);
    output_mistake("if not x then 1 else 2", "x", condition, None);
    equation_mistake("der(x) = u > 1; der(y) = 0", "u > 1", number, None);
}

#[test]
fn comparisons_are_not_chained() {
    let help = Some("write `a < b and b < c`");
    output_mistake(
        "if 0 < x < 1 then 1 else 2",
        "<",
        "comparisons cannot be chained",
        help,
    );
}

#[test]
fn conditions_are_complete() {
    output_mistake(
        "if x < 1 then 2",
        "",
        "expected `else` before the end of the text",
        None,
    );
    output_mistake("if x < 1 2", "2", "expected `then` before `2`", None);
    output_mistake("else 2", "else", "a value is missing before `else`", None);
}

#[test]
fn only_states_and_inputs_have_derivatives() {
    let help = Some("`der` takes a state or an input");
    output_mistake("der(a)", "a", "`a` has no derivative here", help);
    let help = Some("`der` takes the name of a variable");
    output_mistake("der(x + 1)", "+", "expected `)` before `+`", help);
}

#[test]
fn nesting_has_a_limit() {
    let help = Some("give a part of it a name, on a line of its own");
    let text = format!("{}x{}", "(".repeat(250), ")".repeat(250));
    output_mistake(&text, "(", "nested too deeply", help);
    let text = format!("{}x{}", "(".repeat(190), ")".repeat(190));
    assert_eq!(support::value(&text), 0.5);
}

#[test]
fn declared_names_are_checked() {
    for (name, message) in [
        (
            "1x",
            "`1x` is not a name: use letters, digits and underscores",
        ),
        ("", "`` is not a name: use letters, digits and underscores"),
        (
            "car.x",
            "`car.x` is not a name: use letters, digits and underscores",
        ),
        (
            "then",
            "`then` is a word of the language and cannot be a variable",
        ),
        (
            "pi",
            "`pi` is a word of the language and cannot be a variable",
        ),
        ("x", "`x` is declared twice: it is a state"),
    ] {
        let source = Source {
            states: vec!["x"],
            equations: "der(x) = 0",
            outputs: vec![],
            ..Source::default()
        };
        let parameter = name != "x";
        let declared = if parameter { vec![name] } else { vec![] };
        let states = if parameter { vec!["x"] } else { vec!["x", "x"] };
        let error = only(&Source {
            parameters: declared,
            states,
            ..source
        });
        assert_eq!(
            (error.place, error.message.as_str()),
            (Place::Name(name.into()), message)
        );
        assert_eq!((error.line, error.column, error.length), (1, 1, name.len()));
    }
}

#[test]
fn outputs_are_named_once() {
    let mut source = expression("x");
    source.outputs.push(("out", "y"));
    assert_eq!(
        only(&source).message,
        "`out` is declared twice: it is an output"
    );
    source.outputs[1].0 = "u";
    assert_eq!(
        only(&source).message,
        "`u` is declared twice: it is an input"
    );
    source.outputs[1].0 = "y";
    assert!(dovetail_equations::Model::parse(&source).is_ok());
}

#[test]
fn several_mistakes_are_reported_together() {
    let mut source = equations("der(x) = 1 +\nk = (2\nder(y) = 3 3\nm = )");
    source.outputs = vec![("out", "1 +")];
    let found: Vec<(Place, usize)> = errors(&source)
        .into_iter()
        .map(|error| (error.place, error.line))
        .collect();
    let equations = Place::Equations;
    let lines = [
        (equations.clone(), 2),
        (equations.clone(), 3),
        (equations, 4),
        (Place::Output(0), 1),
    ];
    assert_eq!(found, lines);
    let errors = errors(&equations_with_unknown_names());
    let lines: Vec<usize> = errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [1, 2, 2]);
}

fn equations_with_unknown_names() -> Source<'static> {
    equations("der(y) = one1\nder(x) = two2 + three3 * k\nk = 1")
}

#[test]
fn a_mistake_in_a_definition_is_not_repeated_by_its_users() {
    equation_mistake(
        "k = zulu; der(x) = k; der(y) = k + 1",
        "zulu",
        "unknown name `zulu`",
        None,
    );
}

#[test]
fn a_delay_takes_an_input_and_a_time_that_stays() {
    let help = Some("`delay(u, 0.1)` is the input `u` as it was 0.1 before");
    output_mistake(
        "delay(x, 1)",
        "x",
        "`x` is a state",
        Some("`delay` takes an input"),
    );
    output_mistake(
        "delay(u, x)",
        "x",
        "the time of a delay changes during a run",
        Some("it takes numbers and parameters"),
    );
    output_mistake("delay(u)", ")", "expected `,` before `)`", help);
    output_mistake(
        "delay(1, 2)",
        "1",
        "expected the name of an input before `1`",
        help,
    );
}
