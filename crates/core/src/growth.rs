//! Whether something was growing without bound when a run came to its end before its time.

use crate::connections::Connections;
use crate::error::Error;
use crate::flat::{FeedPlan, Leg};
use crate::interface::SignalKind;
use crate::past::Past;

/// A variable that is so many times what it was half a run ago, or longer, is growing without bound.
const WITHOUT_BOUND: f64 = 1e3;

/// Where outputs were at two earlier times, each about twice as far into the run as the one before.
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct Growth {
    start: f64,
    marks: [Mark; 2],
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Mark {
    time: f64,
    values: Vec<f64>,
}

impl Growth {
    /// Nothing seen yet.
    pub fn new(connections: &Connections) -> Self {
        let mark = || Mark {
            time: f64::NAN,
            values: vec![0.0; connections.outputs()],
        };
        Self {
            start: f64::NAN,
            marks: [mark(), mark()],
        }
    }

    /// The run has come so far.
    pub fn note(&mut self, past: &Past) {
        if self.is_due(past.reached()) {
            self.take(past.reached(), past.latest().iter().map(|knot| knot.value));
        }
    }

    /// The run has come further by the steps of a leg.
    pub fn note_leg(&mut self, plan: &FeedPlan, leg: &Leg) {
        if !leg.last_step().is_some_and(|last| self.is_due(last.end)) {
            return;
        }
        for n in 0..leg.done {
            if self.is_due(leg.steps[n].end) {
                let row = leg.values_after_step(plan, n);
                let places = plan.systems.iter().flat_map(|system| &system.outputs);
                self.take(leg.steps[n].end, places.map(|&place| row[place]));
            }
        }
    }

    /// Whether the run has come twice as far as at the last mark.
    fn is_due(&self, now: f64) -> bool {
        self.start.is_nan() || now - self.start >= 2.0 * (self.marks[1].time - self.start)
    }

    fn take(&mut self, now: f64, outputs: impl Iterator<Item = f64> + Clone) {
        if self.start.is_nan() {
            self.start = now;
            self.marks[0].take(now, outputs.clone());
        } else {
            self.marks.swap(0, 1);
        }
        self.marks[1].take(now, outputs);
    }

    /// The error that ended the run, with the variable that was growing without bound; the error alone if there was none, or if it names one.
    pub fn explain(&self, error: Error, connections: &Connections, past: &Past) -> Error {
        if matches!(
            error,
            Error::Diverged { .. } | Error::MissingCapability { .. } | Error::Observer { .. }
        ) || self.start.is_nan()
        {
            return error;
        }

        let grown = |(output, knot): (usize, &crate::Knot)| {
            let before = self.marks[0].values[output].abs();
            (before > 0.0 && connections.output(output).kind == SignalKind::Continuous)
                .then(|| (knot.value.abs() / before, output))
        };
        let most = past
            .latest()
            .iter()
            .enumerate()
            .filter_map(grown)
            .max_by(|one, other| one.0.total_cmp(&other.0));
        let Some((times, output)) = most.filter(|(times, _)| *times >= WITHOUT_BOUND) else {
            return error;
        };
        let system = connections.owner(output);
        let interface = &connections.interfaces()[system];

        Error::BlowUp {
            system: interface.name.clone(),
            variable: connections.output(output).name.clone(),
            time: past.reached(),
            value: past.latest()[output].value,
            before: self.marks[0].time,
            times: 10.0_f64.powf(times.log10().floor()),
            source: Box::new(error),
        }
    }
}

impl Mark {
    fn take(&mut self, time: f64, outputs: impl Iterator<Item = f64>) {
        self.time = time;
        for (value, output) in self.values.iter_mut().zip(outputs) {
            *value = output;
        }
    }
}
