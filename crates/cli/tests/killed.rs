//! Programs that are killed: what was computed is in the file, but for a second at most.
//!
//! Ten kills; `DOVETAIL_HOSTILE_ALL=1` makes them fifty (`./test full`).

mod support;

use std::time::{Duration, Instant};

use dovetail_fixtures::{Fault, Fixture, Model, Version};
use support::{Folder, example, start};

/// A run whose FMU takes 10 ms for each step.
fn slow_run(folder: &Folder) -> std::process::Child {
    let fmu = Fixture::poor(Model::Prey, Version::Two).fault(Fault::Slow(10.0));
    let fmu = fmu.build().display().to_string();
    let (log, output) = (folder.name("calls.log"), folder.name("rows.csv"));
    let times = ["--stop-time", "100", "--step", "0.01"];
    let files = ["--output", &output, "--log-fmi-calls", &log];
    start(&[&["run", &fmu, "--method", "jacobi"], &times[..], &files].concat())
}

fn fast_run(folder: &Folder) -> std::process::Child {
    let output = folder.name("rows.csv");
    let times = ["--stop-time", "1e6", "--step", "0.001", "--output", &output];
    start(
        &[
            &["run", &example("mechanical"), "--method", "jacobi"],
            &times[..],
        ]
        .concat(),
    )
}

/// Waits until rows are being computed, and then for this time.
fn wait(folder: &Folder, seconds: f64) {
    let began = Instant::now();
    while !folder.path("rows.csv").exists() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the run does not begin"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

fn signal(name: &str, process: u32) {
    let arguments = [format!("-{name}"), process.to_string()];
    let sent = std::process::Command::new("kill").args(arguments).status();
    assert!(sent.expect("it is sent").success());
}

/// The rows of the file, of which at most the last may lack its end.
fn rows(folder: &Folder) -> usize {
    let text = folder.read("rows.csv");
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    let mut lines = text[..whole].lines();
    let columns = lines.next().map_or(0, |header| header.split(',').count());
    let rows: Vec<&str> = lines.collect();
    for row in &rows {
        assert_eq!(row.split(',').count(), columns, "{row}");
        let numbers = row.split(',').map(str::parse::<f64>);
        assert!(numbers.into_iter().all(|number| number.is_ok()), "{row}");
    }
    rows.len()
}

/// Steps that were begun in the run.
fn steps(folder: &Folder) -> usize {
    let log = folder.read("calls.log");
    let of_run = log.lines().filter(|line| !line.starts_with("probe"));
    of_run.filter(|line| line.contains("DoStep(")).count()
}

fn kills() -> u64 {
    if std::env::var_os("DOVETAIL_HOSTILE_ALL").is_some() {
        50
    } else {
        10
    }
}

#[test]
fn a_kill_costs_a_second_of_rows_at_most() {
    let mut most = 0;
    for n in 0..kills() {
        let folder = Folder::new();
        let is_slow = n % 2 == 0;
        let mut run = if is_slow {
            slow_run(&folder)
        } else {
            fast_run(&folder)
        };
        // Times that look random, always the same.
        wait(&folder, 0.2 + (n * 7919 % 1300) as f64 / 1000.0);
        signal("KILL", run.id());
        run.wait().expect("it ends");
        std::thread::sleep(Duration::from_millis(100)); // its child ends with it
        let rows = rows(&folder);
        if is_slow {
            let lost = steps(&folder).saturating_sub(rows);
            most = most.max(lost);
            assert!(lost <= 100, "{lost} rows of {} are lost", steps(&folder));
        } else {
            assert!(rows > 1000, "{rows} rows");
        }
    }
    println!("at most {most} rows were lost, of 100 a second");
}

#[test]
fn a_program_that_is_asked_to_end_loses_nothing() {
    for name in ["TERM", "INT", "HUP"] {
        let folder = Folder::new();
        let mut run = slow_run(&folder);
        wait(&folder, 0.7);
        signal(name, run.id());
        assert_eq!(run.wait().expect("it ends").code(), Some(1), "{name}");
        // The row of the start belongs to no step.
        assert_eq!(rows(&folder), steps(&folder) + 1, "{name}");
    }
}

#[test]
fn rows_are_kept_when_only_the_child_is_killed() {
    let folder = Folder::new();
    let mut run = slow_run(&folder);
    wait(&folder, 0.5);
    let id = run.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let child = children.expect("a child").trim().parse().expect("a number");
    signal("KILL", child);
    assert_eq!(run.wait().expect("it ends").code(), Some(1));
    // The step under way has no row yet.
    assert!(
        rows(&folder) + 1 >= steps(&folder),
        "{} of {}",
        rows(&folder),
        steps(&folder)
    );
}

#[test]
fn a_file_that_may_grow_no_more_ends_with_a_whole_row_and_a_sentence() {
    let folder = Folder::new();
    let output = folder.name("rows.csv");
    let program = env!("CARGO_BIN_EXE_dovetail");
    let model = example("mechanical");
    let command = format!(
        "ulimit -f 100; {program} run {model} --method jacobi --stop-time 100 --step 0.001 --output {output}"
    );
    let done = std::process::Command::new("bash")
        .args(["-c", &command])
        .output();
    let done = done.expect("it runs");
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("File too large"), "{said}");
    assert!(folder.read("rows.csv").ends_with('\n'));
    assert!(rows(&folder) > 100);
}
