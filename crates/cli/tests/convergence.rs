//! Coupled results against the monolithic reference, and that reference against others.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Folder, assert_near, compare_json, number, pair, run_json};

/// The order of `variable` when the step is halved.
fn order(model: &str, method: &str, variable: &str) -> f64 {
    let runs = compare_json(model, &["--method", method, "--step", "0.01,0.005"]);
    number(&runs[1]["order"][variable])
}

#[test]
fn held_inputs_converge_with_order_one_at_least() {
    let folder = Folder::new();
    let cases = [
        ("linear", ["der(x) = u - x", "x"], ["der(x) = -u", "x"]),
        (
            "nonlinear",
            ["der(x) = sin(u) - x^3", "x"],
            ["der(x) = -u * x", "tanh(x)"],
        ),
        (
            "linear loop",
            ["der(x) = u - x", "0.3 * u + x"],
            ["der(x) = u - 2 * x", "x - 0.5 * u"],
        ),
        (
            "nonlinear loop",
            ["der(x) = u - x", "0.3 * sin(u) + x"],
            ["der(x) = tanh(u)", "x - 0.5 * cos(u)"],
        ),
        (
            "switch on the grid",
            ["der(x) = if time < 0.5 then u else -u", "x"],
            ["der(x) = -u", "x"],
        ),
        (
            "switch beside the grid",
            ["der(x) = if time < 0.5037 then u else -u", "x"],
            ["der(x) = -u", "x"],
        ),
        (
            "switch at the start",
            ["der(x) = if time < 0 then u else -u", "x"],
            ["der(x) = -u", "x"],
        ),
        (
            "switch at the end",
            ["der(x) = if time < 2 then u else -u", "x"],
            ["der(x) = -u", "x"],
        ),
        (
            "stiff",
            ["der(x) = -1e8 * (x - cos(time)) + u", "x"],
            ["der(x) = u - x", "x"],
        ),
    ];
    for (name, a, b) in cases {
        let model = folder.file("model.toml", pair(2.0, a, b));
        for method in ["jacobi", "gauss-seidel"] {
            let order = order(&model, method, "b.x");
            assert!(order > 0.9, "{name} by {method}: order {order}");
        }
    }
}

#[test]
fn a_slope_is_zero_under_a_held_input() {
    let folder = Folder::new();
    let model = folder.file(
        "model.toml",
        pair(1.0, ["der(x) = 1", "x"], ["der(x) = der(u)", "x"]),
    );
    assert_eq!(
        number(&run_json(&model, &["--method", "jacobi"])["final"]["b.x"]),
        1.0
    );
}

#[test]
fn the_reference_follows_the_slope_of_an_input() {
    let folder = Folder::new();
    let model = folder.file(
        "model.toml",
        pair(1.0, ["der(x) = 1", "x"], ["der(x) = der(u)", "x"]),
    );
    let runs = compare_json(&model, &["--method", "jacobi"]);
    assert_near(number(&runs[0]["error"]["b.x"]["max"]), 1.0, 1e-9);
}

fn measures<'a>(error: &'a Value, variable: &str) -> [&'a Value; 3] {
    ["nrmse", "l2", "max"].map(|measure| &error[variable][measure])
}

/// `independent/*.csv` was computed by SciPy (DOP853, tolerance 1e-13) from equations written out by hand.
#[test]
fn the_monolithic_reference_agrees_with_an_independent_computation() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent");
    for name in ["random-0", "random-1", "random-2"] {
        let path = |extension| {
            folder
                .join(format!("{name}.{extension}"))
                .display()
                .to_string()
        };
        let options = ["--method", "jacobi", "--step", "0.1"];
        let ours = compare_json(&path("toml"), &options);
        let theirs = compare_json(
            &path("toml"),
            &[&options[..], &["--reference", &path("csv")]].concat(),
        );
        for variable in ["a.x1", "a.x2", "b.z"] {
            let ours = measures(&ours[0]["error"], variable);
            for (ours, theirs) in ours
                .into_iter()
                .zip(measures(&theirs[0]["error"], variable))
            {
                assert_near(number(ours), number(theirs), 1e-9);
            }
        }
    }
}

/// `m x'' + x' + x = 0` from 1 at rest, at time 1.
fn overdamped(m: f64) -> f64 {
    let root = (1.0 - 4.0 * m).sqrt();
    // -2 / (1 + root) is (root - 1) / (2 m) without cancellation.
    let (slow, fast) = (-2.0 / (1.0 + root), (-1.0 - root) / (2.0 * m));
    (slow * fast.exp() - fast * slow.exp()) / (slow - fast)
}

#[test]
fn a_stiff_linear_system_is_as_accurate_as_its_tolerance() {
    let folder = Folder::new();
    let text = "[model]\nstop-time = 1.0\n[systems.a]\nparameters = { m = 1.0 }\nstates = { x = 1.0, v = 0.0 }\n\
                equations = \"der(x) = v; der(v) = (-v - x) / m\"\n";
    let model = folder.file("model.toml", text);
    for m in [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-18] {
        let run = run_json(&model, &["--set", &format!("a.m={m:e}"), "--step", "0.01"]);
        let error = (number(&run["final"]["a.x"]) - overdamped(m)).abs();
        assert!(error < 1e-8, "m = {m:e}: off by {error:e}");
    }
}

#[test]
fn a_stiff_nonlinear_system_is_as_accurate_as_its_tolerance() {
    let folder = Folder::new();
    let text = "[model]\nstop-time = 1.0\n[systems.a]\nparameters = { m = 1.0 }\nstates = { x = 1.0, v = 0.0 }\n\
                equations = \"der(x) = v; der(v) = (-v - x + 1e-30 * x^3) / m\"\n";
    let model = folder.file("model.toml", text);
    for m in [1e-3, 1e-6, 1e-9, 1e-12] {
        let run = run_json(&model, &["--set", &format!("a.m={m:e}"), "--step", "0.01"]);
        let error = (number(&run["final"]["a.x"]) - overdamped(m)).abs();
        assert!(error < 1e-8, "m = {m:e}: off by {error:e}");
    }
}
