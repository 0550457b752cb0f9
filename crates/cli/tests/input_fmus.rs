//! Tables and events for FMUs: inputs, tunable parameters, units, integers and truth values.

mod support;

use dovetail_fixtures::{Fixture, Model, Version};
use support::{Folder, assert_near, dovetail, number, run_json};

const VERSIONS: [Version; 2] = [Version::Two, Version::Three];
const INTERFACES: [&str; 2] = ["co-simulation", "model-exchange"];

/// The rows of a result file: names, and numbers.
fn rows(folder: &Folder, arguments: &[&str]) -> (Vec<String>, Vec<Vec<f64>>) {
    let file = folder.name("rows.csv");
    dovetail(&[&["run"], arguments, &["--output", &file]].concat()).exits(0);
    let text = std::fs::read_to_string(&file).expect("rows");
    let mut lines = text.lines();
    let names = lines.next().expect("a head").split(',').map(str::to_owned);
    let number = |field: &str| field.parse().expect("a number");
    let rows = lines.map(|line| line.split(',').map(number).collect());
    (names.collect(), rows.collect())
}

/// The last value of a variable at a time: that on the right side of an event.
fn at(found: &(Vec<String>, Vec<Vec<f64>>), name: &str, time: f64) -> f64 {
    let column = found.0.iter().position(|known| known == name);
    let column = column.unwrap_or_else(|| panic!("{name} is not in {:?}", found.0));
    let mut rows = found.1.iter().rev();
    let row = rows
        .find(|row| (row[0] - time).abs() < 1e-9)
        .expect("a row");
    row[column]
}

#[test]
fn a_table_drives_inputs_and_tunable_parameters_of_a_single_fmu() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "time,u,Gain.k\n0,0,2\n0.5,1,2\n0.5,1,3\n1,1,4\n");
    for version in VERSIONS {
        let unit = Fixture::new(Model::Gain, version).build();
        let unit = unit.display().to_string();
        for interface in INTERFACES {
            let arguments = [
                &unit,
                "--input",
                &table,
                "--stop-time",
                "1",
                "--step",
                "0.1",
                "--interface",
                interface,
            ];
            let found = rows(&folder, &arguments);
            assert_near(at(&found, "Gain.u", 0.3), 0.6, 1e-12);
            assert_eq!(at(&found, "Gain.k", 0.7), 3.0);
            // What takes constants only gets the mean over each step: the middle of a straight line.
            let ramp = 0.5 * at(&found, "Gain.y", 0.3);
            assert!(
                (0.5 - 1e-12..0.6 + 1e-12).contains(&ramp),
                "{version:?} {interface}: {ramp}"
            );
            assert_near(at(&found, "Gain.y", 0.9), 3.0, 1e-12);
        }
    }
}

#[test]
fn units_of_heads_are_converted_to_those_of_the_fmu() {
    let folder = Folder::new();
    let head = "time,kelvin [degC],metres_per_second [km/h]";
    let table = folder.file("t.csv", format!("{head}\n0,20,36\n1,20,36\n"));
    for version in VERSIONS {
        let unit = Fixture::new(Model::Units, version).build();
        let unit = unit.display().to_string();
        let done = run_json(&unit, &["--input", &table, "--stop-time", "1"]);
        let last = |name: &str| number(&done["final"][format!("Units.{name}")]);
        assert_near(last("kelvin"), 293.15, 1e-14);
        assert_near(last("celsius"), 20.0, 1e-12);
        assert_near(last("metres_per_second"), 10.0, 1e-14);
    }
    let table = folder.file("t.csv", "time,kelvin [m]\n0,20\n");
    let unit = Fixture::new(Model::Units, Version::Two).build();
    let unit = unit.display().to_string();
    dovetail(&["run", &unit, "--input", &table])
        .exits(2)
        .says(&["in m", "in K"]);
}

#[test]
fn integers_and_truth_values_hold() {
    let folder = Folder::new();
    let table = folder.file(
        "t.csv",
        "time,int32_in,boolean_in\n0,1,true\n0.5,7,false\n1,9,true\n",
    );
    for version in VERSIONS {
        let unit = Fixture::new(Model::Types, version).build();
        let unit = unit.display().to_string();
        for interface in INTERFACES {
            let arguments = [
                &unit,
                "--input",
                &table,
                "--stop-time",
                "1",
                "--step",
                "0.1",
                "--interface",
                interface,
                "--record",
                "*int32*",
                "--record",
                "*boolean*",
            ];
            let found = rows(&folder, &arguments);
            for (time, integer, truth) in [(0.4, 1.0, 1.0), (0.9, 7.0, 0.0)] {
                assert_eq!(
                    at(&found, "Types.int32_out", time),
                    integer,
                    "{version:?} {interface}"
                );
                assert_eq!(
                    at(&found, "Types.boolean_out", time),
                    truth,
                    "{version:?} {interface}"
                );
            }
        }
    }
}

/// `der(x) = (u - x)/tau` inside an FMU, coupled with equations; an event sets tau.
fn coupled(unit: &str, interface: &str, event: &str) -> String {
    format!(
        "[model]\nstop-time = 2.0\n[systems.unit]\nfmu = {unit:?}\ninterface = \"{interface}\"\n\
         [systems.meter]\ninputs = {{ y = 0 }}\nstates = {{ z = 0 }}\nequations = \"der(z) = y\"\n\
         outputs = {{ z = \"z\" }}\n[[connections]]\nfrom = \"unit.y\"\nto = \"meter.y\"\n\
         [[connections]]\nvalue = 1.0\nto = \"unit.u\"\n[[events]]\nat = 1.0\n{event}\n"
    )
}

#[test]
fn an_event_tunes_a_parameter_of_an_fmu_between_steps() {
    let folder = Folder::new();
    // x goes to 1 with the time constant tau: 1 s, and then 0.25 s.
    let expected = 1.0 - (-1.0f64 - 4.0).exp();
    for version in VERSIONS {
        let unit = Fixture::new(Model::Switch, version).build();
        let unit = unit.display().to_string();
        for interface in INTERFACES {
            let text = coupled(&unit, interface, "set = { \"unit.tau\" = 0.25 }");
            let model = folder.file("model.toml", text);
            for method in ["auto", "jacobi"] {
                let done = run_json(&model, &["--method", method, "--step", "0.01"]);
                let found = number(&done["final"]["unit.x"]);
                assert_near(found, expected, 1e-3);
            }
        }
    }
}

#[test]
fn overrides_stand_before_and_behind_fmus() {
    let folder = Folder::new();
    for version in VERSIONS {
        let unit = Fixture::new(Model::Switch, version).build();
        let unit = unit.display().to_string();
        let text = coupled(
            &unit,
            "co-simulation",
            "set = { \"unit.y\" = { value = 3.0, until = 1.5 } }",
        );
        let model = folder.file("model.toml", text);
        let done = run_json(&model, &["--method", "jacobi", "--step", "0.001"]);
        let x = |t: f64| t + (-t).exp() - 1.0; // the integral of 1 - exp(-t)
        let expected = x(1.0) + 1.5 + x(2.0) - x(1.5);
        assert_near(number(&done["final"]["meter.z"]), expected, 2e-3);
    }
}

#[test]
fn what_an_fmu_refuses_is_said_before_the_run() {
    let folder = Folder::new();
    let unit = Fixture::new(Model::Stiff, Version::Two).build();
    let unit = unit.display().to_string();
    let table = folder.file("t.csv", "time,mu\n0,1\n");
    dovetail(&["run", &unit, "--input", &table])
        .exits(2)
        .says(&["`mu`", "fixed once the run has begun"]);
    let text = format!(
        "[model]\nstop-time = 1\n[systems.unit]\nfmu = {unit:?}\n[[events]]\nat = 0.5\nset = {{ \"unit.mu\" = 1 }}\n"
    );
    let model = folder.file("model.toml", text);
    dovetail(&["check", &model])
        .exits(2)
        .says(&["`mu`", "fixed once the run has begun"]);
}

#[test]
fn parameters_of_fmus_are_expressions_of_constants_too() {
    let folder = Folder::new();
    let unit = Fixture::new(Model::Gain, Version::Three).build();
    let unit = unit.display().to_string();
    let text = format!(
        "[model]\nstop-time = 1\n[constants]\ng = 3\n[systems.gain]\nfmu = {unit:?}\n\
         parameters = {{ k = \"2*g\" }}\n[[connections]]\nvalue = \"1 + g*time\"\nto = \"gain.u\"\n"
    );
    let model = folder.file("model.toml", text);
    let done = run_json(&model, &["--step", "0.001"]);
    assert_near(number(&done["final"]["gain.y"]), 24.0, 1e-3);
}

#[test]
fn processes_drive_fmus_with_the_same_bits() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "time,unit.u\n0,0\n0.7,1\n0.7,0.2\n2,1\n");
    let unit = Fixture::new(Model::Switch, Version::Three).build();
    let unit = unit.display().to_string();
    let text = coupled(&unit, "co-simulation", "set = { \"unit.tau\" = 0.5 }");
    let text = text.replace("[[connections]]\nvalue = 1.0\nto = \"unit.u\"\n", "");
    let model = folder.file("model.toml", text);
    for method in ["jacobi", "ifosmondi"] {
        let [one, other] = ["threads", "processes"].map(|workers| {
            let arguments = [
                &model,
                "--input",
                &table,
                "--method",
                method,
                "--workers",
                workers,
                "--step",
                "0.05",
            ];
            rows(&folder, &arguments)
        });
        assert_eq!(one, other, "{method}");
    }
}

#[test]
fn integers_and_truth_values_take_no_fractions() {
    let folder = Folder::new();
    let unit = Fixture::new(Model::Types, Version::Three).build();
    let unit = unit.display().to_string();
    let refused = |text: &str, words: &[&str]| {
        let table = folder.file("t.csv", text);
        dovetail(&["run", &unit, "--input", &table, "--stop-time", "1"])
            .exits(2)
            .says(words);
    };
    refused(
        "time,int32_in\n0,1\n0.5,1.5\n",
        &["t.csv, line 3", "`int32_in`", "1.5 is not a whole number"],
    );
    refused(
        "time,int32_in\n0,1\n\n0.5,1e300\n",
        &[
            "t.csv, line 4",
            "1e300 is not within -2147483648 to 2147483647",
        ],
    );
    refused(
        "time,boolean_in\n0,0.3\n",
        &["line 2", "0.3 is no truth value"],
    );

    let event = |set: &str| {
        let text = format!(
            "[model]\nstop-time = 1\n[systems.unit]\nfmu = {unit:?}\n\
             [[events]]\nat = 0.5\nset = {{ {set} }}\n"
        );
        let model = folder.file("model.toml", text);
        dovetail(&["check", &model])
    };
    event("\"unit.int32_in\" = 1.5")
        .exits(2)
        .says(&["`unit.int32_in`", "1.5 is not a whole number"]);
    event("\"unit.int32_in\" = 2").exits(0);
}

#[test]
fn values_of_files_are_blamed_on_their_lines_for_fmus_too() {
    let folder = Folder::new();
    let unit = Fixture::new(Model::Gain, Version::Two).build();
    let unit = unit.display().to_string();
    let file = folder.file("p.csv", "name,value\nk,2\nkk,3\n");
    dovetail(&["run", &unit, "--stop-time", "1", "--parameters", &file])
        .exits(2)
        .says(&["p.csv, line 3", "`kk`"]);
}
