//! Solutions that leave in finite time are called that, whatever stops the run in the end.

use std::sync::atomic::AtomicBool;

use dovetail_cases::{connections, model};
use dovetail_core::Error;
use dovetail_scenario::{Choices, RunEnd, Scenario};

fn run(scenario: &Scenario, method: &str) -> RunEnd {
    let mut choices = Choices::default();
    choices.set("method", method);
    scenario
        .run(
            &scenario.options(&choices).unwrap(),
            &mut [],
            &AtomicBool::new(false),
        )
        .unwrap()
}

/// `x' = x y`, `y' = x y` with `x − y = 1/2`: a pole at `2 ln 2`.
fn pole() -> Scenario {
    let text = format!(
        "[systems.a]\ninputs = {{ y = 0.5 }}\nstates = {{ x = 1.0 }}\n\
         equations = \"der(x) = x * y\"\noutputs = {{ x = \"x\" }}\n\
         [systems.b]\ninputs = {{ x = 1.0 }}\nstates = {{ y = 0.5 }}\n\
         equations = \"der(y) = x * y\"\noutputs = {{ y = \"y\" }}\n{}",
        connections(&["a.x -> b.x", "b.y -> a.y"])
    );
    model(10.0, &text)
}

#[test]
fn a_pole_is_named_with_its_time_under_every_method() {
    for method in [
        "jacobi",
        "gauss-seidel",
        "f3ornits",
        "ifosmondi",
        "missiles",
        "predictive",
    ] {
        let end = run(&pole(), method);
        let Err(Error::BlowUp {
            system,
            variable,
            time,
            ..
        }) = &end.ending
        else {
            panic!("{method}: {:?}", end.ending)
        };
        assert!(
            ["a.x", "b.y"].contains(&format!("{system}.{variable}").as_str()),
            "{method}: {system}.{variable}"
        );
        let pole = 2.0 * 2.0_f64.ln();
        let late = if method == "jacobi" { 0.1 } else { 0.02 };
        assert!((time - pole).abs() < late, "{method}: {time}");
        let words = end.ending.unwrap_err().to_string();
        assert!(
            words.contains("grows without bound near t = 1."),
            "{method}: {words}"
        );
    }
}

#[test]
fn a_run_that_fails_while_nothing_grows_is_not_called_a_blow_up() {
    let text = format!(
        "[systems.a]\ninputs = {{ y = 1.0 }}\nstates = {{ x = 1.0 }}\n\
         equations = \"der(x) = -1 + 0 * y\"\noutputs = {{ x = \"x\" }}\n\
         [systems.b]\ninputs = {{ x = 1.0 }}\nstates = {{ y = 0.5 }}\n\
         equations = \"der(y) = sqrt(x) - y\"\noutputs = {{ y = \"y\" }}\n{}",
        connections(&["a.x -> b.x", "b.y -> a.y"])
    );
    for method in ["jacobi", "f3ornits", "ifosmondi", "missiles", "predictive"] {
        let end = run(&model(3.0, &text), method);
        assert!(
            matches!(end.ending, Err(Error::System { .. })),
            "{method}: {:?}",
            end.ending
        );
    }
}
