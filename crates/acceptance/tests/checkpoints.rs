//! A run that is stopped, written down, and taken up again in another session has the bits of one that never stopped.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use dovetail_cases::{ALL, MECHANICAL};
use dovetail_core::{Error, Exchange, Observer, Task};
use dovetail_scenario::{Choices, Placement, RunOptions, Scenario};

/// The bits of all that happens, and a flag that is raised after some steps.
struct Watch<'a> {
    bits: Vec<u64>,
    steps: usize,
    until: usize,
    interrupted: &'a AtomicBool,
}

impl<'a> Watch<'a> {
    fn new(until: usize, interrupted: &'a AtomicBool) -> Self {
        Self {
            bits: Vec::new(),
            steps: 0,
            until,
            interrupted,
        }
    }
}

fn bits_of(task: &Task) -> impl Iterator<Item = u64> {
    let response = &task.response;
    let inputs = task.inputs.iter().flat_map(|signal| signal.coefficients());
    let outputs = response.outputs.iter().map(|knot| &knot.value);
    let times = [&task.step.start, &response.reached];
    let all = inputs.chain(outputs).chain(&response.states).chain(times);
    all.map(|number| number.to_bits())
}

impl Observer for Watch<'_> {
    fn accepted(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let due = exchange.tasks.iter().filter(|task| task.due);
        self.bits.extend(due.flat_map(bits_of));
        self.bits
            .extend(exchange.signals.iter().map(|signal| signal.to_bits()));
        self.steps += 1;
        if self.steps == self.until {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// All bits of a run in one go, and its number of steps.
fn whole(scenario: &Scenario, options: &RunOptions) -> (Vec<u64>, usize, String) {
    let going = AtomicBool::new(false);
    let mut watch = Watch::new(usize::MAX, &going);
    let end = scenario
        .run(options, &mut [&mut watch], &going)
        .expect("it is set up");
    let counts = format!("{:?} {:?}", end.statistics, end.quality.estimated_error);
    (watch.bits, watch.steps, counts)
}

/// The same with a stop after some steps.
fn in_two_parts(
    scenario: &Scenario,
    options: &RunOptions,
    until: usize,
) -> Result<(Vec<u64>, String), Error> {
    let stop = AtomicBool::new(false);
    let mut first = Watch::new(until, &stop);
    let mut session = scenario.session(options).expect("it is set up");
    session.proceed(scenario.stop_time, &mut [&mut first], &stop)?;
    let checkpoint = session.save()?;
    drop(session);
    let going = AtomicBool::new(false);
    let mut second = Watch::new(usize::MAX, &going);
    let mut session = scenario.session(options).expect("it is set up");
    session.restore(&checkpoint)?;
    let end = session.run(&mut [&mut second], &going);
    let counts = format!("{:?} {:?}", end.statistics, end.quality.estimated_error);
    Ok(([first.bits, second.bits].concat(), counts))
}

fn compare(name: &str, scenario: &Scenario, options: &RunOptions) {
    let (plain, steps, counts) = whole(scenario, options);
    assert!(steps > 2, "{name}: {steps} steps");
    for until in [1, steps / 3 + 1, steps - 1] {
        let parts = in_two_parts(scenario, options, until);
        let (parts, parts_counts) = parts.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            plain == parts,
            "{name}: stopped after {until} of {steps} steps"
        );
        assert_eq!(counts, parts_counts, "{name}: stopped after {until}");
    }
}

fn options(scenario: &Scenario, choices: &[(&str, &str)]) -> Option<RunOptions> {
    let mut given = Choices::default();
    for (key, value) in choices {
        given.set(key, *value);
    }
    let options = scenario.options(&given).expect("options that are known");
    scenario.session(&options).is_ok().then_some(options)
}

#[test]
fn every_method_goes_on_to_the_same_bits() {
    for case in ALL {
        let scenario = case.scenario();
        for method in [
            "jacobi",
            "gauss-seidel",
            "f3ornits",
            "ifosmondi",
            "missiles",
            "predictive",
            "auto",
        ] {
            let chosen = [("method", method)];
            let fixed = [("method", method), ("step", "0.05")];
            for choices in [&chosen[..], &fixed] {
                if let Some(options) = options(&scenario, choices) {
                    compare(&format!("{} {choices:?}", case.name), &scenario, &options);
                }
            }
        }
    }
}

#[test]
fn solvers_go_on_with_what_they_remember() {
    let scenario = MECHANICAL.scenario();
    for solver in [
        "quasi-newton",
        "anderson",
        "newton",
        "fixed-point",
        "ngmres",
    ] {
        let choices = [
            ("method", "ifosmondi"),
            ("solver", solver),
            ("step", "0.02"),
        ];
        let options = options(&scenario, &choices).expect("it can be run");
        compare(solver, &scenario, &options);
    }
}

#[test]
fn a_run_in_threads_goes_on_without_them() {
    let scenario = MECHANICAL.scenario();
    let single = options(&scenario, &[("method", "predictive")]).expect("it can be run");
    let threads = RunOptions {
        placement: Placement::Threads(NonZeroUsize::new(2)),
        ..single.clone()
    };
    compare("threads", &scenario, &threads);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let scenario = MECHANICAL.scenario();
    let of = |method: &str| options(&scenario, &[("method", method)]).expect("it can be run");
    let stop = AtomicBool::new(false);
    let mut first = Watch::new(3, &stop);
    let mut session = scenario.session(&of("predictive")).expect("it is set up");
    let stopped = session.proceed(scenario.stop_time, &mut [&mut first], &stop);
    stopped.expect("it is interrupted");
    let checkpoint = session.save().expect("it can be written down");
    drop(session);
    let mut other = scenario.session(&of("missiles")).expect("it is set up");
    let refused = other.restore(&checkpoint);
    let text = refused.expect_err("another method").to_string();
    assert!(text.contains("the method is"), "{text}");
    for length in (0..checkpoint.len()).step_by(97) {
        let mut session = scenario.session(&of("predictive")).expect("it is set up");
        let refused = session.restore(&checkpoint[..length]);
        assert!(matches!(refused, Err(Error::Checkpoint(_))), "{length}");
    }
}
