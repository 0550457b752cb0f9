//! Systems that switch: where events are found, and what happens there.

use dovetail_core::{MacroStep, Response, Signal, System};
use dovetail_equations::{Definition, Model, NativeSystem, Source, WhenText};

/// A system with these start values, and no inputs but those given.
fn system(source: &Source<'_>, states: &[f64], inputs: &[f64]) -> NativeSystem {
    let model = Model::parse(source).expect("a correct model");
    let definition = Definition::new("it", model, vec![], states.to_vec(), inputs.to_vec());
    NativeSystem::new(&definition)
}

fn begin(system: &mut NativeSystem, inputs: &[Signal]) -> Response {
    let mut response = Response::new(system.interface(), 1);
    let start = MacroStep::instant(0.0);
    system.begin(start, inputs, &mut response).expect("a start");
    response
}

fn tried(system: &mut NativeSystem, step: MacroStep, inputs: &[Signal]) -> Response {
    let mut response = Response::new(system.interface(), 1);
    let trial = system.trial().expect("it can roll back");
    trial.respond(step, inputs, &mut response).expect("a trial");
    response
}

fn taken(system: &mut NativeSystem, step: MacroStep, inputs: &[Signal]) -> Response {
    let mut response = Response::new(system.interface(), 1);
    system.advance(step, inputs, &mut response).expect("a step");
    response
}

#[test]
fn a_trial_stops_at_the_event_and_an_instant_crosses_it() {
    let source = Source {
        states: vec!["x"],
        equations: "der(x) = -x",
        outputs: vec![("y", "if x > 0.5 then 1 else 0")],
        ..Source::default()
    };
    let mut decay = system(&source, &[1.0], &[]);
    begin(&mut decay, &[]);
    let event = 2f64.ln();
    let stopped = tried(&mut decay, MacroStep::new(0.0, 2.0), &[]);
    assert!(
        (stopped.reached - event).abs() < 1e-14,
        "{}",
        stopped.reached
    );
    assert!(stopped.located && stopped.next_event == stopped.reached);
    assert_eq!(stopped.outputs[0].value, 1.0, "the limit from the left");

    let end = stopped.reached;
    let met = taken(&mut decay, MacroStep::new(0.0, end), &[]);
    assert_eq!((met.next_event, met.outputs[0].value), (end, 1.0));
    let crossed = taken(&mut decay, MacroStep::instant(end), &[]);
    assert_eq!(crossed.outputs[0].value, 0.0, "the limit from the right");
    let after = tried(&mut decay, MacroStep::new(end, end + 1.0), &[]);
    assert_eq!(after.reached, end + 1.0, "there is no other event");
}

#[test]
fn a_step_that_is_taken_goes_over_its_events() {
    // A saw tooth: x rises at rate 1, and the output is its fractional part.
    let source = Source {
        states: vec!["x"],
        equations: "der(x) = 1",
        outputs: vec![("y", "mod(x, 0.3)"), ("n", "floor(x / 0.3)")],
        ..Source::default()
    };
    let mut saw = system(&source, &[0.0], &[]);
    begin(&mut saw, &[]);
    let end = taken(&mut saw, MacroStep::new(0.0, 1.0), &[]);
    assert!(end.crossed && (end.outputs[0].value - 0.1).abs() < 1e-12);
    assert_eq!(end.outputs[1].value, 3.0);
}

#[test]
fn events_of_systems_without_states_lie_on_their_inputs() {
    let source = Source {
        inputs: vec!["u"],
        outputs: vec![("y", "max(0, u - 0.25)")],
        ..Source::default()
    };
    let mut clipped = system(&source, &[], &[0.0]);
    begin(&mut clipped, &[Signal::constant(0.0)]);
    let parabola = [Signal::new(&[0.0, 0.0, 1.0])];
    let stopped = tried(&mut clipped, MacroStep::new(0.0, 1.0), &parabola);
    assert!((stopped.reached - 0.5).abs() < 1e-14, "{}", stopped.reached);
}

#[test]
fn an_event_that_comes_and_goes_within_a_step_is_seen() {
    let source = Source {
        states: vec!["c", "s"],
        equations: "der(c) = -s; der(s) = c",
        outputs: vec![("y", "if s > 0.999 then 1 else 0")],
        ..Source::default()
    };
    let mut clock = system(&source, &[1.0, 0.0], &[]);
    begin(&mut clock, &[]);
    let stopped = tried(&mut clock, MacroStep::new(0.0, 3.0), &[]);
    assert!(
        (stopped.reached - 0.999f64.asin()).abs() < 1e-12,
        "{}",
        stopped.reached
    );
}

/// A ball that loses a fifth of its speed at each bounce.
fn ball() -> NativeSystem {
    let source = Source {
        states: vec!["h", "v"],
        equations: "der(h) = v; der(v) = -10",
        outputs: vec![("h", "h")],
        whens: vec![WhenText {
            condition: "h < 0",
            reset: vec![("v", "-0.8 * v")],
            ..WhenText::default()
        }],
        ..Source::default()
    };
    system(&source, &[5.0, 0.0], &[])
}

#[test]
fn a_ball_bounces_when_it_should() {
    let mut ball = ball();
    begin(&mut ball, &[]);
    // It falls for 1 s, and then rises and falls for 2 · 0.8 s, 2 · 0.64 s, …
    let end = taken(&mut ball, MacroStep::new(0.0, 3.5), &[]);
    let since = 3.5 - 2.6;
    let height = 6.4 * since - 5.0 * since * since;
    assert!(
        (end.outputs[0].value - height).abs() < 1e-10,
        "{}",
        end.outputs[0].value
    );
}

#[test]
fn a_clause_runs_once_and_sees_what_was_before() {
    let source = Source {
        states: vec!["x"],
        discrete: vec!["a", "b"],
        equations: "der(x) = 1",
        outputs: vec![("a", "a"), ("b", "b")],
        whens: vec![WhenText {
            condition: "x > 1",
            set: vec![("a", "b"), ("b", "previous(a) + x")],
            ..WhenText::default()
        }],
        ..Source::default()
    };
    let mut swap = system(&source, &[0.0, 3.0, 7.0], &[]);
    begin(&mut swap, &[]);
    let end = taken(&mut swap, MacroStep::new(0.0, 2.0), &[]);
    assert_eq!(end.outputs[0].value, 7.0);
    assert!((end.outputs[1].value - 4.0).abs() < 1e-12);
}

#[test]
fn clauses_without_end_are_named() {
    let clause = |condition, value| WhenText {
        condition,
        set: vec![("a", value)],
        ..WhenText::default()
    };
    let source = Source {
        states: vec!["x"],
        discrete: vec!["a"],
        equations: "der(x) = 1",
        outputs: vec![("a", "a")],
        whens: vec![
            clause("x > 1", "1"),
            clause("a > 0.5", "0"),
            clause("a < 0.5 and x > 0.5", "1"),
        ],
        ..Source::default()
    };
    let mut endless = system(&source, &[0.0, 0.0], &[]);
    begin(&mut endless, &[]);
    let mut response = Response::new(endless.interface(), 1);
    let step = MacroStep::new(0.0, 2.0);
    let error = endless
        .advance(step, &[], &mut response)
        .expect_err("no end")
        .to_string();
    assert!(
        error.contains("`a > 0.5`") || error.contains("`a < 0.5"),
        "{error}"
    );
}

#[test]
fn a_clock_ticks_at_the_start_and_from_there() {
    let source = Source {
        inputs: vec!["u"],
        discrete: vec!["y"],
        outputs: vec![("y", "y")],
        whens: vec![WhenText {
            condition: "sample",
            set: vec![("y", "u")],
            ..WhenText::default()
        }],
        ..Source::default()
    };
    let model = Model::parse(&source).expect("a correct model");
    let definition = Definition {
        sample: Some(0.25),
        ..Definition::new("it", model, vec![], vec![0.0], vec![0.0])
    };
    let mut hold = NativeSystem::new(&definition);
    let start = begin(&mut hold, &[Signal::constant(5.0)]);
    assert_eq!((start.outputs[0].value, start.next_event), (5.0, 0.25));
    let ramp = [Signal::new(&[5.0, 4.0])];
    let end = taken(&mut hold, MacroStep::new(0.0, 0.6), &ramp);
    assert_eq!((end.outputs[0].value, end.next_event), (7.0, 0.75));
}

#[test]
fn what_both_sides_hold_slides_until_one_lets_it_go() {
    // A block on a conveyor: friction of at most 1 against a force that grows.
    let source = Source {
        states: vec!["v", "F"],
        equations: "der(v) = F - sign(v); der(F) = 0.5",
        outputs: vec![("v", "v"), ("friction", "sign(v)")],
        ..Source::default()
    };
    let mut block = system(&source, &[0.5, -0.5], &[]);
    begin(&mut block, &[]);
    let mid = taken(&mut block, MacroStep::new(0.0, 2.0), &[]);
    assert!(
        mid.outputs[0].value.abs() < 1e-9,
        "it sticks: {}",
        mid.outputs[0].value
    );
    assert!(
        (mid.outputs[1].value - 0.5).abs() < 1e-6,
        "{}",
        mid.outputs[1].value
    );
    // At 3 s the force exceeds the friction: v = 0.25 (t − 3)² from there.
    let end = taken(&mut block, MacroStep::new(2.0, 5.0), &[]);
    assert!(
        (end.outputs[0].value - 1.0).abs() < 1e-6,
        "{}",
        end.outputs[0].value
    );
}

#[test]
fn a_branch_that_has_no_value_beyond_its_event_does_no_harm() {
    // A tank that runs empty: h = (1 − t)² until 1 s.
    let source = Source {
        states: vec!["h"],
        equations: "der(h) = -2 * (if h > 0 then sqrt(h) else 0)",
        outputs: vec![("h", "h")],
        ..Source::default()
    };
    let mut tank = system(&source, &[1.0], &[]);
    begin(&mut tank, &[]);
    let half = taken(&mut tank, MacroStep::new(0.0, 0.5), &[]);
    assert!((half.outputs[0].value - 0.25).abs() < 1e-9);
    let end = taken(&mut tank, MacroStep::new(0.5, 2.0), &[]);
    assert!(
        end.outputs[0].value.abs() < 1e-6,
        "{}",
        end.outputs[0].value
    );
}

#[test]
fn numbers_that_only_events_change_are_compared_as_they_are() {
    let source = Source {
        inputs: vec!["u"],
        states: vec!["x"],
        discrete: vec!["mode"],
        equations: "der(x) = -1",
        outputs: vec![
            ("above", "if mode > 0 then 1 else 0"),
            ("below", "if mode < 0 then 1 else 0"),
            ("not_above", "if mode <= 0 then 1 else 0"),
            ("not_below", "if mode >= 0 then 1 else 0"),
            ("fed", "if u > 0 then 1 else 0"),
        ],
        whens: vec![
            WhenText {
                condition: "x < 0.7",
                set: vec![("mode", "1")],
                ..WhenText::default()
            },
            WhenText {
                condition: "x < 0.3",
                set: vec![("mode", "0")],
                ..WhenText::default()
            },
        ],
        ..Source::default()
    };
    let mut modes = system(&source, &[1.0, 0.0], &[0.0]);
    let zero = [Signal::constant(0.0)];
    let values = |response: &Response| -> Vec<f64> {
        response.outputs.iter().map(|knot| knot.value).collect()
    };
    let zero_mode = [0.0, 0.0, 1.0, 1.0, 0.0];
    assert_eq!(values(&begin(&mut modes, &zero)), zero_mode);
    let one = taken(&mut modes, MacroStep::new(0.0, 0.5), &zero);
    assert_eq!(values(&one), [1.0, 0.0, 0.0, 1.0, 0.0]);
    let again = taken(&mut modes, MacroStep::new(0.5, 0.9), &zero);
    assert_eq!(values(&again), zero_mode);
}

#[test]
fn a_ball_comes_to_rest_where_the_model_says_what_that_is() {
    let source = Source {
        states: vec!["h", "v"],
        discrete: vec!["resting"],
        equations: "der(h) = v; der(v) = if resting > 0 then 0 else -9.81",
        outputs: vec![("h", "h")],
        whens: vec![WhenText {
            condition: "h < 0",
            reset: vec![("v", "-0.7 * v")],
            at_rest: vec![("h", "0"), ("v", "0"), ("resting", "1")],
            ..WhenText::default()
        }],
        ..Source::default()
    };
    let mut ball = system(&source, &[1.0, 0.0, 0.0], &[]);
    begin(&mut ball, &[]);
    // It rests after 2.5586 s.
    let before = taken(&mut ball, MacroStep::new(0.0, 2.0), &[]);
    assert!(before.states[0] > 1e-4 && before.states[2] == 0.0);
    let after = taken(&mut ball, MacroStep::new(2.0, 2.6), &[]);
    assert_eq!(after.states, [0.0, 0.0, 1.0]);
}
