//! What systems go through within a step that they take.

use dovetail_core::{MacroStep, Response, Signal, System};
use dovetail_equations::{Definition, Model, NativeSystem, Source};

fn system(source: &Source<'_>, states: &[f64], inputs: &[f64]) -> NativeSystem {
    let model = Model::parse(source).expect("a correct model");
    NativeSystem::new(&Definition::new(
        "it",
        model,
        vec![],
        states.to_vec(),
        inputs.to_vec(),
    ))
}

fn taken(system: &mut NativeSystem, size: f64, inputs: &[Signal]) -> Response {
    let mut response = Response::new(system.interface(), 2);
    let start = MacroStep::instant(0.0);
    system.begin(start, inputs, &mut response).expect("a start");
    let step = MacroStep::new(0.0, size);
    system.advance(step, inputs, &mut response).expect("a step");
    response
}

/// Knots are on these curves of time: of the first state and of the first output.
fn follows(response: &Response, state: impl Fn(f64) -> f64, output: impl Fn(f64) -> f64) {
    let path = &response.path;
    assert!(path.len() > 3, "{}", path.len());
    let mut last = 0.0;
    for (knot, &time) in path.times().iter().enumerate() {
        assert!(last < time && time < response.reached);
        last = time;
        let [x, y] = [path.states(knot)[0].value, path.outputs(knot)[0].value];
        assert!((x - state(time)).abs() < 1e-8, "{time}: {x}");
        assert!((y - output(time)).abs() < 1e-8, "{time}: {y}");
    }
}

#[test]
fn a_long_exact_step_has_knots_on_its_way() {
    let source = Source {
        inputs: vec!["u"],
        states: vec!["x", "v"],
        equations: "der(x) = v; der(v) = -9 * (x - u)",
        outputs: vec![("y", "x - u")],
        ..Source::default()
    };
    let mut oscillator = system(&source, &[1.0, 0.0], &[0.0]);
    let end = taken(&mut oscillator, 4.0, &[Signal::new(&[0.0, 0.5])]);
    let x = |t: f64| (3.0 * t).cos() - (3.0 * t).sin() / 6.0 + 0.5 * t;
    follows(&end, x, |t| x(t) - 0.5 * t);
}

#[test]
fn a_stiff_step_has_knots_where_it_is_fast() {
    let source = Source {
        states: vec!["x"],
        equations: "der(x) = -1000 * x",
        outputs: vec![("y", "2 * x")],
        ..Source::default()
    };
    let end = taken(&mut system(&source, &[1.0], &[]), 1.0, &[]);
    let x = |t: f64| (-1000.0 * t).exp();
    follows(&end, x, |t| 2.0 * x(t));
    assert!(end.path.times()[0] < 1e-3 && end.path.len() < 30);
}

#[test]
fn an_integrator_leaves_its_own_steps() {
    let source = Source {
        states: vec!["x"],
        equations: "der(x) = -x^2",
        outputs: vec![("y", "x * cos(5 * time)")],
        ..Source::default()
    };
    let end = taken(&mut system(&source, &[1.0], &[]), 50.0, &[]);
    let x = |t: f64| 1.0 / (1.0 + t);
    follows(&end, x, |t| x(t) * (5.0 * t).cos());
}

#[test]
fn a_short_step_has_none() {
    let source = Source {
        states: vec!["x"],
        equations: "der(x) = -x",
        outputs: vec![("y", "x")],
        ..Source::default()
    };
    let end = taken(&mut system(&source, &[1.0], &[]), 0.1, &[]);
    assert!(end.path.is_empty());
}
