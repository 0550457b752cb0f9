//! How often an FMU is instantiated, in whatever process.

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use dovetail_fixtures::{Fixture, Habit, Kind, Model, Version};
use support::{Folder, command};

const VERSIONS: [Version; 2] = [Version::Two, Version::Three];

/// What was written, and how many instances were made by the program with these arguments.
fn written_and_instances(folder: &Folder, arguments: &[&str]) -> (String, usize) {
    let count = folder.path("count");
    let _ = std::fs::remove_file(&count);
    let mut program = command(arguments);
    let done = program.env("DOVETAIL_COUNT_INSTANCES", &count).output();
    let done = done.expect("the program starts");
    assert!(done.status.success(), "{done:?}");
    let lines = std::fs::read_to_string(Path::new(&count)).unwrap_or_default();
    let written = String::from_utf8(done.stdout).expect("the program writes UTF-8");
    (written, lines.lines().count())
}

/// Instances made by the program with these arguments.
fn instances(folder: &Folder, arguments: &[&str]) -> usize {
    written_and_instances(folder, arguments).1
}

fn file(fixture: &Fixture) -> String {
    fixture.build().display().to_string()
}

/// The second instance of the probe shows that a process can have one.
#[test]
fn an_fmu_that_can_be_reset_is_tried_out_on_two_instances() {
    let folder = Folder::new();
    for version in VERSIONS {
        for kind in [Kind::CoSimulation, Kind::ModelExchange] {
            let fmu = file(&Fixture::new(Model::Prey, version).kind(kind));
            let steps = ["--step", "0.1", "--stop-time", "1"];
            let run = instances(&folder, &[&["run", &fmu][..], &steps].concat());
            let check = instances(&folder, &["check", &fmu]);
            let probe = instances(&folder, &["inspect", &fmu]);
            assert_eq!((probe, check, run), (2, 3, 3), "{version:?} {kind:?}");
        }
    }
}

#[test]
fn a_comparison_tries_an_fmu_out_once() {
    let folder = Folder::new();
    for version in VERSIONS {
        for kind in [Kind::CoSimulation, Kind::ModelExchange] {
            let fmu = file(&Fixture::new(Model::Prey, version).kind(kind));
            let reference = folder.name("reference.csv");
            let run = ["run", &fmu, "--stop-time", "1", "--output", &reference];
            instances(&folder, &run);
            let times = ["--reference", &reference, "--stop-time", "1", "--step"];
            for (methods, steps) in [("jacobi,gauss-seidel", "0.1"), ("jacobi", "0.1,0.2,0.5")] {
                let choices = [&times[..], &[steps, "--method", methods]].concat();
                let made = instances(&folder, &[&["compare", &fmu], &choices[..]].concat());
                let runs = methods.split(',').count() * steps.split(',').count();
                assert!(
                    made <= 3 + runs,
                    "{version:?} {kind:?}: {made} for {runs} runs"
                );
            }
        }
    }
}

/// Every experiment has a fresh instance then, as many as there are experiments.
#[test]
fn an_fmu_that_cannot_be_reset_is_found_to_be_the_same() {
    let folder = Folder::new();
    for version in VERSIONS {
        let plain = Fixture::new(Model::Prey, version).rollback(true);
        let (expected, _) = written_and_instances(&folder, &["inspect", &file(&plain)]);
        for habit in [
            Habit::ResetLies,
            Habit::ResetLiesOnceSaved,
            Habit::ResetRefused,
            Habit::ResetCrashes,
        ] {
            let fmu = file(&plain.clone().habit(habit));
            let (found, made) = written_and_instances(&folder, &["inspect", &fmu]);
            assert_eq!(found, expected, "{version:?} {habit:?}");
            assert!(made >= 8, "{version:?} {habit:?}: {made} instances");
        }
    }
}

#[test]
fn an_fmu_that_hangs_when_it_is_reset_is_not_waited_for_long() {
    let folder = Folder::new();
    let plain = Fixture::new(Model::Prey, Version::Three);
    let (expected, _) = written_and_instances(&folder, &["inspect", &file(&plain)]);
    let began = Instant::now();
    let fmu = file(&plain.habit(Habit::ResetHangs));
    let (found, _) = written_and_instances(&folder, &["inspect", &fmu]);
    assert_eq!(found, expected);
    assert!(began.elapsed() < Duration::from_secs(30));
}

/// It needs no other process for each experiment; its second instance is that of the run.
#[test]
fn an_fmu_that_lives_once_in_a_process_is_reset_too() {
    let folder = Folder::new();
    for version in VERSIONS {
        for habit in [Habit::OncePerProcess, Habit::DiesAtSecond] {
            let fmu = file(&Fixture::new(Model::Prey, version).habit(habit));
            let probe = instances(&folder, &["inspect", &fmu]);
            assert!(probe <= 3, "{version:?} {habit:?}: {probe} instances");
        }
    }
}

#[test]
fn an_fmu_that_is_not_tried_out_is_instantiated_once_a_run() {
    let folder = Folder::new();
    let fmu = Fixture::new(Model::Prey, Version::Two).build();
    let text = format!(
        "[model]\nstop-time = 1\n[systems.prey]\nfmu = {:?}\nprobe = false\n",
        fmu.display().to_string()
    );
    let model = folder.file("model.toml", text);
    assert_eq!(instances(&folder, &["check", &model]), 1);
    let run = ["run", &model, "--method", "jacobi"];
    assert_eq!(instances(&folder, &run), 1);
}
