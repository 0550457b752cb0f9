//! FMUs that behave like those of other tools: right numbers under every method, or a sentence.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dovetail_fixtures::{Fixture, Habit, Kind, Model, Version};
use serde_json::Value;

const METHODS: [&str; 7] = [
    "jacobi",
    "gauss-seidel",
    "f3ornits",
    "ifosmondi",
    "missiles",
    "predictive",
    "auto",
];
const VERSIONS: [Version; 2] = [Version::Two, Version::Three];

fn dovetail(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dovetail"))
        .args(arguments)
        .output()
        .expect("BUG: the program starts")
}

/// A run, its summary and its rows.
struct Run {
    summary: Value,
    times: Vec<f64>,
    columns: Vec<(String, Vec<f64>)>,
}

impl Run {
    fn of(model: &Path, method: &str, more: &[&str]) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.csv").display().to_string();
        let model = model.display().to_string();
        let done = dovetail(
            &[
                &[
                    "run", &model, "--method", method, "--json", "--output", &file,
                ],
                more,
            ]
            .concat(),
        );
        let err = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.code() != Some(0) {
            return Err(format!("{:?}: {err}", done.status.code()));
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap().split(',').collect();
        let rows: Vec<Vec<f64>> = lines
            .map(|line| {
                line.split(',')
                    .map(|cell| cell.parse().unwrap_or(f64::NAN))
                    .collect()
            })
            .collect();
        let column = |i: usize| {
            (
                names[i].to_owned(),
                rows.iter().map(|row| row[i]).collect::<Vec<f64>>(),
            )
        };
        Ok(Self {
            summary: serde_json::from_slice(&done.stdout).unwrap(),
            times: rows.iter().map(|row| row[0]).collect(),
            columns: (1..names.len()).map(column).collect(),
        })
    }

    fn column(&self, name: &str) -> &[f64] {
        &self
            .columns
            .iter()
            .find(|(known, _)| known == name)
            .unwrap_or_else(|| panic!("no {name}"))
            .1
    }

    fn says(&self, text: &str) -> bool {
        self.summary["quality"].to_string().contains(text)
    }
}

/// An example with an FMU in place of one of its systems.
fn example(folder: &Path, example: &str, system: &str, fmu: &Path, more: &str) -> PathBuf {
    let text = std::fs::read_to_string(format!("../../examples/{example}/model.toml")).unwrap();
    let (mut model, mut skipping) = (String::new(), false);
    for line in text.lines() {
        if line.starts_with('[') {
            skipping = line == format!("[systems.{system}]");
            if skipping {
                model += &format!(
                    "[systems.{system}]\nfmu = {:?}\n{more}\n",
                    fmu.display().to_string()
                );
            }
        }
        if !skipping {
            model += &format!("{line}\n");
        }
    }
    let file = folder.join(format!("{example}.toml"));
    std::fs::write(&file, model).unwrap();
    file
}

/// The largest difference over all outputs and states that both have, in units of their ranges; at the end only where the steps of
/// the two are not the same.
fn distance(one: &Run, other: &Run) -> f64 {
    let same_steps = one.times == other.times;
    let mut worst: f64 = 0.0;
    for (name, values) in one.columns.iter().filter(|(name, _)| !name.contains('$')) {
        let Some((_, others)) = other.columns.iter().find(|(known, _)| known == name) else {
            continue;
        };
        let (low, high) = values
            .iter()
            .fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        let range = (high - low).max(1e-3);
        let pairs: Vec<(f64, f64)> = match same_steps {
            true => values.iter().copied().zip(others.iter().copied()).collect(),
            false => vec![(*values.last().unwrap(), *others.last().unwrap())],
        };
        worst = pairs
            .iter()
            .map(|(a, b)| (a - b).abs() / range)
            .fold(worst, f64::max);
    }
    worst
}

/// What a run with the habit may differ by from one of the equations.
fn allowed(name: &str, method: &str) -> f64 {
    match name {
        // Multiplied by up to 1e-6 after every step; or off by up to a microsecond.
        "coarse-solver" | "coarse-time" => 2e-3,
        _ if method == "f3ornits" => 1e-3,
        _ if ["missiles", "predictive", "auto"].contains(&method) => 1e-4,
        _ => 1e-6,
    }
}

#[test]
fn habits_make_no_difference_to_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let skipped = [
        "early-inputs",
        "all-discrete",
        "last-input-held",
        "asks-to-terminate",
        "silent-identity",
        "only-locals",
        "reset-hangs",
    ];
    for (name, fixture) in dovetail_fixtures::habits() {
        let habit = name.split_once('-').unwrap().1;
        if skipped.contains(&habit) {
            continue; // they have tests of their own
        }
        let left = ["coarse-time", "moves-other-states"].contains(&habit);
        let (case, system) = if left {
            ("mechanical", "left")
        } else {
            ("lotka-volterra", "prey")
        };
        let model = example(folder.path(), case, system, &fixture.build(), "");
        let native = PathBuf::from(format!("../../examples/{case}/model.toml"));
        for method in METHODS {
            let options: &[&str] = match method {
                "f3ornits" | "auto" => &["--stop-time", "1"],
                "predictive" => &[
                    "--stop-time",
                    "1",
                    "--step",
                    "0.002",
                    "--option",
                    "inputs=cubic",
                    "--option",
                    "correction=false",
                ],
                _ => &["--stop-time", "1", "--step", "0.002"],
            };
            let expected = Run::of(&native, method, options).unwrap();
            match Run::of(&model, method, options) {
                Ok(found) => {
                    let apart = distance(&expected, &found);
                    assert!(
                        apart <= allowed(habit, method),
                        "{name} by {method}: {apart:e}\n{}",
                        found.summary
                    );
                }
                // What a unit lacks is said before the run.
                Err(why) => assert!(
                    why.contains("Some(2)") && why.contains("needs"),
                    "{name} by {method}: {why}"
                ),
            }
        }
    }
}

/// x(0) = u, so that nothing moves if the unit knows u in time.
#[test]
fn a_unit_starts_from_the_inputs_that_feed_it() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        for kind in [Kind::CoSimulation, Kind::ModelExchange] {
            for habit in [None, Some(Habit::EarlyInputs)] {
                let fixture = Fixture::new(Model::Settled, version).kind(kind);
                let fixture = habit.map_or(fixture.clone(), |habit| fixture.habit(habit));
                let file = folder.path().join("settled.toml");
                let text = format!(
                    "[model]\nstop-time = 1.0\n[systems.source]\nparameters = {{ level = 2.0 }}\noutputs = {{ y = \"level\" }}\n\
                     [systems.lag]\nfmu = {:?}\n[[connections]]\nfrom = \"source.y\"\nto = \"lag.u\"\n",
                    fixture.build().display().to_string()
                );
                std::fs::write(&file, text).unwrap();
                for method in METHODS {
                    let run =
                        Run::of(&file, method, &[]).unwrap_or_else(|why| panic!("{method}: {why}"));
                    let (first, y) = (run.column("lag.y")[0], run.column("lag.y"));
                    assert_eq!(
                        (first, run.column("lag.z")[0]),
                        (2.0, 2.2),
                        "{version:?} {kind:?} {habit:?} by {method}"
                    );
                    let moved = y.iter().map(|y| (y - 2.0).abs()).fold(0.0, f64::max);
                    assert!(
                        moved < 1e-9,
                        "{version:?} {kind:?} {habit:?} by {method}: {moved:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn outputs_that_come_late_are_in_the_first_row() {
    for version in VERSIONS {
        for interface in ["co-simulation", "model-exchange"] {
            let fmu = Fixture::new(Model::Prey, version)
                .habit(Habit::LateOutputs)
                .build();
            let run = Run::of(
                &fmu,
                "jacobi",
                &["--stop-time", "1", "--interface", interface],
            )
            .unwrap();
            assert_eq!(
                run.column("Prey.population")[0],
                1.0,
                "{version:?} {interface}"
            );
        }
    }
}

#[test]
fn reals_that_are_declared_discrete_are_said_and_can_be_overridden() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        let fmu = Fixture::new(Model::Prey, version)
            .habit(Habit::AllDiscrete)
            .build();
        let held = example(folder.path(), "lotka-volterra", "prey", &fmu, "");
        let options = ["--stop-time", "1", "--step", "0.002"];
        let run = Run::of(&held, "ifosmondi", &options).unwrap();
        assert!(run.says("are declared discrete"), "{}", run.summary);
        let more = "continuous = [\"predators\", \"population\"]";
        let smooth = example(folder.path(), "lotka-volterra", "prey", &fmu, more);
        let native = PathBuf::from("../../examples/lotka-volterra/model.toml");
        let expected = Run::of(&native, "ifosmondi", &options).unwrap();
        let found = Run::of(&smooth, "ifosmondi", &options).unwrap();
        let end = |run: &Run| *run.column("prey.population").last().unwrap();
        let (smooth, held) = (
            (end(&found) - end(&expected)).abs(),
            (end(&run) - end(&expected)).abs(),
        );
        assert!(
            smooth < 1e-9 && held > 1e-5,
            "{version:?}: {smooth:e} and {held:e}"
        );
    }
}

#[test]
fn a_unit_that_asks_to_terminate_ends_the_run_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        for interface in ["co-simulation", "model-exchange"] {
            let fmu = Fixture::new(Model::Prey, version)
                .habit(Habit::AsksToTerminate(0.5))
                .build();
            let more = format!("interface = {interface:?}");
            let model = example(folder.path(), "lotka-volterra", "prey", &fmu, &more);
            for method in METHODS {
                let run = Run::of(&model, method, &["--stop-time", "2"]);
                let run =
                    run.unwrap_or_else(|why| panic!("{version:?} {interface} by {method}: {why}"));
                let last = *run.times.last().unwrap();
                // Model Exchange can ask for it after a step of our integrator only.
                let latest = if interface == "co-simulation" {
                    0.500001
                } else {
                    0.6
                };
                assert!(
                    (0.5..latest).contains(&last),
                    "{version:?} {interface} by {method}: the last row is at {last}"
                );
                assert!(
                    run.says("`prey` asked for the end of the simulation"),
                    "{}",
                    run.summary
                );
                assert_eq!(run.summary["completed"], true);
            }
        }
    }
}

#[test]
fn outputs_that_are_states_need_no_derivatives_of_their_own() {
    for version in VERSIONS {
        let fmu = Fixture::new(Model::Ring, version)
            .habit(Habit::SilentIdentity)
            .build()
            .display()
            .to_string();
        for interface in ["co-simulation", "model-exchange"] {
            let done = dovetail(&["inspect", &fmu, "--interface", interface, "--json"]);
            let found: Value = serde_json::from_slice(&done.stdout).unwrap();
            assert_eq!(
                found["units"][0]["probed"]["directional_derivatives"], true,
                "{found:#}"
            );
        }
    }
}

#[test]
fn local_variables_are_recorded_by_name() {
    for version in VERSIONS {
        let fmu = Fixture::new(Model::Prey, version)
            .habit(Habit::OnlyLocals)
            .build();
        let plain = Fixture::new(Model::Prey, version).build();
        let options = ["--stop-time", "1", "--step", "0.1"];
        let expected = Run::of(&plain, "jacobi", &options).unwrap();
        for pattern in ["population", "Prey.population", "Prey.popul*"] {
            let run = Run::of(
                &fmu,
                "jacobi",
                &[&options[..], &["--record", pattern]].concat(),
            )
            .unwrap();
            assert_eq!(
                run.column("Prey.population"),
                expected.column("Prey.population"),
                "{pattern}"
            );
        }
        let listed = dovetail(&["inspect", &fmu.display().to_string(), "--all"]);
        assert!(String::from_utf8_lossy(&listed.stdout).contains("population"));
    }
}

#[test]
fn a_unit_of_which_one_instance_may_be_made_is_compared_in_processes() {
    let folder = tempfile::tempdir().unwrap();
    for habit in [Habit::OncePerProcess, Habit::DiesAtSecond] {
        let fmu = Fixture::new(Model::Prey, Version::Two).habit(habit).build();
        let model = example(folder.path(), "lotka-volterra", "prey", &fmu, "")
            .display()
            .to_string();
        let reference = folder.path().join("reference.csv").display().to_string();
        assert!(
            dovetail(&[
                "run", &model, "--method", "jacobi", "--step", "0.1", "--output", &reference
            ])
            .status
            .success()
        );
        let methods = [
            "compare",
            &model,
            "--method",
            "jacobi",
            "gauss-seidel",
            "--step",
            "0.1",
            "--reference",
            &reference,
        ];
        let done = dovetail(&methods);
        assert!(
            done.status.success(),
            "{habit:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

#[test]
fn a_unit_that_is_not_probed_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let fmu = Fixture::new(Model::Prey, Version::Two)
        .rollback(true)
        .build();
    let model = example(
        folder.path(),
        "lotka-volterra",
        "prey",
        &fmu,
        "probe = false",
    );
    let log = folder.path().join("calls.log").display().to_string();
    let run = Run::of(
        &model,
        "ifosmondi",
        &["--stop-time", "0.1", "--log-fmi-calls", &log],
    )
    .unwrap();
    assert!(run.times.len() > 2);
    let calls = std::fs::read_to_string(&log).unwrap();
    assert_eq!(
        calls.matches("fmi2Instantiate(").count(),
        1,
        "one instance is made, the one of the run"
    );
}

/// A model of FMUs in a row, each fed by the one before it.
fn chain(folder: &Path, units: &[(&str, PathBuf)], links: &[(&str, &str)], more: &str) -> PathBuf {
    let mut text = "[model]\nstop-time = 1.0\n".to_owned();
    for (name, fmu) in units {
        text += &format!("[systems.{name}]\nfmu = {:?}\n", fmu.display().to_string());
    }
    for (from, to) in links {
        text += &format!("[[connections]]\nfrom = {from:?}\nto = {to:?}\n");
    }
    let file = folder.join("chain.toml");
    std::fs::write(&file, text + more).unwrap();
    file
}

#[test]
fn an_output_that_comes_late_reaches_the_initial_equations_of_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        for kind in [Kind::CoSimulation, Kind::ModelExchange] {
            let late = Fixture::new(Model::Prey, version)
                .kind(kind)
                .habit(Habit::LateOutputs)
                .build();
            let settled = Fixture::new(Model::Settled, version).kind(kind).build();
            let units = [("late", late), ("settled", settled)];
            let model = chain(
                folder.path(),
                &units,
                &[("late.population", "settled.u")],
                "",
            );
            for workers in [
                &[][..],
                &["--workers", "threads"],
                &["--workers", "processes"],
            ] {
                let run =
                    Run::of(&model, "jacobi", &[&["--step", "0.1"], workers].concat()).unwrap();
                let x = run.column("settled.y")[0];
                assert!(
                    (x - 1.0).abs() < 1e-9,
                    "{version:?} {kind:?} {workers:?}: it starts from {x}"
                );
            }
        }
    }
}

#[test]
fn a_start_does_not_depend_on_the_order_of_the_systems() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        let settled = Fixture::new(Model::Settled, version).build();
        let units = ["s5", "s4", "s3", "s2", "s1"].map(|name| (name, settled.clone()));
        let links = [
            ("s1.y", "s2.u"),
            ("s2.y", "s3.u"),
            ("s3.y", "s4.u"),
            ("s4.y", "s5.u"),
        ];
        let model = chain(
            folder.path(),
            &units,
            &links,
            "[[connections]]\nvalue = 2.0\nto = \"s1.u\"\n",
        );
        let run = Run::of(&model, "jacobi", &["--step", "0.1"]).unwrap();
        assert_eq!(run.column("s5.y")[0], 2.0, "{version:?}");
    }
}

#[test]
fn slopes_that_are_there_after_a_step_only_are_not_asked_for_earlier() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        let fixture = Fixture::new(Model::Prey, version)
            .kind(Kind::CoSimulation)
            .habit(Habit::SlopesAfterStepOnly);
        let fmu = match version {
            Version::One | Version::Two => fixture.input_derivatives(false),
            Version::Three => fixture.intermediate_update(false),
        };
        let model = example(folder.path(), "lotka-volterra", "prey", &fmu.build(), "");
        for method in METHODS {
            let run = Run::of(&model, method, &["--stop-time", "0.5"]);
            assert!(run.is_ok(), "{version:?} by {method}: {:?}", run.err());
        }
    }
}

#[test]
fn derivatives_are_not_called_wrong_where_outputs_come_late() {
    for version in VERSIONS {
        let fmu = Fixture::new(Model::Prey, version)
            .habit(Habit::LateOutputs)
            .build()
            .display()
            .to_string();
        let done = dovetail(&["inspect", &fmu, "--json"]);
        let found: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(
            found["units"][0]["probed"]["directional_derivatives"], true,
            "{found:#}"
        );
    }
}
