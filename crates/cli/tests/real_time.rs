//! `dovetail run --real-time`: runs paced by the clock.

mod support;

use std::time::{Duration, Instant};

use support::{Folder, dovetail, example, number, run_json, start};

#[test]
fn a_paced_run_takes_its_time_and_has_the_same_numbers() {
    for method in ["jacobi", "predictive", "f3ornits", "monolithic"] {
        let free = run_json(&example("lotka-volterra"), &["--method", method]);
        let begun = Instant::now();
        let paced = ["--method", method, "--real-time", "40"];
        let paced = run_json(&example("lotka-volterra"), &paced);
        // Twenty seconds at forty simulated seconds a second.
        assert!(begun.elapsed() >= Duration::from_millis(500), "{method}");
        assert_eq!(paced["final"], free["final"], "{method}");
        assert_eq!(number(&paced["real_time"]["factor"]), 40.0);
        assert!(free["real_time"].is_null());
    }
}

#[test]
fn a_run_that_cannot_keep_pace_says_what_to_try() {
    let arguments = ["--method", "jacobi", "--step", "1e-4", "--real-time", "1e6"];
    let run = run_json(&example("mechanical"), &arguments);
    // Twenty thousand steps within two microseconds.
    let pace = &run["real_time"];
    assert!(number(&pace["late_share"]) > 0.5, "{pace}");
    assert!(number(&pace["worst_lateness"]) > 1e-3, "{pace}");
    let warnings = run["quality"]["warnings"].to_string();
    assert!(warnings.contains("late by the clock") && warnings.contains("smaller factor help"));
}

#[test]
fn an_interrupt_ends_the_wait_for_a_distant_time() {
    let folder = Folder::new();
    let rows = folder.name("rows.csv");
    let model = example("mechanical");
    let arguments = ["run", &model, "-o", &rows, "--real-time", "1e-6"];
    let mut run = start(&arguments);
    while !std::fs::exists(&rows).unwrap() {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let id = run.id().to_string();
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-INT", &id]).status().unwrap().success());
    let ended = run.wait().unwrap();
    assert_eq!(ended.code(), Some(1));
}

#[test]
fn a_factor_must_be_a_number_above_zero() {
    for factor in ["0", "-1", "nan", "fast"] {
        let arguments = ["run", &example("mechanical"), "--real-time", factor];
        dovetail(&arguments).exits(2).says(&["--real-time"]);
    }
}
