//! What sweeps and fits vary: starts at rest, boxes of constants, whole numbers, and names that say the same.

mod support;

use dovetail_fixtures::{Fixture, Kind, Model, Version};
use support::{Folder, Table, assert_near, dovetail, example, number, run_json};

const STEADY: [&str; 2] = ["--initialize", "steady"];

fn sweep(folder: &Folder, model: &str, arguments: &[&str]) -> (support::Done, String) {
    let file = folder.name("rows.csv");
    let all = [&["sweep", model, "-o", &file], arguments].concat();
    let done = dovetail(&all);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    (done, text)
}

#[test]
fn every_run_of_a_sweep_starts_where_its_own_model_is_at_rest() {
    let folder = Folder::new();
    let text = support::lone(1.0, "x = 4.0", "der(x) = k - x")
        .replace("states", "parameters = { k = 2.0 }\nstates");
    let model = folder.file("model.toml", text);
    let vary = ["--vary", "lone.k=1,2,3", "--record", "lone.x"];
    let (done, text) = sweep(&folder, &model, &[&vary[..], &STEADY].concat());
    done.exits(0);
    let found = Table::parse(&text).numbers("final(lone.x)");
    for (found, expected) in found.iter().zip([1.0, 2.0, 3.0]) {
        assert_near(*found, expected, 1e-12);
    }

    let rooms = ["--vary", "west.T1=20,25", "--stop-time", "5"];
    let (done, text) = sweep(&folder, &example("rooms"), &[&rooms[..], &STEADY].concat());
    done.exits(0);
    let single = run_json(
        &example("rooms"),
        &[&["--stop-time", "5"], &STEADY[..]].concat(),
    );
    let known = number(&single["final"]["west.T1"]);
    for found in Table::parse(&text).numbers("final(west.T1)") {
        assert_near(found, known, 1e-9);
    }
}

#[test]
fn a_fit_starts_its_runs_at_rest_too() {
    let folder = Folder::new();
    let text = support::lone(1.0, "x = 4.0", "der(x) = k - x")
        .replace("states", "parameters = { k = 2.0 }\nstates");
    let model = folder.file("model.toml", text);
    // From the start value 4.0 nothing would stay at 3.
    let data = folder.file(
        "d.csv",
        "time,lone.x\n0,3.001\n0.25,2.999\n0.5,3.001\n1,2.999\n",
    );
    let fit = [
        "fit",
        &model,
        "--data",
        &data,
        "--vary",
        "lone.k=1:5",
        "--json",
    ];
    let found = dovetail(&[&fit[..], &STEADY].concat()).exits(0).json();
    assert_near(number(&found["parameters"]["lone.k"]["value"]), 3.0, 1e-6);
}

#[test]
fn a_start_at_rest_that_is_impossible_is_said_before_the_first_run() {
    let folder = Folder::new();
    let unit = Fixture::new(Model::Prey, Version::Two).kind(Kind::CoSimulation);
    let unit = unit.build().display().to_string();
    let vary = ["--vary", "birth=0.5,0.7", "--stop-time", "1"];
    let (done, text) = sweep(&folder, &unit, &[&vary[..], &STEADY].concat());
    done.exits(2)
        .says(&["`Prey` cannot be set", "Co-Simulation"]);
    assert!(text.is_empty());

    // Somewhere there is none: that run has failed.
    let text = support::lone(1.0, "x = 0.5", "der(x) = k - x*x")
        .replace("states", "parameters = { k = 2.0 }\nstates");
    let model = folder.file("model.toml", text);
    let vary = ["--vary", "lone.k=1,-1", "--record", "lone.x"];
    let (done, text) = sweep(&folder, &model, &[&vary[..], &STEADY].concat());
    done.exits(0);
    assert_eq!(Table::parse(&text).column("status"), ["ok", "failed"]);
}

const SHARED: &str = "
[model]
stop-time = 1.0
[constants]
g = [1, 2]
[systems.a]
states = { x = 0.0 }
equations = \"der(x) = g\"
[systems.b]
states = { x = 0.0 }
equations = \"der(x) = 2*g\"
";

#[test]
fn a_constant_that_is_a_box_is_one_unknown_of_a_sample() {
    let folder = Folder::new();
    let model = folder.file("model.toml", SHARED);
    for vary in [
        &[][..],
        &["--vary", "constants.g=1:2"],
        &["--vary", "g=1:2"],
    ] {
        let (done, text) = sweep(&folder, &model, &[&["--sample", "4"], vary].concat());
        done.exits(0);
        let head = text.lines().next().expect("a head");
        let varied = head.split(',').nth(1).expect("a column").to_owned();
        assert!(varied == "constants.g" || varied == "g", "{head}");
        assert_eq!(
            head.matches(".g").count() + head.matches(",g,").count(),
            1,
            "{head}"
        );
        let table = Table::parse(&text);
        assert_eq!(table.column("status"), ["ok"; 4]);
        let values = table.numbers(&varied);
        for (row, g) in values.iter().enumerate() {
            assert!((1.0..=2.0).contains(g));
            assert_near(table.numbers("final(a.x)")[row], *g, 1e-12);
            assert_near(table.numbers("final(b.x)")[row], 2.0 * g, 1e-12);
        }
    }
}

#[test]
fn integers_and_truth_values_of_fmus_are_varied() {
    let folder = Folder::new();
    for version in [Version::Two, Version::Three] {
        let unit = Fixture::new(Model::Types, version).build();
        let unit = unit.display().to_string();
        let vary = [
            "--vary",
            "int32_in=1,2",
            "--vary",
            "boolean_in=0,1",
            "--stop-time",
            "1",
            "--record",
            "*int32_out",
            "--record",
            "*boolean_out",
        ];
        let (done, text) = sweep(&folder, &unit, &vary);
        done.exits(0);
        let table = Table::parse(&text);
        assert_eq!(table.column("status"), ["ok"; 4], "{text}");
        assert_eq!(
            table.numbers("final(Types.int32_out)"),
            [1.0, 1.0, 2.0, 2.0]
        );
        assert_eq!(
            table.numbers("final(Types.boolean_out)"),
            [0.0, 1.0, 0.0, 1.0]
        );
    }
}

#[test]
fn one_value_under_two_names_is_varied_twice() {
    let folder = Folder::new();
    let twice = ["--vary", "car.m=900,1000", "--vary", "m=900,1000"];
    let (done, _) = sweep(&folder, &example("car"), &twice);
    done.exits(2)
        .says(&["`car.m` is varied twice", "as `car.m` and as `m`"]);
    let data = folder.file("d.csv", "time,car.v\n0,0\n1,1\n2,2\n");
    let fit = ["fit", &example("car"), "--data", &data];
    let twice = ["--vary", "car.m=900:1000", "--vary", "m=900:1000"];
    dovetail(&[&fit[..], &twice].concat())
        .exits(2)
        .says(&["`car.m` is varied twice"]);
}

#[test]
fn what_a_table_or_an_expression_drives_cannot_be_varied() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "time,car.m\n0,1000\n40,1100\n");
    let driven = ["--vary", "car.m=900,1000", "--input", &table];
    let (done, _) = sweep(&folder, &example("car"), &driven);
    done.exits(2).says(&["`car.m` cannot be varied", "a table"]);
    let set = ["--set", "car.m=900", "--input", &table];
    let warnings = run_json(&example("car"), &set)["quality"]["warnings"].to_string();
    for words in ["`car.m` is set to 900", "has no effect", "a table"] {
        assert!(warnings.contains(words), "{warnings}");
    }

    let text = "[model]\nstop-time = 1\n[systems.s]\ninputs = { u = 1.0 }\nstates = { x = 0.0 }\n\
                equations = \"der(x) = u\"\n[[connections]]\nvalue = \"2*time\"\nto = \"s.u\"\n";
    let model = folder.file("model.toml", text);
    let (done, _) = sweep(&folder, &model, &["--vary", "s.u=1,2"]);
    done.exits(2)
        .says(&["`s.u` cannot be varied", "an expression of time"]);
}
