//! Where the engine's own method has to doubt: states without a range, errors that it cannot know,
//! tolerances that it misses.

use std::sync::atomic::AtomicBool;

use dovetail_cases::{MECHANICAL, connections, model};
use dovetail_scenario::{Choices, RunEnd, Scenario};

fn run(scenario: &Scenario, choices: &[(&str, &str)]) -> RunEnd {
    let mut all = Choices::default();
    [("method", "predictive")]
        .iter()
        .chain(choices)
        .for_each(|(key, value)| all.set(key, *value));
    let options = scenario.options(&all).unwrap_or_else(|bad| panic!("{bad}"));
    scenario
        .run(&options, &mut [], &AtomicBool::new(false))
        .unwrap_or_else(|bad| panic!("{bad}"))
}

#[test]
fn a_state_that_symmetry_keeps_at_zero_does_not_stop_the_clock() {
    let systems = "[systems.a]\nstates = { p = 1, q = 1 }\ninputs = { z = 0 }\n\
                   equations = \"der(p) = -0.5*p + z; der(q) = -0.5*q + z\"\n\
                   outputs = { p = \"p\", q = \"q\" }\n\
                   [systems.b]\ninputs = { p = 1, q = 1 }\nstates = { z = 0 }\n\
                   equations = \"der(z) = p^2 - q^2 - z\"\noutputs = { z = \"z\" }\n";
    let scenario = model(
        10.0,
        &format!(
            "{systems}{}",
            connections(&["a.p -> b.p", "a.q -> b.q", "b.z -> a.z"])
        ),
    );
    let end = run(&scenario, &[("tolerance", "1e-6")]);
    assert!(
        end.statistics.steps < 1000,
        "{} steps",
        end.statistics.steps
    );
}

#[test]
fn an_error_that_is_not_known_is_not_told() {
    // A single step: nothing tells what its inputs missed in between.
    let one_step = run(&MECHANICAL.scenario(), &[("step", "2")]);
    assert!(one_step.quality.estimated_error.is_none());
    assert!(
        one_step
            .details
            .iter()
            .any(|detail| detail.contains("is not estimated")),
        "{:?}",
        one_step.details
    );
    let many = run(&MECHANICAL.scenario(), &[("step", "0.01")]);
    assert!(many.quality.estimated_error.is_some());
}

/// A chaotic system, cut in two.
fn lorenz(stop: f64) -> Scenario {
    let systems = "[systems.a]\ninputs = { z = 25 }\nstates = { x = -8, y = 7 }\n\
                   equations = \"der(x) = 10 * (y - x); der(y) = x * (28 - z) - y\"\n\
                   outputs = { x = \"x\", y = \"y\" }\n\
                   [systems.b]\ninputs = { x = -8, y = 7 }\nstates = { z = 27 }\n\
                   equations = \"der(z) = x * y - 2.6666666666666665 * z\"\n\
                   outputs = { z = \"z\" }\n";
    model(
        stop,
        &format!(
            "{systems}{}",
            connections(&["a.x -> b.x", "a.y -> b.y", "b.z -> a.z"])
        ),
    )
}

#[test]
fn a_tolerance_that_is_missed_is_warned_of() {
    let chaos = run(&lorenz(20.0), &[("tolerance", "1e-6")]);
    assert!(
        chaos
            .warnings
            .iter()
            .any(|warning| warning.text.contains("more than the tolerance")),
        "{:?}",
        chaos.warnings
    );
    let short = run(&lorenz(1.0), &[("tolerance", "1e-6")]);
    assert!(short.warnings.is_empty(), "{:?}", short.warnings);
}

#[test]
fn an_estimate_that_cannot_be_believed_is_not_added() {
    let end = run(&lorenz(120.0), &[("step", "0.01"), ("corrected", "true")]);
    assert!(end.ending.is_ok(), "{:?}", end.ending);
    assert!(
        end.warnings
            .iter()
            .any(|warning| warning.text.contains("was not added")),
        "{:?}",
        end.warnings
    );
}
