//! Inputs that a system delays.

use dovetail_core::{Archive, MacroStep, Response, Signal, System};
use dovetail_equations::{Definition, Model, NativeSystem, Source};

/// `y = delay(u, 0.5)`, and `x' = delay(u, 0.5)` from 0.
fn line() -> NativeSystem {
    let source = Source {
        inputs: vec!["u"],
        parameters: vec!["T"],
        states: vec!["x"],
        equations: "der(x) = delay(u, T)",
        outputs: vec![("y", "delay(u, T)"), ("now", "u")],
        ..Source::default()
    };
    let model = Model::parse(&source).expect("a correct model");
    NativeSystem::new(&Definition::new(
        "line",
        model,
        vec![0.5],
        vec![0.0],
        vec![0.0],
    ))
}

fn taken(system: &mut NativeSystem, step: MacroStep, input: Signal) -> Response {
    let mut response = Response::new(system.interface(), 2);
    system
        .advance(step, &[input], &mut response)
        .expect("a step");
    response
}

fn tried(system: &mut NativeSystem, step: MacroStep, input: Signal) -> Response {
    let mut response = Response::new(system.interface(), 2);
    let trial = system.trial().expect("it can roll back");
    trial
        .respond(step, &[input], &mut response)
        .expect("a trial");
    response
}

fn begun(system: &mut NativeSystem, input: Signal) {
    let mut response = Response::new(system.interface(), 2);
    let start = MacroStep::instant(0.0);
    system
        .advance(start, &[input], &mut response)
        .expect("a start");
    system
        .begin(start, &[input], &mut response)
        .expect("a start");
    assert_eq!(response.outputs[0].value, input.value(0.0));
}

/// The square of time, from a time on.
fn square(start: f64) -> Signal {
    Signal::new(&[start * start, 2.0 * start, 1.0])
}

#[test]
fn an_input_comes_back_later_across_steps_of_any_size() {
    let mut line = line();
    begun(&mut line, square(0.0));
    let mut time = 0.0;
    for size in [0.1, 0.25, 0.3, 0.01, 0.7, 1.3, 0.2] {
        let step = MacroStep::new(time, time + size);
        let tried = tried(&mut line, step, square(time));
        let taken = taken(&mut line, step, square(time));
        assert_eq!(tried.outputs, taken.outputs);
        time = step.end;
        let late = (time - 0.5f64).max(0.0);
        assert!(
            (taken.outputs[0].value - late * late).abs() < 1e-13,
            "{time}"
        );
        assert!(
            (taken.outputs[0].slope - 2.0 * late).abs() < 1e-12,
            "{time}"
        );
        assert!(
            (taken.states[0] - late.powi(3) / 3.0).abs() < 1e-12,
            "{time}"
        );
    }
}

#[test]
fn jumps_come_back_as_events() {
    let mut line = line();
    begun(&mut line, Signal::constant(1.0));
    let first = taken(&mut line, MacroStep::new(0.0, 0.2), Signal::constant(1.0));
    assert_eq!(first.next_event, 0.5, "the start itself");
    taken(&mut line, MacroStep::instant(0.2), Signal::constant(3.0));
    taken(&mut line, MacroStep::new(0.2, 0.5), Signal::constant(3.0));
    let at_start = taken(&mut line, MacroStep::instant(0.5), Signal::constant(3.0));
    assert_eq!((at_start.next_event, at_start.outputs[0].value), (0.7, 1.0));
    let before = taken(&mut line, MacroStep::new(0.5, 0.7), Signal::constant(3.0));
    assert_eq!((before.next_event, before.outputs[0].value), (0.7, 1.0));
    let after = taken(&mut line, MacroStep::instant(0.7), Signal::constant(3.0));
    assert_eq!(after.outputs[0].value, 3.0);
}

#[test]
fn what_is_tried_is_not_remembered() {
    let mut line = line();
    begun(&mut line, Signal::constant(0.0));
    let step = MacroStep::new(0.0, 0.4);
    tried(&mut line, step, Signal::constant(7.0));
    taken(&mut line, step, Signal::constant(0.0));
    let end = taken(&mut line, MacroStep::new(0.4, 0.8), Signal::constant(0.0));
    assert_eq!(end.outputs[0].value, 0.0);
}

#[test]
fn before_the_start_nothing_is_delayed_and_then_all_is() {
    let mut line = line();
    let start = MacroStep::instant(0.0);
    taken(&mut line, start, Signal::constant(4.0));
    let mut here = dovetail_core::Linearization::of(line.interface());
    let linearize = line.linearize().expect("it can be linearized");
    linearize.linearize_into(&mut here).expect("linearized");
    assert_eq!(
        (here.b[(0, 0)], here.d[(0, 0)], here.d[(1, 0)]),
        (1.0, 1.0, 1.0)
    );

    begun(&mut line, Signal::constant(4.0));
    let linearize = line.linearize().expect("it can be linearized");
    linearize.linearize_into(&mut here).expect("linearized");
    assert_eq!(
        (here.b[(0, 0)], here.d[(0, 0)], here.d[(1, 0)]),
        (0.0, 0.0, 1.0)
    );
}

#[test]
fn a_checkpoint_has_the_past() {
    let mut line = line();
    begun(&mut line, square(0.0));
    taken(&mut line, MacroStep::new(0.0, 0.6), square(0.0));
    let mut archive = Archive::writer();
    let checkpoint = line.checkpoint().expect("it can be written down");
    checkpoint.visit(&mut archive).expect("written");

    let mut other = self::line();
    let checkpoint = other.checkpoint().expect("it can be written down");
    let mut reader = Archive::reader(archive.into_bytes());
    checkpoint.visit(&mut reader).expect("read");
    let step = MacroStep::new(0.6, 0.9);
    let expected = taken(&mut line, step, square(0.6));
    let found = taken(&mut other, step, square(0.6));
    assert_eq!(
        (found.outputs, found.states),
        (expected.outputs, expected.states)
    );
}

#[test]
fn memory_is_bounded_and_still_right() {
    let mut line = line();
    begun(&mut line, square(0.0));
    let size = 0.5 / 40_000.0;
    for n in 0..50_000 {
        let step = MacroStep::new(n as f64 * size, (n + 1) as f64 * size);
        let end = taken(&mut line, step, square(step.start));
        let late = (step.end - 0.5f64).max(0.0);
        assert!((end.outputs[0].value - late * late).abs() < 1e-12, "{n}");
    }
    let mut archive = Archive::writer();
    let checkpoint = line.checkpoint().expect("it can be written down");
    checkpoint.visit(&mut archive).expect("written");
    assert!(archive.into_bytes().len() < 2_000_000);
}
