//! Start and end of a run.

use dovetail_core::Remedy;

use crate::diagnostic::Problem;
use crate::overrides::Overrides;

/// Start and end of the run, as they were chosen or else as the file proposes them.
pub(crate) fn proposed_times(
    changes: &Overrides,
    start: Option<f64>,
    stop: Option<f64>,
) -> Result<(f64, f64), Problem> {
    let start = changes.start_time.or(start).unwrap_or(0.0);
    let unless_given = changes.stop_time_unless_given.map(|size| start + size);
    // A default experiment that ends where it begins says nothing.
    let stop = changes
        .stop_time
        .or(stop.filter(|stop| *stop > start))
        .or(unless_given)
        .ok_or_else(|| {
            Problem::general("the file does not say when to stop: it has no default experiment")
                .with([Remedy::StopTime])
        })?;

    possible(start, stop)
}

/// A run needs times in their order.
pub(crate) fn possible(start: f64, stop: f64) -> Result<(f64, f64), Problem> {
    if start.is_finite() && stop.is_finite() && start < stop {
        return Ok((start, stop));
    }

    let message = format!(
        "a run from {start} to {stop} is not possible: the stop time must come after the start time"
    );
    Err(Problem::general(message))
}
