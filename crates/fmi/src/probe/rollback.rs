//! Whether a state can be restored, and whether asking for derivatives leaves the FMU as it was.

use super::{MOVING, Probe};
use crate::experiment::{Experiment, ExperimentFailure, Observation};
use crate::finding::{Capability, Finding};
use crate::measures::{differ, distance, relative_distance};

/// A restored state reproduces a step to this relative precision.
const REPRODUCTION: f64 = 1e-12;
/// A step from a restored state is as near to one that simply goes on: an inner solver that starts
/// anew makes small differences.
const LIKENESS: f64 = 1e-4;

/// How far readings are apart that should be the same.
struct Deviations {
    /// Of steps repeated from a restored state.
    repeated: f64,
    /// Of a step from a restored state and one that simply went on.
    resumed: f64,
}

fn exceeds(deviation: f64, bound: f64) -> bool {
    deviation > bound || deviation.is_nan()
}

impl Probe<'_> {
    /// Does a restored state reproduce, also after a step under other inputs?
    pub(super) fn try_rollback(&mut self, baseline: &[f64]) {
        let early = self.early();
        let seen = self.try_out(Experiment::Rollback { early });
        let finding = match seen {
            Ok(seen) => self.judge_rollback(&seen, baseline),
            Err(why) => Capability::Rollback.fails(why.to_string()),
        };
        self.abilities.rollback = finding.holds();

        self.findings.push(finding);
    }

    fn judge_rollback(&mut self, seen: &Observation, baseline: &[f64]) -> Finding {
        let [first, again, next, next_again] = &seen.readings[..] else {
            return Capability::Rollback.fails("BUG: four readings");
        };
        let deviations = Deviations {
            repeated: distance(first, again).max(distance(next, next_again)),
            resumed: distance(first, baseline),
        };
        if let Some(what) = deviations.fault() {
            return Capability::Rollback.fails(what);
        }
        if deviations.resumed <= REPRODUCTION {
            return Capability::Rollback.holds("a restored state reproduces");
        }

        let what = format!(
            "a restored state reproduces, {:.1e} away from going on",
            deviations.resumed
        );
        self.warnings.push(format!(
            "after a restore it does not go on exactly as it would have: {what}"
        ));
        Capability::Rollback.holds(what)
    }

    /// Do directional derivatives leave the FMU as it was? Some are differences that the FMU takes
    /// of itself.
    pub(super) fn try_linearization(&mut self) {
        let mut seen = self.linearize_at(MOVING);
        if seen.is_err() {
            seen = self.linearize_at(0.0);
        }

        let Some(what) = traces(&seen) else {
            return;
        };
        let finding = if self.abilities.rollback && seen.is_ok() {
            self.abilities.derivatives_leave_traces = true;
            let text = format!("{what}; its state is saved before and restored after");
            Capability::Linearization.holds(text)
        } else {
            self.abilities.linearizes = false;
            Capability::Linearization.fails(what)
        };
        self.findings.push(finding);

        self.forget_chained_slopes(); // after each step that would be too often
    }

    fn linearize_at(&mut self, offset: f64) -> Result<Observation, ExperimentFailure> {
        let early = self.early();
        self.try_out(Experiment::Linearization { early, offset })
    }
}

impl Deviations {
    fn fault(&self) -> Option<String> {
        if exceeds(self.repeated, REPRODUCTION) {
            let what = "a step repeated from a restored state differs by";
            return Some(format!("{what} {:.1e}", self.repeated));
        }

        if exceeds(self.resumed, LIKENESS) {
            let what = "a restored state is not the one that was saved: a step from it differs by";
            return Some(format!("{what} {:.1e}", self.resumed));
        }
        None
    }
}

/// What a linearization has changed, or why it failed.
fn traces(seen: &Result<Observation, ExperimentFailure>) -> Option<String> {
    match seen.as_ref().map(|seen| &seen.readings[..]) {
        Ok([before, after]) if !differ(before, after) => None,
        Ok([before, after]) => Some(format!(
            "asking for directional derivatives moves the FMU by {:.1e}",
            relative_distance(before, after)
        )),
        Ok(_) => Some("BUG: two readings".to_owned()),
        Err(why) => Some(why.to_string()),
    }
}
