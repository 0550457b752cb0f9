//! `--initialize steady`: runs that start at rest.

mod support;

use dovetail_fixtures::{Fixture, Kind, Model, Version};
use support::{Folder, Table, dovetail, example, lone, number, pair, run_json};

const STEADY: [&str; 2] = ["--initialize", "steady"];

#[test]
fn rooms_start_at_rest_and_stay_there() {
    let folder = Folder::new();
    let (model, file) = (example("rooms"), folder.name("rooms.csv"));
    // The heaters are switched at 15 minutes.
    for method in ["predictive", "jacobi", "monolithic"] {
        let run = [
            &["--stop-time", "15", "--method", method, "-o", &file][..],
            &STEADY,
        ]
        .concat();
        let summary = run_json(&model, &run);
        let remarks = summary["quality"]["remarks"].to_string();
        assert!(remarks.contains("started at rest"), "{remarks}");
        let table = Table::parse(&folder.read("rooms.csv"));
        for name in ["west.T1", "west.T3", "east.T6", "east.T11"] {
            let values = table.numbers(name);
            let before = &values[..values.len() - 1];
            assert!(before.len() > 10, "{method}");
            for value in before {
                assert!(
                    (value - values[0]).abs() < 1e-9,
                    "{method} {name}: {value} {}",
                    values[0]
                );
            }
            assert!(values[0] > 10.0 && (values[0] - 20.5).abs() > 0.1);
        }
    }

    let all = [&["linearize", &model, "--json"][..], &STEADY].concat();
    let found = dovetail(&all).exits(0).json();
    // All of A x + b is zero: b is A times the temperature of the environment, 10 °C, and heaters 1 and 3.
    let (a, x) = (&found["A"], &found["state_values"]);
    let heat = |row: usize| match row {
        0 => 0.022823810577392578,
        1 => 0.0038918256759643555,
        2 => 0.028338491916656494,
        _ => 0.0,
    };
    for row in 0..11 {
        let terms = (0..11).map(|k| number(&a[row][k]) * (number(&x[k]) - 10.0));
        let rate = terms.sum::<f64>() + heat(row);
        assert!(rate.abs() < 1e-14, "row {row}: {rate}");
    }
}

fn predator_and_prey(version: Version, kind: Kind) -> String {
    let fmu = |model| Fixture::new(model, version).kind(kind).build();
    format!(
        "[model]\nstop-time = 5.0\n\n[systems.prey]\nfmu = {:?}\n\n[systems.predator]\nfmu = {:?}\n\n\
         [[connections]]\nfrom = \"prey.population\"\nto = \"predator.prey\"\n\n\
         [[connections]]\nfrom = \"predator.population\"\nto = \"prey.predators\"\n",
        fmu(Model::Prey),
        fmu(Model::Predator)
    )
}

#[test]
fn a_pair_of_fmus_starts_at_rest_and_stays_there() {
    let folder = Folder::new();
    for version in [Version::Two, Version::Three] {
        let model = folder.file("pair.toml", predator_and_prey(version, Kind::ModelExchange));
        let file = folder.name("pair.csv");
        for workers in ["threads", "processes"] {
            let run = [&["--workers", workers, "-o", &file][..], &STEADY].concat();
            run_json(&model, &run);
            let table = Table::parse(&folder.read("pair.csv"));
            for (name, rest) in [("prey.population", 1.0), ("predator.population", 0.5)] {
                let values = table.numbers(name);
                assert!(values.len() > 10);
                for value in values {
                    assert!(
                        (value - rest).abs() < 1e-9,
                        "{version:?} {workers} {name}: {value}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_reference_of_a_comparison_starts_there_too() {
    let folder = Folder::new();
    let text = pair(
        5.0,
        ["der(x) = u - 2*x + 1", "x"],
        ["der(x) = u - x*x", "x"],
    );
    let model = folder.file("model.toml", text);
    let run = ["compare", &model, "--method", "jacobi,predictive", "--json"];
    let runs = dovetail(&[&run[..], &STEADY].concat()).exits(0).json();
    // b.x = (b.x + 1) / 2 squared, so that 2 x² = x + 1 has the root 1 near the start.
    for run in runs.as_array().expect("runs") {
        for (name, value) in run["final"].as_object().expect("final values") {
            assert!((number(value) - 1.0).abs() < 1e-9, "{name}: {value}");
        }
        let worst = run["error"].as_object().expect("errors").values();
        worst.for_each(|error| assert!(number(&error["max"]) < 1e-9, "{error}"));
    }
}

#[test]
fn a_nonlinear_model_far_from_rest_is_found_with_shorter_updates() {
    let folder = Folder::new();
    // Newton's full updates on atan run away from here.
    let text = lone(1.0, "x = 4.0", "der(x) = -atan(x - 1)");
    let model = folder.file("model.toml", text);
    let found = run_json(&model, &STEADY);
    assert!((number(&found["final"]["lone.x"]) - 1.0).abs() < 1e-12);
}

#[test]
fn what_has_no_rest_is_refused_by_name() {
    let folder = Folder::new();
    let refused = |text: String, words: &[&str]| {
        let model = folder.file("model.toml", text);
        for command in ["run", "check", "compare", "linearize"] {
            let all = [&[command, &model][..], &STEADY].concat();
            dovetail(&all).exits(2).says(words);
        }
    };
    // An integrator that nothing brings back.
    let integrator = pair(
        1.0,
        ["der(x) = u + 1", "x"],
        ["der(x) = u - u + 2 - x", "x"],
    );
    refused(
        integrator,
        &["nothing determines the value of `a.x`", "`a.der(x)` = 2.0"],
    );
    // Never zero.
    let never = lone(1.0, "x = 3.0", "der(x) = 1 + x*x");
    refused(never, &["`lone.der(x)` is still"]);
    // States that cannot be set.
    let text = predator_and_prey(Version::Two, Kind::CoSimulation);
    refused(text, &["`prey` cannot be set", "Co-Simulation"]);
}

#[test]
fn what_is_at_rest_already_starts_as_it_is() {
    let folder = Folder::new();
    let free = lone(1.0, "x = 3.0", "der(x) = 0 * x");
    let found = run_json(&folder.file("model.toml", free), &STEADY);
    assert_eq!(found["final"]["lone.x"], 3.0);
}
