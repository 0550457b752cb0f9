//! Models of plain FMUs are stepped as rows of numbers, many steps at a time. Whatever happens in the midst of that: results,
//! counts and messages are those of the ordinary way, which a log of the calls asks for.

mod support;

use std::path::Path;

use dovetail_fixtures::{Fault, Fixture, Habit, Model, Version};
use serde_json::Value;
use support::{Done, Folder, command, dovetail};

/// In the midst of a leg, wherever legs begin.
const TROUBLE: f64 = 0.5005;
const SHORT: f64 = 0.0003;

const VERSIONS: [Version; 2] = [Version::Two, Version::Three];

fn plain(model: Model, version: Version) -> Fixture {
    Fixture::poor(model, version).states(true)
}

fn system(name: &str, fmu: &Path) -> String {
    format!("[systems.{name}]\nfmu = {fmu:?}\n\n")
}

fn connection(from: &str, to: &str) -> String {
    format!("[[connections]]\nfrom = \"{from}\"\nto = \"{to}\"\n\n")
}

/// Predators, these prey, and one that follows them; the faulty one is in the midst.
fn hunt(folder: &Folder, prey: &Fixture) -> String {
    let text = [
        "[model]\nstop-time = 1.0\n\n".to_owned(),
        system("predator", &plain(Model::Predator, Version::Two).build()),
        system("prey", &prey.build()),
        system("follower", &plain(Model::Ring, Version::Three).build()),
        connection("prey.population", "predator.prey"),
        connection("predator.population", "prey.predators"),
        connection("prey.population", "follower.u"),
    ];
    folder.file("model.toml", text.concat())
}

/// All of a summary but times of the clock, which are also why systems run where they do.
fn without_seconds(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(name, _)| !name.contains("seconds") && name != "workers")
            .map(|(name, value)| (name, without_seconds(value)))
            .collect(),
        Value::Array(all) => all.into_iter().map(without_seconds).collect(),
        value => value,
    }
}

fn summary(done: &Done) -> Value {
    match serde_json::from_str(&done.out) {
        Ok(value) => without_seconds(value),
        Err(_) => Value::String(done.out.clone()),
    }
}

/// Runs the model, in legs, step by step, and in the ordinary way; the first of them.
#[track_caller]
fn same_in_every_way(folder: &Folder, model: &str, method: &str) -> Done {
    let [rows, ordinary_rows] = ["rows.csv", "ordinary.csv"].map(|name| folder.name(name));
    let log = folder.name("calls.log");
    let base = [
        "run", model, "--method", method, "--step", "0.001", "--json",
    ];
    let run = |more: &[&str]| dovetail(&[&base[..], more].concat());
    let legs = run(&[]);
    let steps = run(&["--output", &rows]);
    let ordinary = run(&["--output", &ordinary_rows, "--log-fmi-calls", &log]);

    for (way, flat) in [("legs", &legs), ("steps", &steps)] {
        assert_eq!(flat.code, ordinary.code, "{way}: {flat:?}\n{ordinary:?}");
        assert_eq!(summary(flat), summary(&ordinary), "{way}");
    }
    assert_eq!(legs.err, ordinary.err);
    assert_eq!(folder.read("rows.csv"), folder.read("ordinary.csv"));
    legs
}

#[test]
fn every_fault_in_the_midst_of_a_leg_ends_as_on_the_ordinary_path() {
    let faults = [
        (Fault::Warning(TROUBLE), 0),
        (Fault::Error(TROUBLE), 1),
        (Fault::Fatal(TROUBLE), 1),
        (Fault::Nan(TROUBLE), 1),
        (Fault::Huge(TROUBLE), 1),
        (Fault::Terminate(TROUBLE), 0),
        (Fault::Segfault(TROUBLE), 1),
        (Fault::Abort(TROUBLE), 1),
        (Fault::Division(TROUBLE), 1),
    ];
    for version in VERSIONS {
        for (fault, code) in faults {
            let folder = Folder::new();
            let model = hunt(&folder, &plain(Model::Prey, version).fault(fault));
            let done = same_in_every_way(&folder, &model, "jacobi");
            assert_eq!(done.code, Some(code), "{fault:?}: {done:?}");
        }
    }
}

#[test]
fn an_fmu_that_calls_exit_is_named_with_its_call() {
    for (version, call) in VERSIONS.into_iter().zip(["fmi2DoStep", "fmi3DoStep"]) {
        let folder = Folder::new();
        let prey = plain(Model::Prey, version).fault(Fault::Exit(TROUBLE));
        let model = hunt(&folder, &prey);
        let rows = folder.name("rows.csv");
        let base = ["run", &model, "--method", "jacobi", "--step", "0.001"];
        dovetail(&base).exits(1).says(&["exit()", call, "prey"]);
        dovetail(&[&base[..], &["--output", &rows]].concat()).exits(1);
        let kept = folder.read("rows.csv");
        let log = folder.name("calls.log");
        let ordinary = ["--output", &rows, "--log-fmi-calls", &log];
        dovetail(&[&base[..], &ordinary].concat()).exits(1);
        assert!(kept.lines().count() > 500, "{kept}");
        assert_eq!(kept, folder.read("rows.csv"));
    }
}

#[test]
fn a_late_discard_is_completed_with_the_results_of_the_ordinary_path() {
    for version in VERSIONS {
        for fault in [
            Fault::DiscardOnce(TROUBLE, SHORT),
            Fault::MovesOnDiscard(TROUBLE, SHORT),
        ] {
            let folder = Folder::new();
            let prey = plain(Model::Prey, version).rollback(true).fault(fault);
            let model = hunt(&folder, &prey);
            let done = same_in_every_way(&folder, &model, "jacobi").exits(0);
            let steps = &summary(&done)["steps"];
            assert_eq!(steps, 1000, "{fault:?}");
        }
    }
}

#[test]
fn a_discard_that_cannot_be_taken_back_is_an_error_as_before() {
    let folder = Folder::new();
    let prey = plain(Model::Prey, Version::Two).fault(Fault::DiscardOnce(TROUBLE, SHORT));
    let model = hunt(&folder, &prey);
    same_in_every_way(&folder, &model, "jacobi")
        .exits(1)
        .says(&["prey", "discard"]);
}

#[test]
fn an_fmu_that_moves_although_it_discards_gives_the_same_digits_every_time() {
    let folder = Folder::new();
    let fault = Fault::MovesOnDiscard(TROUBLE, SHORT);
    let model = hunt(&folder, &plain(Model::Prey, Version::Three).fault(fault));
    let first = same_in_every_way(&folder, &model, "jacobi").exits(0);
    for _ in 0..9 {
        let again = dovetail(&[
            "run", &model, "--method", "jacobi", "--step", "0.001", "--json",
        ]);
        assert_eq!(summary(&again), summary(&first));
    }
}

#[test]
fn a_late_discard_does_not_confuse_an_fmu_that_takes_flags_literally() {
    let folder = Folder::new();
    let fault = Fault::DiscardOnce(TROUBLE, SHORT);
    let prey = plain(Model::Prey, Version::Two).rollback(true).fault(fault);
    let model = hunt(&folder, &prey.habit(Habit::LiteralFlag));
    same_in_every_way(&folder, &model, "jacobi").exits(0);
}

#[test]
fn mixed_versions_capabilities_and_constants_give_the_bits_of_the_ordinary_path() {
    let rich = |version| Fixture::new(Model::Ring, version).build();
    let poor = |version| Fixture::poor(Model::Ring, version).build();
    let text = [
        "[model]\nstop-time = 1.0\n\n".to_owned(),
        system("a", &rich(Version::Two)).replace("\n\n", "\nparameters = { x0 = 1.0 }\n\n"),
        system("b", &poor(Version::Three)),
        system("c", &rich(Version::Three)),
        system("d", &poor(Version::Two)),
        system("constant", &poor(Version::Two)).replace("\n\n", "\ninputs = { u = 0.25 }\n\n"),
        system(
            "source",
            &Fixture::poor(Model::Sine, Version::Three).build(),
        ),
        connection("a.x", "b.u"),
        connection("b.x", "c.u"),
        connection("c.x", "d.u"),
        connection("d.x", "a.u"),
    ];
    for method in ["jacobi", "gauss-seidel"] {
        let folder = Folder::new();
        let model = folder.file("model.toml", text.concat());
        same_in_every_way(&folder, &model, method).exits(0);
    }
}

#[test]
fn a_single_fmu_and_one_without_outputs_go_the_same_way() {
    for fmu in [
        Fixture::poor(Model::Sine, Version::Two),
        Fixture::poor(Model::Ring, Version::Three),
        Fixture::poor(Model::Ring, Version::Two).habit(Habit::OnlyLocals),
    ] {
        let folder = Folder::new();
        let text = "[model]\nstop-time = 1.0\n\n".to_owned() + &system("alone", &fmu.build());
        let model = folder.file("model.toml", text);
        same_in_every_way(&folder, &model, "jacobi").exits(0);
    }
}

#[test]
fn gauss_seidel_meets_faults_as_on_the_ordinary_path() {
    for version in VERSIONS {
        for fault in [
            Fault::Nan(TROUBLE),
            Fault::Segfault(TROUBLE),
            Fault::Terminate(TROUBLE),
            Fault::DiscardOnce(TROUBLE, SHORT),
        ] {
            let folder = Folder::new();
            let prey = plain(Model::Prey, version).rollback(true).fault(fault);
            let model = hunt(&folder, &prey);
            same_in_every_way(&folder, &model, "gauss-seidel");
        }
    }
}

/// Changes of the process by an FMU in the midst of a leg.
#[test]
fn an_fmu_that_changes_the_rounding_late_disturbs_nobody() {
    for version in VERSIONS {
        for kind in ["round", "chdir"] {
            let folder = Folder::new();
            let model = hunt(&folder, &plain(Model::Prey, version).hostile(true));
            let base = [
                "run", &model, "--method", "jacobi", "--step", "0.001", "--json",
            ];
            let log = folder.name("calls.log");
            let run = |more: &[&str]| -> Done {
                let harm = format!("step:{kind}:{TROUBLE}:host");
                let mut command = command(&[&base[..], more].concat());
                command.env("DOVETAIL_HOSTILE", harm);
                command.output().expect("the program starts").into()
            };
            let (flat, ordinary) = (run(&[]), run(&["--log-fmi-calls", &log]));
            let values = |done: &Done| summary(done)["final_values"].clone();
            assert_eq!(values(&flat), values(&ordinary), "{kind}");
        }
    }
}
