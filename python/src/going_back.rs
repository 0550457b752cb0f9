//! Whether FMUs bear to be told that a run may go back to before its current point.
//!
//! FMI 2.0 has a flag for it, `noSetFMUStatePriorToCurrentPoint`, and there are FMUs that take it literally: a step with the flag at
//! false is forgotten by the next one. A few steps with it and without it tell.

use dovetail::scenario::{RunOptions, Scenario, SteppedSession};

use crate::waiting::Stop;

/// So many stretches are compared, and such a part of the run each is.
const STRETCHES: usize = 4;
const PART: f64 = 1e-3;
/// Numbers that differ by less than this part are the same.
const SAME: f64 = 1e-9;

/// The first FMU that moves otherwise where it is told that the run may go back.
pub(crate) fn misled(scenario: &Scenario, options: &RunOptions, stop: &Stop) -> Option<String> {
    let fmus: Vec<&str> = scenario.units().iter().map(|(name, _)| *name).collect();
    if fmus.is_empty() {
        return None;
    }

    let told = course(scenario, options, true, stop)?;
    let untold = course(scenario, options, false, stop)?;
    let interfaces = scenario.connections.interfaces();
    for (one, other) in told.iter().zip(&untold) {
        for (system, interface) in interfaces.iter().enumerate() {
            let differs = one[system]
                .iter()
                .zip(&other[system])
                .any(|(a, b)| (a - b).abs() > SAME * a.abs().max(b.abs()));
            if differs && fmus.contains(&interface.name.as_str()) {
                return Some(interface.name.clone());
            }
        }
    }
    None
}

/// The outputs of each system after each stretch; nothing where that cannot be known.
fn course(
    scenario: &Scenario,
    options: &RunOptions,
    goes_back: bool,
    stop: &Stop,
) -> Option<Vec<Vec<Vec<f64>>>> {
    let options = RunOptions {
        goes_back,
        ..options.clone()
    };
    let size = PART * (scenario.stop_time - scenario.start_time);
    let mut run = scenario.stepped_session(&options).ok()?;
    let mut course = Vec::new();
    for stretch in 1..=STRETCHES {
        let until = scenario.start_time + stretch as f64 * size;
        run.step_until(until, &mut [], stop).ok()?;
        course.push(outputs(&run));
    }
    Some(course)
}

fn outputs(run: &SteppedSession<'_>) -> Vec<Vec<f64>> {
    let of_system =
        |outputs: &[dovetail::core::Knot]| outputs.iter().map(|knot| knot.value).collect();
    let tasks = run.tasks().iter();
    tasks
        .map(|task| of_system(&task.response.outputs))
        .collect()
}
