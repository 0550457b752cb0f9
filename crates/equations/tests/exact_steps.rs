//! Systems that are affine between switching times: exact steps against the integrator on the same
//! equations.

use dovetail_core::{MacroStep, Response, Signal, System};
use dovetail_equations::{Definition, Model, NativeSystem, Source};

/// A damped oscillator that is pushed until 0.7 s; with `odd`, written so that it does not look
/// affine.
fn oscillator(odd: bool) -> NativeSystem {
    let push = if odd {
        "(x + u)^2 - x^2 - 2 * x * u - u^2 + u"
    } else {
        "u"
    };
    let equations = format!(
        "der(x) = v + 0.3 * der(u)\n\
         der(v) = {push} - 9 * x - 0.4 * v + (if time < 0.7 then 2 else -1)"
    );
    let source = Source {
        inputs: vec!["u"],
        parameters: vec![],
        states: vec!["x", "v"],
        equations: &equations,
        outputs: vec![("y", "x + 2 * u")],
        ..Default::default()
    };
    let definition = Definition::new(
        "oscillator",
        Model::parse(&source).unwrap(),
        vec![],
        vec![1.0, 0.0],
        vec![0.0],
    );
    NativeSystem::new(&Definition {
        tolerance: 1e-13,
        ..definition
    })
}

fn end(system: &mut NativeSystem, steps: &[f64], degree: usize) -> (Vec<f64>, f64) {
    let signal = Signal::new(&[0.3, -1.0, 2.0, 0.5, -3.0, 1.5][..=degree]);
    let mut response = Response::new(system.interface(), 2);
    for pair in steps.windows(2) {
        let step = MacroStep::new(pair[0], pair[1]);
        system
            .advance(step, &[signal.shifted(pair[0])], &mut response)
            .unwrap();
    }
    (response.states.clone(), response.outputs[0].curvature)
}

#[test]
fn exact_steps_agree_with_the_integrator_for_every_degree_and_across_a_switch() {
    assert!(oscillator(false).is_exact() && !oscillator(true).is_exact());
    for degree in 0..=5 {
        for steps in [&[0.0, 1.0][..], &[0.0, 0.7, 1.0], &[0.0, 0.4, 0.8, 1.0]] {
            let (exact, curvature) = end(&mut oscillator(false), steps, degree);
            let (integrated, other) = end(&mut oscillator(true), steps, degree);
            for (a, b) in exact.iter().zip(&integrated) {
                assert!(
                    (a - b).abs() < 1e-11,
                    "degree {degree}, {steps:?}: {a} and {b}"
                );
            }
            assert!((curvature - other).abs() < 1e-8 * (1.0 + curvature.abs()));
        }
    }
}

#[test]
fn a_step_that_ends_on_a_switch_answers_from_the_left_and_an_instant_there_from_the_right() {
    let source = Source {
        outputs: vec![("y", "if time < 1 then 1 / (2 - time) else 5")],
        ..Source::default()
    };
    let definition = Definition::new(
        "jump",
        Model::parse(&source).unwrap(),
        vec![],
        vec![],
        vec![],
    );
    let mut system = NativeSystem::new(&definition);
    let mut response = Response::new(system.interface(), 1);
    system
        .advance(MacroStep::instant(0.0), &[], &mut response)
        .unwrap();
    assert_eq!((response.outputs[0].value, response.next_event), (0.5, 1.0));
    system
        .advance(MacroStep::new(0.0, 1.0), &[], &mut response)
        .unwrap();
    assert!(
        (response.outputs[0].value - 1.0).abs() < 1e-15
            && (response.outputs[0].slope - 1.0).abs() < 1e-15
    );
    assert_eq!((response.reached, response.next_event), (1.0, 1.0));
    system
        .advance(MacroStep::instant(1.0), &[], &mut response)
        .unwrap();
    assert_eq!(
        (response.outputs[0].value, response.outputs[0].slope),
        (5.0, 0.0)
    );
    assert_eq!(response.next_event, f64::INFINITY);
}

#[test]
fn an_advance_after_the_same_trial_costs_no_integration() {
    let mut system = oscillator(true);
    let mut response = Response::new(system.interface(), 0);
    let (step, inputs) = (MacroStep::new(0.0, 0.1), [Signal::constant(1.0)]);
    system
        .trial()
        .unwrap()
        .respond(step, &inputs, &mut response)
        .unwrap();
    let tried = response.states.clone();
    system.advance(step, &inputs, &mut response).unwrap();
    assert!(response.reused && response.states == tried);
    system
        .advance(MacroStep::new(0.1, 0.2), &inputs, &mut response)
        .unwrap();
    assert!(!response.reused);
}
