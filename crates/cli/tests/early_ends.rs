//! Runs that end early: exit code 1, the reason said, what was computed kept.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::{Done, Folder, Table, dovetail, example, lone, pair, start};

#[test]
fn a_diverging_coupling_is_named_with_its_variable_and_time() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    let done = dovetail(&[
        "run",
        &example("damping-reaction"),
        "--method",
        "jacobi",
        "--set",
        "plate.D=0.64",
        "--output",
        &file,
    ]);
    let done = done
        .exits(1)
        .says(&["plate.velocity", "t = ", "diverges", "jacobi"]);
    assert!(
        done.err.contains("--step") && done.err.contains("feedthrough"),
        "{}",
        done.err
    );
    let table = Table::parse(&folder.read("out.csv"));
    assert!(table.rows.len() > 10 && table.rows.iter().all(|row| row.len() == table.header.len()));
}

#[test]
fn the_summary_for_machines_tells_how_far_a_run_came() {
    let arguments = [
        "run",
        &example("damping-reaction"),
        "--method",
        "jacobi",
        "--set",
        "plate.D=0.64",
        "--json",
    ];
    let run = dovetail(&arguments).exits(1).json();
    assert_eq!(run["completed"], false);
    assert!(run["reached"].as_f64().unwrap() < 10.0 && run["message"].is_string());
}

fn fails(text: &str, words: &[&str]) -> Done {
    let folder = Folder::new();
    let model = folder.file("model.toml", text);
    let done = dovetail(&[
        "run",
        &model,
        "--method",
        "jacobi",
        "--output",
        &folder.name("out.csv"),
        "--step",
        "0.01",
    ]);
    let done = done.exits(1).says(words);
    let table = Table::parse(&folder.read("out.csv"));
    assert!(table.rows.len() > 10, "{} rows were kept", table.rows.len());
    assert!(
        table
            .rows
            .iter()
            .flatten()
            .all(|field| field.parse::<f64>().is_ok_and(f64::is_finite))
    );
    done
}

#[test]
fn a_logarithm_of_a_negative_number_is_named() {
    fails(
        &lone(2.0, "x = 1.0", "der(x) = -1 + 0.001 * log(x)"),
        &["lone", "t = "],
    );
    fails(
        &pair(2.0, ["der(x) = -1", "log(x)"], ["der(x) = u", "x"]),
        &["a", "t = "],
    );
}

#[test]
fn a_division_by_zero_at_some_time_is_named() {
    fails(
        &lone(2.0, "x = 1.0", "der(x) = 1 / (time - 1)"),
        &["lone", "t = "],
    );
    fails(
        &pair(2.0, ["der(x) = 1", "1 / (time - 1)"], ["der(x) = -x", "x"]),
        &["a.y", "t = 1"],
    );
}

#[test]
fn a_model_that_blows_up_is_named() {
    fails(
        &lone(2.0, "x = 1.0", "der(x) = x^2"),
        &["lone", "x", "t = "],
    );
    fails(
        &pair(20.0, ["der(x) = 50 * x", "x"], ["der(x) = u", "x"]),
        &["a", "t = "],
    );
}

#[test]
fn a_full_disk_is_told() {
    let done = dovetail(&["run", &example("spring"), "--output", "/dev/full"]).exits(1);
    done.says(&["/dev/full", "No space left on device"]);
}

#[test]
fn a_reader_that_leaves_is_no_failure_to_speak_of() {
    for arguments in [
        &["run", &example("rooms"), "--json"][..],
        &["completions", "bash"],
        &["run", "--help"],
    ] {
        let mut child = start(arguments);
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        let done: Done = child.wait_with_output().unwrap().into();
        assert!(!done.err.contains("panicked"), "{}", done.err);
    }
}

#[test]
fn nobody_who_reads_is_no_panic() {
    let mut child = start(&["run", &example("rooms"), "--json"]);
    drop(child.stdout.take());
    let done: Done = child.wait_with_output().unwrap().into();
    assert!(!done.err.contains("panicked"), "{}", done.err);
}

/// Sends a signal, as the terminal does with Ctrl-C.
fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Waits for the end; a program that does not hear is killed.
fn ended(mut child: Child) -> Done {
    let patience = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() && Instant::now() < patience {
        sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    child.wait_with_output().unwrap().into()
}

#[test]
fn ctrl_c_ends_a_run_and_keeps_its_results() {
    let folder = Folder::new();
    let file = folder.name("out.csv");
    let child = start(&[
        "run",
        &example("spring"),
        "--step",
        "1e-9",
        "--output",
        &file,
        "--output-interval",
        "1e-5",
    ]);
    sleep(Duration::from_millis(700));
    signal(&child, "-INT");
    let done = ended(child).exits(1).says(&["interrupted at t = "]);
    assert!(done.out.contains("steps"), "{}", done.out);
    let table = Table::parse(&folder.read("out.csv"));
    assert!(table.rows.len() > 1 && table.rows.iter().all(|row| row.len() == table.header.len()));
}

#[test]
fn ctrl_c_ends_a_comparison_with_what_was_computed() {
    let child = start(&[
        "compare",
        &example("spring"),
        "--method",
        "jacobi",
        "--step",
        "0.1,1e-7",
        "--json",
    ]);
    sleep(Duration::from_millis(700));
    signal(&child, "-INT");
    let done = ended(child).exits(1).says(&["interrupted"]);
    assert_eq!(done.json()[0]["completed"], true);
}
