//! Times that are awkward: large ones (seconds since 1970, say), and imposed steps that meet events.

mod support;

use std::thread::sleep;
use std::time::{Duration, Instant};

use support::{Done, Folder, Table, dovetail, example, pair, start};

/// What takes longer does not end: a busy machine needs a multiple of the second that a run takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The end of a command, or its end by force.
fn within(patience: Duration, arguments: &[&str]) -> Done {
    let mut child = start(arguments);
    let deadline = Instant::now() + patience;
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_run_far_from_time_zero_ends() {
    let model = example("spring");
    let cases = [
        ("1.7e9", "1700000010", "0.01"),
        ("1e6", "1000001", "1e-5"),
        ("1e15", "1000000000001000", "0.3"),
    ];
    for (from, to, step) in cases {
        let arguments = [
            "run",
            &model,
            "--start-time",
            from,
            "--stop-time",
            to,
            "--step",
            step,
            "--quiet",
        ];
        let done = within(PATIENCE, &arguments);
        assert!(
            done.code.is_some(),
            "from {from} with steps of {step} it does not end"
        );
        assert!(matches!(done.code, Some(0 | 2)), "{done:?}");
    }
}

#[test]
fn times_far_from_zero_are_start_plus_multiples_of_the_step() {
    let folder = Folder::new();
    let (model, file) = (example("spring"), folder.name("out.csv"));
    let times = [
        "--start-time",
        "1.7e9",
        "--stop-time",
        "1700000001",
        "--step",
        "0.01",
    ];
    let arguments = [&["run", &model, "--quiet", "--output", &file], &times[..]].concat();
    within(PATIENCE, &arguments).exits(0);
    let mut expected: Vec<f64> = (0..100).map(|n| 1.7e9 + f64::from(n) * 0.01).collect();
    expected.push(1.700000001e9);
    assert_eq!(
        Table::parse(&folder.read("out.csv")).numbers("time"),
        expected
    );
}

/// `a` steps by tenths only; `b` switches at `event`.
fn imposed(folder: &Folder, event: f64) -> String {
    let switch = format!("der(x) = if time < {event:?} then u else -u");
    let text = pair(1.0, ["der(x) = u - x", "x"], [&switch, "x"]);
    folder.file(
        "model.toml",
        text.replacen("[systems.a]\n", "[systems.a]\nimposed-step = 0.1\n", 1),
    )
}

#[test]
fn an_event_on_the_grid_of_an_imposed_step_is_met() {
    let folder = Folder::new();
    for event in [0.0, 0.3, 0.5, 1.0] {
        dovetail(&["run", &imposed(&folder, event), "--step", "0.1", "--quiet"]).exits(0);
    }
}

#[test]
fn an_event_off_the_grid_of_an_imposed_step_is_no_panic() {
    let folder = Folder::new();
    let model = imposed(&folder, 0.55);
    for step in ["0.1", "0.2"] {
        for method in ["jacobi", "gauss-seidel"] {
            let done = dovetail(&["run", &model, "--step", step, "--method", method]);
            assert!(
                matches!(done.code, Some(0 | 2)) && !done.err.contains("panicked"),
                "{done:?}"
            );
        }
    }
}

#[test]
fn what_check_calls_sound_does_not_panic() {
    let folder = Folder::new();
    let model = imposed(&folder, 0.55);
    if dovetail(&["check", &model, "--step", "0.1"]).code == Some(0) {
        dovetail(&["run", &model, "--step", "0.1"]).exits(0);
    }
}
