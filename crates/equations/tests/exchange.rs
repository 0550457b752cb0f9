//! The coupled equations as an integrator outside sees them.

use dovetail_core::{Archive, Checkpoint, Connections, Interface, Source as Feed};
use dovetail_equations::{Definition, ExchangeEquations, Model, Source, WhenText};

fn definition(name: &str, source: Source<'_>, states: &[f64], inputs: &[f64]) -> Definition {
    let model = Model::parse(&source).expect("a correct model");
    Definition::new(name, model, vec![], states.to_vec(), inputs.to_vec())
}

fn alone(definition: Definition) -> ExchangeEquations {
    let connections = Connections::new(vec![definition.interface()], vec![]);
    ExchangeEquations::new(&[definition], &connections, 0.0).expect("it can be composed")
}

fn ball() -> ExchangeEquations {
    let source = Source {
        states: vec!["h", "v"],
        equations: "der(h) = v; der(v) = -10",
        outputs: vec![("y", "h")],
        whens: vec![WhenText {
            condition: "h < 0",
            reset: vec![("v", "-0.5*v")],
            ..WhenText::default()
        }],
        ..Source::default()
    };
    alone(definition("ball", source, &[1.0, 0.0], &[]))
}

fn indicators(equations: &mut ExchangeEquations, time: f64, states: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0; equations.indicator_count()];
    equations
        .indicators(time, states, &mut all)
        .expect("numbers");
    all
}

#[test]
fn an_indicator_changes_its_sign_where_a_clause_is_to_run() {
    let mut equations = ball();
    let mut states = vec![1.0, 0.0];
    equations.handle_event(0.0, &mut states).unwrap();
    let above = indicators(&mut equations, 0.4, &[0.2, -4.0])[0];
    let below = indicators(&mut equations, 0.45, &[-0.0125, -4.5])[0];
    assert!(above * below < 0.0, "{above} {below}");

    let mut states = vec![-1e-9, -4.4];
    equations.handle_event(0.44, &mut states).unwrap();
    assert_eq!(states, [-1e-9, 2.2], "the clause has run");
    equations.handle_event(0.44, &mut states).unwrap();
    assert_eq!(states, [-1e-9, 2.2], "and runs once");
}

#[test]
fn what_starts_on_a_threshold_has_a_side() {
    let source = Source {
        states: vec!["x"],
        equations: "der(x) = if x < 0 then -1 else 1",
        ..Source::default()
    };
    let mut equations = alone(definition("edge", source, &[0.0], &[]));
    let mut states = vec![0.0];
    equations.handle_event(0.0, &mut states).unwrap();
    assert!(indicators(&mut equations, 0.0, &[0.0])[0] > 0.0);
    assert!(indicators(&mut equations, 0.0, &[-1e-9])[0] < 0.0);
}

#[test]
fn a_jump_of_floor_is_an_event_on_both_sides() {
    let source = Source {
        states: vec!["x"],
        equations: "der(x) = 1",
        outputs: vec![("y", "floor(x)")],
        ..Source::default()
    };
    let mut equations = alone(definition("steps", source, &[2.5], &[]));
    let mut states = vec![2.5];
    equations.handle_event(0.0, &mut states).unwrap();
    let signs = [1.9, 2.1, 2.9, 3.1].map(|x| indicators(&mut equations, 0.0, &[x])[0] > 0.0);
    assert_eq!(signs, [false, true, true, false]);
    equations.handle_event(0.5, &mut [3.0]).unwrap();
    assert!(indicators(&mut equations, 0.5, &[3.0])[0] > 0.0);
    assert!(indicators(&mut equations, 0.5, &[2.9])[0] < 0.0);
}

#[test]
fn conditions_on_time_are_announced_and_held_until_then() {
    let source = Source {
        states: vec!["x"],
        equations: "der(x) = if time < 1 then 0 else 2",
        ..Source::default()
    };
    let mut equations = alone(definition("late", source, &[0.0], &[]));
    let mut states = vec![0.0];
    equations.handle_event(0.0, &mut states).unwrap();
    assert_eq!(equations.next_event(), 1.0);
    let mut rate = [f64::NAN];
    equations.derivatives(1.5, &states, &mut rate).unwrap();
    assert_eq!(
        rate,
        [0.0],
        "an integrator that looks ahead sees the near side"
    );
    // Integrators compute times: one that is the event but for rounding is the event.
    equations.handle_event(1.0 - 1e-13, &mut states).unwrap();
    equations.derivatives(1.0, &states, &mut rate).unwrap();
    assert_eq!(rate, [2.0]);
    assert_eq!(equations.next_event(), f64::INFINITY);
}

/// x' = y2 - x behind a loop through feedthrough: y1 = x + y2, y2 = y1^3.
fn looped() -> ExchangeEquations {
    let first = Source {
        inputs: vec!["u"],
        states: vec!["x"],
        equations: "der(x) = u - x",
        outputs: vec![("y", "x + u")],
        ..Source::default()
    };
    let second = Source {
        inputs: vec!["u"],
        outputs: vec![("y", "0.1*u^3")],
        ..Source::default()
    };
    let all = [
        definition("first", first, &[0.5], &[0.0]),
        definition("second", second, &[], &[0.5]),
    ];
    let interfaces: Vec<Interface> = all.iter().map(Definition::interface).collect();
    let connections = Connections::new(interfaces, vec![Feed::Output(1), Feed::Output(0)]);
    ExchangeEquations::new(&all, &connections, 0.0).expect("it can be composed")
}

#[test]
fn directional_derivatives_go_through_loops() {
    let mut equations = looped();
    equations.handle_event(0.0, &mut [0.5]).unwrap();
    let mut at = |x: f64| {
        let (mut rate, mut observed) = ([0.0], [0.0; 4]);
        equations.derivatives(0.0, &[x], &mut rate).unwrap();
        equations.observe(0.0, &[x], &mut observed).unwrap();
        (rate[0], observed)
    };
    let step = 1e-6;
    let (before, after) = (at(0.5 - step), at(0.5 + step));
    let (mut rates, mut observed) = ([0.0], [0.0; 4]);
    let rooms = (&mut rates[..], &mut observed[..]);
    equations.directional(0.0, &[0.5], &[2.0], rooms).unwrap();
    assert!((rates[0] - (after.0 - before.0) / step).abs() < 1e-8);
    for (k, found) in observed.iter().enumerate() {
        assert!(
            (found - (after.1[k] - before.1[k]) / step).abs() < 1e-8,
            "{k}"
        );
    }
}

#[test]
fn a_restored_state_has_the_sides_and_clauses_that_it_had() {
    let mut equations = ball();
    equations.handle_event(0.0, &mut [1.0, 0.0]).unwrap();
    let mut archive = Archive::writer();
    equations.visit(&mut archive).unwrap();
    let saved = archive.into_bytes();

    let mut bounced = [-1e-9, -4.4];
    equations.handle_event(0.44, &mut bounced).unwrap();
    let mut archive = Archive::reader(saved);
    equations.visit(&mut archive).unwrap();
    archive.finish().unwrap();
    let mut again = [-1e-9, -4.4];
    equations.handle_event(0.44, &mut again).unwrap();
    assert_eq!(again, bounced);
}
