//! Units and archives that are bad on purpose: each ends in a sentence and an exit code, none in a panic.

use std::path::Path;
use std::process::{Command, Output};

fn run(path: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dovetail"));
    command
        .args(["run", "--stop-time", "2", "--step", "0.02"])
        .args(more)
        .arg(path);
    command.output().expect("BUG: the program starts")
}

/// What is expected of a bad unit, by the end of its name: the exit code, and a part of what is said on standard error or, where
/// the run is done, in the summary.
const EXPECTED: &[(&str, i32, &str)] = &[
    ("error", 1, "returned error; it said: it went wrong at 0.5"),
    ("fatal", 1, "returned fatal"),
    ("nan", 1, "is NaN at t = "),
    (
        "terminate",
        0,
        "asked for the end of the simulation at t = 0.5",
    ),
    ("segfault", 1, "crashed the FMU by a segmentation fault"),
    ("abort", 1, "crashed the FMU by a call of abort()"),
    ("division", 1, "arithmetic exception"),
    (
        "stack-overflow",
        1,
        "crashed the FMU by a segmentation fault",
    ),
    ("exit", 1, "ended the whole program by calling exit()"),
    ("exit-in-instantiate", 2, "its process exited with code"),
    (
        "abort-in-constructor",
        2,
        "its process was killed by signal 6 (abort) in the constructors of its library",
    ),
    ("no-instance", 2, "gave no instance"),
    ("wrong-token", 2, "gave no instance"),
    ("library-elsewhere", 2, "no library for this machine"),
    (
        "library-unresolved",
        2,
        "libdoesnotexist.so: cannot open shared object file",
    ),
    ("missing-required-symbol", 2, "has no function `fmi"),
    (
        "library-named-otherwise",
        0,
        "its library is named SomethingElse.so",
    ),
    (
        "missing-declared-symbol",
        0,
        "it declares directional derivatives, which it does not have",
    ),
    (
        "rollback-lies",
        0,
        "it declares rollback, which it does not have",
    ),
    (
        "rollback-crashes",
        0,
        "it declares rollback, which it does not have",
    ),
    (
        "zero-output-derivatives",
        0,
        "they are always 0, while the outputs move",
    ),
    ("nan-output-derivatives", 0, "they are not finite numbers"),
    (
        "wrong-directional",
        0,
        "it declares directional derivatives, which it does not have",
    ),
    (
        "wrong-dependencies",
        0,
        "depends directly `force` on `position`",
    ),
    ("no-progress", 1, "goes no further"),
];

#[test]
fn every_bad_unit_ends_in_a_sentence() {
    let mut met = vec![false; EXPECTED.len()];
    for (name, fixture) in dovetail_fixtures::bad() {
        if name.contains("hang") {
            continue; // what is done about it needs --workers processes, and is tested there
        }
        let done = run(&fixture.build(), &["--method", "jacobi"]);
        let (out, err) = (
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr),
        );
        let code = done.status.code().unwrap_or(-1);
        assert!(
            !err.contains("panicked") && (0..=2).contains(&code),
            "{name}: {code}\n{err}"
        );
        assert_eq!(code != 0, !err.trim().is_empty(), "{name}: {code}\n{err}");
        // A name ends as expected, and no longer expectation fits better.
        let fitting = EXPECTED
            .iter()
            .enumerate()
            .filter(|(_, (end, ..))| name.ends_with(&format!("-{end}")));
        if let Some((k, (_, expected, text))) = fitting.max_by_key(|(_, (end, ..))| end.len()) {
            met[k] = true;
            assert_eq!(code, *expected, "{name}\n{out}\n{err}");
            let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                one_line(&out).contains(text) || one_line(&err).contains(text),
                "{name} does not say `{text}`\n{out}\n{err}"
            );
        }
    }
    let unmet: Vec<&str> = EXPECTED
        .iter()
        .zip(met)
        .filter(|(_, met)| !met)
        .map(|((end, ..), _)| *end)
        .collect();
    assert!(unmet.is_empty(), "no unit stands for {unmet:?}");
}

/// The other methods ask for more: rollback, derivatives, slopes.
#[test]
fn no_method_panics_at_a_bad_unit() {
    for (name, fixture) in dovetail_fixtures::bad() {
        let quick = ["hang", "slow", "exit"]
            .iter()
            .all(|slow| !name.contains(slow));
        for method in ["ifosmondi", "missiles", "f3ornits"]
            .into_iter()
            .filter(|_| quick)
        {
            let done = run(&fixture.build(), &["--method", method, "--quiet"]);
            let err = String::from_utf8_lossy(&done.stderr);
            let code = done.status.code().unwrap_or(-1);
            assert!(
                !err.contains("panicked") && (0..=2).contains(&code),
                "{name} by {method}: {code}\n{err}"
            );
        }
    }
}

#[test]
fn every_bad_archive_is_refused_with_its_reason() {
    for (name, _) in dovetail_fixtures::archives::ALL {
        let path = dovetail_fixtures::archives::path(name);
        let done = run(&path, &[]);
        let err = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{name}: {err}");
        assert!(
            err.starts_with("error: ") && !err.contains("panicked"),
            "{name}: {err}"
        );
    }
}

#[test]
fn results_are_kept_when_a_unit_crashes() {
    let folder = tempfile::tempdir().unwrap();
    use dovetail_fixtures::{Fault, Fixture, Model, Version};
    for fault in [
        Fault::Segfault(0.5),
        Fault::Error(0.5),
        Fault::Exit(0.5),
        Fault::Nan(0.5),
    ] {
        let file = folder.path().join("kept.csv");
        let unit = Fixture::new(Model::Prey, Version::Three)
            .fault(fault)
            .build();
        let done = run(
            &unit,
            &[
                "--method",
                "jacobi",
                "--output",
                &file.display().to_string(),
            ],
        );
        assert_eq!(done.status.code(), Some(1));
        let rows = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(rows >= 24, "{rows} rows are kept");
    }
}

#[test]
fn what_hangs_before_the_run_is_ended_and_said() {
    use dovetail_fixtures::{Fault, Fixture, Model, Version};
    for fault in [Fault::HangInInstantiate, Fault::Hang(0.0)] {
        let unit = Fixture::new(Model::Prey, Version::Two).fault(fault).build();
        let done = run(&unit, &["--workers", "processes", "--step-timeout", "0.5"]);
        let err = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{err}");
        assert!(
            err.contains("it did not answer within 0.5 s in fmi2")
                && err.contains(" while it was tried out"),
            "{err}"
        );
    }
}
