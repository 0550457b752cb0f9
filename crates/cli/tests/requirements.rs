//! `dovetail enclose --require … --reach … --record …`: answers, checked against dense sampling, and counterexamples
//! that replay.

mod support;

use serde_json::Value;
use support::{Folder, Table, dovetail, lone, number};

/// The models of the cases, by short names.
fn model(folder: &Folder, name: &str) -> String {
    let text = match name {
        // x = x₀ exp(-t), x₀ from [0.9, 1.1].
        "decay" => lone(4.0, "x = [0.9, 1.1]", "der(x) = -x"),
        // A rotation: x = x₀ cos t + v₀ sin t.
        "spring" => lone(
            7.0,
            "x = [0.9, 1.1], v = [-0.1, 0.1]",
            "der(x) = v; der(v) = -x",
        )
        .replace("; ", "\\n"),
        // Van der Pol, whose limit cycle swings to 2.009.
        "oscillator" => lone(
            6.0,
            "x = [1.35, 1.45], y = [2.2, 2.3]",
            "der(x) = y; der(y) = (1 - x^2)*y - x",
        )
        .replace("; ", "\\n"),
        // Two bodies that fall alike, nobody knows how fast: their distance stays.
        "pair" => PAIR.to_owned(),
        // A filter of a disturbance.
        "filter" => FILTER.to_owned(),
        // A tank that fills, with an outlet at the bottom.
        "tank" => TANK.to_owned(),
        other => unreachable!("no model {other}"),
    };
    folder.file(&format!("{name}.toml"), text)
}

const PAIR: &str = "[model]\nstop-time = 5.0\n\
    [constants]\ng = [9.7, 9.9]\n\
    [systems.a]\nstates = { x = 0.0, v = 0.0 }\nequations = \"\"\"\nder(x) = v\nder(v) = -g\n\"\"\"\n\
    outputs = { height = \"x\" }\n\
    [systems.b]\nstates = { x = 1.0, v = 0.0 }\nequations = \"\"\"\nder(x) = v\nder(v) = -g\n\"\"\"\n\
    outputs = { height = \"x\" }\n";

const FILTER: &str = "[model]\nstop-time = 6.0\n\
    [systems.plant]\ninputs = { d = 0.0 }\nstates = { x = 0.0 }\nequations = \"der(x) = -x + d\"\n\
    outputs = { twice = \"2*x\" }\n\
    [[connections]]\nvalue = { between = [-0.1, 0.1] }\nto = \"plant.d\"\n";

const TANK: &str = "[model]\nstop-time = 20.0\n\
    [systems.tank]\nparameters = { a = [0.4, 0.6] }\nstates = { level = 0.0 }\n\
    equations = \"der(level) = 1 - a*sqrt(level)\"\n";

/// An answer in JSON, with the exit code that goes with it.
#[track_caller]
fn answer(model: &str, flag: &str, condition: &str) -> Value {
    let done = dovetail(&["enclose", model, "--json", flag, condition]);
    let requirement = done.json()["requirements"][0].clone();
    let proved = requirement["answer"] == "proved";
    done.exits(if proved { 0 } else { 1 });
    assert_eq!(requirement["text"], condition);
    requirement
}

/// A case: a model, the question, and the answer.
type Case = (&'static str, &'static str, &'static str, &'static str);

const CASES: [Case; 16] = [
    ("decay", "--require", "lone.x < 1.1001", "proved"),
    ("decay", "--require", "lone.x > 0.016", "proved"),
    ("decay", "--require", "lone.x > 0.1 until 2", "proved"),
    ("decay", "--require", "lone.x > 0.1 until 2.3", "violated"),
    ("decay", "--reach", "lone.x < 0.5 by 0.8", "proved"),
    ("decay", "--reach", "lone.x < 0.5 by 0.7", "violated"),
    (
        "spring",
        "--require",
        "lone.x^2 + lone.v^2 < 1.2201",
        "proved",
    ),
    (
        "spring",
        "--require",
        "lone.x^2 + lone.v^2 < 1.2",
        "violated",
    ),
    (
        "spring",
        "--require",
        "lone.x < 1.105 and lone.x > -1.105",
        "proved",
    ),
    ("spring", "--require", "not (lone.x > 1.09)", "violated"),
    ("spring", "--reach", "lone.x < -0.85", "proved"),
    ("oscillator", "--require", "lone.x < 2.2", "proved"),
    ("oscillator", "--require", "lone.y > -2.5", "violated"),
    ("pair", "--require", "a.height - b.height < -0.99", "proved"),
    ("filter", "--require", "plant.x < 0.1", "proved"),
    ("filter", "--require", "plant.twice < 0.19", "violated"),
];

#[test]
fn requirements_are_answered() {
    let folder = Folder::new();
    for (name, flag, condition, expected) in CASES {
        let found = answer(&model(&folder, name), flag, condition);
        assert_eq!(found["answer"], expected, "{name}: {found}");
        let has_example = found["counterexample"].is_array();
        assert_eq!(has_example, expected == "violated", "{found}");
    }
}

/// Whether a run from these values meets the condition, looked at closely.
fn holds_in_a_run(
    folder: &Folder,
    model: &str,
    values: &[String],
    condition: &str,
    always: bool,
) -> bool {
    let file = folder.name("run.csv");
    let mut arguments = vec!["run", model, "--step", "0.001", "-q", "--output", &file];
    for value in values {
        arguments.extend(["--set", value]);
    }
    dovetail(&arguments).exits(0);
    let table = Table::parse(&folder.read("run.csv"));
    let (text, time) = match condition.rsplit_once(if always { " until " } else { " by " }) {
        Some((text, time)) => (text, time.parse().unwrap()),
        None => (condition, f64::INFINITY),
    };
    let times = table.numbers("time");
    let until = times.iter().filter(|&&t| t <= time).count();
    let names = [
        "lone.x",
        "lone.v",
        "lone.y",
        "a.height",
        "b.height",
        "plant.x",
        "plant.twice",
        "tank.level",
    ];
    let columns = names.map(|name| text.contains(name).then(|| table.numbers(name)));
    let holds = |row: usize| {
        let value = |name: &str| {
            let position = names.iter().position(|known| *known == name).unwrap();
            columns[position].as_ref().unwrap()[row]
        };
        condition_at(text, value)
    };
    if always {
        (0..until).all(holds)
    } else {
        (0..until).any(holds)
    }
}

/// The conditions of the cases, written once more.
fn condition_at(text: &str, value: impl Fn(&str) -> f64) -> bool {
    let energy = || value("lone.x").powi(2) + value("lone.v").powi(2);
    if let Some(bound) = text.strip_prefix("lone.x^2 + lone.v^2 < ") {
        return energy() < bound.parse().unwrap();
    }
    match text {
        "lone.x < 1.105 and lone.x > -1.105" => value("lone.x").abs() < 1.105,
        "not (lone.x > 1.09)" => value("lone.x") <= 1.09,
        "a.height - b.height < -0.99" => value("a.height") - value("b.height") < -0.999999,
        _ => {
            let (name, rest) = text.split_once(' ').unwrap();
            let (sign, bound) = rest.split_once(' ').unwrap();
            let bound: f64 = bound.parse().unwrap();
            if sign == "<" {
                value(name) < bound
            } else {
                value(name) > bound
            }
        }
    }
}

#[test]
fn counterexamples_replay_and_what_is_proved_holds_in_dense_samples() {
    let folder = Folder::new();
    for (name, flag, condition, expected) in CASES {
        let model = model(&folder, name);
        let always = flag == "--require";
        if expected == "violated" {
            let found = answer(&model, flag, condition);
            let values: Vec<String> =
                serde_json::from_value(found["counterexample"].clone()).unwrap();
            assert!(
                !holds_in_a_run(&folder, &model, &values, condition, always),
                "{name}: {found}"
            );
            continue;
        }
        for values in samples(name) {
            assert!(
                holds_in_a_run(&folder, &model, &values, condition, always),
                "{name}: {values:?}"
            );
        }
    }
}

/// Corners and more of the boxes of a model.
fn samples(name: &str) -> Vec<Vec<String>> {
    let unknown: &[(&str, f64, f64)] = match name {
        "decay" => &[("lone.x", 0.9, 1.1)],
        "spring" => &[("lone.x", 0.9, 1.1), ("lone.v", -0.1, 0.1)],
        "oscillator" => &[("lone.x", 1.35, 1.45), ("lone.y", 2.2, 2.3)],
        "pair" => &[("constants.g", 9.7, 9.9)],
        "filter" => &[("plant.d", -0.1, 0.1)],
        _ => &[("tank.a", 0.4, 0.6)],
    };
    let mut all = vec![vec![]];
    for (name, low, high) in unknown {
        let ends = [0.0, 0.5, 1.0].map(|part| format!("{name}={}", low + part * (high - low)));
        all = all
            .iter()
            .flat_map(|known| {
                ends.iter()
                    .map(|end| [known.as_slice(), std::slice::from_ref(end)].concat())
            })
            .collect();
    }
    all
}

#[test]
fn what_is_on_the_edge_is_undecided() {
    let folder = Folder::new();
    // The energy at the corner is 1.22 exactly, up to rounding.
    let found = answer(
        &model(&folder, "spring"),
        "--require",
        "lone.x^2 + lone.v^2 <= 1.22",
    );
    assert_eq!(found["answer"], "undecided", "{found}");
    assert!(found["time"].is_null() && found["counterexample"].is_null());
}

#[test]
fn outputs_and_expressions_are_bounded_and_what_systems_share_cancels() {
    let folder = Folder::new();
    let file = folder.name("boxes.csv");
    let model = model(&folder, "pair");
    let arguments = [
        "enclose",
        &model,
        "--json",
        "--output",
        &file,
        "--record",
        "*.height",
        "--record",
        "a.x - b.x",
    ];
    let json = dovetail(&arguments).exits(0).json();
    let distance = number(&json["width"]["a.x - b.x"]);
    assert!(distance < 1e-9, "{distance}");
    assert!(number(&json["width"]["a.height"]) > 2.4);
    assert_eq!(json["width"]["a.height"], json["width"]["a.x"]);
    let table = Table::parse(&folder.read("boxes.csv"));
    for end in ["lo", "hi"] {
        let last = table.numbers(&format!("a.x - b.x.{end}"));
        assert!((last.last().unwrap() + 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_end_of_the_file_and_of_the_summary_agree_to_the_bit() {
    let folder = Folder::new();
    let file = folder.name("boxes.csv");
    for name in ["spring", "oscillator", "filter"] {
        let model = model(&folder, name);
        let json = dovetail(&["enclose", &model, "--json", "--output", &file])
            .exits(0)
            .json();
        let table = Table::parse(&folder.read("boxes.csv"));
        for (state, range) in json["final"].as_object().unwrap() {
            for (end, index) in [("lo", 0), ("hi", 1)] {
                let column = table.numbers(&format!("{state}.{end}"));
                assert_eq!(
                    *column.last().unwrap(),
                    number(&range[index]),
                    "{name}: {state}"
                );
            }
        }
    }
}

#[test]
fn a_run_takes_the_middle_of_a_disturbance_and_says_so() {
    let folder = Folder::new();
    let model = model(&folder, "filter");
    let json = dovetail(&["run", &model, "--json"]).exits(0).json();
    assert!(
        json["quality"]["warnings"]
            .to_string()
            .contains("`plant.d` may be anything from -0.1 to 0.1")
    );
    assert_eq!(number(&json["final"]["plant.x"]), 0.0);
    dovetail(&["enclose", &model, "--method", "boxes"])
        .exits(1)
        .says(&["disturbances", "shared-symbols"]);
}

#[test]
fn questions_that_make_no_sense_are_refused_with_what_was_meant() {
    let folder = Folder::new();
    let model = model(&folder, "decay");
    for (flag, text, words) in [
        ("--require", "lone.y < 1", &["lone.y", "lone.x"][..]),
        ("--require", "lone.x", &["condition"]),
        ("--require", "lone.x == 1", &["equal"]),
        ("--require", "lone.x < 1 until 9", &["9", "within"]),
        ("--require", "lone.x < 1 by 2", &["by", "until"]),
        ("--reach", "lone.x < 1 until 2", &["until", "by"]),
        ("--require", "lone.x < 1 until soon", &["soon"]),
        ("--require", "lone.x <", &["lone.x <"]),
        ("--record", "lone.z", &["lone.z"]),
    ] {
        dovetail(&["enclose", &model, flag, text])
            .exits(2)
            .says(words);
    }
}
