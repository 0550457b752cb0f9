//! The error of a run is estimated whatever the number of states, and the estimate is right.

use std::fmt::Write as _;

use dovetail_cases::{Measured, measure_run};
use dovetail_core::Ending;
use dovetail_scenario::{Overrides, Scenario, SourceText};

/// A ring of systems, each with these states, equations and output for its number, and fed by both
/// neighbors.
fn ring(count: usize, stop: f64, system: impl Fn(f64) -> [String; 3]) -> Scenario {
    let mut text = format!("[model]\nstop-time = {stop:?}\n");
    for i in 0..count {
        let [states, equations, output] = system(i as f64);
        let (left, right) = ((i + count - 1) % count, (i + 1) % count);
        let _ = write!(
            text,
            "[systems.s{i}]\ninputs = {{ left = 0.0, right = 0.0 }}\nstates = {{ {states} }}\n\
             equations = '''\n{equations}\n'''\noutputs = {{ y = \"{output}\" }}\n\
             [[connections]]\nfrom = \"s{left}.y\"\nto = \"s{i}.left\"\n\
             [[connections]]\nfrom = \"s{right}.y\"\nto = \"s{i}.right\"\n",
        );
    }
    let source = SourceText {
        path: "ring".to_owned(),
        text,
    };
    Scenario::parse(source, &Overrides::default()).expect("BUG: a valid model")
}

fn oscillators(count: usize, stop: f64) -> Scenario {
    ring(count, stop, |i| {
        [
            format!("x = {:.6}, v = {:.6}", (1.7 * i).cos(), (2.3 * i).sin()),
            format!(
                "der(x) = v\nder(v) = -{:.6} * x - 0.3 * x^3 - 0.1 * v + 0.4 * left + 0.3 * right",
                1.7 + 0.5 * i.sin()
            ),
            "x".to_owned(),
        ]
    })
}

/// Every output follows its neighbors at once: one algebraic loop through all systems.
fn loops(count: usize, stop: f64) -> Scenario {
    ring(count, stop, |i| {
        [
            format!("x = {:.6}, v = 0.0", (1.1 * i).cos()),
            "der(x) = v\nder(v) = 0.3 * left + 0.2 * right - 0.1 * v - x".to_owned(),
            "x + 0.4 * sin(left) - 0.3 * right".to_owned(),
        ]
    })
}

/// Steps are thousand times longer than the time in which `z` follows.
fn stiff(count: usize, stop: f64) -> Scenario {
    ring(count, stop, |i| {
        [
            format!(
                "x = {:.6}, v = 0.0, z = {:.6}",
                (1.7 * i).cos(),
                (1.7 * (i + 1.0)).cos()
            ),
            "der(x) = v\nder(v) = 0.3 * z + 0.4 * left - 1.7 * x - 0.1 * v\n\
             der(z) = 20000 * (right - z) + 100 * sin(x)"
                .to_owned(),
            "x".to_owned(),
        ]
    })
}

fn run(scenario: &Scenario) -> Measured {
    let choices = [
        ("method", "predictive"),
        ("tolerance", "1e-6"),
        ("integrator-tolerance", "1e-13"),
    ];
    let done = measure_run(scenario, &choices);
    assert!(
        matches!(done.end.ending, Ok(Ending::Finished)),
        "{:?}",
        done.end.ending
    );
    done
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |largest, number| largest.max(number.abs()))
}

/// Of every variable whose error counts the estimate is within a factor of two.
fn assert_estimated(name: &str, scenario: &Scenario) {
    let done = run(scenario);
    let known = done.end.quality.estimated_error.as_ref();
    let known = known.unwrap_or_else(|| panic!("{name}: no estimate"));
    let truth = |variable: &str| largest(done.deviation(variable).iter().copied());
    let worst = largest(known.iter().map(|(variable, _)| truth(variable)));

    for (variable, estimate) in known {
        let truth = truth(variable);
        let ratio = estimate.max / truth;
        assert!(
            truth < 0.05 * worst || (0.5..2.0).contains(&ratio),
            "{name}: {variable} is wrong by {truth:e}, estimated {:e}",
            estimate.max
        );
    }
}

#[test]
fn the_error_is_known_for_any_number_of_states() {
    for states in [64, 66, 200] {
        let name = format!("{states} states");
        assert_estimated(&name, &oscillators(states / 2, 5.0));
    }
}

#[test]
fn loops_through_all_systems_make_no_difference() {
    for states in [64, 66] {
        assert_estimated(&format!("{states} states"), &loops(states / 2, 5.0));
    }
}

#[test]
fn nor_do_steps_that_are_long_for_some_states() {
    assert_estimated("66 states", &stiff(22, 2.0));
}
