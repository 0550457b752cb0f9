//! Units: converted in connections, and written beside results.

mod support;

use support::{Folder, Table, assert_near, dovetail, example, number, run_json};

/// A motor in rpm and a load in rad/s; a heater in °C and a room in K.
const CONVERTED: &str = "
[model]
stop-time = 1.0
[systems.motor]
states = { n = 30.0 }
equations = \"der(n) = -n\"
outputs = { speed = \"n\" }
units = { speed = \"rpm\" }
[systems.load]
inputs = { w = 0.0 }
units = { w = \"rad/s\" }
states = { angle = 0.0 }
equations = \"der(angle) = w\"
outputs = { turned = \"angle\", seen = \"w\" }
[[connections]]
from = \"motor.speed\"
to = \"load.w\"
";

#[test]
fn rpm_become_radians_a_second_under_every_method() {
    let folder = Folder::new();
    let model = folder.file("model.toml", CONVERTED);
    let exact = std::f64::consts::PI * (1.0 - (-1.0_f64).exp());
    for (method, within) in [
        ("predictive", 1e-9),
        ("missiles", 1e-8),
        ("ifosmondi", 1e-6),
    ] {
        let run = run_json(&model, &["--method", method, "--step", "0.01"]);
        assert_near(number(&run["final"]["load.angle"]), exact, within);
    }
    // Steps that are chosen see what the conversion makes of errors.
    for method in ["predictive", "missiles"] {
        let run = run_json(&model, &["--method", method, "--tolerance", "1e-9"]);
        assert_near(number(&run["final"]["load.angle"]), exact, 1e-8);
    }
    let steps = ["--method", "gauss-seidel", "--step", "1e-4"];
    let run = run_json(&model, &steps);
    assert_near(number(&run["final"]["load.angle"]), exact, 1e-4);
}

#[test]
fn degrees_celsius_become_kelvin_with_their_offset() {
    let folder = Folder::new();
    let text = CONVERTED.replace("\"rpm\"", "\"degC\"");
    let model = folder.file("model.toml", text.replace("\"rad/s\"", "\"K\""));
    let run = run_json(&model, &["--method", "predictive"]);
    let last = 30.0 * (-1.0_f64).exp() + 273.15;
    assert_near(number(&run["final"]["load.seen"]), last, 1e-9);
}

#[test]
fn one_unit_may_be_spelled_in_two_ways() {
    let folder = Folder::new();
    let text = CONVERTED.replace("\"rpm\"", "\"Nm\"");
    let model = folder.file("model.toml", text.replace("\"rad/s\"", "\"N.m\""));
    // Nothing is converted, so the equations still say all: the reference is there.
    dovetail(&["compare", &model, "--method", "predictive", "-q"]).exits(0);
}

#[test]
fn units_stand_in_a_second_line_where_that_is_wanted() {
    let folder = Folder::new();
    let model = folder.file("model.toml", CONVERTED);
    let rows = folder.name("rows.csv");
    let units = [
        "run",
        &model,
        "-o",
        &rows,
        "--output-units",
        "--record",
        "speed",
    ];
    dovetail(&units).exits(0);
    let text = folder.read("rows.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["time,motor.speed", "s,rpm"]);
    assert!(Table::parse(&text).rows.len() > 500);
    let compare = ["compare", &model, "--reference", &rows, "--within", "1e-6"];
    let compare = [
        &compare[..],
        &["--method", "predictive", "--record", "speed"],
    ]
    .concat();
    dovetail(&compare).exits(0);
    let refused = ["run", &model, "-o", &folder.name("x.mat"), "--output-units"];
    dovetail(&refused).exits(2).says(&["--output-units", "CSV"]);
}

#[test]
fn a_name_that_several_systems_have_needs_the_system() {
    let refused = ["run", &example("lotka-volterra"), "--record", "population"];
    let done = dovetail(&refused).exits(2);
    done.says(&["`prey.population`", "`predator.population`"]);
}

#[test]
fn a_parameter_has_a_unit_to_which_tables_are_converted() {
    let folder = Folder::new();
    let text = "[model]\nstop-time = 2.0\n[systems.shaft]\nparameters = { speed = 0.0 }\nstates = { angle = 0.0 }\n\
                equations = \"der(angle) = speed\"\nunits = { speed = \"rad/s\" }\n";
    let model = folder.file("model.toml", text);
    let table = folder.file("table.csv", "time,shaft.speed [rpm]\n0,30\n1,60\n2,60\n");
    let run = run_json(&model, &["--input", &table]);
    // From 30 to 60 rpm within one second, then 60.
    let turned = 1.75 * std::f64::consts::TAU;
    assert_near(number(&run["final"]["shaft.angle"]), turned, 1e-9);
}

#[test]
fn a_value_that_one_system_has_is_set_without_the_system() {
    let car = example("car");
    let whole = run_json(
        &car,
        &["--set", "car.m=1200", "--set", "controller.gain=300"],
    );
    let short = run_json(&car, &["--set", "m=1200", "--set", "gain=300"]);
    assert_eq!(whole["final"], short["final"]);
    let pair = example("mechanical");
    dovetail(&["run", &pair, "--set", "m=3"])
        .exits(2)
        .says(&["several systems have a value `m`", "`left.m` and `right.m`"]);
    dovetail(&["run", &pair, "--set", "mm=3"])
        .exits(2)
        .says(&["no such parameter, state or input"]);
}
