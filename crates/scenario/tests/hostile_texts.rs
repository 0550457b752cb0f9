//! Whatever the text, reading a model ends, and without a panic.

use std::fs;
use std::path::Path;

use dovetail_scenario::{BadModel, Choices, Overrides, Scenario, SourceText};
use proptest::prelude::*;

const EXAMPLES: [&str; 7] = [
    "behaviour-change",
    "car",
    "damping-reaction",
    "lotka-volterra",
    "mechanical",
    "rooms",
    "spring",
];

/// Pieces of models, whole and broken.
const TOKENS: &[&str] = &[
    "[model]",
    "[systems.a]",
    "[[connections]]",
    "[method]",
    "\n",
    "=",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\"\"\"",
    "'''",
    "\\",
    ",",
    "#",
    ".",
    "inputs",
    "states",
    "parameters",
    "equations",
    "outputs",
    "units",
    "restrict",
    "imposed-step",
    "stop-time",
    "from",
    "to",
    "value",
    "name",
    "der(x)",
    "der(",
    ")",
    "if",
    "then",
    "else",
    "elseif",
    "time",
    "<",
    "<=",
    "==",
    "and",
    "not",
    "^",
    "*",
    "/",
    "-",
    "+",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "-0.0",
    "0x7f",
    "9223372036854775808",
    "x",
    "p",
    "é",
    "\u{feff}",
    "\r\n",
    "\t",
    "\0",
    "sin(",
    "log(-1)",
    "1/0",
    "true",
    "2026-01-01",
    "a.b",
    "[1, 2]",
    "[2, 1]",
    "(((((((((((",
];

fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    fs::read_to_string(root.join(name).join("model.toml")).expect("the example is there")
}

fn parse(text: String) -> Result<Scenario, BadModel> {
    Scenario::parse(
        SourceText {
            path: "model.toml".into(),
            text,
        },
        &Overrides::default(),
    )
}

/// Reads the text as `check` does. What is wrong can be shown.
fn read(text: String) {
    let started = parse(text).and_then(|scenario| {
        let options = scenario.options(&Choices::default())?;
        scenario.check_method(&options)?;
        scenario.start(&options).map(|_| ())
    });
    if let Err(bad) = started {
        assert!(!bad.problems.is_empty() && bad.to_string().contains("model.toml"));
    }
}

fn some_example() -> impl Strategy<Value = String> {
    prop::sample::select(&EXAMPLES[..]).prop_map(example)
}

fn mutated(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, u8)]) -> String {
    for (place, byte) in changes {
        let place = place.index(bytes.len());
        bytes[place] = *byte;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn boundary(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

fn spliced(mut text: String, pieces: &[(prop::sample::Index, &str)]) -> String {
    for (place, piece) in pieces {
        let place = boundary(&text, place.index(text.len()));
        text.insert_str(place, piece);
    }
    text
}

fn without(mut text: String, from: prop::sample::Index, length: usize) -> String {
    let start = boundary(&text, from.index(text.len()));
    let end = boundary(&text, (start + length).min(text.len()));
    text.replace_range(start..end, "");
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn changed_bytes_do_not_break_the_reader(
        text in some_example(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        read(mutated(text.into_bytes(), &changes));
    }

    #[test]
    fn changed_printable_bytes_do_not_break_the_reader(
        text in some_example(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 32u8..127), 1..4),
    ) {
        read(mutated(text.into_bytes(), &changes));
    }

    #[test]
    fn truncated_models_do_not_break_the_reader(text in some_example(), end in any::<prop::sample::Index>()) {
        let end = boundary(&text, end.index(text.len()));
        read(text[..end].to_owned());
    }

    #[test]
    fn models_with_a_hole_do_not_break_the_reader(
        text in some_example(), from in any::<prop::sample::Index>(), length in 1usize..80,
    ) {
        read(without(text, from, length));
    }

    #[test]
    fn spliced_tokens_do_not_break_the_reader(
        text in some_example(),
        pieces in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(TOKENS)), 1..8),
    ) {
        read(spliced(text, &pieces));
    }

    #[test]
    fn heaps_of_tokens_do_not_break_the_reader(
        pieces in prop::collection::vec(prop::sample::select(TOKENS), 0..60), spaces in any::<bool>(),
    ) {
        read(pieces.join(if spaces { " " } else { "" }));
    }

    #[test]
    fn random_numbers_do_not_break_the_start(start: f64, parameter: f64, constant: f64, stop: f64) {
        read(format!(
            "[model]\nstop-time = {stop:?}\n[systems.a]\ninputs = {{ u = {start:?} }}\nparameters = {{ p = {parameter:?} }}\n\
             states = {{ x = {start:?} }}\nequations = \"der(x) = p * x^2 + u / p + sqrt(u)\"\n\
             outputs = {{ y = \"if time < p then u^3 + x else log(u) * x\" }}\n\
             [[connections]]\nfrom = \"a.y\"\nto = \"a.u\"\n[method]\nstep = {constant:?}\n"
        ).replace("NaN", "nan"));
    }
}

#[test]
fn garbage_of_any_length_is_refused() {
    for text in [
        "",
        "\0",
        "\u{feff}",
        "[",
        "[[",
        "\"",
        "=",
        "[model",
        "[model]\r",
        "💥",
        "a.b.c.d = 1",
    ] {
        assert!(parse(text.to_owned()).is_err(), "{text:?}");
        read(text.to_owned());
    }
    read("[".repeat(100_000));
    read("a.".repeat(100_000));
    read(format!("x = {}1{}", "[".repeat(50_000), "]".repeat(50_000)));
    read(format!("x = {}", "{ a = ".repeat(50_000)));
}

/// A ring of systems, each fed by the one before.
fn ring(systems: usize) -> String {
    let mut text = "[model]\nstop-time = 1.0\n".to_owned();
    for k in 0..systems {
        text += &format!(
            "[systems.s{k}]\ninputs = {{ u = 0.0 }}\nparameters = {{ a = 0.5 }}\nstates = {{ x = 1.0 }}\n\
             equations = \"der(x) = a * (u - x)\"\noutputs = {{ y = \"x\" }}\n\
             [[connections]]\nfrom = \"s{k}.y\"\nto = \"s{}.u\"\n",
            (k + 1) % systems
        );
    }
    text
}

#[test]
fn a_thousand_systems_are_read_and_start() {
    let scenario = parse(ring(1000)).unwrap();
    let options = scenario.options(&Choices::default()).unwrap();
    assert_eq!(scenario.start(&options).unwrap().len(), 1000);
}

#[test]
fn a_hundred_states_are_read() {
    let states: Vec<String> = (0..100).map(|i| format!("x{i} = 1.0")).collect();
    let sum = (0..100)
        .map(|i| format!("x{i}"))
        .collect::<Vec<_>>()
        .join(" + ");
    let equations: String = (0..100)
        .map(|i| format!("der(x{i}) = total - {i} * x{i}\n"))
        .collect();
    let text = format!(
        "[model]\nstop-time = 1.0\n[systems.a]\nstates = {{ {} }}\nequations = '''\ntotal = {sum}\n{equations}'''\n",
        states.join(", ")
    );
    read(text);
}

#[test]
fn long_names_are_not_compared_with_all_that_are_known() {
    // Far too long for a comparison letter by letter with every name.
    let name = "a".repeat(20_000);
    let text = ring(50).replacen("\"s1.u\"", &format!("\"{name}.u\""), 1);
    assert!(parse(text).is_err());
}
