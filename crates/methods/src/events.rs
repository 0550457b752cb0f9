//! How methods on a common grid meet events.

use dovetail_core::{Error, MacroStep, Past, Task, Workers};

use crate::imposed_steps::any_imposes_steps;
use crate::near_side::NearSide;

/// The next known event, as a time at which all systems can meet: not where one of them imposes its
/// own step. Systems then cross their events within their steps.
pub(crate) fn meeting_event(past: &Past, workers: &dyn Workers) -> f64 {
    let event = past.next_event();
    // Mostly no event is known, and then the systems need not be looked through.
    let imposed = || any_imposes_steps(workers.capabilities());

    if event < f64::INFINITY && imposed() {
        f64::INFINITY
    } else {
        event
    }
}

/// A step that ends on a known event answers the limit from the left; the next one starts from the
/// right. So all systems are asked once more, at the same time and under the same held inputs.
pub(crate) fn cross_event(
    now: f64,
    tasks: &mut [Task],
    near_side: &mut NearSide,
    workers: &mut dyn Workers,
) -> Result<(), Error> {
    let ends = tasks.iter().any(|task| task.response.ends);
    let events = tasks.iter().map(|task| task.response.next_event);
    let next_event = events.fold(f64::INFINITY, f64::min);
    near_side.clear(tasks, next_event);

    if !ends && next_event <= now {
        near_side.keep(tasks);
        tasks
            .iter_mut()
            .for_each(|task| task.step = MacroStep::instant(now));
        workers.advance(tasks)?;
    }
    Ok(())
}
