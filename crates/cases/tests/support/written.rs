//! A model file whose systems are FMUs made of the same equations.

use std::path::Path;

use dovetail_fixtures::{Equations, Fixture, Model, Version, When, Written};
use toml::{Table, Value};

/// The text of a model of the kind `switching` or `jumps`.
pub fn text_of(name: &str) -> String {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let path = |kind: &str| models.join(kind).join(format!("{name}.toml"));
    std::fs::read_to_string(path("switching"))
        .or_else(|_| std::fs::read_to_string(path("jumps")))
        .unwrap_or_else(|error| panic!("BUG: {name}: {error}"))
}

/// The model with each system given by what `fixture` makes of its equations, for this interface.
pub fn as_units(
    text: &str,
    version: Version,
    interface: &str,
    fixture: impl Fn(Fixture) -> Fixture,
) -> String {
    let model: Table = text.parse().expect("BUG: a model file");
    let stop = number(&model["model"]["stop-time"]);
    let systems = model["systems"].as_table().expect("BUG: systems");
    let mut whole = without_systems(text);

    for (name, system) in systems {
        let written = Written::new(&equations_of(name, system, stop));
        let path = fixture(Fixture::new(Model::Written(written), version)).build();
        let path = path.display().to_string();
        whole += &format!("[systems.{name}]\nfmu = {path:?}\ninterface = {interface:?}\n");
    }
    whole
}

/// A model file without the tables of its systems.
fn without_systems(text: &str) -> String {
    let mut skips = false;
    let mut rest = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            skips = line.trim_start_matches('[').starts_with("systems.");
        }
        if !skips {
            rest += line;
            rest.push('\n');
        }
    }
    rest
}

fn equations_of(name: &str, system: &Value, stop_time: f64) -> Equations {
    let empty = Table::new();
    let table = |key: &str| {
        let found = system.get(key).and_then(Value::as_table);
        found.unwrap_or(&empty).clone()
    };
    let numbers = |key: &str| {
        let all = table(key);
        all.iter().map(|(k, v)| (k.clone(), number(v))).collect()
    };

    Equations {
        name: format!("{name}_"),
        inputs: numbers("inputs"),
        parameters: numbers("parameters"),
        states: numbers("states"),
        discrete: numbers("discrete"),
        equations: system
            .get("equations")
            .map_or(String::new(), |v| text(v).to_owned()),
        outputs: texts(&table("outputs")),
        whens: whens_of(system),
        sample: system.get("sample").map(number),
        stop_time,
    }
}

fn whens_of(system: &Value) -> Vec<When> {
    let clauses = system.get("when").and_then(Value::as_array);
    let clause = |clause: &Value| {
        let values = |key: &str| {
            let found = clause.get(key).and_then(Value::as_table);
            found.map(texts).unwrap_or_default()
        };
        When {
            condition: text(&clause["condition"]).to_owned(),
            set: [values("set"), values("reset")].concat(),
        }
    };
    clauses.into_iter().flatten().map(clause).collect()
}

fn texts(table: &Table) -> Vec<(String, String)> {
    let pairs = table.iter();
    pairs
        .map(|(name, value)| (name.clone(), text(value).to_owned()))
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("BUG: a text")
}

fn number(value: &Value) -> f64 {
    let integer = value.as_integer().map(|i| i as f64);
    value.as_float().or(integer).expect("BUG: a number")
}
