//! Random texts never break anything, and random expressions keep their value.

mod support;

use std::fmt;
use std::sync::Arc;

use dovetail_equations::{Binary, Dual, Evaluator, Model, Number, Place, Source, Unary};
use proptest::prelude::*;
use support::{POINT, equations, expression, value};

/// Parses, and evaluates what parses; errors must point into their text.
fn survive(source: &Source<'_>) {
    match Model::parse(source) {
        Ok(model) => evaluate(&model),
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                let text = match &error.place {
                    Place::Equations => source.equations,
                    Place::Output(index) => source.outputs[*index].1,
                    Place::Condition(when) => source.whens[*when].condition,
                    Place::Assignment(when, index) => {
                        let when = &source.whens[*when];
                        when.set
                            .iter()
                            .chain(&when.reset)
                            .nth(*index)
                            .map_or("", |a| a.1)
                    }
                    Place::Name(name) => name,
                };
                assert!(
                    text.get(error.offset..error.offset + error.length)
                        .is_some(),
                    "{error:?}"
                );
                assert!(error.line >= 1 && error.column >= 1);
            }
        }
    }
}

fn evaluate(model: &Model) {
    let program = Arc::new(model.program());
    let lift = |count| vec![Dual::variable(0.75); count];
    let parameters = lift(model.parameters.len());
    let mut evaluator = Evaluator::new(program.clone(), &Dual::constant(0.0), &parameters);
    evaluator.set_states(&lift(model.states.len()));
    evaluator.set_inputs(&lift(model.inputs.len()));
    evaluator.set_slopes(&lift(model.inputs.len()));
    evaluator.set_switches(&lift(model.switches.len()));
    evaluator.run(&mut lift(program.results()));
    model.thresholds(&vec![0.75; model.parameters.len()]);
}

const TOKENS: [&str; 48] = [
    "x", "y", "u", "a", "b", "k", "time", "pi", "der", "der(x)", "der(u)", "=", "der(x) =", "k =",
    "+", "-", "*", "/", "^", "(", ")", ",", ";", "\n", "if", "then", "elseif", "else", "and", "or",
    "not", "<", "<=", ">", ">=", "==", "!=", "1", "2.5", "1e3", ".5", "0", "sin(", "min(", "log",
    "# c\n", "é", "zulu",
];

const PROGRAM: &str = "p = a * x + sin(time) # comment
der(x) = if time < b then -p ^ 2 else min(p, y, u) / (1 + der(u))
der(y) = der(x) - mod(x, 2.5e-1) * (if x > y and not u <= 1 or a == b then 1 else -1)";

fn soup() -> impl Strategy<Value = String> {
    let tokens = prop::collection::vec(prop::sample::select(&TOKENS[..]), 0..40);
    (tokens, prop::sample::select(vec!["", " "])).prop_map(|(tokens, blank)| tokens.join(blank))
}

fn mutated() -> impl Strategy<Value = String> {
    let change = (
        0..PROGRAM.len(),
        0usize..12,
        prop::sample::select(&TOKENS[..]),
    );
    prop::collection::vec(change, 1..5).prop_map(|changes| {
        let mut text = PROGRAM.to_owned();
        for (start, length, token) in changes {
            let (start, end) = (start.min(text.len()), (start + length).min(text.len()));
            if text.is_char_boundary(start) && text.is_char_boundary(end) {
                text.replace_range(start..end, token);
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        survive(&equations(&text));
        survive(&expression(&text));
        survive(&Source {
            inputs: vec![&text],
            states: vec![&text],
            outputs: vec![(&text, "1")],
            ..Source::default()
        });
    }

    #[test]
    fn random_characters_do_no_harm(text in any::<String>()) {
        survive(&equations(&text));
        survive(&expression(&text));
    }

    #[test]
    fn random_tokens_do_no_harm(text in soup()) {
        survive(&equations(&text));
        survive(&equations(&format!("der(x) = 1; der(y) = {text}")));
        survive(&expression(&text));
    }

    #[test]
    fn damaged_programs_do_no_harm(text in mutated()) {
        survive(&equations(&text));
    }

    #[test]
    fn random_expressions_keep_their_value(tree in number()) {
        let text = tree.to_string();
        let (read, meant) = (value(&text), tree.value());
        let same = read.to_bits() == meant.to_bits() || read.is_nan() && meant.is_nan();
        prop_assert!(same, "{text}: {read} {meant}");
    }
}

#[test]
fn the_program_to_damage_is_sound() {
    Model::parse(&equations(PROGRAM)).expect("a correct model");
}

/// An expression that can be written and evaluated directly.
///
/// Constants are no integers: sums of those are done ahead and may give a 0 that simplifies.
#[derive(Debug, Clone)]
enum Tree {
    Leaf(&'static str, f64),
    Unary(&'static str, Unary, Box<Tree>),
    Infix(&'static str, Box<Tree>, Box<Tree>),
    Call(&'static str, Binary, Box<Tree>, Box<Tree>),
    PowerInteger(Box<Tree>, i32),
    If(Box<Condition>, Box<Tree>, Box<Tree>),
}

#[derive(Debug, Clone)]
enum Condition {
    Comparison(&'static str, Tree, Tree),
    Not(Box<Condition>),
    Both(Box<Condition>, Box<Condition>),
    Either(Box<Condition>, Box<Condition>),
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(text, _) => write!(f, "{text}"),
            Self::Unary("-", _, a) => write!(f, "(-{a})"),
            Self::Unary(name, _, a) => write!(f, "{name}({a})"),
            Self::Infix(sign, a, b) => write!(f, "({a} {sign} {b})"),
            Self::Call(name, _, a, b) => write!(f, "{name}({a}, {b})"),
            Self::PowerInteger(a, exponent) => write!(f, "({a} ^ {exponent})"),
            Self::If(condition, a, b) => write!(f, "(if {condition} then {a} else {b})"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comparison(sign, a, b) => write!(f, "{a} {sign} {b}"),
            Self::Not(a) => write!(f, "not ({a})"),
            Self::Both(a, b) => write!(f, "({a} and {b})"),
            Self::Either(a, b) => write!(f, "({a} or {b})"),
        }
    }
}

impl Tree {
    fn value(&self) -> f64 {
        match self {
            Self::Leaf(_, value) => *value,
            Self::Unary(_, operation, a) => a.value().unary(*operation),
            Self::Infix(sign, a, b) => infix(sign, a.value(), b.value()),
            Self::Call(_, operation, a, b) => a.value().binary(*operation, &b.value()),
            Self::PowerInteger(a, exponent) => a.value().power_integer(*exponent),
            Self::If(condition, a, b) => {
                if condition.holds() {
                    a.value()
                } else {
                    b.value()
                }
            }
        }
    }
}

fn infix(sign: &str, a: f64, b: f64) -> f64 {
    match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        _ => a.powf(b),
    }
}

impl Condition {
    fn holds(&self) -> bool {
        match self {
            Self::Comparison(sign, a, b) => compare(sign, a.value(), b.value()),
            Self::Not(a) => !a.holds(),
            Self::Both(a, b) => a.holds() && b.holds(),
            Self::Either(a, b) => a.holds() || b.holds(),
        }
    }
}

fn compare(sign: &str, a: f64, b: f64) -> bool {
    match sign {
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        "==" => a == b,
        _ => a != b,
    }
}

const LEAVES: [(&str, f64); 10] = [
    ("x", POINT.states[0]),
    ("y", POINT.states[1]),
    ("u", POINT.input),
    ("der(u)", POINT.slope),
    ("a", POINT.parameters[0]),
    ("b", POINT.parameters[1]),
    ("pi", std::f64::consts::PI),
    ("2.5", 2.5),
    (".1", 0.1),
    ("1e-3", 1e-3),
];

const FUNCTIONS: [(&str, Unary); 19] = [
    ("-", Unary::Negate),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("asin", Unary::Asin),
    ("acos", Unary::Acos),
    ("atan", Unary::Atan),
    ("sinh", Unary::Sinh),
    ("cosh", Unary::Cosh),
    ("tanh", Unary::Tanh),
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("ln", Unary::Log),
    ("log10", Unary::Log10),
    ("sqrt", Unary::Sqrt),
    ("abs", Unary::Abs),
    ("sign", Unary::Sign),
    ("floor", Unary::Floor),
    ("ceil", Unary::Ceil),
];

const PAIRS: [(&str, Binary); 4] = [
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("mod", Binary::Modulo),
    ("atan2", Binary::Atan2),
];

fn number() -> impl Strategy<Value = Tree> {
    let leaf = prop::sample::select(&LEAVES[..]).prop_map(|(text, value)| Tree::Leaf(text, value));
    leaf.prop_recursive(6, 60, 2, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let comparisons = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
        let condition = (comparisons, inner.clone(), inner.clone())
            .prop_map(|(sign, a, b)| Condition::Comparison(sign, a, b))
            .prop_recursive(2, 6, 2, |inner| {
                let boxed = || inner.clone().prop_map(Box::new);
                prop_oneof![
                    boxed().prop_map(Condition::Not),
                    (boxed(), boxed()).prop_map(|(a, b)| Condition::Both(a, b)),
                    (boxed(), boxed()).prop_map(|(a, b)| Condition::Either(a, b)),
                ]
            });
        let signs = prop::sample::select(vec!["+", "-", "*", "/", "^"]);
        prop_oneof![
            4 => (signs, boxed(), boxed()).prop_map(|(sign, a, b)| Tree::Infix(sign, a, b)),
            2 => (prop::sample::select(&FUNCTIONS[..]), boxed())
                .prop_map(|((name, it), a)| Tree::Unary(name, it, a)),
            1 => (prop::sample::select(&PAIRS[..]), boxed(), boxed())
                .prop_map(|((name, it), a, b)| Tree::Call(name, it, a, b)),
            1 => (boxed(), prop::sample::select(vec![-20, -3, -1, 1, 2, 3, 5, 17]))
                .prop_map(|(a, exponent)| Tree::PowerInteger(a, exponent)),
            1 => (condition.prop_map(Box::new), boxed(), boxed())
                .prop_map(|(it, a, b)| Tree::If(it, a, b)),
        ]
    })
}
