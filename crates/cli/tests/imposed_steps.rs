//! A system with steps of its own, under every method, with steps of one, two and ten of its own.

mod support;

use support::{Folder, dovetail};

const MODEL: &str = r#"
[model]
stop-time = 1.0

[systems.a]
inputs = { u = 1.0 }
states = { x = 1.0 }
equations = "der(x) = -x + 0.3 * sin(u)"
outputs = { y = "x" }
imposed-step = 0.01

[systems.b]
inputs = { u = 1.0 }
states = { x = 0.5 }
equations = "der(x) = u - 2 * x"
outputs = { y = "x" }

[[connections]]
from = "a.y"
to = "b.u"

[[connections]]
from = "b.y"
to = "a.u"
"#;

#[test]
fn a_fixed_step_of_several_imposed_ones_is_run_or_refused_by_every_method() {
    let folder = Folder::new();
    let path = folder.file("imposed.toml", MODEL);
    for method in [
        "jacobi",
        "gauss-seidel",
        "f3ornits",
        "ifosmondi",
        "missiles",
        "predictive",
    ] {
        for step in ["0.01", "0.02", "0.1"] {
            let done = dovetail(&["run", &path, "--method", method, "--step", step, "--json"]);
            assert!(
                matches!(done.code, Some(0 | 2)) && !done.err.contains("panicked"),
                "{method} {step}: {done:?}"
            );
            if done.code == Some(0) {
                let value = done.json()["final"]["a.y"].as_f64().expect("a number");
                assert!((value - 0.44366).abs() < 0.01, "{method} {step}: {value}");
            } else {
                assert!(
                    method == "ifosmondi" || method == "f3ornits",
                    "{method} {step}: {done:?}"
                );
            }
        }
    }
}
